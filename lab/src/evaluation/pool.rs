//! The weighted values that one resource may have at one moment, and the cost of bounding them.

/// The corners of the convex hull of (bound, weight of the values up to it).
///
/// The cost of a bound `b`, `b ÷ scale + price · P(value > b)`, is linear in `b` and in that weight, so at
/// any price the cheapest bound is a corner.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    /// From no bound to the largest value.
    corners: Vec<Corner>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Corner {
    pub(super) bound: f64,
    /// The weight of the values that do not exceed the bound.
    pub(super) weight_upto: f64,
    /// The rise of the bound per unit of weight since the previous corner.
    rise: f64,
}

const NO_BOUND: Corner = Corner { bound: 0.0, weight_upto: 0.0, rise: f64::NEG_INFINITY };

impl Pool {
    /// Of (value, weight) pairs, values at least 0 and weights above 0.
    pub(super) fn new(mut values: Vec<(f64, f64)>) -> Self {
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut corners = vec![NO_BOUND];
        let mut weight_upto = 0.0;
        for (bound, weight) in values {
            weight_upto += weight;
            let mut rise = f64::NEG_INFINITY;
            while let Some(last) = corners.last() {
                rise = (bound - last.bound) / (weight_upto - last.weight_upto);
                if rise > last.rise {
                    break;
                }
                corners.pop();
            }
            corners.push(Corner { bound, weight_upto, rise });
        }
        Self { corners }
    }

    pub(super) fn weight(&self) -> f64 {
        self.corners.last().map_or(0.0, |all| all.weight_upto)
    }

    /// The cheapest bound; of equally cheap ones the largest, so that the bound never falls while the
    /// price rises.
    pub(super) fn cheapest(&self, price: f64, scale: f64) -> Corner {
        let worth = price * scale / self.weight();
        let worth_it = self.corners.partition_point(|corner| corner.rise <= worth);
        let last = worth_it.checked_sub(1).and_then(|it| self.corners.get(it));
        last.copied().unwrap_or(NO_BOUND)
    }

    pub(super) fn bound(&self, price: f64, scale: f64) -> f64 {
        self.cheapest(price, scale).bound
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
        assert_eq!(pool.cheapest(89.0, 1.0).weight_upto, 9.0);
        // At a price near 0 no bound is worth its cost.
        assert_eq!(pool.cheapest(1.0, 1.0).weight_upto, 0.0);
    }

    /// Every value tried, in ascending order.
    fn plainly_cheapest(values: &[(f64, f64)], price: f64) -> f64 {
        let weight: f64 = values.iter().map(|(_, weight)| weight).sum();
        let cost = |bound: f64| {
            let above = values.iter().filter(|(value, _)| *value > bound);
            bound + price * above.map(|(_, weight)| weight).sum::<f64>() / weight
        };
        let bounds = values.iter().map(|(value, _)| *value);
        bounds.chain([0.0]).map(cost).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn no_other_bound_is_cheaper(
            values in proptest::collection::vec((0..9_u8, 1..4_u8), 1..30),
            price in 0.0..40.0,
        ) {
            let values: Vec<(f64, f64)> =
                values.into_iter().map(|(value, weight)| (value.into(), weight.into())).collect();
            let pool = Pool::new(values.clone());
            let Corner { bound, weight_upto, .. } = pool.cheapest(price, 1.0);
            let upto = values.iter().filter(|(value, _)| *value <= bound);
            // A bound of 0 before any value does not count the zeros.
            prop_assert!(weight_upto == 0.0 || weight_upto == upto.map(|(_, w)| w).sum::<f64>());
            let cost = bound + price * (1.0 - weight_upto / pool.weight());
            prop_assert!((cost - plainly_cheapest(&values, price)).abs() < 1e-9);
        }

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
