//! Real JVMs that hold a given amount of memory.
#![allow(dead_code)] // each test uses a part
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

use elastane_agent::jvm::{Control, Jvm, JvmHost};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

pub const MIB: u64 = 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(30);

/// A JVM process. Only one runs at a time, so that heaps do not add up.
pub struct Workload {
    child: Child,
    pid: u32,
    commands: ChildStdin,
    lines: Receiver<String>,
    _alone: MutexGuard<'static, ()>,
}

impl Workload {
    /// Starts `java` with these JVM options.
    pub fn start(options: &str) -> Self {
        let mut java = Command::new("java");
        java.args(options.split_whitespace());
        Self::start_with(java)
    }

    /// Starts a shell script whose `$@` is the program.
    pub fn start_by_script(script: &str) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh"]);
        Self::start_with(shell)
    }

    fn start_with(mut java: Command) -> Self {
        static ONE: Mutex<()> = Mutex::new(());
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut child = java
            // A JVM of another user or with another /tmp may not see the path of the classes.
            .current_dir(classes())
            .args(["-cp", ".", "Workload"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("these tests need a JDK");
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut read = output.lines().map_while(Result::ok);
            read.try_for_each(|line| sender.send(line))
        });
        let mut workload = Self {
            pid: child.id(),
            commands: child.stdin.take().unwrap(),
            child,
            lines,
            _alone: alone,
        };
        assert_eq!(workload.line(), "ready");
        workload.pid = innermost(workload.pid);
        workload
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub fn find(&self) -> Jvm {
        let found = Jvm::find(&host(), self.pid).unwrap();
        found.expect("a JVM")
    }

    pub fn control(&self) -> Control {
        self.find().control(&host()).expect("a JVM with counters")
    }

    /// Lets the JVM hold this much; what it held before becomes garbage.
    pub fn hold(&mut self, mebibytes: u32) {
        writeln!(self.commands, "hold {mebibytes}").unwrap();
        assert_eq!(self.line(), format!("holds {mebibytes}"));
    }

    /// The JVM's own figures after a collection: used, committed and maximal bytes of its heap.
    pub fn own_figures(&mut self) -> [u64; 3] {
        writeln!(self.commands, "figures").unwrap();
        let line = self.line();
        let mut words = line.split(' ').map(|word| word.parse().unwrap());
        [(); 3].map(|()| words.next().unwrap())
    }

    /// The next line of output.
    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line from the JVM")
    }

    /// Unexpected lines of output, such as a dump of the threads.
    pub fn other_lines(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }

    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for a condition on resident memory; returns the waiting time.
    pub fn wait_for_resident(&self, what: &str, holds: impl Fn(u64) -> bool) -> Duration {
        let begun = Instant::now();
        wait_until(what, || holds(self.resident_mib()));
        begun.elapsed()
    }

    /// Resident memory with each page counted once. ZGC of Java 17 maps its heap three times, and
    /// `VmRSS` counts each mapping.
    pub fn resident_mib(&self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        let kib = line.unwrap().trim().trim_end_matches(" kB");
        kib.parse::<u64>().unwrap() / 1024
    }

    /// A value of `/proc/PID/status`.
    pub fn status(&self, key: &str) -> String {
        let text = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.unwrap().trim().to_owned()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid as i32), signal).unwrap();
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        // The child may be a shell around the JVM.
        let _ = kill(Pid::from_raw(self.pid as i32), Signal::SIGKILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
        remove_socket_of(self.pid);
    }
}

/// A killed JVM leaves its socket, which would belong to the wrong user for a later JVM of the same pid.
pub fn remove_socket_of(pid: u32) {
    let _ = fs::remove_file(format!("/tmp/.java_pid{pid}"));
}

/// Whether the JVM supports these options.
pub fn starts_with(options: &str) -> bool {
    let mut java = Command::new("java");
    let java = java.args(options.split_whitespace()).arg("-version");
    java.output().is_ok_and(|said| said.status.success())
}

pub fn host() -> JvmHost {
    JvmHost::discover(Path::new("/proc")).unwrap()
}

/// Waits for a condition with a deadline.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "timed out: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The directory of the compiled program.
pub fn classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| compile("Workload"))
}

/// Compiles a program beside this file, unless the host of a guest has done so; gives the directory of its classes.
pub fn compile(class: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(class);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/common/{class}.java"));
    let done = directory.join("compiled");
    let modified = |file: &Path| fs::metadata(file).and_then(|file| file.modified()).ok();
    if modified(&done) < modified(&source) {
        // On emulated processors a JVM that compiles much crashes now and then.
        let compiled =
            Command::new("javac").args(["-nowarn", "-d"]).arg(&directory).arg(&source).status();
        assert!(compiled.expect("these tests need a JDK").success());
        fs::write(done, "").unwrap();
    }
    directory
}

/// The innermost only child: the program that a shell or `unshare` runs.
fn innermost(pid: u32) -> u32 {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    match children.unwrap_or_default().trim().parse() {
        Ok(child) => innermost(child),
        Err(_) => pid,
    }
}
