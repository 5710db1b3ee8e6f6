//! Traces: files of SLS and SWIM, and series in CSV. They name no machines and run on [`TRACE_MACHINE`].

mod csv;
mod sls;
mod swim;

use elastane_core::cluster::Request;
use elastane_core::{Demand, DemandError, Resources, SLOT_MS};

use super::{ApplicationSpec, Errors, TRACE_MACHINE, Workload};
use crate::input::{InputError, wrong};

/// A kind of trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFormat {
    /// Input of Hadoop's scheduler load simulator, in JSON.
    Sls,
    /// A workload of SWIM, tab-separated.
    Swim,
    /// The use of one executor, as `t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s`.
    Csv,
}

impl Workload {
    /// Reads a trace, to run on this number of machines.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn from_trace(
        format: TraceFormat,
        text: &str,
        machines: usize,
    ) -> Result<Self, InputError> {
        let (name, applications) = match format {
            TraceFormat::Sls => ("sls", sls::read(text)?),
            TraceFormat::Swim => ("swim", swim::read(text)?),
            TraceFormat::Csv => ("csv", vec![csv::read(text)?]),
        };
        if applications.is_empty() {
            return Err(wrong("trace", "nothing in it, at least one job is needed"));
        }
        let workload = Workload {
            name: name.to_owned(),
            machines: vec![TRACE_MACHINE; machines],
            heartbeat_ms: 1_000,
            queues: Vec::new(),
            applications,
            masters: Vec::new(),
        };
        Ok(workload.sorted())
    }
}

fn spec(
    name: String,
    submitted_ms: i64,
    executors: u32,
    request: Request,
    series: &[Resources],
) -> Result<ApplicationSpec, DemandError> {
    let actual = Demand::series(SLOT_MS, series)?;
    Ok(ApplicationSpec {
        name,
        queue: 0,
        user: String::new(),
        submitted_ms,
        deadline_ms: None,
        executors,
        request,
        predicted: Some(actual.clone()),
        actual,
        lengths: None,
        errors: Errors::default(),
    })
}

/// One year; a longer time is taken for a typing error.
const MOST_SLOTS: f64 = 365.0 * 24.0 * 3_600e3 / SLOT_MS as f64;

/// The number of slots of a time; at least one.
fn slots(seconds: f64) -> usize {
    (seconds * 1e3 / f64::from(SLOT_MS)).ceil().clamp(1.0, MOST_SLOTS) as usize
}

fn amount(place: &str, key: &str, text: &str) -> Result<f64, InputError> {
    text.trim().parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0).ok_or_else(
        || {
            let problem = format!("{key} {text:?}, a number of at least 0 is allowed");
            wrong(place, problem)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::csv::HEADER;
    use super::*;

    fn read(format: TraceFormat, text: &str) -> Workload {
        Workload::from_trace(format, text, 2).unwrap()
    }

    #[test]
    fn a_swim_job_reads_shuffles_and_writes_its_bytes() {
        let workload = read(TraceFormat::Swim, "job0\t7\t0\t6000000000\t3000000000\t0\n");
        let job = &workload.applications[0];
        assert_eq!((job.submitted_ms, job.executors), (7_000, 2));
        let slots = job.actual.slots();
        assert_eq!(slots.len(), 30, "60 s to read, 30 s to shuffle");
        assert_eq!(slots[0].disk_bytes_per_s, 50e6);
        assert_eq!(slots[29].network_bytes_per_s, 50e6);
    }

    #[test]
    fn tasks_of_an_sls_job_that_are_alike_are_one_application() {
        let text = r#"{"job.id": "j", "job.start.ms": 5, "job.tasks": [
            {"container.start.ms": 0, "container.end.ms": 30000, "container.type": "map"},
            {"container.start.ms": 0, "container.end.ms": 60000, "container.type": "map"},
            {"duration.ms": 9000, "container.type": "reduce", "container.vcores": 2,
             "container.memory": 2048, "count": 3}]}
            {"job.id": "k", "job.tasks": [{"duration.ms": 3000}]}"#;
        let workload = read(TraceFormat::Sls, text);
        let applications = workload.applications.iter();
        let seen: Vec<_> =
            applications.map(|one| (&*one.name, one.executors, one.actual.slots().len())).collect();
        assert_eq!(seen, [("k/", 1, 1), ("j/map", 2, 15), ("j/reduce", 3, 3)]);
        assert!(workload.applications[1].errors.length > 0.4);
        assert_eq!(workload.applications[2].request.memory_bytes, 2_048 << 20);
    }

    #[test]
    fn rows_of_a_csv_hold_until_the_next_and_are_averaged_over_slots() {
        let text = format!("{HEADER}\n0,1,1e9,0,0\n2,4,2e9,0,0\n4,0,1e9,0,6e6\n");
        let workload = read(TraceFormat::Csv, &text);
        let job = &workload.applications[0];
        let cpu: Vec<f64> = job.actual.slots().iter().map(|slot| slot.cpu_cores).collect();
        assert_eq!(cpu.len(), 2);
        assert!((cpu[0] - 2.0).abs() < 1e-9 && (cpu[1] - 4.0 / 3.0).abs() < 1e-9, "{cpu:?}");
        assert_eq!(job.request.vcores, 2);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let wrong = |format, text: &str| {
            let read = Workload::from_trace(format, text, 1);
            read.unwrap_err().to_string()
        };
        assert_eq!(
            wrong(TraceFormat::Swim, "job0\t7\t0\t-1\t0\t0"),
            "line 1: map_input_bytes \"-1\", a number of at least 0 is allowed"
        );
        assert_eq!(wrong(TraceFormat::Swim, "job0\t7"), "line 1: 2 fields, at least 6 are needed");
        let csv = format!("{HEADER}\n1,1,1,1,1\n1,1,1,1,1\n");
        assert_eq!(
            wrong(TraceFormat::Csv, &csv),
            "line 3: t_s 1, later than the row before is needed"
        );
        assert!(wrong(TraceFormat::Sls, "{\"job.tasks\": 1}").starts_with("job 1: "));
        assert!(wrong(TraceFormat::Sls, "").starts_with("trace: nothing in it"));
    }
}
