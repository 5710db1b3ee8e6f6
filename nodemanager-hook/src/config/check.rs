//! Bounds that the types of the configuration do not express.

use std::{
    ops::RangeInclusive,
    path::{Component, Path},
};

use super::Config;
use crate::{container_id::ContainerId, network::NetworkDevice};

/// The longest path that fits a socket address of the kernel.
const MAX_SOCKET_PATH_BYTES: usize = 107;

/// The watch of a memory limit wakes at least this far below the limit.
const MIN_MARGIN_BYTES: u64 = 64 << 20;

pub struct BadValue {
    pub key: &'static str,
    pub value: String,
    pub allowed: String,
}

pub fn check(config: &Config) -> Result<(), BadValue> {
    let socket = &config.socket;
    let path_fits = socket.path.as_os_str().len() <= MAX_SOCKET_PATH_BYTES;
    require(
        socket.path.is_absolute() && socket.path.file_name().is_some() && path_fits,
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
    let sampling = config.sampling;
    within("sampling.interval_ms", sampling.interval_ms, 100..=60_000)?;
    let whole = sampling.sample_ms.is_multiple_of(sampling.interval_ms);
    require(
        whole && (1..=60_000).contains(&sampling.sample_ms),
        "sampling.sample_ms",
        sampling.sample_ms,
        format!(
            "a multiple of sampling.interval_ms ({}) up to 60000",
            sampling.interval_ms
        ),
    )?;
    require(
        is_group_path(&config.cgroup.parent),
        "cgroup.parent",
        config.cgroup.parent.display(),
        "a relative path whose names have letters, digits, `_`, `.` and `-`; the last name is not a \
         container id",
    )?;
    let memory = config.memory;
    require(
        memory.margin_bytes >= MIN_MARGIN_BYTES,
        "memory.margin_bytes",
        memory.margin_bytes,
        format!("a number of at least {MIN_MARGIN_BYTES}"),
    )?;
    within("memory.kill_after_ms", memory.kill_after_ms, 1000..=600_000)?;
    for directory in &config.disk.local_dirs {
        require(
            directory.is_absolute(),
            "disk.local_dirs",
            directory.display(),
            "absolute paths",
        )?;
    }
    for name in &config.network.devices {
        require(
            name.parse::<NetworkDevice>().is_ok(),
            "network.devices",
            name,
            "names of network devices: 1 to 15 bytes without blanks, `/` or `:`",
        )?;
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
    if let Some(file) = &config.audit.file {
        require(
            file.is_absolute() && file.file_name().is_some(),
            "audit.file",
            file.display(),
            "an absolute path",
        )?;
    }
    Ok(())
}

pub fn mode(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 8)
        .ok()
        .filter(|bits| *bits <= 0o777 && !text.starts_with('+'))
}

fn is_group_path(path: &Path) -> bool {
    // `Path::components` hides "." and double slashes, so the text is split here as well.
    let plain = path.to_str().is_some_and(|text| {
        text.split('/').all(|name| {
            !name.is_empty()
                && name != "."
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        })
    });
    let last_is_container = path
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.parse::<ContainerId>().is_ok());
    plain
        && !last_is_container
        && path
            .components()
            .all(|component| matches!(component, Component::Normal(_)))
}

fn within(key: &'static str, value: u64, allowed: RangeInclusive<u64>) -> Result<(), BadValue> {
    let bounds = format!("{} to {}", allowed.start(), allowed.end());
    require(allowed.contains(&value), key, value, bounds)
}

fn require(
    holds: bool,
    key: &'static str,
    value: impl ToString,
    allowed: impl ToString,
) -> Result<(), BadValue> {
    if holds {
        return Ok(());
    }
    Err(BadValue {
        key,
        value: value.to_string(),
        allowed: allowed.to_string(),
    })
}
