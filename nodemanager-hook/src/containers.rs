//! The NodeManager's list of running containers.

use std::collections::BTreeMap;

use elastane_protocol::RunningContainer;

use crate::container_id::ContainerId;

/// Checks a list; one bad entry refuses all of it.
///
/// `forbidden`: the agent and its ancestors. A process tree from there would contain the agent.
pub fn check(
    list: &[RunningContainer],
    forbidden: &[u32],
) -> Result<BTreeMap<ContainerId, RunningContainer>, String> {
    let mut running = BTreeMap::new();
    for one in list {
        let (container, pid) = (&one.container, one.pid);
        let id: ContainerId = container.parse()?;
        let refused = |allowed| Err(format!("pid {pid} of {container}: allowed is {allowed}"));
        // 1 is init, 2 the parent of the kernel's threads.
        if pid <= 2 || i32::try_from(pid).is_err() {
            return refused("3 to 2147483647");
        }
        if forbidden.contains(&pid) {
            return refused("a process that is neither the agent nor its ancestor");
        }
        if running.insert(id, one.clone()).is_some() {
            return Err(format!("{container} is in the list twice"));
        }
    }
    Ok(running)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(container: &str, pid: u32) -> RunningContainer {
        RunningContainer { container: container.into(), pid, request_memory_bytes: 0 }
    }

    #[test]
    fn a_list_becomes_a_map_by_container() {
        let list = [running("container_1_1_1_2", 9), running("container_1_1_1_1", 8)];
        let running = check(&list, &[]).unwrap().into_values();
        let pids: Vec<u32> = running.map(|one| one.pid).collect();
        assert_eq!(pids, [8, 9]);
    }

    #[test]
    fn one_bad_entry_refuses_the_list() {
        let good = running("container_1_1_1_1", 8);
        for (bad, why) in [
            (running("container_1_1_1_1", 9), "container_1_1_1_1 is in the list twice"),
            (running("container_1_1_1_2", 0), "pid 0 of container_1_1_1_2: allowed is 3 to"),
            (running("container_1_1_1_2", 2), "pid 2 of container_1_1_1_2: allowed is 3 to"),
            (running("container_1_1_1_2", u32::MAX), "pid 4294967295 of"),
            (running("container_1_1_1_2", 77), "pid 77 of container_1_1_1_2: allowed is a process"),
            (running("/etc", 9), "`/etc` is not a container id"),
        ] {
            let error = check(&[good.clone(), bad], &[77]).unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
