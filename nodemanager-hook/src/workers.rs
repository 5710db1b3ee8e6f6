//! Threads that do jobs which may take long, a few at a time, so that a JVM or a disk that does not answer delays no other.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Receiver, Sender, SyncSender},
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// A job that hangs keeps its thread. The others go on as long as one thread is left.
const THREADS: usize = 3;

/// The queue is full. The caller tries again after its next reading.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{waiting} jobs already wait")]
pub struct QueueFull {
    pub waiting: usize,
}

/// The threads and their queue. Dropping this ends each thread after its current job; waiting jobs
/// are not begun.
#[derive(Debug)]
pub struct Workers<Job, Done> {
    jobs: SyncSender<Job>,
    done: Receiver<Done>,
    /// Jobs whose result nobody has collected yet. Bounds both queues.
    open: AtomicUsize,
    most: usize,
}

impl<Job: Send + 'static, Done: Send + 'static> Workers<Job, Done> {
    /// Starts the threads, with this name. `most` bounds the jobs that wait or whose result nobody has collected.
    pub fn start(
        name: &str,
        most: usize,
        work: impl Fn(Job) -> Done + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let (jobs, queue) = mpsc::sync_channel(most);
        let (finished, done) = mpsc::channel();
        let (queue, work) = (Arc::new(Mutex::new(queue)), Arc::new(work));
        for _ in 0..THREADS {
            let (queue, work, finished) = (Arc::clone(&queue), Arc::clone(&work), finished.clone());
            let thread = thread::Builder::new().name(name.into());
            thread.spawn(move || run(&queue, &*work, &finished))?;
        }
        Ok(Self { jobs, done, open: AtomicUsize::new(0), most })
    }

    /// Queues a job; never waits.
    pub fn submit(&self, job: Job) -> Result<(), QueueFull> {
        let waiting = self.open.load(Ordering::Relaxed);
        // Threads that have ended look like a queue that never empties.
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

fn run<Job, Done>(
    queue: &Mutex<Receiver<Job>>,
    work: &impl Fn(Job) -> Done,
    finished: &Sender<Done>,
) {
    loop {
        // One thread waits for a job, the others for their turn.
        let job = queue.lock().recv();
        let Ok(job) = job else {
            return;
        };
        if finished.send(work(job)).is_err() {
            return; // The workers were dropped.
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    #[test]
    fn jobs_that_hang_hold_up_no_others_unless_all_threads_have_one() {
        let (let_go, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        let workers = Workers::start("test", 8, move |hangs: bool| {
            if hangs {
                let _ = held.lock().recv();
            }
            hangs
        });
        let workers = workers.unwrap();
        for _ in 1..THREADS {
            workers.submit(true).unwrap();
        }
        workers.submit(false).unwrap();
        assert!(!workers.done.recv_timeout(PATIENCE).unwrap());
        workers.open.fetch_sub(1, Ordering::Relaxed);
        workers.submit(true).unwrap();
        workers.submit(false).unwrap();
        assert!(workers.collect_all(Duration::from_millis(100)).is_empty());
        drop(let_go);
        let done = workers.collect_all(PATIENCE);
        assert_eq!(done.iter().filter(|hung| **hung).count(), THREADS);
        assert_eq!(done.len(), THREADS + 1);
    }

    #[test]
    fn a_full_queue_takes_no_job() {
        let (let_go, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        let workers = Workers::start("test", 2, move |job: u32| {
            let _ = held.lock().recv();
            job
        });
        let workers = workers.unwrap();
        workers.submit(1).unwrap();
        workers.submit(2).unwrap();
        assert_eq!(workers.submit(3), Err(QueueFull { waiting: 2 }));
        drop(let_go);
        let mut done = workers.collect_all(PATIENCE);
        done.sort_unstable();
        assert_eq!(done, [1, 2]);
        workers.submit(3).unwrap();
    }
}
