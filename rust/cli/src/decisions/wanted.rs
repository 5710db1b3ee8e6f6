//! Which decisions are to be shown.

use std::collections::HashSet;

use clap::Args;
use elastane_runtime::{JournalEvent, Record};

/// All that is given must hold.
#[derive(Args)]
pub(super) struct WantedDecisions {
    /// Only the decisions about this application
    #[arg(long, value_name = "ID")]
    application: Option<String>,
    /// Only the decisions about this container
    #[arg(long, value_name = "ID")]
    container: Option<String>,
    /// Only the decisions about this node
    #[arg(long, value_name = "HOST:PORT")]
    node: Option<String>,
    /// Only the decisions about applications of this queue and those below it; records of earlier versions have none
    #[arg(long, value_name = "PATH")]
    queue: Option<String>,
    /// Only the decisions of this kind
    #[arg(long, value_parser = [
        "placed", "refused", "finished", "bookable", "preemption", "migration", "reprovision", "learned", "deadline",
    ])]
    kind: Option<String>,
}

impl WantedDecisions {
    /// `containers` are those of the application, from the records before. The end of a container in a journal of an
    /// earlier version belongs to the application for which it was placed.
    pub(super) fn is_for(&self, record: &Record, containers: &mut HashSet<String>) -> bool {
        let event = &record.event;
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        let is_of_application = match event {
            JournalEvent::Finished { container, application, .. } if application.is_empty() => {
                self.application.is_none() || containers.contains(container)
            }
            _ => is(&self.application, event.application()),
        };
        if let (JournalEvent::Placed(placed), true) = (event, is_of_application)
            && self.application.is_some()
        {
            containers.insert(placed.container.clone());
        }
        is_of_application
            && is(&self.container, event.container())
            && is(&self.node, event.node())
            && self.queue.as_deref().is_none_or(|path| record.is_within_queue(path))
            && is(&self.kind, Some(event.kind()))
    }

    /// What was asked for; none if all decisions were.
    pub(super) fn words(&self) -> Option<String> {
        let kind = self.kind.as_ref().map(|kind| format!("kind {kind}"));
        let Self { application, container, node, queue, .. } = self;
        let queue = queue.as_ref().map(|queue| format!("queue {queue}"));
        let all = [application.clone(), container.clone(), node.clone(), queue, kind];
        let all: Vec<_> = all.into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}
