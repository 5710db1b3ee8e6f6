//! Progress of executors, and windows of slow ones.

use super::*;
use crate::left_ahead::LeftAhead;
use crate::progress::Progress;
use crate::reprovision::{Correction, NotMeasured, ReprovisionSettings, Reprovisioned, Used};
use crate::resources::Resource;

const SLOT: i64 = crate::SLOT_MS as i64;

/// A node of 4 cores and 8 GB with one executor of 20 slots that is predicted to use one core from time 0 on.
pub(super) fn one_running(settings: Option<ReprovisionSettings>) -> (Cluster, NodeId) {
    let (mut cluster, node) =
        cluster_of_one(ClusterSettings { fresh_for_ms: i64::MAX, ..super::settings() });
    cluster.reprovision_by(settings);
    run(&mut cluster, node, "c1", &[1.0; 20], 0);
    (cluster, node)
}

pub(super) fn run(
    cluster: &mut Cluster,
    node: NodeId,
    container: &str,
    cores: &[f64],
    now_ms: i64,
) {
    let application = application(cluster, learned(cores, 1.0));
    let placed = record(cluster, container, application, node, 1, now_ms);
    assert!(matches!(placed, Commit::Placed(_)), "{placed:?}");
}

pub(super) fn application(cluster: &mut Cluster, demands: Demands) -> ApplicationId {
    cluster.application_added(Application::new("application_1", "n", "root.q", demands, 0))
}

pub(super) fn enabled() -> Option<ReprovisionSettings> {
    Some(ReprovisionSettings::default())
}

pub(super) fn report_progress(
    cluster: &mut Cluster,
    container: &str,
    part: f64,
    now_ms: i64,
) -> bool {
    cluster.progressed(container, Progress::new(part).unwrap(), now_ms)
}

pub(super) fn used(cluster: &mut Cluster, container: &str, cores: f64, to_ms: i64) -> bool {
    used_all(cluster, container, [cores, 1e9, 0.0, 0.0], to_ms)
}

pub(super) fn used_all(
    cluster: &mut Cluster,
    container: &str,
    usage: [f64; 4],
    to_ms: i64,
) -> bool {
    let used =
        Used { usage: Resources::from_array(usage), from_ms: to_ms - SLOT, to_ms, throttled: 0.0 };
    cluster.used(container, used, to_ms)
}

/// Cores left in the coming slots. Checks that both forms, fixed-point and floating-point, agree.
pub(super) fn left(cluster: &mut Cluster, node: NodeId, slots: usize, now_ms: i64) -> Vec<f64> {
    let entry = cluster.state.nodes.get_mut(node).unwrap();
    entry.plan.refresh_left(&mut entry.node, now_ms);
    let left = (0..slots).map(|slot| entry.plan.left().slot(slot).in_units(Resource::Cpu));
    let left: Vec<f64> = left.collect();
    let whole = Demand::series(crate::SLOT_MS, &vec![Resources::ZERO; slots]).unwrap();
    let available = entry.node.available(now_ms.div_euclid(SLOT) * SLOT);
    for segment in available.segments(&whole, i64::MAX) {
        let slot = usize::try_from(segment.from_ms / SLOT).unwrap();
        assert!((segment.available.cpu_cores - left[slot]).abs() < 1e-6);
    }
    left
}

pub(super) fn done(cluster: &mut Cluster) -> Vec<Correction> {
    let done = cluster.take_reprovisioned();
    done.into_iter().map(|Reprovisioned { what, .. }| what).collect()
}

/// Reports half the expected progress after ten slots, so that the executor is slow.
pub(super) fn be_slow(cluster: &mut Cluster, container: &str) {
    report_progress(cluster, container, 0.0, 0);
    report_progress(cluster, container, 0.25, 10 * SLOT);
}

/// A slow executor in its window.
pub(super) fn with_window() -> (Cluster, NodeId) {
    let (mut cluster, node) = one_running(enabled());
    be_slow(&mut cluster, "c1");
    assert!(cluster.reprovision(node, 10 * SLOT));
    assert!(matches!(done(&mut cluster)[..], [Correction::Opened { .. }]));
    (cluster, node)
}

