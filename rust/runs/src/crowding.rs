//! What a container lost to the other containers of its node.

/// How a container was crowded over some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crowding {
    /// The part of the time in which it had something to compute, a: it computed, or waited for a core that
    /// other containers had.
    active: f64,
    /// The part of the time in which a free node computes the same, c.
    computing: f64,
}

/// What an agent measures of a container's CPU over some time, on average.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuMeasured {
    /// Cores used, R.
    pub used_cores: f64,
    /// Threads that were ready to run and had no core, W.
    pub waited_threads: f64,
    /// The part of the time in which the container's own CPU limit held it back, θ.
    pub throttled: f64,
    /// Computing or waiting threads of all containers of the node, T.
    pub ready_threads_of_node: f64,
    /// Cores of the node, C; 0 if they are not known.
    pub node_cores: f64,
}

impl Crowding {
    /// Of its waits, those that other containers caused count: neither those for its own limit, in which all of
    /// its threads wait, nor those for its own threads.
    ///
    /// ```text
    /// W' = (W − θ · (R + W)) · (1 − (R + W) ÷ T)
    /// n  = max(1, R + W')     threads
    /// a  = min(1, R + W')
    /// c  = R ÷ min(n, C)
    /// ```
    pub fn new(cpu: &CpuMeasured) -> Self {
        let own = cpu.used_cores + cpu.waited_threads;
        let unlimited = (cpu.waited_threads - cpu.throttled * own).max(0.0);
        let of_others =
            if own > 0.0 { 1.0 - own / cpu.ready_threads_of_node.max(own) } else { 0.0 };
        let wanted = cpu.used_cores + unlimited * of_others;
        let threads = wanted.max(1.0);
        let cores = if cpu.node_cores > 0.0 { threads.min(cpu.node_cores) } else { threads };
        let active = wanted.min(1.0);
        Self { active, computing: (cpu.used_cores / cores).min(active) }
    }

    /// The part of the time that the same takes on free nodes, 0 to 1: c + 1 − a, less what an idle container
    /// waited for its application master's waits, min(1 − a, a_m) · (1 − c_m ÷ a_m).
    pub fn left_on_free_nodes(&self, master: Option<&Self>) -> f64 {
        let idle = 1.0 - self.active;
        let lost_idle = master.filter(|master| master.active > 0.0).map_or(0.0, |master| {
            idle.min(master.active) * (1.0 - master.computing / master.active)
        });
        (self.computing + idle - lost_idle).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: f64 = 1e12;

    fn crowding(used: f64, waited: f64, cores: f64, ready: f64) -> Crowding {
        Crowding::new(&CpuMeasured {
            used_cores: used,
            waited_threads: waited,
            throttled: 0.0,
            ready_threads_of_node: ready,
            node_cores: cores,
        })
    }

    fn left(used: f64, waited: f64, cores: f64, ready: f64) -> f64 {
        crowding(used, waited, cores, ready).left_on_free_nodes(None)
    }

    fn assert_near(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-9, "{left} is not {right}");
    }

    #[test]
    fn nothing_is_lost_without_waits() {
        for used in [0.0, 0.3, 1.0, 7.5] {
            assert_near(left(used, 0.0, 8.0, 40.0), 1.0);
            assert_near(left(used, 0.0, 0.0, 0.0), 1.0);
        }
    }

    #[test]
    fn on_a_large_crowded_node_a_thread_gets_back_what_it_waited_for() {
        assert_near(left(0.5, 0.5, 24.0, MANY), 0.5);
        // It slept for half of the time.
        assert_near(left(0.25, 0.25, 24.0, MANY), 0.75);
        // Four threads on two cores.
        assert_near(left(2.0, 2.0, 24.0, MANY), 0.5);
    }

    #[test]
    fn a_free_node_has_no_more_cores_than_it_has() {
        assert_near(left(2.0, 6.0, 4.0, MANY), 0.5);
        assert_near(left(4.0, 4.0, 4.0, MANY), 1.0);
    }

    #[test]
    fn a_container_alone_on_its_node_has_lost_nothing() {
        assert_near(left(2.0, 6.0, 2.0, 8.0), 1.0);
        assert_near(left(0.3, 0.2, 0.6, 0.5), 1.0);
        // Nothing is known of other containers.
        assert_near(left(0.5, 0.5, 24.0, 0.0), 1.0);
    }

    #[test]
    fn of_two_alike_each_has_waited_for_the_other_half_of_the_time() {
        // W' = 0.25: active for 0.75, of which 0.5 are left.
        assert_near(left(0.5, 0.5, 1.0, 2.0), 0.75);
    }

    #[test]
    fn what_a_limit_of_its_own_held_back_is_not_lost_to_other_containers() {
        // Eight threads under a limit of one core compute for an eighth of each period.
        let limited = CpuMeasured {
            used_cores: 1.0,
            waited_threads: 7.0,
            throttled: 7.0 / 8.0,
            ready_threads_of_node: 80.0,
            node_cores: 24.0,
        };
        assert_near(Crowding::new(&limited).left_on_free_nodes(None), 1.0);
    }

    #[test]
    fn an_idle_executor_waits_for_its_application_master_while_that_is_active() {
        let idle = crowding(0.0, 0.0, 24.0, MANY);
        let master = crowding(0.2, 0.6, 24.0, MANY);
        assert_near(idle.left_on_free_nodes(Some(&master)), 0.4);
        // It computes half of the time: the master was active in half of five eighths of that.
        let half = crowding(0.5, 0.0, 24.0, MANY);
        assert_near(half.left_on_free_nodes(Some(&master)), 0.5 + 0.5 - 0.5 * 0.75);
        let busy = crowding(1.0, 0.0, 24.0, MANY);
        assert_near(busy.left_on_free_nodes(Some(&master)), 1.0);
        assert_near(idle.left_on_free_nodes(Some(&idle)), 1.0);
    }
}
