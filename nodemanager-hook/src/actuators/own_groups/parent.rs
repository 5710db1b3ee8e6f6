//! The parent of the containers' groups in one hierarchy.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    actuators::{
        KernelFileError, KernelFiles, LimitError,
        cpu_limits::{cpu_files, weight_beside_others},
        group_state::read_pids,
        kernel_files::make_group,
        pass_on::pass_on,
    },
    cgroups::{Controller, Hierarchy, Version},
    journal::Journal,
};

/// Makes the missing groups of the path.
pub fn make(hierarchy: &Hierarchy, parent: &Path, journal: &mut Journal) -> Result<(), LimitError> {
    for group in groups_to_parent(hierarchy, parent).into_iter().skip(1) {
        if !group.is_dir() {
            if !journal.made().contains(&group) {
                journal.remember_made(&group)?;
            }
            make_group(&group)?;
        }
    }
    Ok(())
}

/// Version 2: lets a controller work in the groups below the parent. systemd sets the groups above the parent's own
/// surroundings, so nothing is written there.
pub fn enable(
    controller: Controller,
    hierarchy: &Hierarchy,
    parent: &Path,
    systemd_runs: bool,
    journal: &mut Journal,
) -> Result<(), LimitError> {
    let (Version::Two, Some(name)) = (hierarchy.version(), controller.name(Version::Two)) else {
        return Ok(());
    };
    let groups = groups_to_parent(hierarchy, parent);
    let first = if systemd_runs { groups.len().saturating_sub(2) } else { 0 };
    pass_on(name, &groups[first..], journal)
}

/// Gives the groups of the path that the agent made their weight, where the hierarchy has weights. With the default
/// weight all containers together would count as one process of the node.
pub fn weigh(
    hierarchy: &Hierarchy,
    system_reserve: f32,
    files: &mut KernelFiles,
    journal: &Journal,
) -> Result<(), KernelFileError> {
    let [file, _] = cpu_files(hierarchy.version());
    let weight = weight_beside_others(hierarchy.version(), system_reserve);
    let made = journal.made().iter().filter(|group| group.starts_with(hierarchy.mount_point()));
    for group in made.filter(|group| group.join(file.name()).exists()) {
        files.write(group, file, weight)?;
    }
    Ok(())
}

/// Why a systemd that runs the host keeps the agent from making groups for a controller. Of the groups of version 2 it
/// leaves only those of units with `Delegate=` alone, and a group can divide controllers only if it holds no processes. In
/// version 1 it owns the groups that it made.
pub fn refused_by_systemd(
    hierarchy: &Hierarchy,
    controller: Controller,
    parent: &Path,
) -> Option<String> {
    if hierarchy.version() == Version::One {
        return None;
    }
    let groups = groups_to_parent(hierarchy, parent);
    let [.., service, _] = groups.as_slice() else {
        return None;
    };
    if service == hierarchy.mount_point() {
        let advice = "systemd owns the root cgroup (version 2): set cgroup.parent to a group \
                      inside the NodeManager's service";
        // systemd cares for controllers only.
        return controller.name(Version::Two).map(|_| advice.to_owned());
    }
    let name = service.display();
    if !service.is_dir() {
        return Some(format!("{name} is missing: its service does not run"));
    }
    let controller = controller.name(Version::Two)?;
    let offered = fs::read_to_string(service.join("cgroup.controllers")).unwrap_or_default();
    if !offered.split_ascii_whitespace().any(|one| one == controller) {
        return Some(format!("{name} has no {controller} controller: its unit needs Delegate=yes"));
    }
    let is_empty = read_pids(service).is_ok_and(|pids| pids.is_empty());
    (!is_empty).then(|| {
        format!(
            "{name} itself holds processes: set DelegateSubgroup= in its unit, or move them to a \
             subgroup"
        )
    })
}

