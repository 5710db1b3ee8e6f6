//! The scheduler's decisions and records, without I/O, clock or threads.

mod saving;

use std::collections::HashMap;
use std::sync::Arc;

use elastane_core::cluster::{
    Application, ApplicationId, Ask, BookableChange, Commit, CommitRequest, Demands, NodeId, Offer,
    Predicted, QueueShare, Request, Resized, StartPlan,
};
use elastane_core::policy::{self, Policy, UnknownPolicy};
use elastane_core::{Cluster, Progress, Resources, SLOT_MS};
use elastane_protocol::Report;
use elastane_runs::{ContainerKind, OpenRun, SubmissionRecord};

use crate::accounts::Accounts;
use crate::amounts;
use crate::deadlines::{Deadline, Deadlines};
use crate::effects::{Committed, Reported, Submitted};
pub use crate::first_asks::FirstAsk;
use crate::first_asks::FirstAsks;
use crate::giving_way::GivingWay;
use crate::journal::{JournalEvent, Placed, Record};
use crate::limit_changes::LimitChanges;
use crate::measured::Measured;
use crate::memory_victims::PreemptionOrder;
use crate::past::KeptOfApplications;
use crate::progress::Trackers;
use crate::refusals::Refusals;
use crate::report::{self, ReportError, Sequences};
use crate::reprovisioning;
use crate::runs::{Runs, last_samples_ms};
use crate::settings::ServiceSettings;
use crate::status::StatusSnapshot;
use crate::yarn_ids::application_id;

/// What the ResourceManager runs, and the simulator. Methods take the time and return their effects:
/// predictions to be made, runs and checkpoints to be saved, records for the journal.
pub struct Service {
    settings: ServiceSettings,
    cluster: Cluster,
    runs: Runs,
    accounts: Accounts,
    sequences: Sequences,
    refusals: Refusals,
    measured: HashMap<NodeId, Measured>,
    giving_way: GivingWay,
    trackers: Trackers,
    first_asks: FirstAsks,
    deadlines: Deadlines,
    pub(crate) limit_changes: LimitChanges,
}

impl Service {
    /// A service without nodes. `recorded` are the runs that an earlier process recorded of
    /// applications that may still run.
    ///
    /// # Errors
    /// A policy that does not exist.
    pub fn new(settings: ServiceSettings, recorded: Vec<OpenRun>) -> Result<Self, UnknownPolicy> {
        let policy = policy::named(&settings.policy, settings.policy_options)?;
        Ok(Self::with_policy(settings, policy, recorded))
    }

    /// The same with a policy that has no name in the settings.
    pub fn with_policy(
        settings: ServiceSettings,
        policy: Box<dyn Policy>,
        recorded: Vec<OpenRun>,
    ) -> Self {
        let mut cluster = Cluster::new(settings.cluster, policy);
        cluster.set_exceptions(&settings.exceptions);
        cluster.reprovision_by(settings.reprovision);
        Self {
            settings,
            cluster,
            runs: Runs::restored(recorded),
            accounts: Accounts::default(),
            sequences: Sequences::default(),
            refusals: Refusals::default(),
            measured: HashMap::new(),
            giving_way: GivingWay::default(),
            trackers: Trackers::default(),
            first_asks: FirstAsks::default(),
            deadlines: Deadlines::default(),
            limit_changes: LimitChanges::default(),
        }
    }

    /// Applies other settings; whether virtual cores count stays as it is.
    ///
    /// # Errors
    /// A policy that does not exist; nothing is changed then.
    pub fn apply_settings(&mut self, settings: ServiceSettings) -> Result<(), UnknownPolicy> {
        let policy = policy::named(&settings.policy, settings.policy_options)?;
        self.cluster.apply_settings(settings.cluster, policy);
        self.cluster.set_exceptions(&settings.exceptions);
        self.cluster.reprovision_by(settings.reprovision);
        self.settings = settings;
        Ok(())
    }

    /// The cluster as it is now.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The cluster, for changes of which runs and records know nothing.
    pub fn cluster_mut(&mut self) -> &mut Cluster {
        &mut self.cluster
    }

    /// A node registered.
    pub fn node_added(&mut self, name: &str, registered: Request) -> NodeId {
        self.cluster.node_added(name, registered)
    }

    /// A node is gone.
    pub fn node_removed(&mut self, node: NodeId) {
        self.cluster.node_removed(node);
        self.sequences.forget(node);
        self.measured.remove(&node);
        self.giving_way.node_removed(node);
        self.trackers.retain_known(&self.cluster);
        self.limit_changes.node_removed(node);
    }

