//! Traces: files of SLS and SWIM, and series in CSV.
//!
//! None of them says what machines there are: they run on Elasecutor's.

use elastane_core::cluster::Request;
use elastane_core::{Demand, DemandError, Resources, SLOT_MS};
use serde::Deserialize;

use super::Workload;
use super::application::{ApplicationSpec, Errors};
use super::class::GIB;
use super::elasecutor;
use crate::input::{InputError, wrong};
use crate::summary::{deviation, mean};

/// A kind of trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFormat {
    /// Input of Hadoop's scheduler load simulator, in JSON.
    Sls,
    /// A workload of SWIM, tab-separated.
    Swim,
    /// What one executor used, as `t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s`.
    Csv,
}

impl Workload {
    /// Reads a trace, to run on so many of Elasecutor's machines.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn from_trace(
        format: TraceFormat,
        text: &str,
        machines: usize,
    ) -> Result<Self, InputError> {
        let (name, applications) = match format {
            TraceFormat::Sls => ("sls", sls(text)?),
            TraceFormat::Swim => ("swim", swim(text)?),
            TraceFormat::Csv => ("csv", vec![csv(text)?]),
        };
        if applications.is_empty() {
            return Err(wrong("trace", "nothing in it, at least one job is needed"));
        }
        let machine = elasecutor::machines().into_iter().next();
        let workload = Workload {
            name: name.to_owned(),
            machines: vec![machine.unwrap_or_default(); machines],
            heartbeat_ms: 1_000,
            applications,
        };
        Ok(workload.sorted())
    }
}

#[derive(Deserialize)]
struct SlsJob {
    #[serde(rename = "job.id", default)]
    id: String,
    #[serde(rename = "job.start.ms", default)]
    start_ms: i64,
    #[serde(rename = "job.tasks")]
    tasks: Vec<SlsTask>,
}

#[derive(Deserialize)]
struct SlsTask {
    #[serde(rename = "container.start.ms", default)]
    start_ms: i64,
    #[serde(rename = "container.end.ms")]
    end_ms: Option<i64>,
    #[serde(rename = "duration.ms")]
    duration_ms: Option<i64>,
    #[serde(rename = "container.type", default)]
    kind: String,
    #[serde(rename = "container.memory")]
    memory_mib: Option<u64>,
    #[serde(rename = "container.vcores")]
    vcores: Option<u32>,
    #[serde(default = "one")]
    count: u32,
}

fn one() -> u32 {
    1
}

/// What SLS takes where a task says nothing.
const SLS_MEMORY_MIB: u64 = 1_024;
const SLS_VCORES: u32 = 1;

/// Each kind of task of a job is an application whose executors use what they ask for, and differ
/// in length as the tasks did.
fn sls(text: &str) -> Result<Vec<ApplicationSpec>, InputError> {
    let mut applications = Vec::new();
    for (at, job) in serde_json::Deserializer::from_str(text)
        .into_iter::<SlsJob>()
        .enumerate()
    {
        let place = format!("job {}", at + 1);
        let job = job.map_err(|error| wrong(&*place, error))?;
        let mut kinds: Vec<(&str, Request, Vec<f64>)> = Vec::new();
        for (task_at, task) in job.tasks.iter().enumerate() {
            let place = format!("{place}.job.tasks[{task_at}]");
            let duration_ms = task
                .duration_ms
                .or_else(|| Some(task.end_ms? - task.start_ms))
                .filter(|duration_ms| *duration_ms > 0)
                .ok_or_else(|| {
                    wrong(
                        place,
                        "duration.ms, or container.end.ms after container.start.ms, is needed",
                    )
                })?;
            let request = Request {
                memory_bytes: task.memory_mib.unwrap_or(SLS_MEMORY_MIB) << 20,
                vcores: task.vcores.unwrap_or(SLS_VCORES),
            };
            let durations = std::iter::repeat_n(duration_ms as f64, task.count as usize);
            match kinds
                .iter_mut()
                .find(|(kind, known, _)| *kind == task.kind && *known == request)
            {
                Some((.., known)) => known.extend(durations),
                None => kinds.push((&task.kind, request, durations.collect())),
            }
        }
        for (kind, request, durations_ms) in kinds {
            let name = format!("{}/{kind}", job.id);
            let constant = Resources {
                cpu_cores: f64::from(request.vcores),
                memory_bytes: request.memory_bytes as f64,
                ..Resources::ZERO
            };
            let mean_ms = mean(&durations_ms);
            let slots = vec![constant; slots(mean_ms / 1e3)];
            let errors = Errors {
                length: deviation(&durations_ms) / mean_ms,
                ..Errors::default()
            };
            let executors = durations_ms.len() as u32;
            let read = spec(name, job.start_ms.max(0), executors, request, &slots);
            applications.push(ApplicationSpec {
                errors,
                ..read.map_err(|error| wrong(&*place, error))?
            });
        }
    }
    Ok(applications)
}

