//! A compressed Spark event log with valid frames and checksums is read as the same plain log is. One that was changed
//! after its compression is read or refused, without a panic.
//!
//! Arbitrary bytes hardly ever have valid checksums, so the input is the text, compressed here. Before the text: the
//! codec, the length of a frame or block in 64 bytes, and the change of the compressed bytes (place in two bytes, and
//! the bits to flip; 0: none).
#![no_main]

#[path = "../run_folder.rs"]
mod run_folder;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use elastane_eventlog::{Found, ImportOptions, Imported, find, read};
use libfuzzer_sys::fuzz_target;
use run_folder::run_folder;
use twox_hash::XxHash32;
use zstd::zstd_safe::CParameter;

const STORED: u8 = 0x10;
const LZ4: u8 = 0x20;
/// lz4-java's blocks of 2^15 bytes.
const BLOCK_SIZE: u8 = 0x05;

fuzz_target!(|bytes: &[u8]| {
    let Some((&[codec, length, low, high, flipped], text)) = bytes.split_first_chunk() else {
        return;
    };
    // Another beginning may be the magic number of a codec.
    if text.first() != Some(&b'{') {
        return;
    }
    let parts = text.chunks(64 * (usize::from(length) + 1));
    let mut compressed: Vec<u8> = match codec % 3 {
        0 => parts.flat_map(zstd_frame).collect(),
        1 => {
            parts.flat_map(|part| lz4_block(LZ4, &lz4_flex::block::compress(part), part)).collect()
        }
        _ => parts.flat_map(|part| lz4_block(STORED, part, part)).collect(),
    };
    if codec % 3 > 0 {
        compressed.extend(lz4_block(STORED, &[], &[]));
    }
    if flipped == 0 {
        let (plain, imported) = (import(text), import(&compressed));
        assert_eq!(format!("{imported:?}"), format!("{plain:?}"));
    } else {
        let place = usize::from(u16::from_le_bytes([low, high])) % compressed.len();
        compressed[place] ^= flipped;
        let _ = import(&compressed);
    }
});

/// The run of a log, or why there is none.
fn import(log: &[u8]) -> Result<Imported, String> {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    // In memory: the file is written hundreds of times a second.
    let path = FOLDER.get_or_init(|| run_folder(Path::new("/dev/shm"))).join("application_1_0001");
    fs::write(&path, log).expect("a file in /dev/shm");
    let mut found = find(&path).expect("the file is there");
    let Some(Found::Log(log)) = found.pop() else { panic!("{found:?}") };
    let imported = read(&log, &ImportOptions::default()).map_err(|error| error.to_string())?;
    for series in &imported.run.series {
        for amount in series.slots.iter().flat_map(|slot| slot.to_array()) {
            assert!(amount.is_finite() && amount >= 0.0, "{amount}");
        }
    }
    Ok(imported)
}

fn zstd_frame(part: &[u8]) -> Vec<u8> {
    let mut compressor = zstd::bulk::Compressor::new(1).expect("zstd has level 1");
    compressor.set_parameter(CParameter::ChecksumFlag(true)).expect("zstd has checksums");
    compressor.compress(part).expect("a few KiB")
}

/// As lz4-java writes a block; an empty one ends a stream.
fn lz4_block(method: u8, data: &[u8], decoded: &[u8]) -> Vec<u8> {
    let checksum = match decoded {
        [] => 0,
        _ => XxHash32::oneshot(0x9747_b28c, decoded) & 0x0fff_ffff,
    };
    let mut block = b"LZ4Block".to_vec();
    block.push(method | BLOCK_SIZE);
    block.extend((data.len() as u32).to_le_bytes());
    block.extend((decoded.len() as u32).to_le_bytes());
    block.extend(checksum.to_le_bytes());
    block.extend(data);
    block
}
