//! Formats amounts and times.

use elastane_core::Resource;
use jiff::Timestamp;

/// A user may choose any name.
const LONGEST_NAME: usize = 80;

/// An amount with its unit: `0.25 cores`, `1.5 GiB`, `12.0 MB/s`.
pub fn amount(resource: Resource, amount: f64) -> String {
    match resource {
        Resource::Cpu => format!("{amount:.2} cores"),
        Resource::Memory => memory(amount),
        Resource::Network | Resource::Disk => rate(amount),
    }
}

/// Bytes of memory in binary units, as YARN counts it: a container of 1,024 MB has `1.0 GiB`.
pub fn memory(bytes: f64) -> String {
    in_units(bytes, 1024.0, ["TiB", "GiB", "MiB", "KiB"])
}

/// Bytes per second in decimal units, as networks and disks are sold: `12.0 MB/s`.
pub fn rate(bytes_per_s: f64) -> String {
    in_units(bytes_per_s, 1000.0, ["TB", "GB", "MB", "KB"]) + "/s"
}

fn in_units(bytes: f64, step: f64, units: [&str; 4]) -> String {
    let sizes = [4, 3, 2, 1].map(|power| step.powi(power));
    match sizes.into_iter().zip(units).find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", bytes / size),
        None => format!("{bytes:.0} B"),
    }
}

/// A length of time: `45 s`, `3 min 6 s`, `2 h 0 min`.
pub fn duration(milliseconds: i64) -> String {
    let seconds = milliseconds / 1_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A moment in UTC: `2026-11-21T14:40:03.120Z`.
pub fn moment(unix_ms: i64) -> String {
    match Timestamp::from_millisecond(unix_ms) {
        Ok(moment) => format!("{moment:.3}"),
        Err(_) => format!("{unix_ms} ms"),
    }
}

/// A name that somebody chose, without what would steer a terminal.
pub fn printable(name: &str) -> String {
    name.replace(char::is_control, "\u{fffd}")
}

/// A name for a table: printable, and without its middle where it is long. Keys differ at their end as well.
pub fn shortened(name: &str) -> String {
    let name = printable(name);
    let length = name.chars().count();
    if length <= LONGEST_NAME {
        return name;
    }
    let begin = name.chars().take(LONGEST_NAME / 2);
    let end = name.chars().skip(length - LONGEST_NAME / 2 + 1);
    begin.chain(['…']).chain(end).collect()
}

/// Hours of cores, nodes or GB, without a unit.
pub fn hours(hours: f64) -> String {
    if hours < 100.0 { format!("{hours:.2}") } else { format!("{hours:.0}") }
}

/// `1 run`, `2 runs`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_their_unit() {
        assert_eq!(amount(Resource::Cpu, 0.254), "0.25 cores");
        assert_eq!(amount(Resource::Memory, 1_610_612_736.0), "1.5 GiB");
        assert_eq!(amount(Resource::Memory, 536_870_912.0), "512.0 MiB");
        assert_eq!(amount(Resource::Memory, 1_000.0), "1000 B");
        assert_eq!(amount(Resource::Disk, 12.04e6), "12.0 MB/s");
        assert_eq!(amount(Resource::Network, 0.0), "0 B/s");
    }

    #[test]
    fn times_are_readable_and_none_panics() {
        assert_eq!(duration(45_999), "45 s");
        assert_eq!(duration(186_000), "3 min 6 s");
        assert_eq!(duration(7_200_000), "2 h 0 min");
        assert_eq!(moment(1_763_735_993_007), "2025-11-21T14:39:53.007Z");
        assert_eq!(moment(i64::MAX), format!("{} ms", i64::MAX));
    }
}
