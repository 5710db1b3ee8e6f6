//! A JVM's answer: a line with a code, 0 for success, then text.

use super::command::Flag;

/// The longest text that is kept; it goes to logs.
const MOST_TEXT_BYTES: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachReply {
    /// 0: done.
    pub code: i32,
    /// Printable ASCII, blanks for anything else, at most 200 bytes.
    pub text: String,
}

/// Parses all received bytes; `None` if they do not begin with a number. No bytes make it panic.
pub fn parse(bytes: &[u8]) -> Option<AttachReply> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (code, rest) = bytes.split_at(end);
    let code = std::str::from_utf8(code).ok()?.parse().ok()?;
    let text = rest
        .iter()
        .skip(1)
        .take(MOST_TEXT_BYTES)
        .map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { ' ' });
    let text = text.collect::<String>().trim().to_owned();
    Some(AttachReply { code, text })
}

impl AttachReply {
    /// The value in the answer to [`JvmCommand::PrintFlag`](super::JvmCommand): `-XX:NAME=VALUE`.
    pub fn flag_value(&self, flag: Flag) -> Option<u64> {
        let value = self.text.strip_prefix("-XX:")?;
        let value = value.strip_prefix(&flag.to_string())?;
        value.strip_prefix('=')?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_only_from_the_answer_for_its_flag() {
        let reply = parse(b"0\n-XX:MinHeapFreeRatio=40\n").unwrap();
        assert_eq!(reply.code, 0);
        assert_eq!(reply.flag_value(Flag::MinHeapFreeRatio), Some(40));
        assert_eq!(reply.flag_value(Flag::MaxHeapFreeRatio), None);
        let unknown = parse(b"0\nno such flag 'X'\n").unwrap();
        assert_eq!(unknown.flag_value(Flag::MinHeapFreeRatio), None);
    }

    #[test]
    fn a_refusal_keeps_printable_text() {
        let reply = parse(b"-1\nflag\x1b[31m 'X'\ncannot be changed\n").unwrap();
        assert_eq!(reply.code, -1);
        assert_eq!(reply.text, "flag [31m 'X' cannot be changed");
        let long = [b"1\n".to_vec(), vec![b'x'; 4000]].concat();
        assert_eq!(parse(&long).unwrap().text.len(), MOST_TEXT_BYTES);
    }

    #[test]
    fn malformed_answers_are_refused() {
        for bytes in [&b""[..], b"0", b"x\n", b"\n", b"99999999999\n", b"\xff\n"] {
            assert_eq!(parse(bytes), None, "{bytes:?}");
        }
    }
}
