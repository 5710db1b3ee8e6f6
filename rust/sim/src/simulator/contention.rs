//! The model of executors whose total demand exceeds their machine, with all of its parameters.
//!
//! - **CPU, network and disk** are shared out in proportion to demand. Executors that want the same
//!   scarce resource all progress at the same fraction of their full speed; the rest of another
//!   resource goes to the other executors. So an executor's progress is the smallest share over demand
//!   among the resources that it uses.
//! - **Network and disk lose throughput** while more is wanted than there is (Prophet, section II):
//!   seeks between streams, retransmissions.
//! - **Memory** demand above capacity spills: everything on the machine slows down. Far above
//!   capacity, the executor that started last is killed and starts anew.

use elastane_core::{Resource, Resources};

/// The parameters of the model.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Contention {
    /// The fraction of the network's throughput that is lost at infinite demand; half of it is lost at
    /// a demand of twice the capacity.
    pub network_loss: f64,
    /// The same for the disk.
    pub disk_loss: f64,
    /// Slowdown = 1 + this · (memory demand ÷ capacity − 1): at 3, with a demand a tenth above
    /// capacity everything takes 1.3 times as long.
    pub spill_slowdown: f64,
    /// Memory demand over capacity above which an executor is killed.
    pub kill_above: f64,
}

impl Default for Contention {
    fn default() -> Self {
        // Memory by `docs/decisions/0046-what-a-shortage-of-memory-costs-is-measured.md`.
        Self { network_loss: 0.1, disk_loss: 0.3, spill_slowdown: 3.0, kill_above: 1.2 }
    }
}

impl Contention {
    /// How fast each executor progresses, 1 being undisturbed, appended to the emptied `rates`.
    /// A resource of capacity 0 is unknown and slows nobody.
    pub fn rates(&self, capacity: Resources, demands: &[Resources], rates: &mut Vec<f64>) {
        rates.clear();
        rates.resize(demands.len(), 1.0);
        let wanted = demands.iter().copied().sum();
        if self.is_enough(capacity, wanted) {
            return;
        }
        self.fill(capacity, demands, wanted, rates);
        let slowdown = self.spill_slowdown(capacity, wanted);
        for rate in rates {
            *rate /= slowdown;
        }
    }

    /// Whether memory is so short that an executor is killed.
    pub fn kills(&self, capacity: Resources, wanted: Resources) -> bool {
        capacity.memory_bytes > 0.0 && wanted.memory_bytes > self.kill_above * capacity.memory_bytes
    }

    fn is_enough(&self, capacity: Resources, wanted: Resources) -> bool {
        Resource::ALL.into_iter().all(|resource| {
            let capacity = capacity.get(resource);
            capacity == 0.0 || wanted.get(resource) <= capacity
        })
    }

    /// Raises all rates together until a resource is used up; those who use it stay there, the
    /// others go on.
    fn fill(
        &self,
        capacity: Resources,
        demands: &[Resources],
        wanted: Resources,
        rates: &mut [f64],
    ) {
        let mut left = self.throughput(capacity, wanted);
        let mut wanted = wanted;
        let mut open: Vec<usize> = (0..demands.len()).collect();
        let mut scarce = Resource::FLOWS.to_vec();
        scarce.retain(|resource| capacity.get(*resource) > 0.0);
        loop {
            let share = |resource: &Resource| {
                let wanted = wanted.get(*resource);
                let enough = wanted <= left.get(*resource) || wanted <= 0.0;
                if enough { 1.0 } else { left.get(*resource).max(0.0) / wanted }
            };
            let least = scarce
                .iter()
                .map(|resource| (share(resource), *resource))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((rate, bottleneck)) = least.filter(|(rate, _)| *rate < 1.0) else {
                return;
            };
            scarce.retain(|resource| *resource != bottleneck);
            open.retain(|at| {
                let held = demands[*at].get(bottleneck) > 0.0;
                if held {
                    rates[*at] = rate;
                    wanted -= demands[*at];
                    left -= demands[*at] * rate;
                }
                !held
            });
        }
    }

