//! Frames and bodies as a peer may send them: read or refused, never a panic, and what is read is
//! written as the same value again. What a request holds is checked as a running agent does.
#![no_main]

use elastane_agent::fuzzing::{check_plan, check_request};
use elastane_protocol::{AgentRequest, Reply, Report, VERSION, decode, encode, frame};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut wire = bytes;
    if let Ok(request) = frame::read::<AgentRequest>(&mut wire) {
        check_request(&request);
    }
    if let Ok(reply) = decode::<Reply>(VERSION, bytes) {
        let again = encode(&reply).map(|body| decode::<Reply>(VERSION, &body));
        // A number that is none differs from itself.
        assert!(again.is_ok_and(|again| again.is_ok()));
        check_plan(&reply);
    }
    let _ = decode::<Report>(VERSION, bytes);
});
