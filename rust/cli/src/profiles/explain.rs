//! `elastane profiles explain`

use std::io::Write;

use clap::Args;
use elastane_core::Resource;
use elastane_predict::{
    ContainerKind, PastRun, RecurringSettings, Run, kinds, predict_next, prediction_outcome,
};
use elastane_store::{Access, Depository, PredictionRecord, SubmissionRecord};
use serde_json::{Value, json};

use super::explain_prediction::print_prediction;
use super::{ProfileSource, write_json};
use crate::failure::Failure;
use crate::units::{duration, moment};

#[derive(Args)]
#[command(after_help = "Examples:
  elastane profiles explain application_1795283369712_0007 --depository depository.db")]
pub(super) struct Explain {
    /// YARN's application id
    application_id: String,
    #[command(flatten)]
    source: ProfileSource,
}

/// The records of an application.
struct Known {
    key: String,
    name: String,
    submission: Option<SubmissionRecord>,
    run: Option<Run>,
    predictions: Vec<PredictionRecord>,
    /// Whether the predictions were not kept, but made again from the earlier runs.
    are_made_again: bool,
}

impl Explain {
    pub(super) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let known = self.known(&self.source.open(Access::Read)?)?;
        if self.source.json {
            write_json(output, &as_json(&self.application_id, &known))
        } else {
            print(&self.application_id, &known, output)
        }
    }

    fn known(&self, depository: &Depository) -> Result<Known, Failure> {
        let id = &self.application_id;
        let submission = depository.submission(id)?;
        let run = depository.run(id)?;
        let (key, name) = match (&submission, &run) {
            (Some(it), _) => (it.application_key.clone(), it.application_name.clone()),
            (None, Some(it)) => (it.application_key.clone(), it.application_name.clone()),
            (None, None) => {
                let problem = format!("no application {id:?} was submitted or has run");
                return Err(Failure::bad(&self.source.depository, problem));
            }
        };
        let mut predictions = depository.predictions_of_run(id)?;
        let are_made_again = predictions.is_empty();
        let mut earlier = Vec::new();
        if are_made_again {
            let started_ms = run.as_ref().map(|run| run.started_ms);
            let started_ms = started_ms.or(submission.as_ref().map(|s| s.submitted_ms));
            earlier = depository.latest_runs(&key, usize::MAX)?;
            earlier.retain(|run| Some(run.ended_ms) <= started_ms && run.application_id != *id);
        }
        // A kind that is new with this run has no prediction.
        let mut missing = kinds(earlier.iter().chain(&run));
        missing.retain(|kind| predictions.iter().all(|it| it.kind != *kind));
        let missing = missing.into_iter();
        predictions.extend(missing.map(|kind| made_again(id, kind, &earlier, run.as_ref())));
        Ok(Known { key, name, submission, run, predictions, are_made_again })
    }
}

/// Predicts a run from the runs before it.
fn made_again(
    id: &str,
    kind: ContainerKind,
    earlier: &[Run],
    run: Option<&Run>,
) -> PredictionRecord {
    let past = |run: &Run| PastRun::of(run, kind).ok().flatten();
    let history: Vec<_> = earlier.iter().filter_map(past).collect();
    let actual = run.and_then(past);
    let outlook = predict_next(&history, &RecurringSettings::default());
    let made = outlook.made();
    let bound = outlook.prediction.ok().map(|it| it.demand);
    let outcome = bound.as_ref().zip(actual);
    PredictionRecord {
        application_id: id.to_owned(),
        application_key: String::new(),
        kind,
        made_ms: run.map_or(0, |run| run.started_ms),
        made,
        outcome: outcome.map(|(bound, actual)| prediction_outcome(bound, &actual.used)),
        bound,
    }
}

fn print(id: &str, known: &Known, output: &mut impl Write) -> Result<(), Failure> {
    writeln!(output, "{id}: {}", known.name)?;
    writeln!(output, "key      {}", known.key)?;
    match &known.submission {
        Some(submission) => print_signature(submission, output)?,
        None => writeln!(output, "         its submission was not kept")?,
    }
    match &known.run {
        Some(run) => {
            let took = duration(run.ended_ms - run.started_ms);
            let (began, how) = (moment(run.started_ms), run.outcome.name());
            writeln!(output, "run      {how}: began {began}, took {took}")?;
        }
        None => {
            let reason = "it runs, or the depository forgot it";
            writeln!(output, "run      not saved: {reason}")?;
        }
    }
    let kinds = || known.predictions.iter().map(|it| it.kind);
    for prediction in &known.predictions {
        let kind = prediction.kind.among(kinds());
        print_prediction(&kind, prediction, known.are_made_again, output)?;
    }
    Ok(())
}

fn print_signature(submission: &SubmissionRecord, output: &mut impl Write) -> Result<(), Failure> {
    for part in &submission.signature {
        let (name, in_key) = (&part.part, &part.in_key);
        match &part.submitted {
            Some(text) if text == in_key => writeln!(output, "    {name:9} {in_key}")?,
            Some(text) => writeln!(output, "    {name:9} {in_key}  made equal, was {text}")?,
            None => writeln!(output, "    {name:9} {in_key}  made equal, not kept")?,
        }
    }
    for (name, value) in &submission.settings {
        writeln!(output, "    setting   {name} {value}")?;
    }
    Ok(())
}

fn as_json(id: &str, known: &Known) -> Value {
    let predictions = known.predictions.iter().map(|prediction| {
        let outcome = prediction.outcome.map(|outcome| {
            json!({"length_ms": outcome.length_ms, "coverage": by_resource(outcome.coverage.map(Some)),
                   "waste": by_resource(outcome.waste)})
        });
        let kind = prediction.kind;
        json!({"kind": kind.name(), "priority": kind.priority(), "made": prediction.made,
               "outcome": outcome, "made_again": known.are_made_again})
    });
    json!({
        "application_id": id,
        "key": known.key,
        "name": known.name,
        "signature": known.submission.as_ref().map(|submission| &submission.signature),
        "settings": known.submission.as_ref().map(|submission| &submission.settings),
        "run": known.run.as_ref().map(|run| json!({
            "outcome": run.outcome.name(),
            "started_ms": run.started_ms,
            "ended_ms": run.ended_ms,
        })),
        "predictions": predictions.collect::<Vec<_>>(),
    })
}

fn by_resource(values: [Option<f64>; 4]) -> Value {
    let named = Resource::ALL.into_iter().zip(values);
    named.map(|(resource, value)| (resource.name(), json!(value))).collect()
}
