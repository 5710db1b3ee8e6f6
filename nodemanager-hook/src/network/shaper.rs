//! What the classes of a device may send: a hierarchical token bucket as its root.

use std::collections::BTreeMap;

use super::{
    device::Device,
    htb::ClassRate,
    link::{Link, ROOT, ShaperError, handle},
    slots::MOST_GROUPS,
};

/// The class of the whole link, in which all others are.
const WHOLE: u16 = 1;
/// The class of what has no class of its own: everything but the containers.
const REST: u16 = 2;
/// Priorities whose last four bits are equal are one to the kernel's default disciplines, which
/// devices without the agent's root have: there no container goes before another.
const MINOR_STEP: u16 = 16;
const _: () = assert!((MOST_GROUPS + 1) * (MINOR_STEP as u32) <= u16::MAX as u32);

/// What classes send in one round of turns, when they share what others leave of the link: what it
/// carries in 100 ms, or less on a fast link. A turn that is shorter than a packet of 64 KiB, as TCP
/// makes them before the device cuts them, gives its class more than its part: the most is enough
/// for parts of 1 %. Nobody waits for a turn to get his share.
const MOST_ROUND_BYTES: u64 = 100 * 64 * 1024;
const ROUNDS_PER_S: u64 = 10;
const LEAST_TURN_BYTES: u128 = 1600;

/// The least rate that makes sense, less than a packet each second.
const LEAST_BYTES_PER_S: u64 = 1024;

/// What is left to the rest of the node at least: one part of this many of the link.
const REST_PARTS: u64 = 20;

/// A class of egress traffic, the same on all devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EgressClass {
    minor: u16,
}

/// What the packets of a class get on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EgressRate {
    /// What the class gets when everybody wants to send, at least 1024. What others leave is shared
    /// in proportion to this.
    pub share_bytes_per_s: u64,
    /// What it gets at most, also where that is less than its share; nothing: what the link gives.
    pub cap_bytes_per_s: Option<u64>,
}

/// The agent's root on one device. It stays when this is dropped: [`Shaper::restore`] removes it.
#[derive(Debug)]
pub struct Shaper {
    link: Link,
    link_bytes_per_s: u64,
    shares_bytes_per_s: BTreeMap<EgressClass, u64>,
    rest_bytes_per_s: u64,
}

impl EgressClass {
    pub(super) fn new(slot: u32) -> Self {
        Self {
            // Slots are below MOST_GROUPS, for which there is room.
            minor: (slot as u16 + 1) * MINOR_STEP,
        }
    }

    /// The packet priority that leads to this class.
    pub fn priority(self) -> u32 {
        handle(self.minor).into()
    }
}

impl Shaper {
    /// Looks whether [`Self::prepare`] would find a root that it may replace; changes nothing.
    ///
    /// # Errors
    /// A root of somebody else; a device that is not there.
    pub fn check(device: &Device) -> Result<(), ShaperError> {
        Link::open(device)?.check_root(REST).map(|_| ())
    }

    /// Makes the agent's root on a device that has the kernel's default, or one that a killed agent
    /// left behind. Without further classes it shapes nothing but the link as a whole: everything
    /// may send at its rate.
    ///
    /// # Errors
    /// A root of somebody else; a device that is not there; without `CAP_NET_ADMIN`; a kernel
    /// without HTB.
    pub fn prepare(device: &Device, link_bytes_per_s: u64) -> Result<Self, ShaperError> {
        let mut link = Link::open(device)?;
        check(device, "the link's rate", link_bytes_per_s)?;
        link.make_root(REST)?;
        let mut shaper = Self {
            link,
            link_bytes_per_s,
            shares_bytes_per_s: BTreeMap::new(),
            rest_bytes_per_s: 0,
        };
        match shaper.make_first_classes() {
            Ok(()) => Ok(shaper),
            Err(error) => {
                // A root without its classes would pass everything by; the first error counts.
                let _ = shaper.restore();
                Err(error)
            }
        }
    }

    /// What the whole link carries.
    pub fn link_bytes_per_s(&self) -> u64 {
        self.link_bytes_per_s
    }

