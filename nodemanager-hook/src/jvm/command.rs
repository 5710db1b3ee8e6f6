//! The commands that the agent sends to a JVM by the attach protocol.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The version of the protocol that every HotSpot since Java 6 speaks.
const PROTOCOL: &str = "1";
/// The number of arguments in a frame; unused ones are empty.
const ARGUMENTS: usize = 3;

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
    CollectGarbage,
}

impl JvmCommand {
    /// The bytes to send: the version, the command and its arguments, each ended by a zero.
    pub fn frame(&self) -> Vec<u8> {
        let words = match self {
            Self::PrintFlag(flag) => vec!["printflag".into(), flag.to_string()],
            Self::SetFlag { flag, value } => {
                vec!["setflag".into(), flag.to_string(), value.to_string()]
            }
            Self::CollectGarbage => vec!["jcmd".into(), "GC.run".into()],
        };
        let mut frame = Vec::with_capacity(64);
        let mut put = |word: &str| {
            frame.extend(word.as_bytes());
            frame.push(0);
        };
        put(PROTOCOL);
        words.iter().for_each(|word: &String| put(word));
        (words.len()..=ARGUMENTS).for_each(|_| put(""));
        frame
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
            Self::CollectGarbage => formatter.write_str("GC.run"),
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
        assert_eq!(JvmCommand::CollectGarbage.frame(), b"1\0jcmd\0GC.run\0\0\0");
        assert_eq!(set.to_string(), "SoftMaxHeapSize=7");
    }
}
