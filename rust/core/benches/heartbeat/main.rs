//! What one heartbeat costs in the core: a round, the first one after a change, a commit, a finish,
//! and the memory of an application that waits. `make bench-core` prints a line for each.
//!
//! `--only POLICY CASE PENDING ROUNDS` runs rounds and nothing else, to count instructions: the difference
//! of two counts is that of the rounds between. With `changed` behind it there is a commit and a finish
//! before each.

#![allow(missing_docs)]

mod random;
mod scene;

use std::hint::black_box;
use std::time::{Duration, Instant};

use elastane_core::fit::Peaks;
use scene::{Case, Scene, Size, Under, courses};

const PENDING: [usize; 3] = [100, 1_000, 10_000];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(only) = arguments.iter().position(|argument| argument == "--only") {
        return rounds_only(&arguments[only + 1..]);
    }
    // Before all else, so that no memory that was freed is used again.
    memory();
    for case in [
        Case::NoneFits,
        Case::HalfFits,
        Case::HeldFirst,
        Case::Doubtful,
    ] {
        for under in [Under::ELASTANE, Under::MINFRAG] {
            for pending in PENDING {
                heartbeat(case, under, Size::of(pending), "");
            }
        }
    }
    let strict = Under {
        peaks: Peaks::Strict,
        ..Under::MINFRAG
    };
    for case in [Case::NoneFits, Case::HalfFits] {
        heartbeat(case, strict, Size::of(1_000), " peaks=strict");
    }
    for under in [Under::ELASTANE, Under::MINFRAG] {
        other_sizes(under);
        with_other_nodes(under);
        for pending in PENDING {
            after_a_change(under, pending);
        }
    }
    for other_nodes in [0, 9_999] {
        commit_and_finish(other_nodes);
    }
}

fn other_sizes(under: Under) {
    let usual = Size::of(1_000);
    for steps in [16, 512] {
        let size = Size { steps, ..usual };
        heartbeat(Case::HalfFits, under, size, &format!(" steps={steps}"));
    }
    for running in [5, 200] {
        let size = Size { running, ..usual };
        heartbeat(Case::HalfFits, under, size, &format!(" running={running}"));
    }
    let size = Size {
        passed: 0.3,
        ..usual
    };
    heartbeat(Case::HalfFits, under, size, " first_end=late");
}

fn heartbeat(case: Case, under: Under, size: Size, more: &str) {
    let mut scene = Scene::new(under, 3_000, size, &courses(case, size));
    let start = Instant::now();
    let named = scene.round();
    let first_ms = start.elapsed().as_secs_f64() * 1e3;
    let refused = scene.refused();
    let mut times = measure(size.pending, || scene.round());
    print(
        &format!(
            "heartbeat policy={} {}{more} pending={}",
            under.name,
            case.name(),
            size.pending
        ),
        &mut times,
        &format!(" refused={refused} named={named} first_ms={first_ms:.1}"),
    );
}

/// Executors may pass on the node for one of eight others: few of them, none although each of the
/// best is delayed and asks, and most.
fn with_other_nodes(under: Under) {
    let size = Size {
        other_nodes: 8,
        ..Size::of(1_000)
    };
    heartbeat(Case::HalfFits, under, size, " other_nodes=8");
    for (cpu_shares, more) in [([1.2, 1.2], " none_passes"), ([1.6, 0.1], " most_pass")] {
        let size = Size { cpu_shares, ..size };
        heartbeat(Case::Delayed, under, size, &format!("{more} other_nodes=8"));
    }
}

fn after_a_change(under: Under, pending: usize) {
    let size = Size::of(pending);
    let mut scene = Scene::new(under, 3_000, size, &courses(Case::HalfFits, size));
    let mut times: Vec<f64> = (0..1_000)
        .map(|_| {
            assert!(scene.commit() && scene.finish());
            timed(|| scene.round())
        })
        .collect();
    print(
        &format!(
            "first_round_after_a_change policy={} pending={pending}",
            under.name
        ),
        &mut times,
        "",
    );
}

fn commit_and_finish(other_nodes: usize) {
    // A few containers on each of many nodes, or fifty on one.
    let running = if other_nodes == 0 { 50 } else { 10 };
    let size = Size {
        other_nodes,
        running,
        ..Size::of(1_000)
    };
    let mut scene = Scene::new(Under::ELASTANE, 3_000, size, &courses(Case::HalfFits, size));
    let (mut commits, mut finishes) = (Vec::new(), Vec::new());
    for _ in 0..2_000 {
        scene.round();
        commits.push(timed(|| assert!(scene.commit())));
        finishes.push(timed(|| assert!(scene.finish())));
    }
    let nodes = other_nodes + 1;
    print(
        &format!("commit nodes={nodes} running={running}"),
        &mut commits,
        "",
    );
    print(
        &format!("finish nodes={nodes} running={running}"),
        &mut finishes,
        "",
    );
}

/// What 10,000 applications that wait add to the process, beside their profiles.
fn memory() {
    let size = Size::of(10_000);
    let courses = courses(Case::HalfFits, size);
    let Some(before) = resident_bytes() else {
        return println!("memory not measured: /proc/self/statm cannot be read");
    };
    let mut scene = Scene::new(Under::ELASTANE, 3_000, size, &courses);
    scene.round();
    let after = resident_bytes().unwrap_or(before);
    let each = after.saturating_sub(before) / size.pending;
    println!(
        "memory policy=elastane pending={} bytes_each={each}",
        size.pending
    );
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
    let under = [Under::ELASTANE, Under::MINFRAG]
        .into_iter()
        .find(|known| known.name == policy);
    let case = Case::ALL.into_iter().find(|known| known.name() == case);
    let (Some(under), Some(case), Ok(pending), Ok(rounds)) =
        (under, case, pending.parse(), rounds.parse::<usize>())
    else {
        return println!(
            "--only needs elastane or minfrag, {}, and two numbers",
            Case::ALL.map(Case::name).join(" or ")
        );
    };
    let size = Size::of(pending);
    let mut scene = Scene::new(under, 3_000, size, &courses(case, size));
    for _ in 0..rounds {
        if changed {
            assert!(scene.commit() && scene.finish());
        }
        black_box(scene.round());
    }
}

/// As many rounds as are enough, or as go into two seconds.
fn measure<T>(pending: usize, mut run: impl FnMut() -> T) -> Vec<f64> {
    let rounds = (20_000_000 / pending.max(100)).clamp(2_000, 50_000);
    let until = Instant::now() + Duration::from_secs(2);
    let mut times = Vec::with_capacity(rounds);
    while times.len() < rounds && (times.len() < 20 || Instant::now() < until) {
        times.push(timed(&mut run));
    }
    times
}

fn timed<T>(run: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(run());
    start.elapsed().as_nanos() as f64 / 1e3
}

fn print(what: &str, times_us: &mut [f64], more: &str) {
    times_us.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| times_us[((times_us.len() - 1) as f64 * share) as usize];
    println!(
        "{what} median_us={:.1} p99_us={:.1}{more}",
        at(0.5),
        at(0.99)
    );
}
