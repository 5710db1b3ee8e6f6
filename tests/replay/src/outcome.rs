use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::error::ReplayError;

/// How long the work took, and what made it longer.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// Without contention.
    pub(crate) undisturbed: Duration,
    pub(crate) taken: Duration,
    /// Time in the work of steps that took longer than they should have.
    pub(crate) late_cpu: Duration,
    pub(crate) late_disk: Duration,
    pub(crate) late_network: Duration,
}

#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    undisturbed_s: f64,
    taken_s: f64,
    late_cpu_s: f64,
    late_disk_s: f64,
    late_network_s: f64,
}

impl Outcome {
    /// Appends one line of JSON, which other executors' lines do not break.
    pub(crate) fn append(&self, file: &Path, name: &str) -> Result<(), ReplayError> {
        let line = Line {
            name,
            undisturbed_s: self.undisturbed.as_secs_f64(),
            taken_s: self.taken.as_secs_f64(),
            late_cpu_s: self.late_cpu.as_secs_f64(),
            late_disk_s: self.late_disk.as_secs_f64(),
            late_network_s: self.late_network.as_secs_f64(),
        };
        let text =
            serde_json::to_string(&line).map_err(|error| ReplayError::file(file)(error.into()))?;
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(file)
            // One call: the kernel appends the line as a whole.
            .and_then(|mut output| output.write_all(format!("{text}\n").as_bytes()))
            .map_err(ReplayError::file(file))
    }
}
