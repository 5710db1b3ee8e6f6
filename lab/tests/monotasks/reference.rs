//! The model of monotasks in its plainest form: each step computes every number from lists. No order and no
//! sum is kept between steps.

use elastane_lab::monotasks::{Job, Kind, Parameters, Placement};

#[derive(Clone, Copy, PartialEq)]
enum At {
    Nowhere,
    /// Waits in the queue of its kind; the value is the number of its arrival, counted over all queues.
    Waits(usize),
    Active,
    Done,
}

struct TaskNow {
    job: usize,
    stage: usize,
    left: [f64; 3],
    asked_bytes: f64,
    machine: usize,
    /// The current kind of work.
    kind: usize,
    at: At,
}

/// The cluster, with EJF for placement and for the queues.
pub struct Reference<'a> {
    jobs: &'a [Job],
    parameters: &'a Parameters,
    placement: Placement,
    tasks: Vec<TaskNow>,
    /// The time at which each stage of each job is ready.
    ready_s: Vec<Vec<f64>>,
    ended_s: Vec<f64>,
    now_s: f64,
    arrivals: usize,
    first: usize,
}

/// The end of each job.
pub fn ends_s(jobs: &[Job], placement: Placement, parameters: &Parameters) -> Vec<f64> {
    let mut reference = Reference::new(jobs, placement, parameters);
    let mut round = 0;
    while reference.ended_s.iter().any(|end_s| end_s.is_infinite()) {
        reference.step(&mut round);
    }
    reference.ended_s
}

impl<'a> Reference<'a> {
    fn new(jobs: &'a [Job], placement: Placement, parameters: &'a Parameters) -> Self {
        let mut tasks = Vec::new();
        for (job_at, job) in jobs.iter().enumerate() {
            for (stage_at, stage) in job.stages.iter().enumerate() {
                let input: f64 = stage.tasks.iter().map(|task| task.input_bytes).sum();
                tasks.extend(stage.tasks.iter().map(|task| {
                    TaskNow {
                        job: job_at,
                        stage: stage_at,
                        left: task.work,
                        asked_bytes: (task.input_bytes / input * job.memory_bytes)
                            .min(job.memory_to_input * task.input_bytes),
                        machine: 0,
                        kind: 0,
                        at: At::Nowhere,
                    }
                }));
            }
        }
        let ready_s = jobs
            .iter()
            .map(|job| {
                let first_s = job.submitted_s + parameters.stage_latency_s;
                let ready = |stage: &elastane_lab::monotasks::Stage| {
                    if stage.parents.is_empty() { first_s } else { f64::INFINITY }
                };
                job.stages.iter().map(ready).collect()
            })
            .collect();
        Self {
            jobs,
            parameters,
            placement,
            tasks,
            ready_s,
            ended_s: vec![f64::INFINITY; jobs.len()],
            now_s: 0.0,
            arrivals: 0,
            first: 0,
        }
    }

    /// To the next end of a monotask, ready stage, or round.
    fn step(&mut self, round: &mut u64) {
        let round_length_s = self.parameters.workers.round_s;
        let waits = self.tasks.iter().any(|task| self.is_ready(task));
        let mut round_s = f64::INFINITY;
        if waits {
            *round = (*round).max((self.now_s / round_length_s).ceil() as u64);
            round_s = *round as f64 * round_length_s;
        }
        let ready_s = self
            .ready_s
            .iter()
            .flatten()
            .copied()
            .filter(|ready_s| *ready_s > self.now_s)
            .fold(f64::INFINITY, f64::min);
        let end_s = self
            .tasks
            .iter()
            .filter(|task| task.at == At::Active)
            .map(|task| self.now_s + task.left[task.kind] / self.speed(task))
            .fold(f64::INFINITY, f64::min);
        let next_s = round_s.min(ready_s).min(end_s);
        self.work_until(next_s);
        if end_s <= next_s {
            self.end_monotasks();
        } else if ready_s > next_s {
            *round += 1;
            self.place();
        }
    }

    fn is_ready(&self, task: &TaskNow) -> bool {
        task.at == At::Nowhere && self.ready_s[task.job][task.stage] <= self.now_s
    }

    fn rate(&self, kind: usize) -> f64 {
        let machines = self.parameters.machines;
        [machines.network_bytes_per_s, machines.cores as f64, machines.disk_bytes_per_s][kind]
    }

