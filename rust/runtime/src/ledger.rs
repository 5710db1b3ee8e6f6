//! What running applications book and use, summed up for the depository.

use std::collections::HashMap;
use std::sync::Arc;

use elastane_core::Cluster;
use elastane_core::cluster::{ApplicationId, Container, Request};
use elastane_protocol::Sample;
use elastane_runs::{
    GB, HOUR_MS, HOUR_S, LedgerEntry, LedgerNews, LedgerSubject, LedgerSums, NodesHour,
};

/// Between two times that sums are handed on.
const HANDED_ON_EVERY_MS: i64 = 60_000;

const SECOND_MS: f64 = 1e3;

/// What an hour costs; 0 where no money is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Prices {
    /// Of a virtual core.
    pub core_hour: f64,
    /// Of 1,024 MB of memory.
    pub gb_hour: f64,
}

/// The sums since they were last handed on.
///
/// Booked amounts are the requests of running containers times how long they ran since then. What
/// an earlier process counted of them is not counted again; the time in which no process ran is not counted.
#[derive(Default)]
pub(crate) struct Ledger {
    accounts: HashMap<ApplicationId, Account>,
    /// Of applications that were moved to another queue.
    of_former_queues: Vec<(Arc<LedgerSubject>, LedgerSums)>,
    handed_on_ms: Option<i64>,
}

struct Account {
    subject: Arc<LedgerSubject>,
    /// The requests of its running containers, as the cluster has them.
    booked: Request,
    /// Until when they are in the sums.
    until_ms: i64,
    sums: LedgerSums,
    /// The application ended, and the last samples arrive until then.
    gone_at_ms: Option<i64>,
}

impl Account {
    /// Counts what was booked until now, and goes on with what is booked from now on.
    fn go_on(&mut self, booked: Request, now_ms: i64) {
        let seconds = seconds(now_ms - self.until_ms);
        self.until_ms = self.until_ms.max(now_ms);
        self.sums.booked_vcore_s += f64::from(self.booked.vcores) * seconds;
        self.sums.booked_byte_s += self.booked.memory_bytes as f64 * seconds;
        self.booked = booked;
    }

    fn largest_request(&mut self, container: &Container) {
        if !container.kind.is_application_master() {
            let largest = &mut self.sums.largest_request_bytes;
            *largest = container.request.memory_bytes.max(*largest);
        }
    }
}

/// 0 where a clock went back.
fn seconds(milliseconds: i64) -> f64 {
    milliseconds.max(0) as f64 / SECOND_MS
}

/// None where nothing is to be added.
fn entry(
    subject: &Arc<LedgerSubject>,
    mut sums: LedgerSums,
    hour_ms: i64,
    prices: &Prices,
) -> Option<LedgerEntry> {
    if sums == LedgerSums::default() {
        return None;
    }
    sums.core_cost = sums.booked_vcore_s / HOUR_S * prices.core_hour;
    sums.memory_cost = sums.booked_byte_s / GB / HOUR_S * prices.gb_hour;
    Some(LedgerEntry { subject: Arc::clone(subject), hour_ms, sums })
}

impl Ledger {
    /// An application was submitted.
    pub(crate) fn begin(
        &mut self,
        application: ApplicationId,
        subject: LedgerSubject,
        now_ms: i64,
    ) {
        let account = Account {
            subject: Arc::new(subject),
            booked: Request::default(),
            until_ms: now_ms,
            sums: LedgerSums::default(),
            gone_at_ms: None,
        };
        self.accounts.insert(application, account);
    }

    /// What it booked and used before belongs to the former queue, but for the minute at most since it was counted.
    pub(crate) fn moved(&mut self, application: ApplicationId, queue: &str) {
        if let Some(account) = self.accounts.get_mut(&application) {
            let subject = LedgerSubject { queue: queue.to_owned(), ..(*account.subject).clone() };
            let former = std::mem::replace(&mut account.subject, Arc::new(subject));
            self.of_former_queues.push((former, std::mem::take(&mut account.sums)));
        }
    }

    /// A container runs from now on; whether it started now, or is one that outlived a ResourceManager.
    pub(crate) fn runs(
        &mut self,
        cluster: &Cluster,
        container: &Container,
        is_new: bool,
        now_ms: i64,
    ) {
        if let Some(account) = self.accounts.get_mut(&container.application) {
            account.go_on(booked(cluster, container.application), now_ms);
            account.sums.containers += u64::from(is_new);
            account.largest_request(container);
        }
    }