#[test]
fn an_executor_behind_has_the_demand_of_its_progress() {
    let (mut cluster, node) = one_running(None);
    assert!(report_progress(&mut cluster, "c1", 0.25, 10 * SLOT));
    let expected = [vec![3.0; 15], vec![4.0]].concat();
    assert_eq!(left(&mut cluster, node, 16, 10 * SLOT), expected);
}

#[test]
fn an_executor_ahead_releases_its_resources_earlier() {
    let (mut cluster, node) = one_running(None);
    assert!(report_progress(&mut cluster, "c1", 0.9, 10 * SLOT));
    assert_eq!(left(&mut cluster, node, 3, 10 * SLOT), [3.0, 3.0, 4.0]);
}

#[test]
fn an_overdue_executor_with_progress_has_the_demand_of_its_progress() {
    let (mut cluster, node) = one_running(None);
    let mut cores = vec![2.0; 10];
    cores.extend([0.5; 10]);
    run(&mut cluster, node, "c2", &cores, 0);
    assert_eq!(left(&mut cluster, node, 2, 20 * SLOT), [2.5, 4.0]);
    assert!(report_progress(&mut cluster, "c2", 0.45, 20 * SLOT));
    // The first executor, without progress, keeps its last value for a slot.
    assert_eq!(left(&mut cluster, node, 3, 20 * SLOT), [1.0, 3.5, 3.5]);
}

#[test]
fn a_progress_one_slot_off_changes_nothing() {
    let (mut cluster, _) = one_running(None);
    assert!(!report_progress(&mut cluster, "c1", 0.45, 10 * SLOT));
    assert!(!report_progress(&mut cluster, "c1", 0.55, 10 * SLOT));
    assert!(report_progress(&mut cluster, "c1", 0.4, 10 * SLOT));
}

#[test]
fn limits_follow_progress() {
    let (mut cluster, node) = one_running(None);
    let cores = [[1.0; 10], [3.0; 10]].concat();
    run(&mut cluster, node, "c2", &cores, 0);
    report_progress(&mut cluster, "c2", 0.25, 12 * SLOT);
    let plans =
        cluster.limits_on(node).unwrap().plans(&PlanSettings::default(), LIMITS_CPU, 12 * SLOT);
    let (_, steps) = plans.iter().find(|(id, _)| *id == "c2").unwrap();
    let steps: Vec<_> = steps
        .iter()
        .map(|step| (step.offset_ms, step.limits.cpu_weight_cores.unwrap().round()))
        .collect();
    assert_eq!(steps, [(0, 1.0), (15_000, 3.0)]);
}

#[test]
fn progress_of_a_container_without_prediction_changes_nothing() {
    let (mut cluster, node) = cluster_of_one(settings());
    let application = application(&mut cluster, Demands::default());
    record(&mut cluster, "c1", application, node, 1, 0);
    assert!(!report_progress(&mut cluster, "c1", 0.5, 10 * SLOT));
    assert!(!report_progress(&mut cluster, "not-there", 0.5, 10 * SLOT));
    assert_eq!(cluster.predicted_demand("c1"), None);
}

#[test]
fn a_slow_executor_is_lent_all_remaining_resources_for_one_window() {
    let (mut cluster, node) = with_window();
    assert_eq!(left(&mut cluster, node, 3, 10 * SLOT), [0.0, 3.0, 3.0]);
    let plans =
        cluster.limits_on(node).unwrap().plans(&PlanSettings::default(), LIMITS_CPU, 10 * SLOT);
    let weights: Vec<_> = plans[0]
        .1
        .iter()
        .map(|step| (step.offset_ms, step.limits.cpu_weight_cores.unwrap()))
        .collect();
    assert_eq!(weights[0].0, 0);
    assert!(weights[0].1 >= 4.0, "{weights:?}");
    assert_eq!(weights[1].0, 3_000);
    assert!(weights[1].1 < 2.0, "{weights:?}");
}

#[test]
fn a_window_that_opens_within_a_slot_reaches_into_the_next_one_only() {
    let (mut cluster, node) = one_running(enabled());
    be_slow(&mut cluster, "c1");
    cluster.reprovision(node, 10 * SLOT + 1);
    assert_eq!(left(&mut cluster, node, 3, 10 * SLOT + 1), [0.0, 0.0, 3.0]);
}

