use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    os::unix::fs::OpenOptionsExt,
    thread,
};

use nix::{fcntl::OFlag, sys::stat::Mode, unistd::mkfifo};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::*;
use crate::{
    actuators::LimitFile,
    cgroups::Version,
    memory_watch::{WatchId, wake_at},
};

const PATIENCE: Duration = Duration::from_secs(20);
/// As many as there are threads.
const STUCK: usize = 3;

fn reclaims() -> Reclaims {
    Reclaims::start(Arc::new(UrgentRaises::new(0))).unwrap()
}

fn change(group: &Path, bytes: u64) -> Change {
    let (file, value) = (LimitFile::MemoryLimit, Value::AtMost(bytes));
    Change { group: group.into(), file, value }
}

/// Waits until this number of writes has ended.
fn collect(reclaims: &mut Reclaims, count: usize) -> Vec<Lowered> {
    let (mut all, deadline) = (Vec::new(), Instant::now() + PATIENCE);
    while all.len() < count {
        assert!(Instant::now() < deadline, "{count} writes do not end: {all:?}");
        all.extend(reclaims.collect());
        thread::sleep(Duration::from_millis(1));
    }
    all
}

/// Groups whose limit cannot be written until somebody reads it.
fn stuck_groups() -> Vec<tempfile::TempDir> {
    let groups: Vec<_> = (0..STUCK).map(|_| tempfile::tempdir().unwrap()).collect();
    for group in &groups {
        mkfifo(&group.path().join("memory.limit_in_bytes"), Mode::S_IRWXU).unwrap();
    }
    groups
}

/// Lets the writes of a group go on.
fn reader(group: &tempfile::TempDir) -> File {
    let path = group.path().join("memory.limit_in_bytes");
    let (flags, mut both) = (OFlag::O_NONBLOCK.bits(), OpenOptions::new());
    both.read(true).write(true).custom_flags(flags).open(path).unwrap()
}

/// What has been written so far.
fn text(reader: &File) -> String {
    some_text(reader).unwrap()
}

/// None if nothing has been written.
fn some_text(mut reader: &File) -> Option<String> {
    let mut bytes = [0; 4096];
    match reader.read(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        count => Some(String::from_utf8_lossy(&bytes[..count.unwrap()]).into_owned()),
    }
}

/// Fills a pipe with blanks, so that the next write waits until somebody reads.
fn full_pipe(path: &Path) -> File {
    let open = |options: &mut OpenOptions| {
        options.custom_flags(OFlag::O_NONBLOCK.bits()).open(path).unwrap()
    };
    let reader = open(OpenOptions::new().read(true));
    let mut writer = open(OpenOptions::new().write(true));
    while writer.write(&[b' '; 4096]).is_ok() {}
    reader
}

/// Waits until a thread has opened a full pipe to write.
fn wait_for_writer(reader: &File) {
    let deadline = Instant::now() + PATIENCE;
    let has_none = || {
        let mut reader = [PollFd::new(reader, PollFlags::IN)];
        poll(&mut reader, Some(&Timespec::default())).unwrap();
        reader[0].revents().contains(PollFlags::HUP)
    };
    while has_none() {
        assert!(Instant::now() < deadline, "the write does not begin");
        thread::sleep(Duration::from_millis(1));
    }
}

fn read(group: &tempfile::TempDir) -> String {
    fs::read_to_string(group.path().join("memory.limit_in_bytes")).unwrap()
}

#[test]
fn a_limit_is_lowered_and_a_failure_is_told() {
    let group = tempfile::tempdir().unwrap();
    let mut reclaims = reclaims();
    let missing = change(group.path(), 5);
    reclaims.lower(missing).unwrap();
    assert!(reclaims.is_open(group.path()));
    let lowered = collect(&mut reclaims, 1).remove(0);
    assert!(lowered.outcome.unwrap_err().is_gone());
    assert!(!reclaims.is_open(group.path()));
    fs::write(group.path().join("memory.limit_in_bytes"), "9").unwrap();
    reclaims.lower(change(group.path(), 5)).unwrap();
    assert!(collect(&mut reclaims, 1).remove(0).outcome.unwrap());
    assert_eq!(read(&group), "5");
}

/// Waits until a thread has begun the write of each group.
fn wait_for_begin(reclaims: &Reclaims, groups: &[tempfile::TempDir]) {
    let deadline = Instant::now() + PATIENCE;
    let has_begun =
        |group: &tempfile::TempDir| reclaims.open[group.path()].state.lock().begun.is_some();
    while !groups.iter().all(has_begun) {
        assert!(Instant::now() < deadline, "the writes do not begin");
        thread::sleep(Duration::from_millis(1));
    }
}

const MIB: u64 = 1 << 20;
const WATCH: WatchId = WatchId(1);

/// A group whose watch has raised the limit from 200 MiB to 264 MiB while a thread writes an earlier one.
struct Raised {
    group: tempfile::TempDir,
    /// Of the file that the thread has opened. It waits until somebody reads the file.
    stuck: File,
    raises: Arc<UrgentRaises>,
    reclaims: Reclaims,
}

