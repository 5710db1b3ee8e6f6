//! One thread that sends commands to JVMs, so that a slow JVM delays only other JVMs.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender},
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
pub struct Job {
    pub control: Control,
    pub task: Task,
}

#[derive(Debug, Clone)]
pub enum Task {
    /// Read the flags before the first wish.
    Remember,
    CarryOut {
        wish: Wish,
        /// The remembered flags of this JVM.
        former: Former,
    },
}

#[derive(Debug)]
pub enum Answer {
    /// To be kept as long as the JVM runs.
    Remembered(Former),
    /// The wish and the commands sent for it.
    CarriedOut(Wish, Vec<JvmCommand>),
}

/// A job that has ended.
#[derive(Debug)]
pub struct Done {
    pub jvm: ProcessKey,
    pub result: Result<Answer, ControlError>,
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
    jobs: SyncSender<Job>,
    done: Receiver<Done>,
    /// Jobs whose result nobody has collected yet. Bounds both queues.
    open: AtomicUsize,
    most: usize,
    is_stopped: Arc<AtomicBool>,
}

impl Worker {
    /// Starts the thread. `most` bounds the jobs that wait or whose result nobody has collected.
    pub fn start(most: usize) -> io::Result<Self> {
        let (jobs, queue) = mpsc::sync_channel(most);
        let (finished, done) = mpsc::channel();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&is_stopped);
        thread::Builder::new()
            .name("jvm".into())
            .spawn(move || work(&queue, &finished, &stopped))?;
        Ok(Self { jobs, done, open: AtomicUsize::new(0), most, is_stopped })
    }

    /// Queues a job; never waits.
    pub fn submit(&self, job: Job) -> Result<(), QueueFull> {
        let waiting = self.open.load(Ordering::Relaxed);
        if waiting >= self.most {
            return Err(QueueFull { waiting });
        }
        // A thread that has ended looks like a queue that never empties.
        if self.jobs.try_send(job).is_err() {
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
            match self.done.recv_timeout(left) {
                Ok(done) => all.push(done),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
            self.open.fetch_sub(1, Ordering::Relaxed);
        }
        all
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}

fn work(queue: &Receiver<Job>, finished: &Sender<Done>, is_stopped: &AtomicBool) {
    let mut backoff = Backoff::default();
    while let Ok(job) = queue.recv() {
        if is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let done = Done { jvm: job.control.key(), result: attempt(&job, &mut backoff) };
        if finished.send(done).is_err() {
            return;
        }
    }
}

fn attempt(job: &Job, backoff: &mut Backoff) -> Result<Answer, ControlError> {
    let jvm = job.control.key();
    // Changes are undone even if the JVM failed before.
    let restores = matches!(job.task, Task::CarryOut { wish, .. } if wish == Wish::Restore);
    if let Some(left) = backoff.left(jvm, Instant::now()).filter(|_| !restores) {
        return Err(ControlError::from(AttachError::BackedOff {
            pid: jvm.pid,
            left_ms: left.as_millis(),
        }));
    }
    let result = match &job.task {
        Task::Remember => job.control.former().map(Answer::Remembered),
        Task::CarryOut { wish, former } => {
            let carried_out = job.control.carry_out(*wish, former);
            carried_out.map(|sent| Answer::CarriedOut(*wish, sent))
        }
    };
    match &result {
        Ok(_) => backoff.succeeded(jvm),
        Err(_) => backoff.failed(jvm, Instant::now()),
    }
    result
}
