//! A lock that notes how long each thread held it.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use crate::service::Service;

thread_local! {
    static HOLDS: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
}

/// How long this thread held the lock each time since the last call.
pub(super) fn take_holds() -> Vec<Duration> {
    HOLDS.take()
}

pub(crate) struct ServiceLock(Mutex<Service>);

impl ServiceLock {
    pub(crate) fn new(service: Service) -> Self {
        Self(Mutex::new(service))
    }

    pub(crate) fn lock(&self) -> Held<'_> {
        let service = self.0.lock();
        Held { service, since: Instant::now() }
    }
}

pub(crate) struct Held<'a> {
    service: MutexGuard<'a, Service>,
    since: Instant,
}

impl Deref for Held<'_> {
    type Target = Service;

    fn deref(&self) -> &Service {
        &self.service
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Service {
        &mut self.service
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let held = self.since.elapsed();
        HOLDS.with_borrow_mut(|holds| holds.push(held));
    }
}
