//! The series of one executor.

use elastane_core::cluster::Request;
use elastane_core::{Resources, SLOT_MS};

use super::{amount, slots, spec};
use crate::input::{InputError, wrong};
use crate::workload::ApplicationSpec;

pub(super) const HEADER: &str = "t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s";

/// One executor with the use of the series; each row holds until the time of the next.
pub(super) fn read(text: &str) -> Result<ApplicationSpec, InputError> {
    let mut lines = text.lines().enumerate();
    let header = lines.next().map_or("", |(_, line)| line.trim());
    if header != HEADER {
        return Err(wrong("line 1", format!("{header:?}, {HEADER} is needed")));
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
            return Err(wrong(place, format!("t_s {t_s}, later than the row before is needed")));
        }
        let mut read = [0.0; 4];
        for ((value, text), key) in read.iter_mut().zip(amounts).zip(HEADER.split(',').skip(1)) {
            *value = amount(&place, key, text)?;
        }
        rows.push((t_s, Resources::from_array(read)));
    }
    let series = resampled(&rows);
    let peak = series.iter().fold(Resources::ZERO, |peak, slot| peak.max(*slot));
    let request = Request {
        memory_bytes: peak.memory_bytes.ceil() as u64,
        vcores: (peak.cpu_cores.ceil() as u32).max(1),
    };
    let read = spec("csv".to_owned(), 0, 1, request, &series);
    read.map_err(|error| wrong("trace", error))
}

/// The mean use in each slot; the last row holds as long as the one before.
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
