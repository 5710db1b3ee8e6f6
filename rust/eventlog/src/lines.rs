//! Reads the lines of a log, up to a maximum length.

use std::io::{self, BufRead, Read};

/// Maximum length of a line, with room for the SQL plans that Spark writes into one line.
const MOST_BYTES: u64 = 1 << 26;

/// Reads lines into one buffer.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
}

/// A line without its newline.
pub(crate) struct Line<'l> {
    /// Counted from 1.
    pub(crate) number: u64,
    pub(crate) text: &'l [u8],
    /// Whether the line ends with a newline.
    pub(crate) is_whole: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            number: 0,
        }
    }

    /// The next line; None at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let mut limited = Read::take(&mut self.reader, MOST_BYTES);
        if limited.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.buffer.len() as u64 == MOST_BYTES {
            let problem = format!("line {} is longer than {MOST_BYTES} bytes", self.number);
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(Some(Line {
            number: self.number,
            is_whole: self.buffer.ends_with(b"\n"),
            text: self.buffer.trim_ascii_end(),
        }))
    }
}
