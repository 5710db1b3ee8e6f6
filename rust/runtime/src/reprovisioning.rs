//! Corrections of running containers, as records of the journal.

use elastane_core::Cluster;
use elastane_core::reprovision::{Correction, Reprovisioned};

use crate::journal::{Record, Reprovision};

pub(crate) fn records(cluster: &Cluster, done: &[Reprovisioned]) -> Vec<Record> {
    let records = done.iter().map(|done| Record::Reprovision(Box::new(record(cluster, done))));
    records.collect()
}

fn record(cluster: &Cluster, done: &Reprovisioned) -> Reprovision {
    let node = cluster.node(done.node).map(|node| node.name.clone());
    let application = cluster.application(done.application);
    let plain = Reprovision {
        time_ms: done.time_ms,
        node: node.unwrap_or_default(),
        container: done.container.to_string(),
        application: application.map_or_else(String::new, |application| application.id.clone()),
        ..Reprovision::default()
    };
    match done.what {
        Correction::Opened { slow, predicted, lent } => Reprovision {
            what: "opened",
            slowness: Some(slow.times()),
            slow: Some(slow.words()),
            predicted: Some(predicted.into()),
            lent: Some(lent.into()),
            ..plain
        },
        Correction::Measured { used, predicted, factors } => Reprovision {
            what: "measured",
            used: Some(used.into()),
            predicted: Some(predicted.into()),
            factors: Some(factors.to_array()),
            ..plain
        },
        Correction::Returned { because } => {
            Reprovision { what: "returned", reason: Some(because.words().to_owned()), ..plain }
        }
        Correction::Reschedule { slow, resource, predicted, left } => Reprovision {
            what: "too-little-left",
            slowness: Some(slow.times()),
            slow: Some(slow.words()),
            reason: Some(format!(
                "its tasks had better run elsewhere; of {} {left:.3} is left, {predicted:.3} is \
                 predicted",
                resource.name()
            )),
            ..plain
        },
        Correction::Unused { factors } => {
            Reprovision { what: "unused", factors: Some(factors.to_array()), ..plain }
        }
    }
}
