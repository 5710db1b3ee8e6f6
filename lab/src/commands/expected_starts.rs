//! `elastane-lab expected-starts`

use std::io::Write;

use clap::{ArgGroup, Args};
use elastane_cli::failure::Failure;
use elastane_cli::run_options::RunOptions;
use elastane_cli::simulate::{Files, INPUT};
use elastane_lab::baselines::policies;
use elastane_lab::workload::generate;
use elastane_sim::simulator::{ForecastStart, Settings};
use elastane_sim::summary::quantile;

use super::bad_input;

/// How often the starts are asked for, in milliseconds.
const EVERY_MS: i64 = 60_000;

/// Asks every simulated minute when each waiting application is expected to start, and holds it against when it did
#[derive(Args)]
#[command(
    group = ArgGroup::new(INPUT).required(true),
    after_help = "Examples:
  elastane-lab expected-starts --workload elasecutor --policy elastane,capacity
  elastane-lab expected-starts --scenario cluster.json --length-error 0.2"
)]
pub(crate) struct ExpectedStarts {
    /// A workload of the papers, as in simulate
    #[arg(long, value_name = "NAME", group = INPUT)]
    workload: Option<String>,
    #[command(flatten)]
    files: Files,
    /// The policies, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "elastane")]
    policy: Vec<String>,
    /// How many seeds, from --seed on
    #[arg(long, value_name = "NUMBER", default_value = "1",
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    seeds: u32,
    #[command(flatten)]
    run: RunOptions,
}

impl ExpectedStarts {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let file = self.files.read()?;
        let name = self.workload.as_deref().unwrap_or_default();
        let prepare = |seed| {
            let workload = match &file {
                Some(workload) => workload.clone(),
                None => generate(name, seed).map_err(bad_input)?,
            };
            let settings = self.run.settings(Settings::default());
            let settings = Settings { forecast_every_ms: Some(EVERY_MS), ..settings };
            Ok((self.run.with_errors(workload), settings))
        };
        let compared = self.run.compare(policies(), &self.policy, self.seeds, None, prepare)?;
        for of_policy in &compared.policies {
            let runs = of_policy.outcomes.iter();
            let starts: Vec<_> = runs.flat_map(|run| run.forecasts.iter().copied()).collect();
            let name = &of_policy.policy;
            write_line(output, name, "planned", &starts, |start| start.planned_ms)?;
            write_line(output, name, "expected", &starts, |start| start.expected_ms)?;
        }
        Ok(())
    }
}

fn write_line(
    output: &mut impl Write,
    policy: &str,
    by: &str,
    starts: &[ForecastStart],
    expected_ms: impl Fn(&ForecastStart) -> Option<i64>,
) -> Result<(), Failure> {
    let told: Vec<_> = starts.iter().filter_map(|it| Some((it, expected_ms(it)?))).collect();
    let error_s = |(start, at_ms): &(&ForecastStart, i64)| (at_ms - start.started_ms) as f64 / 1e3;
    let waited_s = |start: &ForecastStart| (start.started_ms - start.asked_ms) as f64 / 1e3;
    let sorted = |values: &mut dyn Iterator<Item = f64>| {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let errors = sorted(&mut told.iter().map(error_s));
    let sizes = sorted(&mut told.iter().map(|it| error_s(it).abs()));
    let waits = sorted(&mut told.iter().map(|(start, _)| waited_s(start)));
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    writeln!(
        output,
        "expected_start policy={policy} by={by} asked={} known={:.3} wait_median_s={:.0} \
         error_median_s={:.0} error_size_median_s={:.0} error_size_p90_s={:.0} error_over_wait={:.2}",
        starts.len(),
        told.len() as f64 / starts.len().max(1) as f64,
        quantile(&waits, 0.5),
        quantile(&errors, 0.5),
        quantile(&sizes, 0.5),
        quantile(&sizes, 0.9),
        sum(&sizes) / sum(&waits).max(1.0),
    )?;
    Ok(())
}
