//! The cost of one heartbeat in the core: a round, the first round after a change, a commit, a finish, of a
//! plan of starts, and the memory of a waiting application. `make bench-core` prints a line for each.
//!
//! Each case takes turns with a fixed computation (`reference.rs`). The ratio of their times is
//! bounded (`bounds.rs`): a busy machine changes the times and hardly the ratio. Exit code 1: a
//! ratio exceeds its bound in each of three tries.
//!
//! `--only POLICY CASE PENDING ROUNDS` runs rounds alone, to count instructions: the difference of two counts
//! is that of the rounds between. A final `changed` precedes each round with a commit and a finish.

#![allow(missing_docs)]

mod bounds;
mod random;
mod reference;
mod scene;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use bounds::{Bound, Report, Times};
use reference::Reference;
use scene::{Case, Scene, Size, Under, courses};

const PENDING: [usize; 3] = [100, 1_000, 10_000];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(only) = arguments.iter().position(|argument| argument == "--only") {
        rounds_only(&arguments[only + 1..]);
        return ExitCode::SUCCESS;
    }
    let mut report = Report::default();
    // First, so that no freed memory is reused.
    memory(&mut report);
    for case in [Case::NoneFits, Case::HalfFits, Case::HeldFirst, Case::Doubtful] {
        for under in [Under::ELASTANE, Under::MINFRAG] {
            for pending in PENDING {
                let bound = bounds::heartbeat(case, pending);
                heartbeat(&mut report, case, under, size_for(case, pending), bound, "");
            }
        }
    }
    for pending in PENDING {
        let size = Size { claims: true, ..Size::of(pending) };
        let (under, bound) = (Under::ELASTANE, bounds::round_with_claims(pending));
        heartbeat(&mut report, Case::HalfFits, under, size, bound, " claims");
        heartbeat(&mut report, Case::Doubtful, under, size, None, " claims");
        after_a_change(&mut report, under, size, bounds::changed_with_claims(pending), " claims");
    }
    for under in [Under::ELASTANE, Under::MINFRAG] {
        other_sizes(&mut report, under);
        for pending in PENDING {
            after_a_change(&mut report, under, Size::of(pending), bounds::round(pending), "");
        }
    }
    for pending in PENDING {
        starts_planned(&mut report, pending);
    }
    for other_nodes in [0, 9_999] {
        commit_and_finish(&mut report, other_nodes);
    }
    report.end()
}

fn other_sizes(report: &mut Report, under: Under) {
    let usual = Size::of(1_000);
    for steps in [16, 512] {
        let size = Size { steps, ..usual };
        let more = format!(" steps={steps}");
        heartbeat(report, Case::HalfFits, under, size, None, &more);
    }
    for running in [5, 200] {
        let size = Size { running, ..usual };
        let more = format!(" running={running}");
        heartbeat(report, Case::HalfFits, under, size, None, &more);
    }
    let size = Size { passed: 0.3, ..usual };
    heartbeat(report, Case::HalfFits, under, size, None, " first_end=late");
}

/// The size to which the bounds of a case apply. Without claims nobody goes first.
fn size_for(case: Case, pending: usize) -> Size {
    Size { claims: case == Case::HeldFirst, ..Size::of(pending) }
}

fn heartbeat(
    report: &mut Report,
    case: Case,
    under: Under,
    size: Size,
    bound: Option<Bound>,
    more: &str,
) {
    let (policy, case_name, pending) = (under.name, case.name(), size.pending);
    let what = format!("heartbeat policy={policy} {case_name}{more} pending={pending}");
    let reference = Reference::new(pending);
    report.times(&what, bound, || {
        let mut scene = Scene::new(under, size, &courses(case, size));
        let start = Instant::now();
        let named = scene.round();
        let first_ms = start.elapsed().as_secs_f64() * 1e3;
        let refused = scene.refused();
        let more = format!(" refused={refused} named={named} first_ms={first_ms:.1}");
        let samples = (20_000_000 / pending.max(100)).clamp(2_000, 50_000);
        Times::take(&reference, samples, more, || timed(|| scene.round()))
    });
}

