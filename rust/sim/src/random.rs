//! Random numbers that are the same on every machine and in every version.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The purpose of a sequence of numbers. Each purpose and item has its own sequence, so that draws for
/// one depend neither on draws for another nor on a policy's choices.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    /// A workload as a whole: its order and arrivals.
    Workload,
    /// The actual use of one executor.
    Executor {
        /// The application's place in the workload.
        application: usize,
        /// The executor's number within the application.
        number: u32,
    },
}

/// A sequence of random numbers.
#[derive(Debug, Clone)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The sequence of this seed and purpose.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(match purpose {
            Purpose::Workload => 0,
            Purpose::Executor { application, number } => {
                ((application as u64 + 1) << 32) | u64::from(number)
            }
        });
        Self(generator)
    }

    /// At least 0, below 1.
    pub fn unit(&mut self) -> f64 {
        const BITS: u32 = f64::MANTISSA_DIGITS;
        (self.0.next_u64() >> (64 - BITS)) as f64 / (1_u64 << BITS) as f64
    }

    /// Uniform from `least` to `most`.
    pub fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// Uniform around 1 with this standard deviation, never below 0.
    pub fn factor(&mut self, deviation: f64) -> f64 {
        if deviation == 0.0 {
            return 1.0;
        }
        let half_width = half_width(deviation);
        self.between(1.0 - half_width, 1.0 + half_width).max(0.0)
    }

    /// The largest factor with this standard deviation.
    pub fn most_factor(deviation: f64) -> f64 {
        1.0 + half_width(deviation)
    }
}

/// Half the width of the uniform distribution with this standard deviation.
fn half_width(deviation: f64) -> f64 {
    3_f64.sqrt() * deviation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_depends_on_its_seed_and_purpose_alone() {
        let draw = |seed, application| {
            let purpose = Purpose::Executor { application, number: 3 };
            Random::new(seed, purpose).unit()
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(2, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
    }

    #[test]
    fn factors_have_their_deviation() {
        let mut random = Random::new(1, Purpose::Workload);
        let draws: Vec<f64> = (0..10_000).map(|_| random.factor(0.2)).collect();
        let mean = draws.iter().sum::<f64>() / 1e4;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e4;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() - 0.2).abs() < 0.01, "{variance}");
    }
}
