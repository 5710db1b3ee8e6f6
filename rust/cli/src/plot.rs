//! Plots of series in plain text.

use std::io::{self, Write};

use crate::units;

const HEIGHT: usize = 6;
const WIDTH: usize = 60;
const INDENT: usize = 14;

/// Draws a series with one value per `slot_ms`; `unit` formats an amount. In long series, a column
/// shows its largest value.
pub(crate) fn draw(
    output: &mut impl Write,
    values: &[f64],
    slot_ms: u32,
    unit: impl Fn(f64) -> String,
) -> io::Result<()> {
    let columns = columns(values);
    let most = columns.iter().copied().fold(0.0, f64::max);
    for row in (1..=HEIGHT).rev() {
        let label = if row == HEIGHT { unit(most) } else { String::new() };
        let is_filled = |value: &f64| filled(*value, most) >= row;
        let columns = columns.iter();
        let line: String = columns.map(|value| if is_filled(value) { '#' } else { ' ' }).collect();
        writeln!(output, "{label:>INDENT$} |{}", line.trim_end())?;
    }
    let end = units::duration(i64::from(slot_ms).saturating_mul(values.len() as i64));
    let (none, axis) = (unit(0.0), "-".repeat(columns.len()));
    writeln!(output, "{none:>INDENT$} +{axis}")?;
    let width = columns.len().max(end.len() + 4);
    writeln!(output, "{:INDENT$}  0 s{end:>rest$}", "", rest = width - 3)
}

/// At most [`WIDTH`] columns: the maximum of each part of a long series, or several columns per value
/// of a short one.
fn columns(values: &[f64]) -> Vec<f64> {
    let length = values.len();
    let count = match length {
        0 => 0,
        1..=WIDTH => WIDTH / length * length,
        _ => WIDTH,
    };
    (0..count)
        .map(|column| {
            let start = column * length / count;
            let end = ((column + 1) * length / count).max(start + 1);
            values[start..end].iter().copied().fold(0.0, f64::max)
        })
        .collect()
}

/// The number of rows that a value fills; a value above 0 fills at least one.
fn filled(value: f64, most: f64) -> usize {
    if most > 0.0 { (value / most * HEIGHT as f64).ceil() as usize } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(values: &[f64]) -> String {
        let mut output = Vec::new();
        draw(&mut output, values, 3_000, |amount| format!("{amount:.1}")).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn a_plot_rises_with_its_values() {
        let (some, all) = ("#".repeat(20), "#".repeat(60));
        let expected = format!(
            "           6.0 |{0:40}{some}
               |{0:40}{some}
               |{0:40}{some}
               |{0:20}{some}{some}
               |{0:20}{some}{some}
               |{all}
           0.0 +{1}
                0 s{0:54}9 s
",
            "",
            "-".repeat(60)
        );
        assert_eq!(drawn(&[0.5, 3.0, 6.0]), expected);
    }

    #[test]
    fn a_short_peak_of_a_long_series_is_seen() {
        let mut values = vec![1.0; 1_000];
        values[617] = 6.0;
        let text = drawn(&values);
        assert_eq!(text.lines().next().unwrap().matches('#').count(), 1);
        assert!(text.lines().all(|line| line.len() <= INDENT + 2 + WIDTH));
        assert!(text.ends_with("50 min 0 s\n"));
    }

    #[test]
    fn a_series_of_nothing_is_drawn_empty() {
        assert!(!drawn(&[0.0, 0.0]).contains('#'));
    }
}
