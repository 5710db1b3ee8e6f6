//! Corrections of running containers, as records of the journal.

use elastane_core::Cluster;
use elastane_core::reprovision::{Correction, Reprovisioned};

use crate::journal::{JournalEvent, Record, Reprovision};
use crate::yarn_ids::application_id;

pub(crate) fn records(cluster: &Cluster, done: &[Reprovisioned]) -> Vec<Record> {
    let records = done.iter().map(|done| {
        let event = JournalEvent::Reprovision(Box::new(reprovision(cluster, done)));
        Record::about(cluster, done.application, event, done.time_ms)
    });
    records.collect()
}

fn reprovision(cluster: &Cluster, done: &Reprovisioned) -> Reprovision {
    let node = cluster.node(done.node).map(|node| node.name.clone());
    let plain = Reprovision {
        node: node.unwrap_or_default(),
        container: done.container.to_string(),
        application: application_id(cluster, done.application, &done.container),
        ..Reprovision::default()
    };
    match done.what {
        Correction::Opened { slow, predicted, lent } => Reprovision {
            what: "opened".into(),
            slowness: Some(slow.times()),
            slow: Some(slow.words().into()),
            predicted: Some(predicted),
            lent: Some(lent),
            ..plain
        },
        Correction::Measured { used, predicted, factors } => Reprovision {
            what: "measured".into(),
            used: Some(used),
            predicted: Some(predicted),
            factors: Some(factors.to_array()),
            ..plain
        },
        Correction::Returned { because } => Reprovision {
            what: "returned".into(),
            reason: Some(because.words().to_owned()),
            ..plain
        },
        Correction::Reschedule { slow, resource, predicted, left } => Reprovision {
            what: "too-little-left".into(),
            slowness: Some(slow.times()),
            slow: Some(slow.words().into()),
            reason: Some(format!(
                "the node has {left:.3} of {} left, {predicted:.3} is predicted (cores or bytes \
                 per second): run its tasks elsewhere",
                resource.name()
            )),
            ..plain
        },
        Correction::Unused { factors } => {
            Reprovision { what: "unused".into(), factors: Some(factors.to_array()), ..plain }
        }
    }
}
