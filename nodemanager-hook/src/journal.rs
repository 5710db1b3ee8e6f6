//! What has to be put back, kept in a file so that the agent may be killed at any time.
//!
//! It lies beside the socket, on a file system that does not outlive a boot, and neither do
//! cgroups: so it is replaced as a whole, but never forced to a disk.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};

use crate::{
    actuators::{LimitFile, Value},
    container_id::ContainerId,
    jvm::Former,
    sensors::ProcessKey,
};

/// A journal that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("journal {}: {source}", path.display())]
pub struct JournalError {
    path: PathBuf,
    source: io::Error,
}

/// Every entry is written before what it undoes is done.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    entries: Entries,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Entries {
    /// Groups around the containers' that the agent made, outermost first.
    made: Vec<PathBuf>,
    /// Where the processes of an own group came from.
    origins: BTreeMap<PathBuf, PathBuf>,
    /// What files of groups that the agent did not make held before the first limit.
    former_values: BTreeMap<PathBuf, Vec<(LimitFile, Value)>>,
    /// Groups of version 2 in which the agent let controllers pass to the groups inside, outermost
    /// first.
    passed_on: Vec<(PathBuf, String)>,
    /// JVMs, each with its container and with its flags before the first wish.
    jvms: Vec<(ContainerId, Former)>,
    network: NetworkMade,
}

/// What the agent has made of the node's network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkMade {
    /// Devices that have its root.
    pub devices: BTreeSet<String>,
    /// Whether there is its nft table.
    pub has_nft_table: bool,
}

