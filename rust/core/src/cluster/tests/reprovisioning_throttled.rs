//! Windows of executors that their CPU limit holds back while they look as if they were on time.

use super::reprovisioning::{be_slow, done, left, on, one_running, run, told, used};
use super::*;
use crate::reprovision::{Correction, ReprovisionSettings, Slow, Used};

const SLOT: i64 = crate::SLOT_MS as i64;

/// It is on time and uses its core; for such parts of the samples from a slot on it is throttled. Returns
/// when that ends.
fn throttled(cluster: &mut Cluster, from_slot: i64, parts: &[f64]) -> i64 {
    let ends_ms = (from_slot..).zip(parts);
    let ends_ms = ends_ms.map(|(slot, part)| throttled_using(cluster, slot, *part, 1.0));
    ends_ms.last().unwrap()
}

/// The same in one slot, in which it uses so many cores.
fn throttled_using(cluster: &mut Cluster, slot: i64, part: f64, cores: f64) -> i64 {
    let slots = cluster.predicted_demand("c1").unwrap().slots().len();
    let now_ms = (slot + 1) * SLOT;
    let used = Used {
        usage: Resources::from_array([cores, 1e9, 0.0, 0.0]),
        from_ms: slot * SLOT,
        to_ms: now_ms,
        throttled: part,
    };
    told(cluster, "c1", slot as f64 / slots as f64, slot * SLOT);
    cluster.used("c1", used, now_ms);
    told(cluster, "c1", (slot + 1) as f64 / slots as f64, now_ms);
    now_ms
}

fn one_running_for(slots: usize) -> (Cluster, NodeId) {
    let (mut cluster, node) = cluster_of_one(ClusterSettings {
        fresh_for_ms: i64::MAX,
        ..settings()
    });
    cluster.reprovision_by(ReprovisionSettings::default());
    run(&mut cluster, node, "c1", &vec![1.0; slots], 0);
    (cluster, node)
}

/// How many slots lie between the windows of one that is throttled all the time, and wants so many
/// cores in a window.
fn between_windows(slots: i64, wants: impl Fn(i64) -> f64) -> Vec<i64> {
    let (mut cluster, node) = one_running_for(400);
    let (mut opened_at, mut has_window) = (Vec::new(), false);
    for slot in 0..slots {
        let cores = if has_window { wants(slot) } else { 1.0 };
        let now_ms = throttled_using(&mut cluster, slot, 0.99, cores);
        done(&mut cluster);
        cluster.reprovision(node, now_ms);
        has_window = !done(&mut cluster).is_empty();
        if has_window {
            opened_at.push(slot);
        }
    }
    opened_at.windows(2).map(|two| two[1] - two[0]).collect()
}

/// 60 s are predicted, and more than 6 s of the first 15 were lost.
fn with_window() -> (Cluster, NodeId) {
    let (mut cluster, node) = one_running(on());
    let now_ms = throttled(&mut cluster, 0, &[0.5; 5]);
    assert!(cluster.reprovision(node, now_ms));
    let opened = done(&mut cluster);
    let [Correction::Opened { slow, .. }] = opened[..] else {
        panic!("{opened:?}");
    };
    let throttled = Slow::Throttled {
        times: 2.0,
        cpu_cores: 1.0,
    };
    assert_eq!(slow, throttled);
    (cluster, node)
}

#[test]
fn one_that_is_throttled_has_a_window_once_it_lost_what_makes_another_slow() {
    with_window();
    let (mut cluster, node) = one_running(on());
    let now_ms = throttled(&mut cluster, 0, &[0.5; 3]);
    assert!(!cluster.reprovision(node, now_ms));
}

#[test]
fn one_that_was_throttled_at_its_start_has_none() {
    let (mut cluster, node) = one_running(on());
    let now_ms = throttled(&mut cluster, 0, &[0.9, 0.9, 0.9, 0.05]);
    assert!(!cluster.reprovision(node, now_ms));
    let now_ms = throttled(&mut cluster, 4, &[0.5]);
    assert!(!cluster.reprovision(node, now_ms), "one sample is a burst");
    let now_ms = throttled(&mut cluster, 5, &[0.5]);
    assert!(cluster.reprovision(node, now_ms));
}

