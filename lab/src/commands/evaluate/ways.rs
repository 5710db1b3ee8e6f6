//! How runs were predicted, for applications whose runs differ in their settings.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_cli::units::count;
use elastane_predict::Way;
use serde_json::Value;

use super::Judged;

/// In the order in which they are tried.
const WAYS: [Way; 5] = [Way::Same, Way::Indifferent, Way::Model, Way::Alike, Way::Request];

/// The name in figures.
pub(super) fn name(way: Way) -> &'static str {
    match way {
        Way::Same => "same",
        Way::Indifferent => "indifferent",
        Way::Alike => "alike",
        Way::Model => "model",
        Way::Request => "request",
    }
}

/// The number of runs by way of prediction, in the order of [`WAYS`]. A run without a prediction
/// counts for the request, whatever was tried.
pub(super) struct Ways([usize; WAYS.len()]);

impl Ways {
    pub(super) fn of(judged: &[Judged]) -> Self {
        let differ = judged.iter().filter(|judged| judged.settings_differ);
        let taken = differ.map(|judged| match judged.evaluated.outcome {
            Ok(_) => judged.evaluated.way,
            Err(_) => Way::Request,
        });
        let taken: Vec<Way> = taken.collect();
        Self(WAYS.map(|way| taken.iter().filter(|it| **it == way).count()))
    }

    pub(super) fn write(&self, output: &mut impl Write) -> Result<(), Failure> {
        if self.is_empty() {
            return Ok(());
        }
        writeln!(
            output,
            "\nruns of applications whose settings differ, by the way that was taken:"
        )?;
        for (way, runs) in WAYS.into_iter().zip(self.0) {
            let reason = match way {
                Way::Request => "nothing is predicted, the request stands",
                way => way.reason(),
            };
            let (name, runs) = (name(way), count(runs, "run"));
            writeln!(output, "  {name:<12}{runs:>9}   {reason}")?;
        }
        Ok(())
    }

    pub(super) fn add_to_json(&self, json: &mut Value) {
        if self.is_empty() {
            return;
        }
        json["ways"] = WAYS.map(name).into_iter().zip(self.0).collect();
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|runs| *runs == 0)
    }
}
