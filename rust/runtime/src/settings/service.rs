//! The settings of the service.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use elastane_core::ClusterSettings;
use elastane_core::cluster::Exceptions;
use elastane_core::fit::Peaks;
use elastane_core::plan::PlanSettings;
use elastane_core::policy::{self, Favor, PolicyOptions};
use elastane_core::reprovision::ReprovisionSettings;
use elastane_protocol::Reply;

use super::SettingsError;
use super::keys::{Keys, refused};
use crate::ledger::Prices;

/// After this number of missed reports a node's measurements are stale.
const REPORTS_MISSED: i64 = 3;

/// The modes in which there is a core, and whether they enforce its decisions.
const MODES: [(&str, bool); 3] = [("observe", false), (ADVISE, false), ("enforce", true)];

/// Decides as `observe` does, and what happens is recorded for a replay.
const ADVISE: &str = "advise";

/// Allowed prices, in any money.
const PRICES: RangeInclusive<f64> = 0.0..=1e6;

/// Allowed ceilings of the overcommit.
const RATIOS: RangeInclusive<f64> = 1.0..=10.0;

/// Where the mode is `advise`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Advises {
    /// On every node and in every queue for which nothing else is said.
    pub by_default: bool,
    /// Also where only a queue or a label has it.
    pub anywhere: bool,
}

/// The settings of [`crate::Service`].
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceSettings {
    /// Placement and overcommit.
    pub cluster: ClusterSettings,
    /// What holds at some nodes and queues instead.
    pub exceptions: Exceptions,
    /// Limit plans.
    pub plan: PlanSettings,
    /// One of [`elastane_core::policy::names`].
    pub policy: String,
    /// The options of the policy.
    pub policy_options: PolicyOptions,
    /// Whether the progress of containers is followed; a configuration follows it where containers are
    /// reprovisioned.
    pub follows_progress: bool,
    /// Whether an executor that has to give way is told to leave before it is ended.
    pub decommissions_first: bool,
    /// How containers are reprovisioned in mode `enforce`, if at all.
    pub reprovision: Option<ReprovisionSettings>,
    /// How often an agent reports, in milliseconds.
    pub report_interval_ms: i64,
    /// Where the mode is `advise`.
    pub advises: Advises,
    /// Whether each report is written into the journal, too.
    pub journal_usage: bool,
    /// What is booked costs that.
    pub prices: Prices,
}

impl Default for ServiceSettings {
    /// Those of an empty configuration.
    fn default() -> Self {
        let report_interval_ms = 3_000;
        Self {
            cluster: ClusterSettings {
                enforce: false,
                virtual_cores_count: true,
                max_ratio: 4.0,
                fresh_for_ms: fresh_for_ms(report_interval_ms, REPORTS_MISSED),
                grow_every_ms: report_interval_ms,
                starvation_wait_ms: 180_000,
            },
            exceptions: Exceptions::default(),
            plan: PlanSettings::default(),
            policy: "elastane".to_owned(),
            policy_options: PolicyOptions::default(),
            follows_progress: false,
            decommissions_first: true,
            reprovision: None,
            report_interval_ms,
            advises: Advises::default(),
            journal_usage: false,
            prices: Prices::default(),
        }
    }
}

