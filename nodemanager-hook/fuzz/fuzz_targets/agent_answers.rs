//! Arbitrary answers on the agent's socket are read or refused by the NodeManager's side, without a panic. A
//! report that is passed on can be read by the ResourceManager.
//!
//! The first byte says whether the rest is the raw stream of answers or the body of one answer in a valid frame,
//! and which request is sent first.
#![no_main]

#[path = "../run_folder.rs"]
mod run_folder;

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::OnceLock;

use elastane_agent_socket::{AgentSocket, AgentSocketError};
use elastane_protocol::{Reply, VERSION, decode_report, encode};
use libfuzzer_sys::fuzz_target;
use run_folder::run_folder;

const CONTAINERS: &str = r#"[{"container":"container_1_1_1_1","pid":9,"memory_bytes":1073741824}]"#;
/// The answers are written before the first request, so nothing waits this long.
const TIMEOUT_MS: i32 = 10_000;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, answers)) = bytes.split_first() else { return };
    let (listener, path) = socket();
    let mut agent = AgentSocket::connect(path, TIMEOUT_MS).expect("the listener has room");
    let (mut stream, _) = listener.accept().expect("a connection waits");
    let answers = if choice & 1 == 0 { answers.to_owned() } else { framed(answers) };
    // At most 8 KiB: the socket's buffer holds them.
    stream.write_all(&answers).expect("the other side is connected");
    stream.shutdown(Shutdown::Write).expect("the other side is connected");
    // A NodeManager asks in one order; here each request meets each answer.
    for request in (choice >> 1..).take(3) {
        if ask(&mut agent, request).is_err() {
            break;
        }
    }
});

fn ask(agent: &mut AgentSocket, request: u8) -> Result<(), AgentSocketError> {
    match request % 3 {
        0 => {
            let body = agent.report()?;
            decode_report(VERSION, &body)
                .expect("the ResourceManager reads a report that was passed on");
            Ok(())
        }
        1 => agent.containers(CONTAINERS),
        _ => {
            let body = encode(&Reply::default()).expect("an empty reply");
            agent.apply(i32::from(VERSION), &body)
        }
    }
}

fn framed(body: &[u8]) -> Vec<u8> {
    let version = VERSION.to_le_bytes();
    let length = (body.len() + version.len()) as u32;
    [&length.to_le_bytes()[..], &version, body].concat()
}

fn socket() -> &'static (UnixListener, String) {
    static SOCKET: OnceLock<(UnixListener, String)> = OnceLock::new();
    SOCKET.get_or_init(|| {
        let path = run_folder(Path::new("/dev/shm")).join("agent.sock");
        let listener = UnixListener::bind(&path).expect("a new socket");
        (listener, path.to_str().expect("a path of ASCII").to_owned())
    })
}
