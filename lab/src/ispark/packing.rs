//! iSpark: an application with low utilization releases executors, and gets them back when it slows
//! down.
//!
//! iSpark (Yang et al., IEEE BigData 2019). Usage is a fraction of an executor's size, per resource;
//! the largest is the executor's *dominant factor*. Executors are packed best fit decreasing by that
//! factor: the executor with the lowest usage hands its work to the one that is then fullest, as long
//! as no resource exceeds `min(θ, Umax)`.
//!
//! Departures from the paper: Umax, the highest usage in earlier iterations, is a value per resource;
//! and network and disk can count beside CPU and memory.

use elastane_core::{Resource, Resources};

use super::parameters::IsparkParameters;

/// The latest iteration of an application.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatestIteration {
    /// The time that it took.
    pub elapsed_ms: i64,
    /// The time that it takes with all executors.
    pub expected_ms: i64,
    /// Umax: the highest usage of an executor in earlier iterations.
    pub highest: Resources,
}

/// The change of an application's executors after an iteration.
#[derive(Debug, Clone, PartialEq)]
pub enum Provision {
    /// No change.
    Keep,
    /// Givers hand their work and cached data to receivers and end, in this order.
    Pack(Vec<Handover>),
    /// The application is slow: it gets executors back.
    Reprovision,
}

/// The giver ends and the receiver takes over; both are positions in the given list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handover {
    /// The executor that ends.
    pub giver: usize,
    /// The executor that takes over the giver's work.
    pub receiver: usize,
}

/// The change after an iteration with this usage of the executors.
pub fn provision(
    usage: &[Resources],
    iteration: &LatestIteration,
    parameters: &IsparkParameters,
) -> Provision {
    if iteration.elapsed_ms as f64 > parameters.slowdown * iteration.expected_ms as f64 {
        return Provision::Reprovision;
    }
    let mean = usage.iter().map(|usage| dominant(*usage)).sum::<f64>() / usage.len() as f64;
    if mean < parameters.trigger {
        let limit = iteration.highest.map(|highest| highest.min(parameters.threshold));
        let handovers = pack(usage, limit);
        if !handovers.is_empty() {
            return Provision::Pack(handovers);
        }
    }
    Provision::Keep
}

/// The handovers that keep each executor within `limit` of each resource. An executor gives or
/// receives, not both.
pub fn pack(usage: &[Resources], limit: Resources) -> Vec<Handover> {
    let mut largest_first: Vec<usize> = (0..usage.len()).collect();
    largest_first.sort_by(|a, b| dominant(usage[*b]).total_cmp(&dominant(usage[*a])));

    let mut used = usage.to_vec();
    let mut gave = vec![false; usage.len()];
    let mut took = vec![false; usage.len()];
    let mut handovers = Vec::new();
    for giver in largest_first.iter().rev().copied() {
        if took[giver] {
            continue;
        }
        let fullest = largest_first
            .iter()
            .copied()
            .filter(|receiver| *receiver != giver && !gave[*receiver])
            .map(|receiver| (receiver, used[receiver] + used[giver]))
            .filter(|(_, together)| within(*together, limit))
            .reduce(|a, b| if dominant(b.1) > dominant(a.1) { b } else { a });
        if let Some((receiver, together)) = fullest {
            used[receiver] = together;
            gave[giver] = true;
            took[receiver] = true;
            handovers.push(Handover { giver, receiver });
        }
    }
    handovers
}

/// The largest share over the resources.
fn dominant(usage: Resources) -> f64 {
    usage.to_array().into_iter().fold(0.0, f64::max)
}

