//! Reports of a node, and what happens between them, through decoding, checks, learning and core.
//!
//! Arbitrary bytes hardly ever decode to a report. So the bytes are changes of a valid one: eleven bytes
//! each, an action, a field, a value's choice, and a value.
#![no_main]

use elastane_core::cluster::{Ask, CommitRequest, Demands, NodeId, Request};
use elastane_core::{ContainerKind, Resources};
use elastane_predict::Submission;
use elastane_protocol::{
    CanLimit, Capacity, ContainerSamples, MemoryVictim, Pressure, Reply, Report, Sample,
    StageProgress, Usage, VERSION, decode, encode,
};
use elastane_runtime::{Service, ServiceSettings, submission_record};
use libfuzzer_sys::fuzz_target;

const GB: u64 = 1 << 30;
const NODE: &str = "node-1:1";
/// The last one is never committed.
const CONTAINERS: [&str; 3] =
    ["container_1_0001_01_000001", "container_1_0001_01_000002", "made up"];
const MOST_CORES: f32 = 1e6;
const MOST_BYTES: u64 = 1 << 60;

fuzz_target!(|bytes: &[u8]| {
    let mut settings = ServiceSettings { journal_usage: true, ..ServiceSettings::default() };
    settings.follows_progress = true;
    settings.reprovision = Some(Default::default());
    settings.cluster.enforce = true;
    settings.plan.limits_memory = true;
    let mut service = Service::new(settings, Vec::new()).expect("the default policy");
    let size = Request { memory_bytes: 8 * GB, vcores: 8 };
    let node = service.node_added(NODE, size);
    let submission = Submission {
        id: "application_1_0001".into(),
        queue: "root.a".into(),
        ..Default::default()
    };
    let record = submission_record(&submission, 0);
    let (added, _) = service.application_added(record, "root.a", "alice", None, Demands::default());
    let application = added.application;
    let request = Request { memory_bytes: 3 * GB, vcores: 1 };
    let kind = ContainerKind::DEFAULT_EXECUTOR;
    let (mut report, mut now_ms) = (valid(), 1_000_000_i64);
    let mut runs = [false; CONTAINERS.len()];
    for change in bytes.chunks_exact(11) {
        let (action, field, choice) = (change[0], change[1], change[2]);
        let raw = u64::from_le_bytes(change[3..11].try_into().expect("eight bytes"));
        let which = usize::from(field) % (CONTAINERS.len() - 1);
        match action % 8 {
            0 => {
                let commit = CommitRequest {
                    container: CONTAINERS[which],
                    application,
                    node,
                    kind,
                    request,
                    may_refuse: choice % 2 == 0,
                    start_ms: now_ms,
                };
                runs[which] |= service.commit(commit, now_ms).is_admitted;
            }
            1 => {
                let _ = service.finished(CONTAINERS[which], now_ms);
                runs[which] = false;
            }
            2 => {
                let ask = Ask { kind, priority: 0, request, count: u32::from(choice) };
                let _ = service.pending(application, ask, now_ms);
                let _ = service.round(node, size, now_ms);
            }
            3 | 4 => {
                now_ms += i64::from(choice) * 100;
                send(&mut service, &report, now_ms);
                report.sequence = report.sequence.saturating_add(1);
                for samples in &mut report.containers {
                    for sample in &mut samples.samples {
                        sample.sequence = sample.sequence.saturating_add(1);
                    }
                }
            }
            _ => alter(&mut report, field, choice, raw),
        }
        check(&mut service, node, request, &runs, now_ms);
    }
    let _ = service.application_removed(application, true, now_ms);
    for run in service.ended() {
        for slot in run.series.iter().flat_map(|series| &series.slots) {
            assert!(is_sound(*slot), "learned {slot:?}");
        }
    }
});

/// A report is refused exactly if one of its numbers is out of the ranges of docs/boundary.md.
fn send(service: &mut Service, report: &Report, now_ms: i64) {
    let body = encode(report).expect("a report of a few hundred bytes");
    let report: Report = decode(VERSION, &body).expect("an encoded report");
    match service.report(NODE, &report, now_ms) {
        Ok(told) => {
            assert!(is_allowed(&report), "accepted: {report:?}");
            check_reply(&told.reply, &report);
        }
        Err(error) => assert!(!is_allowed(&report), "{error}: {report:?}"),
    }
}

/// What the agent would refuse; a container that does not run gets no plan.
fn check_reply(reply: &Reply, report: &Report) {
    assert_eq!(reply.acknowledged, report.sequence);
    assert!(reply.valid_for_ms <= Reply::LONGEST_VALID_MS);
    for plan in &reply.plans {
        assert_ne!(plan.container, CONTAINERS[2]);
        assert_eq!(plan.steps.first().map(|step| step.offset_ms), Some(0));
        assert!(plan.steps.is_sorted_by(|a, b| a.offset_ms < b.offset_ms), "{plan:?}");
        for limits in plan.steps.iter().map(|step| step.limits) {
            for cores in limits.cpu_weight_cores.into_iter().chain(limits.cpu_cap_cores) {
                assert!(cores.is_finite() && cores >= 0.0, "{plan:?}");
            }
        }
    }
}

