//! A container that the NodeManager lists for the first time.

use elastane_protocol::RunningContainer;

use super::{container::NodeContainer, groups::ContainerGroups, host::Host};
use crate::{container_id::ContainerId, peer::Peer, sensors::ProcessTable};

/// Follows it in the groups of the container executor, if it made any. Err: why the peer may not name it, or why it cannot
/// be read.
pub(super) fn receive(
    host: &Host,
    groups: &ContainerGroups,
    id: &ContainerId,
    running: RunningContainer,
    table: &ProcessTable,
    peer: Peer,
) -> Result<NodeContainer, String> {
    let Some(root) = table.get(running.pid) else {
        return Ok(NodeContainer::new(running, None));
    };
    let proc = &host.reader.proc;
    let files = proc.users(root.pid).and_then(|users| Ok(users.zip(proc.cgroup(root.pid)?)));
    let Some((users, cgroup)) = files.map_err(|error| error.to_string())? else {
        return Ok(NodeContainer::new(running, None));
    };
    let executors = groups.of_executor(id, &cgroup, &host.actuator.hierarchies);
    peer.may_name(root, users, table, !executors.is_empty())?;
    let mut container = NodeContainer::new(running, Some(root.key()));
    container.settle_in(executors).map_err(|error| error.to_string())?;
    if !groups.can_limit() {
        container.limiter = Default::default();
    }
    Ok(container)
}
