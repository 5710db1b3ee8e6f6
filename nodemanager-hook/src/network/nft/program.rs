//! Running `nft` and parsing its answers.

use std::{
    collections::BTreeMap,
    io,
    process::{Command, Stdio},
};

use serde::Deserialize;
use serde_json::Value;

use super::script::TABLE;

const PROGRAM: &str = "nft";
/// The longest part of an error message that is repeated.
const MOST_MESSAGE_BYTES: usize = 300;

/// Why `nft` failed.
#[derive(Debug, thiserror::Error)]
pub enum NftError {
    #[error("cannot run {PROGRAM}: {source}; install the package nftables")]
    Start { source: io::Error },
    #[error("{PROGRAM}: {message}; it needs CAP_NET_ADMIN and a kernel with CONFIG_NF_TABLES_INET")]
    Refused { message: String },
    #[error("{PROGRAM}: unexpected answer: {source}")]
    Answer { source: serde_json::Error },
    #[error("{PROGRAM} returned no handle of a rule")]
    NoHandle,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counter {
    pub packets: u64,
    pub bytes: u64,
}

/// Each object is of one kind, such as `{"counter": {…}}`.
#[derive(Deserialize)]
struct NftAnswer {
    nftables: Vec<Value>,
}

/// Checks whether the kernel would accept a script; changes nothing.
pub fn check(script: &str) -> Result<(), NftError> {
    run(&["--check", script]).map(|_| ())
}

/// Applies a script as a whole or not at all.
pub fn apply(script: &str) -> Result<(), NftError> {
    run(&[script]).map(|_| ())
}

/// As [`apply`]; returns the handle of the rule added to each chain.
pub fn add_rules(script: &str, chains: [&str; 2]) -> Result<[u64; 2], NftError> {
    let answer = run(&["--json", "--echo", "--handle", script])?;
    let rules = added_rules(&answer)?;
    let handle = |chain: &str| rules.get(chain).copied().ok_or(NftError::NoHandle);
    Ok([handle(chains[0])?, handle(chains[1])?])
}

/// All counters of the agent's table by name.
pub fn counters() -> Result<BTreeMap<String, Counter>, NftError> {
    let mut arguments = vec!["--json", "list", "counters", "table"];
    arguments.extend(TABLE.split(' '));
    parse_counters(&run(&arguments)?)
}

/// Scripts are arguments: with `--json`, `nft` reads its input twice, and a pipe is empty the
/// second time.
fn run(arguments: &[&str]) -> Result<Vec<u8>, NftError> {
    let output = Command::new(PROGRAM)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| NftError::Start { source })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let mut message = message.lines().next().unwrap_or("it failed").to_owned();
    message.truncate(message.floor_char_boundary(MOST_MESSAGE_BYTES));
    Err(NftError::Refused { message })
}

fn parse(answer: &[u8]) -> Result<Vec<Value>, NftError> {
    let answer: NftAnswer =
        serde_json::from_slice(answer).map_err(|source| NftError::Answer { source })?;
    Ok(answer.nftables)
}

fn added_rules(answer: &[u8]) -> Result<BTreeMap<String, u64>, NftError> {
    let objects = parse(answer)?;
    let rules = objects.iter().filter_map(|object| {
        let rule = object.pointer("/add/rule")?;
        Some((rule["chain"].as_str()?.into(), rule["handle"].as_u64()?))
    });
    Ok(rules.collect())
}

fn parse_counters(answer: &[u8]) -> Result<BTreeMap<String, Counter>, NftError> {
    let objects = parse(answer)?;
    let counters = objects.iter().filter_map(|object| {
        let counter = object.get("counter")?;
        let number = |key: &str| counter[key].as_u64();
        let counted = Counter { packets: number("packets")?, bytes: number("bytes")? };
        Some((counter["name"].as_str()?.into(), counted))
    });
    Ok(counters.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_handles_are_found_among_other_objects() {
        let listed =
            br#"{"nftables": [{"metainfo": {"version": "1.0.6", "json_schema_version": 1}},
            {"counter": {"family": "inet", "name": "sent_1", "table": "elastane", "handle": 6,
                         "packets": 95, "bytes": 3004948}}]}"#;
        let sent = Counter { packets: 95, bytes: 3_004_948 };
        let counters = parse_counters(listed).unwrap();
        assert_eq!(counters, BTreeMap::from([("sent_1".into(), sent)]));
        let echoed = br#"{"nftables": [{"add": {"chain": {"family": "inet", "name": "send_1"}}},
            {"add": {"rule": {"family": "inet", "table": "elastane", "chain": "send", "handle": 11,
                              "expr": [{"jump": {"target": "send_1"}}]}}}]}"#;
        let rules = added_rules(echoed).unwrap();
        assert_eq!(rules, BTreeMap::from([("send".into(), 11)]));
        assert!(matches!(parse(b"usage: nft"), Err(NftError::Answer { .. })));
    }
}
