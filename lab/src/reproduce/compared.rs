//! Published figures with ours beside them.

use elastane_sim::summary::{deviation, mean, quantile};

/// A published figure, and what a simulation gives for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Where it is in the paper.
    pub source: &'static str,
    /// Which figure it is.
    pub figure: String,
    /// What it is there.
    pub published: f64,
    /// What it is here.
    pub measured: Measured,
    /// Why it differs here, where it does.
    pub because: &'static str,
}

/// What a simulation gave for a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// One a seed.
    pub values: Vec<f64>,
}

/// How a simulated figure stands to a published one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Within a third.
    Agrees,
    /// Less by more than a third.
    Less,
    /// More by more than a third.
    More,
    /// One is above 0, the other below.
    OtherSign,
}

/// Published figures of a few percent are not told apart from nothing.
const SMALL: f64 = 3.0;

impl Compared {
    /// How ours stands to what was published.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        self.measured.agreement(self.published)
    }
}

impl Measured {
    /// Over the seeds.
    #[must_use]
    pub fn mean(&self) -> f64 {
        mean(&self.values)
    }

    /// Over the seeds.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        deviation(&self.values)
    }

    /// Over the seeds.
    #[must_use]
    pub fn median(&self) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        quantile(&sorted, 0.5)
    }

    /// How the mean stands to a published figure.
    #[must_use]
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
    /// For a person.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Agreement::Agrees => "",
            Agreement::Less => "less by more than a third",
            Agreement::More => "more by more than a third",
            Agreement::OtherSign => "the other sign",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_within_a_third_agrees() {
        let ours = |value| Measured {
            values: vec![value],
        };
        assert_eq!(ours(30.0).agreement(36.0), Agreement::Agrees);
        assert_eq!(ours(20.0).agreement(36.0), Agreement::Less);
        assert_eq!(ours(50.0).agreement(36.0), Agreement::More);
        assert_eq!(ours(-5.0).agreement(36.0), Agreement::OtherSign);
        assert_eq!(ours(1.0).agreement(0.0), Agreement::Agrees);
    }
}
