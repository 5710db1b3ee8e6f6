//! Frames and bodies as a peer may send them: read or refused, never a panic, and what is read is
//! written as the same value again.
#![no_main]

use elastane_protocol::{AgentRequest, Reply, Report, VERSION, decode, encode, frame};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut wire = bytes;
    let _ = frame::read::<AgentRequest>(&mut wire);
    if let Ok(reply) = decode::<Reply>(VERSION, bytes) {
        let again = encode(&reply).map(|body| decode::<Reply>(VERSION, &body));
        // A number that is none differs from itself.
        assert!(again.is_ok_and(|again| again.is_ok()));
    }
    let _ = decode::<Report>(VERSION, bytes);
});
