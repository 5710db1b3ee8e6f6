//! What is known of an application's next run.

use std::sync::Arc;

use elastane_core::DemandError;
use elastane_core::cluster::{ApplicationId, Predicted};
use elastane_predict::{
    AT_FIRST_ASK, ContainerKind, Earlier, Exclusion, GivenRun, LOOKED_THROUGH, NotUsed, Planned,
    Prediction, Profile, ProfileSettings, Settings, foresee, kinds, profile,
};
use elastane_store::{PackError, PredictionMade, PredictionRecord, StoreError};

use super::keeper::Keeper;
use super::known::{Known, Packed};
use super::{Asked, Submitted};

/// An application that is there, and what is known of what it was given.
struct Given<'a> {
    application: ApplicationId,
    application_id: &'a str,
    key: &'a str,
    settings: Settings,
    now_ms: i64,
    /// Its prediction is to be kept; that of one that an earlier process knew is there already.
    is_kept: bool,
}

impl Keeper {
    /// Makes the profile of the settings that ran last, from what the depository holds.
    pub(super) fn make_profile(&mut self, key: &str) -> Result<(), StoreError> {
        let all = self.depository.latest_settings(key, LOOKED_THROUGH)?;
        let Some((_, newest)) = all.first() else {
            return Ok(());
        };
        let settings = newest.clone();
        let are_of_these = !self.is_indifferent(key)?;
        let runs = self.runs(&all, are_of_these.then_some(&settings))?;
        let runs: Vec<_> = runs.into_iter().map(|given| given.run).collect();
        if let Some(profile) = profile(key, &runs, &self.settings) {
            tell_left_out(&profile);
            let known = Arc::new(Known::new(&profile, settings));
            self.profiles.write().insert(key.to_owned(), known);
        }
        Ok(())
    }

    /// Keeps a submission, and foresees what its containers will use.
    pub(super) fn submitted(&mut self, submitted: Submitted) -> Result<(), StoreError> {
        let Submitted {
            application,
            record,
            is_new,
        } = submitted;
        let stored = if is_new {
            None
        } else {
            self.depository.submission(&record.application_id)?
        };
        let (now_ms, is_saved) = (record.submitted_ms, stored.is_some());
        let submission = stored.unwrap_or(record);
        // What cannot be saved is foreseen all the same.
        self.running.add(submission.clone(), is_saved);
        self.save_what_waits();
        let given = Given {
            application,
            application_id: &submission.application_id,
            key: &submission.application_key,
            settings: Settings(submission.settings.clone()),
            now_ms,
            is_kept: is_new,
        };
        self.foresee(&given, |_| true)
    }

    /// Keeps what was asked for first, and foresees the executors by it. What an earlier process was
    /// asked for stays.
    pub(super) fn asked(&mut self, asked: Asked) -> Result<(), StoreError> {
        let id = &asked.application_id;
        let Some(mut submission) = self.running.submission(id) else {
            return Ok(());
        };
        if AT_FIRST_ASK
            .iter()
            .any(|name| submission.settings.contains_key(*name))
        {
            return Ok(());
        }
        submission.settings.extend(asked.settings.0);
        self.running.add(submission.clone(), false);
        self.save_what_waits();
        let given = Given {
            application: asked.application,
            application_id: id,
            key: &submission.application_key,
            settings: Settings(submission.settings.clone()),
            now_ms: asked.now_ms,
            is_kept: true,
        };
        self.foresee(&given, |kind| !kind.is_application_master())
    }

    /// Foresees the kinds of containers that earlier runs had; of any other the request stands.
    fn foresee(
        &mut self,
        given: &Given<'_>,
        is_wanted: fn(ContainerKind) -> bool,
    ) -> Result<(), StoreError> {
        let all = self.depository.latest_settings(given.key, LOOKED_THROUGH)?;
        let latest = self.runs(&all, None)?;
        let same = self.runs(&all, Some(&given.settings))?;
        let profile: Arc<str> = given.key.into();
        let mut records = Vec::new();
        let known = kinds(latest.iter().chain(&same).map(|given| &given.run));
        for kind in known.into_iter().filter(|kind| is_wanted(*kind)) {
            let model = self.model(given.key, kind)?;
            let earlier = Earlier {
                latest: &latest,
                same: &same,
                model: model.as_ref(),
            };
            let recurring = self.settings.recurring();
            let Some(foreseen) = foresee(kind, earlier, &given.settings, &recurring) else {
                continue;
            };
            self.counts.foreseen(&foreseen);
            let predicted = foreseen.prediction.as_ref().ok().and_then(|prediction| {
                let predicted = predicted(prediction, &self.settings, &profile);
                let id = given.application_id;
                predicted
                    .inspect_err(|error| log::error!("the request of {id} stands: {error}"))
                    .ok()
            });
            (self.foreseen)(given.application, kind, predicted);
            records.push(PredictionRecord {
                application_id: given.application_id.to_owned(),
                application_key: given.key.to_owned(),
                kind,
                made_ms: given.now_ms,
                made: PredictionMade::foreseen(&foreseen, model.as_ref(), &given.settings),
                bound: foreseen.prediction.ok().map(|it| it.envelope),
                outcome: None,
            });
        }
        records.retain(|_| given.is_kept);
        for record in records {
            self.keep(record)?;
        }
        Ok(())
    }

    fn keep(&mut self, prediction: PredictionRecord) -> Result<(), StoreError> {
        match self.depository.save_prediction(&prediction) {
            // It is tried again with what waits.
            Err(error) if error.may_pass() => {
                self.running.tell(&error);
                if self.running.keep(prediction) {
                    Ok(())
                } else {
                    Err(error)
                }
            }
            saved => saved,
        }
    }

    /// The latest of these runs, those that agree with the settings where there are some.
    fn runs(
        &self,
        newest_first: &[(String, Settings)],
        settings: Option<&Settings>,
    ) -> Result<Vec<GivenRun>, StoreError> {
        let agree = |given: &Settings| settings.is_none_or(|it| it.agree(given));
        let wanted = newest_first.iter().filter(|(_, given)| agree(given));
        let mut runs = Vec::new();
        for (id, settings) in wanted.take(self.settings.runs_looked_at()) {
            // One that was removed meanwhile is gone.
            if let Some(run) = self.depository.run(id)? {
                let settings = settings.clone();
                runs.push(GivenRun { run, settings });
            }
        }
        Ok(runs)
    }
}

/// What containers are planned by, as a profile that was packed has it: where both say the same
/// nothing changes for an application that waits.
fn predicted(
    prediction: &Prediction,
    settings: &ProfileSettings,
    profile: &Arc<str>,
) -> Result<Predicted, NotKept> {
    let planned = Planned::of(prediction, settings)?;
    Ok(Packed::new(&planned)?.unpack(profile)?)
}

/// Why a prediction is no demand.
#[derive(Debug, thiserror::Error)]
enum NotKept {
    #[error(transparent)]
    Demand(#[from] DemandError),
    #[error(transparent)]
    Packed(#[from] PackError),
}

fn tell_left_out(profile: &Profile) {
    for left_out in &profile.left_out {
        if left_out.reason == NotUsed::Excluded(Exclusion::Old) {
            continue;
        }
        let (run, reason) = (&left_out.application_id, &left_out.reason);
        let kind = left_out.kind;
        log::info!(
            "the {kind} of the run {run} is not part of the profile {}: {reason}",
            profile.key
        );
    }
}
