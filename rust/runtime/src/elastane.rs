//! The service in production: with its files, threads and counters.

pub(crate) mod ask_details;
mod for_tests;
pub(crate) mod preempted;

use std::path::Path;
use std::sync::Arc;

use elastane_core::cluster::{
    ApplicationId, Ask, BookableChange, CommitRequest, NodeId, Offer, Preemption, QueueShare,
    Request, RunningContainer, StartSearch, drain,
};
use elastane_predict::Submission;
use elastane_protocol::{decode_report, encode};
use elastane_runs::{OpenRun, RunEvent, RunSettings};
use elastane_store::MergeReport;

use crate::adviser::{Advise, Adviser};
use crate::counters::{Counters, Health, Status, count};
use crate::deadlines::Deadline;
use crate::decisions::Decisions;
use crate::depository::{DepositoryThread, SharingError, Work, open_or_substitute};
use crate::effects::Reported;
use crate::latest_reports::LatestReports;
use crate::memory_victims::PreemptionOrder;
use crate::open_error::OpenError;
use crate::questions::{Question, Sources};
use crate::report::ReportError;
use crate::service::Service;
use crate::service_lock::ServiceLock;
use crate::settings::RuntimeSettings;
use crate::start_planner::StartPlannerThread;
use crate::submission::{submission_record, wants_observe};
use ask_details::AskDetails;

/// [`Service`] behind a lock. Four threads belong to it: they write the journal, write the depository, train models
/// and plan starts. A fifth runs while an advice is computed. Callers wait for none of them.
pub struct Elastane {
    service: Arc<ServiceLock>,
    depository: DepositoryThread,
    decisions: Arc<Decisions>,
    reports: LatestReports,
    counters: Arc<Counters>,
    planner: StartPlannerThread,
    adviser: Adviser,
}

impl Elastane {
    /// Opens depository and journal, and makes profiles. A depository or journal that cannot be used
    /// is tried again until it can; meanwhile a substitute stands for the depository, and records of
    /// the journal are dropped.
    ///
    /// # Errors
    /// A policy that does not exist, a thread that cannot be started, or no memory for a substitute.
    pub fn open(settings: RuntimeSettings) -> Result<Self, OpenError> {
        let counters = Arc::new(Counters::new());
        let decisions = Decisions::open(settings.journal_file, &counters);
        let decisions = Arc::new(decisions.map_err(OpenError::Thread)?);
        let mut found = open_or_substitute(&settings.depository_file, &counters)?;
        let open_runs = std::mem::take(&mut found.open_runs);
        let (ended, running): (Vec<_>, Vec<_>) =
            open_runs.into_iter().partition(|run| run.ended_ms.is_some());
        let service = Arc::new(ServiceLock::new(Service::new(settings.service, running)?));
        let depository = DepositoryThread::open(
            found,
            settings.profile,
            settings.retention,
            Arc::clone(&decisions),
            Arc::clone(&counters),
            Box::new({
                let service = Arc::clone(&service);
                move |application, kind, predicted| {
                    service.lock().set_prediction(application, kind, predicted);
                }
            }),
        )?;
        for run in ended.into_iter().map(OpenRun::into_run) {
            let ended_ms = run.ended_ms;
            depository.send(Work::Ended(Box::new(run), ended_ms));
        }
        let planner = StartPlannerThread::open(Arc::clone(&counters), {
            let (service, decisions) = (Arc::clone(&service), Arc::clone(&decisions));
            move |plan| {
                let mut service = service.lock();
                decisions.record_all(service.starts_planned(plan));
            }
        });
        let planner = planner.map_err(OpenError::Thread)?;
        let (reports, adviser) = Default::default();
        Ok(Self { service, depository, decisions, reports, counters, planner, adviser })
    }

    /// The same, which lets what happened in mode `advise` be replayed.
    pub fn advised_by(self, advise: Advise) -> Self {
        Self { adviser: Adviser::by(advise), ..self }
    }

