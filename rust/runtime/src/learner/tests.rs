//! What the learner says at once, and what it says after a look at the runs.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use elastane_core::Resources;
use elastane_core::cluster::{ApplicationId, Predicted};
use elastane_predict::{ContainerKind, Outcome, ProfileSettings, Run, RunSeries, Settings};
use elastane_store::{Depository, SubmissionRecord};

use super::{Learner, Submitted};
use crate::writer::JournalWriter;

const KEY: &str = "app|SPARK|alice|root.default|count|count.Main|";
const KINDS: [ContainerKind; 2] = [
    ContainerKind::ApplicationMaster,
    ContainerKind::DEFAULT_EXECUTOR,
];

/// Amounts that no f32 has, of one length, a little apart.
fn run(number: u16) -> Run {
    let slot = |at: usize| {
        let third = (1.0 + (at % 5) as f64 + f64::from(number) / 50.0) / 3.0;
        Resources::from_array([third, 1e9 * third, 1e6 * third, 1e7 * third])
    };
    let series = |kind| RunSeries {
        kind,
        containers: 1,
        slots: (0..40).map(slot).collect(),
    };
    Run {
        application_key: KEY.to_owned(),
        application_id: format!("application_1_{number:04}"),
        application_name: "count".to_owned(),
        started_ms: 0,
        ended_ms: i64::from(number),
        outcome: Outcome::Succeeded,
        series: KINDS.map(series).into(),
    }
}

fn submitted(application: ApplicationId) -> Submitted {
    let record = SubmissionRecord {
        application_id: format!("application_2_{:04}", application.0),
        application_key: KEY.to_owned(),
        application_name: "count".to_owned(),
        submitted_ms: 1_000,
        signature: Vec::new(),
        settings: [].into(),
    };
    Submitted {
        application,
        record,
        is_new: true,
    }
}

#[test]
fn what_is_known_at_once_is_what_is_foreseen_then() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("depository.sqlite");
    let mut depository = Depository::open(&file).unwrap().depository;
    for number in 1..4 {
        depository.save(&run(number)).unwrap();
    }
    let settings = ProfileSettings {
        runs: 3,
        margin: 0.1,
        least_confidence: 0.6,
    };
    let journal = Arc::new(JournalWriter::open(None).unwrap());
    let (sender, foreseen) = channel::<(ContainerKind, Option<Predicted>)>();
    let told = move |_, kind, predicted| sender.send((kind, predicted)).unwrap();
    let mut learner = Learner::open(depository, settings, journal, Box::new(told)).unwrap();
    let demands = learner.demands(KEY, &Settings::default());
    learner.submitted(submitted(ApplicationId(1)));
    for _ in KINDS {
        let (kind, predicted) = foreseen.recv_timeout(Duration::from_secs(60)).unwrap();
        let predicted = predicted.unwrap();
        // Else it would change what an application that waits is screened by, and its series would
        // be one of its own.
        assert_eq!(demands.of(kind), Some(&predicted), "{kind}");
        let slots = predicted.demand.slots();
        let is_kept_as_f32 = |amount: f64| amount == f64::from(amount as f32);
        assert!(
            slots
                .iter()
                .all(|it| it.to_array().into_iter().all(is_kept_as_f32))
        );
    }
    learner.close();
}
