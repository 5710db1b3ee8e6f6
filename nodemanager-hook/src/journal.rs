//! What has to be put back, kept in a file so that the agent may be killed at any time.
//!
//! It lies beside the socket, on a file system that does not outlive a boot, and neither do
//! cgroups: so it is replaced as a whole, but never forced to a disk.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};

use crate::actuators::CpuLimit;

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
    /// What groups of the container executor held before the first limit.
    former: BTreeMap<PathBuf, CpuLimit>,
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
        self.entries.former.retain(|group, _| is_group(group));
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

    pub fn remember_former(&mut self, group: &Path, limit: CpuLimit) -> Result<(), JournalError> {
        if self.entries.former.contains_key(group) {
            return Ok(());
        }
        self.entries.former.insert(group.into(), limit);
        let saved = self.save();
        if saved.is_err() {
            self.entries.former.remove(group);
        }
        saved
    }

    pub fn forget_former(&mut self, group: &Path) -> Result<(), JournalError> {
        match self.entries.former.remove(group) {
            Some(_) => self.save(),
            None => Ok(()),
        }
    }

    /// What a group of the container executor held before its first limit.
    pub fn former_of(&self, group: &Path) -> Option<CpuLimit> {
        self.entries.former.get(group).copied()
    }

    /// Groups of the container executor that are limited, and what they held before.
    pub fn former(&self) -> impl Iterator<Item = (&PathBuf, CpuLimit)> {
        self.entries
            .former
            .iter()
            .map(|(group, limit)| (group, *limit))
    }

    /// Writes the entries, or removes the file when there are none.
    fn save(&self) -> Result<(), JournalError> {
        let Entries {
            made,
            origins,
            former,
        } = &self.entries;
        let saved = if made.is_empty() && origins.is_empty() && former.is_empty() {
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
