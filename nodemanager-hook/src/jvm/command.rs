//! The commands that the agent sends to a JVM by the attach protocol.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The version of the protocol that every HotSpot since Java 6 speaks.
const PROTOCOL: &str = "1";

/// A flag that can change at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Flag {
    /// The heap grows when less than this percentage is free after a collection.
    MinHeapFreeRatio,
    /// The heap shrinks when more than this percentage is free after a collection.
    MaxHeapFreeRatio,
    /// Milliseconds without a collection after which G1 collects; 0: never.
    G1PeriodicGCInterval,
    /// Bytes that the heap should stay within if possible.
    SoftMaxHeapSize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JvmCommand {
    PrintFlag(Flag),
    SetFlag {
        flag: Flag,
        /// In the flag's unit.
        value: u64,
    },
}

impl JvmCommand {
    /// The bytes to send: the version, the command and its three arguments, each ended by a zero.
    /// No command here has a third argument.
    pub fn frame(&self) -> Vec<u8> {
        let command = match self {
            Self::PrintFlag(flag) => format!("printflag\0{flag}\0"),
            Self::SetFlag { flag, value } => format!("setflag\0{flag}\0{value}"),
        };
        format!("{PROTOCOL}\0{command}\0\0").into_bytes()
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}

/// The form of the audit log: `MinHeapFreeRatio=10`.
impl fmt::Display for JvmCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PrintFlag(flag) => write!(formatter, "print {flag}"),
            Self::SetFlag { flag, value } => write!(formatter, "{flag}={value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_five_words() {
        let set = JvmCommand::SetFlag { flag: Flag::SoftMaxHeapSize, value: 7 };
        assert_eq!(set.frame(), b"1\0setflag\0SoftMaxHeapSize\x007\0\0");
        let print = JvmCommand::PrintFlag(Flag::SoftMaxHeapSize);
        assert_eq!(print.frame(), b"1\0printflag\0SoftMaxHeapSize\0\0\0");
        assert_eq!(set.to_string(), "SoftMaxHeapSize=7");
    }
}
