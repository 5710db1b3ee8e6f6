//! `yarn.scheduler.elastane.*`, as the ResourceManager's configuration has it.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use elastane_core::ClusterSettings;
use elastane_core::fit::Peaks;
use elastane_core::plan::PlanSettings;
use elastane_core::policy::{self, Favor, PolicyOptions};
use elastane_core::reprovision::ReprovisionSettings;
use elastane_predict::ProfileSettings;
use elastane_store::Retention;

use crate::retention::MB;

const PREFIX: &str = "yarn.scheduler.elastane.";

/// Keys that Java reads itself.
const OF_JAVA: [&str; 4] = [
    "depository.shared",
    "depository.shared-every-ms",
    "usage.address",
    "usage.handler-count",
];

const DAY_MS: i64 = 86_400_000;

/// Everything that an administrator can set.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What placement goes by.
    pub cluster: ClusterSettings,
    /// What limits are planned by.
    pub plan: PlanSettings,
    /// One of [`elastane_core::policy::names`].
    pub policy: String,
    /// What was chosen about it.
    pub policy_options: PolicyOptions,
    /// Whether containers are followed by their progress and, in mode `enforce`, reprovisioned.
    pub reprovision: Option<ReprovisionSettings>,
    /// How profiles are made.
    pub profile: ProfileSettings,
    /// How often an agent reports, in milliseconds.
    pub report_interval_ms: i64,
    /// Where runs are kept.
    pub depository_file: PathBuf,
    /// For how long, and how many.
    pub retention: Retention,
    /// Where decisions are written; none writes none.
    pub journal_file: Option<PathBuf>,
    /// Whether each report is written into the journal, too.
    pub journal_usage: bool,
}

/// A value that is not allowed, or a key that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The value of a key.
    #[error("{PREFIX}{key} is '{value}', allowed is {allowed}")]
    Value {
        /// Without the prefix.
        key: &'static str,
        /// As it was given.
        value: String,
        /// In words.
        allowed: String,
    },
    /// A key that has no default and was not given.
    #[error("{PREFIX}{key} is not set, allowed is {allowed}")]
    Missing {
        /// Without the prefix.
        key: &'static str,
        /// In words.
        allowed: &'static str,
    },
    /// Most often a slip of the pen.
    #[error("{key} is not a setting of Elastane; docs/configuration.md lists them")]
    Unknown {
        /// With the prefix.
        key: String,
    },
}

