//! The run itself: events in their order, each machine's executors, and the ResourceManager.

mod heartbeats;
mod keeping;
mod reports;
mod seconds;
mod work;

use super::SimulationError;
use super::agenda::{Agenda, Event, Piece};
use super::allocation::BACKLOG_INTERVAL_MS;
use super::beats::{Beats, Walk};
use super::machine::Machine;
use super::masters::{Masters, Released};
use super::meter::Meter;
use super::occupancy::Occupancy;
use super::outcome::{ApplicationOutcome, Counts, Packing, SimulatedRun};
use super::policies::PolicyToSimulate;
use super::resource_manager::ResourceManager;
use super::settings::Settings;
use crate::workload::Workload;
use keeping::Keeping;

/// A machine's part of the schedule.
struct SimulatedNode {
    machine: Machine,
    /// The next end of a slot of one of its executors.
    changes_ms: Option<f64>,
    /// The time of the machine's next [`Event::Work`]. An event at another time was put off.
    planned_ms: Option<f64>,
    /// Containers that ended since the last heartbeat, and the work that has to run again.
    ended: Vec<Ended>,
}

struct Ended {
    container: String,
    application: usize,
    again: Option<Piece>,
}

#[derive(Clone, Default)]
struct SimulatedJob {
    /// Executors that are not asked for yet (dynamic allocation).
    unasked: u32,
    /// The number of executors in the next ask, while there is a backlog.
    next_ask: u32,
    /// Executors whose work is not done.
    left: u32,
    /// Containers that the ResourceManager knows of.
    containers: u32,
    /// By an executor's number, when it first started.
    starts_ms: Vec<Option<i64>>,
    ended_ms: f64,
}

impl SimulatedJob {
    fn started(&mut self, number: u32, now_ms: i64) {
        let number = number as usize;
        if self.starts_ms.len() <= number {
            self.starts_ms.resize(number + 1, None);
        }
        self.starts_ms[number].get_or_insert(now_ms);
    }

    fn first_start_ms(&self) -> Option<i64> {
        self.starts_ms.iter().flatten().min().copied()
    }

    fn starts_s(&self) -> Vec<f64> {
        self.starts_ms.iter().flatten().map(|start_ms| *start_ms as f64 / 1e3).collect()
    }
}

