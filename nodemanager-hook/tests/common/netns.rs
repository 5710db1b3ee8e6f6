//! Two network namespaces joined by a cable, groups, and processes in them, for the network tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use std::{
    env, fs,
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use elastane_agent::network::{GroupNetwork, NetworkCounters};
use nix::{
    sched::{CloneFlags, setns},
    unistd::geteuid,
};

use crate::common::{PATIENCE, skip, times_slower, wait_until};

/// Prefix of the names of namespaces and groups.
const PREFIX: &str = "elastane-net-test";
/// The variable with the role of a process of the test binary; see [`Cable::spawn`].
const ROLE: &str = "ELASTANE_NET_TEST_ROLE";
const CHUNK_BYTES: usize = 64 * 1024;
/// Size of IPv6 and TCP headers; IPv4 headers are shorter.
const HEADER_BYTES: usize = 72;
const SEGMENT_BYTES: usize = 1448;

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

/// A thread that reads from any number of connections and counts the bytes.
#[derive(Clone, Default)]
pub struct Sink {
    bytes: Arc<AtomicU64>,
    /// The number of connections that have ended.
    ended: Arc<AtomicU64>,
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
                ip(&[
                    "-n", namespace, "address", "add", &address, "dev", "cable", nodad,
                ]);
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
        ip(&[
            "link", "add", &device, "type", "veth", "peer", "name", "outside", "netns", &right,
        ]);
        ip(&["address", "add", "10.77.1.1/24", "dev", &device]);
        ip(&["link", "set", &device, "up"]);
        ip(&[
            "-n",
            &right,
            "address",
            "add",
            "10.77.1.2/24",
            "dev",
            "outside",
        ]);
        ip(&["-n", &right, "link", "set", "outside", "up"]);
        Outlet {
            device,
            peer: SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 77, 1, 2)), 5000),
        }
    }

    /// Runs `work` in a namespace.
    pub fn within<T: Send>(&self, end: End, work: impl FnOnce() -> T + Send) -> T {
        let namespace = self.namespace(end);
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                enter(&namespace);
                work()
            });
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
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
        shown
            .lines()
            .filter_map(name)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Runs `tc` at an end; returns its output.
    pub fn tc(&self, end: End, arguments: &str) -> String {
        let namespace = self.namespace(end);
        let arguments = arguments.split(' ');
        let arguments: Vec<&str> = ["-n", &namespace].into_iter().chain(arguments).collect();
        run("tc", &arguments)
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        // A failed test may not have made all of them.
        for end in [End::Left, End::Right] {
            let namespace = self.namespace(end);
            let _ = Command::new("ip")
                .args(["netns", "del", &namespace])
                .output();
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

impl Sink {
    pub fn new(listener: TcpListener) -> Self {
        let sink = Self::default();
        let counts = sink.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, counts) = (stream.unwrap(), counts.clone());
                thread::spawn(move || {
                    let mut chunk = vec![0; CHUNK_BYTES];
                    while let Ok(length @ 1..) = stream.read(&mut chunk) {
                        counts.bytes.fetch_add(length as u64, Ordering::Relaxed);
                    }
                    drop(stream);
                    counts.ended.fetch_add(1, Ordering::Release);
                });
            }
        });
        sink
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether a connection has ended, including all that its sender had queued.
    pub fn has_ended_one(&self) -> bool {
        self.ended.load(Ordering::Acquire) > 0
    }
}

/// A rate in megabytes per second on the usual machine. An emulated machine that is n times slower
/// also does n times the work per packet.
pub fn mb_per_s(megabytes: usize) -> usize {
    megabytes * 1_000_000 / times_slower().pow(2) as usize
}

/// The rate of the shaped cable.
pub fn link_bytes_per_s() -> u64 {
    mb_per_s(20) as u64
}

/// How long a rate is measured. Slow rates come in few packets.
pub fn measured_for() -> Duration {
    Duration::from_secs(2) * times_slower()
}

/// The rates into the sinks over a time that begins when each sink has received something.
pub fn rates<const N: usize>(sinks: [&Sink; N], over: Duration) -> [f64; N] {
    wait_until("traffic", || {
        sinks.iter().all(|sink| sink.bytes() > mb_per_s(1) as u64)
    });
    let (begun, before) = (Instant::now(), sinks.map(Sink::bytes));
    thread::sleep(over);
    let seconds = begun.elapsed().as_secs_f64();
    let mut rates = [0.0; N];
    for (rate, (sink, before)) in rates.iter_mut().zip(sinks.iter().zip(before)) {
        *rate = (sink.bytes() - before) as f64 / seconds;
    }
    rates
}

