//! Arbitrary frames and bodies of a peer are read or refused, without a panic. A value that was read
//! is encoded and decoded again. Requests are checked as a running agent does.
#![no_main]

use elastane_agent::fuzzing::{check_plan, check_request};
use elastane_protocol::{
    AgentRequest, PREVIOUS_VERSION, Reply, VERSION, decode, decode_report, encode, frame,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut wire = bytes;
    if let Ok(request) = frame::read::<AgentRequest>(&mut wire) {
        check_request(&request);
    }
    if let Ok(reply) = decode::<Reply>(VERSION, bytes) {
        let again = encode(&reply).map(|body| decode::<Reply>(VERSION, &body));
        // Not compared: NaN differs from itself.
        assert!(again.is_ok_and(|again| again.is_ok()));
        check_plan(&reply);
    }
    for version in [VERSION, PREVIOUS_VERSION] {
        if let Ok(report) = decode_report(version, bytes) {
            let again = encode(&report).map(|body| decode_report(VERSION, &body));
            assert!(again.is_ok_and(|again| again.is_ok()));
        }
    }
});
