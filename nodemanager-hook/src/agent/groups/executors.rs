//! Groups that the container executor made for a container.

use std::{collections::BTreeMap, fs, path::Path};

use crate::{
    actuators::{LimitPlace, OwnGroups, Owner},
    cgroups::{Controller, Hierarchies, Version, named_after},
    container_id::ContainerId,
};

/// The groups that the container executor made for a container. `cgroup` is the text of
/// `/proc/PID/cgroup`.
pub(super) fn executors_places(
    id: &ContainerId,
    cgroup: &str,
    own: Option<&OwnGroups>,
    hierarchies: &Hierarchies,
) -> BTreeMap<Controller, LimitPlace> {
    let find = |controller: Controller| {
        let hierarchy = hierarchies.serving(controller)?;
        let group = named_after(&hierarchy.directory_of(cgroup)?, id)?;
        let is_own = own.is_some_and(|own| own.contains(&group));
        let works = !is_own && works_in(controller, hierarchy.version(), &group);
        works.then(|| (controller, LimitPlace::new(hierarchy, group, Owner::ContainerExecutor)))
    };
    Controller::ALL.into_iter().filter_map(find).collect()
}

/// Whether a group has a controller's files: in version 2, if its parent enables the controller.
fn works_in(controller: Controller, version: Version, group: &Path) -> bool {
    let (Version::Two, Some(name)) = (version, controller.name(version)) else {
        return true;
    };
    let enabled = fs::read_to_string(group.join("cgroup.controllers")).unwrap_or_default();
    enabled.split_ascii_whitespace().any(|one| one == name)
}
