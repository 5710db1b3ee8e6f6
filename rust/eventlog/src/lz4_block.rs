//! Spark's lz4 codec: the block stream of the Java library lz4-java, not the lz4 frame format.
//!
//! A block is a header of 21 bytes and its data; numbers are little-endian:
//!
//! | bytes | field |
//! |---|---|
//! | 8 | `LZ4Block` |
//! | 1 | upper 4 bits: `1` stored, `2` lz4; lower 4 bits n: block size 2^(10 + n) |
//! | 4 | length of the data |
//! | 4 | length of the decoded data; 0 ends the stream |
//! | 4 | xxHash32 of the decoded data, upper 4 bits cleared |

use std::io::{self, Read};

use twox_hash::XxHash32;

pub(crate) const MAGIC: &[u8] = b"LZ4Block";

const HEAD_BYTES: usize = 21;
const STORED: u8 = 0x10;
const LZ4: u8 = 0x20;
const SEED: u32 = 0x9747_b28c;
const CHECKSUM_BITS: u32 = 0x0fff_ffff;

/// Maximum block size of lz4-java; bounds the allocation if a length is damaged.
const MOST_BYTES: usize = 1 << 25;

/// Decodes concatenated streams of blocks.
pub(crate) struct Lz4BlockReader<R> {
    source: R,
    data: Vec<u8>,
    decoded: Vec<u8>,
    at: usize,
}

impl<R: Read> Lz4BlockReader<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, data: Vec::new(), decoded: Vec::new(), at: 0 }
    }

    /// Decodes the next non-empty block; returns false at the end of the file.
    fn next_block(&mut self) -> io::Result<bool> {
        let mut head = [0; HEAD_BYTES];
        // The file may end before a header, but not inside one.
        while self.source.read(&mut head[..1])? > 0 {
            self.source.read_exact(&mut head[1..])?;
            if !head.starts_with(MAGIC) {
                return Err(damaged("a block does not begin with LZ4Block"));
            }
            let number =
                |at| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
            let (data_bytes, decoded_bytes) = (number(9) as usize, number(13) as usize);
            if data_bytes.max(decoded_bytes) > MOST_BYTES {
                return Err(damaged("a block is longer than any writer makes it"));
            }
            if decoded_bytes > 0 {
                self.decode(head[8] & 0xf0, data_bytes, decoded_bytes)?;
                if XxHash32::oneshot(SEED, &self.decoded) & CHECKSUM_BITS != number(17) {
                    return Err(damaged("the checksum of a block is wrong"));
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn decode(&mut self, method: u8, data_bytes: usize, decoded_bytes: usize) -> io::Result<()> {
        self.data.resize(data_bytes, 0);
        self.source.read_exact(&mut self.data)?;
        self.at = 0;
        match method {
            STORED => std::mem::swap(&mut self.data, &mut self.decoded),
            LZ4 => {
                self.decoded.resize(decoded_bytes, 0);
                let decoded = lz4_flex::block::decompress_into(&self.data, &mut self.decoded)
                    .map_err(|error| damaged(&error.to_string()))?;
                self.decoded.truncate(decoded);
            }
            _ => return Err(damaged("the method of a block is not known")),
        }
        match self.decoded.len() == decoded_bytes {
            true => Ok(()),
            false => Err(damaged("a block has not the length that its head says")),
        }
    }
}

impl<R: Read> Read for Lz4BlockReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.decoded.len() && !self.next_block()? {
            return Ok(0);
        }
        let count = (&self.decoded[self.at..]).read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

fn damaged(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block as lz4-java writes it.
    fn block(method: u8, data: &[u8], decoded: &[u8]) -> Vec<u8> {
        let checksum = XxHash32::oneshot(SEED, decoded) & CHECKSUM_BITS;
        let mut block = MAGIC.to_vec();
        block.push(method | 0x05);
        block.extend((data.len() as u32).to_le_bytes());
        block.extend((decoded.len() as u32).to_le_bytes());
        block.extend(checksum.to_le_bytes());
        block.extend(data);
        block
    }

    fn stream(text: &[u8]) -> Vec<u8> {
        let (first, second) = text.split_at(text.len() / 2);
        let compressed = lz4_flex::block::compress(first);
        let mut stream = block(LZ4, &compressed, first);
        stream.extend(block(STORED, second, second));
        let mut end = block(STORED, &[], &[]);
        end[17..21].fill(0);
        stream.extend(end);
        stream
    }

    fn decoded(stream: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Lz4BlockReader::new(stream).read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn stored_and_compressed_blocks_come_back() {
        let text = b"the same words, the same words, the same words".repeat(50);
        let mut twice = stream(&text);
        twice.extend(stream(b"and more"));
        assert_eq!(decoded(&twice).unwrap(), [&text[..], b"and more"].concat());
    }

    #[test]
    fn every_cut_inside_a_block_and_every_changed_byte_is_found() {
        let whole = stream(b"abcabcabcabcabc and something else");
        let ends = HEAD_BYTES * 3;
        for length in (1..whole.len()).filter(|length| *length != whole.len() - HEAD_BYTES) {
            let cut = decoded(&whole[..length]);
            let is_boundary = cut.as_ref().is_ok_and(|text| !text.is_empty());
            assert!(cut.is_err() || is_boundary, "{length} of {ends}");
        }
        for at in (0..8).chain(9..whole.len() - HEAD_BYTES) {
            let mut changed = whole.clone();
            changed[at] ^= 0x41;
            assert!(decoded(&changed).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_wrong_length_allocates_nothing_large() {
        let mut whole = stream(b"abcabc");
        whole[13..17].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(decoded(&whole).is_err());
    }
}