/// Accepts a connection. Accepting, reading and writing have deadlines.
pub fn accept(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let mut accepted = None;
    wait_until("a connection", || {
        accepted = listener.accept().ok();
        accepted.is_some()
    });
    let (stream, _) = accepted.unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends a number of bytes.
pub fn send(stream: &mut TcpStream, bytes: usize) {
    let chunk = vec![7; CHUNK_BYTES];
    let mut left = bytes;
    while left > 0 {
        let length = left.min(CHUNK_BYTES);
        stream.write_all(&chunk[..length]).unwrap();
        left -= length;
    }
}

/// Receives a number of bytes.
pub fn receive(stream: &mut TcpStream, bytes: usize) {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut left = bytes;
    while left > 0 {
        let length = left.min(CHUNK_BYTES);
        stream.read_exact(&mut chunk[..length]).unwrap();
        left -= length;
    }
}

/// Lets a process in a group send and receive.
pub fn exchange(cable: &Cable, group: &Path, peer: SocketAddr, sent: usize, received: usize) {
    let listener = cable.listen(End::Right, peer);
    let role = format!("exchange {peer} {sent} {received}");
    let process = cable.spawn(End::Left, group, &role);
    let mut stream = accept(&listener);
    receive(&mut stream, sent);
    send(&mut stream, received);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    drop(stream);
    process.finish();
}

#[track_caller]
pub fn assert_near(measured: f64, expected: f64) {
    let off = measured / expected - 1.0;
    assert!(
        off.abs() < 0.10,
        "{measured:.0} instead of {expected:.0}: off by {:.1} %",
        off * 100.0
    );
}

/// Checks that the counters have the sent and received bytes plus headers.
#[track_caller]
pub fn assert_counted(counters: NetworkCounters, sent: usize, received: usize) {
    // Each segment may have headers, and an acknowledgement in the other direction.
    let headers = (sent + received) / SEGMENT_BYTES * HEADER_BYTES;
    for (measured, payload) in [
        (counters.sent_bytes, sent),
        (counters.received_bytes, received),
    ] {
        let most = (payload as f64 * 1.02) as u64 + headers as u64;
        assert!(
            (payload as u64..=most).contains(&measured),
            "{measured} of {payload}"
        );
    }
}

/// The rates of a TCP connection with a receive limit and then without it, in bytes per second. The
/// first `burst` bytes use up the bucket.
pub fn receive_rates(
    cable: &Cable,
    group: &Path,
    counted: &mut dyn GroupNetwork,
    bytes_per_s: usize,
    burst: usize,
) -> [f64; 2] {
    counted.set_receive_rate(Some(bytes_per_s as u64)).unwrap();
    let listener = cable.listen(End::Left, LEFT);
    let measured = bytes_per_s * measured_for().as_secs() as usize;
    let parts = [burst, measured, measured];
    let role = format!("receive {LEFT} {} {} {}", parts[0], parts[1], parts[2]);
    let _receiver = cable.spawn(End::Right, group, &role);
    let mut stream = accept(&listener);
    let mut writer = stream.try_clone().unwrap();
    let sender = thread::spawn(move || send(&mut writer, parts.iter().sum()));
    let mut time_of_part = || {
        let begun = Instant::now();
        receive(&mut stream, 1);
        begun.elapsed().as_secs_f64()
    };
    time_of_part();
    let limited = parts[1] as f64 / time_of_part();
    assert!(counted.counters().unwrap().dropped_packets > 0);
    counted.set_receive_rate(None).unwrap();
    let free = parts[2] as f64 / time_of_part();
    sender.join().unwrap();
    [limited, free]
}

/// Plays the role of a process started by [`Cable::spawn`]; `other` plays roles unknown here.
pub fn play(other: impl FnOnce(&[&str])) {
    let Ok(role) = env::var(ROLE) else { return };
    let words: Vec<&str> = role.split(' ').collect();
    match words.as_slice() {
        // Sends and receives a number of bytes, and waits for the peer to close.
        ["exchange", peer, sent, received] => {
            let mut stream = TcpStream::connect(peer).unwrap();
            send(&mut stream, sent.parse().unwrap());
            stream.shutdown(Shutdown::Write).unwrap();
            receive(&mut stream, received.parse().unwrap());
            assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        }
        // Sends until it is killed.
        ["flood", peer] => {
            let mut stream = TcpStream::connect(peer).unwrap();
            loop {
                send(&mut stream, CHUNK_BYTES);
            }
        }
        // Answers each received part with one byte.
        ["receive", peer, parts @ ..] => {
            let mut stream = TcpStream::connect(peer).unwrap();
            for part in parts {
                receive(&mut stream, part.parse().unwrap());
                stream.write_all(&[1]).unwrap();
            }
        }
        role => other(role),
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
    let line = mountinfo
        .lines()
        .find(|line| line.contains(" - cgroup2 "))?;
    Some(line.split(' ').nth(4)?.into())
}
