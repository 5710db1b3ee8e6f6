//! What more containers cost.

use std::fmt;

use crate::figures::{Figures, Miss};

/// The cost may grow as the number of processes does, by which the reference's grows; a busy machine moves both a little.
const MOST_GROWTH: f64 = 1.15;
/// Looking for JVMs among new processes is bounded for each reading, so with few processes it is a larger part.
const MOST_OBSERVED_GROWTH: f64 = 0.95;

/// The same kind of container, few and many times.
pub struct Growth {
    pub few: Figures,
    pub many: Figures,
}

impl Growth {
    /// 1 if the cost has grown as the reference's.
    fn of(&self, ratio: fn(&Figures) -> f64) -> f64 {
        ratio(&self.many) / ratio(&self.few)
    }

    /// Of the growth, and of the delays with many containers.
    pub fn misses(&self) -> Vec<Miss> {
        let growths = [
            ("cpu_growth", self.of(Figures::cpu_ratio), MOST_GROWTH),
            ("observed_cpu_growth", self.of(Figures::observed_cpu_ratio), MOST_OBSERVED_GROWTH),
        ];
        let growths = growths.map(|(name, growth, most)| Miss::unless_below(name, growth, most));
        growths.into_iter().flatten().chain(self.many.delayed()).collect()
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { few, many } = self;
        write!(
            formatter,
            "busy few={} containers={} few_cpu_percent={:.3} cpu_percent={:.3} cpu_growth={:.2} \
             few_observed_cpu_percent={:.3} observed_cpu_percent={:.3} observed_cpu_growth={:.2} \
             few_rss_mb={:.1} rss_mb={:.1} report_bytes={} skew_p99_ms={:.1} apply_ms={:.1} late_ms={:.1}",
            few.containers,
            many.containers,
            few.cpu_percent,
            many.cpu_percent,
            self.of(Figures::cpu_ratio),
            few.observed_cpu_percent,
            many.observed_cpu_percent,
            self.of(Figures::observed_cpu_ratio),
            few.resident_mb,
            many.resident_mb,
            many.report_bytes,
            many.skew_p99_ms,
            many.apply_ms,
            many.late_ms
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::quiet;

    /// Four times the processes, at this many times the cost.
    fn growth(times: f64) -> Growth {
        let few = quiet();
        let many = Figures {
            containers: 200,
            cpu_percent: few.cpu_percent * times,
            observed_cpu_percent: few.observed_cpu_percent * times * 0.9,
            reference_percent: few.reference_percent * 4.0,
            observed_reference_percent: few.observed_reference_percent * 4.0,
            ..quiet()
        };
        Growth { few, many }
    }

    #[test]
    fn four_times_the_containers_may_cost_four_times_as_much() {
        assert_eq!(growth(4.0).misses(), []);
        assert_eq!(growth(5.0).misses().len(), 2);
        let mut late = growth(4.0);
        late.many.apply_ms = 300.0;
        assert_eq!(late.misses().len(), 1);
    }

    #[test]
    fn one_line_begins_with_both_numbers_and_has_the_growth() {
        let line = growth(4.0).to_string();
        assert!(line.starts_with("busy few=50 containers=200 few_cpu_percent=0.296 "), "{line}");
        assert!(line.contains(" cpu_growth=1.00 "), "{line}");
        assert!(!line.contains('\n'));
    }
}
