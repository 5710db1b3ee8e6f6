//! Bounds that the types of the configuration do not express.

use std::{fmt::Display, ops::RangeInclusive, path::Path};

use super::{Config, Sampling};
use crate::container_id::ContainerId;

/// The longest path that fits a socket address of the kernel.
const MAX_SOCKET_PATH_BYTES: usize = 107;

/// The watch of a memory limit wakes at least this far below the limit.
const MIN_MARGIN_BYTES: u64 = 64 << 20;

/// Returns the first value out of its bounds, and what is allowed.
pub fn check(config: &Config) -> Result<(), String> {
    let socket = &config.socket;
    let path_fits = socket.path.as_os_str().len() <= MAX_SOCKET_PATH_BYTES;
    require(
        is_absolute_file(&socket.path) && path_fits,
        "socket.path",
        socket.path.display(),
        format!("an absolute path of at most {MAX_SOCKET_PATH_BYTES} bytes"),
    )?;
    require(
        mode(&socket.mode).is_some(),
        "socket.mode",
        &socket.mode,
        "permission bits in octal, as \"0660\"",
    )?;
    let Sampling { interval_ms, sample_ms } = config.sampling;
    within("sampling.interval_ms", interval_ms, 100..=60_000)?;
    require(
        sample_ms.is_multiple_of(interval_ms) && (1..=60_000).contains(&sample_ms),
        "sampling.sample_ms",
        sample_ms,
        format!("a multiple of sampling.interval_ms ({interval_ms}) up to 60000"),
    )?;
    require(
        is_group_path(&config.cgroup.parent),
        "cgroup.parent",
        config.cgroup.parent.display(),
        "a relative path whose names have letters, digits, `_`, `.` and `-`; the last name is not a \
         container id",
    )?;
    let system_reserve = config.cgroup.system_reserve;
    let is_part = (0.01..=0.9).contains(&system_reserve);
    require(is_part, "cgroup.system_reserve", system_reserve, "0.01 to 0.9")?;
    let memory = config.memory;
    require(
        memory.margin_bytes >= MIN_MARGIN_BYTES,
        "memory.margin_bytes",
        memory.margin_bytes,
        format!("a number of at least {MIN_MARGIN_BYTES}"),
    )?;
    within("memory.kill_after_ms", memory.kill_after_ms, 1000..=600_000)?;
    for directory in &config.disk.local_dirs {
        let (is_absolute, name) = (directory.is_absolute(), directory.display());
        require(is_absolute, "disk.local_dirs", name, "absolute paths")?;
    }
    let capacity = config.capacity;
    if let Some(cores) = capacity.cpu_cores {
        let positive = cores.is_finite() && cores > 0.0;
        require(positive, "capacity.cpu_cores", cores, "a number above 0")?;
    }
    if let Some(bytes) = capacity.memory_bytes {
        let key = "capacity.memory_bytes";
        require(bytes > 0, key, bytes, "a number above 0")?;
    }
    if let Some(file) = config.audit.file() {
        let (is_absolute, name) = (is_absolute_file(file), file.display());
        require(is_absolute, "audit.file", name, "an absolute path, or nothing")?;
    }
    Ok(())
}

pub fn mode(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 8).ok().filter(|bits| *bits <= 0o777 && !text.starts_with('+'))
}

fn is_absolute_file(path: &Path) -> bool {
    path.is_absolute() && path.file_name().is_some()
}

/// Splits the text, since `Path::components` hides "." and double slashes.
fn is_group_path(path: &Path) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && name.bytes().all(is_allowed);
    let names: Vec<&str> = path.to_str().map(|text| text.split('/').collect()).unwrap_or_default();
    let is_container = |name: &&str| name.parse::<ContainerId>().is_ok();
    let ends_with_container = names.last().is_some_and(is_container);
    !names.is_empty() && names.into_iter().all(is_name) && !ends_with_container
}

fn within(key: &str, value: u64, allowed: RangeInclusive<u64>) -> Result<(), String> {
    let bounds = format!("{} to {}", allowed.start(), allowed.end());
    require(allowed.contains(&value), key, value, bounds)
}

fn require(
    holds: bool,
    key: &str,
    value: impl Display,
    allowed: impl Display,
) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(format!("{key} = {value}: allowed is {allowed}")),
    }
}