#[test]
fn one_that_is_hardly_throttled_has_none() {
    let (mut cluster, node) = one_running(on());
    let now_ms = throttled(&mut cluster, 0, &[0.09; 19]);
    assert!(!cluster.reprovision(node, now_ms));
}

#[test]
fn what_it_wants_without_its_limit_scales_the_rest_of_its_demand() {
    let (mut cluster, node) = with_window();
    assert_eq!(cluster.corrected_by("c1").to_array(), [1.0; 4]);
    assert!(used(&mut cluster, "c1", 1.5, 6 * SLOT));
    assert_eq!(left(&mut cluster, node, 2, 6 * SLOT), [2.5, 2.5]);
    let factors = cluster.corrected_by("c1");
    assert_eq!(factors.to_array(), [1.5, 1.0, 1.0, 1.0]);
    assert_eq!(cluster.corrected_by("not-there").to_array(), [1.0; 4]);
}

#[test]
fn one_that_wants_no_more_keeps_its_pace_and_its_minute() {
    let (mut cluster, node) = with_window();
    assert!(used(&mut cluster, "c1", 1.0, 6 * SLOT));
    let now_ms = throttled(&mut cluster, 6, &[0.5; 10]);
    assert!(!cluster.reprovision(node, now_ms), "within a minute");
    // Behind by as much as it was throttled, which nobody called its own.
    told(&mut cluster, "c1", 0.75, 35 * SLOT);
    assert!(cluster.reprovision(node, 35 * SLOT));
}

#[test]
fn one_that_is_always_throttled_and_wants_no_more_is_looked_at_half_as_often_each_time() {
    assert_eq!(between_windows(320, |_| 1.0), [40, 80, 160]);
}

#[test]
fn one_that_wanted_more_is_looked_at_as_soon_as_before() {
    // It lost a minute of the 21 slots after the one with its window.
    let between = between_windows(150, |slot| if slot < 40 { 1.0 } else { 2.0 });
    assert_eq!(between[..2], [40, 22]);
}

#[test]
fn what_was_lost_before_a_window_does_not_count_after_it() {
    let (mut cluster, node) = one_running_for(60);
    // Of the 180 s that are predicted more than 18 are lost.
    let now_ms = throttled(&mut cluster, 0, &[0.75; 9]);
    assert!(cluster.reprovision(node, now_ms));
    throttled_using(&mut cluster, 9, 0.0, 2.0);
    throttled(&mut cluster, 10, &[0.0; 21]);
    let now_ms = throttled(&mut cluster, 31, &[0.75; 7]);
    assert!(!cluster.reprovision(node, now_ms));
    let now_ms = throttled(&mut cluster, 38, &[0.75; 2]);
    assert!(cluster.reprovision(node, now_ms));
}

#[test]
fn the_slowest_is_first_whatever_shows_it() {
    let (mut cluster, node) = one_running(on());
    run(&mut cluster, node, "c2", &[1.0; 20], 0);
    be_slow(&mut cluster, "c2");
    let now_ms = throttled(&mut cluster, 6, &[0.75; 4]);
    cluster.reprovision(node, now_ms);
    let opened = cluster.take_reprovisioned();
    assert_eq!(&*opened[0].container, "c1", "4 times, and 2");
}

#[test]
fn a_sample_with_a_part_that_is_none_is_not_taken_in() {
    for part in [-0.1, 1.1, f64::NAN] {
        let (mut cluster, node) = one_running(on());
        let now_ms = throttled(&mut cluster, 0, &[0.4, 0.4, part, 0.4, 0.4]);
        assert!(!cluster.reprovision(node, now_ms), "{part}");
        let now_ms = throttled(&mut cluster, 5, &[0.4; 2]);
        assert!(
            cluster.reprovision(node, now_ms),
            "{part}: the others count"
        );
    }
}
