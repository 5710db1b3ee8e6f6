//! A file that several threads have open, one of which finds it damaged and puts a new one in its
//! place.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::depository::Depository;
use crate::error::StoreError;

/// Two that find the damage at once would move the new file aside after the old one.
static MOVING: Mutex<()> = Mutex::new(());

/// To be held while a file is opened or moved.
pub(crate) fn moving() -> MutexGuard<'static, ()> {
    MOVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// None where it cannot be told.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }
}

/// What became of a file that was opened anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewed {
    /// It is another file than before, whoever put it there. Asked of the name before, this would miss
    /// a thread that moves the file meanwhile.
    pub is_another: bool,
    /// Where the damaged file went, if it was moved here.
    pub moved_aside: Option<PathBuf>,
}

impl Depository {
    /// Whether its name belongs to another file by now, or to none: what is written would go where
    /// nobody looks.
    #[must_use]
    pub fn is_replaced(&self) -> bool {
        match fs::metadata(&self.path) {
            Ok(_) => Identity::of(&self.path) != self.identity,
            Err(error) => error.kind() == ErrorKind::NotFound,
        }
    }

    /// Opens the file anew, as [`Depository::open`] does: after damage was found, or where it
    /// [is replaced](Depository::is_replaced). Of several threads that find the damage one moves the
    /// file, and the others get the new one.
    ///
    /// # Errors
    /// As [`Depository::open`]; everything is as it was then.
    pub fn renew(&mut self) -> Result<Renewed, StoreError> {
        let opened = Self::open(&self.path)?;
        let former = std::mem::replace(self, opened.depository);
        Ok(Renewed {
            is_another: former.identity.is_none() || former.identity != self.identity,
            moved_aside: opened.moved_aside,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::{Arc, Barrier};
    use std::thread;

    use elastane_predict::{Outcome, Run};

    fn run(number: i64) -> Run {
        Run {
            application_key: "sales".into(),
            application_id: format!("application_1_{number:04}"),
            application_name: "Sales".into(),
            started_ms: 0,
            ended_ms: number,
            outcome: Outcome::Succeeded,
            series: Vec::new(),
        }
    }

    fn fresh() -> (tempfile::TempDir, PathBuf, Depository) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("depository.db");
        let mut depository = Depository::open(&path).unwrap().depository;
        depository.save(&run(1)).unwrap();
        (folder, path, depository)
    }

    #[test]
    fn of_threads_that_find_the_damage_at_once_one_moves_the_file() {
        let (folder, path, mut depository) = fresh();
        // Enough pages that they all look at them when the first one has found the damage.
        for number in 2..2_000 {
            depository.save(&run(number)).unwrap();
        }
        drop(depository);
        let others: Vec<_> = (0..4)
            .map(|_| Depository::open(&path).unwrap().depository)
            .collect();
        let mut bytes = fs::read(&path).unwrap();
        let last_pages = bytes.len() - 8 * 4096;
        bytes[last_pages..].fill(0xAB);
        let file = fs::OpenOptions::new().write(true).open(&path);
        file.unwrap().write_all(&bytes).unwrap();
        let start = Arc::new(Barrier::new(others.len()));
        let threads: Vec<_> = others
            .into_iter()
            .map(|mut other| {
                let start = Arc::clone(&start);
                thread::spawn(move || {
                    start.wait();
                    (other.renew().unwrap(), other)
                })
            })
            .collect();
        let renewed: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect();
        let moved: Vec<_> = renewed
            .iter()
            .filter_map(|(renewed, _)| renewed.moved_aside.as_ref())
            .collect();
        assert_eq!(moved, [&folder.path().join("depository.db.damaged-1")]);
        // Those that waited while another moved it have to know, too.
        for (renewed, depository) in &renewed {
            assert!(renewed.is_another);
            assert!(!depository.is_replaced());
        }
    }

    #[test]
    fn a_connection_to_the_file_that_was_moved_knows_it_and_leaves_the_new_log_alone() {
        let (folder, _path, mut depository) = fresh();
        let mut left_behind = depository.reopen().unwrap();
        left_behind.save(&run(2)).unwrap();
        assert!(!left_behind.is_replaced());
        let name = |name: &str, part| folder.path().join(format!("{name}.db{part}"));
        for part in ["", "-wal", "-shm"] {
            fs::rename(name("depository", part), name("elsewhere", part)).unwrap();
        }
        assert!(left_behind.is_replaced(), "there is no file of this name");
        depository.renew().unwrap();
        assert!(left_behind.is_replaced() && !depository.is_replaced());
        depository.save(&run(3)).unwrap();
        left_behind.save(&run(4)).unwrap();
        // SQLite removes a log by its name when the last connection closes, but not of a file that moved.
        drop(left_behind);
        assert!(name("depository", "-wal").exists());
        let read = depository.reopen().unwrap().latest_runs("sales", 9);
        assert_eq!(read.unwrap(), [run(3)]);
    }
}