    fn limit(&self, kind: usize) -> usize {
        let workers = self.parameters.workers;
        [workers.network_monotasks, self.parameters.machines.cores, workers.disk_monotasks][kind]
    }

    fn active(&self, machine: usize, kind: usize) -> usize {
        let here =
            |task: &&TaskNow| task.machine == machine && task.kind == kind && task.at == At::Active;
        self.tasks.iter().filter(here).count()
    }

    fn speed(&self, task: &TaskNow) -> f64 {
        if task.at != At::Active {
            return 0.0;
        }
        let share = self.rate(task.kind) / self.active(task.machine, task.kind) as f64;
        if task.kind == Kind::Cpu as usize { share.min(1.0) } else { share }
    }

    fn work_until(&mut self, next_s: f64) {
        let speeds: Vec<f64> = self.tasks.iter().map(|task| self.speed(task)).collect();
        for (task, speed) in self.tasks.iter_mut().zip(speeds) {
            if task.at == At::Active {
                task.left[task.kind] -= speed * (next_s - self.now_s);
            }
        }
        self.now_s = next_s;
    }

    fn end_monotasks(&mut self) {
        for at in 0..self.tasks.len() {
            let task = &mut self.tasks[at];
            if task.at == At::Active
                && task.left[task.kind] <= 1e-9 * self.rate(self.tasks[at].kind)
            {
                let task = &mut self.tasks[at];
                task.left[task.kind] = 0.0;
                let (machine, kind) = (task.machine, task.kind);
                task.kind += 1;
                self.enqueue(at);
                self.fill(machine, kind);
            }
        }
    }

    fn enqueue(&mut self, at: usize) {
        let task = &mut self.tasks[at];
        while task.kind < 3 && task.left[task.kind] <= 0.0 {
            task.kind += 1;
        }
        if task.kind == 3 {
            task.at = At::Done;
            self.stage_may_end(at);
            return;
        }
        self.arrivals += 1;
        task.at = At::Waits(self.arrivals);
        let (machine, kind) = (task.machine, task.kind);
        self.fill(machine, kind);
    }

    fn fill(&mut self, machine: usize, kind: usize) {
        while self.active(machine, kind) < self.limit(kind) {
            let mut first: Option<(usize, (f64, usize))> = None;
            for (at, task) in self.tasks.iter().enumerate() {
                if let At::Waits(arrival) = task.at
                    && (task.machine, task.kind) == (machine, kind)
                {
                    let order = (self.jobs[task.job].submitted_s, arrival);
                    if first.is_none_or(|(_, best)| order < best) {
                        first = Some((at, order));
                    }
                }
            }
            let Some((at, _)) = first else {
                return;
            };
            self.tasks[at].at = At::Active;
        }
    }

    fn stage_may_end(&mut self, at: usize) {
        let job = self.tasks[at].job;
        let is_done = |stage: usize| {
            let of_it = |task: &&TaskNow| task.job == job && task.stage == stage;
            self.tasks.iter().filter(of_it).all(|task| task.at == At::Done)
        };
        if !is_done(self.tasks[at].stage) {
            return;
        }
        let stages = &self.jobs[job].stages;
        for (child, stage) in stages.iter().enumerate() {
            if self.ready_s[job][child].is_infinite()
                && stage.parents.iter().all(|parent| is_done(*parent))
            {
                self.ready_s[job][child] = self.now_s + self.parameters.stage_latency_s;
            }
        }
        if (0..stages.len()).all(is_done) {
            self.ended_s[job] = self.now_s;
        }
    }

    fn place(&mut self) {
        match self.placement {
            Placement::Capacity => self.place_in_order(),
            _ => self.place_stages(),
        }
    }

    /// The waiting tasks of each stage: the earliest job first, then the stage that was ready first.
    fn waiting(&self) -> Vec<Vec<usize>> {
        let mut stages: Vec<(f64, f64, Vec<usize>)> = Vec::new();
        for (job, ready) in self.ready_s.iter().enumerate() {
            for (stage, ready_s) in ready.iter().enumerate() {
                let waits = |at: &usize| {
                    let task = &self.tasks[*at];
                    task.job == job && task.stage == stage && self.is_ready(task)
                };
                let tasks: Vec<usize> = (0..self.tasks.len()).filter(waits).collect();
                if !tasks.is_empty() {
                    stages.push((self.jobs[job].submitted_s, *ready_s, tasks));
                }
            }
        }
        stages.sort_by(|left, right| (left.0, left.1).partial_cmp(&(right.0, right.1)).unwrap());
        stages.into_iter().map(|(_, _, tasks)| tasks).collect()
    }