    /// A user submitted an application to a queue, perhaps to be done by a time; `demands` are those that are
    /// known at once. Of one with a deadline that no earlier process knew, the journal gets a record.
    pub fn application_added(
        &mut self,
        record: SubmissionRecord,
        queue: &str,
        user: &str,
        deadline: Option<Deadline>,
        demands: Demands,
    ) -> (Submitted, Option<Record>) {
        let now_ms = record.submitted_ms;
        let (id, name) = (&record.application_id, &record.application_name);
        let application = Application::new(id, name, queue, demands, now_ms);
        let application = application.by_user(user).due_by(deadline.map(|deadline| deadline.at_ms));
        let application = self.cluster.application_added(application);
        let is_new = !self.runs.is_restored(id);
        let news = deadline
            .map(|given| self.deadlines.added(application, (id, queue), given, is_new, now_ms))
            .filter(|_| is_new);
        let is_wanted = self.settings.advises.anywhere;
        self.accounts.past.set_recording(is_wanted, &self.cluster, now_ms);
        self.accounts.begin(application, &record, user, queue);
        self.runs.begin(application, &record);
        self.first_asks.expect(application, id);
        (Submitted { application, record, is_new }, news)
    }

    /// The prediction of an application's containers of one kind; none is the request.
    pub fn set_prediction(
        &mut self,
        application: ApplicationId,
        kind: ContainerKind,
        predicted: Option<Predicted>,
    ) {
        self.cluster.set_prediction(application, kind, predicted);
    }

    /// An application was moved to another queue.
    pub fn application_moved(&mut self, application: ApplicationId, queue: &str) {
        self.cluster.application_moved(application, queue);
        self.accounts.moved(application, queue);
    }

    /// An application ended; [`Service::due`] gives its run once the last samples have arrived.
    pub fn application_removed(
        &mut self,
        application: ApplicationId,
        succeeded: bool,
        now_ms: i64,
    ) -> Option<Record> {
        let until_ms = now_ms + last_samples_ms(self.settings.report_interval_ms);
        let removed = self.cluster.application_removed(application);
        self.refusals.forget(application);
        self.first_asks.forget(application);
        self.trackers.application_removed(application);
        self.runs.end(application, succeeded, now_ms, until_ms);
        self.accounts.end(application, self.runs.settings(application), now_ms, until_ms);
        self.deadlines.removed(application, &removed?, succeeded, now_ms)
    }

    /// What an application waits for now. Its first ask for executors gives settings to predict by.
    pub fn pending(
        &mut self,
        application: ApplicationId,
        ask: Ask,
        now_ms: i64,
    ) -> Option<FirstAsk> {
        self.cluster.pending(application, ask, now_ms);
        self.accounts.past.asked(application, &ask, now_ms);
        let first = self.first_asks.asked(application, &ask, now_ms)?;
        self.runs.asked_first(application, &first.settings);
        Some(first)
    }

    /// See [`Cluster::offer`].
    pub fn offer(&mut self, offer: Offer<'_>, now_ms: i64) -> Option<Vec<ApplicationId>> {
        self.cluster.offer(offer, now_ms)
    }

    /// See [`Cluster::round`].
    pub fn round(
        &mut self,
        node: NodeId,
        free: Request,
        now_ms: i64,
    ) -> Option<Vec<ApplicationId>> {
        self.cluster.round(node, free, now_ms)
    }

    /// Checks and records a container.
    pub fn commit(&mut self, commit: CommitRequest<'_>, now_ms: i64) -> Committed {
        let is_known = self.cluster.container(commit.container).is_some();
        match self.cluster.commit(commit, now_ms) {
            Commit::Unknown => Committed { is_admitted: true, record: None },
            Commit::Refused(refusal) => Committed {
                is_admitted: false,
                record: self.refusals.record(&self.cluster, &commit, &refusal, now_ms),
            },
            Commit::Placed(placement) => {
                // A container that this process did not see start outlived a ResourceManager.
                let is_new = now_ms - commit.start_ms <= i64::from(SLOT_MS);
                if !is_new {
                    self.runs.cut_off(commit.application);
                }
                if let Some(container) = self.cluster.container(commit.container)
                    && !is_known
                {
                    self.accounts.runs(&self.cluster, commit.container, container, is_new, now_ms);
                }
                let placed = || Placed::of(&self.cluster, commit.container, &placement, now_ms);
                Committed { is_admitted: true, record: if is_known { None } else { placed() } }
            }
        }
    }

    /// A container ended, or another part of YARN refused its commit.
    pub fn finished(&mut self, container: &str, now_ms: i64) -> Option<Record> {
        let until_ms = now_ms + last_samples_ms(self.settings.report_interval_ms);
        let ended = self.cluster.finished(container)?;
        let node = self.node_name(ended.node);
        let application = application_id(&self.cluster, ended.application, container);
        let event = JournalEvent::Finished { container: container.to_owned(), node, application };
        let record = Record::about(&self.cluster, ended.application, event, now_ms);
        self.giving_way.finished(ended.node, container, now_ms);
        self.trackers.finished(&self.cluster, container);
        self.limit_changes.finished(ended.node, container);
        self.accounts.finished(&self.cluster, container, &ended, now_ms);
        self.runs.container_ended(container, ended, until_ms);
        Some(record)
    }

