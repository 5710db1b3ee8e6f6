//! An upper bound of the next run's usage over time: `docs/lab/envelope.md`. Nothing plans by it.

use elastane_core::{Demand, DemandError, Resources, SLOT_MS};
use elastane_predict::Prediction;
use elastane_predict::progress::{LogNormal, UsageCurve, mean};

use super::bursts::bursts;
use super::level;
use super::pool::Pool;

/// A bound that usage exceeds for a small part of the time only. It ends with the longest likely run.
#[derive(Debug, Clone)]
pub struct Envelope {
    /// The bound of each resource, in windows of equal length.
    pub bound: Demand,
    /// The price of coverage in each resource.
    pub(super) prices: [f64; 4],
}

impl Envelope {
    /// The default coverage of the guesses' time. Guesses from three runs are too narrow, so the values
    /// are above the 0.95 wanted of the next run.
    pub const COVERAGE: Resources = Resources::from_array([0.97, 0.96, 0.965, 0.962]);

    /// The envelope of the runs that a prediction was made from. Fails with amounts that are too large
    /// to add up.
    pub fn of(prediction: &Prediction, coverage: Resources) -> Result<Self, DemandError> {
        let curves = &prediction.curves;
        let slot_ms = curves.iter().map(|run| run.used().slot_ms()).min().unwrap_or(SLOT_MS);
        let forecast = Forecast::new(curves, slot_ms);
        let prices = forecast.prices(coverage);
        Ok(Self { bound: forecast.bound(prices)?, prices })
    }
}

/// The approximate maximum number of windows in an envelope.
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

/// Guesses at the next run: each of the latest runs, in each likely length, at each likely level.
#[derive(Debug, Clone)]
struct Forecast {
    window_ms: u32,
    /// Each resource in each window, to the end of the longest guess.
    windows: Vec<[Pool; 4]>,
    level: [f64; 4],
}

impl Forecast {
    fn new(curves: &[UsageCurve], slot_ms: u32) -> Self {
        let factors = likely_factors(curves);
        let guesses = guesses(curves);
        let slot_ms = f64::from(slot_ms);
        let longest_ms = guesses.iter().fold(0.0, |most: f64, it| most.max(it.1));
        let window_ms = slot_ms * (longest_ms / slot_ms / MOST_WINDOWS).ceil().max(1.0);
        let beyond_ms = LOOK_BEYOND_SLOTS * slot_ms;
        // A remainder below a thousandth of a window is rounding.
        let count = (longest_ms / window_ms - 1e-3).ceil().max(1.0) as usize;
        let windows = (0..count).map(|number| {
            let from_ms = number as f64 * window_ms;
            let mut values = LikelyValues::new(factors);
            for (curve, length_ms) in &guesses {
                let from = (from_ms - beyond_ms) / length_ms;
                let to = (from_ms + window_ms + beyond_ms) / length_ms;
                for (usage, part) in curve.between(from, to) {
                    values.add(usage, part * length_ms);
                }
            }
            values.into_pools()
        });
        Self { window_ms: window_ms as u32, windows: windows.collect(), level: mean_level(curves) }
    }

    /// The lowest price of each resource at which the bounds have this coverage.
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
            self.windows.iter().map(|pools| &pools[at]).fold((0.0, 0.0), |(covered, all), pool| {
                let bound = pool.cheapest(price, self.level[at].max(f64::MIN_POSITIVE));
                (covered + bound.weight_upto, all + pool.weight())
            });
        covered / all
    }

    fn bound(&self, prices: [f64; 4]) -> Result<Demand, DemandError> {
        let windows: Vec<Resources> =
            self.windows.iter().map(|pools| bounds(pools, prices, self.level)).collect();
        Demand::series(self.window_ms, &windows)
    }
}

/// The weighted values that each resource may have at one moment.
pub(super) struct LikelyValues {
    factors: [[f64; 5]; 4],
    values: [Vec<(f64, f64)>; 4],
}

impl LikelyValues {
    /// `factors` are those of [`likely_factors`].
    pub(super) fn new(factors: [[f64; 5]; 4]) -> Self {
        Self { factors, values: Default::default() }
    }

    /// Adds the usage of an earlier run at each likely factor.
    pub(super) fn add(&mut self, usage: Resources, weight: f64) {
        let resources = self.values.iter_mut().zip(self.factors);
        for ((values, factors), used) in resources.zip(usage.to_array()) {
            values.extend(factors.map(|factor| (used * factor, weight)));
        }
    }

    pub(super) fn into_pools(self) -> [Pool; 4] {
        self.values.map(Pool::new)
    }
}

/// Equally likely factors between a slot of the next run and that of an earlier one.
pub(super) fn likely_factors(curves: &[UsageCurve]) -> [[f64; 5]; 4] {
    let levels: Vec<Resources> = curves.iter().map(level).collect();
    let mut distributions = LogNormal::of_each_resource(&levels);
    for (level, bursts) in distributions.iter_mut().zip(bursts(curves)) {
        level.deviation = level.deviation.hypot(bursts);
    }
    distributions.map(|level| NORMAL_COARSE.map(|normal| (normal * level.deviation).exp()))
}

/// The mean usage of each resource over the runs.
pub(super) fn mean_level(curves: &[UsageCurve]) -> [f64; 4] {
    mean(&curves.iter().map(level).collect::<Vec<_>>()).to_array()
}

pub(super) fn bounds(pools: &[Pool; 4], prices: [f64; 4], scales: [f64; 4]) -> Resources {
    Resources::from_array(std::array::from_fn(|at| {
        pools[at].bound(prices[at], scales[at].max(f64::MIN_POSITIVE))
    }))
}

/// Each run in its own length and in each likely one, in milliseconds.
fn guesses(curves: &[UsageCurve]) -> Vec<(&UsageCurve, f64)> {
    let length = LogNormal::of(curves.iter().map(UsageCurve::length_ms));
    let likely = NORMAL.map(|normal| (length.center + normal * length.deviation).exp());
    let lengths_ms = |curve: &UsageCurve| std::iter::once(curve.length_ms()).chain(likely);
    let of_run = |curve| lengths_ms(curve).map(move |length_ms| (curve, length_ms));
    curves.iter().flat_map(of_run).collect()
}
