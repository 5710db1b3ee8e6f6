//! Published figures beside the simulated ones.

use elastane_sim::summary::{deviation, mean, quantile};

/// A published figure, and the simulated values.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The place in the paper.
    pub source: &'static str,
    /// A description with the unit.
    pub figure: String,
    /// The value in the paper.
    pub published: f64,
    /// The simulated values.
    pub measured: Measured,
    /// Why the simulated values differ; empty if they agree.
    pub because: &'static str,
}

/// The simulated values of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// One per seed.
    pub values: Vec<f64>,
}

/// How a simulated figure compares with a published one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Within a third.
    Agrees,
    /// Less than two thirds of the published value.
    Less,
    /// More than four thirds of the published value.
    More,
    /// A gain where the paper has a loss, or the reverse.
    OtherSign,
}

/// Figures up to this many percent count as 0.
const SMALL: f64 = 3.0;

impl Compared {
    /// How the mean compares with the published value.
    pub fn agreement(&self) -> Agreement {
        self.measured.agreement(self.published)
    }
}

impl Measured {
    /// The mean over the seeds.
    pub fn mean(&self) -> f64 {
        mean(&self.values)
    }

    /// The standard deviation over the seeds.
    pub fn deviation(&self) -> f64 {
        deviation(&self.values)
    }

    /// The median over the seeds.
    pub fn median(&self) -> f64 {
        median(&self.values)
    }

    /// How the mean compares with a published value.
    pub fn agreement(&self, published: f64) -> Agreement {
        let ours = self.mean();
        if ours.abs().max(published.abs()) <= SMALL {
            Agreement::Agrees
        } else if ours.signum() != published.signum() && published.abs() > SMALL {
            Agreement::OtherSign
        } else if ours < published * 2.0 / 3.0 {
            Agreement::Less
        } else if ours > published * 4.0 / 3.0 {
            Agreement::More
        } else {
            Agreement::Agrees
        }
    }
}

impl Agreement {
    /// The difference in words; empty if there is none.
    pub fn words(self) -> &'static str {
        match self {
            Agreement::Agrees => "",
            Agreement::Less => "less by more than a third",
            Agreement::More => "more by more than a third",
            Agreement::OtherSign => "the other sign",
        }
    }
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_within_a_third_agrees() {
        let ours = |value| Measured { values: vec![value] };
        assert_eq!(ours(30.0).agreement(36.0), Agreement::Agrees);
        assert_eq!(ours(20.0).agreement(36.0), Agreement::Less);
        assert_eq!(ours(50.0).agreement(36.0), Agreement::More);
        assert_eq!(ours(-5.0).agreement(36.0), Agreement::OtherSign);
        assert_eq!(ours(1.0).agreement(0.0), Agreement::Agrees);
    }
}