    /// An agent's report.
    ///
    /// # Errors
    /// A report that is refused; nothing of it was taken.
    pub fn report(
        &mut self,
        node: &str,
        report: &Report,
        now_ms: i64,
    ) -> Result<Reported, ReportError> {
        amounts::check(report)?;
        let Self { settings, cluster, runs, accounts, sequences, .. } = self;
        let number =
            cluster.node_named(node).ok_or_else(|| ReportError::UnknownNode(node.to_owned()))?;
        cluster.reported(number, amounts::capacity(report), now_ms);
        let former = self.measured.get(&number);
        let measured = Measured::of(report, cluster, number, former, now_ms);
        self.measured.insert(number, measured);
        let ingested =
            report::ingest(cluster, runs, &mut accounts.ledger, sequences, number, report, now_ms);
        if settings.follows_progress {
            self.trackers.follow(cluster, number, report, now_ms);
        }
        cluster.reprovision(number, now_ms);
        let reprovisioned = cluster.take_reprovisioned();
        let first = settings.decommissions_first;
        let (leave, mut records) = self.giving_way.reported(cluster, number, report, first, now_ms);
        let (plan, done) = (&settings.plan, &reprovisioned);
        let mut reply = self.limit_changes.reply(cluster, plan, number, report, done, now_ms);
        reply.decommission = leave;
        if settings.journal_usage
            && let Some(entry) = cluster.node(number)
        {
            records.insert(0, report::node_usage(cluster, entry, report, now_ms));
        }
        records.extend(reprovisioning::records(cluster, &reprovisioned));
        Ok(Reported { reply, ingested, reprovisioned, records })
    }

    /// A container's progress from another source than its use; it replaces estimates from the next report on.
    pub fn progressed(&mut self, container: &str, progress: Progress) {
        self.trackers.told(container, progress);
    }

    /// The containers that have to give way now because their nodes are short of memory.
    ///
    /// `wait_ms` lies between telling an application master and ending its container. Each order is
    /// given once; the order to end a container again after 10 s while the container is still there.
    pub fn preemption_orders(
        &mut self,
        wait_ms: i64,
        now_ms: i64,
    ) -> (Vec<PreemptionOrder>, Vec<Record>) {
        self.giving_way.orders(&self.cluster, wait_ms, now_ms)
    }

    /// The nodes whose bookable capacity has to change.
    pub fn bookable_changes(
        &mut self,
        limit: usize,
        now_ms: i64,
    ) -> (Vec<BookableChange>, Vec<Record>) {
        let changes = self.cluster.bookable_changes(limit, now_ms);
        // Not every step by demand: a large cluster takes thousands of them a minute.
        let turns = changes.iter().filter(|it| {
            matches!(it.because, Resized::GuaranteeOverdue | Resized::ShortOfMemory)
                || it.from.is_raised() != it.ratio.is_raised()
        });
        let record = |change| Record::bookable(&self.cluster, change, now_ms);
        let records = turns.map(record).collect();
        (changes, records)
    }

    /// A plan of starts counts from now on.
    pub fn starts_planned(&mut self, plan: StartPlan) -> Vec<Record> {
        let as_of_ms = plan.as_of_ms();
        plan.put_into(&mut self.cluster);
        self.deadlines.planned(&self.cluster, as_of_ms)
    }

    /// Nodes and waiting applications, for people: an empty snapshot to go on with.
    pub fn status(&self, now_ms: i64) -> StatusSnapshot {
        let is_advised = self.settings.advises.by_default;
        StatusSnapshot::begin(&self.cluster, &self.runs, is_advised, now_ms)
    }

    /// Adds some to a snapshot; false once it is complete.
    pub fn add_to_status(&mut self, snapshot: &mut StatusSnapshot) -> bool {
        snapshot.go_on(&mut self.cluster, &self.measured, &self.deadlines)
    }

    /// The queues of the cluster are these from now on.
    pub fn configure_queues(&mut self, shares: Vec<QueueShare>) {
        self.accounts.past.queues_are(&shares);
        self.cluster.configure_queues(shares);
    }

    /// What is kept of applications, for people's questions.
    pub(crate) fn kept(&self) -> KeptOfApplications<'_> {
        let Accounts { past, starts, .. } = &self.accounts;
        KeptOfApplications { past, starts, runs: &self.runs, settings: &self.settings }
    }

    /// The shared id of a container that runs on a node, and what the container is expected to use now.
    pub(crate) fn expected(
        &self,
        node: &str,
        container: &str,
        now_ms: i64,
    ) -> Option<(Arc<str>, Resources)> {
        let (id, known) = self.cluster.named_container(container)?;
        let entry = self.cluster.node(known.node).filter(|entry| entry.name == node)?;
        Some((Arc::clone(id), entry.node.get(known.executor)?.expected_at(now_ms)))
    }

    fn node_name(&self, node: NodeId) -> String {
        self.cluster.node(node).map(|node| node.name.clone()).unwrap_or_default()
    }
}