impl Journal {
    /// Reads the journal of an agent that was killed; an empty one when there is none.
    ///
    /// # Errors
    /// A file that is there but cannot be read.
    pub fn load(path: &Path) -> Result<Self, JournalError> {
        let entries = match read_own(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Entries::default()),
            Err(error) => Err(error),
            Ok(text) => serde_json::from_str(&text).map_err(io::Error::from),
        };
        Ok(Self {
            path: path.into(),
            entries: entries.map_err(|source| error(path, source))?,
        })
    }

    /// An empty journal, in place of one that cannot be read.
    pub fn empty(path: &Path) -> Self {
        Self {
            path: path.into(),
            entries: Entries::default(),
        }
    }

    /// Drops entries about anything but groups.
    pub fn retain(&mut self, is_group: impl Fn(&Path) -> bool) {
        self.entries.made.retain(|group| is_group(group));
        self.entries.origins.retain(|group, _| is_group(group));
        self.entries
            .former_values
            .retain(|group, _| is_group(group));
    }

    /// What is made of the network.
    pub fn network(&self) -> &NetworkMade {
        &self.entries.network
    }

    pub fn set_network(&mut self, made: NetworkMade) -> Result<(), JournalError> {
        if self.entries.network == made {
            return Ok(());
        }
        self.entries.network = made;
        self.save()
    }

    pub fn remember_made(&mut self, group: &Path) -> Result<(), JournalError> {
        self.entries.made.push(group.into());
        self.save()
    }

    pub fn forget_made(&mut self, group: &Path) -> Result<(), JournalError> {
        self.entries.made.retain(|made| made != group);
        self.save()
    }

    /// The groups that the agent made around the containers', outermost first.
    pub fn made(&self) -> &[PathBuf] {
        &self.entries.made
    }

    pub fn remember_origin(&mut self, group: &Path, origin: &Path) -> Result<(), JournalError> {
        self.entries.origins.insert(group.into(), origin.into());
        self.save()
    }

    pub fn forget_origin(&mut self, group: &Path) -> Result<(), JournalError> {
        match self.entries.origins.remove(group) {
            Some(_) => self.save(),
            None => Ok(()),
        }
    }

    /// The own groups of containers.
    pub fn own_groups(&self) -> impl Iterator<Item = &PathBuf> {
        self.entries.origins.keys()
    }

    /// Where the processes of an own group go back to: where they came from, or else the first
    /// group above that the agent did not make.
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

    /// Remembers what files of a group hold, but for those that are remembered already.
    pub fn remember_former(
        &mut self,
        group: &Path,
        values: Vec<(LimitFile, Value)>,
    ) -> Result<(), JournalError> {
        if values.is_empty() {
            return Ok(());
        }
        let known = self.entries.former_values.entry(group.into()).or_default();
        let before = known.len();
        for (file, value) in values {
            if !known.iter().any(|(known, _)| *known == file) {
                known.push((file, value));
            }
        }
        if known.len() == before {
            return Ok(());
        }
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

    /// Forgets all files of a group that is gone.
    pub fn forget_former_of(&mut self, group: &Path) -> Result<(), JournalError> {
        match self.entries.former_values.remove(group) {
            Some(_) => self.save(),
            None => Ok(()),
        }
    }

    /// What a file of a group that the agent did not make held before its first limit.
    pub fn former_value(&self, group: &Path, file: LimitFile) -> Option<Value> {
        let known = self.entries.former_values.get(group)?;
        let (_, value) = known.iter().find(|(known, _)| *known == file)?;
        Some(*value)
    }

    /// Groups that the agent did not make and that are limited, and what their files held before.
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

    /// Groups of version 2 and the controllers that the agent let pass to the groups in them,
    /// outermost first.
    pub fn passed_on(&self) -> &[(PathBuf, String)] {
        &self.entries.passed_on
    }

    /// Remembers the flags of a JVM that is not remembered yet.
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
        self.entries.jvms.retain(|(_, former)| !is_of(former, jvm));
        match self.entries.jvms.len() == before {
            true => Ok(()),
            false => self.save(),
        }
    }

    /// The flags of a JVM before the first wish; nothing when they are as they were.
    pub fn former_flags(&self, jvm: ProcessKey) -> Option<&Former> {
        let mut all = self.entries.jvms.iter().map(|(_, former)| former);
        all.find(|former| is_of(former, jvm))
    }

    /// The JVMs whose flags may be changed, each with its container.
    pub fn jvms(&self) -> impl ExactSizeIterator<Item = (&ContainerId, ProcessKey)> {
        let jvms = self.entries.jvms.iter();
        jvms.map(|(container, former)| {
            let key = ProcessKey {
                pid: former.pid,
                start_ticks: former.start_ticks,
            };
            (container, key)
        })
    }

    /// Writes the entries, or removes the file when there are none.
    fn save(&self) -> Result<(), JournalError> {
        let saved = if self.entries.are_none() {
            match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        } else {
            self.replace()
        };
        saved.map_err(|source| error(&self.path, source))
    }

    fn replace(&self) -> io::Result<()> {
        let mut new = self.path.clone().into_os_string();
        new.push(".new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // A link that somebody else put there must not be followed.
        let mut file = File::create_new(&new)?;
        file.write_all(&serde_json::to_vec(&self.entries)?)?;
        fs::rename(&new, &self.path)
    }
}

impl Entries {
    fn are_none(&self) -> bool {
        let Self {
            made,
            origins,
            former_values,
            passed_on,
            jvms,
            network,
        } = self;
        let no_groups = made.is_empty() && origins.is_empty();
        let no_values = former_values.is_empty() && jvms.is_empty();
        let is_network = *network == NetworkMade::default();
        no_groups && no_values && passed_on.is_empty() && is_network
    }
}

fn is_of(former: &Former, jvm: ProcessKey) -> bool {
    (former.pid, former.start_ticks) == (jvm.pid, jvm.start_ticks)
}

