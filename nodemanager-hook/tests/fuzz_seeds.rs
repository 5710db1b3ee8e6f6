//! The seeds of `make fuzz` are valid input: seeds refused at once would reach little code.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

use elastane_agent::jvm::{Collector, perf_data};
use elastane_protocol::{AgentRequest, Reply, VERSION, decode, frame};

#[test]
fn the_seeds_of_jvm_counters_are_valid() {
    for (seed, collector) in [
        (&include_bytes!("../fuzz/corpus/jvm/hsperfdata-g1")[..], Collector::G1),
        (include_bytes!("../fuzz/corpus/jvm/hsperfdata-serial"), Collector::Serial),
    ] {
        let counters = perf_data::parse(seed).unwrap();
        assert_eq!((counters.java_version, counters.collector), (17, collector));
        let heap = counters.heap(seed).unwrap();
        assert!(0 < heap.used_bytes && heap.used_bytes <= heap.committed_bytes);
    }
}

#[test]
fn the_seeds_of_requests_and_plans_are_valid() {
    let mut containers = &include_bytes!("../fuzz/corpus/protocol/frame-containers")[..];
    match frame::read(&mut containers).unwrap() {
        AgentRequest::Containers(list) => assert!(list.iter().all(|one| one.pid > 2)),
        other => panic!("{other:?}"),
    }
    let plan = include_bytes!("../fuzz/corpus/protocol/reply-plan");
    let plan: Reply = decode(VERSION, plan).unwrap();
    let mut apply = &include_bytes!("../fuzz/corpus/protocol/frame-apply")[..];
    let expected = AgentRequest::Apply(plan.clone());
    assert_eq!(frame::read::<AgentRequest>(&mut apply).unwrap(), expected);
    assert!(plan.plans.iter().all(|one| !one.steps.is_empty()));
    assert!(!plan.plans.is_empty());
}