    /// Saves every run that ended, and the record of the others for the next process; ends the
    /// threads.
    pub fn close(mut self) {
        self.planner.close();
        let (news, latest_ms) = self.service.lock().last_checkpoint();
        self.save(news, false, latest_ms);
        let booked = self.service.lock().last_ledger();
        self.depository.send(Work::Ledger(Box::new(booked)));
        let whole = || self.service.lock().whole(latest_ms);
        let ended = || self.service.lock().ended();
        self.depository.close(whole, ended, latest_ms);
        if let Some(decisions) = Arc::get_mut(&mut self.decisions) {
            decisions.close();
        }
    }

    /// Applies other settings. The files of depository and journal stay those that are open.
    ///
    /// # Errors
    /// A policy that does not exist; nothing is changed then.
    pub fn apply_settings(&self, settings: RuntimeSettings) -> Result<(), OpenError> {
        let RuntimeSettings { service, profile, retention, depository_file: _, journal_file: _ } =
            settings;
        self.service.lock().apply_settings(service)?;
        self.depository.send(Work::Settings(profile, retention));
        Ok(())
    }

    /// See [`Service::node_added`].
    pub fn node_added(&self, name: &str, registered: Request) -> NodeId {
        self.service.lock().node_added(name, registered)
    }

    /// See [`Cluster::node_resized`](elastane_core::cluster::Cluster::node_resized).
    pub fn node_resized(&self, node: NodeId, registered: Request) {
        self.service.lock().cluster_mut().node_resized(node, registered);
    }

    /// See [`Cluster::node_labelled`](elastane_core::cluster::Cluster::node_labelled).
    pub fn node_labelled(&self, node: NodeId, label: &str) {
        self.service.lock().cluster_mut().node_labelled(node, label);
    }

    /// See [`Service::configure_queues`].
    pub fn configure_queues(&self, shares: Vec<QueueShare>) {
        self.service.lock().configure_queues(shares);
    }

    /// See [`Cluster::forbid_raising`](elastane_core::cluster::Cluster::forbid_raising).
    pub fn forbid_raising(&self, is_forbidden: bool) {
        self.service.lock().cluster_mut().forbid_raising(is_forbidden);
    }

    /// See [`Cluster::headroom`](elastane_core::cluster::Cluster::headroom).
    pub fn headroom(&self, application: ApplicationId, now_ms: i64) -> Option<Request> {
        self.service.lock().cluster().headroom(application, now_ms)
    }

    /// See [`Service::node_removed`].
    pub fn node_removed(&self, node: NodeId) {
        let mut service = self.service.lock();
        let name = service.cluster().node(node).map(|entry| entry.name.clone());
        service.node_removed(node);
        if let Some(name) = name {
            self.reports.forget(&name);
        }
    }

    /// An application was submitted; its run begins, and its containers are predicted.
    pub fn application_added(&self, submission: &Submission, now_ms: i64) -> ApplicationId {
        let record = submission_record(submission, now_ms);
        let given = RunSettings(record.settings.clone());
        let demands = self.depository.demands(&record.application_key, &given, now_ms);
        let demands = if wants_observe(submission) { demands.observed_by_tag() } else { demands };
        let length_ms = || self.depository.length_ms(&record.application_key, &given);
        let deadline = Deadline::of(submission, length_ms, now_ms);
        let Submission { queue, user, .. } = submission;
        let mut service = self.service.lock();
        let (submitted, news) = service.application_added(record, queue, user, deadline, demands);
        self.decisions.record_all(news);
        drop(service);
        let application = submitted.application;
        self.depository.send(Work::Submitted(Box::new(submitted)));
        application
    }

    /// See [`Service::application_moved`].
    pub fn application_moved(&self, application: ApplicationId, queue: &str) {
        self.service.lock().application_moved(application, queue);
    }

    /// See [`Service::application_removed`].
    pub fn application_removed(&self, application: ApplicationId, succeeded: bool, now_ms: i64) {
        let mut service = self.service.lock();
        let record = service.application_removed(application, succeeded, now_ms);
        self.decisions.record_all(record);
    }

