//! The newest measurements of a node beside its plan, for `status`.

use elastane_core::cluster::{Container, NodeId};
use elastane_core::{Cluster, Resources};
use elastane_protocol::{Pressure, Report};
use serde::Serialize;

use crate::amounts::{used, used_by_others};

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    used: Resources,
    used_by_others: Resources,
    /// What all containers were expected to use at the time of the report.
    planned: Resources,
    /// The number of containers that are planned by a profile.
    #[serde(skip)]
    pub(crate) predicted_containers: usize,
    /// The sum of their safety margins, each a fraction of the demand.
    #[serde(skip)]
    pub(crate) margins: f64,
    /// The largest share of time in which a container's CPU was throttled.
    cpu_throttled: f32,
    /// Threads of all containers that were ready to run and had no core, on average.
    cpu_waited_cores: f32,
    pressure: Option<Pressure>,
    /// The number of containers that the agent asks to give way.
    memory_victims: usize,
    /// The containers of each leaf queue.
    queues: Vec<QueueUse>,
}

#[derive(Debug, Clone, Default, Serialize)]
struct QueueUse {
    queue: String,
    used: Resources,
    planned: Resources,
}

impl Measured {
    /// A report may come before the next samples of the containers: their `former` use stays.
    pub(crate) fn of(
        report: &Report,
        cluster: &Cluster,
        node: NodeId,
        former: Option<&Self>,
        now_ms: i64,
    ) -> Self {
        let newest = report.containers.iter().filter_map(|container| container.samples.last());
        let mut throttled = newest.map(|sample| sample.usage.cpu_throttled).peekable();
        let former = former.filter(|_| throttled.peek().is_none() && !report.containers.is_empty());
        let mut measured = Self {
            used: used(&report.containers_usage),
            used_by_others: used_by_others(report),
            planned: Resources::ZERO,
            predicted_containers: 0,
            margins: 0.0,
            cpu_throttled: former
                .map_or_else(|| throttled.fold(0.0, f32::max), |former| former.cpu_throttled),
            cpu_waited_cores: report.containers_usage.cpu_waited_cores,
            pressure: report.pressure,
            memory_victims: report.memory_victims.len(),
            queues: Vec::new(),
        };
        measured.plan(cluster, node, now_ms);
        match former {
            Some(former) => measured.use_as_before(former),
            None => measured.use_of(report, cluster),
        }
        measured
    }

    fn plan(&mut self, cluster: &Cluster, node: NodeId, now_ms: i64) {
        let Some(entry) = cluster.node(node) else {
            return;
        };
        for (id, running) in entry.containers() {
            let planned = running.expected_at(now_ms);
            self.planned += planned;
            let Some(container) = cluster.container(id) else {
                continue;
            };
            if container.profile().is_some() {
                self.predicted_containers += 1;
                self.margins += container.margin;
            }
            if let Some(queue) = queue_of(cluster, container) {
                self.of_queue(queue).planned += planned;
            }
        }
    }

    fn use_of(&mut self, report: &Report, cluster: &Cluster) {
        for samples in &report.containers {
            let container = cluster.container(&samples.container);
            let queue = container.and_then(|container| queue_of(cluster, container));
            if let (Some(queue), Some(last)) = (queue, samples.samples.last()) {
                self.of_queue(queue).used += used(&last.usage);
            }
        }
    }

    fn use_as_before(&mut self, former: &Self) {
        for before in &former.queues {
            self.of_queue(&before.queue).used = before.used;
        }
    }

    fn of_queue(&mut self, queue: &str) -> &mut QueueUse {
        let known = self.queues.iter().position(|it| it.queue == queue);
        let place = known.unwrap_or_else(|| {
            self.queues.push(QueueUse { queue: queue.to_owned(), ..QueueUse::default() });
            self.queues.len() - 1
        });
        &mut self.queues[place]
    }
}

fn queue_of<'a>(cluster: &'a Cluster, container: &Container) -> Option<&'a str> {
    Some(&cluster.application(container.application)?.queue)
}