impl Raised {
    fn new() -> Self {
        let group = tempfile::tempdir().unwrap();
        let raises = Arc::new(UrgentRaises::new(64 * MIB));
        let reclaims = Reclaims::start(Arc::clone(&raises)).unwrap();
        let path = group.path().join("memory.high");
        mkfifo(&path, Mode::S_IRWXU).unwrap();
        let stuck = full_pipe(&path);
        let mut raised = Self { group, stuck, raises, reclaims };
        raised.reclaims.lower(raised.high(180)).unwrap();
        wait_for_writer(&raised.stuck);
        fs::rename(&path, raised.group.path().join("stuck")).unwrap();
        let set = |file: &str, text: &str| fs::write(raised.group.path().join(file), text).unwrap();
        set("memory.high", &wake_at(200 * MIB).to_string());
        set("memory.max", &(200 * MIB).to_string());
        set("memory.stat", &format!("anon {}\nfile 0\nfile_mapped 0\n", 136 * MIB));
        set("memory.current", &(136 * MIB).to_string());
        raised.raises.allow(WATCH, raised.group.path(), Version::Two).unwrap();
        raised.raises.raise(WATCH);
        raised
    }

    fn high(&self, mib: u64) -> Change {
        let file = LimitFile::MemoryHigh;
        Change { file, ..change(self.group.path(), wake_at(mib * MIB)) }
    }

    /// Lets the thread go on, and waits until it has written.
    fn let_go(&self) {
        let (mut all, deadline) = (String::new(), Instant::now() + PATIENCE);
        while all != wake_at(180 * MIB).to_string() {
            assert!(Instant::now() < deadline, "the thread has written `{all}`");
            match some_text(&self.stuck) {
                Some(text) => all.push_str(text.trim_start()),
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn assert_ends_at(mut self, mib: u64) {
        assert!(!collect(&mut self.reclaims, 1).remove(0).outcome.unwrap());
        let path = self.group.path().join("memory.high");
        assert_eq!(fs::read_to_string(path).unwrap(), wake_at(mib * MIB).to_string());
    }
}

#[test]
fn a_later_value_of_the_agent_does_not_undo_a_raise_that_it_has_not_taken_over() {
    for (later_mib, expected_mib) in [(240, 264), (300, 300)] {
        let raised = Raised::new();
        raised.reclaims.supersede(&raised.high(later_mib));
        raised.let_go();
        let raises = Arc::clone(&raised.raises);
        raised.assert_ends_at(expected_mib);
        assert_eq!(raises.take(WATCH, Result::unwrap), Some(264 * MIB));
    }
}

#[test]
fn a_write_that_ends_while_the_agent_takes_a_raise_over_ends_with_the_raise() {
    for _ in 0..5 {
        let raised = Raised::new();
        raised.reclaims.supersede(&raised.high(240));
        let taken = raised.raises.take(WATCH, |risen| {
            assert_eq!(risen.unwrap(), 264 * MIB);
            raised.let_go();
            raised.reclaims.supersede(&raised.high(264));
        });
        assert!(taken.is_some(), "no raise");
        raised.assert_ends_at(264);
    }
}

#[test]
fn while_every_thread_is_stuck_nothing_waits_and_a_later_value_of_the_agent_holds_at_last() {
    let (stuck, waiting) = (stuck_groups(), tempfile::tempdir().unwrap());
    fs::write(waiting.path().join("memory.limit_in_bytes"), "9").unwrap();
    let mut reclaims = reclaims();
    for group in stuck.iter().chain([&waiting]) {
        reclaims.lower(change(group.path(), 5)).unwrap();
    }
    // A write that has not begun would be skipped below, and nobody would write to its file.
    wait_for_begin(&reclaims, &stuck);
    assert!(reclaims.collect().is_empty());
    let now = Instant::now();
    assert!(reclaims.late(now + LATE_AFTER / 2).is_empty());
    let late = reclaims.late(now + LATE_AFTER);
    assert!(late.len() == STUCK && !late.contains(&waiting.path().to_owned()), "{late:?}");
    assert!(reclaims.late(now + 2 * LATE_AFTER).is_empty(), "each is told once");
    // The plan has ended.
    for group in [&stuck[0], &waiting] {
        let lifted = Value::Unlimited;
        reclaims.supersede(&Change { value: lifted, ..change(group.path(), 0) });
    }
    let other = Change { file: LimitFile::MemoryHigh, ..change(stuck[1].path(), 7) };
    reclaims.supersede(&other);
    let readers: Vec<File> = stuck.iter().map(reader).collect();
    let all = collect(&mut reclaims, STUCK + 1);
    // The first one had begun: its value comes before that of the agent, as on v1. A value of another file changes nothing.
    assert_eq!(readers.iter().map(text).collect::<Vec<_>>(), ["5-1", "5", "5"]);
    let in_force = |lowered: &&Lowered| *lowered.outcome.as_ref().unwrap();
    assert_eq!(all.iter().filter(in_force).count(), STUCK - 1);
    assert_eq!(read(&waiting), "9", "the agent has written its value itself");
    assert_eq!(reclaims.open().count(), 0);
}
