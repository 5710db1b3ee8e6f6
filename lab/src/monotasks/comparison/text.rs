//! The tables in plain text.

use std::fmt::{self, Display, Formatter};

use elastane_sim::summary::mean;

use super::{Figure, Reproduction, SystemRow, Table};

/// Widths of columns in characters.
const NAME: usize = 15;
const CELL: usize = 36;

impl Display for Reproduction {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let seeds = self.seeds.len();
        writeln!(out, "{}, {seeds} seeds", self.paper)?;
        writeln!(out, "Each cell: published | median of ours [least, most]")?;
        for table in &self.tables {
            write!(out, "\n{table}")?;
        }
        Ok(())
    }
}

impl Display for Table {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let bound_s = mean(&self.lower_bound_s);
        writeln!(out, "{} (workload {})", self.title, self.workload)?;
        writeln!(out, "lower bound of the makespan: {bound_s:.1} s in the mean")?;
        let mut heading = format!("{:NAME$}", "system");
        if let Some(first) = self.systems.first() {
            for figure in &first.figures {
                heading.push_str(&format!("{:CELL$}", figure.metric.name()));
            }
        }
        writeln!(out, "{heading}over the bound")?;
        for system in &self.systems {
            self.row(out, system)?;
        }
        for system in &self.systems {
            for remark in &system.remarks {
                writeln!(out, "  {}: {remark}", system.name)?;
            }
        }
        Ok(())
    }
}

impl Table {
    fn row(&self, out: &mut Formatter<'_>, system: &SystemRow) -> fmt::Result {
        write!(out, "{:NAME$}", system.name)?;
        for figure in &system.figures {
            write!(out, "{:CELL$}", cell(figure))?;
        }
        let pairs = system.makespan_s.iter().zip(&self.lower_bound_s);
        let over_bound: Vec<f64> =
            pairs.map(|(makespan_s, bound_s)| makespan_s / bound_s).collect();
        writeln!(out, "{:.2}", mean(&over_bound))
    }
}

fn cell(figure: &Figure) -> String {
    let published =
        figure.published.map_or_else(|| "-".to_owned(), |published| format!("{published:.1}"));
    let Some(median) = figure.median() else {
        return published;
    };
    let ours = figure.ours.iter().copied();
    let (least, most) =
        (ours.clone().fold(f64::INFINITY, f64::min), ours.fold(f64::NEG_INFINITY, f64::max));
    format!("{published} | {median:.1} [{least:.1}, {most:.1}]")
}
