//! A bound of what the next run may use at each moment: `docs/learning.md`, "Envelope". Nothing plans by
//! it.

use elastane_core::{Demand, DemandError, Resources, SLOT_MS};
use elastane_predict::Prediction;
use elastane_predict::progress::{LogNormal, UsageCurve, mean};

use super::bursts::bursts;
use super::level;
use super::pool::Pool;
use super::ranked::Ranked;
use super::window::Window;

/// A bound that is exceeded for a small part of the time only. It lasts as long as the longest run that
/// is likely.
#[derive(Debug, Clone)]
pub struct Envelope {
    /// The bound.
    pub bound: Demand,
    /// The price of coverage in each resource.
    pub(super) prices: [f64; 4],
}

impl Envelope {
    /// The part of the guesses' time that is covered in each resource, where no other is wanted. A
    /// guess from three runs is too sure, so these are above the 0.95 wanted of the next run.
    pub const COVERAGE: Resources = Resources::from_array([0.97, 0.96, 0.965, 0.962]);

    /// The envelope of the runs that a prediction was made from, at this coverage of its guesses.
    ///
    /// # Errors
    /// Amounts that are too large to add up.
    pub fn of(prediction: &Prediction, coverage: Resources) -> Result<Self, DemandError> {
        let curves = &prediction.curves;
        let slot_ms = curves
            .iter()
            .map(|run| run.used().slot_ms())
            .min()
            .unwrap_or(SLOT_MS);
        let forecast = Forecast::new(curves, slot_ms);
        let prices = forecast.prices(coverage);
        Ok(Self {
            bound: forecast.bound(prices)?,
            prices,
        })
    }
}

/// The approximate maximum of windows in an envelope.
const MOST_WINDOWS: f64 = 100.0;

/// A window includes this part of a slot on both sides. Phases begin earlier or later from run to run
/// even in runs of equal length.
const LOOK_BEYOND_SLOTS: f64 = 0.5;

/// The range of prices, in multiples of the mean use.
const LEAST_PRICE: f64 = 0.5;
const MOST_PRICE: f64 = 2_000.0;

/// Bisection steps: they find the price to a thousandth.
const HALVINGS: u32 = 13;

/// Deviations from the mean that stand for a normal distribution: the middles of its nine equally
/// likely parts.
const NORMAL: [f64; 9] = [-1.59, -0.97, -0.59, -0.28, 0.0, 0.28, 0.59, 0.97, 1.59];

/// As [`NORMAL`], in five parts.
const NORMAL_COARSE: [f64; 5] = [-1.28, -0.52, 0.0, 0.52, 1.28];

/// The latest runs as many guesses at the next one: each of them, in each likely length, at each
/// likely level.
#[derive(Debug, Clone)]
struct Forecast {
    window_ms: u32,
    /// Each resource in each window, to the end of the longest guess.
    windows: Vec<[Pool; 4]>,
    level: [f64; 4],
}

impl Forecast {
    fn new(curves: &[UsageCurve], slot_ms: u32) -> Self {
        let run_levels: Vec<Resources> = curves.iter().map(level).collect();
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

    /// The least price of each resource that covers this part of the guesses' time.
    fn prices(&self, coverage: Resources) -> [f64; 4] {
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

    fn bound(&self, prices: [f64; 4]) -> Result<Demand, DemandError> {
        let windows: Vec<Resources> = self
            .windows
            .iter()
            .map(|pools| bounds(pools, prices, self.level))
            .collect();
        Demand::series(self.window_ms, &windows)
    }
}

/// Equally likely factors between a slot of the next run and that of an earlier one.
pub(super) fn likely_factors(curves: &[UsageCurve]) -> [[f64; 5]; 4] {
    let run_levels: Vec<Resources> = curves.iter().map(level).collect();
    let mut distributions = LogNormal::of_each_resource(&run_levels);
    for (level, bursts) in distributions.iter_mut().zip(bursts(curves)) {
        level.deviation = level.deviation.hypot(bursts);
    }
    distributions.map(|level| NORMAL_COARSE.map(|normal| (normal * level.deviation).exp()))
}

pub(super) fn bounds(pools: &[Pool; 4], prices: [f64; 4], scales: [f64; 4]) -> Resources {
    Resources::from_array(std::array::from_fn(|at| {
        pools[at].bound(prices[at], scales[at].max(f64::MIN_POSITIVE))
    }))
}

/// Each run in its own length and in each likely one, in milliseconds.
fn guesses(curves: &[UsageCurve]) -> Vec<(usize, f64)> {
    let length = LogNormal::of(curves.iter().map(UsageCurve::length_ms));
    let likely = NORMAL.map(|normal| (length.center + normal * length.deviation).exp());
    let mut guesses = Vec::new();
    for (run, curve) in curves.iter().enumerate() {
        let own = std::iter::once(curve.length_ms());
        guesses.extend(own.chain(likely).map(|length_ms| (run, length_ms)));
    }
    guesses
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(slots: &[[u8; 4]]) -> UsageCurve {
        let slots = slots
            .iter()
            .map(|slot| Resources::from_array(slot.map(f64::from)));
        let slots: Vec<Resources> = slots.collect();
        UsageCurve::new(&Demand::series(3_000, &slots).unwrap_or_else(|error| panic!("{error}")))
    }

    /// Every value of every guess, one by one.
    fn values(curves: &[UsageCurve], from_ms: f64, to_ms: f64) -> [Vec<(f64, f64)>; 4] {
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
            let curves: Vec<UsageCurve> = runs.iter().map(|slots| run(slots)).collect();
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
