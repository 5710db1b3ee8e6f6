//! What reprovisioning makes of executors whose prediction is wrong, on one node.

#![allow(clippy::unwrap_used, reason = "a test")]

use elastane_core::cluster::Request;
use elastane_core::plan::PlanSettings;
use elastane_core::reprovision::ReprovisionSettings;
use elastane_core::{Demand, Resources, SLOT_MS};
use elastane_lab::reproduce::{Corrections, papers_settings};
use elastane_sim::simulator::{
    Following, Policies, ProgressSource, Settings, SimulatedRun, simulate,
};
use elastane_sim::workload::{ApplicationSpec, Errors, Workload};

const SLOTS: usize = 100;

/// An application that reads so many MB/s for so many slots, where so many were predicted.
fn application([actual, predicted]: [(f64, usize); 2]) -> ApplicationSpec {
    let demand = |(megabytes_per_s, slots): (f64, usize)| {
        let amounts = Resources::from_array([0.5, 1e9, 0.0, megabytes_per_s * 1e6]);
        Demand::series(SLOT_MS, &vec![amounts; slots]).unwrap()
    };
    application_of(demand(actual), demand(predicted))
}

/// One whose executor uses so many cores, for a slot each, where so many were predicted.
fn computing([actual, predicted]: [&[f64]; 2]) -> ApplicationSpec {
    let demand = |cores: &[f64]| {
        let slots = cores.iter().map(|cores| Resources::from_array([*cores, 1e9, 0.0, 0.0]));
        Demand::series(SLOT_MS, &slots.collect::<Vec<_>>()).unwrap()
    };
    application_of(demand(actual), demand(predicted))
}

fn application_of(actual: Demand, predicted: Demand) -> ApplicationSpec {
    ApplicationSpec {
        name: "a".to_owned(),
        queue: 0,
        user: String::new(),
        submitted_ms: 0,
        deadline_ms: None,
        executors: 1,
        request: Request { memory_bytes: 1_000_000_000, vcores: 1 },
        predicted: Some(predicted),
        actual,
        lengths: None,
        errors: Errors::default(),
    }
}

/// Limited to its plan, with the true progress known.
fn run(applications: Vec<ApplicationSpec>, reprovisions: bool) -> SimulatedRun {
    run_by(ProgressSource::Exact, applications, reprovisions)
}

fn run_by(
    progress: ProgressSource,
    applications: Vec<ApplicationSpec>,
    reprovisions: bool,
) -> SimulatedRun {
    let workload = Workload {
        name: "test".to_owned(),
        machines: vec![Resources::from_array([4.0, 10e9, 1e9, 200e6])],
        heartbeat_ms: 1_000,
        queues: Vec::new(),
        applications,
        masters: Vec::new(),
    };
    let settings = Settings {
        give_up_after_ms: 24 * 3_600_000,
        following: Following {
            progress,
            reprovisioning: reprovisions.then(ReprovisionSettings::default),
            limits: Some(PlanSettings {
                cpu_cap_ratio: Some(1.0),
                disk_cap_ratio: Some(1.0),
                network_cap_ratio: Some(1.0),
                ..PlanSettings::default()
            }),
        },
        ..papers_settings()
    };
    simulate(&workload, &Policies::default(), "minfrag", &settings, 1, &mut |_| {}).unwrap()
}

#[test]
fn one_that_needs_more_than_predicted_gets_it_from_its_first_window_on() {
    let one = || vec![application([(60.0, SLOTS), (30.0, SLOTS)])];
    let (held, raised) = (run(one(), false), run(one(), true));
    assert!(held.executors_s > 590.0, "{}", held.executors_s);
    assert!(raised.executors_s < 350.0, "{}", raised.executors_s);
    let corrections = Corrections::of(&raised.reprovisioned);
    assert_eq!(corrections.raised, corrections.measured);
}

#[test]
fn one_whose_work_is_longer_has_a_window_and_no_more_than_predicted() {
    let longer = vec![application([(60.0, 2 * SLOTS), (60.0, SLOTS)])];
    let outcome = run(longer, true);
    assert_eq!(outcome.executors_s, 600.0);
    let corrections = Corrections::of(&outcome.reprovisioned);
    assert_eq!((corrections.windows, corrections.raised), (1, 0));
}

#[test]
fn one_that_its_busy_node_holds_up_keeps_its_demand() {
    // What nobody planned takes the disk: the other wants all of it, and is not limited to less.
    let slow = application([(100.0, SLOTS), (100.0, SLOTS)]);
    let busy = ApplicationSpec { predicted: None, ..application([(200.0, 3 * SLOTS), (200.0, 1)]) };
    let outcome = run(vec![busy, slow], true);
    let corrections = Corrections::of(&outcome.reprovisioned);
    assert!(corrections.held_up > 0, "{corrections:?}");
    assert_eq!((corrections.raised, corrections.measured), (0, 0));
    assert_eq!(corrections.unused, 0);
}

#[test]
fn one_that_its_cpu_limit_makes_look_on_time_is_raised() {
    let one = || vec![computing([&[1.5; SLOTS], &[1.0; SLOTS]])];
    let run = |reprovisions| run_by(ProgressSource::Usage, one(), reprovisions);
    let (throttled, raised) = (run(false), run(true));
    assert!(throttled.executors_s > 440.0, "{}", throttled.executors_s);
    // Throttled for a third of the time it has lost a tenth of the 300 s after 90.
    assert!(raised.executors_s < 345.0, "{}", raised.executors_s);
}
