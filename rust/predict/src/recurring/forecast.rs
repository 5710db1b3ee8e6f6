//! What the next run may use at each moment, before it starts.

use elastane_core::{Demand, DemandError, Resources};

use super::bursts::bursts;
use super::curve::Curve;
use super::pool::Pool;
use super::ranked::Ranked;
use super::spread::{Spread, levels, mean};
use super::window::Window;

/// An envelope has at most about so many windows.
const MOST_WINDOWS: f64 = 100.0;

/// A window looks this part of a slot beyond itself on both sides: phases begin earlier or later
/// from run to run even where the whole is as long.
const LOOK_BEYOND_SLOTS: f64 = 0.5;

/// Coverage is bought at a price between these, in multiples of the mean use.
const LEAST_PRICE: f64 = 0.5;
const MOST_PRICE: f64 = 2_000.0;

/// So many halvings give the price to a thousandth.
const HALVINGS: u32 = 13;

/// The latest runs as many guesses at the next one: each of them, in any likely length, at any
/// likely level.
#[derive(Debug, Clone)]
pub(crate) struct Forecast {
    window_ms: u32,
    /// Each resource in each window, up to the end of the longest guess.
    windows: Vec<[Pool; 4]>,
    level: [f64; 4],
}

impl Forecast {
    pub(crate) fn new(curves: &[Curve], slot_ms: u32) -> Self {
        let run_levels: Vec<Resources> = curves.iter().map(Curve::level).collect();
        let factors = likely_factors(curves);
        let guesses = guesses(curves);
        let slot_ms = f64::from(slot_ms);
        let longest_ms = guesses.iter().fold(0.0, |most: f64, it| most.max(it.1));
        let window_ms = slot_ms * (longest_ms / slot_ms / MOST_WINDOWS).ceil().max(1.0);
        let beyond_ms = LOOK_BEYOND_SLOTS * slot_ms;
        // A remainder below a thousandth of a window is rounding.
        let count = (longest_ms / window_ms - 1e-3).ceil().max(1.0) as usize;
        let mut ranked: [Ranked; 4] = std::array::from_fn(|at| {
            let slots = curves.iter().flat_map(|curve| curve.used().slots());
            Ranked::new(slots.map(|slot| slot.to_array()[at]), factors[at])
        });
        let mut window = Window::new(curves);
        let windows = (0..count).map(|number| {
            let from_ms = number as f64 * window_ms;
            window.clear();
            for (run, length_ms) in &guesses {
                let from = (from_ms - beyond_ms) / length_ms;
                let to = (from_ms + window_ms + beyond_ms) / length_ms;
                for (slot, part) in curves[*run].parts(from, to) {
                    window.add(*run, slot, part * length_ms);
                }
            }
            ranked
                .each_mut()
                .map(|ranked| Pool::of_ascending(ranked.ascending(&window)))
        });
        Self {
            window_ms: window_ms as u32,
            windows: windows.collect(),
            level: mean(&run_levels).to_array(),
        }
    }

    /// The price of each resource at which the guesses are covered for this part of their time.
    pub(crate) fn prices(&self, coverage: Resources) -> [f64; 4] {
        let wanted = coverage.to_array();
        std::array::from_fn(|at| {
            let (mut least, mut most) = (LEAST_PRICE.ln(), MOST_PRICE.ln());
            for _ in 0..HALVINGS {
                let middle = (least + most) / 2.0;
                if self.covered(at, middle.exp()) < wanted[at] {
                    least = middle;
                } else {
                    most = middle;
                }
            }
            most.exp()
        })
    }

    /// The part of the guesses' time that is covered at this price.
    fn covered(&self, at: usize, price: f64) -> f64 {
        let (covered, all) =
            self.windows
                .iter()
                .map(|pools| &pools[at])
                .fold((0.0, 0.0), |(covered, all), pool| {
                    let bound = pool.cheapest(price, self.level[at].max(f64::MIN_POSITIVE));
                    (covered + bound.weight_upto, all + pool.weight())
                });
        covered / all
    }

