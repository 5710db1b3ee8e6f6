//! The thread that trains models. It gets runs, gives back models, and does nothing else.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use elastane_predict::{MOST_RUNS, SettingsRun, train, trainable, training_is_due};
use elastane_runs::{ContainerKind, Run, RunSettings, kinds};
use elastane_store::{Depository, StoreError};

use super::models::Trained;
use super::{Shared, Work, models};
use crate::counters::count;

/// The runs of one application, oldest first.
pub(super) struct TrainingJob {
    key: String,
    runs: Vec<(Run, RunSettings)>,
}

/// Trains one application at a time.
pub(super) struct Trainer {
    jobs: Option<Sender<TrainingJob>>,
    thread: Option<JoinHandle<()>>,
    is_idle: bool,
}

impl Trainer {
    /// Models go to `trained`. A training that panics is counted, and gives none.
    pub(super) fn open(trained: Sender<Work>, shared: Arc<Shared>) -> io::Result<Self> {
        let (jobs, waiting) = channel::<TrainingJob>();
        let thread =
            std::thread::Builder::new().name("elastane-learner".into()).spawn(move || {
                let mut told = false;
                for job in waiting {
                    let (key, newest_ms) = (job.key.clone(), job.newest_ms());
                    let result = catch_unwind(AssertUnwindSafe(|| job.train()));
                    let result = result.unwrap_or_else(|_| {
                        count(&shared.counters.learning_failures);
                        if !std::mem::replace(&mut told, true) {
                            log::error!(
                                "training panicked, see standard error: no model of {key} (further \
                                 ones are only counted)"
                            );
                        }
                        Trained { key, newest_ms, models: Vec::new() }
                    });
                    shared.backlog.give();
                    if trained.send(Work::Trained(result)).is_err() {
                        shared.backlog.take();
                        break;
                    }
                }
            })?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), is_idle: true })
    }

    pub(super) fn is_idle(&self) -> bool {
        self.is_idle
    }

    pub(super) fn send(&mut self, job: TrainingJob) {
        if let Some(jobs) = &self.jobs {
            self.is_idle = false;
            if jobs.send(job).is_err() {
                log::error!("the learner's thread is gone: no models are trained");
            }
        }
    }

    /// The models of the last job have arrived.
    pub(super) fn done(&mut self) {
        self.is_idle = true;
    }

    /// Waits for the last job. The next process trains the rest.
    pub(super) fn close(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the learner's thread panicked");
        }
    }
}

/// The job of an application whose runs had different settings, where enough ran since the last
/// training.
pub(super) fn due_job(
    depository: &Depository,
    key: &str,
) -> Result<Option<TrainingJob>, StoreError> {
    let Some(given) = trainable(depository.latest_settings(key, MOST_RUNS)?) else {
        return Ok(None);
    };
    let models = models::models(depository, key)?;
    if !training_is_due(models.iter().map(|(kind, model)| (*kind, model)), &given) {
        return Ok(None);
    }
    let mut runs = Vec::new();
    for (id, settings) in given.into_iter().rev() {
        if let Some(run) = depository.run(&id)? {
            runs.push((run, settings));
        }
    }
    Ok(Some(TrainingJob { key: key.to_owned(), runs }))
}

impl TrainingJob {
    fn train(self) -> Trained {
        log::debug!("training on {} runs of {}", self.runs.len(), self.key);
        let kinds = kinds(self.runs.iter().map(|(run, _)| run));
        Trained {
            newest_ms: self.newest_ms(),
            models: kinds.into_iter().map(|kind| (kind, train(&self.runs_of(kind)))).collect(),
            key: self.key,
        }
    }

    fn newest_ms(&self) -> i64 {
        self.runs.last().map_or(0, |(run, _)| run.ended_ms)
    }

    fn runs_of(&self, kind: ContainerKind) -> Vec<SettingsRun> {
        let runs = self.runs.iter().filter_map(|(run, settings)| {
            Some(SettingsRun {
                id: run.application_id.clone(),
                settings: settings.known_to(kind),
                // A series that is no demand is logged when the profile is made.
                used: run.used(kind).ok()??,
            })
        });
        runs.collect()
    }
}
