//! One thread that asks JVMs, so that a slow one holds up nothing but the others' wishes.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    attach::AttachError,
    backoff::Backoff,
    control::{Control, ControlError, Former},
    recipe::{Recipe, Wish},
};

/// Something to do with a JVM.
#[derive(Debug)]
pub struct Job {
    /// The JVM.
    pub control: Control,
    /// What to do with it.
    pub task: Task,
}

/// What to do.
#[derive(Debug, Clone)]
pub enum Task {
    /// Read the flags as they are before any wish.
    Remember,
    /// Do what a wish needs.
    CarryOut {
        /// What the JVM should do.
        wish: Wish,
        /// What was remembered of this JVM.
        former: Former,
    },
}

/// What came of a task.
#[derive(Debug)]
pub enum Answer {
    /// To be kept for as long as the JVM runs.
    Remembered(Former),
    /// What was sent for a wish.
    CarriedOut(Wish, Recipe),
}

/// A job that has ended.
#[derive(Debug)]
pub struct Done {
    /// Of the JVM.
    pub pid: u32,
    /// With the pid, it names the process for good.
    pub start_ticks: u64,
    /// What came of it.
    pub result: Result<Answer, ControlError>,
}

/// The queue is full: the caller tries again with its next reading.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{waiting} jobs wait for JVMs already")]
pub struct QueueFull {
    /// Jobs whose end was not collected yet.
    pub waiting: usize,
}

/// The thread and its queue. It ends, after the command that it is in, when this is dropped; jobs
/// that wait are not begun then.
#[derive(Debug)]
pub struct Worker {
    jobs: SyncSender<Job>,
    done: Receiver<Done>,
    /// Jobs whose end was not collected yet; what bounds both queues.
    open: AtomicUsize,
    most: usize,
    is_stopped: Arc<AtomicBool>,
}

impl Worker {
    /// Starts the thread. `most` bounds the jobs that wait or whose end nobody has collected.
    ///
    /// # Errors
    /// Those of starting a thread.
    pub fn start(most: usize) -> io::Result<Self> {
        let (jobs, queue) = mpsc::sync_channel(most);
        let (finished, done) = mpsc::channel();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&is_stopped);
        thread::Builder::new()
            .name("jvm".into())
            .spawn(move || work(&queue, &finished, &stopped))?;
        Ok(Self {
            jobs,
            done,
            open: AtomicUsize::new(0),
            most,
            is_stopped,
        })
    }

    /// Queues a job; never waits.
    ///
    /// # Errors
    /// A full queue, or a thread that has ended, which looks like a queue that is never emptied.
    pub fn submit(&self, job: Job) -> Result<(), QueueFull> {
        let waiting = self.open.load(Ordering::Relaxed);
        if waiting >= self.most {
            return Err(QueueFull { waiting });
        }
        match self.jobs.try_send(job) {
            Ok(()) => {
                self.open.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                Err(QueueFull { waiting })
            }
        }
    }

    /// What has ended since the last call; never waits.
    pub fn collect(&self) -> Vec<Done> {
        let done: Vec<Done> = self.done.try_iter().collect();
        self.open.fetch_sub(done.len(), Ordering::Relaxed);
        done
    }

    /// Waits until every job has ended, for the end of the agent.
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
        let (pid, start_ticks) = (job.control.pid(), job.control.start_ticks());
        let result = attempt(&job, &mut backoff);
        let done = Done {
            pid,
            start_ticks,
            result,
        };
        if finished.send(done).is_err() {
            return;
        }
    }
}

fn attempt(job: &Job, backoff: &mut Backoff) -> Result<Answer, ControlError> {
    let name = (job.control.pid(), job.control.start_ticks());
    // What was changed is put back even where the JVM was slow before.
    let restores = matches!(
        job.task,
        Task::CarryOut {
            wish: Wish::Restore,
            ..
        }
    );
    if let Some(left) = backoff.left(name, Instant::now()).filter(|_| !restores) {
        let source = AttachError::BackedOff {
            pid: name.0,
            left_ms: left.as_millis(),
        };
        let sent = Vec::new();
        return Err(ControlError { sent, source });
    }
    let result = match &job.task {
        Task::Remember => job.control.former().map(Answer::Remembered),
        Task::CarryOut { wish, former } => {
            let carried_out = job.control.carry_out(*wish, former);
            carried_out.map(|recipe| Answer::CarriedOut(*wish, recipe))
        }
    };
    match &result {
        Ok(_) => backoff.succeeded(name),
        Err(_) => backoff.failed(name, Instant::now()),
    }
    result
}