#[test]
fn a_loan_lasts_until_the_end_of_the_sample_that_measures_it() {
    let (mut cluster, node) = one_running(enabled());
    be_slow(&mut cluster, "c1");
    // Only half a second of the next sample lies in the window, so the one after it counts.
    let now_ms = 10 * SLOT + 2_500;
    used(&mut cluster, "c1", 1.0, now_ms - 2_500);
    cluster.reprovision(node, now_ms);
    assert_eq!(left(&mut cluster, node, 3, now_ms), [0.0, 0.0, 3.0]);

    let (mut cluster, node) = one_running(enabled());
    be_slow(&mut cluster, "c1");
    used(&mut cluster, "c1", 1.0, now_ms - 1_500);
    cluster.reprovision(node, now_ms);
    assert_eq!(left(&mut cluster, node, 4, now_ms), [0.0, 0.0, 0.0, 3.0]);
    assert!(!used(&mut cluster, "c1", 1.5, now_ms + 1_500));
    assert!(used(&mut cluster, "c1", 2.0, now_ms + 4_500));
    assert_eq!(left(&mut cluster, node, 1, now_ms + 4_500), [2.0]);
}

#[test]
fn the_rest_of_the_demand_is_scaled_by_the_use_in_the_window() {
    let (mut cluster, node) = with_window();
    assert!(used(&mut cluster, "c1", 2.0, 11 * SLOT));
    let done = done(&mut cluster);
    let [Correction::Measured { factors, .. }] = done[..] else {
        panic!("{done:?}");
    };
    assert_eq!(factors.to_array(), [2.0, 1.0, 1.0, 1.0]);
    assert_eq!(left(&mut cluster, node, 2, 11 * SLOT), [2.0, 2.0]);
}

#[test]
fn a_scaled_demand_is_capped_at_the_nodes_capacity() {
    let (mut cluster, node) = one_running(enabled());
    run(&mut cluster, node, "c2", &[2.0; 20], 0);
    be_slow(&mut cluster, "c2");
    cluster.reprovision(node, 10 * SLOT);
    used(&mut cluster, "c2", 6.0, 11 * SLOT);
    assert_eq!(left(&mut cluster, node, 1, 11 * SLOT), [-1.0], "4 and 1 of 4");
}

#[test]
fn memory_in_use_stays_expected() {
    let (mut cluster, node) = with_window();
    cluster.measured_memory("c1", 3e9);
    used_all(&mut cluster, "c1", [1.0, 0.1e9, 0.0, 0.0], 11 * SLOT);
    let entry = cluster.node(node).unwrap();
    assert_eq!(entry.node.expected_at(11 * SLOT).memory_bytes, 3e9);
}

#[test]
fn an_executor_on_time_gets_no_window() {
    let (mut cluster, node) = one_running(enabled());
    report_progress(&mut cluster, "c1", 0.0, 0);
    report_progress(&mut cluster, "c1", 0.46, 10 * SLOT);
    assert!(!cluster.reprovision(node, 10 * SLOT), "1.09 times");
    report_progress(&mut cluster, "c1", 0.45, 10 * SLOT);
    assert!(cluster.reprovision(node, 10 * SLOT), "1.11 times");
}

#[test]
fn nothing_is_reprovisioned_without_the_setting_or_where_the_core_does_not_decide() {
    let (mut cluster, node) = one_running(None);
    be_slow(&mut cluster, "c1");
    assert!(!cluster.reprovision(node, 10 * SLOT));
    let (mut cluster, node) = one_running(enabled());
    cluster.state.nodes.enforce(false);
    be_slow(&mut cluster, "c1");
    assert!(!cluster.reprovision(node, 10 * SLOT));
}

