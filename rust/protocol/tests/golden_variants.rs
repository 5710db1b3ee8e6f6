//! Recorded messages of every variant, and of every optional field present and absent. The files are kept as those of
//! `golden.rs` are.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod recorded;

use std::fs;

use elastane_protocol::{
    AgentRequest, AgentResponse, CanLimit, Capacity, ContainerPlan, ContainerSamples,
    DecommissionOutcome, Decommissioned, Limits, MemoryVictim, Pressure, Reply, Report,
    RunningContainer, Sample, StageProgress, Step, Usage, VERSION, decode, decode_report, encode,
    frame,
};
use recorded::{file, unchanged};
use serde::Serialize;
use serde::de::DeserializeOwned;

const OUTCOMES: [DecommissionOutcome; 4] = [
    DecommissionOutcome::Signalled,
    DecommissionOutcome::NotHandled,
    DecommissionOutcome::NoExecutor,
    DecommissionOutcome::Failed,
];

/// Every field has another value, so that no two fields can be exchanged.
fn usage(first: u8) -> Usage {
    let number = |field: u8| u64::from(first + field) << 20;
    Usage {
        cpu_cores: f32::from(first),
        cpu_throttled: 0.25,
        cpu_waited_cores: f32::from(first) + 0.5,
        memory_bytes: number(1),
        anonymous_bytes: number(2),
        file_bytes: number(3),
        heap_used_bytes: number(4),
        heap_committed_bytes: number(5),
        network_in_bytes_per_s: number(6),
        network_out_bytes_per_s: number(7),
        disk_read_bytes_per_s: number(8),
        disk_write_bytes_per_s: number(9),
    }
}

fn all_limits() -> Limits {
    Limits {
        cpu_weight_cores: Some(1.5),
        cpu_cap_cores: Some(2.5),
        memory_bytes: Some(3 << 30),
        disk_cap_bytes_per_s: Some(4 << 20),
        network_weight_bytes_per_s: Some(5 << 20),
        network_cap_bytes_per_s: Some(6 << 20),
    }
}

/// Limits with all fields, with each alone, and with none.
fn each_limits() -> Vec<Limits> {
    let (all, none) = (all_limits(), Limits::default());
    vec![
        all,
        Limits { cpu_weight_cores: all.cpu_weight_cores, ..none },
        Limits { cpu_cap_cores: all.cpu_cap_cores, ..none },
        Limits { memory_bytes: all.memory_bytes, ..none },
        Limits { disk_cap_bytes_per_s: all.disk_cap_bytes_per_s, ..none },
        Limits { network_weight_bytes_per_s: all.network_weight_bytes_per_s, ..none },
        Limits { network_cap_bytes_per_s: all.network_cap_bytes_per_s, ..none },
        none,
    ]
}

fn full_reply() -> Reply {
    let step = |(at, limits): (u32, Limits)| Step { offset_ms: at * 3_000, limits };
    let steps = (0..).zip(each_limits()).map(step).collect();
    let plan = |container: &str, steps| ContainerPlan { container: container.into(), steps };
    Reply {
        acknowledged: u64::MAX,
        valid_for_ms: Reply::LONGEST_VALID_MS,
        plans: vec![plan("container_1", steps), plan("container_2", Vec::new())],
        decommission: vec!["container_3".into(), "container_4".into()],
    }
}

fn full_report() -> Report {
    let samples = |first: u8| {
        let sample = |n: u8| Sample {
            sequence: u64::from(n),
            age_ms: 40,
            length_ms: 3_000,
            usage: usage(n),
        };
        vec![sample(first), sample(first + 1)]
    };
    let stages =
        StageProgress { stages_ended: 12, since_ms: 4_312, part_ended: 0.25, part_begun: 0.5 };
    let container = |n: u8, limits, stages| ContainerSamples {
        container: format!("container_{n}"),
        limits,
        samples: samples(n),
        stages,
    };
    let outcome = |outcome| Decommissioned { container: "container_1".into(), outcome };
    Report {
        agent_run: 77,
        sequence: 9,
        can_limit: CanLimit {
            cpu: true,
            memory: false,
            disk: true,
            network_sent: false,
            network_received: true,
        },
        capacity: Capacity {
            cpu_cores: 16.0,
            memory_bytes: 1 << 36,
            network_bytes_per_s: 1 << 30,
            disk_bytes_per_s: 1 << 29,
        },
        containers_usage: usage(50),
        node_usage: usage(70),
        pressure: Some(Pressure { cpu: 0.25, memory: 0.5, disk: 0.75 }),
        memory_victims: vec![MemoryVictim {
            container: "container_1".into(),
            resident_bytes: 5,
            short_bytes: 3,
        }],
        decommissioned: OUTCOMES.into_iter().map(outcome).collect(),
        containers: vec![
            container(1, Some(all_limits()), Some(stages)),
            container(3, Some(Limits::default()), None),
            container(5, None, Some(stages)),
            container(7, None, None),
        ],
    }
}

