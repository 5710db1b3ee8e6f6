//! The scores as a table and as JSON.

use std::collections::BTreeMap;
use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_cli::units::count;
use elastane_core::Resource;
use elastane_lab::evaluation::{Evaluated, Method, Plain, ProgressMissed};
use elastane_predict::{NotForeseen, NotPlanned, NotPredicted, Score};
use serde_json::{Value, json};

use super::Judged;
use super::summary::{PREDICTIONS, Summary};
use super::ways::{Ways, name};

/// The method whose waste is the unit of the others' waste.
const COMPARED_WITH: Method = Method::Plain(Plain::ConstantPeak);

pub(super) fn write_table(
    output: &mut impl Write,
    judged: &[Judged],
    ways: &Ways,
    summary: &Summary,
) -> Result<(), Failure> {
    let predicted = count(summary.predicted, "run");
    writeln!(output, "{predicted} predicted, each from those before it")?;
    for (reason, runs) in not_predicted(judged) {
        writeln!(output, "{} not predicted: {reason}", count(runs, "run"))?;
    }
    ways.write(output)?;
    if summary.predicted == 0 {
        return Ok(());
    }
    let columns = format!("{:>10}{:>7}{:>9}{:>7}", "coverage", "waste", "of peak", "total");
    for (at, resource) in Resource::ALL.into_iter().enumerate() {
        let (name, submission) = (resource.name(), "at submission");
        writeln!(output, "\n{name:<28}{submission:>18}{:>34}", "tracked")?;
        writeln!(output, "{:<26}{columns} {columns}", "")?;
        for (number, method) in Method::ALL.iter().enumerate() {
            let line = summary.means.each_ref().map(|means| {
                let peak = Method::ALL.iter().position(|it| *it == COMPARED_WITH);
                cells(means[number][at], peak.and_then(|peak| means[peak][at].waste))
            });
            writeln!(output, "{:<26}{}", method.name(), line.join(" "))?;
        }
    }
    if let Some(missed) = summary.progress_missed {
        writeln!(
            output,
            "\nerror of progress: {:.3} tracked by runs, {:.3} by the demand, {:.3} by the clock",
            missed.by_runs, missed.by_demand, missed.by_clock
        )?;
    }
    if let Some((count, ProgressMissed { by_demand, by_clock, by_stages: Some(by_stages), .. })) =
        summary.told_stages
    {
        writeln!(
            output,
            "of {count} that told their stages: {by_stages:.3} by these, {by_demand:.3} by the \
             demand, {by_clock:.3} by the clock"
        )?;
    }
    Ok(())
}

/// The number of runs that were not predicted, by reason.
fn not_predicted(judged: &[Judged]) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for run in judged {
        if let Err(reason) = &run.evaluated.outcome {
            let reason = match reason {
                NotPlanned::Runs(NotPredicted::Unsure(_, least)) => {
                    format!("the confidence is below {least}")
                }
                NotPlanned::Unsure(_, least) => {
                    format!("the confidence of the model is below {least}")
                }
                NotPlanned::Settings(NotForeseen::Changed(_)) => {
                    "the application changed, too few runs are newer".to_owned()
                }
                NotPlanned::Settings(_) => "settings unlike those before".to_owned(),
                reason => reason.to_string(),
            };
            *reasons.entry(reason).or_default() += 1;
        }
    }
    reasons
}

fn cells(mean: Score, peak: Option<f64>) -> String {
    let number = |number: Option<f64>| number.map_or("-".to_owned(), |it| format!("{it:.2}"));
    let coverage = format!("{:.1} %", mean.coverage * 100.0);
    let of_peak = mean.waste.zip(peak).map(|(waste, peak)| waste / peak);
    let (waste, of_peak, total) = (number(mean.waste), number(of_peak), number(mean.total));
    format!("{coverage:>10}{waste:>7}{of_peak:>9}{total:>7}")
}

pub(super) fn to_json(judged: &[Judged], summary: &Summary) -> Value {
    let mut json = json!({
        "predicted": summary.predicted,
        "progress_missed": summary.progress_missed.map(progress_json),
        "progress_missed_of_runs_with_stages": summary.told_stages.map(|(_, it)| progress_json(it)),
        "runs": judged.iter().map(run_json).collect::<Vec<_>>(),
    });
    for ((key, _), means) in PREDICTIONS.iter().zip(&summary.means) {
        let methods = Method::ALL.iter().zip(means);
        json[key] = methods.map(|(method, means)| (method.name(), scores_json(means))).collect();
    }
    json
}

fn run_json(judged: &Judged) -> Value {
    let Evaluated { way, outcome, left_out } = &judged.evaluated;
    let left_out =
        left_out.iter().map(|it| json!({ "run": it.id, "reason": it.reason.to_string() }));
    let mut run = json!({
        "application": judged.application,
        "run": judged.run,
        "left_out": left_out.collect::<Vec<_>>(),
    });
    if judged.settings_differ {
        run["way"] = json!(name(*way));
    }
    match outcome {
        Ok(scored) => {
            run["predicted_from"] = json!(scored.prediction.runs);
            run["confidence"] = json!(scored.prediction.confidence);
            run["length_ms"] = json!(scored.prediction.length_ms());
            run["progress_missed"] = progress_json(scored.progress_missed);
            for (key, of_method) in PREDICTIONS {
                let methods = scored.methods.iter();
                run[key] = methods
                    .map(|scores| (scores.method.name(), scores_json(&of_method(scores))))
                    .collect();
            }
        }
        Err(reason) => run["not_predicted"] = json!(reason.to_string()),
    }
    run
}

fn progress_json(missed: ProgressMissed) -> Value {
    json!({
        "runs": missed.by_runs,
        "demand": missed.by_demand,
        "clock": missed.by_clock,
        "stages": missed.by_stages,
    })
}

fn scores_json(scores: &[Score; 4]) -> Value {
    by_resource(scores.map(
        |score| json!({ "coverage": score.coverage, "waste": score.waste, "total": score.total }),
    ))
}

pub(super) fn by_resource<T: Into<Value>>(values: [T; 4]) -> Value {
    let names = Resource::ALL.map(Resource::name);
    names.into_iter().zip(values).collect()
}