/// How fast a task reads, shuffles and writes, with one core of which it keeps most busy.
const SWIM_BYTES_PER_S: f64 = 50e6;
const SWIM_CPU_CORES: f64 = 0.8;
/// What one executor handles, and the most executors that a job has.
const SWIM_BYTES_PER_EXECUTOR: f64 = 4e9;
const SWIM_MOST_EXECUTORS: f64 = 200.0;

/// SWIM knows the bytes of a job alone: its executors read their part, shuffle, and write.
fn swim(text: &str) -> Result<Vec<ApplicationSpec>, InputError> {
    let mut applications = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let place = format!("line {}", at + 1);
        let fields: Vec<&str> = line.split('\t').collect();
        let [id, submitted_s, _gap_s, input, shuffle, output, ..] = fields[..] else {
            let problem = format!("{} fields, at least 6 are needed", fields.len());
            return Err(wrong(place, problem));
        };
        let submitted_s = amount(&place, "submit_time_seconds", submitted_s)?;
        let input = amount(&place, "map_input_bytes", input)?;
        let shuffle = amount(&place, "shuffle_bytes", shuffle)?;
        let output = amount(&place, "reduce_output_bytes", output)?;
        let most = input.max(shuffle).max(output) / SWIM_BYTES_PER_EXECUTOR;
        let executors = most.ceil().clamp(1.0, SWIM_MOST_EXECUTORS);
        let request = Request {
            memory_bytes: (2.0 * GIB) as u64,
            vcores: 1,
        };
        let used = |network_bytes_per_s: f64, disk_bytes_per_s: f64| Resources {
            cpu_cores: SWIM_CPU_CORES,
            memory_bytes: GIB,
            network_bytes_per_s,
            disk_bytes_per_s,
        };
        let mut series = Vec::new();
        for (bytes, amounts) in [
            (input, used(0.0, SWIM_BYTES_PER_S)),
            (shuffle, used(SWIM_BYTES_PER_S, 0.0)),
            (output, used(0.0, SWIM_BYTES_PER_S)),
        ] {
            if bytes > 0.0 {
                let length = slots(bytes / executors / SWIM_BYTES_PER_S);
                series.extend(std::iter::repeat_n(amounts, length));
            }
        }
        if series.is_empty() {
            series.push(used(0.0, 0.0));
        }
        let submitted_ms = (submitted_s * 1e3) as i64;
        let read = spec(
            id.to_owned(),
            submitted_ms,
            executors as u32,
            request,
            &series,
        );
        applications.push(read.map_err(|error| wrong(place, error))?);
    }
    Ok(applications)
}

const CSV_HEADER: &str = "t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s";

/// One executor that uses what the series says, each row until the time of the next.
fn csv(text: &str) -> Result<ApplicationSpec, InputError> {
    let mut lines = text.lines().enumerate();
    let header = lines.next().map_or("", |(_, line)| line.trim());
    if header != CSV_HEADER {
        return Err(wrong(
            "line 1",
            format!("{header:?}, {CSV_HEADER} is needed"),
        ));
    }
    let mut rows: Vec<(f64, Resources)> = Vec::new();
    for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("line {}", at + 1);
        let fields: Vec<&str> = line.trim().split(',').collect();
        let [t_s, amounts @ ..] = &fields[..] else {
            continue;
        };
        let Ok(amounts) = <[&str; 4]>::try_from(amounts) else {
            let problem = format!("{} fields, 5 are needed", fields.len());
            return Err(wrong(place, problem));
        };
        let t_s = amount(&place, "t_s", t_s)?;
        if rows.last().is_some_and(|(last_s, _)| *last_s >= t_s) {
            return Err(wrong(
                place,
                format!("t_s {t_s}, later than the row before is needed"),
            ));
        }
        let mut read = [0.0; 4];
        for ((value, text), key) in read
            .iter_mut()
            .zip(amounts)
            .zip(CSV_HEADER.split(',').skip(1))
        {
            *value = amount(&place, key, text)?;
        }
        rows.push((t_s, Resources::from_array(read)));
    }
    let series = resampled(&rows);
    let peak = series
        .iter()
        .fold(Resources::ZERO, |peak, slot| peak.max(*slot));
    let request = Request {
        memory_bytes: peak.memory_bytes.ceil() as u64,
        vcores: (peak.cpu_cores.ceil() as u32).max(1),
    };
    let read = spec("csv".to_owned(), 0, 1, request, &series);
    read.map_err(|error| wrong("trace", error))
}

