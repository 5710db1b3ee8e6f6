//! Windows of executors that their CPU limit throttles while their progress looks on time.

use super::reprovisioning::{
    be_slow, done, enabled, left, one_running, report_progress, run, used,
};
use super::*;
use crate::reprovision::{Correction, ReprovisionSettings, Slow, Used};

const SLOT: i64 = crate::SLOT_MS as i64;

/// Reports an executor on time that uses its core and is throttled for `parts` of the samples from
/// a slot on. Returns the end of the last sample.
fn throttled(cluster: &mut Cluster, from_slot: i64, parts: &[f64]) -> i64 {
    let ends_ms = (from_slot..).zip(parts);
    let ends_ms = ends_ms.map(|(slot, part)| throttled_using(cluster, slot, *part, 1.0));
    ends_ms.last().unwrap()
}

/// One throttled sample with this use of CPU.
fn throttled_using(cluster: &mut Cluster, slot: i64, part: f64, cores: f64) -> i64 {
    let slots = cluster.predicted_demand("c1").unwrap().slots().len();
    let now_ms = (slot + 1) * SLOT;
    let used = Used {
        usage: Resources::from_array([cores, 1e9, 0.0, 0.0]),
        from_ms: slot * SLOT,
        to_ms: now_ms,
        throttled: part,
    };
    report_progress(cluster, "c1", slot as f64 / slots as f64, slot * SLOT);
    cluster.used("c1", used, now_ms);
    report_progress(cluster, "c1", (slot + 1) as f64 / slots as f64, now_ms);
    now_ms
}

fn one_running_for(slots: usize) -> (Cluster, NodeId) {
    let (mut cluster, node) =
        cluster_of_one(ClusterSettings { fresh_for_ms: i64::MAX, ..settings() });
    cluster.reprovision_by(Some(ReprovisionSettings::default()));
    run(&mut cluster, node, "c1", &vec![1.0; slots], 0);
    (cluster, node)
}

/// Slots between the windows of an executor that is always throttled and uses `wants` cores in a window.
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

/// The executor lost more than 6 s, a tenth of the predicted 60 s, in its first 15 s.
fn with_window() -> (Cluster, NodeId) {
    let (mut cluster, node) = one_running(enabled());
    let now_ms = throttled(&mut cluster, 0, &[0.5; 5]);
    assert!(cluster.reprovision(node, now_ms));
    let opened = done(&mut cluster);
    let [Correction::Opened { slow, .. }] = opened[..] else {
        panic!("{opened:?}");
    };
    let throttled = Slow::Throttled { times: 2.0, cpu_cores: 1.0 };
    assert_eq!(slow, throttled);
    (cluster, node)
}

#[test]
fn a_throttled_executor_gets_a_window_once_it_lost_as_much_time_as_a_slow_one() {
    with_window();
    let (mut cluster, node) = one_running(enabled());
    let now_ms = throttled(&mut cluster, 0, &[0.5; 3]);
    assert!(!cluster.reprovision(node, now_ms));
}

#[test]
fn an_executor_throttled_at_its_start_gets_no_window() {
    let (mut cluster, node) = one_running(enabled());
    let now_ms = throttled(&mut cluster, 0, &[0.9, 0.9, 0.9, 0.05]);
    assert!(!cluster.reprovision(node, now_ms));
    let now_ms = throttled(&mut cluster, 4, &[0.5]);
    assert!(!cluster.reprovision(node, now_ms), "one sample is a burst");
    let now_ms = throttled(&mut cluster, 5, &[0.5]);
    assert!(cluster.reprovision(node, now_ms));
}

#[test]
fn a_hardly_throttled_executor_gets_no_window() {
    let (mut cluster, node) = one_running(enabled());
    let now_ms = throttled(&mut cluster, 0, &[0.09; 19]);
    assert!(!cluster.reprovision(node, now_ms));
}

#[test]
fn its_use_without_the_limit_scales_the_rest_of_its_demand() {
    let (mut cluster, node) = with_window();
    assert_eq!(cluster.corrected_by("c1").to_array(), [1.0; 4]);
    assert!(used(&mut cluster, "c1", 1.5, 6 * SLOT));
    assert_eq!(left(&mut cluster, node, 2, 6 * SLOT), [2.5, 2.5]);
    let factors = cluster.corrected_by("c1");
    assert_eq!(factors.to_array(), [1.5, 1.0, 1.0, 1.0]);
    assert_eq!(cluster.corrected_by("not-there").to_array(), [1.0; 4]);
}

#[test]
fn an_executor_that_wants_no_more_keeps_its_pace_and_waits_a_minute() {
    let (mut cluster, node) = with_window();
    assert!(used(&mut cluster, "c1", 1.0, 6 * SLOT));
    let now_ms = throttled(&mut cluster, 6, &[0.5; 10]);
    assert!(!cluster.reprovision(node, now_ms), "within a minute");
    // As far behind as it was throttled, which is not its own pace.
    report_progress(&mut cluster, "c1", 0.75, 35 * SLOT);
    assert!(cluster.reprovision(node, 35 * SLOT));
}

#[test]
fn each_window_in_vain_doubles_the_time_to_the_next() {
    assert_eq!(between_windows(320, |_| 1.0), [40, 80, 160]);
}

#[test]
fn a_window_that_raised_the_demand_resets_the_time_to_the_next() {
    // It lost a minute in the 21 slots after its window.
    let between = between_windows(150, |slot| if slot < 40 { 1.0 } else { 2.0 });
    assert_eq!(between[..2], [40, 22]);
}

#[test]
fn time_lost_before_a_window_does_not_count_after_it() {
    let (mut cluster, node) = one_running_for(60);
    // It lost more than 18 s, a tenth of the predicted 180 s.
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
fn the_slowest_executor_is_first_by_either_measure() {
    let (mut cluster, node) = one_running(enabled());
    run(&mut cluster, node, "c2", &[1.0; 20], 0);
    be_slow(&mut cluster, "c2");
    let now_ms = throttled(&mut cluster, 6, &[0.75; 4]);
    cluster.reprovision(node, now_ms);
    let opened = cluster.take_reprovisioned();
    assert_eq!(&*opened[0].container, "c1", "4 times, and 2");
}

#[test]
fn a_sample_with_an_invalid_throttled_part_is_ignored() {
    for part in [-0.1, 1.1, f64::NAN] {
        let (mut cluster, node) = one_running(enabled());
        let now_ms = throttled(&mut cluster, 0, &[0.4, 0.4, part, 0.4, 0.4]);
        assert!(!cluster.reprovision(node, now_ms), "{part}");
        let now_ms = throttled(&mut cluster, 5, &[0.4; 2]);
        assert!(cluster.reprovision(node, now_ms), "{part}: the others count");
    }
}
