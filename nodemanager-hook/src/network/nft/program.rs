//! The program `nft`, and what it answers.

use std::{
    collections::BTreeMap,
    io,
    process::{Command, Stdio},
};

use serde::Deserialize;

use super::script::TABLE;

const PROGRAM: &str = "nft";
/// The longest part of what it says that is repeated.
const MOST_SAID_BYTES: usize = 300;

/// What `nft` could not do.
#[derive(Debug, thiserror::Error)]
pub enum NftError {
    /// It cannot be started.
    #[error("cannot run {PROGRAM}: {source}; it is in the package nftables")]
    Start {
        /// Why.
        source: io::Error,
    },
    /// It says no.
    #[error("{PROGRAM}: {said}; it takes CAP_NET_ADMIN and a kernel with CONFIG_NF_TABLES_INET")]
    Refused {
        /// Its first lines.
        said: String,
    },
    /// It answers something that is not as its documentation has it.
    #[error("{PROGRAM}: its answer is not as expected: {source}")]
    Answer {
        /// Where.
        source: serde_json::Error,
    },
    /// It does not say under which handle a rule can be removed.
    #[error("{PROGRAM} gave no handle of a rule")]
    NoHandle,
}

/// One counter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Counter {
    pub packets: u64,
    pub bytes: u64,
}

#[derive(Deserialize)]
struct Answer {
    nftables: Vec<Object>,
}

/// An object of the answer; of all kinds only these matter here.
#[derive(Deserialize)]
struct Object {
    counter: Option<NamedCounter>,
    add: Option<Added>,
}

#[derive(Deserialize)]
struct NamedCounter {
    name: String,
    #[serde(flatten)]
    counter: Counter,
}

#[derive(Deserialize)]
struct Added {
    rule: Option<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    chain: String,
    handle: u64,
}

/// Whether the kernel would take a script; changes nothing.
///
/// # Errors
/// Why not.
pub fn check(script: &str) -> Result<(), NftError> {
    run(&["--check", script]).map(|_| ())
}

/// Does a script as a whole or not at all.
///
/// # Errors
/// Why not.
pub fn apply(script: &str) -> Result<(), NftError> {
    run(&[script]).map(|_| ())
}

/// As [`apply`]; gives the handles of the rules that were added to a chain each.
///
/// # Errors
/// Why not.
pub fn add_rules(script: &str, chains: [&str; 2]) -> Result<[u64; 2], NftError> {
    let answer = run(&["--json", "--echo", "--handle", script])?;
    let rules = added_rules(&answer)?;
    let handle = |chain: &str| rules.get(chain).copied().ok_or(NftError::NoHandle);
    Ok([handle(chains[0])?, handle(chains[1])?])
}

/// All counters of the agent's table by name.
///
/// # Errors
/// Those of asking.
pub fn counters() -> Result<BTreeMap<String, Counter>, NftError> {
    let mut arguments = vec!["--json", "list", "counters", "table"];
    arguments.extend(TABLE.split(' '));
    parse_counters(&run(&arguments)?)
}

/// Scripts are arguments: with `--json` it reads its input twice, and finds nothing in a pipe then.
fn run(arguments: &[&str]) -> Result<Vec<u8>, NftError> {
    let output = Command::new(PROGRAM)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| NftError::Start { source })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let mut said = said.lines().next().unwrap_or("it failed").to_owned();
    said.truncate(said.floor_char_boundary(MOST_SAID_BYTES));
    Err(NftError::Refused { said })
}

fn parse(answer: &[u8]) -> Result<Vec<Object>, NftError> {
    let answer: Answer =
        serde_json::from_slice(answer).map_err(|source| NftError::Answer { source })?;
    Ok(answer.nftables)
}

fn added_rules(answer: &[u8]) -> Result<BTreeMap<String, u64>, NftError> {
    let objects = parse(answer)?.into_iter();
    let rules = objects.filter_map(|object| object.add?.rule);
    Ok(rules.map(|rule| (rule.chain, rule.handle)).collect())
}

fn parse_counters(answer: &[u8]) -> Result<BTreeMap<String, Counter>, NftError> {
    let objects = parse(answer)?.into_iter();
    let counters = objects.filter_map(|object| object.counter);
    Ok(counters.map(|one| (one.name, one.counter)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_handles_are_found_among_what_else_is_answered() {
        let listed =
            br#"{"nftables": [{"metainfo": {"version": "1.0.6", "json_schema_version": 1}},
            {"counter": {"family": "inet", "name": "sent_1", "table": "elastane", "handle": 6,
                         "packets": 95, "bytes": 3004948}}]}"#;
        let sent = Counter {
            packets: 95,
            bytes: 3_004_948,
        };
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