    /// The envelope at these prices.
    pub(crate) fn envelope(&self, prices: [f64; 4]) -> Result<Demand, DemandError> {
        let windows: Vec<Resources> = self
            .windows
            .iter()
            .map(|pools| bounds(pools, prices, self.level))
            .collect();
        Demand::series(self.window_ms, &windows)
    }
}

/// Factors by which a slot of each resource may differ from what a run shows.
pub(crate) fn likely_factors(curves: &[Curve]) -> [[f64; 5]; 4] {
    let run_levels: Vec<Resources> = curves.iter().map(Curve::level).collect();
    let mut spreads = levels(&run_levels);
    for (spread, bursts) in spreads.iter_mut().zip(bursts(curves)) {
        spread.deviation = spread.deviation.hypot(bursts);
    }
    spreads.map(Spread::factors)
}

/// The bound of each resource.
pub(crate) fn bounds(pools: &[Pool; 4], prices: [f64; 4], scales: [f64; 4]) -> Resources {
    Resources::from_array(std::array::from_fn(|at| {
        pools[at].bound(prices[at], scales[at].max(f64::MIN_POSITIVE))
    }))
}

/// Each run in its own length and in each likely one, in milliseconds.
fn guesses(curves: &[Curve]) -> Vec<(usize, f64)> {
    let length = Spread::of(curves.iter().map(Curve::length_ms));
    let mut guesses = Vec::new();
    for (run, curve) in curves.iter().enumerate() {
        let own = std::iter::once(curve.length_ms());
        guesses.extend(own.chain(length.likely()).map(|length_ms| (run, length_ms)));
    }
    guesses
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(slots: &[[u8; 4]]) -> Curve {
        let slots = slots
            .iter()
            .map(|slot| Resources::from_array(slot.map(f64::from)));
        let slots: Vec<Resources> = slots.collect();
        Curve::new(&Demand::series(3_000, &slots).unwrap_or_else(|error| panic!("{error}")))
    }

    /// Every value of every guess, one by one.
    fn values(curves: &[Curve], from_ms: f64, to_ms: f64) -> [Vec<(f64, f64)>; 4] {
        let factors = likely_factors(curves);
        let mut values: [Vec<(f64, f64)>; 4] = Default::default();
        for (run, length_ms) in guesses(curves) {
            for (usage, part) in curves[run].between(from_ms / length_ms, to_ms / length_ms) {
                for (at, values) in values.iter_mut().enumerate() {
                    let value = |factor| (usage.to_array()[at] * factor, part * length_ms);
                    values.extend(factors[at].map(value));
                }
            }
        }
        values
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        /// Few amounts, so that many are alike, and runs of several slots a window.
        #[test]
        fn a_window_has_the_bounds_of_all_its_values(
            runs in proptest::collection::vec(
                proptest::collection::vec(proptest::array::uniform4(0..6_u8), 1..250),
                1..4,
            ),
            price in 0.5..50.0,
        ) {
            let curves: Vec<Curve> = runs.iter().map(|slots| run(slots)).collect();
            let forecast = Forecast::new(&curves, 3_000);
            let window_ms = f64::from(forecast.window_ms);
            for (window, pools) in forecast.windows.iter().enumerate().step_by(9) {
                let from_ms = window as f64 * window_ms;
                let (from_ms, to_ms) = (from_ms - 1_500.0, from_ms + window_ms + 1_500.0);
                for (pool, values) in pools.iter().zip(values(&curves, from_ms, to_ms)) {
                    let plain = Pool::new(values);
                    let [all, plain_all] = [pool.weight(), plain.weight()];
                    prop_assert!((all - plain_all).abs() <= 1e-9 * plain_all);
                    let [bound, plain] = [pool, &plain].map(|it| it.cheapest(price, 1.0));
                    prop_assert_eq!(bound.bound, plain.bound, "window {}", window);
                    prop_assert!((bound.weight_upto - plain.weight_upto).abs() <= 1e-9 * all);
                }
            }
        }
    }
}
