use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::error::ReplayError;

/// Amounts above these are refused: a mistake in the units, not a series.
const MOST_CORES: f64 = 1e4;
const MOST_BYTES: f64 = 1e15;

/// One line of the file.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Row {
    t_s: f64,
    cpu_cores: f64,
    memory_bytes: f64,
    network_bytes_per_s: f64,
    disk_bytes_per_s: f64,
}

/// What one executor does in a stretch of time, if nothing holds it back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slot {
    pub(crate) length: Duration,
    pub(crate) cpu_cores: f64,
    pub(crate) memory_bytes: f64,
    pub(crate) network_bytes_per_s: f64,
    pub(crate) disk_bytes_per_s: f64,
}

/// The slots of an executor, in order.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) slots: Vec<Slot>,
}

impl Series {
    /// Reads a CSV file. The last row holds as long as the one before it.
    pub(crate) fn read(path: &Path) -> Result<Self, ReplayError> {
        let wrap = |cause| ReplayError::Series { path: path.to_owned(), cause };
        let rows = csv::Reader::from_path(path)
            .map_err(wrap)?
            .deserialize()
            .collect::<Result<Vec<Row>, _>>()
            .map_err(wrap)?;
        let mut slots = Vec::with_capacity(rows.len());
        for (index, row) in rows.iter().enumerate() {
            // The header is line 1.
            let line = index + 2;
            let length_s = match (rows.get(index + 1), index) {
                (Some(next), _) => next.t_s - row.t_s,
                (None, 0) => 0.0,
                (None, _) => row.t_s - rows[index - 1].t_s,
            };
            let check = |name: &str, value: f64, most: f64, allowed| {
                if (0.0..=most).contains(&value) {
                    return Ok(value);
                }
                let place = format!("{}: line {line}: {name}", path.display());
                Err(ReplayError::OutOfRange { place, value, allowed })
            };
            if !(length_s > 0.0 && length_s <= 86_400.0) {
                let place =
                    format!("{}: line {line}: length of the slot in seconds", path.display());
                return Err(ReplayError::OutOfRange {
                    place,
                    value: length_s,
                    allowed: "above 0, to 86400",
                });
            }
            slots.push(Slot {
                length: Duration::from_secs_f64(length_s),
                cpu_cores: check("cpu_cores", row.cpu_cores, MOST_CORES, "0 to 1e4")?,
                memory_bytes: check("memory_bytes", row.memory_bytes, MOST_BYTES, "0 to 1e15")?,
                network_bytes_per_s: check(
                    "network_bytes_per_s",
                    row.network_bytes_per_s,
                    MOST_BYTES,
                    "0 to 1e15",
                )?,
                disk_bytes_per_s: check(
                    "disk_bytes_per_s",
                    row.disk_bytes_per_s,
                    MOST_BYTES,
                    "0 to 1e15",
                )?,
            });
        }
        Ok(Self { slots })
    }

    /// All slots longer by a factor; the rates stay, so the work grows with it.
    pub(crate) fn stretched(mut self, factor: f64) -> Result<Self, ReplayError> {
        if !(factor > 0.0 && factor <= 1000.0) {
            let place = "--stretch".to_owned();
            return Err(ReplayError::OutOfRange {
                place,
                value: factor,
                allowed: "above 0, to 1000",
            });
        }
        for slot in &mut self.slots {
            slot.length = slot.length.mul_f64(factor);
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Series, ReplayError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("one.csv");
        let header = "t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s\n";
        std::fs::write(&file, format!("{header}{text}")).unwrap();
        Series::read(&file)
    }

    #[test]
    fn a_row_holds_until_the_next_one_and_the_last_as_long_as_the_one_before() {
        let series = read("0,0.5,1000,0,7\n2,0,2000,0,0\n5,1,0,3,0\n").unwrap();
        let lengths: Vec<_> = series.slots.iter().map(|slot| slot.length.as_secs_f64()).collect();
        assert_eq!(lengths, [2.0, 3.0, 3.0]);
        assert_eq!(series.slots[0].disk_bytes_per_s, 7.0);
        assert_eq!(series.slots[2].network_bytes_per_s, 3.0);
    }

    #[test]
    fn a_bad_number_is_named_with_its_line() {
        let error = read("0,0.5,1000,0,7\n3,-1,0,0,0\n6,0,0,0,0\n").unwrap_err().to_string();
        assert!(error.contains("line 3: cpu_cores: -1, 0 to 1e4 is allowed"), "{error}");
        let error = read("0,0.5,1000,0,7\n0,1,0,0,0\n").unwrap_err().to_string();
        assert!(error.contains("line 2: length of the slot"), "{error}");
        assert!(read("0,0.5,x,0,7\n").is_err());
        assert!(read("0,NaN,0,0,7\n3,0,0,0,0\n").is_err());
    }

    #[test]
    fn stretching_keeps_the_rates() {
        let series = read("0,0.5,1000,0,7\n2,0,2000,0,0\n").unwrap().stretched(1.5).unwrap();
        assert_eq!(series.slots[0].length, Duration::from_secs(3));
        assert_eq!(series.slots[0].cpu_cores, 0.5);
        assert!(series.stretched(0.0).is_err());
    }
}
