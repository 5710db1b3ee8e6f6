//! Series with given statistics.

/// How one resource varies over an executor's life, as Table II of Elasecutor states it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesStatistics {
    /// The largest value over the mean.
    pub peak_over_average: f64,
    /// The largest value over the smallest.
    pub peak_over_trough: f64,
    /// The part of the time at the largest value.
    pub at_peak: f64,
    /// The part of the time above half of the largest value.
    pub above_half_peak: f64,
}

impl SeriesStatistics {
    /// From peak over average, peak over trough, and two percentages.
    pub(super) fn of_row(row: [f64; 4]) -> Self {
        let [peak_over_average, peak_over_trough, at_peak, above_half] = row;
        Self {
            peak_over_average,
            peak_over_trough,
            at_peak: at_peak / 100.0,
            above_half_peak: above_half / 100.0,
        }
    }
}

/// A value below this fraction of the largest is not at the peak.
const BELOW_PEAK: f64 = 0.98;

/// Generated values above half of the peak start here, clear of rounding.
const ABOVE_HALF: f64 = 0.505;

/// The statistics of a series; None if it is empty or its smallest value is 0.
pub fn measure(values: &[f64]) -> Option<SeriesStatistics> {
    let peak = values.iter().copied().fold(0.0, f64::max);
    let trough = values.iter().copied().fold(f64::INFINITY, f64::min);
    if values.is_empty() || trough <= 0.0 {
        return None;
    }
    let part = |bound: f64| {
        let above = values.iter().filter(|value| **value > bound).count();
        above as f64 / values.len() as f64
    };
    Some(SeriesStatistics {
        peak_over_average: peak * values.len() as f64 / values.iter().sum::<f64>(),
        peak_over_trough: peak / trough,
        at_peak: part(BELOW_PEAK * peak),
        above_half_peak: part(peak / 2.0),
    })
}

/// A series with a peak of 1 and these statistics. `intensity`, a function of the elapsed part of life
/// (0 to 1), orders the values.
pub(super) fn generate(
    statistics: SeriesStatistics,
    slots: usize,
    intensity: impl Fn(f64) -> f64,
) -> Vec<f64> {
    let ascending = ascending(statistics, slots);
    let mut by_intensity: Vec<(f64, usize)> =
        (0..slots).map(|slot| (intensity((slot as f64 + 0.5) / slots as f64), slot)).collect();
    by_intensity.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut values = vec![0.0; slots];
    for ((_, slot), value) in by_intensity.into_iter().zip(ascending) {
        values[slot] = value;
    }
    values
}

/// The values of a series whose peak is 1, the smallest first.
///
/// The values below half and the values above it each rise along a power of their rank. Both have the
/// same exponent, chosen to give the mean.
fn ascending(statistics: SeriesStatistics, slots: usize) -> Vec<f64> {
    let count = |part: f64| (part * slots as f64).round() as usize;
    let at_peak = count(statistics.at_peak).clamp(1, slots.max(1));
    let above_half = count(statistics.above_half_peak).clamp(at_peak, slots.max(at_peak));
    let (below, between) = (slots.saturating_sub(above_half), above_half - at_peak);
    let trough = 1.0 / statistics.peak_over_trough;
    let with = |exponent: f64| -> Vec<f64> {
        let ramp = |least: f64, most: f64, count: usize, from: usize| {
            let ranks = (count + from).saturating_sub(1);
            (from..count + from).map(move |rank| {
                let part = rank as f64 / ranks.max(1) as f64;
                least + (most - least) * part.powf(exponent)
            })
        };
        let low = ramp(trough, 0.5, below, 0);
        let high = ramp(ABOVE_HALF, BELOW_PEAK, between, 1);
        low.chain(high).chain(std::iter::repeat_n(1.0, at_peak)).take(slots).collect()
    };
    let wanted = slots as f64 / statistics.peak_over_average;
    let (mut low, mut high) = (0.01_f64, 100.0_f64);
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        if with(middle).iter().sum::<f64>() > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    with(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATISTICS: SeriesStatistics = SeriesStatistics {
        peak_over_average: 2.0,
        peak_over_trough: 50.0,
        at_peak: 0.1,
        above_half_peak: 0.4,
    };

    #[test]
    fn the_larger_values_are_where_the_intensity_is() {
        let values = generate(STATISTICS, 100, |life| life);
        assert!(values.is_sorted());
        assert_eq!((values[0], values[99]), (1.0 / 50.0, 1.0));
    }

    #[test]
    fn a_generated_series_has_the_requested_statistics() {
        let values = generate(STATISTICS, 100, |life| (9.0 * life).sin());
        let measured = measure(&values).unwrap();
        assert!((measured.peak_over_average - 2.0).abs() < 1e-4);
        assert!((measured.peak_over_trough - 50.0).abs() < 1e-6);
        assert_eq!((measured.at_peak, measured.above_half_peak), (0.1, 0.4));
    }

    #[test]
    fn short_series_still_have_their_peak() {
        for slots in 1..5 {
            let values = generate(STATISTICS, slots, |life| life);
            assert_eq!(values.len(), slots);
            assert_eq!(values.last(), Some(&1.0));
        }
    }
}