    /// The machine's throughput at this demand.
    fn throughput(&self, capacity: Resources, wanted: Resources) -> Resources {
        let reduced = |resource: Resource, loss: f64| {
            let (capacity, wanted) = (capacity.get(resource), wanted.get(resource));
            if wanted > capacity {
                capacity * (1.0 - loss * (1.0 - capacity / wanted))
            } else {
                capacity
            }
        };
        Resources {
            network_bytes_per_s: reduced(Resource::Network, self.network_loss),
            disk_bytes_per_s: reduced(Resource::Disk, self.disk_loss),
            ..capacity
        }
    }

    fn spill_slowdown(&self, capacity: Resources, wanted: Resources) -> f64 {
        if capacity.memory_bytes == 0.0 {
            return 1.0;
        }
        let beyond = (wanted.memory_bytes / capacity.memory_bytes - 1.0).max(0.0);
        1.0 + self.spill_slowdown * beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: Resources = Resources::from_array([4.0, 10.0, 100.0, 100.0]);

    fn rates(demands: &[[f64; 4]]) -> Vec<f64> {
        let demands: Vec<_> = demands.iter().copied().map(Resources::from_array).collect();
        let mut rates = Vec::new();
        Contention::default().rates(CAPACITY, &demands, &mut rates);
        rates
    }

    #[test]
    fn what_fits_is_not_slowed_down() {
        assert_eq!(rates(&[[2.0, 5.0, 50.0, 50.0]; 2]), [1.0, 1.0]);
        assert_eq!(rates(&[]), [0.0; 0]);
    }

    #[test]
    fn a_scarce_resource_is_shared_in_proportion_to_demand() {
        assert_eq!(rates(&[[6.0, 1.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0]]), [0.5, 0.5]);
    }

    #[test]
    fn what_slowed_executors_leave_is_there_for_the_others() {
        // CPU halves the first two, who then use 60 of the network.
        let slowed = [4.0, 1.0, 60.0, 0.0];
        let network_alone = [0.0, 1.0, 30.0, 0.0];
        let contention = Contention { network_loss: 0.0, ..Contention::default() };
        let demands = [slowed, slowed, network_alone].map(Resources::from_array);
        let mut rates = Vec::new();
        contention.rates(CAPACITY, &demands, &mut rates);
        assert_eq!(rates, [0.5, 0.5, 1.0]);
    }

    #[test]
    fn a_contended_disk_gets_less_done() {
        // Twice what there is: half of the loss of 30 %.
        let rates = rates(&[[0.0, 0.0, 0.0, 100.0]; 2]);
        assert!(rates.iter().all(|rate| (rate - 0.425).abs() < 1e-12), "{rates:?}");
    }

    #[test]
    fn without_losses_a_contended_disk_and_network_get_all_done() {
        let demands = [[0.0, 0.0, 50.0, 100.0], [0.0, 0.0, 150.0, 100.0]];
        let demands = demands.map(Resources::from_array);
        let mut rates = Vec::new();
        let contention = Contention { network_loss: 0.0, disk_loss: 0.0, ..Contention::default() };
        contention.rates(CAPACITY, &demands, &mut rates);
        assert_eq!(rates, [0.5, 0.5]);
    }

    #[test]
    fn memory_beyond_what_there_is_slows_everything_down_and_then_kills() {
        let rates = rates(&[[0.0, 5.5, 0.0, 0.0]; 2]);
        assert!(rates.iter().all(|rate| (rate - 1.0 / 1.3).abs() < 1e-12), "{rates:?}");
        let memory = |bytes| Resources::from_array([0.0, bytes, 0.0, 0.0]);
        assert!(!Contention::default().kills(CAPACITY, memory(12.0)));
        assert!(Contention::default().kills(CAPACITY, memory(12.1)));
    }

    #[test]
    fn a_resource_that_is_not_known_holds_nobody_up() {
        let mut rates = Vec::new();
        let demands = [Resources::from_array([1.0; 4])];
        Contention::default().rates(Resources::ZERO, &demands, &mut rates);
        assert_eq!(rates, [1.0]);
    }
}