    /// Makes a class, or changes its rates. What it has in its queue stays there.
    ///
    /// The shares should stay below 95 % of the link in sum: what is above weakens everybody's, as
    /// the rest of the node keeps 5 %.
    ///
    /// # Errors
    /// Rates below 1024 bytes per second; what the kernel refuses.
    pub fn change(&mut self, class: EgressClass, rate: EgressRate) -> Result<(), ShaperError> {
        let EgressRate {
            share_bytes_per_s,
            cap_bytes_per_s,
        } = rate;
        check(self.link.device(), "the share", share_bytes_per_s)?;
        let ceil_bytes_per_s =
            cap_bytes_per_s.map_or(self.link_bytes_per_s, |cap| cap.min(self.link_bytes_per_s));
        check(self.link.device(), "the cap", ceil_bytes_per_s)?;
        let rate = self.class_rate(share_bytes_per_s, ceil_bytes_per_s);
        let before = self.shares_bytes_per_s.insert(class, rate.rate_bytes_per_s);
        // Who grows comes last, so that the shares never pass the link meanwhile.
        if before.is_none_or(|before| before < rate.rate_bytes_per_s) {
            self.change_rest()?;
        }
        let changed = self.link.set_class(WHOLE, class.minor, rate);
        if changed.is_err() {
            match before {
                Some(before) => self.shares_bytes_per_s.insert(class, before),
                None => self.shares_bytes_per_s.remove(&class),
            };
        }
        let rest = self.change_rest();
        changed.and(rest)
    }

    /// Removes a class with what is in its queue; packets that still have its priority count as the
    /// rest. A class that is not there is no error.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn remove(&mut self, class: EgressClass) -> Result<(), ShaperError> {
        if self.shares_bytes_per_s.contains_key(&class) {
            self.link.remove_class(class.minor)?;
            self.shares_bytes_per_s.remove(&class);
        }
        self.change_rest()
    }

    /// Removes the root with all classes, so that the device has the kernel's default again.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn restore(mut self) -> Result<(), ShaperError> {
        self.link.restore(REST).map(|_| ())
    }

    fn make_first_classes(&mut self) -> Result<(), ShaperError> {
        let whole = self.class_rate(self.link_bytes_per_s, self.link_bytes_per_s);
        self.link.set_class(ROOT, WHOLE, whole)?;
        self.change_rest()
    }

    fn class_rate(&self, share_bytes_per_s: u64, ceil_bytes_per_s: u64) -> ClassRate {
        let rate_bytes_per_s = share_bytes_per_s.min(ceil_bytes_per_s);
        let round_bytes = (self.link_bytes_per_s / ROUNDS_PER_S).min(MOST_ROUND_BYTES);
        let turn_bytes = u128::from(round_bytes) * u128::from(rate_bytes_per_s)
            / u128::from(self.link_bytes_per_s);
        ClassRate {
            rate_bytes_per_s,
            ceil_bytes_per_s,
            // At most a round, since no rate is above the link's.
            turn_bytes: turn_bytes.max(LEAST_TURN_BYTES) as u32,
        }
    }

    /// Gives the rest of the node what the shares leave of the link.
    fn change_rest(&mut self) -> Result<(), ShaperError> {
        let shares: u64 = self.shares_bytes_per_s.values().sum();
        let left = self.link_bytes_per_s.saturating_sub(shares);
        let share = left.max(self.link_bytes_per_s / REST_PARTS);
        let rate = self.class_rate(share, self.link_bytes_per_s);
        if self.rest_bytes_per_s != rate.rate_bytes_per_s {
            self.link.set_class(WHOLE, REST, rate)?;
            self.rest_bytes_per_s = rate.rate_bytes_per_s;
        }
        Ok(())
    }
}

/// Removes the root that a killed agent left on a device; says whether there was one. Roots of
/// others stay.
///
/// # Errors
/// A device that is not there; what the kernel refuses.
pub fn restore(device: &Device) -> Result<bool, ShaperError> {
    Link::open(device)?.restore(REST)
}

fn check(device: &Device, what: &'static str, bytes_per_s: u64) -> Result<(), ShaperError> {
    if bytes_per_s >= LEAST_BYTES_PER_S {
        return Ok(());
    }
    Err(ShaperError::Rate {
        device: device.clone(),
        what,
        bytes_per_s,
        least: LEAST_BYTES_PER_S,
    })
}