/// The groups from the root of the hierarchy to the parent.
fn groups_to_parent(hierarchy: &Hierarchy, parent: &Path) -> Vec<PathBuf> {
    let mut groups = vec![hierarchy.mount_point().to_owned()];
    for name in parent {
        let inner = groups.last().map(|group| group.join(name));
        groups.extend(inner);
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::cgroups::Hierarchies;

    /// A hierarchy of version 2 with a service, as systemd makes it.
    struct Host {
        directory: tempfile::TempDir,
        hierarchy: Hierarchy,
    }

    const SERVICE: &str = "system.slice/yarn.service";

    impl Host {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let mount_point = directory.path().display();
            let mountinfo = format!("1 1 0:1 / {mount_point} rw - cgroup2 cgroup2 rw\n");
            let found = Hierarchies::discover(&mountinfo, |_| "cpu io memory\n".to_owned());
            let hierarchy = found.serving(Controller::Memory).unwrap().clone();
            let host = Self { directory, hierarchy };
            fs::create_dir_all(host.group(SERVICE)).unwrap();
            host.write(&format!("{SERVICE}/cgroup.controllers"), "cpu io memory pids\n");
            host.write(&format!("{SERVICE}/cgroup.procs"), "");
            for group in ["", "system.slice", SERVICE] {
                host.write(&format!("{group}/cgroup.subtree_control"), "");
            }
            host
        }

        fn group(&self, name: &str) -> PathBuf {
            self.directory.path().join(name)
        }

        fn write(&self, file: &str, text: &str) {
            fs::write(self.group(file.trim_start_matches('/')), text).unwrap();
        }

        fn refusal(&self, controller: Controller, parent: &str) -> Option<String> {
            let why = refused_by_systemd(&self.hierarchy, controller, Path::new(parent))?;
            Some(why.replace(&format!("{}/", self.directory.path().display()), ""))
        }
    }

    #[test]
    fn systemd_leaves_the_agent_a_group_in_a_delegated_service_without_processes_only() {
        let host = Host::new();
        let parent = &format!("{SERVICE}/elastane");
        assert_eq!(host.refusal(Controller::Memory, parent), None);
        let at_root = host.refusal(Controller::Memory, "elastane").unwrap();
        assert!(at_root.starts_with("systemd owns the root cgroup (version 2)"), "{at_root}");
        assert_eq!(host.refusal(Controller::Network, "elastane"), None);
        let missing =
            host.refusal(Controller::Memory, "system.slice/hdfs.service/elastane").unwrap();
        assert_eq!(missing, "system.slice/hdfs.service is missing: its service does not run");
        host.write(&format!("{SERVICE}/cgroup.controllers"), "cpu pids\n");
        assert_eq!(host.refusal(Controller::Cpu, parent), None);
        // Sockets need no controller.
        assert_eq!(host.refusal(Controller::Network, parent), None);
        let no_memory = host.refusal(Controller::Memory, parent).unwrap();
        assert!(
            no_memory.starts_with(&format!("{SERVICE} has no memory controller")),
            "{no_memory}"
        );
        host.write(&format!("{SERVICE}/cgroup.procs"), "7\n");
        let busy = host.refusal(Controller::Cpu, parent).unwrap();
        assert!(busy.starts_with(&format!("{SERVICE} itself holds processes")), "{busy}");
        assert_eq!(host.refusal(Controller::Network, parent), None);
    }

    #[test]
    fn what_systemd_owns_is_not_written() {
        let host = Host::new();
        let parent = Path::new("system.slice/yarn.service/elastane");
        let mut journal = Journal::load(&host.group("journal")).unwrap();
        make(&host.hierarchy, parent, &mut journal).unwrap();
        assert_eq!(journal.made(), [host.group(&format!("{SERVICE}/elastane"))]);
        host.write(&format!("{SERVICE}/elastane/cgroup.subtree_control"), "");
        enable(Controller::Disk, &host.hierarchy, parent, true, &mut journal).unwrap();
        let passed_on = |group: &str| {
            fs::read_to_string(host.group(group).join("cgroup.subtree_control")).unwrap()
        };
        assert_eq!([passed_on(""), passed_on("system.slice")], ["", ""]);
        assert_eq!([passed_on(SERVICE), passed_on(&format!("{SERVICE}/elastane"))], ["+io", "+io"]);
        enable(Controller::Disk, &host.hierarchy, parent, false, &mut journal).unwrap();
        assert_eq!([passed_on(""), passed_on("system.slice")], ["+io", "+io"]);
    }
}