impl Settings {
    /// From every key that is set, prefix included, and whether CapacityScheduler counts virtual
    /// cores.
    ///
    /// # Errors
    /// The first value that is not allowed, or a key that is not known.
    pub fn from_configuration(
        configuration: &BTreeMap<String, String>,
        virtual_cores_count: bool,
    ) -> Result<Self, SettingsError> {
        let mut keys = Keys {
            left: configuration.clone(),
        };
        let enforce = match keys.take("mode").as_deref() {
            None | Some("observe") => false,
            Some("enforce") => true,
            Some(value) => return Err(refused("mode", value, "off, observe or enforce")),
        };
        let report_interval_ms = keys.number("report.interval-ms", 3_000, 1_000..=60_000)?;
        let missed: i64 = keys.number("report.missed", 3, 1..=100)?;
        let peaks = match keys.take("fit.peaks").as_deref() {
            None => None,
            Some("strict") => Some(Peaks::Strict),
            Some("soft") => Some(Peaks::Soft),
            Some("stretch") => Some(Peaks::Stretch),
            Some(value) => return Err(refused("fit.peaks", value, "strict, soft or stretch")),
        };
        let policy = keys.take("policy").unwrap_or_else(|| "elastane".to_owned());
        if !policy::names().contains(&policy.as_str()) {
            return Err(refused("policy", &policy, &policy::names().join(", ")));
        }
        let favor = match keys.take("placement.favor") {
            None => Favor::default(),
            Some(value) => value.parse().map_err(|_| {
                refused(
                    "placement.favor",
                    &value,
                    "makespan, balanced or completion",
                )
            })?,
        };
        let profile = ProfileSettings {
            runs: keys.number("profile.runs", 3, 1..=100)?,
            margin: keys.number("profile.margin", 0.2, 0.0..=10.0)?,
            least_confidence: keys.number("profile.least-confidence", 0.6, 0.0..=1.0)?,
        };
        let keep_days: i64 = keys.number("depository.keep-days", 400, 1..=36_500)?;
        let most_mb: u64 = keys.number("depository.max-mb", 2_000, 10..=1_000_000)?;
        let settings = Self {
            cluster: ClusterSettings {
                enforce,
                virtual_cores_count,
                max_ratio: keys.number("overcommit.max-ratio", 2.0, 1.0..=10.0)?,
                // A report that is on its way when the last missed one was due is not late yet.
                fresh_for_ms: report_interval_ms * missed + report_interval_ms / 3,
                starvation_wait_ms: keys.number(
                    "starvation.wait-ms",
                    60_000,
                    1_000..=86_400_000,
                )?,
                pass_ms: keys.number("placement.pass-ms", 3_000, 0..=60_000)?,
            },
            plan: PlanSettings {
                valid_for_ms: keys.number("plan.valid-for-ms", 120_000, 3_000..=3_600_000)?,
                cpu_cap_ratio: keys
                    .cap_ratio("plan.cpu.cap-ratio", "0 (shares only) or 1 to 100")?,
                limits_memory: keys.switch("plan.memory", "off", "on")?,
                disk_cap_ratio: keys.cap_ratio("plan.disk.cap-ratio", "0 (no cap) or 1 to 100")?,
                network_cap_ratio: keys
                    .cap_ratio("plan.network.cap-ratio", "0 (weights only) or 1 to 100")?,
            },
            reprovision: keys.reprovision()?,
            policy,
            policy_options: PolicyOptions { peaks, favor },
            profile,
            retention: Retention {
                keep_ms: keep_days * DAY_MS,
                most_bytes: most_mb * MB,
                profile_runs: profile.runs_looked_at(),
            },
            report_interval_ms,
            depository_file: keys
                .take("depository.file")
                .filter(|file| !file.is_empty())
                .map(PathBuf::from)
                .ok_or(SettingsError::Missing {
                    key: "depository.file",
                    allowed: "the path of a file",
                })?,
            journal_file: keys
                .take("journal.file")
                .filter(|file| !file.is_empty())
                .map(PathBuf::from),
            journal_usage: keys.switch("journal.usage", "false", "true")?,
        };
        keys.refuse_what_is_left()?;
        Ok(settings)
    }
}

fn refused(key: &'static str, value: &str, allowed: &str) -> SettingsError {
    SettingsError::Value {
        key,
        value: value.to_owned(),
        allowed: allowed.to_owned(),
    }
}

struct Keys {
    left: BTreeMap<String, String>,
}

impl Keys {
    fn take(&mut self, key: &str) -> Option<String> {
        let value = self.left.remove(&format!("{PREFIX}{key}"))?;
        Some(value.trim().to_owned())
    }

    fn number<T: FromStr + PartialOrd + Display>(
        &mut self,
        key: &'static str,
        default: T,
        allowed: RangeInclusive<T>,
    ) -> Result<T, SettingsError> {
        let Some(value) = self.take(key) else {
            return Ok(default);
        };
        value
            .parse()
            .ok()
            .filter(|number| allowed.contains(number))
            .ok_or_else(|| {
                let (least, most) = (allowed.start(), allowed.end());
                refused(key, &value, &format!("{least} to {most}"))
            })
    }

    /// One of two words; the first is the default.
    fn switch(
        &mut self,
        key: &'static str,
        off: &'static str,
        on: &'static str,
    ) -> Result<bool, SettingsError> {
        match self.take(key) {
            None => Ok(false),
            Some(value) if value == off => Ok(false),
            Some(value) if value == on => Ok(true),
            Some(value) => Err(refused(key, &value, &format!("{on} or {off}"))),
        }
    }

    /// Off by default, until a real cluster shows what it gains.
    fn reprovision(&mut self) -> Result<Option<ReprovisionSettings>, SettingsError> {
        let defaults = ReprovisionSettings::default();
        let settings = ReprovisionSettings {
            slow_from: self.number("reprovision.slow-from", defaults.slow_from, 1.01..=10.0)?,
            every_ms: self.number(
                "reprovision.every-ms",
                defaults.every_ms,
                10_000..=86_400_000,
            )?,
            least_left: self.number("reprovision.least-left", defaults.least_left, 0.0..=1.0)?,
        };
        let is_on = self.switch("reprovision", "off", "on")?;
        Ok(is_on.then_some(settings))
    }

