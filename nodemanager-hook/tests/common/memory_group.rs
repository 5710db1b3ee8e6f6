//! Groups with a memory limit, and processes that grow in them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use elastane_agent::memory_watch::{Version, wake_at};

pub const MIB: u64 = 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(30);

/// A group in the hierarchy with the memory controller, removed when this is dropped.
pub struct MemoryGroup {
    pub path: PathBuf,
    pub version: Version,
}

impl MemoryGroup {
    /// # Panics
    /// No group can be made: not root, or no memory controller.
    pub fn new(limit_mib: u64) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let (root, version) = hierarchy();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("elastane-jvm-test-{}-{number}", std::process::id());
        let path = root.join(name);
        fs::create_dir(&path).expect("these tests need root");
        let group = Self { path, version };
        group.set_limit(limit_mib * MIB);
        group
    }

    /// Sets the limit, and on v2 the usage at which the group wakes.
    pub fn set_limit(&self, bytes: u64) {
        let write = |file: &str, bytes: u64| {
            fs::write(self.path.join(file), bytes.to_string()).unwrap();
        };
        match self.version {
            Version::One => write("memory.limit_in_bytes", bytes),
            Version::Two => {
                write("memory.max", bytes);
                write("memory.high", wake_at(bytes));
            }
        }
    }

    pub fn usage(&self) -> u64 {
        self.number("memory.usage_in_bytes", "memory.current")
    }

    pub fn limit(&self) -> u64 {
        self.number("memory.limit_in_bytes", "memory.max")
    }

    fn number(&self, of_version_1: &str, of_version_2: &str) -> u64 {
        let file = match self.version {
            Version::One => of_version_1,
            Version::Two => of_version_2,
        };
        let text = fs::read_to_string(self.path.join(file)).unwrap();
        text.trim().parse().unwrap()
    }

    /// Starts a process in the group that takes memory MiB by MiB.
    pub fn grow(&self, mib: u64, pause: Duration) -> Growing {
        let procs = self.path.join("cgroup.procs");
        let child = Command::new("sh")
            .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
            .arg(procs)
            .arg(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "grows", "--nocapture"])
            .env("GROW_MIB", mib.to_string())
            .env("PAUSE_US", pause.as_micros().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Growing { child }
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while fs::remove_dir(&self.path).is_err() && self.path.exists() {
            if Instant::now() > deadline {
                eprintln!("{} is left", self.path.display());
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A process that grows and then waits to be killed.
pub struct Growing {
    child: Child,
}

impl Growing {
    /// Whether the process has grown fully; false if it was killed before.
    pub fn has_grown(&mut self) -> bool {
        let output = BufReader::new(self.child.stdout.take().unwrap());
        let (sender, result) = mpsc::channel();
        thread::spawn(move || {
            let mut lines = output.lines().map_while(Result::ok);
            sender.send(lines.any(|line| line.ends_with("has grown")))
        });
        let result = result.recv_timeout(PATIENCE);
        result.unwrap_or_else(|_| {
            eprintln!("the process neither grows nor ends");
            false
        })
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Grows; the test binary is the program of the growing process.
pub fn grow_and_wait() {
    let number = |name: &str| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let (mebibytes, pause) = (number("GROW_MIB"), Duration::from_micros(number("PAUSE_US")));
    let mut held = Vec::new();
    for _ in 0..mebibytes {
        held.push(vec![1_u8; MIB as usize]);
        thread::sleep(pause);
    }
    println!("has grown");
    let _ = std::io::stdin().read(&mut [0]);
    drop(held);
}

/// Waits for a condition with a deadline.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "timed out: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The hierarchy with the memory controller.
fn hierarchy() -> (PathBuf, Version) {
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let find = |holds: &dyn Fn(&str, &Path) -> bool| {
        mountinfo.lines().find_map(|line| {
            let (mount, file_system) = line.split_once(" - ")?;
            let path: PathBuf = mount.split(' ').nth(4)?.into();
            holds(file_system, &path).then_some(path)
        })
    };
    let has_memory = |file_system: &str, _: &Path| {
        let options = file_system.rsplit(' ').next().unwrap_or_default();
        file_system.starts_with("cgroup ") && options.split(',').any(|one| one == "memory")
    };
    let can_give_memory = |file_system: &str, path: &Path| {
        let controllers = fs::read_to_string(path.join("cgroup.controllers"));
        let controllers = controllers.unwrap_or_default();
        let mut controllers = controllers.split_whitespace();
        file_system.starts_with("cgroup2 ") && controllers.any(|one| one == "memory")
    };
    if let Some(path) = find(&has_memory) {
        return (path, Version::One);
    }
    let path = find(&can_give_memory).expect("these tests need a memory controller");
    // Without systemd the controller may be off. On other hosts this changes nothing.
    fs::write(path.join("cgroup.subtree_control"), "+memory").expect("these tests need root");
    (path, Version::Two)
}
