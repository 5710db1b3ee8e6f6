//! How much memory an executor held, by the best that its log has.

use crate::event::ExecutorMetrics;

/// Resident memory of an executor's JVM over the most that its heap, code and buffers had held:
/// 1.46 to 1.52 in logs that have both (`docs/measurements/import.md`).
const RESIDENT_OVER_USED: f64 = 1.5;

/// Where the memory of an executor is from, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemorySource {
    /// The resident memory of its processes, which Spark logs when it is told to.
    Resident,
    /// The use of its JVM, times [`RESIDENT_OVER_USED`], at most what it requested.
    Heap,
    /// Nothing was logged: what it requested.
    Request,
}

/// How many executors have their memory from which source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// From [`MemorySource::Resident`].
    pub resident: u32,
    /// From [`MemorySource::Heap`].
    pub heap: u32,
    /// From [`MemorySource::Request`].
    pub request: u32,
}

impl MemoryCounts {
    pub(crate) fn add(&mut self, source: MemorySource) {
        match source {
            MemorySource::Resident => self.resident += 1,
            MemorySource::Heap => self.heap += 1,
            MemorySource::Request => self.request += 1,
        }
    }
}

/// The largest amounts that were reported in each slot, in bytes; 0 where nothing was.
#[derive(Default)]
pub(crate) struct MemoryPeaks {
    resident: Vec<f64>,
    used: Vec<f64>,
}

impl MemoryPeaks {
    pub(crate) fn add(&mut self, slots: std::ops::Range<usize>, metrics: &ExecutorMetrics) {
        let resident = metrics.jvm_resident + metrics.python_resident + metrics.other_resident;
        // Without the JVM's own process the others are a part of it only.
        if metrics.jvm_resident > 0.0 {
            raise(&mut self.resident, slots.clone(), resident);
        }
        let used = metrics.heap + metrics.off_heap + metrics.direct;
        if used > 0.0 {
            raise(&mut self.used, slots, used);
        }
    }

    /// What was held in each of `count` slots. What is known by task is better than by stage, and
    /// resident memory better than what the JVM used of it.
    pub(crate) fn series(
        by_task: &Self,
        by_stage: &Self,
        count: usize,
        request_bytes: f64,
    ) -> (Vec<f64>, MemorySource) {
        let first = |peaks: [&Vec<f64>; 2]| peaks.into_iter().find(|it| !it.is_empty()).cloned();
        if let Some(resident) = first([&by_task.resident, &by_stage.resident]) {
            return (held(resident, count), MemorySource::Resident);
        }
        let Some(mut used) = first([&by_task.used, &by_stage.used]) else {
            return (vec![request_bytes; count], MemorySource::Request);
        };
        // A JVM keeps what it touched.
        let mut most = 0.0_f64;
        for bytes in &mut used {
            most = most.max(*bytes * RESIDENT_OVER_USED).min(request_bytes);
            *bytes = most;
        }
        (held(used, count), MemorySource::Heap)
    }
}

fn raise(peaks: &mut Vec<f64>, slots: std::ops::Range<usize>, bytes: f64) {
    if slots.end > peaks.len() {
        peaks.resize(slots.end, 0.0);
    }
    for peak in &mut peaks[slots] {
        *peak = peak.max(bytes);
    }
}

/// A slot without a report holds what the one before did; before the first report, what it says.
fn held(mut peaks: Vec<f64>, count: usize) -> Vec<f64> {
    let first = peaks.iter().copied().find(|bytes| *bytes > 0.0);
    peaks.resize(count, 0.0);
    let mut latest = first.unwrap_or_default();
    for bytes in &mut peaks {
        if *bytes > 0.0 {
            latest = *bytes;
        }
        *bytes = latest;
    }
    peaks
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: f64 = 1e6;

    fn heap(bytes: f64) -> ExecutorMetrics {
        ExecutorMetrics {
            heap: bytes,
            ..ExecutorMetrics::default()
        }
    }

    fn resident(bytes: f64) -> ExecutorMetrics {
        ExecutorMetrics {
            jvm_resident: bytes,
            heap: bytes / 2.0,
            ..ExecutorMetrics::default()
        }
    }

    #[test]
    fn resident_memory_holds_until_the_next_report() {
        let mut peaks = MemoryPeaks::default();
        peaks.add(1..2, &resident(500.0 * MB));
        peaks.add(3..4, &resident(400.0 * MB));
        let (held, source) = MemoryPeaks::series(&peaks, &MemoryPeaks::default(), 5, 1e9);
        assert_eq!(held, [500.0, 500.0, 500.0, 400.0, 400.0].map(|mb| mb * MB));
        assert_eq!(source, MemorySource::Resident);
    }

    #[test]
    fn a_heap_never_shrinks_and_stays_within_the_request() {
        let mut peaks = MemoryPeaks::default();
        for (slot, mb) in [(0, 200.0), (1, 100.0), (2, 900.0)] {
            peaks.add(slot..slot + 1, &heap(mb * MB));
        }
        let (held, source) = MemoryPeaks::series(&peaks, &MemoryPeaks::default(), 3, 1e9);
        assert_eq!(held, [300.0 * MB, 300.0 * MB, 1e9]);
        assert_eq!(source, MemorySource::Heap);
    }

    #[test]
    fn stages_speak_where_tasks_are_silent() {
        let mut stages = MemoryPeaks::default();
        stages.add(0..2, &resident(300.0 * MB));
        let (held, _) = MemoryPeaks::series(&MemoryPeaks::default(), &stages, 2, 1e9);
        assert_eq!(held, [300.0 * MB; 2]);
    }
}
