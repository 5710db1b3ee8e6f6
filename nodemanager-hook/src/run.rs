//! The threads of a running agent, and its stop.

use std::{
    fs,
    panic::{self, AssertUnwindSafe},
    path::Path,
    sync::{
        Arc,
        mpsc::{self, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use nix::sys::{
    resource::{Resource, getrlimit, setrlimit},
    signal::{SigSet, Signal},
    stat::{Mode, umask},
};
use parking_lot::{Condvar, Mutex};

use crate::{
    agent::Agent,
    config::{Config, Sampling},
    memory_watch::Follower,
    schedule::Schedule,
    server::{AllowedUsers, Server, socket},
    watchdog::{self, Watchdog},
};

/// The memory watch returns without wakes after this time. Any value would do.
const WATCH_TIMEOUT: Duration = Duration::from_secs(60);
/// `LimitNOFILE` of the systemd unit.
const MAX_OPEN_FILES: u64 = 16_384;
/// Below the 50 ms within which a limit must be raised.
const BETWEEN_WAKES: Duration = Duration::from_millis(20);

/// Why an agent did not start, or failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The host or the configuration has to be corrected first.
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    Failed(String),
}

impl From<String> for RunError {
    fn from(refusal: String) -> Self {
        Self::Refused(refusal)
    }
}

/// The signal that stops the agent, or the name of a thread that ended.
type Stop = Result<Signal, &'static str>;

struct SharedAgent {
    agent: Mutex<Agent>,
    /// Notified when the plan changes, since the sampler may have to wake earlier.
    planned: Condvar,
}

/// Runs an agent until a signal stops it, then undoes all its changes.
pub fn run(config: &Config) -> Result<(), RunError> {
    umask(Mode::from_bits_truncate(0o077));
    raise_open_files();
    let ending_signals = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT]);
    // Before other threads start, so that all of them leave these signals to the signal thread.
    let blocked = ending_signals.thread_block();
    blocked.map_err(|errno| RunError::Failed(format!("cannot wait for signals: {errno}")))?;
    let allowed = AllowedUsers::resolve(&config.socket.allowed_users)?;
    let listener = socket::listen(&config.socket)?;
    let agent = Agent::start(config).inspect_err(|_| remove(&config.socket.path))?;
    let path = config.socket.path.display();
    log::info!("listening on {path}; {}", agent.describe());
    let shared = Arc::new(SharedAgent { agent: Mutex::new(agent), planned: Condvar::new() });
    let server = Server::new(listener, allowed);
    let stop = start_threads(config, &shared, server, ending_signals).map(|stops| {
        watchdog::has_started();
        stops.recv()
    });
    let failed = shared.agent.lock().stop();
    remove(&config.socket.path);
    if failed > 0 {
        log::warn!("{failed} changes to groups, limits, JVMs or the network could not be undone");
    }
    let ended = |name| RunError::Failed(format!("the {name} thread ended; limits are lifted"));
    let signal = stop?.unwrap_or(Err("signal")).map_err(ended)?;
    log::info!("stopped by {signal}");
    Ok(())
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
    shared: &Arc<SharedAgent>,
    server: Server,
    ending_signals: SigSet,
) -> Result<mpsc::Receiver<Stop>, RunError> {
    let (stop, stops) = mpsc::channel();
    let signalled = stop.clone();
    spawn("signal", &stop, move || {
        if let Ok(signal) = ending_signals.wait() {
            let _ = signalled.send(Ok(signal));
        }
    })?;
    let (sampled, sampling) = (Arc::clone(shared), config.sampling);
    spawn("sampler", &stop, move || sample(&sampled, sampling))?;
    let watched = Arc::clone(shared);
    spawn("memory watch", &stop, move || raise_limits(&watched.agent))?;
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

/// Starts a thread that tells the main thread when it ends, even by a panic.
fn spawn(
    name: &'static str,
    stop: &Sender<Stop>,
    work: impl FnOnce() + Send + 'static,
) -> Result<(), RunError> {
    let stop = stop.clone();
    let thread = thread::Builder::new().name(name.into());
    let started = thread.spawn(move || {
        let _ = panic::catch_unwind(AssertUnwindSafe(work));
        // While the agent stops, nobody receives this.
        let _ = stop.send(Err(name));
    });
    let failed = |error| RunError::Failed(format!("cannot start a thread: {error}"));
    started.map(drop).map_err(failed)
}

/// Takes readings at absolute deadlines and follows the plan in between.
fn sample(shared: &SharedAgent, sampling: Sampling) {
    let mut schedule =
        Schedule::new(Instant::now(), sampling.interval(), sampling.readings_per_sample());
    let mut watchdog = Watchdog::new(Instant::now());
    let mut agent = shared.agent.lock();
    loop {
        let now = Instant::now();
        watchdog.works(now);
        if let Some(due) = schedule.take(now) {
            agent.round(due, now);
        }
        agent.follow_plan(now);
        let others = [agent.next_change(now), watchdog.next_at()];
        let wake = others.into_iter().flatten().fold(schedule.next_at(), Instant::min);
        shared.planned.wait_until(&mut agent, wake);
    }
}

fn raise_limits(agent: &Mutex<Agent>) {
    let (watch, raises) = {
        let agent = agent.lock();
        (agent.memory_watch(), agent.urgent_raises())
    };
    let mut follower = Follower::new(&watch, &raises, agent);
    loop {
        match follower.step(WATCH_TIMEOUT, |agent, wakes| agent.memory_woke(wakes, Instant::now()))
        {
            Ok(false) => {}
            // Bounds the cost of wakes that page cache causes again and again.
            Ok(true) => thread::sleep(BETWEEN_WAKES),
            Err(error) => {
                log::error!("cannot wait for memory limits: {error}");
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