    /// A container ended.
    pub(crate) fn finished(&mut self, cluster: &Cluster, container: &Container, now_ms: i64) {
        if let Some(account) = self.accounts.get_mut(&container.application) {
            account.go_on(booked(cluster, container.application), now_ms);
        }
    }

    pub(crate) fn measured(&mut self, container: &Container, sample: &Sample) {
        if let Some(account) = self.accounts.get_mut(&container.application) {
            let seconds = seconds(sample.length_ms.into());
            // Also of one that started before the sums were last handed on.
            account.largest_request(container);
            let sums = &mut account.sums;
            sums.measured_vcore_s += f64::from(container.request.vcores) * seconds;
            sums.measured_byte_s += container.request.memory_bytes as f64 * seconds;
            sums.used_core_s += f64::from(sample.usage.cpu_cores) * seconds;
            sums.used_byte_s += sample.usage.memory_bytes as f64 * seconds;
            if !container.kind.is_application_master() {
                sums.largest_use_bytes = sums.largest_use_bytes.max(sample.usage.memory_bytes);
            }
        }
    }

    /// The application ended; its last samples arrive until `until_ms`.
    pub(crate) fn end(&mut self, application: ApplicationId, until_ms: i64) {
        if let Some(account) = self.accounts.get_mut(&application) {
            account.gone_at_ms = Some(until_ms);
        }
    }

    /// The sums since the last time, if the next are due. They count for the hour of now: an hour is wrong by the
    /// minutes that samples take to arrive, and that lie between two times.
    pub(crate) fn take_due(
        &mut self,
        cluster: &Cluster,
        prices: &Prices,
        now_ms: i64,
    ) -> Option<LedgerNews> {
        let last_ms = *self.handed_on_ms.get_or_insert(now_ms);
        (now_ms - last_ms >= HANDED_ON_EVERY_MS).then(|| self.take(cluster, prices, now_ms))
    }

    /// The last sums, at the time of whatever happened last.
    pub(crate) fn take_last(
        &mut self,
        cluster: &Cluster,
        prices: &Prices,
        latest_ms: i64,
    ) -> LedgerNews {
        let counted_ms = self.accounts.values().map(|account| account.until_ms);
        let last_ms = counted_ms.chain(self.handed_on_ms).fold(latest_ms, i64::max);
        self.take(cluster, prices, last_ms)
    }

    fn take(&mut self, cluster: &Cluster, prices: &Prices, now_ms: i64) -> LedgerNews {
        let hour_ms = now_ms - now_ms.rem_euclid(HOUR_MS);
        let since_ms = self.handed_on_ms.replace(now_ms).unwrap_or(now_ms);
        let former = std::mem::take(&mut self.of_former_queues).into_iter();
        let mut applications: Vec<_> =
            former.filter_map(|(subject, sums)| entry(&subject, sums, hour_ms, prices)).collect();
        self.accounts.retain(|application, account| {
            // A node that is gone has taken its containers with it.
            account.go_on(booked(cluster, *application), now_ms);
            let sums = std::mem::take(&mut account.sums);
            applications.extend(entry(&account.subject, sums, hour_ms, prices));
            account.gone_at_ms.is_none_or(|gone_at_ms| gone_at_ms > now_ms)
        });
        let seconds = seconds(now_ms - since_ms);
        let nodes = (seconds > 0.0).then(|| nodes(cluster, hour_ms, seconds));
        LedgerNews { applications, nodes: nodes.into_iter().collect() }
    }
}

/// The requests of an application's running containers; none once it is removed.
fn booked(cluster: &Cluster, application: ApplicationId) -> Request {
    cluster.application(application).map_or_else(Request::default, |it| it.allocated)
}

/// The nodes as they are now, for so long.
fn nodes(cluster: &Cluster, hour_ms: i64, seconds: f64) -> NodesHour {
    let mut sum = NodesHour { hour_ms, ..NodesHour::default() };
    for (_, node) in cluster.nodes() {
        let (registered, booked) = (node.registered, node.booked);
        let above_bytes = booked.memory_bytes.saturating_sub(registered.memory_bytes);
        let above_vcores = booked.vcores.saturating_sub(registered.vcores);
        sum += NodesHour {
            hour_ms,
            node_s: seconds,
            physical_vcore_s: f64::from(registered.vcores) * seconds,
            physical_byte_s: registered.memory_bytes as f64 * seconds,
            booked_byte_s: booked.memory_bytes as f64 * seconds,
            above_vcore_s: f64::from(above_vcores) * seconds,
            above_byte_s: above_bytes as f64 * seconds,
        };
    }
    sum
}
