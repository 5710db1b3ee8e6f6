//! `yarn.scheduler.elastane.*` in the ResourceManager's configuration.

#[cfg(test)]
mod documented;
mod keys;
mod service;

use std::collections::BTreeMap;
use std::path::PathBuf;

use elastane_predict::ProfileSettings;
use elastane_store::Retention;

use keys::Keys;
pub use service::ServiceSettings;

const PREFIX: &str = "yarn.scheduler.elastane.";

/// Keys that only Java reads.
const OF_JAVA: [&str; 6] = [
    "depository.shared",
    "depository.shared-every-ms",
    "observe.file",
    "placement.order",
    "usage.address",
    "usage.handler-count",
];

const DAY_MS: i64 = 86_400_000;

pub(crate) const MB: u64 = 1_000_000;

/// Everything that an administrator can set.
#[derive(Debug, Clone, PartialEq)]
pub struct RuntimeSettings {
    /// The service's.
    pub service: ServiceSettings,
    /// How profiles are made.
    pub profile: ProfileSettings,
    /// The file of the depository.
    pub depository_file: PathBuf,
    /// How long, and how many, runs are kept.
    pub retention: Retention,
    /// The journal; none writes none.
    pub journal_file: Option<PathBuf>,
}

impl RuntimeSettings {
    /// How profiles are made with an empty configuration.
    pub const DEFAULT_PROFILE: ProfileSettings =
        ProfileSettings { runs: 3, margin: 0.2, least_confidence: 0.6, others: true };
}

/// A value that is not allowed, or a key that is missing or not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(String);

impl RuntimeSettings {
    /// From every key that is set, prefix included; `virtual_cores_count` is whether CapacityScheduler
    /// counts virtual cores.
    ///
    /// # Errors
    /// The first value that is not allowed, or a key that is not known.
    pub fn from_configuration(
        configuration: &BTreeMap<String, String>,
        virtual_cores_count: bool,
    ) -> Result<Self, SettingsError> {
        let mut keys = Keys::of(configuration.clone());
        let settings = Self::read(&mut keys, virtual_cores_count)?;
        keys.refuse_what_is_left()?;
        Ok(settings)
    }

    fn read(keys: &mut Keys, virtual_cores_count: bool) -> Result<Self, SettingsError> {
        let service = ServiceSettings::read(keys, virtual_cores_count)?;
        let default = Self::DEFAULT_PROFILE;
        let profile = ProfileSettings {
            runs: keys.number("profile.runs", default.runs, 1..=100)?,
            margin: keys.number("profile.margin", default.margin, 0.0..=10.0)?,
            least_confidence: keys.number(
                "profile.least-confidence",
                default.least_confidence,
                0.0..=1.0,
            )?,
            others: keys.choice(
                "profile.others",
                default.others,
                &[("on", true), ("off", false)],
            )?,
        };
        let keep_days: i64 = keys.number("depository.keep-days", 400, 1..=36_500)?;
        let most_mb: u64 = keys.number("depository.max-mb", 2_000, 10..=1_000_000)?;
        Ok(Self {
            service,
            profile,
            retention: Retention {
                keep_ms: keep_days * DAY_MS,
                most_bytes: most_mb * MB,
                profile_runs: profile.runs_looked_at(),
            },
            depository_file: keys.path("depository.file").ok_or_else(|| {
                let problem = "depository.file is not set, allowed is the path of a file";
                SettingsError(format!("{PREFIX}{problem}"))
            })?,
            journal_file: keys.path("journal.file"),
        })
    }
}

#[cfg(test)]
mod tests {
    use elastane_core::policy::{self, Favor, PolicyOptions};

    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<RuntimeSettings, SettingsError> {
        let mut configuration: BTreeMap<_, _> = pairs
            .iter()
            .map(|(key, value)| (format!("{PREFIX}{key}"), (*value).to_owned()))
            .collect();
        configuration.entry(format!("{PREFIX}depository.file")).or_insert_with(|| "/d".into());
        RuntimeSettings::from_configuration(&configuration, true)
    }

    #[test]
    fn defaults_observe_only() {
        let settings = read(&[]).unwrap();
        assert!(!settings.service.cluster.enforce);
        assert_eq!(settings.service.cluster.max_ratio, 4.0);
        assert_eq!(settings.service.cluster.fresh_for_ms, 10_000);
        assert_eq!(settings.journal_file, None);
        assert_eq!(settings.service, ServiceSettings::default());
        assert_eq!(settings.profile, RuntimeSettings::DEFAULT_PROFILE);
    }

