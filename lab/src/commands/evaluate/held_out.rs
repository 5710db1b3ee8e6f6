//! Settings held out of an application's runs: every run predicted once by a model that has not seen its
//! settings.

use elastane_predict::{Settings, SettingsRun};

/// Maximum number of folds, which bounds the number of trainings.
const PARTS: usize = 10;

/// Training runs, the latest last, and test runs with settings that no training run has.
pub(super) struct Split<'a> {
    pub(super) learned: Vec<&'a SettingsRun>,
    pub(super) held_out: Vec<&'a SettingsRun>,
}

/// Settings are dealt to folds in the order in which they first ran. Each fold is held out once; a model
/// trains on `trained_on` of the other runs, those that follow the first held-out run, wrapping around at
/// the end. None if there are fewer others.
pub(super) fn splits(runs: &[SettingsRun], trained_on: usize) -> Vec<Split<'_>> {
    let mut met: Vec<&Settings> = Vec::new();
    let parts: Vec<usize> = runs
        .iter()
        .map(|run| {
            let known = met.iter().position(|it| **it == run.settings);
            known.unwrap_or_else(|| {
                met.push(&run.settings);
                met.len() - 1
            }) % PARTS
        })
        .collect();
    let split = |part: usize| {
        let is_held_out = |at: &usize| parts[*at] == part;
        let first = parts.iter().position(|it| *it == part)?;
        let next = (first..runs.len()).chain(0..first);
        let mut learned: Vec<usize> = next.filter(|at| !is_held_out(at)).take(trained_on).collect();
        learned.sort_unstable();
        (learned.len() == trained_on).then(|| Split {
            learned: learned.into_iter().map(|at| &runs[at]).collect(),
            held_out: (0..runs.len()).filter(is_held_out).map(|at| &runs[at]).collect(),
        })
    };
    (0..PARTS).filter_map(split).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use elastane_core::{Demand, Resources};

    #[test]
    fn every_run_is_held_out_once_from_as_many_runs_with_other_settings() {
        let run = |number: usize| SettingsRun {
            id: number.to_string(),
            settings: Settings([("rounds".to_owned(), (number * 7 % 13) as f64)].into()),
            used: Demand::series(3_000, &[Resources::ZERO]).unwrap(),
        };
        let runs: Vec<SettingsRun> = (0..26).map(run).collect();
        let mut held_out: Vec<usize> = Vec::new();
        for split in splits(&runs, 15) {
            assert_eq!(split.learned.len(), 15);
            let numbers: Vec<usize> =
                split.learned.iter().map(|it| it.id.parse().unwrap()).collect();
            assert!(numbers.is_sorted(), "{numbers:?}");
            for run in split.held_out {
                let has_seen = |it: &&SettingsRun| it.settings == run.settings;
                assert!(!split.learned.iter().any(has_seen));
                held_out.push(run.id.parse().unwrap());
            }
        }
        held_out.sort_unstable();
        assert_eq!(held_out, (0..26).collect::<Vec<_>>());
        assert!(splits(&runs, 25).is_empty());
    }
}