    fn here(&self, machine: usize) -> impl Iterator<Item = &TaskNow> {
        self.tasks.iter().filter(move |task| {
            task.machine == machine && task.at != At::Nowhere && task.at != At::Done
        })
    }

    fn memory_fits(&self, at: usize, machine: usize) -> bool {
        let held: f64 = self.here(machine).map(|task| task.asked_bytes).sum();
        held + self.tasks[at].asked_bytes <= self.parameters.machines.memory_bytes
    }

    fn put(&mut self, at: usize, machine: usize) {
        self.tasks[at].machine = machine;
        self.enqueue(at);
    }

    fn place_in_order(&mut self) {
        let machines = self.parameters.machines;
        self.first = (self.first + 1) % machines.count;
        for tasks in self.waiting() {
            let mut machine = self.first;
            for at in tasks {
                let turns = (0..machines.count).map(|turn| (machine + turn) % machines.count);
                let free = |machine: &usize| {
                    self.here(*machine).count() < machines.cores && self.memory_fits(at, *machine)
                };
                let Some(found) = turns.into_iter().find(free) else {
                    break;
                };
                self.put(at, found);
                machine = (found + 1) % machines.count;
            }
        }
    }

    /// Ursa on one machine: stages by the rank of their jobs, plus the bonus if they fit whole, plus F if the
    /// parameters include it.
    fn place_stages(&mut self) {
        let workers = self.parameters.workers;
        loop {
            let mut best: Option<(f64, usize, Vec<usize>)> = None;
            for tasks in self.waiting() {
                let (fitting, f) = self.fitting(&tasks);
                if fitting == 0 {
                    continue;
                }
                let waited_s = self.now_s - self.jobs[self.tasks[tasks[0]].job].submitted_s;
                let whole = fitting == tasks.len();
                let bonus = if whole { workers.stage_bonus } else { 0.0 };
                let f = if workers.score_by_f { f } else { 0.0 };
                let score = waited_s + bonus + f;
                if best.as_ref().is_none_or(|(most, _, _)| score > *most) {
                    best = Some((score, fitting, tasks));
                }
            }
            let Some((_, fitting, tasks)) = best else {
                return;
            };
            for at in &tasks[..fitting] {
                self.put(*at, 0);
            }
        }
    }

    /// The number of tasks that can be placed one after the other while every resource that they need has
    /// less than EPT of work; and the sum of their F.
    fn fitting(&self, tasks: &[usize]) -> (usize, f64) {
        let machines = self.parameters.machines;
        let mut f = 0.0;
        let mut here: Vec<&TaskNow> = self.here(0).collect();
        for (fitting, at) in tasks.iter().enumerate() {
            let task = &self.tasks[*at];
            let mut ahead_s: Vec<f64> = (0..3)
                .map(|kind| here.iter().map(|task| task.left[kind]).sum::<f64>() / self.rate(kind))
                .collect();
            let cpu = Kind::Cpu as usize;
            if here.iter().filter(|task| task.left[cpu] > 0.0).count() < machines.cores {
                ahead_s[cpu] = 0.0;
            }
            let expected_s = self.parameters.workers.expected_processing_s;
            let is_full = (0..3).any(|kind| task.left[kind] > 0.0 && ahead_s[kind] >= expected_s);
            let held_bytes: f64 = here.iter().map(|task| task.asked_bytes).sum();
            if is_full || held_bytes + task.asked_bytes > machines.memory_bytes {
                return (fitting, f);
            }
            for (kind, ahead_s) in ahead_s.into_iter().enumerate() {
                let idle = (1.0 - ahead_s / expected_s).max(0.0);
                let increase = task.left[kind] / self.rate(kind) / expected_s;
                f += idle * increase.min(idle);
            }
            here.push(task);
        }
        (tasks.len(), f)
    }
}
