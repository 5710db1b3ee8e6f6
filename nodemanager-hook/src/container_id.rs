//! YARN's container ids, parsed strictly, since they become parts of paths.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

const MAX_DIGITS: usize = 20;

/// A valid container id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContainerId(Arc<str>);

impl ContainerId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ContainerId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if is_valid(text) {
            return Ok(Self(text.into()));
        }
        let text: String = text.chars().take(80).collect();
        Err(format!(
            "`{}` is not a container id: allowed is \
             container_[e<epoch>_]<cluster timestamp>_<application>_<attempt>_<container>",
            text.escape_default()
        ))
    }
}

impl TryFrom<String> for ContainerId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ContainerId> for String {
    fn from(id: ContainerId) -> Self {
        id.as_str().into()
    }
}

impl fmt::Display for ContainerId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn is_valid(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("container_") else {
        return false;
    };
    let numbers = match rest.strip_prefix('e') {
        Some(with_epoch) => match with_epoch.split_once('_') {
            Some((epoch, numbers)) if is_number(epoch) => numbers,
            _ => return false,
        },
        None => rest,
    };
    numbers.split('_').count() == 4 && numbers.split('_').all(is_number)
}

fn is_number(text: &str) -> bool {
    (1..=MAX_DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yarns_ids_are_accepted() {
        for text in [
            "container_1410901177871_0001_01_000005",
            "container_e17_1410901177871_0001_01_000005",
            "container_e123_1410901177871_12345_123_1234567",
        ] {
            assert_eq!(text.parse::<ContainerId>().unwrap().as_str(), text);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "container_",
            "container_1_2_3",
            "container_1_2_3_4_5",
            "container_e_1_2_3_4",
            "container_e1_2_3_4",
            "container_1_2_3_4/..",
            "container_1_2_3_../4",
            "container_1_2_3_4\n",
            "container_1_2__4",
            "container_1_2_3_+4",
            "container_1_2_3_٤",
            "../container_1_2_3_4",
            "container_123456789012345678901_1_1_1",
        ] {
            let error = text.parse::<ContainerId>().unwrap_err();
            assert!(error.to_string().contains("is not a container id"), "{text}");
        }
    }
}