    /// 0 leaves the resource work-conserving; a cap below the plan itself would be no plan.
    fn cap_ratio(
        &mut self,
        key: &'static str,
        allowed: &str,
    ) -> Result<Option<f64>, SettingsError> {
        let ratio: f64 = self.number(key, 0.0, 0.0..=100.0)?;
        if ratio == 0.0 {
            Ok(None)
        } else if ratio >= 1.0 {
            Ok(Some(ratio))
        } else {
            Err(refused(key, &ratio.to_string(), allowed))
        }
    }

    fn refuse_what_is_left(self) -> Result<(), SettingsError> {
        let of_java = |key: &str| {
            let key = key.strip_prefix(PREFIX).unwrap_or(key);
            OF_JAVA
                .iter()
                .any(|known| key == *known || key.starts_with(&format!("{known}.")))
        };
        match self.left.into_keys().find(|key| !of_java(key)) {
            Some(key) => Err(SettingsError::Unknown { key }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        let mut configuration: BTreeMap<_, _> = pairs
            .iter()
            .map(|(key, value)| (format!("{PREFIX}{key}"), (*value).to_owned()))
            .collect();
        configuration
            .entry(format!("{PREFIX}depository.file"))
            .or_insert_with(|| "/d".into());
        Settings::from_configuration(&configuration, true)
    }

    #[test]
    fn defaults_observe_only() {
        let settings = read(&[]).unwrap();
        assert!(!settings.cluster.enforce);
        assert_eq!(settings.cluster.max_ratio, 2.0);
        assert_eq!(settings.cluster.fresh_for_ms, 10_000);
        assert_eq!(settings.journal_file, None);
        assert_eq!(settings.plan, PlanSettings::default());
    }

    #[test]
    fn containers_are_reprovisioned_where_it_is_switched_on() {
        let slow_from = ("reprovision.slow-from", "1.5");
        let settings = read(&[("reprovision", "on"), slow_from]).unwrap();
        assert_eq!(settings.reprovision.map(|it| it.slow_from), Some(1.5));
        assert_eq!(read(&[slow_from]).unwrap().reprovision, None);
    }

    #[test]
    fn the_house_policy_is_the_default_and_balanced() {
        let settings = read(&[]).unwrap();
        assert_eq!(settings.policy, "elastane");
        assert_eq!(settings.policy_options, PolicyOptions::default());
        assert_eq!(settings.policy_options.favor, Favor::Balanced);
    }

    #[test]
    fn a_bad_value_names_key_value_and_what_is_allowed() {
        let bad = [
            ("mode", "on", "off, observe or enforce"),
            ("policy", "fairest", &policy::names().join(", ")),
            (
                "policy",
                "capacity",
                "elastane, minfrag, trc, prophet, ursa, ursa-srjf",
            ),
            ("overcommit.max-ratio", "0.5", "1 to 10"),
            ("overcommit.max-ratio", "NaN", "1 to 10"),
            ("report.missed", "three", "1 to 100"),
            ("plan.cpu.cap-ratio", "0.5", "0 (shares only) or 1 to 100"),
            ("plan.disk.cap-ratio", "0.5", "0 (no cap) or 1 to 100"),
            ("plan.network.cap-ratio", "101", "0 to 100"),
            ("plan.memory", "yes", "on or off"),
            ("depository.keep-days", "0", "1 to 36500"),
            ("depository.max-mb", "9", "10 to 1000000"),
            ("journal.usage", "yes", "true or false"),
            ("reprovision", "true", "on or off"),
            ("reprovision.slow-from", "1", "1.01 to 10"),
            ("reprovision.least-left", "-1", "0 to 1"),
            ("fit.peaks", "loose", "strict, soft or stretch"),
            (
                "placement.favor",
                "speed",
                "makespan, balanced or completion",
            ),
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
        let error = read(&[("overcommit.ratio", "2")]).unwrap_err();
        assert!(matches!(error, SettingsError::Unknown { .. }));
        assert!(
            read(&[
                ("usage.address.rm1", "host:1"),
                ("usage.handler-count", "9")
            ])
            .is_ok()
        );
    }

    #[test]
    fn a_depository_is_needed() {
        assert!(matches!(
            read(&[("depository.file", "")]),
            Err(SettingsError::Missing { .. })
        ));
    }
}
