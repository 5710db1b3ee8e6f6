//! Running `nft` and parsing its answers.

use std::{
    collections::BTreeMap,
    io,
    process::{Command, Output, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::Deserialize;
use serde_json::Value;

use super::script::TABLE;

const PROGRAM: &str = "nft";
/// A call takes some milliseconds; while it lasts, the agent does nothing else.
const LONGEST: Duration = Duration::from_secs(2);
/// After a call that took longer and changes nothing.
const PAUSE: Duration = Duration::from_secs(60);

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
    #[error("{PROGRAM} did not end within {seconds} s")]
    TooLong { seconds: f32 },
    #[error("{PROGRAM} hung less than a minute ago")]
    Paused,
    #[error("{PROGRAM} hung while it changed rules: they are unknown until the agent is restarted")]
    HasHung,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counter {
    pub packets: u64,
    pub bytes: u64,
}

/// The program, and what is known of its calls.
#[derive(Debug, Default)]
pub struct Nft {
    /// Whether a call took longer that changes rules. It may still do so at any time, so nobody knows them any more.
    has_hung: AtomicBool,
    paused_until: Mutex<Option<Instant>>,
}

/// Each object is of one kind, such as `{"counter": {…}}`.
#[derive(Deserialize)]
struct NftAnswer {
    nftables: Vec<Value>,
}

impl Nft {
    /// Checks whether the kernel would accept a script; changes nothing.
    pub fn check(&self, script: &str) -> Result<(), NftError> {
        self.run(&["--check", script], false).map(|_| ())
    }

    /// Applies a script as a whole or not at all.
    pub fn apply(&self, script: &str) -> Result<(), NftError> {
        self.run(&[script], true).map(|_| ())
    }

    /// As [`Self::apply`]; returns the handle of the rule added to each chain.
    pub fn add_rules(&self, script: &str, chains: [&str; 2]) -> Result<[u64; 2], NftError> {
        let answer = self.run(&["--json", "--echo", "--handle", script], true)?;
        let rules = added_rules(&answer)?;
        let handle = |chain: &str| rules.get(chain).copied().ok_or(NftError::NoHandle);
        Ok([handle(chains[0])?, handle(chains[1])?])
    }

    /// All counters of the agent's table by name.
    pub fn counters(&self) -> Result<BTreeMap<String, Counter>, NftError> {
        let mut arguments = vec!["--json", "list", "counters", "table"];
        arguments.extend(TABLE.split(' '));
        parse_counters(&self.run(&arguments, false)?)
    }

    /// Whether nobody knows the rules any more.
    pub fn has_hung(&self) -> bool {
        self.has_hung.load(Ordering::Relaxed)
    }

    /// Scripts are arguments: with `--json`, `nft` reads its input twice, and a pipe is empty the
    /// second time.
    fn run(&self, arguments: &[&str], changes_rules: bool) -> Result<Vec<u8>, NftError> {
        if self.has_hung() {
            return Err(NftError::HasHung);
        }
        let mut paused_until = self.paused_until.lock();
        if paused_until.is_some_and(|until| Instant::now() < until) {
            return Err(NftError::Paused);
        }
        let output = output_within(Command::new(PROGRAM).args(arguments), LONGEST);
        if matches!(output, Err(NftError::TooLong { .. })) {
            self.has_hung.fetch_or(changes_rules, Ordering::Relaxed);
            *paused_until = Some(Instant::now() + PAUSE);
        }
        drop(paused_until);
        let output = output?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = String::from_utf8_lossy(&output.stderr);
        let mut message = message.lines().next().unwrap_or("it failed").to_owned();
        message.truncate(message.floor_char_boundary(MOST_MESSAGE_BYTES));
        Err(NftError::Refused { message })
    }
}

/// Ends a program that takes longer, where the kernel has handles of processes.
fn output_within(command: &mut Command, longest: Duration) -> Result<Output, NftError> {
    let start = |source| NftError::Start { source };
    let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = piped.spawn().map_err(start)?;
    let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
    let (sender, ended) = mpsc::channel();
    let waiting = thread::Builder::new().name(PROGRAM.into());
    // One that not even SIGKILL ends holds up this thread only.
    waiting.spawn(move || drop(sender.send(child.wait_with_output()))).map_err(start)?;
    match ended.recv_timeout(longest) {
        Ok(output) => output.map_err(start),
        Err(_) => {
            let killed = handle.and_then(|handle| pidfd_send_signal(handle, Signal::KILL));
            if let Err(error) = killed {
                log::warn!("{PROGRAM} goes on: {error}");
            }
            Err(NftError::TooLong { seconds: longest.as_secs_f32() })
        }
    }
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
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let begun = Instant::now();
        // More than a pipe holds, so that the program waits for its reader.
        let mut prints = Command::new("sh");
        prints.args(["-c", "head -c 1000000 /dev/zero"]);
        let printed = output_within(&mut prints, Duration::from_secs(20)).unwrap();
        assert_eq!(printed.stdout.len(), 1_000_000);
        let mut hangs = Command::new("sleep");
        let error = output_within(hangs.arg("60"), Duration::from_millis(100)).unwrap_err();
        assert!(matches!(error, NftError::TooLong { .. }), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

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
