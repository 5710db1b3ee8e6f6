//! Draws for generated workloads.

pub use elastane_sim::random::{Purpose, Random};

/// Draws that only generated workloads need.
pub trait Draw {
    /// Exponential with this mean.
    fn exponential(&mut self, mean: f64) -> f64;

    /// The index of one of `items`, of which there is at least one.
    fn index(&mut self, items: usize) -> usize;

    /// Puts the items into random order.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

impl Draw for Random {
    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    fn index(&mut self, items: usize) -> usize {
        (self.unit() * items as f64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_have_their_mean() {
        let mut random = Random::new(1, Purpose::Workload);
        let mean = (0..10_000).map(|_| random.exponential(25.0)).sum::<f64>() / 1e4;
        assert!((mean - 25.0).abs() < 0.5, "{mean}");
    }
}