/// One value a slot: the mean of what the rows say; the last row holds as long as the one before.
fn resampled(rows: &[(f64, Resources)]) -> Vec<Resources> {
    let slot_s = f64::from(SLOT_MS) / 1e3;
    let (Some((first_s, _)), Some((last_s, _))) = (rows.first(), rows.last()) else {
        return Vec::new();
    };
    let last_length_s = match rows {
        [.., (before_s, _), (last_s, _)] => last_s - before_s,
        _ => slot_s,
    };
    let end_s = last_s + last_length_s;
    let mut series = vec![Resources::ZERO; slots(end_s - first_s)];
    let ends_s = rows.iter().skip(1).map(|(t_s, _)| *t_s).chain([end_s]);
    for ((from_s, amounts), to_s) in rows.iter().zip(ends_s) {
        let (from, to) = ((from_s - first_s) / slot_s, (to_s - first_s) / slot_s);
        for (at, slot) in series.iter_mut().enumerate().skip(from as usize) {
            let (begin, end) = (from.max(at as f64), to.min(at as f64 + 1.0));
            if end <= begin {
                break;
            }
            *slot += *amounts * (end - begin);
        }
    }
    series
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
        submitted_ms,
        executors,
        request,
        predicted: Some(actual.clone()),
        actual,
        errors: Errors::default(),
    })
}

/// More than a year is a slip of the pen.
const MOST_SLOTS: f64 = 365.0 * 24.0 * 3_600e3 / SLOT_MS as f64;

/// How many slots a time takes; at least one.
fn slots(seconds: f64) -> usize {
    (seconds * 1e3 / f64::from(SLOT_MS))
        .ceil()
        .clamp(1.0, MOST_SLOTS) as usize
}

fn amount(place: &str, key: &str, text: &str) -> Result<f64, InputError> {
    text.trim()
        .parse()
        .ok()
        .filter(|amount: &f64| amount.is_finite() && *amount >= 0.0)
        .ok_or_else(|| {
            let problem = format!("{key} {text:?}, a number of at least 0 is allowed");
            wrong(place, problem)
        })
}

#[cfg(test)]
mod tests {
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
        let seen: Vec<_> = applications
            .map(|one| (&*one.name, one.executors, one.actual.slots().len()))
            .collect();
        assert_eq!(seen, [("k/", 1, 1), ("j/map", 2, 15), ("j/reduce", 3, 3)]);
        assert!(workload.applications[1].errors.length > 0.4);
        assert_eq!(workload.applications[2].request.memory_bytes, 2_048 << 20);
    }

    #[test]
    fn rows_of_a_csv_hold_until_the_next_and_are_averaged_over_slots() {
        let text = format!("{CSV_HEADER}\n0,1,1e9,0,0\n2,4,2e9,0,0\n4,0,1e9,0,6e6\n");
        let workload = read(TraceFormat::Csv, &text);
        let job = &workload.applications[0];
        let cpu: Vec<f64> = job
            .actual
            .slots()
            .iter()
            .map(|slot| slot.cpu_cores)
            .collect();
        assert_eq!(cpu.len(), 2);
        assert!(
            (cpu[0] - 2.0).abs() < 1e-9 && (cpu[1] - 4.0 / 3.0).abs() < 1e-9,
            "{cpu:?}"
        );
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
        assert_eq!(
            wrong(TraceFormat::Swim, "job0\t7"),
            "line 1: 2 fields, at least 6 are needed"
        );
        let csv = format!("{CSV_HEADER}\n1,1,1,1,1\n1,1,1,1,1\n");
        assert_eq!(
            wrong(TraceFormat::Csv, &csv),
            "line 3: t_s 1, later than the row before is needed"
        );
        assert!(wrong(TraceFormat::Sls, "{\"job.tasks\": 1}").starts_with("job 1: "));
        assert!(wrong(TraceFormat::Sls, "").starts_with("trace: nothing in it"));
    }
}
