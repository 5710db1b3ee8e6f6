//! Which decisions are to be shown.

use std::collections::HashSet;

use clap::Args;
use elastane_runtime::JournalEvent;

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
    /// Only the decisions of this kind
    #[arg(long, value_parser = [
        "placed", "refused", "finished", "bookable", "preemption", "migration", "reprovision", "learned", "deadline",
    ])]
    kind: Option<String>,
}

impl WantedDecisions {
    /// `containers` are those of the application, from the records before. The end of a container in a journal of an
    /// earlier version belongs to the application for which it was placed.
    pub(super) fn is_for(&self, event: &JournalEvent, containers: &mut HashSet<String>) -> bool {
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
            && is(&self.kind, Some(event.kind()))
    }

    /// What was asked for; none if all decisions were.
    pub(super) fn words(&self) -> Option<String> {
        let kind = self.kind.as_ref().map(|kind| format!("kind {kind}"));
        let Self { application, container, node, .. } = self;
        let all = [application.clone(), container.clone(), node.clone(), kind];
        let all: Vec<_> = all.into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}
