//! Recorded messages of this and the previous protocol version. `vN-*.bin` were written by code of version N and never change.
//! A new version adds its own: raise `VERSION`, then run this test with `ELASTANE_WRITE_GOLDEN=1`, which writes only missing files.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod recorded;

use std::fs;

use elastane_protocol::{
    AgentRequest, AgentResponse, CanLimit, Capacity, ContainerPlan, ContainerSamples,
    DecommissionOutcome, Decommissioned, Limits, MemoryVictim, PREVIOUS_VERSION, Pressure, Reply,
    Report, RunningContainer, Sample, StageProgress, Step, Usage, VERSION, decode_report, encode,
    frame,
};
use recorded::{file, unchanged};

fn usage(cpu_cores: f32) -> Usage {
    Usage { cpu_cores, memory_bytes: 3 << 30, disk_read_bytes_per_s: 300, ..Usage::default() }
}

fn limits() -> Limits {
    Limits { cpu_weight_cores: Some(1.5), memory_bytes: Some(4 << 30), ..Limits::default() }
}

fn report(stages: Option<StageProgress>) -> Report {
    let sample = Sample { sequence: 9, age_ms: 40, length_ms: 3000, usage: usage(2.5) };
    let container = |name: &str, limits, samples, stages| ContainerSamples {
        container: name.into(),
        limits,
        samples,
        stages,
    };
    Report {
        agent_run: 77,
        sequence: 9,
        can_limit: CanLimit { cpu: true, memory: true, ..CanLimit::default() },
        capacity: Capacity { cpu_cores: 16.0, memory_bytes: 64 << 30, ..Capacity::default() },
        containers_usage: usage(2.5),
        node_usage: usage(3.5),
        pressure: Some(Pressure { cpu: 0.25, memory: 0.5, disk: 0.0 }),
        memory_victims: vec![MemoryVictim {
            container: "container_1".into(),
            resident_bytes: 5,
            short_bytes: 3,
        }],
        decommissioned: vec![Decommissioned {
            container: "container_1".into(),
            outcome: DecommissionOutcome::NoExecutor,
        }],
        containers: vec![
            container("container_1", Some(limits()), vec![sample], stages),
            container("container_2", None, vec![], None),
        ],
    }
}

fn current_report() -> Report {
    let stages =
        StageProgress { stages_ended: 12, since_ms: 4312, part_ended: 0.25, part_begun: 0.5 };
    report(Some(stages))
}

fn reply() -> Reply {
    let step = Step { offset_ms: 0, limits: limits() };
    Reply {
        acknowledged: 9,
        valid_for_ms: 120_000,
        plans: vec![ContainerPlan { container: "container_1".into(), steps: vec![step] }],
        decommission: vec!["container_2".into()],
    }
}

#[test]
fn this_version_encodes_to_its_recorded_bytes() {
    let frame_of = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut wire = Vec::new();
        write(&mut wire);
        wire
    };
    unchanged("report", &encode(&current_report()).unwrap());
    unchanged("reply", &encode(&reply()).unwrap());
    let running =
        RunningContainer { container: "container_1".into(), pid: 4242, request_memory_bytes: 7 };
    for (name, request) in [
        ("request-containers", AgentRequest::Containers(vec![running])),
        ("request-collect", AgentRequest::Collect),
        ("request-apply", AgentRequest::Apply(reply())),
    ] {
        unchanged(name, &frame_of(&|wire| frame::write(wire, &request).unwrap()));
        let recorded = fs::read(file(VERSION, name)).unwrap();
        assert_eq!(frame::read::<AgentRequest>(&mut recorded.as_slice()).unwrap(), request);
    }
    for (name, response) in [
        ("response-done", AgentResponse::Done),
        ("response-report", AgentResponse::Report(current_report())),
        ("response-refused", AgentResponse::Refused("no".into())),
    ] {
        unchanged(name, &frame_of(&|wire| frame::write(wire, &response).unwrap()));
        let recorded = fs::read(file(VERSION, name)).unwrap();
        assert_eq!(frame::read::<AgentResponse>(&mut recorded.as_slice()).unwrap(), response);
    }
}

#[test]
fn reports_of_this_and_the_previous_version_are_read() {
    for (version, expected) in [(VERSION, current_report()), (PREVIOUS_VERSION, report(None))] {
        let body = fs::read(file(version, "report")).unwrap();
        assert_eq!(decode_report(version, &body).unwrap(), expected, "version {version}");
    }
    for other in [PREVIOUS_VERSION - 1, VERSION + 1] {
        assert!(decode_report(other, &[]).is_err(), "version {other}");
    }
}

#[test]
fn a_reply_is_one_that_the_previous_version_reads() {
    let recorded = fs::read(file(PREVIOUS_VERSION, "reply")).unwrap();
    assert_eq!(encode(&reply()).unwrap(), recorded);
}
