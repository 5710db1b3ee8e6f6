//! Which moves to groups of the agent would be refused, as far as the host tells it: DefaultContainerExecutor starts
//! containers in the NodeManager's groups.

use std::{collections::BTreeMap, fs, path::Path};

use crate::{
    actuators::refused_by_systemd,
    cgroups::{Controller, Hierarchies},
    restrictions::Losses,
    sensors::ProcFs,
};

const NODE_MANAGER: &str = "org.apache.hadoop.yarn.server.nodemanager.NodeManager";

/// The reason for each controller for which no container is moved. Without a running NodeManager nobody knows what holds
/// its containers. `systemd_runs`: whether systemd owns the groups of version 2.
pub fn refused(
    hierarchies: &Hierarchies,
    parent: &Path,
    systemd_runs: bool,
    proc: &ProcFs,
) -> BTreeMap<Controller, String> {
    let cgroup = node_manager(proc).and_then(|pid| proc.cgroup(pid).ok()?);
    let mut losses = Losses::default();
    let why = |controller: Controller| {
        let hierarchy = hierarchies.serving(controller)?;
        let by_systemd = systemd_runs.then(|| refused_by_systemd(hierarchy, controller, parent));
        if let Some(why) = by_systemd.flatten() {
            return Some((controller, why));
        }
        let from = hierarchy.directory_of(cgroup.as_ref()?)?;
        let to = hierarchy.mount_point().join(parent);
        let lost = losses.of_move(&from, &to, hierarchy.version())?;
        Some((controller, format!("the NodeManager's containers would lose {lost}")))
    };
    Controller::ALL.into_iter().filter_map(why).collect()
}

fn node_manager(proc: &ProcFs) -> Option<u32> {
    let is_it = |pid: u32| {
        let command = fs::read(proc.path(&format!("{pid}/cmdline"))).unwrap_or_default();
        command.split(|byte| *byte == 0).any(|word| word == NODE_MANAGER.as_bytes())
    };
    proc.pids().ok()?.into_iter().map(|(pid, _)| pid).find(|pid| is_it(*pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_managers_restrictions_are_those_of_its_containers() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let service = root.join("cpu/system.slice/yarn.service");
        fs::create_dir_all(&service).unwrap();
        fs::write(service.join("cpu.cfs_quota_us"), "50000\n").unwrap();
        let mount_point = root.join("cpu");
        let mountinfo = format!("1 1 0:1 / {} rw - cgroup cgroup rw,cpu\n", mount_point.display());
        let hierarchies = Hierarchies::discover(&mountinfo, |_| String::new());
        let proc = ProcFs::new(root);
        let refused = || refused(&hierarchies, Path::new("elastane"), false, &proc);
        let process = |pid: u32, command: &str| {
            let files = root.join(pid.to_string());
            fs::create_dir(&files).unwrap();
            fs::write(files.join("cmdline"), command).unwrap();
            fs::write(files.join("cgroup"), "4:cpu:/system.slice/yarn.service\n").unwrap();
        };
        process(7, &format!("vi\0{NODE_MANAGER}.java\0"));
        assert_eq!(refused(), BTreeMap::new());
        process(8, &format!("java\0-Xmx1g\0{NODE_MANAGER}\0"));
        let why = format!(
            "the NodeManager's containers would lose {}: cpu.cfs_quota_us is 50000",
            service.display()
        );
        assert_eq!(refused(), BTreeMap::from([(Controller::Cpu, why)]));
    }
}
