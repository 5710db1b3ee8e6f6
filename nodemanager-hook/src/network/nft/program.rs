//! Running `nft` and parsing its answers.

use std::{
    collections::BTreeMap,
    io,
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, TryRecvError},
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
/// A call takes some milliseconds. While one changes rules, the agent does nothing else.
const LONGEST: Duration = Duration::from_secs(2);
/// How long the agent waits for counters, which it reads with each sample.
const PATIENCE: Duration = Duration::from_millis(100);
/// For how long `nft` is not run after a call that exceeded [`LONGEST`].
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
    #[error("{PROGRAM} takes long to read counters")]
    StillReads,
    #[error("{PROGRAM} did not end within {seconds} s")]
    TooLong { seconds: f32 },
    #[error("{PROGRAM} hung less than a minute ago")]
    Paused,
    #[error("{PROGRAM} hung while it changed rules: they are unknown until the agent is restarted")]
    HasHung,
}

impl NftError {
    /// Whether `nft` did not run, or did not end, so that another call may do what this one did not.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Start { .. } | Self::TooLong { .. } | Self::Paused | Self::HasHung => true,
            Self::Refused { .. } | Self::Answer { .. } | Self::NoHandle | Self::StillReads => false,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counter {
    pub packets: u64,
    pub bytes: u64,
}

/// The program, and what is known of its calls.
#[derive(Debug)]
pub struct Nft {
    program: PathBuf,
    /// Whether a call that changes rules exceeded [`LONGEST`]. The kernel may still apply it at any time, so the rules are unknown.
    has_hung: AtomicBool,
    paused_until: Mutex<Option<Instant>>,
    /// A reading of counters that exceeded [`PATIENCE`]. It began after the last change of rules.
    late_reading: Mutex<Option<Receiver<Called>>>,
}

type Called = Result<Output, NftError>;

impl Default for Nft {
    fn default() -> Self {
        Self {
            program: PROGRAM.into(),
            has_hung: AtomicBool::default(),
            paused_until: Mutex::default(),
            late_reading: Mutex::default(),
        }
    }
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

    /// All counters of the agent's table by name. Waits for [`PATIENCE`]. A reading that takes longer goes on, and a later call
    /// returns its counters, unless rules change before.
    pub fn counters(&self) -> Result<BTreeMap<String, Counter>, NftError> {
        let mut late_reading = self.late_reading.lock();
        if let Some(late) = late_reading.take() {
            match late.try_recv() {
                Err(TryRecvError::Empty) => {
                    *late_reading = Some(late);
                    return Err(NftError::StillReads);
                }
                Ok(called) => return self.read(called),
                Err(TryRecvError::Disconnected) => {}
            }
        }
        self.check_runs()?;
        let mut command = Command::new(&self.program);
        command.args(["--json", "list", "counters", "table"]).args(TABLE.split(' '));
        let (sender, ended) = mpsc::channel();
        let calling = thread::Builder::new().name(PROGRAM.into());
        calling
            .spawn(move || drop(sender.send(output_within(&mut command, LONGEST))))
            .map_err(|source| NftError::Start { source })?;
        let Ok(called) = ended.recv_timeout(PATIENCE) else {
            *late_reading = Some(ended);
            return Err(NftError::StillReads);
        };
        self.read(called)
    }

    /// Whether nobody knows the rules any more.
    pub fn has_hung(&self) -> bool {
        self.has_hung.load(Ordering::Relaxed)
    }

    /// Scripts are arguments: with `--json`, `nft` reads its input twice, and a pipe is empty the
    /// second time.
    fn run(&self, arguments: &[&str], changes_rules: bool) -> Result<Vec<u8>, NftError> {
        self.end_late_reading();
        self.check_runs()?;
        let called = output_within(Command::new(&self.program).args(arguments), LONGEST);
        self.note(&called, changes_rules);
        accepted(called?)
    }

    /// Waits for a late reading and drops its counters: a group may get the number of one that has ended. A reading that hangs
    /// shows that a change of rules would hang too.
    fn end_late_reading(&self) {
        let late = self.late_reading.lock().take();
        match late.map(|late| late.recv_timeout(LONGEST)) {
            Some(Ok(called)) => self.note(&called, false),
            Some(Err(RecvTimeoutError::Timeout)) => self.note(&Err(too_long(LONGEST)), false),
            Some(Err(RecvTimeoutError::Disconnected)) | None => {}
        }
    }

    /// The counters in the answer of a reading.
    fn read(&self, called: Called) -> Result<BTreeMap<String, Counter>, NftError> {
        self.note(&called, false);
        parse_counters(&accepted(called?)?)
    }

    fn check_runs(&self) -> Result<(), NftError> {
        if self.has_hung() {
            return Err(NftError::HasHung);
        }
        match *self.paused_until.lock() {
            Some(until) if Instant::now() < until => Err(NftError::Paused),
            _ => Ok(()),
        }
    }

    /// Notes whether a call took too long.
    fn note(&self, called: &Called, changes_rules: bool) {
        if matches!(called, Err(NftError::TooLong { .. })) {
            self.has_hung.fetch_or(changes_rules, Ordering::Relaxed);
            *self.paused_until.lock() = Some(Instant::now() + PAUSE);
        }
    }
}

fn too_long(longest: Duration) -> NftError {
    NftError::TooLong { seconds: longest.as_secs_f32() }
}

/// The output of a call that did not fail.
fn accepted(output: Output) -> Result<Vec<u8>, NftError> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let mut message = message.lines().next().unwrap_or("it failed").to_owned();
    message.truncate(message.floor_char_boundary(MOST_MESSAGE_BYTES));
    Err(NftError::Refused { message })
}

/// Ends a program that takes longer, where the kernel has handles of processes.
fn output_within(command: &mut Command, longest: Duration) -> Called {
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
            Err(too_long(longest))
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
mod tests;
