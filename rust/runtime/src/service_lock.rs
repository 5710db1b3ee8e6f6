//! The lock of the service, for which heartbeats wait. In unit tests it tells how long it was held.

#[cfg(test)]
mod tests;
#[cfg(test)]
mod timed;

#[cfg(not(test))]
pub(crate) type ServiceLock = parking_lot::Mutex<crate::service::Service>;
#[cfg(test)]
pub(crate) use timed::ServiceLock;
