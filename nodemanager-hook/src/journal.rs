//! The changes to undo, kept in a file, so that the agent may be killed at any time.
//!
//! The file lies beside the socket, on a file system that a reboot clears, as it clears cgroups. So
//! the file is replaced as a whole, but never synced to a disk.

mod file;

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
    sensors::ProcessKey,
};

#[derive(Debug, thiserror::Error)]
#[error("journal {}: {source}", path.display())]
pub struct JournalError {
    path: PathBuf,
    source: io::Error,
}

/// Every entry is written before the change that it undoes.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    entries: Entries,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
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
    pub devices: BTreeSet<String>,
    /// Whether the agent's nft table may exist.
    pub has_nft_table: bool,
}

impl Journal {
    /// Reads the journal of a killed agent, or an empty one if there is none.
    pub fn load(path: &Path) -> Result<Self, JournalError> {
        let entries = match file::read_own(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Entries::default()),
            Err(error) => Err(error),
            Ok(text) => serde_json::from_str(&text).map_err(io::Error::from),
        };
        Ok(Self {
            path: path.into(),
            entries: entries.map_err(|source| error(path, source))?,
        })
    }

    /// An empty journal, to replace one that cannot be read.
    pub fn empty(path: &Path) -> Self {
        Self {
            path: path.into(),
            entries: Entries::default(),
        }
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
        let former = std::mem::replace(&mut self.entries.network, made);
        self.save_if(former != self.entries.network)
    }

    pub fn remember_made(&mut self, group: &Path) -> Result<(), JournalError> {
        self.entries.made.push(group.into());
        self.save()
    }

    pub fn forget_made(&mut self, group: &Path) -> Result<(), JournalError> {
        self.entries.made.retain(|made| made != group);
        self.save()
    }

    /// The ancestors of the containers' groups that the agent made, outermost first.
    pub fn made(&self) -> &[PathBuf] {
        &self.entries.made
    }

    pub fn remember_origin(&mut self, group: &Path, origin: &Path) -> Result<(), JournalError> {
        self.entries.origins.insert(group.into(), origin.into());
        self.save()
    }

    pub fn forget_origin(&mut self, group: &Path) -> Result<(), JournalError> {
        let is_known = self.entries.origins.remove(group).is_some();
        self.save_if(is_known)
    }

    pub fn own_groups(&self) -> impl Iterator<Item = &PathBuf> {
        self.entries.origins.keys()
    }

    /// The group to which the processes of an own group return: their former group, or else the
    /// nearest ancestor that the agent did not make.
    pub fn origin(&self, group: &Path) -> PathBuf {
        let recorded = self.entries.origins.get(group);
        if let Some(origin) = recorded.filter(|origin| origin.is_dir()) {
            return origin.clone();
        }
        let mut above = group.ancestors().skip(1);
        above
            .find(|above| !self.entries.made.iter().any(|made| made == above))
            .unwrap_or(group)
            .into()
    }

    /// Remembers the values of a group's files, except for files that it remembers already.
    pub fn remember_former(
        &mut self,
        group: &Path,
        values: Vec<(LimitFile, Value)>,
    ) -> Result<(), JournalError> {
        let is_known = |file| self.former_value(group, file).is_some();
        let new: Vec<_> = values
            .into_iter()
            .filter(|(file, _)| !is_known(*file))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let known = self.entries.former_values.entry(group.into()).or_default();
        let before = known.len();
        known.extend(new);
        let saved = self.save();
        if saved.is_err()
            && let Some(known) = self.entries.former_values.get_mut(group)
        {
            known.truncate(before);
        }
        saved
    }

    pub fn forget_former(&mut self, group: &Path, file: LimitFile) -> Result<(), JournalError> {
        let Some(known) = self.entries.former_values.get_mut(group) else {
            return Ok(());
        };
        known.retain(|(known, _)| *known != file);
        if known.is_empty() {
            self.entries.former_values.remove(group);
        }
        self.save()
    }

    /// Forgets all files of a removed group.
    pub fn forget_former_of(&mut self, group: &Path) -> Result<(), JournalError> {
        let is_known = self.entries.former_values.remove(group).is_some();
        self.save_if(is_known)
    }

    /// The value of the container executor's file before its first limit.
    pub fn former_value(&self, group: &Path, file: LimitFile) -> Option<Value> {
        let known = self.entries.former_values.get(group)?;
        let (_, value) = known.iter().find(|(known, _)| *known == file)?;
        Some(*value)
    }

    /// The limited groups of the container executor, with the former values of their files.
    pub fn former(&self) -> impl Iterator<Item = (&PathBuf, &[(LimitFile, Value)])> {
        let former = self.entries.former_values.iter();
        former.map(|(group, values)| (group, values.as_slice()))
    }

    pub fn remember_passed_on(
        &mut self,
        group: &Path,
        controller: &str,
    ) -> Result<(), JournalError> {
        self.entries
            .passed_on
            .push((group.into(), controller.into()));
        self.save()
    }

    pub fn forget_passed_on(&mut self, group: &Path, controller: &str) -> Result<(), JournalError> {
        let is_other = |(known, name): &(PathBuf, String)| known != group || name != controller;
        self.entries.passed_on.retain(is_other);
        self.save()
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
        self.entries.jvms.push((container.clone(), former));
        let saved = self.save();
        if saved.is_err() {
            self.entries.jvms.pop();
        }
        saved
    }

    pub fn forget_jvm(&mut self, jvm: ProcessKey) -> Result<(), JournalError> {
        let before = self.entries.jvms.len();
        self.entries.jvms.retain(|(_, former)| former.key() != jvm);
        self.save_if(self.entries.jvms.len() < before)
    }

    /// The flags of a JVM before the first wish, or None if it is unchanged.
    pub fn former_flags(&self, jvm: ProcessKey) -> Option<&Former> {
        let mut all = self.entries.jvms.iter().map(|(_, former)| former);
        all.find(|former| former.key() == jvm)
    }

    /// The JVMs whose flags may have changed, with their container.
    pub fn jvms(&self) -> impl ExactSizeIterator<Item = (&ContainerId, ProcessKey)> {
        let jvms = self.entries.jvms.iter();
        jvms.map(|(container, former)| (container, former.key()))
    }

    fn save_if(&self, has_changed: bool) -> Result<(), JournalError> {
        match has_changed {
            true => self.save(),
            false => Ok(()),
        }
    }

    /// Writes the entries, or removes the file if there are none.
    fn save(&self) -> Result<(), JournalError> {
        let saved = match self.entries.are_none() {
            true => file::remove(&self.path),
            false => serde_json::to_vec(&self.entries)
                .map_err(io::Error::from)
                .and_then(|text| file::replace(&self.path, &text)),
        };
        saved.map_err(|source| error(&self.path, source))
    }
}

impl Entries {
    fn are_none(&self) -> bool {
        *self == Self::default()
    }
}

fn error(path: &Path, source: io::Error) -> JournalError {
    let path = path.into();
    JournalError { path, source }
}

#[cfg(test)]
mod tests;