pub(super) struct Engine<'a> {
    workload: &'a Workload,
    settings: &'a Settings,
    seed: u64,
    policy: &'static str,
    manager: ResourceManager,
    agenda: Agenda,
    masters: Masters,
    beats: Beats,
    /// By kind, the walk over the nodes since the kind began to wait.
    walks: Vec<Option<Walk>>,
    nodes: Vec<SimulatedNode>,
    jobs: Vec<SimulatedJob>,
    meter: Meter,
    occupancy: Occupancy,
    packing: Packing,
    counts: Counts,
    asks_by_backlog: bool,
    keeping: Keeping,
    /// Whether [`Event::Second`] is on the agenda.
    expects_second: bool,
    /// The time of the agents' next report; none where containers are not followed.
    next_report_ms: Option<i64>,
    jobs_left: usize,
    executors_done: u64,
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        workload: &'a Workload,
        policy: PolicyToSimulate,
        settings: &'a Settings,
        seed: u64,
    ) -> Self {
        let name = policy.policy.name();
        let asks_by_backlog = policy.asks_by_backlog;
        let manager = ResourceManager::new(workload, policy, settings);
        let nodes = workload.machines.iter().map(|capacity| SimulatedNode {
            machine: Machine::new(*capacity),
            changes_ms: None,
            planned_ms: None,
            ended: Vec::new(),
        });
        let jobs = workload
            .applications
            .iter()
            .map(|spec| SimulatedJob { left: spec.executors, ..SimulatedJob::default() });
        Self {
            workload,
            settings,
            seed,
            policy: name,
            walks: vec![None; manager.kinds()],
            manager,
            agenda: Agenda::default(),
            masters: Masters::new(workload),
            beats: Beats::new(workload.heartbeat_ms, workload.machines.len()),
            nodes: nodes.collect(),
            jobs: jobs.collect(),
            meter: Meter::default(),
            occupancy: Occupancy::new(workload),
            packing: Packing::default(),
            counts: Counts::default(),
            asks_by_backlog,
            keeping: Keeping::default(),
            expects_second: false,
            next_report_ms: settings.following.is_on().then_some(reports::FIRST_MS),
            jobs_left: workload.applications.iter().filter(|spec| spec.executors > 0).count(),
            executors_done: 0,
        }
    }

    pub(super) fn run(
        mut self,
        progress: &mut dyn FnMut(u64),
    ) -> Result<SimulatedRun, SimulationError> {
        for (application, spec) in self.workload.applications.iter().enumerate() {
            let submission = Event::Submission { application };
            self.agenda.add(spec.submitted_ms as f64, submission);
        }
        for machine in 0..self.nodes.len() {
            self.report(machine, 0)?;
            if !self.settings.skip_idle_heartbeats {
                self.wake(machine, 0);
            }
        }
        self.manager.raise_nodes();
        while self.jobs_left > 0 {
            let Some((now_ms, event)) = self.agenda.next() else {
                return Err(self.stuck());
            };
            if now_ms > self.settings.give_up_after_ms as f64 {
                return Err(self.stuck());
            }
            if self.report_until(now_ms)? {
                // Limits that changed may bring something before it.
                self.agenda.add(now_ms, event);
                continue;
            }
            self.counts.events += 1;
            let done_before = self.executors_done;
            self.happen(now_ms, event)?;
            if self.executors_done != done_before {
                progress(self.executors_done);
            }
        }
        Ok(self.outcome())
    }

    fn happen(&mut self, now_ms: f64, event: Event) -> Result<(), SimulationError> {
        // Everything but work happens at whole milliseconds.
        let whole_ms = now_ms.ceil() as i64;
        match event {
            Event::Work { machine } => self.work(machine, now_ms),
            Event::Submission { application } => self.submitted(application, whole_ms),
            Event::Arrival { application } => self.arrived(application, whole_ms),
            Event::MasterEnd { application } => {
                self.masters.master_ended(application);
                self.start_masters(whole_ms);
            }
            Event::Backlog { application } => self.ask_more(application, whole_ms),
            Event::Resumed { application, piece } => {
                self.ask(application, [piece], whole_ms, None);
            }
            Event::Keeping => self.keep(whole_ms),
            Event::Second => self.second(whole_ms)?,
            Event::Waits { kind } => self.walk(kind, whole_ms),
            Event::Heartbeat { machine } => self.heartbeat(machine, whole_ms)?,
        }
        Ok(())
    }

    fn submitted(&mut self, application: usize, now_ms: i64) {
        let limits = |application| self.manager.masters_limits(application);
        match self.masters.submitted(application, now_ms, limits) {
            Some(at_ms) => self.arrive(application, at_ms, now_ms),
            None if self.masters.holds_first(application) => {
                let spec = &self.workload.applications[application];
                self.manager.held(application, spec, now_ms);
                self.expect_second(now_ms);
            }
            None => {}
        }
    }

    /// Masters may have room that had none.
    fn start_masters(&mut self, now_ms: i64) {
        let limits = |application| self.manager.masters_limits(application);
        for Released { application, at_ms } in self.masters.start(now_ms, limits) {
            self.arrive(application, at_ms, now_ms);
        }
    }

    fn arrive(&mut self, application: usize, at_ms: i64, now_ms: i64) {
        if at_ms <= now_ms {
            self.arrived(application, now_ms);
        } else {
            self.agenda.add(at_ms as f64, Event::Arrival { application });
        }
    }

    fn arrived(&mut self, application: usize, now_ms: i64) {
        let spec = &self.workload.applications[application];
        self.manager.arrived(application, spec, now_ms);
        let job = &mut self.jobs[application];
        job.unasked = spec.executors;
        job.next_ask = if self.asks_by_backlog { 1 } else { spec.executors };
        self.ask_more(application, now_ms);
    }

    /// Asks for the next executors that were not asked for yet, and again while there are some.
    fn ask_more(&mut self, application: usize, now_ms: i64) {
        let executors = self.workload.applications[application].executors;
        let job = &mut self.jobs[application];
        let first = executors - job.unasked;
        let asked = job.next_ask.min(job.unasked);
        job.unasked -= asked;
        job.next_ask = job.next_ask.saturating_mul(2);
        if job.unasked > 0 {
            let at_ms = now_ms + BACKLOG_INTERVAL_MS;
            self.agenda.add(at_ms as f64, Event::Backlog { application });
        }
        let pieces = (first..first + asked).map(|number| Piece { number, slot: 0 });
        self.ask(application, pieces, now_ms, None);
    }

    fn ask(
        &mut self,
        application: usize,
        pieces: impl IntoIterator<Item = Piece>,
        now_ms: i64,
        during_heartbeat_of: Option<usize>,
    ) {
        let spec = &self.workload.applications[application];
        let begins = self.manager.asked(application, spec, pieces, now_ms);
        self.plan_keeping();
        self.expect_second(now_ms);
        // A node that sleeps though one that is alike waits has no place for this one either.
        if let Some(kind) = begins {
            self.wake_for(kind, now_ms, during_heartbeat_of);
        }
    }

    fn stuck(&self) -> SimulationError {
        let mut applications = self.workload.applications.iter().zip(&self.jobs);
        let first = applications.find(|(_, job)| job.left > 0);
        SimulationError::NeverEnds {
            policy: self.policy,
            application: first.map_or_else(String::new, |(spec, _)| spec.name.clone()),
            jobs_left: self.jobs_left,
        }
    }

    fn outcome(mut self) -> SimulatedRun {
        let specs = self.workload.applications.iter();
        let applications = specs
            .zip(&self.jobs)
            .enumerate()
            .map(|(application, (spec, job))| ApplicationOutcome {
                name: spec.name.clone(),
                submitted_s: spec.submitted_ms as f64 / 1e3,
                deadline_s: spec.deadline_ms.map(|deadline_ms| deadline_ms as f64 / 1e3),
                started_s: job.first_start_ms().unwrap_or(spec.submitted_ms) as f64 / 1e3,
                starts_s: job.starts_s(),
                ended_s: job.ended_ms / 1e3,
                occupied_s: self.occupancy.part_s(application),
            })
            .collect();
        if let Some(node) = self.settings.recorded_node {
            self.packing.capacity = self.nodes[node].machine.capacity;
        }
        let machines = self.nodes.len();
        let capacity = self.workload.capacity();
        SimulatedRun {
            packing: self.packing,
            counts: self.counts,
            reprovisioned: self.manager.reprovisioned,
            forecasts: self.manager.forecasts.known,
            ..SimulatedRun::new(self.policy, applications, self.meter, machines, capacity)
        }
    }
}
