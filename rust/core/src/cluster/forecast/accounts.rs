//! What queues and users may still take of the nodes of each label.

use std::collections::HashMap;
use std::sync::Arc;

use crate::cluster::bookable::Booked;

/// What may still be taken in one name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Purse {
    pub(super) room: Booked,
    /// The part of it that is free because something ended at a time that is not predicted.
    pub(super) rough: Booked,
}

impl Purse {
    fn new(room: Booked) -> Self {
        Self { room, rough: Booked::default() }
    }
}

/// A leaf queue on the nodes of one label.
#[derive(Debug, Clone)]
pub(super) struct Account {
    pub(super) queue: usize,
    /// The numbers of the purses of the queue and of those above it.
    pub(super) purses: Vec<usize>,
    pub(super) taken: Booked,
    pub(super) guaranteed: Booked,
}

/// Queues, labels and users by number, and what they may take.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    labels: HashMap<Arc<str>, usize>,
    queues: HashMap<Arc<str>, usize>,
    by_queue_and_label: HashMap<(usize, usize), usize>,
    by_path: HashMap<(Arc<str>, usize), usize>,
    users: HashMap<(usize, Arc<str>), usize>,
    pub(super) purses: Vec<Purse>,
    pub(super) accounts: Vec<Account>,
    /// By account and user, where the user has a limit.
    pub(super) of_users: HashMap<(usize, usize), Option<Purse>>,
}

fn number(of: &mut HashMap<Arc<str>, usize>, name: &Arc<str>) -> usize {
    let next = of.len();
    of.get(name).copied().unwrap_or_else(|| *of.entry(Arc::clone(name)).or_insert(next))
}

impl Accounts {
    pub(super) fn label(&mut self, label: &Arc<str>) -> usize {
        number(&mut self.labels, label)
    }

    /// The number of a label that a node has.
    pub(super) fn known_label(&self, label: &str) -> Option<usize> {
        self.labels.get(label).copied()
    }

    pub(super) fn queue(&mut self, queue: &str) -> usize {
        match self.queues.get(queue) {
            Some(queue) => *queue,
            None => number(&mut self.queues, &queue.into()),
        }
    }

    pub(super) fn queue_count(&self) -> usize {
        self.queues.len()
    }

    pub(super) fn user(&mut self, queue: usize, user: &Arc<str>) -> usize {
        let next = self.users.len();
        *self.users.entry((queue, Arc::clone(user))).or_insert(next)
    }

    pub(super) fn known(&self, queue: usize, label: usize) -> Option<usize> {
        self.by_queue_and_label.get(&(queue, label)).copied()
    }

    /// Opens the account of a leaf queue. `rooms` has what it and each queue above it may still take, by path.
    pub(super) fn open(
        &mut self,
        (queue, label): (usize, usize),
        (taken, guaranteed): (Booked, Booked),
        rooms: impl Iterator<Item = (Arc<str>, Booked)>,
    ) -> usize {
        let purses = rooms.map(|(path, room)| {
            *self.by_path.entry((path, label)).or_insert_with(|| {
                self.purses.push(Purse::new(room));
                self.purses.len() - 1
            })
        });
        let purses = purses.collect();
        self.accounts.push(Account { queue, purses, taken, guaranteed });
        let account = self.accounts.len() - 1;
        self.by_queue_and_label.insert((queue, label), account);
        account
    }

    /// Opens what a user may take of an account, unless that is known.
    pub(super) fn open_user(
        &mut self,
        account_and_user: (usize, usize),
        left: impl FnOnce() -> Option<Booked>,
    ) {
        let of_user = self.of_users.entry(account_and_user);
        of_user.or_insert_with(|| left().map(Purse::new));
    }

    /// Whether a container may start in these names.
    pub(super) fn admit(&self, names: (usize, usize), booked: Booked) -> bool {
        self.admit_without(names, booked, |_| Booked::default())
    }

    /// Whether a container may start in the name of somebody in this queue.
    pub(super) fn admit_any(&self, account: usize, booked: Booked) -> bool {
        let mut purses = self.accounts[account].purses.iter();
        purses.all(|purse| booked.fits_into(self.purses[*purse].room))
    }

    /// Whether a user has all that its limit allows.
    pub(super) fn is_user_at_limit(&self, account_and_user: (usize, usize)) -> bool {
        let of_user = self.of_users.get(&account_and_user).and_then(Option::as_ref);
        of_user.is_some_and(|purse| !Booked::default().fits_into(purse.room))
    }

    /// Whether it may start only because of what is rough.
    pub(super) fn is_rough_for(&self, names: (usize, usize), booked: Booked) -> bool {
        !self.admit_without(names, booked, |purse| purse.rough)
    }

    /// As in CapacityScheduler, a user may exceed the limit by one container.
    fn admit_without(
        &self,
        (account, user): (usize, usize),
        booked: Booked,
        part: impl Fn(&Purse) -> Booked,
    ) -> bool {
        let left = |purse: &Purse| purse.room.minus(part(purse));
        let of_user = self.of_users.get(&(account, user)).and_then(Option::as_ref);
        let mut purses = self.accounts[account].purses.iter();
        purses.all(|purse| booked.fits_into(left(&self.purses[*purse])))
            && of_user.is_none_or(|purse| Booked::default().fits_into(left(purse)))
    }

    /// Whether a container of this size would exceed what these names may take.
    pub(super) fn is_at_limit(&self, names: (usize, usize), memory_bytes: i64) -> bool {
        !self.admit(names, Booked { memory_bytes, millivcores: 0 })
    }

    pub(super) fn take(&mut self, (account, user): (usize, usize), booked: Booked, is_rough: bool) {
        self.change((account, user), |purse| {
            purse.room = purse.room.minus(booked);
            if is_rough {
                purse.rough = purse.rough.minus(booked).max(Booked::default());
            }
        });
        let taken = &mut self.accounts[account].taken;
        *taken = taken.plus(booked);
    }

    pub(super) fn give_back(
        &mut self,
        (account, user): (usize, usize),
        booked: Booked,
        is_rough: bool,
    ) {
        self.change((account, user), |purse| {
            purse.room = purse.room.plus(booked);
            if is_rough {
                purse.rough = purse.rough.plus(booked);
            }
        });
        let taken = &mut self.accounts[account].taken;
        *taken = taken.minus(booked);
    }

    fn change(&mut self, (account, user): (usize, usize), change: impl Fn(&mut Purse)) {
        let Self { accounts, purses, of_users, .. } = self;
        for purse in &accounts[account].purses {
            change(&mut purses[*purse]);
        }
        if let Some(Some(purse)) = of_users.get_mut(&(account, user)) {
            change(purse);
        }
    }
}

impl Account {
    /// CapacityScheduler serves the queue first that has the smallest part of its guarantee.
    pub(super) fn served(&self) -> f64 {
        self.taken.over(self.guaranteed, f64::INFINITY).memory
    }
}
