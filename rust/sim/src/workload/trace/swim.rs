//! Workloads of SWIM.

use elastane_core::Resources;
use elastane_core::cluster::Request;

use super::{amount, slots, spec};
use crate::input::{InputError, wrong};
use crate::workload::{ApplicationSpec, GIB};

/// The rate at which a task reads, shuffles and writes, and the use of its one core.
const SWIM_BYTES_PER_S: f64 = 50e6;
const SWIM_CPU_CORES: f64 = 0.8;
/// Bytes per executor, and the largest number of executors of a job.
const SWIM_BYTES_PER_EXECUTOR: f64 = 4e9;
const SWIM_MOST_EXECUTORS: f64 = 200.0;

/// SWIM knows only the bytes of a job: its executors read their part, shuffle, and write.
pub(super) fn read(text: &str) -> Result<Vec<ApplicationSpec>, InputError> {
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
        let request = Request { memory_bytes: (2.0 * GIB) as u64, vcores: 1 };
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
        let read = spec(id.to_owned(), submitted_ms, executors as u32, request, &series);
        applications.push(read.map_err(|error| wrong(place, error))?);
    }
    Ok(applications)
}
