//! An application: its ask and its running containers.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::countables::Countables;
use super::demands::Demands;
use super::request::Request;
use crate::cluster::Cluster;
use crate::container_kind::ContainerKind;
use crate::ids::{ApplicationId, NodeId};
use crate::node::ExecutorId;
use crate::policy::Waiting;
use crate::resources::Resources;

/// The containers that an application waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// The kind of the next container.
    pub kind: ContainerKind,
    /// YARN's application priority; higher goes first.
    pub priority: i32,
    /// The request of the next container.
    pub request: Request,
    /// Number of containers that it waits for.
    pub count: u32,
}

/// What an application's queue does with its asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Rounds order the queue's applications.
    Ordered,
    /// CapacityScheduler alone orders them.
    ByItsQueue,
    /// The queue does not let the application start yet: a limit of application masters or of parallel applications.
    Held,
}

/// One application.
#[derive(Debug, Clone)]
pub struct Application {
    /// YARN's id.
    pub id: String,
    /// The submitter's name for it.
    pub name: String,
    /// The leaf queue; its containers share the name.
    pub queue: Arc<str>,
    /// Who submitted it.
    pub user: Arc<str>,
    /// Predictions for its containers.
    pub demands: Demands,
    /// When it was submitted.
    pub submitted_ms: i64,
    /// When it has to be done; none without a deadline.
    pub deadline_ms: Option<i64>,
    /// Number of its running containers.
    pub running: u32,
    /// Those of them that are planned without a profile, with their nodes. Containers that started in observe are not
    /// among them: a profile does not plan them anew.
    pub(crate) unprofiled: BTreeMap<ExecutorId, NodeId>,
    /// Sum of the running containers' requests.
    pub allocated: Request,
    /// Its ask; none while it waits for nothing.
    pub waiting: Option<Ask>,
    /// Its ask while its queue does not let it start. No round names it, but nodes are raised for it: the limit
    /// of application masters is a part of the raised size.
    pub held: Option<Ask>,
    /// Start of the wait for its next container.
    pub waiting_since_ms: i64,
    /// See [`Countables`]: what its next container asks for.
    pub countables: Countables,
    /// The node label that its next container asks for; empty for none.
    pub label: Arc<str>,
    /// What its queue does with its asks.
    pub standing: Standing,
    /// See [`Waiting::remaining_share`]; as computed last.
    pub(crate) remaining_share: Option<Resources>,
}

/// The applications that were added after this one, oldest first; all of them after none.
pub fn applications_after(
    cluster: &Cluster,
    application: Option<ApplicationId>,
) -> impl Iterator<Item = (ApplicationId, &Application)> {
    let from = application.map_or(Bound::Unbounded, Bound::Excluded);
    cluster.state.applications.range((from, Bound::Unbounded)).map(|(id, it)| (*id, it))
}

/// What belongs to an ask and is told before it.
impl Cluster {
    /// What an application's next container asks for beside memory and virtual cores, and what its queue
    /// does with its asks.
    pub fn set_standing(
        &mut self,
        application: ApplicationId,
        countables: &[u64],
        standing: Standing,
    ) {
        if let Some(entry) = self.state.applications.get_mut(&application) {
            (entry.countables, entry.standing) = (Countables::new(countables), standing);
        }
    }

    /// The node label that an application's next container asks for; empty for none.
    pub fn set_label(&mut self, application: ApplicationId, label: &str) {
        if let Some(entry) = self.state.applications.get_mut(&application)
            && &*entry.label != label
        {
            entry.label = label.into();
        }
    }
}

impl Application {
    /// An application that waits for nothing yet.
    pub fn new(id: &str, name: &str, queue: &str, demands: Demands, submitted_ms: i64) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            queue: queue.into(),
            user: Arc::default(),
            demands,
            submitted_ms,
            deadline_ms: None,
            running: 0,
            unprofiled: BTreeMap::new(),
            allocated: Request::default(),
            waiting: None,
            held: None,
            waiting_since_ms: submitted_ms,
            countables: Countables::default(),
            label: Arc::default(),
            standing: Standing::Ordered,
            remaining_share: None,
        }
    }

    /// The same, submitted by a user.
    pub fn by_user(self, user: &str) -> Self {
        Self { user: user.into(), ..self }
    }

    /// The same, to be done by a time.
    pub fn due_by(self, deadline_ms: Option<i64>) -> Self {
        Self { deadline_ms, ..self }
    }

    /// Whether a container runs beside its ApplicationMaster, so that the application makes
    /// progress while it waits.
    pub(crate) fn makes_progress(&self) -> bool {
        self.running > 1
    }

    /// Whether rounds order its queue.
    pub(crate) fn is_ordered(&self) -> bool {
        self.standing == Standing::Ordered
    }

    pub(crate) fn ask(&mut self, ask: Ask, now_ms: i64) {
        let is_held = self.standing == Standing::Held;
        // A wait begins anew when the queue lets the application start: until then it waits for no container.
        let waits = if is_held { self.held } else { self.waiting };
        if waits.is_none() {
            self.waiting_since_ms = now_ms;
        }
        let ask = (ask.count > 0).then_some(ask);
        (self.held, self.waiting) = if is_held { (ask, None) } else { (None, ask) };
    }

    /// The application as a policy sees it, in a cluster of this size.
    pub(crate) fn as_waiting(&self, registered: Request) -> Waiting {
        let share = |allocated: f64, registered: f64| match registered {
            0.0 => 0.0,
            _ => allocated / registered,
        };
        let (allocated, all) = (self.allocated, registered);
        Waiting {
            submitted_ms: self.submitted_ms,
            queued_ms: self.waiting_since_ms,
            executors: self.waiting.map_or(0, |ask| ask.count),
            running: self.running,
            dominant_share: f64::max(
                share(allocated.memory_bytes as f64, all.memory_bytes as f64),
                share(f64::from(allocated.vcores), f64::from(all.vcores)),
            ),
            whole: false,
            remaining_share: self.remaining_share,
        }
    }
}
