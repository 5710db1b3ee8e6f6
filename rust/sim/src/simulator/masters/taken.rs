//! What the masters that run take of the limits of their queues and users.

use std::collections::HashMap;

use elastane_core::cluster::Request;

use crate::workload::ApplicationSpec;

/// What masters may take now; none for any amount.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::simulator) struct MastersLimits {
    /// All of the queue.
    pub(in crate::simulator) of_queue: Option<Request>,
    /// Those of the user in the queue.
    pub(in crate::simulator) of_user: Option<Request>,
}

/// By whose limits a master counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Payer {
    queue: usize,
    user: usize,
}

/// The requests of the masters that run.
#[derive(Debug, Default)]
pub(super) struct Taken {
    by_queue: Vec<Request>,
    by_user: Vec<Request>,
    /// By queue and name, the place of a user.
    users: HashMap<(usize, String), usize>,
}

impl Taken {
    pub(super) fn new(queues: usize) -> Self {
        Self { by_queue: vec![Request::default(); queues], ..Self::default() }
    }

    pub(super) fn payer(&mut self, application: &ApplicationSpec) -> Payer {
        let queue = application.queue;
        let place = self.by_user.len();
        let user = *self.users.entry((queue, application.user.clone())).or_insert(place);
        if user == place {
            self.by_user.push(Request::default());
        }
        Payer { queue, user }
    }

    /// Whether one more master may start. CapacityScheduler starts a queue's only one in any case.
    pub(super) fn has_room(
        &self,
        payer: Payer,
        request: Request,
        limits: impl Fn() -> MastersLimits,
    ) -> bool {
        let (of_queue, of_user) = (self.by_queue[payer.queue], self.by_user[payer.user]);
        let fits = |taken: Request, limit: Option<Request>| {
            limit.is_none_or(|limit| taken.plus(request).fits_into(limit))
        };
        of_queue == Request::default() || {
            let limits = limits();
            fits(of_queue, limits.of_queue) && fits(of_user, limits.of_user)
        }
    }

    pub(super) fn started(&mut self, payer: Payer, request: Request) {
        for taken in [&mut self.by_queue[payer.queue], &mut self.by_user[payer.user]] {
            *taken = taken.plus(request);
        }
    }

    pub(super) fn ended(&mut self, payer: Payer, request: Request) {
        for taken in [&mut self.by_queue[payer.queue], &mut self.by_user[payer.user]] {
            *taken = taken.minus(request);
        }
    }
}
