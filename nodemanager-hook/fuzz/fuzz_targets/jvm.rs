//! Input that a job controls: its JVM's counters and attach replies, and names in its `/proc` files.
#![no_main]

use elastane_agent::{
    fuzzing::read_files_of_a_jvm,
    jvm::{Flag, perf_data, reply},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(perf_data) = perf_data::parse(bytes) {
        let _ = perf_data.heap(bytes);
        // The file may change between two readings.
        let _ = perf_data.heap(&bytes[..bytes.len() / 2]);
    }
    if let Some(reply) = reply::parse(bytes) {
        let _ = reply.flag_value(Flag::MinHeapFreeRatio);
    }
    read_files_of_a_jvm(bytes);
});
