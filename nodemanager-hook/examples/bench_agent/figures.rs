//! The agent's figures, their line, and their bounds.

use std::fmt;

/// One measurement, with new limits for all containers in each exchange where nothing else is said.
pub struct Figures {
    pub containers: usize,
    /// Of one core.
    pub cpu_percent: f64,
    /// CPU time of the reference meanwhile, of one core.
    pub reference_percent: f64,
    pub resident_mb: f64,
    pub report_bytes: usize,
    /// How far the ends of samples are from where they belong; the worse of with and without a plan.
    pub skew_p99_ms: f64,
    /// From a step's begin until the last container's group has its limit.
    pub apply_ms: f64,
    /// From the start of the process to its first answer.
    pub start_ms: f64,
    /// Without a plan.
    pub observed_cpu_percent: f64,
    /// CPU time of the reference meanwhile.
    pub observed_reference_percent: f64,
    /// How late the reference woke at worst: the machine's share in every delay.
    pub late_ms: f64,
    /// The agent scans all processes for a container without a group.
    pub processes_on_node: usize,
}

/// A figure's name, the bound that it must be below, and the figure.
type Bound = (&'static str, f64, fn(&Figures) -> f64);

/// CPU time over the reference's. The share of a core itself, which depends on the machine, has aims (0.25 and 0.15 %) and is
/// printed.
const RATIOS: [Bound; 2] = [
    ("cpu_ratio", 1.1, Figures::cpu_ratio),
    ("observed_cpu_ratio", 0.9, Figures::observed_cpu_ratio),
];

/// A busy machine changes nothing here.
const SIZES: [Bound; 2] = [
    ("rss_mb", 15.0, |of| of.resident_mb),
    ("report_bytes", 12_390.0, |of| of.report_bytes as f64),
];

/// Bounds on an idle machine; a busy one adds the delay of the reference.
const DELAYS: [Bound; 3] = [
    ("skew_p99_ms", 100.0, |of| of.skew_p99_ms),
    ("apply_ms", 100.0, |of| of.apply_ms),
    ("start_ms", 200.0, |of| of.start_ms),
];

/// A figure that is not below its bound.
#[derive(Debug, PartialEq)]
pub struct Miss {
    name: &'static str,
    value: f64,
    bound: f64,
}

impl Figures {
    pub fn cpu_ratio(&self) -> f64 {
        self.cpu_percent / self.reference_percent
    }

    pub fn observed_cpu_ratio(&self) -> f64 {
        self.observed_cpu_percent / self.observed_reference_percent
    }

    pub fn misses(&self) -> Vec<Miss> {
        let fixed = RATIOS.into_iter().chain(SIZES);
        let fixed = fixed.filter_map(|(name, most, of)| Miss::unless_below(name, of(self), most));
        fixed.chain(self.delayed()).collect()
    }

    /// The delays that miss their bounds.
    pub fn delayed(&self) -> Vec<Miss> {
        let miss =
            |(name, most, of): Bound| Miss::unless_below(name, of(self), most + self.late_ms);
        DELAYS.into_iter().filter_map(miss).collect()
    }
}

impl Miss {
    /// A figure that is not a number misses its bound.
    pub fn unless_below(name: &'static str, value: f64, bound: f64) -> Option<Self> {
        (value.is_nan() || value >= bound).then_some(Self { name, value, bound })
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "agent containers={} cpu_percent={:.3} reference_percent={:.3} cpu_ratio={:.2} rss_mb={:.1} \
             report_bytes={} skew_p99_ms={:.1} apply_ms={:.1} start_ms={:.0} observed_cpu_percent={:.3} \
             observed_reference_percent={:.3} observed_cpu_ratio={:.2} late_ms={:.1} processes_on_node={}",
            self.containers,
            self.cpu_percent,
            self.reference_percent,
            self.cpu_ratio(),
            self.resident_mb,
            self.report_bytes,
            self.skew_p99_ms,
            self.apply_ms,
            self.start_ms,
            self.observed_cpu_percent,
            self.observed_reference_percent,
            self.observed_cpu_ratio(),
            self.late_ms,
            self.processes_on_node
        )
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, bound } = self;
        write!(formatter, "{name} is {value:.3}, it must be below {bound:.3}")
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    type Change = (&'static str, fn(&mut Figures));

    pub fn quiet() -> Figures {
        Figures {
            containers: 50,
            cpu_percent: 0.296,
            reference_percent: 0.353,
            resident_mb: 5.64,
            report_bytes: 4654,
            skew_p99_ms: 0.62,
            apply_ms: 2.44,
            start_ms: 7.4,
            observed_cpu_percent: 0.275,
            observed_reference_percent: 0.364,
            late_ms: 0.4,
            processes_on_node: 207,
        }
    }

    #[test]
    fn one_line_has_all_figures() {
        let line = quiet().to_string();
        let expected = "agent containers=50 cpu_percent=0.296 reference_percent=0.353 cpu_ratio=0.84 \
                        rss_mb=5.6 report_bytes=4654 skew_p99_ms=0.6 apply_ms=2.4 start_ms=7 ";
        assert!(line.starts_with(expected), "{line}");
        assert!(line.ends_with(" processes_on_node=207"));
        assert!(!line.contains('\n'));
    }

    #[test]
    fn the_documented_line_has_the_same_keys() {
        let page = include_str!("../../../docs/agent.md");
        let mut lines = page.lines().filter(|line| line.starts_with("agent containers="));
        let shown = lines.next().unwrap();
        assert_eq!(lines.next(), None);
        let keys = |line: &str| -> Vec<String> {
            let pairs = line.split(' ').skip(1);
            pairs.map(|pair| pair.split('=').next().unwrap().to_owned()).collect()
        };
        assert_eq!(keys(shown), keys(&quiet().to_string()));
    }

    #[test]
    fn every_figure_has_its_bound() {
        assert_eq!(quiet().misses(), []);
        let changes: [Change; 9] = [
            ("cpu_ratio", |of| of.cpu_percent *= 2.0),
            ("cpu_ratio", |of| of.reference_percent = f64::NAN),
            ("rss_mb", |of| of.resident_mb = 15.0),
            ("report_bytes", |of| of.report_bytes = 12_390),
            ("skew_p99_ms", |of| of.skew_p99_ms = f64::INFINITY),
            ("skew_p99_ms", |of| of.skew_p99_ms = 100.4),
            ("apply_ms", |of| of.apply_ms = 100.4),
            ("start_ms", |of| of.start_ms = 200.4),
            ("observed_cpu_ratio", |of| of.observed_cpu_percent *= 2.0),
        ];
        for (name, change) in changes {
            let mut figures = quiet();
            change(&mut figures);
            let misses = figures.misses();
            let names: Vec<&str> = misses.iter().map(|miss| miss.name).collect();
            assert_eq!(names, [name]);
        }
    }

    #[test]
    fn a_busy_machine_misses_no_bound() {
        let mut figures = quiet();
        for percent in [
            &mut figures.cpu_percent,
            &mut figures.reference_percent,
            &mut figures.observed_cpu_percent,
            &mut figures.observed_reference_percent,
        ] {
            *percent *= 3.0;
        }
        figures.late_ms = 150.0;
        figures.skew_p99_ms += figures.late_ms;
        figures.apply_ms += figures.late_ms;
        figures.start_ms += figures.late_ms;
        assert_eq!(figures.misses(), []);
    }
}
