//! Prints a prediction.

use std::io::Write;

use elastane_core::Resource;
use elastane_predict::Feature;
use elastane_store::{LeftOutRun, ModelUsed, PredictionMade, PredictionRecord};

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
    let again = if is_made_again {
        ", made again from the runs before it"
    } else {
        ""
    };
    writeln!(output, "\n{kind}{again}")?;
    match (&made.not_predicted, made.confidence) {
        (Some(reason), _) => writeln!(output, "    not predicted, by request: {reason}")?,
        (None, Some(confidence)) => {
            let length = duration(made.expected_length_ms.unwrap_or_default());
            let method = &made.method;
            writeln!(
                output,
                "    {method}: confidence {confidence:.2}, length {length}"
            )?;
        }
        (None, None) => {}
    }
    if let Some(reason) = &made.reason {
        writeln!(output, "    since    {reason}")?;
    }
    if let Some(model) = &made.model {
        print_model(model, made, output)?;
    }
    match made.runs.as_slice() {
        [newest, .., oldest] if made.runs.len() > MOST_NAMED => {
            let runs = made.runs.len();
            writeln!(output, "    from     {runs} runs, {oldest} to {newest}")?;
        }
        runs => {
            for run in runs {
                writeln!(output, "    from     {run}")?;
            }
        }
    }
    for alike in made.left_out.chunk_by(|a, b| a.reason == b.reason) {
        print_left_out(alike, output)?;
    }
    if let Some(outcome) = &prediction.outcome {
        let length = duration(outcome.length_ms);
        writeln!(output, "    turned out: length {length}")?;
        for (at, resource) in Resource::ALL.into_iter().enumerate() {
            let covered = outcome.coverage[at] * 100.0;
            let waste = outcome.waste[at];
            let waste = waste.map_or("none was used".to_owned(), |w| format!("waste {w:.2}"));
            writeln!(
                output,
                "      {:8} covered {covered:5.1} %, {waste}",
                resource.name()
            )?;
        }
    }
    Ok(())
}

/// Prints runs that were left out for the same reason, newest first.
fn print_left_out(alike: &[LeftOutRun], output: &mut impl Write) -> Result<(), Failure> {
    if let [newest, .., oldest] = alike
        && alike.len() > MOST_NAMED
    {
        let (runs, reason) = (alike.len(), &oldest.reason);
        let (oldest, newest) = (&oldest.application_id, &newest.application_id);
        writeln!(
            output,
            "    left out {runs} runs, {oldest} to {newest}: {reason}"
        )?;
        return Ok(());
    }
    for LeftOutRun {
        application_id,
        reason,
    } in alike
    {
        writeln!(output, "    left out {application_id}: {reason}")?;
    }
    Ok(())
}

fn print_model(
    model: &ModelUsed,
    made: &PredictionMade,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let ModelUsed {
        runs,
        held_out_error,
        error_without_settings,
        confidence,
        ..
    } = model;
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
        writeln!(
            output,
            "      {name} {given}, from {least} to {most} can be predicted"
        )?;
    }
    let regressions = model.regressions.iter();
    let regressions: Vec<String> = regressions
        .map(|(target, kernel)| format!("{target} {kernel}"))
        .collect();
    writeln!(output, "      {}", regressions.join(", "))?;
    Ok(())
}
