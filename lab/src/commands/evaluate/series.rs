//! Folders of recorded runs.

use std::fs;
use std::path::{Path, PathBuf};

use elastane_cli::failure::{Failure, read};
use elastane_core::{Demand, Resources, StageEnds};
use elastane_predict::{Outcome, Settings};

use super::recorded::{Recorded, RecordedApplication};
use super::settings::SettingsFile;
use crate::commands::series_format::{HEADER, SETTINGS};

/// Maximum slots of a run: four days of seconds.
const MOST_SLOTS: i64 = 345_600;

/// Each folder in `folder` that holds runs.
pub(super) fn read_folder(folder: &Path) -> Result<Vec<RecordedApplication>, Failure> {
    let mut applications = Vec::new();
    for path in entries(folder)?.into_iter().filter(|path| path.is_dir()) {
        let runs = read_application(&path)?;
        if !runs.is_empty() {
            let name = name_of(path.file_name());
            applications.push(RecordedApplication { name, runs });
        }
    }
    if applications.is_empty() {
        let problem = "no run in it, APPLICATION/RUN.csv is needed";
        return Err(Failure::bad(folder, problem));
    }
    Ok(applications)
}

fn read_application(folder: &Path) -> Result<Vec<Recorded>, Failure> {
    let path = folder.join(SETTINGS);
    let mut runs = Vec::new();
    for file in entries(folder)? {
        if file.extension().is_some_and(|extension| extension == "csv") {
            let used = from_csv(&read(&file)?).map_err(|problem| Failure::bad(&file, problem))?;
            runs.push(Recorded {
                name: name_of(file.file_stem()),
                outcome: Outcome::Succeeded,
                used,
                stage_ends: StageEnds::default(),
                settings: Settings::default(),
            });
        }
    }
    if path.exists() {
        let bad = |problem| Failure::bad(&path, problem);
        let file = SettingsFile::read(&read(&path)?).map_err(bad)?;
        file.apply(&mut runs).map_err(bad)?;
    }
    Ok(runs)
}

/// The entries of a folder, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let bad = |error| Failure::bad(folder, error);
    let mut entries = fs::read_dir(folder)
        .map_err(bad)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(bad)?;
    entries.sort();
    Ok(entries)
}

fn name_of(name: Option<&std::ffi::OsStr>) -> String {
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// A row holds until the time of the next row; the last one as long as the one before.
fn from_csv(text: &str) -> Result<Demand, String> {
    let mut lines = (1..).zip(text.lines());
    let header = lines.next().map_or("", |(_, line)| line.trim());
    if header != HEADER {
        return Err(format!("line 1: {header:?}, {HEADER} is needed"));
    }
    let mut rows: Vec<(i64, Resources)> = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let row = row(line).map_err(|problem| format!("line {number}: {problem}"))?;
        if rows.last().is_some_and(|(before_ms, _)| *before_ms >= row.0) {
            let t_s = row.0 as f64 / 1e3;
            let problem = "a millisecond later than the row before is needed";
            return Err(format!("line {number}: t_s {t_s}, {problem}"));
        }
        rows.push(row);
    }
    on_grid(&rows)
}

fn row(line: &str) -> Result<(i64, Resources), String> {
    let fields: Vec<&str> = line.trim().split(',').collect();
    let fields: [&str; 5] = fields
        .try_into()
        .map_err(|fields: Vec<&str>| format!("{} fields, 5 are needed", fields.len()))?;
    let mut amounts = [0.0; 5];
    for ((amount, text), name) in amounts.iter_mut().zip(fields).zip(HEADER.split(',')) {
        let number = text.trim().parse().ok();
        *amount = number
            .filter(|amount: &f64| (0.0..=1e18).contains(amount))
            .ok_or_else(|| format!("{name} {text:?}, a number from 0 to 1e18 is allowed"))?;
    }
    let [t_s, amounts @ ..] = amounts;
    Ok(((t_s * 1e3).round() as i64, Resources::from_array(amounts)))
}

