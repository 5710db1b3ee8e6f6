//! `History` predicts as the scheduler does.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../../rust/predict/tests/common/rounds.rs"]
mod rounds;

use elastane_lab::evaluation::History;
use elastane_predict::{
    Foreseen, NotForeseen, NotPlanned, Outcome, PastRun, RecurringSettings, Way, amount,
};
use rounds::{KIND, VARIED, foreseen, given, model, run, runs_of};

#[test]
fn a_history_trains_models_and_predicts_as_stored_runs_do() {
    let settings = RecurringSettings::default();
    let mut history = History::new(KIND, settings);
    let runs = runs_of(&VARIED);
    for (at, it) in runs.iter().enumerate() {
        let way = history.foresee(&it.settings).way;
        // A confidence needs two runs, a model six.
        match at {
            0 => assert_eq!(way, Way::Same),
            1..6 => assert_eq!(way, Way::Request, "run {at}"),
            _ => assert_eq!(way, Way::Model, "run {at}"),
        }
        history.add(PastRun::of(&it.run, KIND).unwrap().unwrap(), &it.settings);
    }
    // Stored runs and their model give the same prediction.
    let again = history.foresee(&given(30.5));
    let trained = model(&runs);
    let kept = foreseen(&runs, Some(&trained), &given(30.5));
    assert_eq!(again.way, kept.way);
    let total = |foreseen: Foreseen| foreseen.prediction.unwrap().total().to_array();
    for (again, kept) in total(again).into_iter().zip(total(kept)) {
        assert!((again - kept).abs() <= 0.1 * kept, "{again} {kept}");
    }
    // A failed run changes nothing.
    let mut failed = PastRun::of(&run(40, 33.0, 5.0).run, KIND).unwrap().unwrap();
    failed.outcome = Outcome::Failed;
    history.add(failed, &given(33.0));
    let foreseen = history.foresee(&given(33.0));
    assert_eq!(foreseen.way, Way::Model);
}

#[test]
fn after_a_change_an_application_is_planned_by_its_request_until_it_has_run_six_times() {
    let mut history = History::new(KIND, RecurringSettings::default());
    let before = runs_of(&VARIED[..8]);
    for it in &before {
        history.add(PastRun::of(&it.run, KIND).unwrap().unwrap(), &it.settings);
    }
    let twice_the_cpu = |number: usize, rounds: f64| {
        let mut it = run(number, rounds, 2.0 * rounds);
        for slot in it.run.series.iter_mut().flat_map(|it| &mut it.slots) {
            slot.cpu_cores *= 2.0;
        }
        PastRun::of(&it.run, KIND).unwrap().unwrap()
    };
    let used = amount(&twice_the_cpu(99, 31.0).used).cpu_cores;
    let since = [20.0, 50.0, 14.0, 38.0, 29.0, 42.0, 24.0];
    for (newer, rounds) in (1..).zip(since) {
        let run = twice_the_cpu(before.len() + newer, rounds);
        history.add(run, &given(rounds));
        let foreseen = history.foresee(&given(31.0));
        match newer {
            // One run may be chance.
            1 => assert!(foreseen.prediction.is_ok()),
            2..6 => {
                let changed = NotPlanned::Settings(NotForeseen::Changed(newer));
                assert_eq!(foreseen.prediction.unwrap_err(), changed);
                assert_eq!(foreseen.left_out.len(), before.len());
            }
            _ => {
                let said = foreseen.prediction.unwrap().total().cpu_cores;
                assert!((said / used - 1.0).abs() < 0.15, "{said} of {used}");
            }
        }
    }
}
