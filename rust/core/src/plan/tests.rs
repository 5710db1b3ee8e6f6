use super::*;
use crate::Demand;

const MIB: f64 = 1024.0 * 1024.0;
const GIB: f64 = 1024.0 * MIB;

const CAN_ALL: CanLimit =
    CanLimit { cpu: true, memory: true, disk: true, network_sent: true, network_received: true };
const CAN_CPU: CanLimit = CanLimit {
    cpu: true,
    memory: false,
    disk: false,
    network_sent: false,
    network_received: false,
};
const WORK_CONSERVING: PlanSettings = PlanSettings {
    valid_for_ms: 12_000,
    weighs_cpu: true,
    cpu_cap_ratio: None,
    limits_memory: false,
    disk_cap_ratio: None,
    network_cap_ratio: None,
};
const WITH_MEMORY: PlanSettings =
    PlanSettings { valid_for_ms: 60_000, limits_memory: true, ..WORK_CONSERVING };

fn executor(slots: &[Resources]) -> Running {
    Running::new(1_000, Demand::series(3_000, slots).unwrap())
}

fn of_cores(cores: &[f64]) -> Running {
    let slots: Vec<_> =
        cores.iter().map(|cores| Resources::from_array([*cores, 0.0, 0.0, 0.0])).collect();
    executor(&slots)
}

/// An executor with this memory in each slot, in GiB.
fn of_memory(gib: &[f64]) -> Running {
    let slots: Vec<_> =
        gib.iter().map(|gib| Resources::from_array([1.0, gib * GIB, 0.0, 0.0])).collect();
    executor(&slots)
}

fn plan(settings: &PlanSettings, can_limit: CanLimit) -> LimitPlan<'_> {
    LimitPlan {
        settings,
        can_limit,
        most_steps: 100,
        margin: 0.0,
        request: Resources { cpu_cores: 0.75, memory_bytes: 4.0 * GIB, ..Resources::ZERO },
    }
}

fn weights(steps: &[Step]) -> Vec<(u32, f32)> {
    steps.iter().map(|step| (step.offset_ms, step.limits.cpu_weight_cores.unwrap())).collect()
}

/// Offset in milliseconds and limit in GiB.
fn memory(steps: &[Step]) -> Vec<(u32, f64)> {
    steps
        .iter()
        .map(|step| {
            let bytes = step.limits.memory_bytes.unwrap();
            (step.offset_ms, bytes as f64 / GIB)
        })
        .collect()
}

#[test]
fn steps_follow_the_demand_from_now_on() {
    let executor = of_cores(&[1.0, 2.0, 0.5]);
    let steps = plan(&WORK_CONSERVING, CAN_CPU).steps(&executor, 2_000);
    assert_eq!(weights(&steps), [(0, 1.0), (2_000, 2.0), (5_000, 0.5)]);
    assert!(steps.iter().all(|step| step.limits.cpu_cap_cores.is_none()));
}

#[test]
fn similar_steps_are_merged() {
    let steps = plan(&WORK_CONSERVING, CAN_CPU).steps(&of_cores(&[1.0, 1.05, 0.95, 1.0]), 1_000);
    assert_eq!(weights(&steps), [(0, 1.0)]);
}

#[test]
fn a_cap_is_never_below_the_request() {
    let strict = PlanSettings { cpu_cap_ratio: Some(1.5), ..WORK_CONSERVING };
    let steps = plan(&strict, CAN_CPU).steps(&of_cores(&[1.0, 0.1]), 1_000);
    let caps: Vec<_> = steps.iter().map(|step| step.limits.cpu_cap_cores).collect();
    assert_eq!(caps, [Some(1.5), Some(0.75)]);
}

#[test]
fn an_overdue_executor_keeps_its_last_weight() {
    let steps = plan(&WORK_CONSERVING, CAN_CPU).steps(&of_cores(&[1.0, 0.5]), 90_000);
    assert_eq!(weights(&steps), [(0, 0.5)]);
}