impl ServiceSettings {
    /// Reads the service's keys. `virtual_cores_count` is whether CapacityScheduler counts them.
    pub(super) fn read(keys: &mut Keys, virtual_cores_count: bool) -> Result<Self, SettingsError> {
        let default = Self::default();
        let cluster = default.cluster;
        let somewhere = keys.any_below(&["mode.label.", "mode.queue."], ADVISE);
        let mode = keys.take("mode").unwrap_or_else(|| "observe".to_owned());
        let Some((_, enforce)) = MODES.into_iter().find(|(name, _)| *name == mode) else {
            return Err(refused("mode", &mode, "off, observe, advise or enforce"));
        };
        let report_interval_ms =
            keys.number("report.interval-ms", default.report_interval_ms, 1_000..=60_000)?;
        let missed = keys.number("report.missed", REPORTS_MISSED, 1..=100)?;
        let peaks = [("strict", Some(Peaks::Strict)), ("soft", Some(Peaks::Soft))];
        let peaks = keys.choice("fit.peaks", None, &peaks)?;
        let policy = keys.take("policy").unwrap_or(default.policy);
        if !policy::names().contains(&policy.as_str()) {
            return Err(refused("policy", &policy, &policy::names().join(", ")));
        }
        let allowed = "makespan, balanced or completion";
        let favor = match keys.take("placement.favor") {
            None => Favor::default(),
            Some(value) => {
                value.parse().map_err(|_| refused("placement.favor", &value, allowed))?
            }
        };
        let waits = cluster.starvation_wait_ms;
        let plan = plan(keys, default.plan.valid_for_ms)?;
        let reprovision = reprovision(keys, &plan)?;
        Ok(Self {
            cluster: ClusterSettings {
                enforce,
                virtual_cores_count,
                max_ratio: keys.number("overcommit.max-ratio", cluster.max_ratio, RATIOS)?,
                fresh_for_ms: fresh_for_ms(report_interval_ms, missed),
                grow_every_ms: report_interval_ms,
                starvation_wait_ms: keys.number("starvation.wait-ms", waits, 1_000..=86_400_000)?,
            },
            exceptions: Exceptions {
                max_ratio_by_label: keys.numbers_below("overcommit.max-ratio.label.", RATIOS)?,
                max_ratio_by_queue: keys.numbers_below("overcommit.max-ratio.queue.", RATIOS)?,
                enforce_by_label: keys.choices_below("mode.label.", &MODES)?,
                enforce_by_queue: modes_of_queues(keys)?,
                enforced_nodes: keys.list("mode.enforced-nodes"),
            },
            plan,
            follows_progress: reprovision.is_some(),
            decommissions_first: keys.choice(
                "preempt.first",
                true,
                &[("decommission", true), ("kill", false)],
            )?,
            reprovision,
            policy,
            policy_options: PolicyOptions { peaks, favor },
            report_interval_ms,
            advises: Advises { by_default: mode == ADVISE, anywhere: somewhere || mode == ADVISE },
            journal_usage: keys.switch("journal.usage", "false", "true")?,
            prices: Prices {
                core_hour: keys.number("price.core-hour", 0.0, PRICES)?,
                gb_hour: keys.number("price.gb-hour", 0.0, PRICES)?,
            },
        })
    }
}

/// By the full paths of queues: one that lacks its beginning would name none, and the queue would not be in observe.
fn modes_of_queues(keys: &mut Keys) -> Result<BTreeMap<String, bool>, SettingsError> {
    let modes = keys.choices_below("mode.queue.", &MODES)?;
    for path in modes.keys() {
        if path != "root" && !path.starts_with("root.") {
            let allowed = "the full path of a queue, root or root.…";
            return Err(refused("mode.queue.PATH", path, allowed));
        }
    }
    Ok(modes)
}

fn plan(keys: &mut Keys, valid_for_ms: u32) -> Result<PlanSettings, SettingsError> {
    let valid = 3_000..=Reply::LONGEST_VALID_MS;
    Ok(PlanSettings {
        valid_for_ms: keys.number("plan.valid-for-ms", valid_for_ms, valid)?,
        weighs_cpu: keys.choice("plan.cpu.weights", true, &[("on", true), ("off", false)])?,
        cpu_cap_ratio: keys.cap_ratio("plan.cpu.cap-ratio", "0 (no cap) or 1 to 100")?,
        limits_memory: keys.switch("plan.memory", "off", "on")?,
        disk_cap_ratio: keys.cap_ratio("plan.disk.cap-ratio", "0 (no cap) or 1 to 100")?,
        network_cap_ratio: keys
            .cap_ratio("plan.network.cap-ratio", "0 (weights only) or 1 to 100")?,
    })
}

/// Off by default, until a real cluster shows a gain.
fn reprovision(
    keys: &mut Keys,
    plan: &PlanSettings,
) -> Result<Option<ReprovisionSettings>, SettingsError> {
    let defaults = ReprovisionSettings::default();
    let settings = ReprovisionSettings {
        slow_from: keys.number("reprovision.slow-from", defaults.slow_from, 1.01..=10.0)?,
        every_ms: keys.number("reprovision.every-ms", defaults.every_ms, 10_000..=86_400_000)?,
        least_left: keys.number("reprovision.least-left", defaults.least_left, 0.0..=1.0)?,
    };
    let is_on = keys.switch("reprovision", "off", "on")?;
    if is_on && !plan.limits_any() {
        let allowed =
            "off, or on with plan.cpu.weights on, plan.memory on or a cap ratio: it loosens limits";
        return Err(refused("reprovision", "on", allowed));
    }
    Ok(is_on.then_some(settings))
}

/// A report that is under way when the last missed one was due is not late yet.
fn fresh_for_ms(report_interval_ms: i64, missed: i64) -> i64 {
    report_interval_ms * missed + report_interval_ms / 3
}
