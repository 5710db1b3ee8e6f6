//! The changes to undo, kept in a file, so that the agent may be killed at any time.
//!
//! The file lies beside the socket, on a file system that a reboot clears, as it clears cgroups. So it is never synced to a
//! disk.

mod entries;
mod log_file;

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

pub use self::entries::FormerFile;
use self::{
    entries::{Edit, Entries},
    log_file::LogFile,
};
use crate::{
    actuators::{LimitFile, Value},
    container_id::ContainerId,
    jvm::Former,
    network::NetworkDevice,
    sensors::ProcessKey,
};

#[derive(Debug, thiserror::Error)]
#[error("journal {}: {source}", path.display())]
pub struct JournalError {
    path: PathBuf,
    source: io::Error,
}

/// Every entry is written before the change that it undoes. An entry that cannot be written is not
/// remembered.
#[derive(Debug)]
pub struct Journal {
    file: LogFile,
    entries: Entries,
}

/// The agent's changes to the node's network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkMade {
    /// Devices with the agent's root qdisc.
    pub devices: BTreeSet<NetworkDevice>,
    /// Whether the agent's nft table may exist.
    pub has_nft_table: bool,
}

impl Journal {
    /// Reads the journal of a killed agent, or an empty one if there is none.
    pub fn load(path: &Path) -> Result<Self, JournalError> {
        let mut journal = Self::empty(path);
        journal.entries = journal.file.read().map_err(|source| journal.error(source))?;
        Ok(journal)
    }

    /// An empty journal, to replace one that cannot be read.
    pub fn empty(path: &Path) -> Self {
        Self { file: LogFile::new(path), entries: Entries::default() }
    }

    /// Drops the entries of paths that are not groups.
    pub fn retain(&mut self, is_group: impl Fn(&Path) -> bool) {
        let entries = &mut self.entries;
        entries.made.retain(|group| is_group(group));
        entries.origins.retain(|group, _| is_group(group));
        entries.former_values.retain(|group, _| is_group(group));
    }

    pub fn network(&self) -> &NetworkMade {
        &self.entries.network
    }

    pub fn set_network(&mut self, made: NetworkMade) -> Result<(), JournalError> {
        self.write(Edit::Network(made))
    }

    pub fn remember_made(&mut self, group: &Path) -> Result<(), JournalError> {
        self.write(Edit::Made(group.into()))
    }

    pub fn forget_made(&mut self, group: &Path) -> Result<(), JournalError> {
        self.write(Edit::NotMade(group.into()))
    }

    /// The ancestors of the containers' groups that the agent made, outermost first.
    pub fn made(&self) -> &[PathBuf] {
        &self.entries.made
    }

    pub fn remember_origin(&mut self, group: &Path, origin: &Path) -> Result<(), JournalError> {
        self.write(Edit::Origin { group: group.into(), origin: origin.into() })
    }

    pub fn forget_origin(&mut self, group: &Path) -> Result<(), JournalError> {
        self.write(Edit::NoOrigin(group.into()))
    }

    pub fn own_groups(&self) -> impl Iterator<Item = &PathBuf> {
        self.entries.origins.keys()
    }

    /// The group to which the processes of an own group return: their former group, or the nearest ancestor of it that
    /// still exists. `None` if only the root is left or the former group is unknown: in the root the processes would
    /// lose the restrictions of their former group.
    pub fn origin(&self, group: &Path, mount_point: &Path) -> Option<PathBuf> {
        let origin = self.entries.origins.get(group)?;
        if origin.is_dir() {
            return Some(origin.clone());
        }
        let above = origin.ancestors().take_while(|above| *above != mount_point);
        above.skip(1).find(|above| above.is_dir()).map(Path::to_owned)
    }

    /// Remembers the values of a group's files, except for files that it remembers already.
    pub fn remember_former(
        &mut self,
        group: &Path,
        values: Vec<(LimitFile, Value)>,
    ) -> Result<(), JournalError> {
        for (file, value) in values {
            self.write(Edit::FormerValue { group: group.into(), file, value })?;
        }
        Ok(())
    }

    /// Remembers what the agent is about to write to a file whose former value is remembered.
    pub fn remember_written(
        &mut self,
        group: &Path,
        file: LimitFile,
        value: Value,
    ) -> Result<(), JournalError> {
        self.write(Edit::Written { group: group.into(), file, value })
    }

    pub fn forget_former(&mut self, group: &Path, file: LimitFile) -> Result<(), JournalError> {
        self.write(Edit::NoFormerValue { group: group.into(), file })
    }

    /// Forgets all files of a removed group.
    pub fn forget_former_of(&mut self, group: &Path) -> Result<(), JournalError> {
        self.write(Edit::NoFormerValues(group.into()))
    }

    /// The container executor's file, with its value before its first limit.
    pub fn former(&self, group: &Path, file: LimitFile) -> Option<&FormerFile> {
        self.entries.former(group, file)
    }

    /// The limited files of the container executor.
    pub fn all_former(&self) -> impl Iterator<Item = (&Path, &FormerFile)> {
        let groups = self.entries.former_values.iter();
        groups.flat_map(|(group, files)| files.iter().map(move |file| (group.as_path(), file)))
    }

    pub fn remember_passed_on(
        &mut self,
        group: &Path,
        controller: &str,
    ) -> Result<(), JournalError> {
        self.write(Edit::PassedOn { group: group.into(), controller: controller.into() })
    }

    pub fn forget_passed_on(&mut self, group: &Path, controller: &str) -> Result<(), JournalError> {
        self.write(Edit::NotPassedOn { group: group.into(), controller: controller.into() })
    }

    /// Groups and the controllers that the agent enabled for their children, outermost first.
    pub fn passed_on(&self) -> &[(PathBuf, String)] {
        &self.entries.passed_on
    }

    /// Remembers the flags of a new JVM.
    pub fn remember_jvm(
        &mut self,
        container: &ContainerId,
        former: Former,
    ) -> Result<(), JournalError> {
        self.write(Edit::Jvm { container: container.clone(), former })
    }

    pub fn forget_jvm(&mut self, jvm: ProcessKey) -> Result<(), JournalError> {
        let ProcessKey { pid, start_ticks } = jvm;
        self.write(Edit::NoJvm { pid, start_ticks })
    }

    /// The flags of a JVM before the first wish, or None if it is unchanged.
    pub fn former_flags(&self, jvm: ProcessKey) -> Option<&Former> {
        self.entries.jvms.iter().map(|(_, former)| former).find(|former| former.key() == jvm)
    }

    /// The JVMs whose flags may have changed, with their container.
    pub fn jvms(&self) -> impl ExactSizeIterator<Item = (&ContainerId, ProcessKey)> {
        self.entries.jvms.iter().map(|(container, former)| (container, former.key()))
    }

    /// Writes an edit that changes anything, and removes the file with the last entry.
    fn write(&mut self, edit: Edit) -> Result<(), JournalError> {
        if !self.entries.changes_by(&edit) {
            return Ok(());
        }
        if edit.remembers() {
            let written = self.file.append(&edit, &self.entries);
            written.map_err(|source| self.error(source))?;
            self.entries.apply(edit);
            return Ok(());
        }
        // The change was undone already, so its entry goes even if the file cannot be written. The next edit then writes the
        // whole file.
        self.entries.apply(edit.clone());
        let written = match self.entries == Entries::default() {
            true => self.file.remove(),
            false => self.file.append(&edit, &self.entries),
        };
        written.map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> JournalError {
        let path = self.file.path().into();
        JournalError { path, source }
    }
}

#[cfg(test)]
mod tests;
