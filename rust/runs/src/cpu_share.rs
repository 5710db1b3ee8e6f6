//! How much sooner a container would have done the same on a free node.

/// What a container had of its node's CPU over some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuShare {
    /// The share of the time in which it had something to compute: while it computed, and while it waited for
    /// a core that others had.
    active: f64,
    /// The share of the time in which a free node computes the same.
    computing: f64,
}

impl CpuShare {
    /// Of a container that used `used_cores` and in which `waited_threads` were ready to run and had no core, on
    /// average; on a node of `node_cores`, 0 if they are not known, whose containers had `ready_threads`
    /// altogether, computing or waiting.
    ///
    /// A container cannot crowd itself out: of its waits W, those count that others caused, as much as they had
    /// of the ready threads, W' = W · (1 − (R + W) ÷ ready). Then it is taken to have been active for
    /// a = min(1, R + W') of the time, on n = max(1, R + W') threads, which on a free node run on min(n, C)
    /// cores.
    pub fn new(used_cores: f64, waited_threads: f64, node_cores: f64, ready_threads: f64) -> Self {
        let own = used_cores + waited_threads;
        let of_others = if own > 0.0 { (1.0 - own / ready_threads.max(own)).max(0.0) } else { 0.0 };
        let wanted = used_cores + waited_threads * of_others;
        let threads = wanted.max(1.0);
        let cores = if node_cores > 0.0 { threads.min(node_cores) } else { threads };
        let active = wanted.min(1.0);
        Self { active, computing: (used_cores / cores).min(active) }
    }

    /// The share of the time that the same takes on free nodes, 0 to 1.
    ///
    /// What is not active takes as long as before, except while it waits for the application master: as long as
    /// that was active meanwhile, it would have been ready sooner by what it lost itself.
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

    fn left(used: f64, waited: f64, cores: f64, ready: f64) -> f64 {
        CpuShare::new(used, waited, cores, ready).left_on_free_nodes(None)
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
        let many = 1e12;
        assert_near(left(0.5, 0.5, 24.0, many), 0.5);
        // It slept for half of the time.
        assert_near(left(0.25, 0.25, 24.0, many), 0.75);
        // Four threads on two cores.
        assert_near(left(2.0, 2.0, 24.0, many), 0.5);
    }

    #[test]
    fn a_free_node_has_no_more_cores_than_it_has() {
        assert_near(left(2.0, 6.0, 4.0, 1e12), 0.5);
        assert_near(left(4.0, 4.0, 4.0, 1e12), 1.0);
    }

    #[test]
    fn a_container_alone_on_its_node_has_lost_nothing() {
        assert_near(left(2.0, 6.0, 2.0, 8.0), 1.0);
        assert_near(left(0.3, 0.2, 0.6, 0.5), 1.0);
        // Nothing is known of the others.
        assert_near(left(0.5, 0.5, 24.0, 0.0), 1.0);
    }

    #[test]
    fn of_two_alike_each_has_waited_for_the_other_half_of_the_time() {
        // W' = 0.25: active for 0.75, of which 0.5 are left.
        assert_near(left(0.5, 0.5, 1.0, 2.0), 0.75);
    }

    #[test]
    fn an_idle_executor_waits_for_its_application_master_while_that_is_active() {
        let idle = CpuShare::new(0.0, 0.0, 24.0, 1e12);
        let master = CpuShare::new(0.2, 0.6, 24.0, 1e12);
        assert_near(idle.left_on_free_nodes(Some(&master)), 0.4);
        // It computes half of the time: the master was active in half of five eighths of that.
        let half = CpuShare::new(0.5, 0.0, 24.0, 1e12);
        assert_near(half.left_on_free_nodes(Some(&master)), 0.5 + 0.5 - 0.5 * 0.75);
        let busy = CpuShare::new(1.0, 0.0, 24.0, 1e12);
        assert_near(busy.left_on_free_nodes(Some(&master)), 1.0);
        assert_near(idle.left_on_free_nodes(Some(&idle)), 1.0);
    }
}
