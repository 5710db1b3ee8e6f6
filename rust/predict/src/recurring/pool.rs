//! What one resource may be at one moment, as weighted values.

/// Values in ascending order, each with the weight of all that are at most as large.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pool {
    values: Vec<(f64, f64)>,
}

impl Pool {
    /// Of values with their weights.
    pub(crate) fn new(mut values: Vec<(f64, f64)>) -> Self {
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut upto = 0.0;
        for (_, weight) in &mut values {
            upto += *weight;
            *weight = upto;
        }
        Self { values }
    }

    pub(crate) fn weight(&self) -> f64 {
        self.values.last().map_or(0.0, |(_, upto)| *upto)
    }

    /// The weight of what is at most as large as `bound`.
    pub(crate) fn weight_upto(&self, bound: f64) -> f64 {
        let count = self.values.partition_point(|(value, _)| *value <= bound);
        let last = count.checked_sub(1).and_then(|last| self.values.get(last));
        last.map_or(0.0, |(_, upto)| *upto)
    }

    /// The bound `b` with the least `b ÷ scale + price · P(value > b)`; of those that cost the same
    /// the largest, so that it never falls while the price rises.
    pub(crate) fn bound(&self, price: f64, scale: f64) -> f64 {
        let weight = self.weight();
        let (mut best, mut least) = (0.0, price);
        for (value, upto) in &self.values {
            let cost = value / scale + price * (1.0 - upto / weight);
            if cost <= least {
                (best, least) = (*value, cost);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rare_peak_is_covered_only_for_its_price() {
        let pool = Pool::new(vec![(10.0, 1.0), (1.0, 9.0)]);
        // From 1 to 10 it costs 9 more and saves a tenth of the price.
        assert_eq!(pool.bound(89.0, 1.0), 1.0);
        assert_eq!(pool.bound(91.0, 1.0), 10.0);
        assert_eq!(pool.weight_upto(1.0), 9.0);
        assert_eq!(pool.weight_upto(0.5), 0.0);
    }

    proptest! {
        #[test]
        fn a_bound_never_falls_while_the_price_rises(
            values in proptest::collection::vec((0.0..9.0, 0.1..2.0), 1..30),
            price in 0.0..40.0,
            more in 0.0..40.0,
        ) {
            let pool = Pool::new(values);
            prop_assert!(pool.bound(price, 1.0) <= pool.bound(price + more, 1.0));
        }
    }
}
