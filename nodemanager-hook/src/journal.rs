//! The changes to undo, kept in a file, so that the agent may be killed at any time.
//!
//! The file lies beside the socket, on a file system that a reboot clears, as it clears cgroups. So
//! the file is replaced as a whole, but never synced to a disk.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    actuators::{LimitFile, Value},
    container_id::ContainerId,
    jvm::Former,
    network::NetworkDevice,
    own_file,
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
    path: PathBuf,
    entries: Entries,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Entries {
    /// Ancestors of the containers' groups that the agent made, outermost first.
    made: Vec<PathBuf>,
    /// The group that the processes of an own group came from.
    origins: BTreeMap<PathBuf, PathBuf>,
    /// Values before the first limit, of files in groups that the agent did not make.
    former_values: BTreeMap<PathBuf, Vec<(LimitFile, Value)>>,
    /// Version 2: groups and the controllers that the agent enabled for their children, outermost
    /// first.
    passed_on: Vec<(PathBuf, String)>,
    /// JVMs with their container and their flags before the first wish.
    jvms: Vec<(ContainerId, Former)>,
    network: NetworkMade,
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
        let entries = match own_file::read_own(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(journal),
            Err(error) => Err(error),
            Ok(text) => serde_json::from_str(&text).map_err(io::Error::from),
        };
        journal.entries = entries.map_err(|source| journal.error(source))?;
        Ok(journal)
    }

    /// An empty journal, to replace one that cannot be read.
    pub fn empty(path: &Path) -> Self {
        Self { path: path.into(), entries: Entries::default() }
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
        self.change(|entries| entries.network = made)
    }

    pub fn remember_made(&mut self, group: &Path) -> Result<(), JournalError> {
        self.remember(|entries| entries.made.push(group.into()))
    }

    pub fn forget_made(&mut self, group: &Path) -> Result<(), JournalError> {
        self.change(|entries| entries.made.retain(|made| made != group))
    }

    /// The ancestors of the containers' groups that the agent made, outermost first.
    pub fn made(&self) -> &[PathBuf] {
        &self.entries.made
    }

    pub fn remember_origin(&mut self, group: &Path, origin: &Path) -> Result<(), JournalError> {
        self.remember(|entries| {
            entries.origins.insert(group.into(), origin.into());
        })
    }

    pub fn forget_origin(&mut self, group: &Path) -> Result<(), JournalError> {
        self.change(|entries| entries.origins.retain(|own, _| own != group))
    }

    pub fn own_groups(&self) -> impl Iterator<Item = &PathBuf> {
        self.entries.origins.keys()
    }

    /// The group to which the processes of an own group return: their former group, or else the nearest one above it
    /// that still exists. None where only the root of the hierarchy is left, or the former group is unknown: what
    /// held the processes there would hold them no longer.
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
        mut values: Vec<(LimitFile, Value)>,
    ) -> Result<(), JournalError> {
        values.retain(|(file, _)| self.former_value(group, *file).is_none());
        if values.is_empty() {
            return Ok(());
        }
        self.remember(|entries| {
            entries.former_values.entry(group.into()).or_default().extend(values);
        })
    }

    pub fn forget_former(&mut self, group: &Path, file: LimitFile) -> Result<(), JournalError> {
        self.change(|entries| {
            if let Some(known) = entries.former_values.get_mut(group) {
                known.retain(|(known, _)| *known != file);
            }
            entries.former_values.retain(|_, known| !known.is_empty());
        })
    }

    /// Forgets all files of a removed group.
    pub fn forget_former_of(&mut self, group: &Path) -> Result<(), JournalError> {
        self.change(|entries| entries.former_values.retain(|known, _| known != group))
    }

    /// The value of the container executor's file before its first limit.
    pub fn former_value(&self, group: &Path, file: LimitFile) -> Option<Value> {
        let known = self.entries.former_values.get(group)?;
        let (_, value) = known.iter().find(|(known, _)| *known == file)?;
        Some(*value)
    }

    /// The limited groups of the container executor, with the former values of their files.
    pub fn former(&self) -> &BTreeMap<PathBuf, Vec<(LimitFile, Value)>> {
        &self.entries.former_values
    }

    pub fn remember_passed_on(
        &mut self,
        group: &Path,
        controller: &str,
    ) -> Result<(), JournalError> {
        let entry = (group.into(), controller.into());
        self.remember(|entries| entries.passed_on.push(entry))
    }

    pub fn forget_passed_on(&mut self, group: &Path, controller: &str) -> Result<(), JournalError> {
        let is_other = |(known, name): &(PathBuf, String)| known != group || name != controller;
        self.change(|entries| entries.passed_on.retain(is_other))
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
        self.remember(|entries| entries.jvms.push((container.clone(), former)))
    }

    pub fn forget_jvm(&mut self, jvm: ProcessKey) -> Result<(), JournalError> {
        self.change(|entries| entries.jvms.retain(|(_, former)| former.key() != jvm))
    }

    /// The flags of a JVM before the first wish, or None if it is unchanged.
    pub fn former_flags(&self, jvm: ProcessKey) -> Option<&Former> {
        self.entries.jvms.iter().map(|(_, former)| former).find(|former| former.key() == jvm)
    }

    /// The JVMs whose flags may have changed, with their container.
    pub fn jvms(&self) -> impl ExactSizeIterator<Item = (&ContainerId, ProcessKey)> {
        self.entries.jvms.iter().map(|(container, former)| (container, former.key()))
    }

    fn remember(&mut self, add: impl FnOnce(&mut Entries)) -> Result<(), JournalError> {
        let before = self.entries.clone();
        self.change(add).inspect_err(|_| self.entries = before)
    }

    /// Writes the file if an entry changes, and removes the file with the last entry.
    fn change(&mut self, change: impl FnOnce(&mut Entries)) -> Result<(), JournalError> {
        let before = self.entries.clone();
        change(&mut self.entries);
        if self.entries == before {
            return Ok(());
        }
        let saved = match self.entries == Entries::default() {
            true => own_file::remove(&self.path),
            false => serde_json::to_vec(&self.entries)
                .map_err(io::Error::from)
                .and_then(|text| own_file::replace(&self.path, &text)),
        };
        saved.map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> JournalError {
        let path = self.path.clone();
        JournalError { path, source }
    }
}

#[cfg(test)]
mod tests;
