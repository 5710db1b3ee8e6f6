//! One thread that sends commands to JVMs, so that a slow JVM delays only other JVMs.

use std::{
    io,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Receiver, Sender, SyncSender},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    attach_error::AttachError,
    backoff::Backoff,
    command::JvmCommand,
    control::{Control, ControlError, Former},
    recipe::Wish,
};
use crate::sensors::ProcessKey;

#[derive(Debug)]
pub struct JvmJob {
    pub control: Control,
    pub task: JvmTask,
}

#[derive(Debug, Clone)]
pub enum JvmTask {
    /// Read the flags before the first wish.
    Remember,
    CarryOut {
        wish: Wish,
        /// The remembered flags of this JVM.
        former: Former,
    },
}

#[derive(Debug)]
pub enum JvmAnswer {
    /// To be kept as long as the JVM runs.
    Remembered(Former),
    /// The wish and the commands sent for it.
    CarriedOut(Wish, Vec<JvmCommand>),
}

/// A job that has ended.
#[derive(Debug)]
pub struct Done {
    pub jvm: ProcessKey,
    pub result: Result<JvmAnswer, ControlError>,
}

/// The queue is full. The caller tries again after its next reading.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{waiting} jobs already wait for JVMs")]
pub struct QueueFull {
    pub waiting: usize,
}

/// The thread and its queue. Dropping this ends the thread after its current command; waiting jobs
/// are not begun.
#[derive(Debug)]
pub struct Worker {
    jobs: SyncSender<JvmJob>,
    done: Receiver<Done>,
    /// Jobs whose result nobody has collected yet. Bounds both queues.
    open: AtomicUsize,
    most: usize,
}

impl Worker {
    /// Starts the thread. `most` bounds the jobs that wait or whose result nobody has collected.
    pub fn start(most: usize) -> io::Result<Self> {
        let (jobs, queue) = mpsc::sync_channel(most);
        let (finished, done) = mpsc::channel();
        thread::Builder::new().name("jvm".into()).spawn(move || work(&queue, &finished))?;
        Ok(Self { jobs, done, open: AtomicUsize::new(0), most })
    }

    /// Queues a job; never waits.
    pub fn submit(&self, job: JvmJob) -> Result<(), QueueFull> {
        let waiting = self.open.load(Ordering::Relaxed);
        // A thread that has ended looks like a queue that never empties.
        if waiting >= self.most || self.jobs.try_send(job).is_err() {
            return Err(QueueFull { waiting });
        }
        self.open.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// The jobs that have ended since the last call. Waits until all have ended or the time has
    /// passed.
    pub fn collect_all(&self, within: Duration) -> Vec<Done> {
        let deadline = Instant::now() + within;
        let mut all = Vec::new();
        while self.open.load(Ordering::Relaxed) > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(done) = self.done.recv_timeout(left) else {
                break;
            };
            all.push(done);
            self.open.fetch_sub(1, Ordering::Relaxed);
        }
        all
    }
}

fn work(queue: &Receiver<JvmJob>, finished: &Sender<Done>) {
    let mut backoff = Backoff::default();
    while let Ok(job) = queue.recv() {
        let done = Done { jvm: job.control.key(), result: attempt(&job, &mut backoff) };
        if finished.send(done).is_err() {
            return; // The worker was dropped.
        }
    }
}

fn attempt(job: &JvmJob, backoff: &mut Backoff) -> Result<JvmAnswer, ControlError> {
    let jvm = job.control.key();
    // Changes are undone even if the JVM failed before.
    let restores = matches!(job.task, JvmTask::CarryOut { wish: Wish::Restore, .. });
    if let Some(left) = backoff.left(jvm, Instant::now()).filter(|_| !restores) {
        let (pid, left_ms) = (jvm.pid, left.as_millis());
        return Err(AttachError::BackedOff { pid, left_ms }.into());
    }
    let result = match &job.task {
        JvmTask::Remember => job.control.former().map(JvmAnswer::Remembered),
        JvmTask::CarryOut { wish, former } => {
            let sent = job.control.carry_out(*wish, former);
            sent.map(|sent| JvmAnswer::CarriedOut(*wish, sent))
        }
    };
    match &result {
        Ok(_) => backoff.succeeded(jvm),
        Err(_) => backoff.failed(jvm, Instant::now()),
    }
    result
}
