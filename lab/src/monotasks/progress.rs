//! The progress of the jobs of a run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::job::{Job, Kind, Task, Work, minus, plus};

/// A stage in a run; `tasks` are indices of [`Progress::tasks`].
#[derive(Debug)]
pub(super) struct StageState {
    pub(super) job: u32,
    pub(super) tasks: Range<u32>,
    /// The first unplaced task; tasks are placed in order.
    pub(super) next: u32,
    unfinished_tasks: u32,
    unfinished_parents: u32,
    children: Vec<u32>,
    /// The work of the unplaced tasks.
    pub(super) unplaced: Work,
    pub(super) most_cpu_s: f64,
    /// Whether each task has CPU work.
    pub(super) all_compute: bool,
    input_bytes: f64,
}

impl StageState {
    pub(super) fn unplaced_tasks(&self) -> u32 {
        self.tasks.end - self.next
    }
}

#[derive(Debug)]
struct JobState {
    unfinished_stages: u32,
    left: Work,
    ended_s: Option<f64>,
}

/// All stages and tasks of a workload, and their remaining work.
pub(super) struct Progress<'a> {
    pub(super) jobs: &'a [Job],
    pub(super) tasks: Vec<Task>,
    pub(super) stage_of: Vec<u32>,
    pub(super) stages: Vec<StageState>,
    states: Vec<JobState>,
    /// The times at which stages become ready, as bits of seconds: non-negative floats order like their
    /// bits.
    coming: BinaryHeap<Reverse<(u64, u32)>>,
    stage_latency_s: f64,
    left: Work,
    unfinished_jobs: usize,
}

impl<'a> Progress<'a> {
    /// `cpu` is the factor of a job's CPU work.
    pub(super) fn new(jobs: &'a [Job], stage_latency_s: f64, cpu: impl Fn(&Job) -> f64) -> Self {
        let mut progress = Self {
            jobs,
            tasks: Vec::new(),
            stage_of: Vec::new(),
            stages: Vec::new(),
            states: Vec::with_capacity(jobs.len()),
            coming: BinaryHeap::new(),
            stage_latency_s,
            left: [0.0; 3],
            unfinished_jobs: jobs.len(),
        };
        for (at, job) in jobs.iter().enumerate() {
            progress.add(at as u32, job, cpu(job));
        }
        progress
    }

    fn add(&mut self, at: u32, job: &Job, cpu: f64) {
        let first_stage = self.stages.len() as u32;
        let mut left = [0.0; 3];
        for (stage_at, stage) in job.stages.iter().enumerate() {
            let id = first_stage + stage_at as u32;
            let first_task = self.tasks.len() as u32;
            self.tasks.extend(stage.tasks.iter().map(|task| {
                let [network_bytes, cpu_s, disk_bytes] = task.work;
                let work = [network_bytes, cpu_s * cpu, disk_bytes];
                Task { work, ..*task }
            }));
            let tasks = &self.tasks[first_task as usize..];
            let work = tasks.iter().fold([0.0; 3], |sum, task| plus(sum, task.work));
            left = plus(left, work);
            let most_cpu_s =
                tasks.iter().fold(0.0, |most, task| task.work[Kind::Cpu as usize].max(most));
            let all_compute = tasks.iter().all(|task| task.work[Kind::Cpu as usize] > 0.0);
            self.stage_of.resize(self.tasks.len(), id);
            for parent in &stage.parents {
                self.stages[first_stage as usize + parent].children.push(id);
            }
            self.stages.push(StageState {
                job: at,
                tasks: first_task..self.tasks.len() as u32,
                next: first_task,
                unfinished_tasks: stage.tasks.len() as u32,
                unfinished_parents: stage.parents.len() as u32,
                children: Vec::new(),
                unplaced: work,
                most_cpu_s,
                all_compute,
                input_bytes: stage.tasks.iter().map(|task| task.input_bytes).sum(),
            });
            if stage.parents.is_empty() {
                self.ready_at(id, job.submitted_s + self.stage_latency_s);
            }
        }
        self.left = plus(self.left, left);
        self.states.push(JobState {
            unfinished_stages: job.stages.len() as u32,
            left,
            ended_s: None,
        });
    }