fn within(usage: Resources, limit: Resources) -> bool {
    // Shares are sums of rounded fractions.
    let tolerance = 1e-9;
    Resource::ALL.into_iter().all(|resource| usage.get(resource) <= limit.get(resource) + tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Resources = Resources::from_array([1.0; 4]);

    fn percent(cpu: f64, memory: f64) -> Resources {
        Resources::from_array([cpu / 100.0, memory / 100.0, 0.0, 0.0])
    }

    /// The paper's Figure 4: A, B and C.
    fn figure_4() -> [Resources; 3] {
        [percent(30.0, 40.0), percent(30.0, 45.0), percent(10.0, 20.0)]
    }

    /// The default θ and h with this γ.
    fn triggered_below(trigger: f64) -> IsparkParameters {
        IsparkParameters { trigger, ..IsparkParameters::default() }
    }

    const C_TO_B: Handover = Handover { giver: 2, receiver: 1 };

    fn iteration(elapsed_ms: i64, highest: Resources) -> LatestIteration {
        LatestIteration { elapsed_ms, expected_ms: 1_000, highest }
    }

    #[test]
    fn in_figure_4_c_gives_to_b() {
        assert_eq!(pack(&figure_4(), WHOLE), [C_TO_B]);
    }

    #[test]
    fn in_figure_4_packing_by_cpu_alone_would_pass_the_memory() {
        let cpu_alone = figure_4().map(|usage| Resources { memory_bytes: 0.0, ..usage });
        let handovers = pack(&cpu_alone, WHOLE);
        assert_eq!(handovers.len(), 2);
        assert!(handovers.iter().all(|one| one.receiver == handovers[0].receiver));
        let memory: f64 = figure_4().iter().map(|usage| usage.memory_bytes).sum();
        assert!((memory - 1.05).abs() < 1e-12);
    }

    #[test]
    fn a_receiver_takes_from_several_while_they_fit() {
        let usage = [10.0, 50.0, 20.0, 15.0].map(|cpu| percent(cpu, cpu));
        let handovers = pack(&usage, WHOLE);
        assert!(handovers.iter().all(|one| one.receiver == 1), "{handovers:?}");
        assert_eq!(handovers.iter().map(|one| one.giver).collect::<Vec<_>>(), [0, 3, 2]);
    }

    #[test]
    fn no_resource_exceeds_its_highest_earlier_usage() {
        let pack_to = |highest| {
            let parameters = triggered_below(0.5);
            provision(&figure_4(), &iteration(1_000, highest), &parameters)
        };
        assert_eq!(pack_to(percent(40.0, 65.0)), Provision::Pack(vec![C_TO_B]));
        let c_to_a = Handover { giver: 2, receiver: 0 };
        assert_eq!(pack_to(percent(40.0, 64.0)), Provision::Pack(vec![c_to_a]));
        assert_eq!(pack_to(percent(39.0, 65.0)), Provision::Keep);
    }

    #[test]
    fn theta_is_a_bound_too() {
        let parameters = IsparkParameters { threshold: 0.6, ..triggered_below(0.5) };
        let got = provision(&figure_4(), &iteration(1_000, WHOLE), &parameters);
        let c_to_a = Handover { giver: 2, receiver: 0 };
        assert_eq!(got, Provision::Pack(vec![c_to_a]));
    }

    #[test]
    fn packing_starts_below_gamma_only() {
        // The mean dominant factor is 35 %.
        for (trigger, expected) in [(0.36, Provision::Pack(vec![C_TO_B])), (0.34, Provision::Keep)]
        {
            let parameters = triggered_below(trigger);
            let got = provision(&figure_4(), &iteration(1_000, WHOLE), &parameters);
            assert_eq!(got, expected, "{trigger}");
        }
    }

    #[test]
    fn an_iteration_of_more_than_h_times_its_time_gets_executors_back() {
        let parameters = triggered_below(0.5);
        let after = |elapsed_ms| provision(&figure_4(), &iteration(elapsed_ms, WHOLE), &parameters);
        assert_eq!(after(1_101), Provision::Reprovision);
        assert_eq!(after(1_100), Provision::Pack(vec![C_TO_B]));
    }

    #[test]
    fn without_executors_or_with_nan_nothing_is_packed() {
        assert_eq!(pack(&[], WHOLE), []);
        assert_eq!(pack(&[WHOLE.map(|_| f64::NAN); 3], WHOLE), []);
        assert_eq!(pack(&[WHOLE * 0.1; 3], WHOLE.map(|_| f64::NAN)), []);
        let parameters = triggered_below(0.5);
        assert_eq!(provision(&[], &iteration(1_000, WHOLE), &parameters), Provision::Keep);
    }
}
