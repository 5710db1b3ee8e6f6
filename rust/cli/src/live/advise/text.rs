//! Advice on a terminal.

use std::io::Write;

use super::answer::Comparison;
use super::{sentences, tables};
use crate::failure::Failure;
use crate::table::Table;
use crate::units::printable;

pub(super) fn print(
    comparison: &Comparison,
    is_recording: bool,
    top: usize,
    output: &mut impl Write,
) -> Result<(), Failure> {
    for sentence in sentences::all(comparison, is_recording) {
        writeln!(output, "{sentence}")?;
    }
    writeln!(output)?;
    tables::figures(comparison).print(output)?;
    print_gains(tables::QUEUES, &tables::queues(comparison), output)?;
    print_gains(tables::APPLICATIONS, &tables::applications(comparison, top), output)?;
    if let Some(left_out) = tables::left_out(comparison, top) {
        writeln!(output, "{left_out}")?;
    }
    if !comparison.advice.assumptions.is_empty() {
        writeln!(output, "\nThe replay assumes")?;
    }
    for assumption in &comparison.advice.assumptions {
        writeln!(output, "- {}", printable(assumption))?;
    }
    Ok(())
}

fn print_gains(title: &str, table: &Table, output: &mut impl Write) -> Result<(), Failure> {
    if table.is_empty() {
        return Ok(());
    }
    writeln!(output, "\n{title}")?;
    table.print(output)
}
