//! What running applications book and use, summed up for the depository.

use std::collections::HashMap;

use elastane_core::Cluster;
use elastane_core::cluster::{ApplicationId, Container, Request};
use elastane_protocol::Sample;
use elastane_runs::{HOUR_MS, LedgerEntry, LedgerNews, LedgerSums, NodesHour};

/// Between two times that sums are handed on.
const HANDED_ON_EVERY_MS: i64 = 60_000;

const SECOND_MS: f64 = 1e3;
const SECONDS_OF_HOUR: f64 = 3_600.0;
/// As YARN counts: 1,024 MB.
const GB: f64 = (1_u64 << 30) as f64;

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
    handed_on_ms: Option<i64>,
}

struct Account {
    application_id: String,
    application_key: String,
    application_name: String,
    user: String,
    queue: String,
    /// The requests of its running containers.
    running: Request,
    /// Until when they are in the sums.
    until_ms: i64,
    sums: LedgerSums,
    /// The application ended, and the last samples arrive until then.
    gone_at_ms: Option<i64>,
}

impl Account {
    fn count_until(&mut self, now_ms: i64) {
        let seconds = seconds(now_ms - self.until_ms);
        self.until_ms = self.until_ms.max(now_ms);
        self.sums.booked_vcore_s += f64::from(self.running.vcores) * seconds;
        self.sums.booked_byte_s += self.running.memory_bytes as f64 * seconds;
    }

    fn entry(&mut self, hour_ms: i64, prices: &Prices) -> Option<LedgerEntry> {
        let mut sums = std::mem::take(&mut self.sums);
        if sums == LedgerSums::default() {
            return None;
        }
        sums.core_cost = sums.booked_vcore_s / SECONDS_OF_HOUR * prices.core_hour;
        sums.memory_cost = sums.booked_byte_s / GB / SECONDS_OF_HOUR * prices.gb_hour;
        Some(LedgerEntry {
            application_id: self.application_id.clone(),
            hour_ms,
            application_key: self.application_key.clone(),
            application_name: self.application_name.clone(),
            user: self.user.clone(),
            queue: self.queue.clone(),
            sums,
        })
    }
}

/// 0 where a clock went back.
fn seconds(milliseconds: i64) -> f64 {
    milliseconds.max(0) as f64 / SECOND_MS
}

impl Ledger {
    /// An application was submitted, by this name and key.
    pub(crate) fn begin(
        &mut self,
        application: ApplicationId,
        [id, key, name]: [&str; 3],
        user: &str,
        queue: &str,
        now_ms: i64,
    ) {
        let account = Account {
            application_id: id.to_owned(),
            application_key: key.to_owned(),
            application_name: name.to_owned(),
            user: user.to_owned(),
            queue: queue.to_owned(),
            running: Request::default(),
            until_ms: now_ms,
            sums: LedgerSums::default(),
            gone_at_ms: None,
        };
        self.accounts.insert(application, account);
    }

    pub(crate) fn moved(&mut self, application: ApplicationId, queue: &str) {
        if let Some(account) = self.accounts.get_mut(&application) {
            queue.clone_into(&mut account.queue);
        }
    }

    /// A container runs from now on; whether it started now, or is one that outlived a ResourceManager.
    pub(crate) fn runs(&mut self, container: &Container, is_new: bool, now_ms: i64) {
        if let Some(account) = self.accounts.get_mut(&container.application) {
            account.count_until(now_ms);
            let Request { memory_bytes, vcores } = container.request;
            account.running.memory_bytes += memory_bytes;
            account.running.vcores += vcores;
            account.sums.containers += u64::from(is_new);
            if !container.kind.is_application_master() {
                let largest = &mut account.sums.largest_request_bytes;
                *largest = memory_bytes.max(*largest);
            }
        }
    }

    pub(crate) fn finished(&mut self, container: &Container, now_ms: i64) {
        if let Some(account) = self.accounts.get_mut(&container.application) {
            account.count_until(now_ms);
            let Request { memory_bytes, vcores } = container.request;
            account.running.memory_bytes =
                account.running.memory_bytes.saturating_sub(memory_bytes);
            account.running.vcores = account.running.vcores.saturating_sub(vcores);
        }
    }

    pub(crate) fn measured(&mut self, container: &Container, sample: &Sample) {
        if let Some(account) = self.accounts.get_mut(&container.application) {
            let seconds = seconds(sample.length_ms.into());
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

    /// The sums since the last time, if the next are due. They count for the hour of now: an hour is wrong by a
    /// minute at most.
    pub(crate) fn take_due(
        &mut self,
        cluster: &Cluster,
        prices: &Prices,
        now_ms: i64,
    ) -> Option<LedgerNews> {
        let last_ms = *self.handed_on_ms.get_or_insert(now_ms);
        (now_ms - last_ms >= HANDED_ON_EVERY_MS).then(|| self.take(cluster, prices, now_ms))
    }

    /// The sums since the last time.
    pub(crate) fn take(&mut self, cluster: &Cluster, prices: &Prices, now_ms: i64) -> LedgerNews {
        let hour_ms = now_ms - now_ms.rem_euclid(HOUR_MS);
        let since_ms = self.handed_on_ms.replace(now_ms).unwrap_or(now_ms);
        let mut applications = Vec::new();
        self.accounts.retain(|_, account| {
            account.count_until(now_ms);
            applications.extend(account.entry(hour_ms, prices));
            account.gone_at_ms.is_none_or(|gone_at_ms| gone_at_ms > now_ms)
        });
        let nodes = nodes(cluster, hour_ms, seconds(now_ms - since_ms));
        LedgerNews { applications, nodes: vec![nodes] }
    }
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
