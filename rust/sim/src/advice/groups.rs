//! The past as the simulator reads it.

use std::collections::{HashMap, HashSet};

use elastane_core::Resources;
use elastane_core::cluster::Request;
use elastane_runtime::{PastApplication, PastCluster};

use super::group::Group;
use super::pool::Pools;
use super::reader::{Reader, counted};
use super::replay::Replay;
use super::shared_work::common_end;
use crate::workload::{MasterSpec, Workload};

/// The past in groups.
pub(super) struct Groups<'a> {
    past: &'a PastCluster,
    pools: Pools<'a>,
    /// In the order of their arrival.
    groups: Vec<Group<'a>>,
    /// Applications that are not replayed.
    pub(super) left_out: usize,
}

impl<'a> Groups<'a> {
    pub(super) fn of(past: &'a PastCluster) -> Self {
        let pools = Pools::of(past);
        let mut groups = Vec::new();
        let mut left_out = 0;
        for application in &past.applications {
            let queue = application.subject.queue.as_str();
            let found = Reader { past, pools: &pools, application }.groups();
            let fits = |group: &Group<'_>| {
                pools.get(group.label).is_some_and(|pool| pool.may_hold(group.request, queue))
            };
            if found.is_empty() || !found.iter().all(fits) {
                left_out += 1;
            } else {
                groups.extend(found);
            }
        }
        // What ran before the record goes first.
        groups.sort_by_key(|group| group.arrival_ms);
        Self { past, pools, groups, left_out }
    }

    /// A workload for the nodes of each label, with the places of its groups. Executors take as long as they would if
    /// they started at `starts_s` (seconds, by group), or as long as recorded if `starts_s` is empty.
    pub(super) fn workloads(&self, starts_s: &[Vec<f64>]) -> Vec<(Vec<usize>, Workload)> {
        let ends = self.ends(starts_s);
        let workloads = self.pools.iter().map(|(label, pool)| {
            let of_pool = self.groups.iter().enumerate().filter(|(_, it)| it.label == label);
            let specs = of_pool.map(|(place, group)| {
                let starts_s = starts_s.get(place).map_or(&[][..], Vec::as_slice);
                let end = ends.get(group.application.subject.application_id.as_str());
                (place, group.spec(starts_s, end.copied()))
            });
            let (places, applications): (Vec<_>, _) = specs.unzip();
            let workload = Workload {
                name: "what happened".to_owned(),
                machines: pool.machines.clone(),
                heartbeat_ms: 1_000,
                queues: pool.queues.clone(),
                applications,
                masters: self.masters_of(label),
            };
            (places, workload)
        });
        workloads.filter(|(places, _)| !places.is_empty()).collect()
    }

    /// The masters of applications whose first executors ran on nodes of a label: there their masters are counted.
    fn masters_of(&self, label: &str) -> Vec<MasterSpec> {
        let mut lasts_ms: HashMap<&str, i64> = HashMap::new();
        for group in &self.groups {
            let lasts = lasts_ms.entry(&group.application.subject.application_id).or_default();
            *lasts = group.delay_ms.max(*lasts);
        }
        let master = |application: &PastApplication| {
            let mut containers = application.containers.iter();
            // An unmanaged application has none.
            let master = containers.find(|it| it.kind.is_application_master())?;
            let name = application.subject.application_id.as_str();
            Some(MasterSpec {
                name: name.to_owned(),
                request: counted(self.past, master.request),
                runs_already: master.started_ms < self.past.since_ms,
                lasts_ms: lasts_ms.get(name).copied().unwrap_or_default(),
            })
        };
        let first_here = self.first_groups().filter(|group| group.label == label);
        first_here.filter_map(|group| master(group.application)).collect()
    }

    /// When the work of each application is done that its executors share, in slots of the replay.
    fn ends(&self, starts_s: &[Vec<f64>]) -> HashMap<&'a str, f64> {
        let mut shared: HashMap<&str, (Vec<f64>, f64)> = HashMap::new();
        for (group, starts_s) in self.groups.iter().zip(starts_s) {
            let id = group.application.subject.application_id.as_str();
            let (starts, work) = shared.entry(id).or_default();
            starts.extend(group.shared_starts(starts_s));
            *work += group.shared_work();
        }
        let shared = shared.into_iter().filter(|(_, (starts, _))| !starts.is_empty());
        shared.map(|(id, (starts, work))| (id, common_end(&starts, work))).collect()
    }

    pub(super) fn all(&self) -> &[Group<'a>] {
        &self.groups
    }

    /// The beginning of the record, in Unix milliseconds.
    pub(super) fn since_ms(&self) -> i64 {
        self.past.since_ms
    }

    /// Whether an application began and ended in the record.
    pub(super) fn is_compared(&self, application: &PastApplication) -> bool {
        application.ended_ms.is_some() && application.submitted_ms >= self.past.since_ms
    }

    /// Of each application.
    fn first_groups(&self) -> impl Iterator<Item = &Group<'a>> {
        let mut seen = HashSet::new();
        let groups = self.groups.iter();
        groups.filter(move |it| seen.insert(it.application.subject.application_id.as_str()))
    }

    /// What is replayed, in the order of the first executors.
    pub(super) fn applications(&self) -> Vec<&'a PastApplication> {
        self.first_groups().map(|group| group.application).collect()
    }

    /// In the order of their first executors.
    pub(super) fn compared(&self) -> Vec<&'a PastApplication> {
        let applications = self.applications().into_iter();
        applications.filter(|it| self.is_compared(it)).collect()
    }

    /// The size of the nodes to which a label leads.
    pub(super) fn nodes_of(&self, label: &str) -> Resources {
        let pool = self.pools.get(self.pools.label_of(label));
        pool.map_or(Resources::ZERO, |pool| pool.machines.iter().copied().sum())
    }

    /// See [`counted`].
    pub(super) fn counted(&self, request: Request) -> Request {
        counted(self.past, request)
    }

    pub(super) fn not_compared(&self) -> usize {
        let applications = self.applications().into_iter();
        applications.filter(|it| !self.is_compared(it)).count()
    }

    /// What happened, as a replay that went exactly so.
    pub(super) fn recorded(&self) -> Replay {
        Replay::recorded(self, self.past)
    }
}