fn after_a_change(report: &mut Report, under: Under, size: Size, bound: Option<Bound>, more: &str) {
    let pending = size.pending;
    let what = format!("first_round_after_a_change policy={}{more} pending={pending}", under.name);
    let reference = Reference::new(pending);
    report.times(&what, bound, || {
        let mut scene = Scene::new(under, size, &courses(Case::HalfFits, size));
        Times::take(&reference, 1_000, String::new(), || {
            assert!(scene.commit() && scene.finish());
            timed(|| scene.round())
        })
    });
}

/// The plan of starts on 100 nodes: the copy, for which heartbeats wait, and the search, for which they do not.
fn starts_planned(report: &mut Report, pending: usize) {
    let size = Size { other_nodes: 99, claims: true, ..Size::of(pending) };
    let reference = Reference::new(pending);
    for step in ["copy", "search"] {
        let what = format!("starts_planned {step} nodes=100 pending={pending}");
        report.times(&what, None, || {
            let mut scene = Scene::new(Under::ELASTANE, size, &courses(Case::HeldFirst, size));
            Times::take(&reference, 200, String::new(), || {
                assert!(scene.commit() && scene.finish());
                let mut search = None;
                let copy_us = timed(|| search = scene.starts_to_plan());
                let search_us = timed(|| scene.plan(search.take()));
                if step == "copy" { copy_us } else { search_us }
            })
        });
    }
}

fn commit_and_finish(report: &mut Report, other_nodes: usize) {
    // A few containers on each of many nodes, or fifty on one.
    let running = if other_nodes == 0 { 50 } else { 10 };
    let size = Size { other_nodes, running, ..Size::of(1_000) };
    let nodes = other_nodes + 1;
    let reference = Reference::new(100);
    for change in ["commit", "finish"] {
        let what = format!("{change} nodes={nodes} running={running}");
        report.times(&what, Some(bounds::CHANGE), || {
            let mut scene = Scene::new(Under::ELASTANE, size, &courses(Case::HalfFits, size));
            Times::take(&reference, 2_000, String::new(), || {
                scene.round();
                let commit_us = timed(|| assert!(scene.commit()));
                let finish_us = timed(|| assert!(scene.finish()));
                if change == "commit" { commit_us } else { finish_us }
            })
        });
    }
}

/// Memory that 10,000 waiting applications add to the process, beside their profiles.
fn memory(report: &mut Report) {
    let size = Size::of(10_000);
    let courses = courses(Case::HalfFits, size);
    let Some(before) = resident_bytes() else {
        return println!("memory not measured: /proc/self/statm cannot be read");
    };
    let mut scene = Scene::new(Under::ELASTANE, size, &courses);
    scene.round();
    let after = resident_bytes().unwrap_or(before);
    report.memory(size.pending, after.saturating_sub(before) / size.pending);
}

fn resident_bytes() -> Option<usize> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4_096)
}

fn rounds_only(arguments: &[String]) {
    let [policy, case, pending, rounds, more @ ..] = arguments else {
        return println!("--only needs POLICY CASE PENDING ROUNDS");
    };
    let changed = more.first().is_some_and(|more| more == "changed");
    let under = [Under::ELASTANE, Under::MINFRAG].into_iter().find(|known| known.name == policy);
    let case = Case::ALL.into_iter().find(|known| known.name() == case);
    let (Some(under), Some(case), Ok(pending), Ok(rounds)) =
        (under, case, pending.parse(), rounds.parse::<usize>())
    else {
        return println!(
            "--only needs elastane or minfrag, {}, and two numbers",
            Case::ALL.map(Case::name).join(" or ")
        );
    };
    let size = size_for(case, pending);
    let mut scene = Scene::new(under, size, &courses(case, size));
    for _ in 0..rounds {
        if changed {
            assert!(scene.commit() && scene.finish());
        }
        black_box(scene.round());
    }
}

fn timed<T>(run: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(run());
    start.elapsed().as_nanos() as f64 / 1e3
}
