//! Plain predictions, by hand.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::{Demand, Resources};
use elastane_lab::evaluation::Plain;

fn cpu(slot_ms: u32, cores: &[f64]) -> Demand {
    let slots: Vec<Resources> =
        cores.iter().map(|cores| Resources::from_array([*cores, 0.0, 0.0, 0.0])).collect();
    Demand::series(slot_ms, &slots).unwrap()
}

fn cores(demand: &Demand) -> Vec<f64> {
    demand.slots().iter().map(|slot| slot.cpu_cores).collect()
}

#[test]
fn plain_predictions_follow_their_definitions() {
    let runs = [cpu(5_000, &[1.0, 2.0, 5.0, 1.0]), cpu(5_000, &[2.0, 2.0, 2.0, 3.0])];
    let predicted = |plain: Plain| cores(&plain.predict(&runs).unwrap());
    assert_eq!(predicted(Plain::ConstantPeak), [5.0; 4]);
    assert_eq!(predicted(Plain::ConstantMean), [2.25; 4]);
    assert_eq!(predicted(Plain::StretchedMean), [1.5, 2.0, 3.5, 2.0]);
    let maxima = predicted(Plain::WindowMaximum10s);
    assert!((maxima[0] - 2.2).abs() < 1e-12 && (maxima[1] - 5.5).abs() < 1e-12);
    assert_eq!(predicted(Plain::WindowMaximum30s).len(), 1);
}

#[test]
fn plain_predictions_follow_the_mean_length() {
    let runs = [cpu(3_000, &[1.0; 10]), cpu(3_000, &[1.0; 20])];
    for plain in Plain::ALL {
        assert!(plain.predict(&runs).unwrap().duration_ms().unwrap().abs_diff(45_000) <= 15_000);
    }
    assert!(Plain::ConstantPeak.predict(&[]).is_err());
}
