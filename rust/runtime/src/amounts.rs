//! The numbers of a report. A number that no sensor can have measured refuses the report.

use std::fmt::Display;

use elastane_core::Resources;
use elastane_core::reprovision::Used;
use elastane_protocol::{Report, Sample, Usage};

/// More cores than any node has.
const MOST_CORES: f32 = 1e6;
/// More bytes, and bytes per second, than any node has: an exbibyte.
const MOST_BYTES: u64 = 1 << 60;

/// Longer than any sample, also of an agent that was stopped for a while.
const LONGEST_MS: u32 = 3_600_000;

/// A number that no sensor can have measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AmountError(String);

/// Checks every number of a report.
///
/// # Errors
/// The first one that is not finite or out of bounds.
pub(crate) fn check(report: &Report) -> Result<(), AmountError> {
    let capacity = report.capacity;
    cores("capacity in cores", capacity.cpu_cores)?;
    bytes("capacity of memory", capacity.memory_bytes)?;
    bytes("capacity of network", capacity.network_bytes_per_s)?;
    bytes("capacity of disk", capacity.disk_bytes_per_s)?;
    check_usage("usage of all containers", &report.containers_usage)?;
    check_usage("usage of the node", &report.node_usage)?;
    if let Some(pressure) = report.pressure {
        share("pressure of CPU", pressure.cpu)?;
        share("pressure of memory", pressure.memory)?;
        share("pressure of disk", pressure.disk)?;
    }
    for victim in &report.memory_victims {
        let of = |what: &str| format!("{what} of {}", victim.container);
        bytes(of("memory"), victim.resident_bytes)?;
        bytes(of("shortage that names"), victim.short_bytes)?;
    }
    for samples in &report.containers {
        let what = format!("usage of {}", samples.container);
        for sample in &samples.samples {
            within(format_args!("{what}: length in ms"), sample.length_ms, 0, LONGEST_MS)?;
            check_usage(&what, &sample.usage)?;
        }
        if let Some(stages) = samples.stages {
            let of = |what: &str| format!("{what} of tasks of {}", samples.container);
            share(of("ended part"), stages.part_ended)?;
            share(of("begun part"), stages.part_begun)?;
        }
    }
    Ok(())
}

fn check_usage(what: &str, usage: &Usage) -> Result<(), AmountError> {
    let Usage {
        cpu_cores,
        cpu_throttled,
        cpu_waited_cores,
        memory_bytes,
        anonymous_bytes,
        file_bytes,
        heap_used_bytes,
        heap_committed_bytes,
        network_in_bytes_per_s,
        network_out_bytes_per_s,
        disk_read_bytes_per_s,
        disk_write_bytes_per_s,
    } = *usage;
    cores(format_args!("{what}: cores"), cpu_cores)?;
    share(format_args!("{what}: throttled share"), cpu_throttled)?;
    cores(format_args!("{what}: waited for cores"), cpu_waited_cores)?;
    for (name, value) in [
        ("memory", memory_bytes),
        ("anonymous memory", anonymous_bytes),
        ("file memory", file_bytes),
        ("used heap", heap_used_bytes),
        ("committed heap", heap_committed_bytes),
        ("received", network_in_bytes_per_s),
        ("sent", network_out_bytes_per_s),
        ("read", disk_read_bytes_per_s),
        ("written", disk_write_bytes_per_s),
    ] {
        bytes(format_args!("{what}: {name}"), value)?;
    }
    Ok(())
}

fn cores(what: impl Display, value: f32) -> Result<(), AmountError> {
    within(what, value, 0.0, MOST_CORES)
}

fn share(what: impl Display, value: f32) -> Result<(), AmountError> {
    within(what, value, 0.0, 1.0)
}

fn bytes(what: impl Display, value: u64) -> Result<(), AmountError> {
    within(what, value, 0, MOST_BYTES)
}

fn within<T: PartialOrd + Display>(
    what: impl Display,
    value: T,
    least: T,
    most: T,
) -> Result<(), AmountError> {
    // NaN is within no bounds.
    if least <= value && value <= most {
        return Ok(());
    }
    Err(AmountError(format!("{what} is {value}, {least} to {most} is allowed")))
}

/// The node's physical size.
pub(crate) fn capacity(report: &Report) -> Resources {
    let capacity = report.capacity;
    Resources {
        cpu_cores: f64::from(capacity.cpu_cores),
        memory_bytes: capacity.memory_bytes as f64,
        network_bytes_per_s: capacity.network_bytes_per_s as f64,
        disk_bytes_per_s: capacity.disk_bytes_per_s as f64,
    }
}

/// What was used, of the resources that the core plans by.
pub(crate) fn used(usage: &Usage) -> Resources {
    Resources {
        cpu_cores: f64::from(usage.cpu_cores),
        memory_bytes: usage.memory_bytes as f64,
        network_bytes_per_s: usage.network_bytes_per_s() as f64,
        disk_bytes_per_s: usage.disk_bytes_per_s() as f64,
    }
}

/// A sample of a report that came at `now_ms`.
pub(crate) fn used_in(sample: &Sample, now_ms: i64) -> Used {
    let to_ms = now_ms - i64::from(sample.age_ms);
    Used {
        usage: used(&sample.usage),
        from_ms: to_ms - i64::from(sample.length_ms),
        to_ms,
        throttled: f64::from(sample.usage.cpu_throttled),
    }
}

/// What of a node's usage is not that of its containers.
pub(crate) fn used_by_others(report: &Report) -> Resources {
    (used(&report.node_usage) - used(&report.containers_usage)).map(|amount| amount.max(0.0))
}
