//! Misbehaving peers. This process stands for the JVM, because only the JVM's own process is
//! accepted at the other end.

use std::{
    fs,
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::*;
use crate::jvm::command::Flag;

const SHORT: Duration = Duration::from_millis(200);
const ASK: JvmCommand = JvmCommand::PrintFlag(Flag::MinHeapFreeRatio);

/// A socket of this process at the place of a JVM's. Only one can exist at a time.
struct Peer {
    path: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl Peer {
    /// Runs `answers` on the first connection, in a thread.
    fn that(answers: impl FnOnce(UnixStream) + Send + 'static) -> Self {
        let (peer, listener) = Self::listening();
        thread::spawn(move || answers(listener.accept().unwrap().0));
        peer
    }

    fn listening() -> (Self, UnixListener) {
        static ONE: Mutex<()> = Mutex::new(());
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let path = PathBuf::from(format!("/tmp/.java_pid{}", std::process::id()));
        // A JVM with the same process number that was killed leaves its file behind.
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        let peer = Self { path, _alone: alone };
        (peer, listener)
    }

    fn ask(&self) -> (Result<AttachReply, AttachError>, Duration) {
        let proc = Path::new("/proc");
        let host = JvmHost::discover(proc).unwrap();
        let process = ProcessHandle::open(proc, std::process::id()).unwrap();
        let attach = Attach {
            host,
            process: Arc::new(process),
            timeouts: Timeouts { listener: SHORT, command: SHORT },
        };
        let begun = Instant::now();
        (attach.send(ASK), begun.elapsed())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Writes until the other end closes.
fn write_on(mut stream: UnixStream, bytes: &[u8], pause: Duration) {
    while stream.write_all(bytes).is_ok() {
        thread::sleep(pause);
    }
}

#[test]
fn an_answer_is_taken() {
    let peer = Peer::that(|mut stream| {
        let mut frame = vec![0; ASK.frame().len()];
        stream.read_exact(&mut frame).unwrap();
        assert_eq!(frame, ASK.frame());
        stream.write_all(b"0\n-XX:MinHeapFreeRatio=40\n").unwrap();
    });
    let reply = peer.ask().0.unwrap();
    assert_eq!(reply.flag_value(Flag::MinHeapFreeRatio), Some(40));
}

#[test]
fn a_peer_that_never_answers_times_out() {
    let peer = Peer::that(|stream| {
        thread::sleep(10 * SHORT);
        drop(stream);
    });
    let (result, took) = peer.ask();
    assert!(matches!(result, Err(AttachError::TimedOut { what: "answer", .. })));
    assert!((SHORT..4 * SHORT).contains(&took), "{took:?}");
}

#[test]
fn dripping_bytes_do_not_prolong_the_timeout() {
    let peer = Peer::that(|stream| write_on(stream, b"0", Duration::from_millis(20)));
    let (result, took) = peer.ask();
    assert!(matches!(result, Err(AttachError::TimedOut { what: "answer", .. })));
    assert!(took < 4 * SHORT, "{took:?}");
}

#[test]
fn an_endless_answer_is_cut() {
    let peer = Peer::that(|stream| write_on(stream, &[b'0'; 8192], Duration::ZERO));
    let (result, took) = peer.ask();
    assert!(matches!(result, Err(AttachError::TooLong { .. })), "{result:?}");
    assert!(took < SHORT, "{took:?}");
}

#[test]
fn a_peer_that_does_not_accept_does_not_block_the_agent() {
    let (peer, listener) = Peer::listening();
    // Fill the queue of connections.
    let mut waiting = Vec::new();
    loop {
        let socket = socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_NONBLOCK, None);
        let socket = socket.unwrap();
        let address = UnixAddr::new(&peer.path).unwrap();
        if connect(socket.as_raw_fd(), &address).is_err() {
            break;
        }
        waiting.push(socket);
        assert!(waiting.len() < 10_000);
    }
    let (result, took) = peer.ask();
    let expected = matches!(result, Err(AttachError::TimedOut { what: "listen", .. }));
    assert!(expected, "{result:?}");
    assert!(took < 4 * SHORT, "{took:?}");
    drop(listener);
    // Now nobody listens. This process does not catch SIGQUIT, and survives the request.
    let (result, _) = peer.ask();
    assert!(matches!(result, Err(AttachError::NoHandler { .. })), "{result:?}");
}

#[test]
fn malformed_answers_and_refusals_are_told_apart() {
    for (bytes, says) in [
        (&b""[..], "to `print MinHeapFreeRatio` is malformed"),
        (b"hello\n", "to `print MinHeapFreeRatio` is malformed"),
        (b"101\nno\n", "refused `print MinHeapFreeRatio`: 101 no"),
    ] {
        let peer = Peer::that(move |mut stream| {
            let _ = stream.read(&mut [0; 64]);
            stream.write_all(bytes).unwrap();
        });
        let error = peer.ask().0.unwrap_err().to_string();
        assert!(error.ends_with(says), "{error}");
    }
}
