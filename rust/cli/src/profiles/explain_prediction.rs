//! Prints a prediction.

use std::io::Write;

use elastane_core::Resource;
use elastane_predict::Feature;
use elastane_store::{ModelUsed, PredictionMade, PredictionRecord};

use crate::failure::Failure;
use crate::units::duration;

/// Maximum runs that are listed; of more, only the first and the last.
const MOST_NAMED: usize = 12;

pub(super) fn print_prediction(
    kind: &str,
    prediction: &PredictionRecord,
    is_made_again: bool,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let made = &prediction.made;
    let again = if is_made_again { ", made again from the runs before it" } else { "" };
    writeln!(output, "\n{kind}{again}")?;
    match (&made.not_predicted, made.confidence) {
        (Some(reason), _) => writeln!(output, "    not predicted, by request: {reason}")?,
        (None, Some(confidence)) => {
            let length = duration(made.expected_length_ms.unwrap_or_default());
            let prediction = format!("confidence {confidence:.2}, length {length}");
            writeln!(output, "    {}: {prediction}", made.method)?;
        }
        (None, None) => {}
    }
    if let Some(reason) = &made.reason {
        writeln!(output, "    since    {reason}")?;
    }
    if let Some(model) = &made.model {
        print_model(model, made, output)?;
    }
    let runs: Vec<&str> = made.runs.iter().map(String::as_str).collect();
    print_runs("from    ", &runs, "", output)?;
    for alike in made.left_out.chunk_by(|a, b| a.reason == b.reason) {
        let runs: Vec<&str> = alike.iter().map(|run| run.application_id.as_str()).collect();
        let reason = alike.first().map(|run| format!(": {}", run.reason));
        print_runs("left out", &runs, &reason.unwrap_or_default(), output)?;
    }
    if let Some(outcome) = &prediction.outcome {
        let length = duration(outcome.length_ms);
        writeln!(output, "    turned out: length {length}")?;
        for (at, resource) in Resource::ALL.into_iter().enumerate() {
            let covered = outcome.coverage[at] * 100.0;
            let waste = outcome.waste[at];
            let waste = waste.map_or("none was used".to_owned(), |w| format!("waste {w:.2}"));
            let name = resource.name();
            writeln!(output, "      {name:8} covered {covered:5.1} %, {waste}")?;
        }
    }
    Ok(())
}

/// Prints runs, newest first.
fn print_runs(
    label: &str,
    runs: &[&str],
    reason: &str,
    output: &mut impl Write,
) -> Result<(), Failure> {
    if let [newest, .., oldest] = runs
        && runs.len() > MOST_NAMED
    {
        let count = runs.len();
        writeln!(output, "    {label} {count} runs, {oldest} to {newest}{reason}")?;
        return Ok(());
    }
    for run in runs {
        writeln!(output, "    {label} {run}{reason}")?;
    }
    Ok(())
}

fn print_model(
    model: &ModelUsed,
    made: &PredictionMade,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let ModelUsed { runs, held_out_error, error_without_settings, confidence, .. } = model;
    writeln!(
        output,
        "    model    of {runs} runs: held-out error {held_out_error:.2}, \
         {error_without_settings:.2} without settings, confidence {confidence:.2}"
    )?;
    for Feature { name, least, most } in &model.features {
        let given = match made.settings.get(name) {
            Some(value) => format!("is {value}"),
            None => "was not known".to_owned(),
        };
        let range = format!("from {least} to {most} can be predicted");
        writeln!(output, "      {name} {given}, {range}")?;
    }
    let regressions = model.regressions.iter();
    let regressions: Vec<String> =
        regressions.map(|(target, kernel)| format!("{target} {kernel}")).collect();
    writeln!(output, "      {}", regressions.join(", "))?;
    Ok(())
}
