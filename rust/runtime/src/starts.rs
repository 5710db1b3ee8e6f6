//! When running containers started, by application.

use std::collections::{BTreeMap, HashMap};

use elastane_core::ContainerKind;
use elastane_core::cluster::{ApplicationId, Container};

/// The starts of running containers.
#[derive(Default)]
pub(crate) struct Starts {
    /// How many containers of a kind started at a time.
    by_application: HashMap<ApplicationId, BTreeMap<(ContainerKind, i64), u32>>,
}

impl Starts {
    pub(crate) fn started(&mut self, container: &Container) {
        let starts = self.by_application.entry(container.application).or_default();
        *starts.entry((container.kind, container.start_ms)).or_default() += 1;
    }

    pub(crate) fn ended(&mut self, container: &Container) {
        let Some(starts) = self.by_application.get_mut(&container.application) else {
            return;
        };
        let start = (container.kind, container.start_ms);
        if let Some(count) = starts.get_mut(&start) {
            *count -= 1;
            if *count == 0 {
                starts.remove(&start);
            }
        }
        if starts.is_empty() {
            self.by_application.remove(&container.application);
        }
    }

    /// When the oldest container of each kind that runs started.
    pub(crate) fn oldest_ms(&self, application: ApplicationId) -> BTreeMap<ContainerKind, i64> {
        let starts = self.by_application.get(&application);
        let newest_first = starts.into_iter().flat_map(|starts| starts.keys().rev());
        newest_first.copied().collect()
    }
}