    /// See [`Service::pending`].
    pub fn pending(&self, application: ApplicationId, ask: Ask, now_ms: i64) {
        self.pending_with(application, ask, &AskDetails::default(), now_ms);
    }

    /// The same with details. One lock for all of it: no plan of starts is to see new details with the former ask.
    pub fn pending_with(
        &self,
        application: ApplicationId,
        ask: Ask,
        details: &AskDetails<'_>,
        now_ms: i64,
    ) {
        let mut service = self.service.lock();
        details.put_into(service.cluster_mut(), application);
        let asked = service.pending(application, ask, now_ms);
        drop(service);
        if let Some(asked) = asked {
            self.depository.send(Work::Asked(Box::new(asked)));
        }
    }

    /// See [`Service::round`].
    pub fn round(&self, node: NodeId, free: Request, now_ms: i64) -> Option<Vec<ApplicationId>> {
        self.service.lock().round(node, free, now_ms)
    }

    /// See [`Service::offer`].
    pub fn offer(&self, offer: Offer<'_>, now_ms: i64) -> Option<Vec<ApplicationId>> {
        self.service.lock().offer(offer, now_ms)
    }

    /// See [`Cluster::skipped`](elastane_core::cluster::Cluster::skipped).
    pub fn skipped(&self, node: NodeId, applications: &[ApplicationId], now_ms: i64) {
        self.service.lock().cluster_mut().skipped(node, applications, now_ms);
    }

    /// Checks and records a container; false when it must not be committed.
    pub fn commit(&self, commit: CommitRequest<'_>, now_ms: i64) -> bool {
        // The journal is written under the lock, so that its records are in the order of events.
        let mut service = self.service.lock();
        let committed = service.commit(commit, now_ms);
        self.decisions.record_all(committed.record);
        drop(service);
        if !committed.is_admitted {
            count(&self.counters.refused_commits);
        }
        committed.is_admitted
    }

    /// See [`Service::finished`].
    pub fn finished(&self, container: &str, now_ms: i64) {
        let mut service = self.service.lock();
        let record = service.finished(container, now_ms);
        self.decisions.record_all(record);
    }

    /// An agent's report as it was sent, and the body of the reply.
    ///
    /// # Errors
    /// A report that is refused; nothing of it was taken.
    pub fn report(
        &self,
        node: &str,
        version: u16,
        body: &[u8],
        now_ms: i64,
    ) -> Result<Vec<u8>, ReportError> {
        let reply = self.take_report(node, version, body, now_ms);
        self.counters.reported(version, reply.is_ok());
        reply
    }

    fn take_report(
        &self,
        node: &str,
        version: u16,
        body: &[u8],
        now_ms: i64,
    ) -> Result<Vec<u8>, ReportError> {
        let report = decode_report(version, body)?;
        let kept = self.reports.to_keep(node, &report, version, body, now_ms);
        let mut service = self.service.lock();
        let Reported { reply, ingested, reprovisioned: _, records } =
            service.report(node, &report, now_ms)?;
        self.decisions.record_all(records);
        // Under the lock, so that no report is kept of a node that is gone.
        let planned = |container: &str| service.expected(node, container, now_ms);
        if let Some(kept) = kept {
            self.reports.arrived(node, &report.containers, kept, planned);
        }
        drop(service);
        self.counters.ingested(&ingested);
        Ok(encode(&reply)?)
    }

    /// See [`Cluster::booked_otherwise`](elastane_core::cluster::Cluster::booked_otherwise).
    pub fn booked_otherwise(&self, node: NodeId, running: &[RunningContainer]) -> Vec<String> {
        self.service.lock().cluster().booked_otherwise(node, running)
    }

    /// See [`drain`]: the Spark executors of these nodes are told to leave with the replies to the next reports.
    pub fn draining(&self, nodes: &[NodeId]) {
        drain(self.service.lock().cluster_mut(), nodes);
    }

