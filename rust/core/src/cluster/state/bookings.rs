//! The core's bookings compared with CapacityScheduler's.

use std::collections::HashMap;

use serde::Deserialize;

use super::{NodeId, Request, State};

/// A container that runs on a node, as CapacityScheduler has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RunningContainer {
    /// YARN's container id.
    pub container: String,
    /// Its size.
    #[serde(flatten)]
    pub request: Request,
}

impl State {
    /// See [`Cluster::booked_otherwise`](crate::cluster::Cluster::booked_otherwise). Sorted.
    pub(crate) fn booked_otherwise(
        &self,
        node: NodeId,
        running: &[RunningContainer],
    ) -> Vec<String> {
        let Some(entry) = self.nodes.get(node) else {
            return Vec::new();
        };
        let mut booked: HashMap<&str, Request> =
            self.containers_on(entry).map(|(id, container)| (&**id, container.request)).collect();
        let mut otherwise: Vec<_> = running
            .iter()
            .filter(|it| booked.remove(it.container.as_str()) != Some(it.request))
            .map(|it| it.container.clone())
            .collect();
        otherwise.extend(booked.into_keys().map(str::to_owned));
        otherwise.sort_unstable();
        otherwise
    }
}
