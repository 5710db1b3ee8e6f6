//! `settings.json`: how the runs of an application ended, and their settings.
//!
//! ```text
//! { "runs": { "RUN": { "outcome": "failed",     how RUN.csv ended
//!                      "stage_ends_ms": [] } },  when its stages ended since a container's start
//!   "RUN":  { "executors": 4, … },                what RUN.csv was given
//!   "executors": 4, … }                           what every run was given
//! ```

use std::collections::BTreeMap;

use elastane_core::StageEnds;
use elastane_predict::Outcome;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::recorded::Recorded;

/// The key of the outcomes; all other keys are runs or settings.
const RUNS: &str = "runs";

pub(super) struct SettingsFile {
    outcomes: BTreeMap<String, RunState>,
    entries: Map<String, Value>,
}

#[derive(Deserialize)]
struct RunState {
    #[serde(default = "succeeded", with = "OutcomeName")]
    outcome: Outcome,
    #[serde(default)]
    stage_ends_ms: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(remote = "Outcome", rename_all = "kebab-case")]
enum OutcomeName {
    Succeeded,
    Failed,
    CutOff,
}

fn succeeded() -> Outcome {
    Outcome::Succeeded
}

impl SettingsFile {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut entries: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        let outcomes = entries.remove(RUNS).map(serde_json::from_value).transpose();
        let outcomes = outcomes.map_err(|error| format!("{RUNS}: {error}"))?;
        Ok(Self { outcomes: outcomes.unwrap_or_default(), entries })
    }

    /// Sets the outcomes and settings of the runs.
    pub(super) fn apply(&self, runs: &mut [Recorded]) -> Result<(), String> {
        let is_there = |name: &String| runs.iter().any(|run| run.name == *name);
        if let Some(name) = self.outcomes.keys().find(|name| !is_there(name)) {
            return Err(format!("{RUNS}.{name}: there is no {name}.csv beside it"));
        }
        for run in runs {
            if let Some(state) = self.outcomes.get(&run.name) {
                run.outcome = state.outcome;
                let length_ms = run.used.duration_ms().unwrap_or_default();
                run.stage_ends = StageEnds::of_ms(&state.stage_ends_ms, length_ms)
                    .map_err(|error| format!("{RUNS}.{}.stage_ends_ms: {error}", run.name))?;
            }
            let numbers = self.entries.iter().filter(|(_, value)| value.is_number());
            for (name, value) in numbers {
                run.settings.0.insert(name.clone(), number(name, value)?);
            }
            // A run's own settings override those of all runs.
            let Some(Value::Object(own)) = self.entries.get(&run.name) else {
                continue;
            };
            for (name, value) in own {
                let number = number(&format!("{}.{name}", run.name), value)?;
                run.settings.0.insert(name.clone(), number);
            }
        }
        Ok(())
    }
}

fn number(place: &str, value: &Value) -> Result<f64, String> {
    let number = value.as_f64().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("{place}: {value}, a number is allowed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elastane_core::{Demand, Resources};
    use elastane_predict::Settings;

    fn runs() -> Vec<Recorded> {
        let run = |name: &str| Recorded {
            name: name.into(),
            outcome: Outcome::Succeeded,
            used: Demand::series(3_000, &[Resources::ZERO]).unwrap(),
            stage_ends: StageEnds::default(),
            settings: Settings::default(),
        };
        vec![run("a"), run("b")]
    }

    fn applied(text: &str) -> Result<Vec<Recorded>, String> {
        let mut runs = runs();
        SettingsFile::read(text)?.apply(&mut runs)?;
        Ok(runs)
    }

    #[test]
    fn a_runs_own_settings_come_before_those_of_all() {
        let text = r#"{"executors":4,"input_bytes":1e9,"b":{"executors":8},
                       "runs":{"a":{"outcome":"failed","stage_ends_ms":[1500,4000]}},"note":"x","gone":{"executors":1}}"#;
        let runs = applied(text).unwrap();
        assert_eq!((runs[0].outcome, runs[1].outcome), (Outcome::Failed, Outcome::Succeeded));
        assert_eq!((runs[0].settings.0["executors"], runs[1].settings.0["executors"]), (4.0, 8.0));
        assert_eq!(runs[1].settings.0["input_bytes"], 1e9);
        assert_eq!(runs[0].stage_ends.parts(), [0.5, 1.0], "a run of 3 s");
    }

    #[test]
    fn what_is_refused_is_named() {
        for (text, problem) in [
            (r#"{"a":{"executors":"four"}}"#, "a.executors: \"four\", a number is allowed"),
            (r#"{"runs":{"c":{}}}"#, "runs.c: there is no c.csv beside it"),
            (r#"{"runs":{"a":{"outcome":"lost"}}}"#, "runs: unknown variant `lost`"),
            (
                r#"{"runs":{"a":{"stage_ends_ms":[2000,1000]}}}"#,
                "runs.a.stage_ends_ms: stage 1 ends at 0.3333",
            ),
        ] {
            let error = applied(text).map(|_| ()).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
