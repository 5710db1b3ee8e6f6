//! What a container takes of a node, and what a node has left.

use crate::amounts::Amounts;
use crate::cluster::bookable::Booked;

/// What a container takes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Load {
    /// What is booked for it.
    pub(super) booked: Booked,
    /// The mean of its demand.
    pub(super) mean: Amounts,
}

impl Load {
    fn plus(self, other: Load) -> Self {
        Self { booked: self.booked.plus(other.booked), mean: self.mean.plus(other.mean) }
    }

    /// Less what the other takes, and at least nothing.
    fn without(self, other: Load) -> Self {
        Self {
            booked: self.booked.minus(other.booked).max(Booked::default()),
            mean: self.mean.minus(other.mean).max(Amounts::ZERO),
        }
    }
}

/// What a node has left.
#[derive(Debug, Clone)]
pub(super) struct Room {
    /// The number of its label.
    pub(super) label: usize,
    /// Whether containers go there that ask for no label: it has none, or one that is not exclusive.
    pub(super) is_open: bool,
    /// Whether it is being taken out of the cluster, so that nothing starts there.
    pub(super) is_draining: bool,
    /// What CapacityScheduler may still book.
    pub(super) free: Booked,
    /// What is not booked of its registered size, where a starving application is placed by request.
    pub(super) registered: Booked,
    /// What the means leave of the node; none where CapacityScheduler alone decides.
    pub(super) left: Option<Amounts>,
    /// The part of these that is free because something ended at a time that is not predicted.
    pub(super) rough: Load,
}

impl Room {
    /// Whether a container goes there that asks for the label of this number; for no label without a number.
    pub(super) fn is_for(&self, label: Option<usize>) -> bool {
        label.map_or(self.is_open, |label| label == self.label)
    }

    /// Whether a container may start there by its demand, or by its request because it starves.
    pub(super) fn fits(&self, load: &Load, starves: bool) -> bool {
        self.fits_beside(Load::default(), load, starves)
    }

    /// Whether it may start there only because of what is rough.
    pub(super) fn is_rough_for(&self, load: &Load, starves: bool) -> bool {
        !self.fits_beside(self.rough, load, starves)
    }

    fn fits_beside(&self, other: Load, load: &Load, starves: bool) -> bool {
        let with = load.plus(other);
        let excess = |left: Amounts| with.mean.zip(left, |mean, left| (mean - left).max(0));
        let fits = |left: Amounts| excess(left) == Amounts::ZERO;
        with.booked.fits_into(self.free) && self.left.is_none_or(fits)
            || starves && with.booked.fits_into(self.registered)
    }

    pub(super) fn take(&mut self, load: &Load, is_rough: bool) {
        self.free = self.free.minus(load.booked);
        self.registered = self.registered.minus(load.booked);
        self.left = self.left.map(|left| left.minus(load.mean));
        if is_rough {
            self.rough = self.rough.without(*load);
        }
    }

    pub(super) fn give_back(&mut self, load: &Load, is_rough: bool) {
        self.free = self.free.plus(load.booked);
        self.registered = self.registered.plus(load.booked);
        self.left = self.left.map(|left| left.plus(load.mean));
        if is_rough {
            self.rough = self.rough.plus(*load);
        }
    }
}
