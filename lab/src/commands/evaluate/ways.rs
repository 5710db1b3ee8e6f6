//! How runs were predicted, for applications whose runs differ in their settings.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_predict::Way;
use serde_json::{Map, Value};

use super::Judged;
use elastane_cli::units::count;

/// In the order in which they are tried.
const WAYS: [Way; 5] = [
    Way::Same,
    Way::Indifferent,
    Way::Model,
    Way::Alike,
    Way::Request,
];

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
        let taken = |judged: &&Judged| match judged.evaluated.outcome {
            Ok(_) => judged.evaluated.way,
            Err(_) => Way::Request,
        };
        let differ = judged.iter().filter(|judged| judged.settings_differ);
        let taken: Vec<Way> = differ.map(|judged| taken(&judged)).collect();
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
            writeln!(
                output,
                "  {:<12}{:>9}   {reason}",
                name(way),
                count(runs, "run")
            )?;
        }
        Ok(())
    }

    pub(super) fn add_to_json(&self, json: &mut Value) {
        if self.is_empty() {
            return;
        }
        let ways = WAYS.iter().zip(self.0);
        let ways: Map<String, Value> = ways
            .map(|(way, runs)| (name(*way).to_owned(), runs.into()))
            .collect();
        json["ways"] = Value::Object(ways);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|runs| *runs == 0)
    }
}