fn empty_report() -> Report {
    Report {
        agent_run: 0,
        sequence: 0,
        can_limit: CanLimit::default(),
        capacity: Capacity::default(),
        containers_usage: Usage::default(),
        node_usage: Usage::default(),
        pressure: None,
        memory_victims: Vec::new(),
        decommissioned: Vec::new(),
        containers: Vec::new(),
    }
}

fn frames<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    messages: Vec<T>,
    name: fn(&T) -> &'static str,
) {
    for (at, message) in messages.iter().enumerate() {
        let mut wire = Vec::new();
        frame::write(&mut wire, message).unwrap();
        let name = format!("variant-{}-{at}", name(message));
        unchanged(&name, &wire);
        let bytes = fs::read(file(VERSION, &name)).unwrap();
        assert_eq!(frame::read::<T>(&mut bytes.as_slice()).unwrap(), *message, "{name}");
    }
}

#[test]
fn requests_of_every_kind_have_their_recorded_bytes() {
    let running = |pid| RunningContainer {
        container: format!("container_{pid}"),
        pid,
        request_memory_bytes: 7 << 30,
    };
    let requests = vec![
        AgentRequest::Containers(Vec::new()),
        AgentRequest::Containers(vec![running(3), running(u32::MAX)]),
        AgentRequest::Collect,
        AgentRequest::Apply(Reply::default()),
        AgentRequest::Apply(full_reply()),
    ];
    // A new variant does not compile here until it has a name, and then needs a message above.
    frames(requests, |request| match request {
        AgentRequest::Containers(_) => "containers",
        AgentRequest::Collect => "collect",
        AgentRequest::Apply(_) => "apply",
    });
}

#[test]
fn responses_of_every_kind_have_their_recorded_bytes() {
    let responses = vec![
        AgentResponse::Done,
        AgentResponse::Report(empty_report()),
        AgentResponse::Report(full_report()),
        AgentResponse::Refused(String::new()),
        AgentResponse::Refused("the memory of container_1: é".into()),
    ];
    frames(responses, |response| match response {
        AgentResponse::Done => "done",
        AgentResponse::Report(_) => "report",
        AgentResponse::Refused(_) => "refused",
    });
}

#[test]
fn every_outcome_is_in_the_recorded_report() {
    // A new variant does not compile here until it has a place in the list.
    let place = |outcome: &DecommissionOutcome| match outcome {
        DecommissionOutcome::Signalled => 0,
        DecommissionOutcome::NotHandled => 1,
        DecommissionOutcome::NoExecutor => 2,
        DecommissionOutcome::Failed => 3,
    };
    let places: Vec<usize> = OUTCOMES.iter().map(place).collect();
    assert_eq!(places, [0, 1, 2, 3]);
}

#[test]
fn bodies_full_and_empty_have_their_recorded_bytes() {
    for (name, report) in [("full", full_report()), ("empty", empty_report())] {
        let name = format!("variant-body-report-{name}");
        unchanged(&name, &encode(&report).unwrap());
        let bytes = fs::read(file(VERSION, &name)).unwrap();
        assert_eq!(decode_report(VERSION, &bytes).unwrap(), report, "{name}");
    }
    for (name, reply) in [("full", full_reply()), ("empty", Reply::default())] {
        let name = format!("variant-body-reply-{name}");
        unchanged(&name, &encode(&reply).unwrap());
        let bytes = fs::read(file(VERSION, &name)).unwrap();
        assert_eq!(decode::<Reply>(VERSION, &bytes).unwrap(), reply, "{name}");
    }
}
