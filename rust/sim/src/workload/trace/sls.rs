//! Input of Hadoop's scheduler load simulator.

use elastane_core::Resources;
use elastane_core::cluster::Request;
use serde::Deserialize;

use super::{slots, spec};
use crate::input::{InputError, wrong};
use crate::summary::{deviation, mean};
use crate::workload::{ApplicationSpec, Errors};

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

/// The defaults of SLS.
const SLS_MEMORY_MIB: u64 = 1_024;
const SLS_VCORES: u32 = 1;

/// Each kind of task of a job is an application. Its executors use their request, and their lengths have
/// the deviation of the tasks.
pub(super) fn read(text: &str) -> Result<Vec<ApplicationSpec>, InputError> {
    let mut applications = Vec::new();
    for (at, job) in serde_json::Deserializer::from_str(text).into_iter::<SlsJob>().enumerate() {
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
            match kinds.iter_mut().find(|(kind, known, _)| *kind == task.kind && *known == request)
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
            let errors = Errors { length: deviation(&durations_ms) / mean_ms, ..Errors::default() };
            let executors = durations_ms.len() as u32;
            let read = spec(name, job.start_ms.max(0), executors, request, &slots);
            applications
                .push(ApplicationSpec { errors, ..read.map_err(|error| wrong(&*place, error))? });
        }
    }
    Ok(applications)
}