/// Reads a file that nobody but the agent's user can have written.
fn read_own(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let owner = file.metadata()?.uid();
    if owner != geteuid().as_raw() {
        return Err(io::Error::other(format!("it belongs to uid {owner}")));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

fn error(path: &Path, source: io::Error) -> JournalError {
    let path = path.into();
    JournalError { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_outlive_the_agent_and_the_file_goes_with_the_last_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("agent.sock.journal");
        let (made, group) = (
            directory.path().join("made"),
            directory.path().join("made/c"),
        );
        fs::create_dir(&made).unwrap();
        let mut journal = Journal::load(&path).unwrap();
        journal.remember_made(&made).unwrap();
        journal.remember_origin(&group, directory.path()).unwrap();
        let mut journal = Journal::load(&path).unwrap();
        assert_eq!(journal.made(), std::slice::from_ref(&made));
        assert_eq!(journal.origin(&group), directory.path());
        journal.forget_origin(&group).unwrap();
        journal.forget_made(&made).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn the_first_value_of_each_file_is_remembered_until_it_is_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let group = Path::new("/cgroup/yarn/container_1_1_1_1");
        let mut journal = Journal::load(&path).unwrap();
        for (file, value) in [
            (LimitFile::CpuMax, Value::AtMost(50_000)),
            (LimitFile::CpuMax, Value::AtMost(10_000)),
            (LimitFile::MemoryMax, Value::Unlimited),
        ] {
            let values = vec![(file, value)];
            journal.remember_former(group, values).unwrap();
        }
        let mut journal = Journal::load(&path).unwrap();
        let former = |journal: &Journal, file| journal.former_value(group, file);
        let quota = former(&journal, LimitFile::CpuMax);
        assert_eq!(quota, Some(Value::AtMost(50_000)));
        journal.forget_former(group, LimitFile::CpuMax).unwrap();
        assert_eq!(former(&journal, LimitFile::CpuMax), None);
        let max = former(&journal, LimitFile::MemoryMax);
        assert_eq!(max, Some(Value::Unlimited));
        journal.forget_former(group, LimitFile::MemoryMax).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn the_flags_of_a_jvm_are_kept_until_they_are_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let container = "container_1_1_1_1".parse().unwrap();
        let key = |start_ticks| ProcessKey {
            pid: 7,
            start_ticks,
        };
        let former = Former {
            pid: 7,
            start_ticks: 100,
            flags: [(crate::jvm::Flag::MinHeapFreeRatio, 40)].into(),
        };
        let mut journal = Journal::load(&path).unwrap();
        journal.remember_jvm(&container, former.clone()).unwrap();
        let mut journal = Journal::load(&path).unwrap();
        assert_eq!(journal.former_flags(key(100)), Some(&former));
        assert_eq!(journal.former_flags(key(101)), None);
        let jvms: Vec<_> = journal.jvms().collect();
        assert_eq!(jvms, [(&container, key(100))]);
        journal.forget_jvm(key(101)).unwrap();
        assert!(path.exists());
        journal.forget_jvm(key(100)).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn an_origin_that_is_not_known_is_the_first_group_that_was_not_made_here() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::load(&directory.path().join("journal")).unwrap();
        let group = Path::new("/cpu/outer/parent/container_1_1_1_1");
        assert_eq!(journal.origin(group), Path::new("/cpu/outer/parent"));
        journal
            .remember_made(Path::new("/cpu/outer/parent"))
            .unwrap();
        assert_eq!(journal.origin(group), Path::new("/cpu/outer"));
        journal.remember_origin(group, Path::new("/gone")).unwrap();
        assert_eq!(journal.origin(group), Path::new("/cpu/outer"));
    }

    #[test]
    fn a_journal_of_somebody_else_is_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        fs::write(&path, "{}").unwrap();
        let (path, uid) = if geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
            (path.as_path(), 65534)
        } else {
            (Path::new("/etc/passwd"), 0)
        };
        let error = Journal::load(path).unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("it belongs to uid {uid}")),
            "{error}"
        );
    }

    #[test]
    fn a_damaged_journal_is_an_error_that_names_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        fs::write(&path, "{").unwrap();
        let error = Journal::load(&path).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("journal {}: ", path.display())),
            "{error}"
        );
    }
}