    fn ready_at(&mut self, stage: u32, at_s: f64) {
        self.coming.push(Reverse((at_s.to_bits(), stage)));
    }

    pub(super) fn next_ready_s(&self) -> f64 {
        self.coming.peek().map_or(f64::INFINITY, |Reverse((bits, _))| f64::from_bits(*bits))
    }

    pub(super) fn take_ready(&mut self) -> Option<u32> {
        self.coming.pop().map(|Reverse((_, stage))| stage)
    }

    pub(super) fn stage(&self, stage: u32) -> &StageState {
        &self.stages[stage as usize]
    }

    pub(super) fn task(&self, task: u32) -> &Task {
        &self.tasks[task as usize]
    }

    pub(super) fn job_of(&self, task: u32) -> u32 {
        self.stage(self.stage_of[task as usize]).job
    }

    /// Marks the next task of a stage as placed.
    pub(super) fn place_next(&mut self, stage: u32) -> u32 {
        let state = &mut self.stages[stage as usize];
        let task = state.next;
        state.next += 1;
        state.unplaced = minus(state.unplaced, self.tasks[task as usize].work);
        task
    }

    pub(super) fn monotask_ended(&mut self, task: u32, kind: Kind) {
        let mut done = [0.0; 3];
        done[kind as usize] = self.task(task).work[kind as usize];
        let job = self.job_of(task) as usize;
        self.states[job].left = minus(self.states[job].left, done);
        self.left = minus(self.left, done);
    }

    /// Returns whether the job of the task ended.
    pub(super) fn task_ended(&mut self, task: u32, now_s: f64) -> bool {
        let stage_id = self.stage_of[task as usize] as usize;
        let stage = &mut self.stages[stage_id];
        stage.unfinished_tasks -= 1;
        if stage.unfinished_tasks > 0 {
            return false;
        }
        let job = stage.job as usize;
        for child in std::mem::take(&mut stage.children) {
            let child_state = &mut self.stages[child as usize];
            child_state.unfinished_parents -= 1;
            if child_state.unfinished_parents == 0 {
                self.ready_at(child, now_s + self.stage_latency_s);
            }
        }
        let state = &mut self.states[job];
        state.unfinished_stages -= 1;
        let job_ended = state.unfinished_stages == 0;
        if job_ended {
            state.ended_s = Some(now_s);
            self.unfinished_jobs -= 1;
        }
        job_ended
    }

    /// A job's remaining work over that of all jobs, for each kind.
    pub(super) fn share_left(&self, job: u32) -> Work {
        let mut shares = self.states[job as usize].left;
        for (share, all) in shares.iter_mut().zip(self.left) {
            *share = if all > 0.0 { (*share / all).clamp(0.0, 1.0) } else { 0.0 };
        }
        shares
    }

    /// A task's fraction of the input of its stage.
    pub(super) fn input_share(&self, task: u32) -> f64 {
        let input_bytes = self.stage(self.stage_of[task as usize]).input_bytes;
        if input_bytes > 0.0 { self.task(task).input_bytes / input_bytes } else { 0.0 }
    }

    pub(super) fn unfinished_jobs(&self) -> usize {
        self.unfinished_jobs
    }

    pub(super) fn first_unfinished(&self) -> Option<&'a Job> {
        let at = self.states.iter().position(|state| state.ended_s.is_none())?;
        self.jobs.get(at)
    }

    /// The end of each job, in seconds.
    pub(super) fn ended_s(&self) -> impl Iterator<Item = f64> {
        self.states.iter().map(|state| state.ended_s.unwrap_or(f64::INFINITY))
    }
}