    /// See [`Service::preemption_orders`].
    pub fn preemption_orders(&self, wait_ms: i64, now_ms: i64) -> Vec<PreemptionOrder> {
        let mut service = self.service.lock();
        let (orders, records) = service.preemption_orders(wait_ms, now_ms);
        self.decisions.record_all(records);
        orders
    }

    /// See [`Service::bookable_changes`]. To be called every second or so: everything that is to be
    /// saved goes to the depository's thread, and the starts of what waits are planned anew.
    pub fn bookable_changes(&self, limit: usize, now_ms: i64) -> Vec<BookableChange> {
        let mut service = self.service.lock();
        let (changes, records) = service.bookable_changes(limit, now_ms);
        self.decisions.record_all(records);
        let whole = self.depository.wants_whole().then(|| service.whole(now_ms));
        let due = service.due(now_ms);
        drop(service);
        self.depository.prune_if_due(now_ms);
        self.save(whole, true, now_ms);
        self.save(due.checkpoint, false, now_ms);
        let ledger = due.ledger.map(|news| Work::Ledger(Box::new(news)));
        let ended = due.ended.into_iter().map(|run| Work::Ended(Box::new(run), now_ms));
        ledger.into_iter().chain(ended).for_each(|work| self.depository.send(work));
        self.planner.search(|| StartSearch::of(self.service.lock().cluster_mut(), now_ms));
        changes
    }

    /// See [`Cluster::may_preempt`](elastane_core::cluster::Cluster::may_preempt).
    pub fn may_preempt(&self, preemption: Preemption<'_>, now_ms: i64) -> bool {
        self.service.lock().cluster_mut().may_preempt(preemption, now_ms)
    }

    /// Writes everything that is known of ended runs into another file, which appears whole or not at
    /// all. Takes as long as the file is large, and holds up no heartbeat.
    ///
    /// # Errors
    /// The file system's, or the depository's; an older copy stays then.
    pub fn copy_depository(&self, to: &Path) -> Result<(), SharingError> {
        self.depository.copy_to(to)
    }

    /// Merges the runs and models of a copy into the depository; holds up no heartbeat.
    ///
    /// # Errors
    /// A damaged copy, a newer schema, or the depository's; the runs merged before the error stay.
    pub fn take_over_depository(&self, from: &Path) -> Result<MergeReport, SharingError> {
        self.depository.take_over(from)
    }

    /// Whether depository, journal and learning work. Takes no lock.
    pub fn health(&self) -> Health {
        Health::new(&self.counters)
    }

    /// The state of the cluster and all counters, as JSON.
    pub fn status(&self, now_ms: i64) -> String {
        let mut snapshot = self.service.lock().status(now_ms);
        while self.service.lock().add_to_status(&mut snapshot) {}
        let status = Status {
            service: snapshot.into_status(),
            profiles: self.depository.profile_count(),
            learner_alive: self.depository.is_alive(),
            learner_backlog: self.depository.backlog(),
            counters: &self.counters,
            journal_dropped: self.decisions.journal().dropped(),
        };
        serde_json::to_string(&status).unwrap_or_else(|error| {
            log::error!("the status cannot be written as JSON: {error}");
            "{}".to_owned()
        })
    }

    /// The answer to a question of a person about decisions, nodes, containers or profiles; both are JSON, and
    /// docs/boundary-core.md has them.
    ///
    /// # Errors
    /// A question that cannot be read.
    pub fn answer(&self, question: &str, now_ms: i64) -> serde_json::Result<String> {
        let question: Question = serde_json::from_str(question)?;
        let Self { service, depository, decisions, reports, adviser, .. } = self;
        let sources = Sources { service, decisions, reports, depository, adviser };
        serde_json::to_string(&question.answer(&sources, now_ms))
    }

    fn save(&self, events: Option<Vec<RunEvent>>, is_whole: bool, now_ms: i64) {
        if let Some(events) = events {
            self.depository.send(Work::Checkpoint { events, is_whole, now_ms });
        }
    }
}
