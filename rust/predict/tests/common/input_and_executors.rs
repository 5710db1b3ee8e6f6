//! Runs of an application whose work follows its input and its number of executors.

use elastane_core::{Demand, Resources, SLOT_MS};
use elastane_predict::{Settings, SettingsModel, SettingsRun, train};

pub fn settings(input_gb: f64, executors: f64) -> Settings {
    let named = [("input_bytes", input_gb * 1e9), ("executors", executors)];
    Settings(named.map(|(name, value)| (name.to_owned(), value)).into())
}

/// Length and totals follow input over executors; it reads in its first half and computes in its
/// second. Nothing is sent.
pub fn run(number: usize, input_gb: f64, executors: f64) -> SettingsRun {
    let slots = (20.0 * input_gb / executors).round().max(2.0) as usize;
    let slots: Vec<Resources> = (0..slots)
        .map(|slot| {
            let [cpu, disk] = if slot * 2 < slots { [1.0, 50e6] } else { [3.0, 0.0] };
            Resources::from_array([cpu, 2e9, 0.0, disk])
        })
        .collect();
    SettingsRun {
        id: format!("run-{number}"),
        settings: settings(input_gb, executors),
        used: Demand::series(SLOT_MS, &slots).unwrap(),
    }
}

pub fn runs(count: usize) -> Vec<SettingsRun> {
    let of = |number: usize| {
        let input_gb = 8.0 + (number * 7 % 11) as f64 * 2.0;
        run(number, input_gb, (2 + number * 5 % 7) as f64)
    };
    (0..count).map(of).collect()
}

pub fn model() -> SettingsModel {
    train(&runs(20)).unwrap()
}
