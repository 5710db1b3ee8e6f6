//! The threads of a running agent, and its stop.

use std::{
    fs, io,
    path::Path,
    sync::{
        Arc,
        mpsc::{self, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    sys::{
        resource::{Resource, getrlimit, setrlimit},
        signal::{SigSet, Signal},
        stat::{Mode, umask},
    },
};
use parking_lot::{Condvar, Mutex};

use crate::{
    agent::{Agent, StartError},
    config::{Config, Sampling},
    memory_watch::MemoryWatch,
    schedule::Schedule,
    server::{
        AllowedUsers, Server, UnknownUser,
        socket::{self, SocketError},
    },
};

pub const PROC: &str = "/proc";

/// The memory watch returns without wakes after this time. Any value would do.
const WATCH_TIMEOUT: Duration = Duration::from_secs(60);
/// `LimitNOFILE` of the systemd unit.
const MAX_OPEN_FILES: u64 = 16_384;
/// Below the 50 ms within which a limit must be raised.
const BETWEEN_WAKES: Duration = Duration::from_millis(20);

/// Why an agent did not start, or failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Socket(#[from] SocketError),
    #[error(transparent)]
    User(#[from] UnknownUser),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("cannot wait for signals: {0}")]
    Signals(#[from] Errno),
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
    #[error("the {0} thread ended; limits are lifted")]
    Ended(&'static str),
}

enum Stop {
    Signal(Signal),
    Thread(&'static str),
}

struct Shared {
    agent: Mutex<Agent>,
    /// Notified when the plan changes, since the sampler may have to wake earlier.
    planned: Condvar,
}

/// Tells the main thread that its thread has ended, even by a panic.
struct Ending {
    name: &'static str,
    stop: Sender<Stop>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        // While the agent stops, nobody receives this.
        let _ = self.stop.send(Stop::Thread(self.name));
    }
}

/// Runs an agent until a signal stops it, then undoes all its changes.
pub fn run(config: &Config) -> Result<(), RunError> {
    umask(Mode::from_bits_truncate(0o077));
    raise_open_files();
    let ending_signals = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT]);
    // Before other threads start, so that all of them leave these signals to the signal thread.
    ending_signals.thread_block()?;
    let allowed = AllowedUsers::resolve(&config.socket.allowed_users)?;
    let listener = socket::listen(&config.socket)?;
    let agent =
        Agent::start(config, Path::new(PROC)).inspect_err(|_| remove(&config.socket.path))?;
    log::info!(
        "listening on {}; {}",
        config.socket.path.display(),
        agent.describe()
    );
    let shared = Arc::new(Shared {
        agent: Mutex::new(agent),
        planned: Condvar::new(),
    });
    let stop = start_threads(
        config,
        &shared,
        Server::new(listener, allowed),
        ending_signals,
    );
    let stop = stop.map(|stops| stops.recv());
    let restored = shared.agent.lock().stop();
    remove(&config.socket.path);
    log::info!(
        "{} groups removed, {} groups or JVMs not restored",
        restored.removed,
        restored.failed
    );
    match stop? {
        Ok(Stop::Signal(signal)) => {
            log::info!("stopped by {signal}");
            Ok(())
        }
        Ok(Stop::Thread(name)) => Err(RunError::Ended(name)),
        Err(mpsc::RecvError) => Err(RunError::Ended("signal")),
    }
}

/// The agent holds several files open for each container and each process. The default limit suffices
/// for about a hundred containers.
fn raise_open_files() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE).and_then(|(soft, hard)| {
        let wanted = soft.max(MAX_OPEN_FILES.min(hard));
        setrlimit(Resource::RLIMIT_NOFILE, wanted, hard)
    });
    if let Err(error) = raised {
        log::warn!("cannot raise the limit of open files: {error}");
    }
}

fn start_threads(
    config: &Config,
    shared: &Arc<Shared>,
    server: Server,
    ending_signals: SigSet,
) -> Result<mpsc::Receiver<Stop>, RunError> {
    let (stop, stops) = mpsc::channel();
    let signalled = stop.clone();
    spawn("signal", &stop, move || {
        if let Ok(signal) = ending_signals.wait() {
            let _ = signalled.send(Stop::Signal(signal));
        }
    })?;
    let (sampled, sampling) = (Arc::clone(shared), config.sampling);
    spawn("sampler", &stop, move || sample(&sampled, sampling))?;
    let (watched, watch) = (Arc::clone(shared), shared.agent.lock().memory_watch());
    spawn("memory watch", &stop, move || {
        raise_limits(&watched, &watch)
    })?;
    let served = Arc::clone(shared);
    spawn("server", &stop, move || {
        server.serve(|request, peer| {
            let response = served.agent.lock().handle(request, peer, Instant::now());
            served.planned.notify_one();
            response
        });
    })?;
    Ok(stops)
}

fn spawn(
    name: &'static str,
    stop: &Sender<Stop>,
    work: impl FnOnce() + Send + 'static,
) -> Result<(), RunError> {
    let ending = Ending {
        name,
        stop: stop.clone(),
    };
    let thread = thread::Builder::new().name(name.into());
    thread
        .spawn(move || {
            let _ending = ending;
            work();
        })
        .map(drop)
        .map_err(RunError::Thread)
}

/// Takes readings at absolute deadlines and follows the plan in between.
fn sample(shared: &Shared, sampling: Sampling) {
    let mut schedule = Schedule::new(
        Instant::now(),
        sampling.interval(),
        sampling.readings_per_sample(),
    );
    let mut agent = shared.agent.lock();
    loop {
        let now = Instant::now();
        if let Some(due) = schedule.take(now) {
            agent.round(due, now);
        }
        agent.follow_plan(now);
        let next = schedule.next_at();
        let wake = agent.next_change(now).map_or(next, |at| at.min(next));
        shared.planned.wait_until(&mut agent, wake);
    }
}

fn raise_limits(shared: &Shared, watch: &MemoryWatch) {
    loop {
        match watch.wait(WATCH_TIMEOUT) {
            Ok(wakes) if wakes.is_empty() => {}
            Ok(wakes) => {
                shared.agent.lock().memory_woke(wakes, Instant::now());
                // Bounds the cost of wakes that page cache causes again and again.
                thread::sleep(BETWEEN_WAKES);
            }
            Err(error) => {
                log::error!("{error}");
                return;
            }
        }
    }
}

fn remove(socket: &Path) {
    if let Err(error) = fs::remove_file(socket) {
        log::warn!("cannot remove {}: {error}", socket.display());
    }
}
