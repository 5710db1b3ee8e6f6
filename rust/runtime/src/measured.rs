//! The newest measurements of a node, for `status`.

use elastane_core::{Cluster, Resources};
use elastane_protocol::{Pressure, Report};
use serde::Serialize;

use crate::amounts::{used, used_by_others};

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    used: Resources,
    used_by_others: Resources,
    /// The largest share of time in which a container's CPU was throttled.
    cpu_throttled: f32,
    /// Threads of all containers that were ready to run and had no core, on average.
    cpu_waited_cores: f32,
    pressure: Option<Pressure>,
    /// The number of containers that the agent asks to give way.
    memory_victims: usize,
    /// What the containers of each leaf queue used.
    queues: Vec<QueueUse>,
}

#[derive(Debug, Clone, Serialize)]
struct QueueUse {
    queue: String,
    used: Resources,
}

impl Measured {
    /// A report may come before the next samples of the containers: their `former` use stays.
    pub(crate) fn of(report: &Report, cluster: &Cluster, former: Option<&Self>) -> Self {
        let newest = report.containers.iter().filter_map(|container| container.samples.last());
        let mut throttled = newest.map(|sample| sample.usage.cpu_throttled).peekable();
        let former = former.filter(|_| throttled.peek().is_none() && !report.containers.is_empty());
        Self {
            used: used(&report.containers_usage),
            used_by_others: used_by_others(report),
            cpu_throttled: former
                .map_or_else(|| throttled.fold(0.0, f32::max), |former| former.cpu_throttled),
            cpu_waited_cores: report.containers_usage.cpu_waited_cores,
            pressure: report.pressure,
            memory_victims: report.memory_victims.len(),
            queues: former
                .map_or_else(|| by_queue(report, cluster), |former| former.queues.clone()),
        }
    }
}

fn by_queue(report: &Report, cluster: &Cluster) -> Vec<QueueUse> {
    let mut queues: Vec<QueueUse> = Vec::new();
    for samples in &report.containers {
        let container = cluster.container(&samples.container);
        let application = container.and_then(|it| cluster.application(it.application));
        let (Some(application), Some(last)) = (application, samples.samples.last()) else {
            continue;
        };
        let used = used(&last.usage);
        match queues.iter_mut().find(|it| it.queue == application.queue) {
            Some(of_queue) => of_queue.used += used,
            None => queues.push(QueueUse { queue: application.queue.clone(), used }),
        }
    }
    queues
}
