//! `elastane-lab reproduce sensitivity`: the main figures, one parameter changed at a time.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_cli::run_options::RunOptions;
use elastane_lab::Variation;
use elastane_lab::ispark::{self, Allocation, IsparkFigure, IsparkParameters};
use elastane_lab::monotasks;
use elastane_lab::reproduce::{Measured, STUDIES, Study, papers_settings};
use serde_json::{Value, json};

use super::super::failed;
use super::ispark::to_json;
use super::simulated::{compare, with_others};
use super::{ISPARK, URSA, refuse_changes};

/// Studies all papers, or only `of`.
pub(super) fn run(
    run: &RunOptions,
    of: Option<&str>,
    seeds: u32,
    output: &mut impl Write,
) -> Result<Value, Failure> {
    refuse_changes(run, "a sensitivity run changes the parameters itself")?;
    let mut names: Vec<&str> = STUDIES.iter().map(|study| study.lineup.workload).collect();
    names.extend([ISPARK, URSA]);
    if let Some(of) = of
        && !names.contains(&of)
    {
        let names = names.join(", ");
        let unknown = format!("sensitivity of {of}: not known, one of {names} is allowed");
        return Err(Failure::BadInput(unknown));
    }
    let is_wanted = |name: &str| of.is_none_or(|of| of == name);
    writeln!(output, "mean ± deviation over {seeds} seeds, one change at a time")?;
    let mut reports = Vec::new();
    for study in STUDIES.iter().filter(|study| is_wanted(study.lineup.workload)) {
        reports.push(study_one(study, run, seeds, output)?);
    }
    if is_wanted(ISPARK) {
        reports.push(study_ispark(run, seeds, output)?);
    }
    if is_wanted(URSA) {
        reports.push(study_ursa(run, seeds, output)?);
    }
    Ok(with_others(reports))
}

fn study_one(
    study: &Study,
    run: &RunOptions,
    seeds: u32,
    output: &mut impl Write,
) -> Result<Value, Failure> {
    let words = study.measures.iter().map(|measure| measure.words());
    write_heading(output, study.lineup.workload, words)?;
    let mut report = Value::Null;
    let mut rows = Vec::new();
    for variation in study.variations.iter().copied().flatten() {
        let compared = compare(run, papers_settings(), &study.lineup, seeds, variation.change)?;
        if report.is_null() {
            report = run.to_json(&compared);
        }
        let figures = study.measures.iter().filter_map(|measure| {
            let measured = measure.of(&compared)?;
            Some((measure.words(), measured))
        });
        rows.push(write_row(output, variation, figures)?);
    }
    report["sensitivity"] = rows.into();
    Ok(report)
}

fn study_ispark(run: &RunOptions, seeds: u32, output: &mut impl Write) -> Result<Value, Failure> {
    let figures = [
        IsparkFigure::ExecutorUtilizationGain(Allocation::Static),
        IsparkFigure::CompletionCut(Allocation::Static),
        IsparkFigure::CompletionCut(Allocation::Dynamic),
    ];
    let of = Allocation::Packed;
    write_heading(output, ISPARK, figures.iter().map(|figure| figure.words(of)))?;
    let mut report = Value::Null;
    let mut rows = Vec::new();
    for variation in ispark::VARIATIONS {
        let mut parameters = IsparkParameters::default();
        (variation.change)(&mut parameters);
        let compared = ispark::compare(&parameters, &run.seeds(seeds)).map_err(failed)?;
        if report.is_null() {
            report = to_json(&compared, &parameters);
        }
        let figures = figures.map(|figure| (figure.words(of), compared.measured(of, figure)));
        rows.push(write_row(output, variation, figures)?);
    }
    report["sensitivity"] = rows.into();
    Ok(report)
}

/// The effect of each part of Ursa; the unchanged tables are in `reproduce ursa`.
fn study_ursa(run: &RunOptions, seeds: u32, output: &mut impl Write) -> Result<Value, Failure> {
    let words = || monotasks::COSTS.iter().map(monotasks::Cost::words);
    write_heading(output, URSA, words())?;
    let seeds = run.seeds(seeds);
    let mut rows = Vec::new();
    for variation in monotasks::VARIATIONS {
        let measured = monotasks::costs(&monotasks::COSTS, variation, &seeds, run.threads())
            .map_err(failed)?;
        rows.push(write_row(output, variation, words().zip(measured))?);
    }
    Ok(json!({ "paper": URSA, "seeds": seeds, "sensitivity": rows }))
}

/// Numbers the columns, since their descriptions are long.
fn write_heading(
    output: &mut impl Write,
    workload: &str,
    words: impl Iterator<Item = String>,
) -> Result<(), Failure> {
    writeln!(output, "\n{workload}")?;
    let mut columns = format!("{:<48}", "");
    for (number, words) in (1..).zip(words) {
        writeln!(output, "({number}) {words}")?;
        columns += &format!(" {:>13}", format!("({number})"));
    }
    writeln!(output, "{columns}")?;
    output.flush()?;
    Ok(())
}

fn write_row<Change>(
    output: &mut impl Write,
    variation: &Variation<Change>,
    figures: impl IntoIterator<Item = (String, Measured)>,
) -> Result<Value, Failure> {
    let Variation { parameter, value, .. } = variation;
    write!(output, "{parameter:<22} {value:<25}")?;
    let mut columns = Vec::new();
    for (figure, measured) in figures {
        let cell = format!("{:.1} ± {:.1}", measured.mean(), measured.deviation());
        write!(output, " {cell:>13}")?;
        columns.push(json!({ "figure": figure, "ours": measured.values }));
    }
    writeln!(output)?;
    output.flush()?;
    Ok(json!({ "parameter": parameter, "value": value, "figures": columns }))
}
