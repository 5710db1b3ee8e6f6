//! Figures for people and for programs.

use std::collections::BTreeMap;
use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_core::Resource;
use elastane_lab::evaluation::{Evaluated, Method, Plain, ProgressMissed};
use elastane_predict::{NotForeseen, NotPlanned, NotPredicted, Score};
use serde_json::{Map, Value, json};

use super::Judged;
use super::summary::{Mean, Summary};
use super::ways::{Ways, name};
use elastane_cli::units::count;

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
    for (at, resource) in Resource::ALL.into_iter().enumerate() {
        let name = resource.name();
        writeln!(
            output,
            "\n{name:<28}{:>18}{:>34}",
            "at submission", "tracked"
        )?;
        let heads = format!(
            "{:>10}{:>7}{:>9}{:>7} ",
            "coverage", "waste", "of peak", "total"
        );
        writeln!(output, "{:<26}{heads}{}", "", heads.trim_end())?;
        for (method, (submitted, tracked)) in Method::ALL
            .iter()
            .zip(summary.at_submission.iter().zip(&summary.tracked))
        {
            let line = [
                cells(submitted[at], peak(&summary.at_submission, at)),
                cells(tracked[at], peak(&summary.tracked, at)),
            ];
            writeln!(output, "{:<26}{}", method.name(), line.concat().trim_end())?;
        }
    }
    if let Some(missed) = summary.progress_missed {
        writeln!(
            output,
            "\nprogress is missed by {:.3} tracked by runs, {:.3} by the demand, {:.3} by the clock",
            missed.by_runs, missed.by_demand, missed.by_clock
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
                NotPlanned::Runs(NotPredicted::Unsure { least, .. }) => {
                    format!("the confidence is below {least}")
                }
                NotPlanned::Unsure { least, .. } => {
                    format!("the confidence of the model is below {least}")
                }
                NotPlanned::Settings(NotForeseen::Changed { .. }) => {
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

fn peak(means: &[[Mean; 4]], resource: usize) -> Option<f64> {
    let at = Method::ALL
        .iter()
        .position(|method| *method == COMPARED_WITH)?;
    means.get(at)?.get(resource)?.waste
}

fn cells(mean: Mean, peak: Option<f64>) -> String {
    let number = |number: Option<f64>| number.map_or("-".to_owned(), |it| format!("{it:.2}"));
    let coverage = mean
        .coverage
        .map_or("-".to_owned(), |it| format!("{:.1} %", it * 100.0));
    let of_peak = mean.waste.zip(peak).map(|(waste, peak)| waste / peak);
    let (waste, of_peak, total) = (number(mean.waste), number(of_peak), number(mean.total));
    format!("{coverage:>10}{waste:>7}{of_peak:>9}{total:>7} ")
}

pub(super) fn to_json(judged: &[Judged], summary: &Summary) -> Value {
    let runs: Vec<Value> = judged.iter().map(run_json).collect();
    let means = |means: &[[Mean; 4]]| {
        let of_method = Method::ALL.iter().zip(means).map(|(method, means)| {
            let of_resource = |at: usize| {
                let mean = means[at];
                json!({ "coverage": mean.coverage, "waste": mean.waste, "total": mean.total })
            };
            (method.name().to_owned(), by_resource(of_resource))
        });
        Value::Object(of_method.collect())
    };
    json!({
        "predicted": summary.predicted,
        "at_submission": means(&summary.at_submission),
        "tracked": means(&summary.tracked),
        "progress_missed": summary.progress_missed.map(progress_json),
        "runs": runs,
    })
}

fn run_json(judged: &Judged) -> Value {
    let Evaluated {
        way,
        outcome,
        left_out,
    } = &judged.evaluated;
    let left_out = left_out
        .iter()
        .map(|it| json!({ "run": it.id, "reason": it.reason.to_string() }));
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
            for (key, tracked) in [("at_submission", false), ("tracked", true)] {
                let methods = scored.methods.iter().map(|scores| {
                    let figures = if tracked {
                        scores.tracked
                    } else {
                        scores.at_submission
                    };
                    let figures = by_resource(|at| score_json(figures[at]));
                    (scores.method.name().to_owned(), figures)
                });
                run[key] = Value::Object(methods.collect());
            }
        }
        Err(reason) => run["not_predicted"] = json!(reason.to_string()),
    }
    run
}

fn progress_json(missed: ProgressMissed) -> Value {
    json!({ "runs": missed.by_runs, "demand": missed.by_demand, "clock": missed.by_clock })
}

pub(super) fn by_resource(value: impl Fn(usize) -> Value) -> Value {
    let resources = Resource::ALL.into_iter().enumerate();
    let values: Map<String, Value> = resources
        .map(|(at, resource)| (resource.name().to_owned(), value(at)))
        .collect();
    Value::Object(values)
}

fn score_json(score: Score) -> Value {
    json!({ "coverage": score.coverage, "waste": score.waste, "total": score.total })
}
