//! Typed access to the keys of the configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use super::{OF_JAVA, PREFIX, SettingsError};

pub(super) fn refused(key: &str, value: &str, allowed: &str) -> SettingsError {
    SettingsError(format!("{PREFIX}{key} is '{value}', allowed is {allowed}"))
}

/// The keys that have not been read yet.
pub(super) struct Keys {
    left: BTreeMap<String, String>,
    /// Every key that was asked for, without prefix.
    #[cfg(test)]
    pub(super) asked: BTreeSet<String>,
}

impl Keys {
    /// Keys with their prefix.
    pub(super) fn of(left: BTreeMap<String, String>) -> Self {
        Self {
            left,
            #[cfg(test)]
            asked: BTreeSet::new(),
        }
    }

    /// Whether a key that begins with one of these has the value.
    pub(super) fn any_below(&self, beginnings: &[&str], value: &str) -> bool {
        let begins =
            |key: &str| beginnings.iter().any(|it| key.starts_with(&format!("{PREFIX}{it}")));
        self.left.iter().any(|(key, it)| it.trim() == value && begins(key))
    }

    pub(super) fn take(&mut self, key: &str) -> Option<String> {
        #[cfg(test)]
        self.asked.insert(key.to_owned());
        let value = self.left.remove(&format!("{PREFIX}{key}"))?;
        Some(value.trim().to_owned())
    }

    pub(super) fn number<T: FromStr + PartialOrd + Display>(
        &mut self,
        key: &str,
        default: T,
        allowed: RangeInclusive<T>,
    ) -> Result<T, SettingsError> {
        let Some(value) = self.take(key) else {
            return Ok(default);
        };
        let number = value.parse().ok();
        let number = number.filter(|number| allowed.contains(number));
        number.ok_or_else(|| {
            let (least, most) = (allowed.start(), allowed.end());
            refused(key, &value, &format!("{least} to {most}"))
        })
    }

    /// The numbers of all keys that begin with `prefix`, by the rest of the key.
    pub(super) fn numbers_below(
        &mut self,
        prefix: &str,
        allowed: RangeInclusive<f64>,
    ) -> Result<BTreeMap<String, f64>, SettingsError> {
        let numbers = self.rests_below(prefix).into_iter().map(|rest| {
            let number = self.number(&format!("{prefix}{rest}"), 1.0, allowed.clone())?;
            Ok((rest, number))
        });
        numbers.collect()
    }

    /// The words of all keys that begin with `prefix`, by the rest of the key.
    pub(super) fn choices_below<T: Copy>(
        &mut self,
        prefix: &str,
        choices: &[(&str, T)],
    ) -> Result<BTreeMap<String, T>, SettingsError> {
        let chosen = self.rests_below(prefix).into_iter().map(|rest| {
            let choice = self.choice(&format!("{prefix}{rest}"), choices[0].1, choices)?;
            Ok((rest, choice))
        });
        chosen.collect()
    }

    fn rests_below(&self, prefix: &str) -> Vec<String> {
        let full = format!("{PREFIX}{prefix}");
        let rests = self.left.keys().filter_map(|key| key.strip_prefix(&full));
        rests.map(str::to_owned).collect()
    }

    /// Words between commas.
    pub(super) fn list(&mut self, key: &str) -> BTreeSet<String> {
        let value = self.take(key).unwrap_or_default();
        let words = value.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    }

    /// One of several words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        key: &str,
        default: T,
        choices: &[(&str, T)],
    ) -> Result<T, SettingsError> {
        let Some(value) = self.take(key) else {
            return Ok(default);
        };
        let chosen = choices.iter().find(|(word, _)| *word == value);
        chosen.map(|(_, choice)| *choice).ok_or_else(|| {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            let allowed = match words.split_last() {
                Some((last, others)) if !others.is_empty() => {
                    format!("{} or {last}", others.join(", "))
                }
                _ => words.concat(),
            };
            refused(key, &value, &allowed)
        })
    }

    /// Two words; off by default.
    pub(super) fn switch(&mut self, key: &str, off: &str, on: &str) -> Result<bool, SettingsError> {
        self.choice(key, false, &[(on, true), (off, false)])
    }

    pub(super) fn path(&mut self, key: &str) -> Option<PathBuf> {
        self.take(key).filter(|file| !file.is_empty()).map(PathBuf::from)
    }

    /// 0 leaves the resource work-conserving; a cap below the plan itself would be no plan.
    pub(super) fn cap_ratio(
        &mut self,
        key: &str,
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

    pub(super) fn refuse_what_is_left(self) -> Result<(), SettingsError> {
        let of_java = |key: &str| {
            let key = key.strip_prefix(PREFIX).unwrap_or(key);
            OF_JAVA.iter().any(|known| key == *known || key.starts_with(&format!("{known}.")))
        };
        match self.left.into_keys().find(|key| !of_java(key)) {
            Some(key) => Err(SettingsError(format!(
                "{key} is not a setting of Elastane; docs/configuration.md lists them"
            ))),
            None => Ok(()),
        }
    }
}
