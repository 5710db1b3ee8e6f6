//! Two network namespaces joined by a cable, groups, and processes in them, for the network tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod traffic;

use std::{
    env, fs,
    fs::File,
    io::{BufRead, BufReader},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sched::{CloneFlags, setns},
    unistd::geteuid,
};

#[allow(unused_imports, reason = "each test uses a part")]
pub use self::traffic::{
    Sink, assert_counted, assert_near, counters, exchange, link_bytes_per_s, mb_per_s,
    measured_for, play, rates, read_all, receive_rates,
};
use crate::common::{skip, times_slower};

/// Prefix of the names of namespaces and groups.
const PREFIX: &str = "elastane-net-test";
/// The variable with the role of a process of the test binary; see [`Cable::spawn`].
const ROLE: &str = "ELASTANE_NET_TEST_ROLE";

pub const LEFT: SocketAddr = ipv4(1);
pub const RIGHT: SocketAddr = ipv4(2);
pub const RIGHT_IPV6: SocketAddr = ipv6(2);

const fn ipv4(host: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 77, 0, host)), 5000)
}

const fn ipv6(host: u16) -> SocketAddr {
    let address = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, host);
    SocketAddr::new(IpAddr::V6(address), 5000)
}

/// An end of the cable. Its name ends the name of the namespace.
#[derive(Clone, Copy)]
pub enum End {
    Left,
    Right,
}

/// Two namespaces, each with the device `cable`.
pub struct Cable {
    name: String,
    cgroup2: PathBuf,
}

