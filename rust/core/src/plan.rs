//! The limit plan: how much CPU a container may have over the coming time.

use elastane_protocol::CpuStep;

use crate::running::Running;

/// Steps that differ by less than this fraction are one step: each change of a limit is a write
/// into the kernel, and a prediction is not that sharp.
const SAME_STEP: f64 = 0.1;

/// Below this weight a container could not answer a heartbeat on a busy node.
const LEAST_WEIGHT_CORES: f64 = 0.05;

/// What the plan of one container follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuPlanSettings {
    /// How far ahead, in milliseconds.
    pub valid_for_ms: u32,
    /// On top of the predicted use.
    pub margin: f64,
    /// The cap as a multiple of the planned use, never below the request; none leaves the CPU
    /// work-conserving, so that only shares count.
    pub cap_ratio: Option<f64>,
    /// What the container asked for, in cores.
    pub request_cores: f64,
}

/// Weight and cap of `executor` from `now_ms` on, as steps.
///
/// weight(t) = demand(t) · (1 + margin); cap(t) = max(weight(t) · cap ratio, request).
#[must_use]
pub fn cpu_plan(executor: &Running, now_ms: i64, settings: &CpuPlanSettings) -> Vec<CpuStep> {
    let slot_ms = executor.demand.slot_ms();
    let elapsed_ms = now_ms.saturating_sub(executor.start_ms).max(0);
    let into_slot_ms = u32::try_from(elapsed_ms % i64::from(slot_ms)).unwrap_or(0);
    let mut steps: Vec<CpuStep> = Vec::new();
    let mut offset_ms = 0;
    while offset_ms < settings.valid_for_ms {
        let expected = executor
            .demand
            .at(elapsed_ms.saturating_add(i64::from(offset_ms)))
            .cpu_cores;
        let weight = (expected * (1.0 + settings.margin)).max(LEAST_WEIGHT_CORES);
        let differs = steps.last().is_none_or(|last| {
            let last = f64::from(last.weight_cores);
            (weight - last).abs() > SAME_STEP * last
        });
        if differs {
            let cap = settings
                .cap_ratio
                .map(|ratio| (weight * ratio).max(settings.request_cores) as f32);
            steps.push(CpuStep {
                offset_ms,
                weight_cores: weight as f32,
                cap_cores: cap,
            });
        }
        offset_ms = if offset_ms == 0 {
            slot_ms - into_slot_ms
        } else {
            offset_ms.saturating_add(slot_ms)
        };
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Demand, Resources};

    fn executor(cores: &[f64]) -> Running {
        let slots: Vec<_> = cores
            .iter()
            .map(|cores| Resources::from_array([*cores, 0.0, 0.0, 0.0]))
            .collect();
        Running::new(1_000, Demand::series(3_000, &slots).unwrap())
    }

    fn settings(cap_ratio: Option<f64>) -> CpuPlanSettings {
        CpuPlanSettings {
            valid_for_ms: 12_000,
            margin: 0.0,
            cap_ratio,
            request_cores: 0.75,
        }
    }

    fn weights(steps: &[CpuStep]) -> Vec<(u32, f32)> {
        steps
            .iter()
            .map(|step| (step.offset_ms, step.weight_cores))
            .collect()
    }

    #[test]
    fn steps_follow_the_demand_from_now_on() {
        let executor = executor(&[1.0, 2.0, 0.5]);
        let steps = cpu_plan(&executor, 2_000, &settings(None));
        assert_eq!(weights(&steps), [(0, 1.0), (2_000, 2.0), (5_000, 0.5)]);
        assert!(steps.iter().all(|step| step.cap_cores.is_none()));
    }

    #[test]
    fn like_steps_are_one() {
        let steps = cpu_plan(&executor(&[1.0, 1.05, 0.95, 1.0]), 1_000, &settings(None));
        assert_eq!(weights(&steps), [(0, 1.0)]);
    }

    #[test]
    fn a_cap_is_never_below_the_request() {
        let steps = cpu_plan(&executor(&[1.0, 0.1]), 1_000, &settings(Some(1.5)));
        let caps: Vec<_> = steps.iter().map(|step| step.cap_cores).collect();
        assert_eq!(caps, [Some(1.5), Some(0.75)]);
    }

    #[test]
    fn what_outlives_its_prediction_keeps_its_last_weight() {
        let steps = cpu_plan(&executor(&[1.0, 0.5]), 90_000, &settings(None));
        assert_eq!(weights(&steps), [(0, 0.5)]);
    }
}
