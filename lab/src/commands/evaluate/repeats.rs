//! The error that chance leaves: each run predicted by the mean of the other runs with the same settings.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_cli::units::count;
use elastane_core::Resources;
use elastane_predict::{SettingsRun, amount};
use serde_json::{Value, json};

use super::recorded::RecordedApplication;
use super::totals::{Totals, predicted_over_used};

/// Over all applications whose runs differ in their settings.
#[derive(Default)]
pub(super) struct Repeats {
    /// Each run whose settings others had, by the mean of those others.
    by_others: Totals,
    /// The error of an exact mean. With n runs of deviation σ, the mean of the n − 1 others misses one
    /// by σ·√(n ÷ (n − 1)), an exact mean by σ.
    by_exact_mean: Totals,
}

impl Repeats {
    pub(super) fn of(applications: &[RecordedApplication]) -> Self {
        let mut repeats = Self::default();
        for application in applications {
            let runs = application.differing();
            for run in &runs {
                repeats.add(run, &runs);
            }
        }
        repeats
    }

    fn add(&mut self, run: &SettingsRun, runs: &[SettingsRun]) {
        let is_other = |it: &&SettingsRun| it.settings == run.settings && it.id != run.id;
        let others: Vec<Resources> =
            runs.iter().filter(is_other).map(|it| amount(&it.used)).collect();
        if others.is_empty() {
            return;
        }
        let count = others.len() as f64;
        let sum = others.into_iter().fold(Resources::ZERO, |sum, it| sum + it);
        let total = predicted_over_used(sum * (1.0 / count), amount(&run.used));
        self.by_others.add(total);
        let exact = (count / (count + 1.0)).sqrt();
        self.by_exact_mean.add(1.0 + (total - 1.0) * exact);
    }

    pub(super) fn write(&self, output: &mut impl Write) -> Result<(), Failure> {
        if self.by_others.is_empty() {
            return Ok(());
        }
        writeln!(
            output,
            "\nby the mean of the other runs with the same settings: {} predicted, {}\n  \
             if that mean were exact: {}",
            count(self.by_others.runs(), "run"),
            self.by_others.words(),
            self.by_exact_mean.words()
        )?;
        Ok(())
    }

    pub(super) fn add_to_json(&self, json: &mut Value) {
        if !self.by_others.is_empty() {
            json["repeats"] = json!({
                "by_others": self.by_others.to_json(),
                "by_exact_mean": self.by_exact_mean.to_json(),
            });
        }
    }
}
