//! Why a JVM did not carry out a command.

use std::io;

use super::command::JvmCommand;

/// Answers to the agent's commands have a few lines.
pub const MOST_ANSWER_BYTES: usize = 64 * 1024;

/// Why a JVM did not carry out a command.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    #[error("pid {pid} is gone")]
    Gone { pid: u32 },
    #[error("pid {pid} is in state {state} and cannot answer")]
    Stopped { pid: u32, state: char },
    #[error("pid {pid} is frozen")]
    Frozen { pid: u32 },
    #[error("pid {pid} does not catch SIGQUIT, which would end it")]
    NoHandler { pid: u32 },
    #[error("pid {pid} was started with -XX:+DisableAttachMechanism")]
    Disabled { pid: u32 },
    #[error("pid {pid} did not {what} within {waited_ms} ms")]
    TimedOut { pid: u32, what: &'static str, waited_ms: u128 },
    #[error("pid {peer} of uid {uid} answers on the socket of pid {pid}")]
    OtherPeer { pid: u32, peer: i32, uid: u32 },
    #[error("pid {pid} answered with more than {MOST_ANSWER_BYTES} bytes")]
    TooLong { pid: u32 },
    #[error("the answer of pid {pid} to `{command}` is malformed")]
    Malformed { pid: u32, command: JvmCommand },
    #[error("pid {pid} refused `{command}`: {code} {text}")]
    Refused { pid: u32, command: JvmCommand, code: i32, text: String },
    #[error("the former flags belong to pid {former}, and pid {pid} is another process")]
    OtherProcess { pid: u32, former: u32 },
    #[error("pid {pid} failed before; the agent leaves it alone for {left_ms} ms more")]
    BackedOff { pid: u32, left_ms: u128 },
    #[error("cannot {action} pid {pid}: {source}")]
    System { action: &'static str, pid: u32, source: io::Error },
}
