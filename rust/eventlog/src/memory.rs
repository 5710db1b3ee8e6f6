//! The memory of an executor, from the best source in its log.

use serde::Serialize;

use crate::event::ExecutorMetrics;

/// Resident memory of an executor's JVM over the peak of its heap, code and buffers: 1.46 to 1.52 in
/// logs that have both (`docs/measurements/import.md`).
const RESIDENT_OVER_USED: f64 = 1.5;

/// The source of the memory of an executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemorySource {
    Resident,
    Heap,
    Request,
}

/// The number of executors per source of memory, the best source first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct MemoryCounts {
    /// The resident memory of its processes, which Spark logs only if configured.
    pub resident: u32,
    /// The used memory of its JVM times 1.5, at most the request.
    pub heap: u32,
    /// The request, since nothing was logged.
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

/// The peaks reported in each slot, in bytes; 0 without a report.
#[derive(Default)]
pub(crate) struct MemoryPeaks {
    resident: Vec<f64>,
    used: Vec<f64>,
}

impl MemoryPeaks {
    pub(crate) fn add(&mut self, slots: std::ops::Range<usize>, metrics: &ExecutorMetrics) {
        let resident = metrics.jvm_resident + metrics.python_resident + metrics.other_resident;
        // Without the JVM's process, the sum is incomplete.
        if metrics.jvm_resident > 0.0 {
            raise(&mut self.resident, slots.clone(), resident);
        }
        let used = metrics.heap + metrics.off_heap + metrics.direct;
        if used > 0.0 {
            raise(&mut self.used, slots, used);
        }
    }

    /// The memory in each of `count` slots. Resident memory is preferred to used memory, and peaks per
    /// task to peaks per stage.
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
        // A JVM does not return memory that it has touched.
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

/// Fills slots without a report with the previous report, or else with the first one.
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
        ExecutorMetrics { heap: bytes, ..ExecutorMetrics::default() }
    }

    fn resident(bytes: f64) -> ExecutorMetrics {
        ExecutorMetrics { jvm_resident: bytes, heap: bytes / 2.0, ..ExecutorMetrics::default() }
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