    #[test]
    fn containers_are_reprovisioned_where_it_is_switched_on() {
        let slow_from = ("reprovision.slow-from", "1.5");
        let settings = read(&[("reprovision", "on"), slow_from]).unwrap();
        assert_eq!(settings.service.reprovision.map(|it| it.slow_from), Some(1.5));
        assert_eq!(read(&[slow_from]).unwrap().service.reprovision, None);
        let no_weights = ("plan.cpu.weights", "off");
        let error = read(&[("reprovision", "on"), no_weights]).unwrap_err().to_string();
        assert!(error.contains("reprovision is 'on', allowed is off, or on with plan."), "{error}");
    }

    #[test]
    fn the_house_policy_is_the_default_and_balanced() {
        let settings = read(&[]).unwrap();
        assert_eq!(settings.service.policy, "elastane");
        assert_eq!(settings.service.policy_options, PolicyOptions::default());
        assert_eq!(settings.service.policy_options.favor, Favor::Balanced);
    }

    #[test]
    fn a_bad_value_names_key_value_and_what_is_allowed() {
        let bad = [
            ("mode", "on", "off, observe, advise or enforce"),
            ("policy", "fairest", &policy::names().join(", ")),
            ("policy", "capacity", "elastane, minfrag, trc, prophet, ursa, ursa-srjf"),
            ("overcommit.max-ratio", "0.5", "1 to 10"),
            ("overcommit.max-ratio", "NaN", "1 to 10"),
            ("mode.label.gpu", "off", "observe, advise or enforce"),
            ("overcommit.max-ratio.label.gpu", "11", "1 to 10"),
            ("overcommit.max-ratio.queue.root.a", "half", "1 to 10"),
            ("report.missed", "three", "1 to 100"),
            ("plan.cpu.cap-ratio", "0.5", "0 (no cap) or 1 to 100"),
            ("plan.disk.cap-ratio", "0.5", "0 (no cap) or 1 to 100"),
            ("plan.network.cap-ratio", "101", "0 to 100"),
            ("plan.cpu.weights", "yes", "on or off"),
            ("plan.memory", "yes", "on or off"),
            ("depository.keep-days", "0", "1 to 36500"),
            ("depository.max-mb", "9", "10 to 1000000"),
            ("journal.usage", "yes", "true or false"),
            ("preempt.first", "migrate", "decommission or kill"),
            ("reprovision", "true", "on or off"),
            ("profile.others", "true", "on or off"),
            ("reprovision.slow-from", "1", "1.01 to 10"),
            ("reprovision.least-left", "-1", "0 to 1"),
            ("fit.peaks", "stretch", "strict or soft"),
            ("placement.favor", "speed", "makespan, balanced or completion"),
        ];
        for (key, value, allowed) in bad {
            let message = read(&[(key, value)]).unwrap_err().to_string();
            assert_eq!(
                message,
                format!("yarn.scheduler.elastane.{key} is '{value}', allowed is {allowed}")
            );
        }
    }

    #[test]
    fn an_unknown_key_is_refused_and_javas_own_are_not() {
        let error = read(&[("overcommit.ratio", "2")]).unwrap_err().to_string();
        assert!(error.starts_with("yarn.scheduler.elastane.overcommit.ratio is not a setting"));
        assert!(read(&[("usage.address.rm1", "host:1"), ("usage.handler-count", "9")]).is_ok());
        assert!(read(&[("placement.order", "queue")]).is_ok());
    }

    #[test]
    fn labels_and_queues_have_ceilings_of_their_own() {
        let label = ("overcommit.max-ratio.label.gpu", "1.5");
        let queue = ("overcommit.max-ratio.queue.root.a", "1");
        let exceptions = read(&[label, queue]).unwrap().service.exceptions;
        assert_eq!(exceptions.max_ratio_by_label, [("gpu".to_owned(), 1.5)].into());
        assert_eq!(exceptions.max_ratio_by_queue, [("root.a".to_owned(), 1.0)].into());
    }

    #[test]
    fn labels_and_nodes_have_modes_of_their_own() {
        let canary = ("mode.enforced-nodes", "a.example, b.example:8041,");
        let labels = [("mode.label.gpu", "observe"), ("mode.label.batch", "enforce")];
        let exceptions = read(&[canary, labels[0], labels[1]]).unwrap().service.exceptions;
        let nodes = ["a.example", "b.example:8041"].map(str::to_owned);
        assert_eq!(exceptions.enforced_nodes, nodes.into());
        let by_label = [("batch".to_owned(), true), ("gpu".to_owned(), false)];
        assert_eq!(exceptions.enforce_by_label, by_label.into());
    }

    #[test]
    fn a_depository_is_needed() {
        let error = read(&[("depository.file", "")]).unwrap_err().to_string();
        assert!(error.starts_with("yarn.scheduler.elastane.depository.file is not set"), "{error}");
    }
}
