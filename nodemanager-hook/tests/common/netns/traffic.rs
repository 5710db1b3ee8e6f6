//! Traffic over the cable: the roles of the processes, and what their peers receive.

use std::{
    env,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use elastane_agent::network::{AllCounters, GroupNetwork, NetworkCounters, Networks};

use super::{Cable, End, LEFT, ROLE};
use crate::common::{PATIENCE, times_slower, wait_until};

const CHUNK_BYTES: usize = 64 * 1024;
/// Size of IPv6 and TCP headers; IPv4 headers are shorter.
const HEADER_BYTES: usize = 72;
const SEGMENT_BYTES: usize = 1448;

/// A thread that reads from any number of connections and counts the bytes.
#[derive(Clone, Default)]
pub struct Sink {
    bytes: Arc<AtomicU64>,
    /// The number of connections that have ended.
    ended: Arc<AtomicU64>,
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
    wait_until("traffic", || sinks.iter().all(|sink| sink.bytes() > mb_per_s(1) as u64));
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
    for (measured, payload) in [(counters.sent_bytes, sent), (counters.received_bytes, received)] {
        let most = (payload as f64 * 1.02) as u64 + headers as u64;
        assert!((payload as u64..=most).contains(&measured), "{measured} of {payload}");
    }
}

/// The counters of all groups now. On a busy machine `nft` answers late.
pub fn read_all(networks: &dyn Networks) -> AllCounters {
    let mut all = None;
    wait_until("counters", || {
        all = match networks.read() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            read => Some(read.unwrap()),
        };
        all.is_some()
    });
    all.unwrap()
}

/// The counters of one group now.
pub fn counters(networks: &dyn Networks, counted: &dyn GroupNetwork) -> NetworkCounters {
    read_all(networks).of(counted.slot())
}

/// The rates of a TCP connection with a receive limit and then without it, in bytes per second. The
/// first `burst` bytes use up the bucket.
pub fn receive_rates(
    cable: &Cable,
    group: &Path,
    (networks, counted): (&dyn Networks, &mut dyn GroupNetwork),
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
    assert!(counters(networks, counted).dropped_packets > 0);
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