#[test]
fn one_executor_at_a_time_gets_a_window_the_slowest_first() {
    let (mut cluster, node) = one_running(enabled());
    run(&mut cluster, node, "c2", &[1.0; 20], 0);
    be_slow(&mut cluster, "c1");
    report_progress(&mut cluster, "c2", 0.0, 0);
    report_progress(&mut cluster, "c2", 0.2, 10 * SLOT);
    cluster.reprovision(node, 10 * SLOT);
    cluster.reprovision(node, 10 * SLOT + 1);
    let opened = cluster.take_reprovisioned();
    assert_eq!(opened.len(), 1);
    assert_eq!(&*opened[0].container, "c2");
    used(&mut cluster, "c2", 1.0, 11 * SLOT);
    cluster.take_reprovisioned();
    cluster.reprovision(node, 11 * SLOT);
    assert_eq!(&*cluster.take_reprovisioned()[0].container, "c1");
}

#[test]
fn no_executor_gets_two_windows_within_a_minute() {
    let (mut cluster, node) = with_window();
    used(&mut cluster, "c1", 2.0, 11 * SLOT);
    for slot in 12..30 {
        report_progress(&mut cluster, "c1", 0.25, slot * SLOT);
        cluster.reprovision(node, slot * SLOT);
    }
    let opened = |cluster: &mut Cluster| {
        let done = done(cluster);
        done.iter().filter(|one| matches!(one, Correction::Opened { .. })).count()
    };
    assert_eq!(opened(&mut cluster), 0);
    cluster.reprovision(node, 30 * SLOT);
    assert_eq!(opened(&mut cluster), 1);
}

#[test]
fn an_executor_that_uses_its_prediction_has_its_own_pace() {
    let (mut cluster, node) = with_window();
    used(&mut cluster, "c1", 1.0, 11 * SLOT);
    // Half the expected speed is now its own pace.
    report_progress(&mut cluster, "c1", 0.75, 31 * SLOT);
    assert!(!cluster.reprovision(node, 31 * SLOT));
    report_progress(&mut cluster, "c1", 0.75, 36 * SLOT);
    assert!(cluster.reprovision(node, 36 * SLOT), "slower than its own pace");
}

/// An executor with these amounts in each of 20 slots, in its window, on a node with a disk.
fn with_window_of(amounts: [f64; 4]) -> (Cluster, NodeId) {
    let (mut cluster, node) =
        cluster_of_one(ClusterSettings { fresh_for_ms: i64::MAX, ..settings() });
    cluster.reported(node, Resources::from_array([4.0, 8e9, 0.0, 400e6]), 0);
    cluster.reprovision_by(Some(ReprovisionSettings::default()));
    let slots = [Resources::from_array(amounts); 20];
    let demands = executors(Demand::series(crate::SLOT_MS, &slots).unwrap(), 0.0);
    let application = application(&mut cluster, demands);
    record(&mut cluster, "c1", application, node, 4, 0);
    be_slow(&mut cluster, "c1");
    assert!(cluster.reprovision(node, 10 * SLOT));
    (cluster, node)
}

/// An executor held up by unplanned load: it uses half of its prediction in its window.
fn held_up() -> (Cluster, NodeId) {
    let (mut cluster, node) = with_window();
    assert!(used(&mut cluster, "c1", 0.5, 11 * SLOT));
    (cluster, node)
}

#[test]
fn a_held_up_executor_keeps_its_demand_and_may_get_another_window() {
    let (mut cluster, node) = held_up();
    let because = NotMeasured::HeldUp;
    assert_eq!(done(&mut cluster), [Correction::Returned { because }]);
    assert_eq!(left(&mut cluster, node, 1, 11 * SLOT), [3.0]);
    // As slow as before, and that is not its own pace.
    report_progress(&mut cluster, "c1", 0.75, 31 * SLOT);
    assert!(cluster.reprovision(node, 31 * SLOT));
}

#[test]
fn more_use_of_one_resource_and_less_of_another_lowers_neither() {
    let (mut cluster, node) = with_window_of([1.0, 1e9, 0.0, 40e6]);
    used_all(&mut cluster, "c1", [0.5, 1e9, 0.0, 80e6], 11 * SLOT);
    let entry = cluster.node(node).unwrap();
    let expected = entry.node.expected_at(11 * SLOT);
    assert_eq!((expected.cpu_cores, expected.disk_bytes_per_s), (1.0, 80e6));
}