/// Slots of the median length of the rows; each is the mean of its rows, and the largest of memory.
fn on_grid(rows: &[(i64, Resources)]) -> Result<Demand, String> {
    let mut lengths_ms: Vec<i64> = rows.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let [(first_ms, _), .., (last_ms, _)] = rows else {
        return Err(format!("{} rows, at least 2 are needed", rows.len()));
    };
    let last_length_ms = lengths_ms.last().copied().unwrap_or_default();
    let end_ms = last_ms + last_length_ms;
    lengths_ms.sort_unstable();
    let slot_ms = lengths_ms[lengths_ms.len() / 2];
    let slot = u32::try_from(slot_ms).map_err(|_| format!("rows {slot_ms} ms apart, too far"))?;
    let count = (end_ms - first_ms).saturating_add(slot_ms / 2) / slot_ms;
    if count > MOST_SLOTS {
        return Err(format!("{count} slots of {slot_ms} ms, at most {MOST_SLOTS} are allowed"));
    }
    let mut slots = vec![(Resources::ZERO, 0.0); count.max(1) as usize];
    let ends_ms = rows.iter().skip(1).map(|(ms, _)| *ms).chain([end_ms]);
    for ((from_ms, amounts), to_ms) in rows.iter().zip(ends_ms) {
        let (from_ms, to_ms) = (from_ms - first_ms, to_ms - first_ms);
        let touched = from_ms / slot_ms..=(to_ms - 1) / slot_ms;
        for at in touched {
            let Some((sum, covered_ms)) = slots.get_mut(at as usize) else {
                break;
            };
            let overlap_ms = to_ms.min((at + 1) * slot_ms) - from_ms.max(at * slot_ms);
            let most = sum.max(*amounts);
            *sum += *amounts * overlap_ms as f64;
            sum.memory_bytes = most.memory_bytes;
            *covered_ms += overlap_ms as f64;
        }
    }
    let slots: Vec<Resources> = slots
        .into_iter()
        .filter(|(_, covered_ms)| *covered_ms > 0.0)
        .map(|(sum, covered_ms)| Resources {
            memory_bytes: sum.memory_bytes,
            ..sum * (1.0 / covered_ms)
        })
        .collect();
    Demand::series(slot, &slots).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::series_format::to_csv;

    fn csv(rows: &str) -> Result<Demand, String> {
        from_csv(&format!("{HEADER}\n{rows}"))
    }

    #[test]
    fn even_rows_are_the_slots_and_survive_a_round_trip() {
        let read = csv("0,1,10,2,3\n2.5,0.5,20,0,0\n5,0,5,1,1\n").unwrap();
        assert_eq!(read.slot_ms(), 2_500);
        assert_eq!(read.slots()[1].to_array(), [0.5, 20.0, 0.0, 0.0]);
        assert_eq!(from_csv(&to_csv(&read)).unwrap(), read);
    }

    #[test]
    fn uneven_rows_are_shared_out_by_overlap() {
        // The second slot has half a second of 4 cores and one and a half of 2.
        let read = csv("10,4,10,0,0\n12.5,2,30,0,0\n14,2,20,0,0\n16,2,20,0,0\n").unwrap();
        assert_eq!(read.slot_ms(), 2_000);
        let cores: Vec<f64> = read.slots().iter().map(|slot| slot.cpu_cores).collect();
        assert_eq!(cores, [4.0, 2.5, 2.0, 2.0]);
        assert_eq!(read.slots()[1].memory_bytes, 30.0);
    }

    #[test]
    fn what_is_refused_names_line_value_and_what_is_allowed() {
        for (rows, problem) in [
            ("0,1,2,3,4\n", "1 rows, at least 2 are needed"),
            ("0,1,2,3\n", "line 2: 4 fields, 5 are needed"),
            (
                "0,1,2,3,4\n0,1,2,3,4\n",
                "line 3: t_s 0, a millisecond later than the row before is needed",
            ),
            (
                "0,1,2,-3,4\n",
                "line 2: network_bytes_per_s \"-3\", a number from 0 to 1e18 is allowed",
            ),
            ("0,nan,2,3,4\n", "line 2: cpu_cores \"nan\", a number from 0 to 1e18 is allowed"),
            (
                "0,1,1,1,1\n0.001,1,1,1,1\n0.002,1,1,1,1\n1e6,1,1,1,1\n",
                "1999999998 slots of 1 ms, at most 345600 are allowed",
            ),
        ] {
            assert_eq!(csv(rows).unwrap_err(), problem);
        }
        assert!(from_csv("time,cpu\n").unwrap_err().starts_with("line 1: \"time,cpu\""));
    }
}
