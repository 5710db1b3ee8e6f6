//! `elastane-agent doctor`: how this host can measure and limit each resource, and what to change for
//! more. The command changes nothing.

mod host;
mod inspect;
mod moves;

use std::{fmt::Write as _, io};

use serde::Serialize;

use crate::config::Config;

/// One line of the table.
#[derive(Debug, Serialize)]
pub struct Finding {
    pub what: &'static str,
    /// None if the resource is not measured.
    pub measured_by: Option<String>,
    /// None if the resource is not limited.
    pub limited_by: Option<String>,
    pub advice: Vec<String>,
}

impl Finding {
    fn new(
        what: &'static str,
        measured_by: Option<impl Into<String>>,
        limited_by: Option<impl Into<String>>,
        advice: Vec<String>,
    ) -> Self {
        Self {
            what,
            measured_by: measured_by.map(Into::into),
            limited_by: limited_by.map(Into::into),
            advice,
        }
    }
}

pub fn diagnose(config: &Config) -> io::Result<Vec<Finding>> {
    Ok(inspect::inspect(config)?.findings())
}

pub fn is_well(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.advice.is_empty())
}

pub fn table(findings: &[Finding]) -> String {
    let mut text = format!("{:<9} {:<44} {}\n", "resource", "measured by", "limited by");
    for finding in findings {
        let or_not = |by: &Option<String>| by.clone().unwrap_or_else(|| "not".to_owned());
        let (measured, limited) = (or_not(&finding.measured_by), or_not(&finding.limited_by));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:<9} {measured:<44} {limited}", finding.what);
        for advice in &finding.advice {
            let _ = writeln!(text, "{:<9} -> {advice}", "");
        }
    }
    text
}
