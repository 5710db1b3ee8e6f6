//! Plain predictions, the baselines of the evaluation.

use elastane_core::{Demand, DemandError, Resources};

use elastane_predict::progress::{UsageCurve, mean_between};

/// A plain way to predict the next run from earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    /// The maximum of all runs, constant.
    ConstantPeak,
    /// The mean of all runs, constant.
    ConstantMean,
    /// The mean in each slot of the runs stretched to their mean length.
    StretchedMean,
    /// The maximum of the stretched runs in windows of 10 s, plus 10 %.
    WindowMaximum10s,
    /// As [`Plain::WindowMaximum10s`], in windows of 30 s.
    WindowMaximum30s,
}

/// Added to the maximum of a window.
const ADDED: f64 = 0.1;

impl Plain {
    /// In the order of reports.
    pub const ALL: [Plain; 5] = [
        Plain::ConstantPeak,
        Plain::ConstantMean,
        Plain::StretchedMean,
        Plain::WindowMaximum10s,
        Plain::WindowMaximum30s,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Plain::ConstantPeak => "constant peak",
            Plain::ConstantMean => "constant mean",
            Plain::StretchedMean => "stretched mean",
            Plain::WindowMaximum10s => "window maximum 10 s + 10 %",
            Plain::WindowMaximum30s => "window maximum 30 s + 10 %",
        }
    }

    /// The prediction, as long as the mean of the runs. Fails without runs.
    pub fn predict(self, runs: &[Demand]) -> Result<Demand, DemandError> {
        let curves: Vec<UsageCurve> = runs.iter().map(UsageCurve::new).collect();
        let slot_ms = runs.iter().map(Demand::slot_ms).min().unwrap_or(0);
        let lengths_ms: f64 = curves.iter().map(UsageCurve::length_ms).sum();
        let length_ms = lengths_ms / curves.len() as f64;
        let windows = |window_ms: u32, value: &dyn Fn(f64, f64) -> Resources| {
            let count = (length_ms / f64::from(window_ms) - 1e-9).ceil().max(1.0) as usize;
            let part = f64::from(window_ms) / length_ms;
            let windows: Vec<Resources> =
                (0..count).map(|at| value(at as f64 * part, (at + 1) as f64 * part)).collect();
            Demand::series(window_ms, &windows)
        };
        if runs.is_empty() {
            return Err(DemandError::Empty);
        }
        match self {
            Plain::ConstantPeak => windows(slot_ms, &|_, _| largest(&curves, 0.0, 1.0)),
            Plain::ConstantMean => windows(slot_ms, &|_, _| mean_between(&curves, 0.0, 1.0)),
            Plain::StretchedMean => windows(slot_ms, &|from, to| mean_between(&curves, from, to)),
            Plain::WindowMaximum10s => windows(10_000, &|from, to| bound(&curves, from, to)),
            Plain::WindowMaximum30s => windows(30_000, &|from, to| bound(&curves, from, to)),
        }
    }
}

fn largest(curves: &[UsageCurve], from: f64, to: f64) -> Resources {
    let used = curves.iter().flat_map(|curve| curve.between(from, to));
    used.fold(Resources::ZERO, |most, (usage, _)| most.max(usage))
}

fn bound(curves: &[UsageCurve], from: f64, to: f64) -> Resources {
    largest(curves, from, to) * (1.0 + ADDED)
}