/// Reports change neither what is booked nor what is registered, and no amount becomes unsound.
fn check(service: &mut Service, node: NodeId, each: Request, runs: &[bool], now_ms: i64) {
    for change in service.bookable_changes(1, now_ms).0 {
        let most = 4_000;
        assert!((1_000..=most).contains(&change.ratio.memory_thousandths), "{change:?}");
        assert!((1_000..=most).contains(&change.ratio.vcores_thousandths), "{change:?}");
    }
    let entry = service.cluster().node(node).expect("the node is there");
    let count = runs.iter().filter(|it| **it).count() as u64;
    assert_eq!(entry.booked.memory_bytes, each.memory_bytes * count);
    assert_eq!(u64::from(entry.booked.vcores), u64::from(each.vcores) * count);
    assert!(is_sound(entry.node.capacity), "capacity {:?}", entry.node.capacity);
    let expected = entry.node.expected_at(now_ms);
    assert!(is_sound(expected), "expected {expected:?}");
}

fn is_sound(amounts: Resources) -> bool {
    amounts.to_array().iter().all(|amount| amount.is_finite() && *amount >= 0.0)
}

fn valid() -> Report {
    let usage = Usage { cpu_cores: 1.0, memory_bytes: GB, ..Usage::default() };
    let sample = Sample { sequence: 1, age_ms: 0, length_ms: 3_000, usage };
    let stages = StageProgress { stages_ended: 1, since_ms: 100, part_ended: 0.2, part_begun: 0.4 };
    let samples = |container: &str| ContainerSamples {
        container: container.into(),
        limits: None,
        samples: vec![sample],
        stages: Some(stages),
    };
    Report {
        agent_run: 1,
        sequence: 1,
        can_limit: CanLimit { cpu: true, memory: true, ..CanLimit::default() },
        capacity: Capacity { cpu_cores: 4.0, memory_bytes: 8 * GB, ..Capacity::default() },
        containers_usage: usage,
        node_usage: usage,
        pressure: Some(Pressure::default()),
        memory_victims: Vec::new(),
        decommissioned: Vec::new(),
        containers: CONTAINERS.into_iter().map(samples).collect(),
    }
}

/// One number of the report, or a victim more.
fn alter(report: &mut Report, field: u8, choice: u8, raw: u64) {
    let small = raw as f32 / u64::MAX as f32;
    let floats = [
        small,
        small * 8.0,
        f32::NAN,
        f32::INFINITY,
        -1.0,
        f32::MAX,
        1e6,
        f32::from_bits(raw as u32),
    ];
    let float = floats[usize::from(choice) % floats.len()];
    let wholes = [raw % (8 * GB), raw, 0, u64::MAX, MOST_BYTES, MOST_BYTES + 1];
    let whole = wholes[usize::from(choice) % wholes.len()];
    let place = usize::from(field) / 24 % CONTAINERS.len();
    let samples = &mut report.containers[place];
    let usage = &mut samples.samples[0].usage;
    match field % 24 {
        0 => report.agent_run = whole,
        1 => report.sequence = whole,
        2 => report.capacity.cpu_cores = float,
        3 => report.capacity.memory_bytes = whole,
        4 => report.containers_usage.cpu_cores = float,
        5 => report.containers_usage.memory_bytes = whole,
        6 => report.node_usage.cpu_cores = float,
        7 => report.node_usage.memory_bytes = whole,
        8 => report.capacity.network_bytes_per_s = whole,
        9 => report.capacity.disk_bytes_per_s = whole,
        10 => report.pressure = Some(Pressure { memory: float, ..Pressure::default() }),
        11 => usage.cpu_cores = float,
        12 => usage.cpu_throttled = float,
        13 => usage.cpu_waited_cores = float,
        14 => usage.memory_bytes = whole,
        15 => usage.network_in_bytes_per_s = whole,
        16 => usage.disk_write_bytes_per_s = whole,
        17 => samples.samples[0].sequence = whole,
        18 => samples.samples[0].age_ms = raw as u32,
        19 => {
            samples.samples[0].length_ms =
                if choice % 2 == 0 { raw as u32 } else { raw as u16 as u32 }
        }
        20 => {
            let container = CONTAINERS[place].to_owned();
            let victim = MemoryVictim { container, resident_bytes: whole, short_bytes: raw % GB };
            report.memory_victims.truncate(3);
            report.memory_victims.push(victim);
        }
        21 => samples.stages = samples.stages.map(|it| StageProgress { part_ended: float, ..it }),
        22 => samples.stages = samples.stages.map(|it| StageProgress { part_begun: float, ..it }),
        _ => {
            let (stages_ended, since_ms) = (raw as u32, (raw >> 32) as u32);
            samples.stages =
                samples.stages.map(|it| StageProgress { stages_ended, since_ms, ..it });
        }
    }
}

fn is_allowed(report: &Report) -> bool {
    let within = |value: f32, most: f32| (0.0..=most).contains(&value);
    let usage = |it: &Usage| {
        within(it.cpu_cores, MOST_CORES)
            && within(it.cpu_waited_cores, MOST_CORES)
            && within(it.cpu_throttled, 1.0)
            && [it.memory_bytes, it.network_in_bytes_per_s, it.disk_write_bytes_per_s]
                .iter()
                .all(|bytes| *bytes <= MOST_BYTES)
    };
    let capacity = report.capacity;
    within(capacity.cpu_cores, MOST_CORES)
        && [capacity.memory_bytes, capacity.network_bytes_per_s, capacity.disk_bytes_per_s]
            .iter()
            .all(|bytes| *bytes <= MOST_BYTES)
        && usage(&report.containers_usage)
        && usage(&report.node_usage)
        && report.pressure.is_none_or(|it| within(it.memory, 1.0))
        && report.memory_victims.iter().all(|it| it.resident_bytes <= MOST_BYTES)
        && report.containers.iter().all(|it| {
            it.samples.iter().all(|sample| usage(&sample.usage) && sample.length_ms <= 3_600_000)
                && it
                    .stages
                    .is_none_or(|it| within(it.part_ended, 1.0) && within(it.part_begun, 1.0))
        })
}
