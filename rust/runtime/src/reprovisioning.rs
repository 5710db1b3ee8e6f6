//! What was corrected about running containers, counted and as records of the journal.

use elastane_core::Cluster;
use elastane_core::reprovision::{Correction, Reprovisioned};

use crate::journal::{Record, Reprovision};
use crate::status::{Counters, count};

/// What was corrected since this was last asked.
pub(crate) fn records(cluster: &mut Cluster, counters: &Counters) -> Vec<Record> {
    let done = cluster.take_reprovisioned();
    let records = done.iter().map(|done| {
        match done.what {
            Correction::Opened { .. } => count(&counters.reprovision_windows),
            Correction::Measured { .. } => count(&counters.reprovision_measured),
            Correction::Reschedule { .. } => count(&counters.reprovision_too_little_left),
            Correction::Returned { .. } | Correction::Unused { .. } => {}
        }
        Record::Reprovision(Box::new(record(cluster, done)))
    });
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
        what: "",
        slowness: None,
        slow: None,
        predicted: None,
        lent: None,
        used: None,
        factors: None,
        reason: None,
    };
    match done.what {
        Correction::Opened {
            slow,
            predicted,
            lent,
        } => Reprovision {
            what: "opened",
            slowness: Some(slow.times()),
            slow: Some(slow.words()),
            predicted: Some(predicted.into()),
            lent: Some(lent.into()),
            ..plain
        },
        Correction::Measured {
            used,
            predicted,
            factors,
        } => Reprovision {
            what: "measured",
            used: Some(used.into()),
            predicted: Some(predicted.into()),
            factors: Some(factors.to_array()),
            ..plain
        },
        Correction::Returned { because } => Reprovision {
            what: "returned",
            reason: Some(because.words().to_owned()),
            ..plain
        },
        Correction::Reschedule {
            slow,
            resource,
            predicted,
            left,
        } => Reprovision {
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
        Correction::Unused { factors } => Reprovision {
            what: "unused",
            factors: Some(factors.to_array()),
            ..plain
        },
    }
}
