//! A fixed computation similar to a round. Other load on the machine slows both alike, so that the
//! ratio of their times stays stable.

use std::hint::black_box;
use std::time::Instant;

use crate::random::Random;

/// 192 bytes, about as much as a round reads of a waiting application.
type Record = [f64; 24];

/// Filters and scores records in another order than in memory.
pub(crate) struct Reference {
    records: Vec<Record>,
    order: Vec<usize>,
}

impl Reference {
    pub(crate) fn new(records: usize) -> Self {
        let mut random = Random::new(3);
        let mut record = |_| std::array::from_fn(|_| random.between(0.0, 1.0));
        let records: Vec<Record> = (0..records).map(&mut record).collect();
        let mut order: Vec<usize> = (0..records.len()).collect();
        order.sort_by(|one, other| records[*one][0].total_cmp(&records[*other][0]));
        Self { records, order }
    }

    /// The smallest score among the records below 0.9 in four resources.
    fn best(&self) -> f64 {
        let fitting = self.order.iter().map(|at| &self.records[*at]);
        let fitting = fitting.filter(|record| record[..4].iter().all(|used| *used < 0.9));
        let score = |record: &Record| {
            let used: f64 = record.chunks_exact(4).map(|slot| slot[0] * slot[1]).sum();
            let free: f64 = record.chunks_exact(4).map(|slot| slot[2] + slot[3]).sum();
            used / free
        };
        fitting.map(score).fold(f64::INFINITY, f64::min)
    }

    /// Its time now, in microseconds: the median of several runs after one run that warms the caches.
    pub(crate) fn time_us(&self) -> f64 {
        black_box(self.best());
        let mut times_us: Vec<f64> = (0..15)
            .map(|_| {
                let start = Instant::now();
                black_box(self.best());
                start.elapsed().as_nanos() as f64 / 1e3
            })
            .collect();
        times_us.sort_unstable_by(f64::total_cmp);
        times_us[times_us.len() / 2]
    }
}
