//! Old runs are removed every hour, on a thread of its own: it may take longer than what is recorded
//! may wait to be saved.

use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use elastane_store::{Depository, Pruned, Retention, StoreError};

use crate::renewal;

const EVERY_MS: i64 = 3_600_000;

/// Removes old runs now and then.
pub(crate) struct Retainer {
    sender: Option<SyncSender<i64>>,
    thread: Option<JoinHandle<()>>,
    due_ms: Mutex<Option<i64>>,
}

impl Retainer {
    /// Removes them by this connection.
    pub(crate) fn open(depository: Depository, retention: Retention) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("elastane-retention".into())
            .spawn(move || prune_all(depository, &retention, &receiver))?;
        Ok(Self {
            sender: Some(sender),
            thread: Some(thread),
            due_ms: Mutex::new(None),
        })
    }

    /// Starts removing when it is due: the first time, and then every hour.
    pub(crate) fn tick(&self, now_ms: i64) {
        // Whoever holds it asks already.
        let Ok(mut due_ms) = self.due_ms.try_lock() else {
            return;
        };
        if due_ms.is_some_and(|due_ms| now_ms < due_ms) {
            return;
        }
        *due_ms = Some(now_ms + EVERY_MS);
        if let Some(sender) = &self.sender {
            // One that waits already will do.
            let _ = sender.try_send(now_ms);
        }
    }

    /// Ends the thread, after what it is removing.
    pub(crate) fn close(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the thread that removes old runs panicked");
        }
    }
}

fn prune_all(mut depository: Depository, retention: &Retention, moments: &Receiver<i64>) {
    while let Ok(now_ms) = moments.recv() {
        match prune(&mut depository, retention, now_ms) {
            Ok(pruned) => tell(pruned, retention),
            Err(error) => log::error!("old runs are not removed, it is tried again: {error}"),
        }
    }
}

fn prune(
    depository: &mut Depository,
    retention: &Retention,
    now_ms: i64,
) -> Result<Pruned, StoreError> {
    renewal::follow(depository)?;
    match depository.prune(retention, now_ms) {
        // A new file has nothing old.
        Err(StoreError::Damaged { .. }) if renewal::begin_anew(depository)? => {
            Ok(Pruned::default())
        }
        pruned => pruned,
    }
}

fn tell(pruned: Pruned, retention: &Retention) {
    if pruned.runs() > 0 {
        let Pruned {
            old_runs,
            spare_runs,
            profile_runs,
        } = pruned;
        log::info!(
            "removed {old_runs} old runs, {spare_runs} for want of room, {profile_runs} of profiles"
        );
    }
    if pruned.profile_runs > 0 {
        log::warn!(
            "yarn.scheduler.elastane.depository.max-mb is {}, too small for the profiles of all \
             applications: those that ran longest ago are forgotten",
            retention.most_bytes / MB
        );
    }
}

/// What the setting counts in.
pub(crate) const MB: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;
    use std::thread;
    use std::time::{Duration, Instant};

    use elastane_predict::{Outcome, Run};
    use elastane_store::Access;

    const DAY_MS: i64 = 86_400_000;

    fn run(number: i64) -> Run {
        Run {
            application_key: format!("sales {number}"),
            application_id: format!("application_1_{number:04}"),
            application_name: "Sales".into(),
            started_ms: 0,
            ended_ms: number,
            outcome: Outcome::Succeeded,
            series: Vec::new(),
        }
    }

    fn retainer(depository: &Depository) -> Retainer {
        let retention = Retention {
            keep_ms: DAY_MS,
            most_bytes: u64::MAX,
            profile_runs: 3,
        };
        Retainer::open(depository.reopen().unwrap(), retention).unwrap()
    }

    /// All pages, those in the log too.
    fn damage(path: &Path) {
        for part in [path.to_owned(), path.with_extension("sqlite-wal")] {
            let length = fs::metadata(&part).unwrap().len() as usize;
            let file = fs::OpenOptions::new().write(true).open(&part);
            std::io::Write::write_all(&mut file.unwrap(), &vec![0xAB; length]).unwrap();
        }
    }

    fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !holds() {
            assert!(Instant::now() < deadline, "{what}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn applications(path: &Path) -> usize {
        let depository = Depository::open_existing(path, Access::Read);
        depository.map_or(usize::MAX, |it| it.applications().unwrap().len())
    }

    #[test]
    fn old_runs_go_from_the_file_that_another_thread_began() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("depository.sqlite");
        let mut depository = Depository::open(&path).unwrap().depository;
        depository.save(&run(1)).unwrap();
        let mut retainer = retainer(&depository);
        retainer.tick(3 * DAY_MS);
        wait_until("nothing is removed", || applications(&path) == 0);
        damage(&path);
        assert!(depository.renew().unwrap().is_another);
        depository.save(&run(2)).unwrap();
        retainer.tick(3 * DAY_MS + EVERY_MS);
        wait_until("the new file is left alone", || applications(&path) == 0);
        retainer.close();
        assert_eq!(depository.applications().unwrap(), []);
    }

    #[test]
    fn damage_that_is_found_here_moves_the_file_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("depository.sqlite");
        let mut depository = Depository::open(&path).unwrap().depository;
        depository.save(&run(1)).unwrap();
        drop(depository);
        let depository = Depository::open(&path).unwrap().depository;
        let mut retainer = retainer(&depository);
        damage(&path);
        retainer.tick(3 * DAY_MS);
        let aside = folder.path().join("depository.sqlite.damaged-1");
        wait_until("it is not moved", || aside.exists() && path.exists());
        retainer.close();
        assert!(depository.is_replaced());
        let again = Depository::open(&path).unwrap();
        assert_eq!(again.moved_aside, None);
    }
}