#[test]
fn memory_limits_rise_before_the_demand_and_fall_after_it() {
    let gib = [1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let steps = plan(&WITH_MEMORY, CAN_ALL).steps(&of_memory(&gib), 1_000);
    assert_eq!(
        memory(&steps),
        [(0, 1.0), (6_000, 2.0), (21_000, 1.0), (27_000, 4.0)],
        "two slots before the peak, two after it, and the request from two before its end"
    );
}

#[test]
fn a_memory_step_has_the_largest_limit_within_it() {
    let gib = [1.0, 1.04, 1.08, 1.02, 1.0, 1.0, 1.0, 1.0];
    let until_24_s = PlanSettings { valid_for_ms: 15_000, ..WITH_MEMORY };
    let steps = plan(&until_24_s, CAN_ALL).steps(&of_memory(&gib), 1_000);
    assert_eq!(memory(&steps), [(0, 1.09375)], "1.08 GiB in whole 16 MiB");
}

#[test]
fn a_slow_rise_of_memory_is_several_steps() {
    let gib: Vec<_> = (0..20).map(|slot| 1.0 + 0.05 * f64::from(slot)).collect();
    let steps = plan(&WITH_MEMORY, CAN_ALL).steps(&of_memory(&gib), 1_000);
    let first = memory(&steps)[0].1;
    assert!(first < 1.3, "{first} GiB, where 1 GiB is held at first");
}

#[test]
fn memory_limits_are_at_most_the_request_and_at_least_the_measurement() {
    let with_margin = LimitPlan { margin: 0.5, ..plan(&WITH_MEMORY, CAN_ALL) };
    let mut executor = of_memory(&[3.0; 100]);
    assert_eq!(memory(&with_margin.steps(&executor, 1_000)), [(0, 4.0)]);
    executor.measured_memory_bytes = 5.0 * GIB;
    assert_eq!(memory(&with_margin.steps(&executor, 1_000)), [(0, 7.5)]);
    let mut small = of_memory(&[1.0; 100]);
    small.measured_memory_bytes = 2.0 * GIB;
    assert_eq!(memory(&with_margin.steps(&small, 1_000)), [(0, 3.0)]);
}

#[test]
fn a_memory_limit_falls_below_memory_held_since_an_earlier_peak() {
    let with_margin = LimitPlan { margin: 0.25, ..plan(&WITH_MEMORY, CAN_ALL) };
    let mut gib = vec![2.0; 4];
    gib.extend([1.0; 20]);
    let mut executor = of_memory(&gib);
    executor.measured_memory_bytes = 2.1 * GIB;
    let in_the_valley = 1_000 + 8 * 3_000;
    let of_peak = memory(&with_margin.steps(&executor, in_the_valley));
    assert_eq!(of_peak[0], (0, 1.25), "as predicted, with the margin");
    executor.measured_memory_bytes = 2.6 * GIB;
    let above_it = memory(&with_margin.steps(&executor, in_the_valley));
    assert_eq!(above_it[0], (0, 3.25), "more than any prediction");
}

#[test]
fn memory_above_every_prediction_is_planned_until_the_prediction_reaches_it() {
    let mut gib = vec![1.0; 10];
    gib.extend([2.0; 4]);
    gib.extend([1.0; 20]);
    let mut executor = of_memory(&gib);
    executor.measured_memory_bytes = 1.5 * GIB;
    let steps = memory(&plan(&WITH_MEMORY, CAN_ALL).steps(&executor, 1_000));
    assert_eq!(steps, [(0, 1.5), (24_000, 2.0), (48_000, 1.0)]);
}

#[test]
fn traffic_is_weighed_by_demand_and_capped_only_by_setting() {
    let executor = executor(&[Resources::from_array([1.0, GIB, 40.0 * MIB, 10.0 * MIB])]);
    let limits = |settings: &PlanSettings, can_limit| {
        plan(settings, can_limit).steps(&executor, 1_000)[0].limits
    };
    let weighed = limits(&WORK_CONSERVING, CAN_ALL);
    assert_eq!(weighed.network_weight_bytes_per_s, Some(40 << 20));
    assert_eq!(weighed.network_cap_bytes_per_s, None);
    assert_eq!(weighed.disk_cap_bytes_per_s, None);
    assert_eq!(weighed.memory_bytes, None);

    let strict =
        PlanSettings { disk_cap_ratio: Some(2.0), network_cap_ratio: Some(3.0), ..WORK_CONSERVING };
    let capped = limits(&strict, CAN_ALL);
    assert_eq!(capped.network_cap_bytes_per_s, Some(120 << 20));
    assert_eq!(capped.disk_cap_bytes_per_s, Some(20 << 20));
    let cpu_only = limits(&strict, CAN_CPU);
    assert_eq!(cpu_only.network_weight_bytes_per_s, None);
    assert_eq!(cpu_only.network_cap_bytes_per_s, None);
    assert_eq!(cpu_only.disk_cap_bytes_per_s, None);
}

#[test]
fn an_executor_without_traffic_may_still_log() {
    let strict =
        PlanSettings { disk_cap_ratio: Some(1.0), network_cap_ratio: Some(1.0), ..WORK_CONSERVING };
    let limits = plan(&strict, CAN_ALL).steps(&of_cores(&[1.0]), 1_000)[0].limits;
    assert_eq!(limits.disk_cap_bytes_per_s, Some(4 << 20));
    assert_eq!(limits.network_cap_bytes_per_s, Some(4 << 20));
    assert_eq!(limits.network_weight_bytes_per_s, Some(256 << 10));
}

#[test]
fn an_agent_without_abilities_gets_no_steps() {
    let nothing = CanLimit::default();
    let steps = plan(&WITH_MEMORY, nothing).steps(&of_cores(&[1.0, 2.0]), 1_000);
    assert_eq!(steps, []);
}

#[test]
fn the_last_step_of_a_full_plan_has_the_largest_bounds_of_the_rest() {
    let settings = PlanSettings { cpu_cap_ratio: Some(1.0), ..WITH_MEMORY };
    let two_steps = LimitPlan { most_steps: 2, ..plan(&settings, CAN_ALL) };
    let slots: Vec<_> = [1.0, 1.0, 1.0, 1.5, 2.0, 2.5, 1.0]
        .map(|gib| Resources::from_array([gib, gib * GIB, 0.0, 0.0]))
        .to_vec();
    let steps = two_steps.steps(&executor(&slots), 1_000);
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[1].limits.memory_bytes, Some(4 << 30));
    assert_eq!(steps[1].limits.cpu_cap_cores, Some(2.5));
}
