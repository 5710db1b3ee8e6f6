//! Plain reading of the containers' files in `/proc`, once a second as the agent does it: a busy machine makes
//! both dearer, so that the ratio of their CPU time stays where it is. The agent's threads wake five times a second
//! and find cold caches each time, which costs as much as the reading itself on some virtual machines. So the
//! reference reads in portions, too.

use std::{
    fs::{self, File},
    io::Read,
    path::PathBuf,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use elastane_protocol::RunningContainer;

use crate::support::Outcome;

const INTERVAL: Duration = Duration::from_secs(1);
/// Fifty containers of two processes have ten portions.
const FILES_OF_A_PORTION: usize = 40;

/// A thread that reads until it is asked to stop.
pub struct Reference {
    stop: Sender<()>,
    thread: JoinHandle<std::io::Result<Reading>>,
}

/// What reading cost.
pub struct Reading {
    /// Of one core.
    pub cpu_percent: f64,
    /// How late the thread woke at worst.
    pub late_ms: f64,
}

impl Reference {
    /// Reads four files of each process of the containers.
    pub fn start(running: &[RunningContainer]) -> Outcome<Self> {
        let mut files = Vec::new();
        for container in running {
            let shell = container.pid;
            let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"))?;
            let children = children.split_whitespace().map(str::to_owned);
            for process in children.chain([shell.to_string()]) {
                let folder = PathBuf::from("/proc").join(process);
                files.extend(["stat", "statm", "io", "cgroup"].map(|name| folder.join(name)));
            }
        }
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            let (begun, before) = (Instant::now(), cpu_nanoseconds()?);
            let mut late = Duration::ZERO;
            let mut due = begun + INTERVAL / 2;
            let mut buffer = [0; 4096];
            let portions = files.len().div_ceil(FILES_OF_A_PORTION);
            let between = INTERVAL / 2 / portions as u32;
            let mut turns = files.chunks(FILES_OF_A_PORTION).enumerate().cycle();
            while let Err(RecvTimeoutError::Timeout) =
                stopped.recv_timeout(due.saturating_duration_since(Instant::now()))
            {
                late = late.max(due.elapsed());
                let Some((number, portion)) = turns.next() else {
                    break;
                };
                for file in portion {
                    if File::open(file)?.read(&mut buffer)? == 0 {
                        return Err(std::io::ErrorKind::UnexpectedEof.into());
                    }
                }
                let is_last = number + 1 == portions;
                due += if is_last { INTERVAL - between * number as u32 } else { between };
            }
            let used = cpu_nanoseconds()? - before;
            Ok(Reading {
                cpu_percent: used as f64 / begun.elapsed().as_nanos() as f64 * 100.0,
                late_ms: late.as_secs_f64() * 1e3,
            })
        });
        Ok(Self { stop, thread })
    }

    pub fn stop(self) -> Outcome<Reading> {
        drop(self.stop);
        let reading = self.thread.join().map_err(|_| "the reference panicked")?;
        Ok(reading?)
    }
}

/// The time that this thread ran.
fn cpu_nanoseconds() -> std::io::Result<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let running = text.split(' ').next().unwrap_or_default();
    running.parse().map_err(std::io::Error::other)
}