impl Cable {
    /// `None` if namespaces or groups cannot be made and tests may be skipped for that.
    pub fn new() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        if !geteuid().is_root() {
            skip("network namespaces cannot be made: not root");
            return None;
        }
        let Some(cgroup2) = cgroup2_mount_point() else {
            skip("there is no cgroup2 file system");
            return None;
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}-{}-{number}", std::process::id());
        let cable = Self { name, cgroup2 };
        let [left, right] = [End::Left, End::Right].map(|end| cable.namespace(end));
        for namespace in [&left, &right] {
            ip(&["netns", "add", namespace]);
        }
        ip(&[
            "-n", &left, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns",
            &right,
        ]);
        for (namespace, addresses) in [(&left, [LEFT, ipv6(1)]), (&right, [RIGHT, RIGHT_IPV6])] {
            for address in addresses.map(|address| format!("{}/24", address.ip())) {
                let nodad = "nodad"; // The address is usable at once.
                ip(&["-n", namespace, "address", "add", &address, "dev", "cable", nodad]);
            }
            if times_slower() > 1 {
                // On slow links a turn is shorter than a packet of 64 KiB.
                let link = ["link", "set", "cable", "gso_max_size", "4096"];
                ip(&[&["-n", namespace.as_str()], &link[..]].concat());
            }
            ip(&["-n", namespace, "link", "set", "cable", "up"]);
        }
        Some(cable)
    }

    pub fn namespace(&self, end: End) -> String {
        let end = match end {
            End::Left => "left",
            End::Right => "right",
        };
        format!("{}-{end}", self.name)
    }

    /// A new group; `name` may lead into an existing group.
    pub fn group(&self, name: &str) -> Group {
        let group = self.cgroup2.join(format!("{}-{name}", self.name));
        fs::create_dir(&group).unwrap();
        Group(group)
    }

    /// A second cable, from the caller's namespace to the right one. It goes with the right
    /// namespace.
    pub fn lead_out(&self) -> Outlet {
        let right = self.namespace(End::Right);
        // The kernel allows 15 letters.
        let device = format!("elnet{}", std::process::id());
        ip(&["link", "add", &device, "type", "veth", "peer", "name", "outside", "netns", &right]);
        ip(&["address", "add", "10.77.1.1/24", "dev", &device]);
        ip(&["link", "set", &device, "up"]);
        ip(&["-n", &right, "address", "add", "10.77.1.2/24", "dev", "outside"]);
        ip(&["-n", &right, "link", "set", "outside", "up"]);
        Outlet { device, peer: SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 77, 1, 2)), 5000) }
    }

    /// Runs `work` in a namespace.
    pub fn within<T: Send>(&self, end: End, work: impl FnOnce() -> T + Send) -> T {
        let namespace = self.namespace(end);
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                enter(&namespace);
                work()
            });
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Starts this test binary in the group and the namespace, in both from its first instruction
    /// on. Its test `plays_its_role` calls [`play`].
    pub fn spawn(&self, end: End, group: &Path, role: &str) -> Process {
        let namespace = format!("--net=/run/netns/{}", self.namespace(end));
        Self::start(&["nsenter", &namespace], group, role)
    }

    /// As [`Self::spawn`], in the namespace of the caller.
    pub fn spawn_outside(&self, group: &Path, role: &str) -> Process {
        Self::start(&[], group, role)
    }

    fn start(by: &[&str], group: &Path, role: &str) -> Process {
        let script = "echo $$ > \"$1/cgroup.procs\" && shift && exec \"$@\"";
        let mut child = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(group)
            .args(by)
            .arg(env::current_exe().unwrap())
            .args(["--exact", "plays_its_role", "--nocapture", "--quiet"])
            .env(ROLE, role)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Process { child, lines }
    }

    /// Listens at one end.
    pub fn listen(&self, end: End, address: SocketAddr) -> TcpListener {
        self.within(end, || TcpListener::bind(address).unwrap())
    }

    /// The disciplines that `tc` shows for the device at an end, without counters.
    pub fn queueing_disciplines(&self, end: End) -> String {
        let namespace = self.namespace(end);
        let shown = run("tc", &["-n", &namespace, "qdisc", "show", "dev", "cable"]);
        let name = |line: &str| line.split(" refcnt").next().map(str::to_owned);
        shown.lines().filter_map(name).collect::<Vec<_>>().join("\n")
    }

    /// Runs `tc` at an end; returns its output.
    pub fn tc(&self, end: End, arguments: &str) -> String {
        let namespace = self.namespace(end);
        let arguments = arguments.split(' ');
        let arguments: Vec<&str> = ["-n", &namespace].into_iter().chain(arguments).collect();
        run("tc", &arguments)
    }
}

/// A device of the caller's namespace, and the peer behind it.
pub struct Outlet {
    pub device: String,
    pub peer: SocketAddr,
}

/// A group that is removed when this is dropped.
pub struct Group(pub PathBuf);

/// A process that is killed when this is dropped.
pub struct Process {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Drop for Cable {
    fn drop(&mut self) {
        // A failed test may not have made all of them.
        for end in [End::Left, End::Right] {
            let namespace = self.namespace(end);
            let _ = Command::new("ip").args(["netns", "del", &namespace]).output();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that was just killed may still be in the group.
        let deadline = Instant::now() + Duration::from_secs(5);
        while fs::remove_dir(&self.0).is_err() && self.0.exists() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Process {
    /// Waits until the process prints a line.
    pub fn wait_for(&mut self, expected: &str) {
        let mut line = String::new();
        while line.trim() != expected {
            line.clear();
            let length = self.lines.read_line(&mut line).unwrap();
            assert!(length > 0, "the process ended before it printed {expected}");
        }
    }

    /// Kills it, as `kill -9`.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end.
    pub fn finish(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn enter(namespace: &str) {
    let namespace = File::open(Path::new("/run/netns").join(namespace)).unwrap();
    setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
}

fn ip(arguments: &[&str]) {
    run("ip", arguments);
}

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn cgroup2_mount_point() -> Option<PathBuf> {
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = mountinfo.lines().find(|line| line.contains(" - cgroup2 "))?;
    Some(line.split(' ').nth(4)?.into())
}
