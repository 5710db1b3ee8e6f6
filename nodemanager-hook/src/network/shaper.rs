//! The rates of the classes of a device: a hierarchical token bucket as its root.

use std::collections::BTreeMap;

use nix::errno::Errno;

use super::{
    device::NetworkDevice,
    htb::ClassRate,
    link::{Link, REST, ROOT, ShaperError, handle},
    slots::{MOST_GROUPS, Slot},
};

/// The class of the whole link and parent of all others.
const WHOLE: u16 = 1;
/// The kernel's default disciplines only read the last four bits of a priority. With this step all
/// containers are equal there: no container goes first on devices without the agent's root.
const MINOR_STEP: u16 = 16;
const _: () = assert!((MOST_GROUPS + 1) * (MINOR_STEP as u32) <= u16::MAX as u32);

/// The bytes of one round of turns, when classes share spare bandwidth: what the link carries in
/// 100 ms, or less on a fast link. TCP makes packets of up to 64 KiB, which the device segments; a
/// turn shorter than such a packet gives its class more than its share. The maximum suffices for
/// shares of 1 %. Guaranteed rates do not wait for a turn.
const MOST_ROUND_BYTES: u64 = 100 * 64 * 1024;
const ROUNDS_PER_S: u64 = 10;
const LEAST_TURN_BYTES: u128 = 1600;

/// The lowest rate: less than one packet per second.
const LEAST_BYTES_PER_S: u64 = 1024;

/// The rest of the node keeps at least 1 / `REST_PARTS` of the link.
const REST_PARTS: u64 = 20;

/// A class of sent traffic, the same on all devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EgressClass {
    minor: u16,
}

/// The rates of a class on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EgressRate {
    /// Guaranteed rate, at least 1024. Spare bandwidth is shared in proportion to it.
    pub share_bytes_per_s: u64,
    /// Maximum, even if below the share; `None`: the rate of the link.
    pub cap_bytes_per_s: Option<u64>,
}

/// The agent's root on one device. It survives dropping this; [`Shaper::restore`] removes it.
#[derive(Debug)]
pub struct Shaper {
    link: Link,
    link_bytes_per_s: u64,
    shares_bytes_per_s: BTreeMap<EgressClass, u64>,
    rest_bytes_per_s: u64,
}

impl EgressClass {
    pub(super) fn new(slot: &Slot) -> Self {
        Self {
            // The assertion above bounds the product.
            minor: (slot.number() as u16 + 1) * MINOR_STEP,
        }
    }

    /// The packet priority that selects this class.
    pub fn priority(self) -> u32 {
        handle(self.minor).into()
    }
}

impl Shaper {
    /// Checks whether [`Self::prepare`] may replace the root; changes nothing. Fails for a root of
    /// another owner.
    pub fn check(device: &NetworkDevice) -> Result<(), ShaperError> {
        Link::open(device)?.check_root().map(|_| ())
    }

    /// Creates the agent's root in place of the kernel's default or of a killed agent's root. Until
    /// [`Self::change`] adds classes, all traffic may use the whole link. Fails for a root of
    /// another owner.
    pub fn prepare(device: &NetworkDevice, link_bytes_per_s: u64) -> Result<Self, ShaperError> {
        let mut link = Link::open(device)?;
        check(device, "the link's rate", link_bytes_per_s)?;
        link.make_root()?;
        let mut shaper = Self {
            link,
            link_bytes_per_s,
            shares_bytes_per_s: BTreeMap::new(),
            rest_bytes_per_s: 0,
        };
        let whole = shaper.class_rate(link_bytes_per_s, link_bytes_per_s);
        let made = shaper.link.set_class(ROOT, WHOLE, whole);
        if let Err(error) = made.and_then(|()| shaper.change_rest()) {
            // A root without its classes would not shape anything. Report the first error.
            let _ = shaper.restore();
            return Err(error);
        }
        Ok(shaper)
    }

    pub fn link_bytes_per_s(&self) -> u64 {
        self.link_bytes_per_s
    }

    /// Creates a class or changes its rates; queued packets stay.
    ///
    /// The sum of the shares should stay below 95 % of the link: the rest of the node keeps 5 %, so
    /// that a larger sum weakens every share. Rates below 1024 bytes per second are refused.
    pub fn change(&mut self, class: EgressClass, rate: EgressRate) -> Result<(), ShaperError> {
        let link_bytes_per_s = self.link_bytes_per_s;
        check(self.link.device(), "the share", rate.share_bytes_per_s)?;
        let ceil_bytes_per_s = rate.cap_bytes_per_s.unwrap_or(link_bytes_per_s);
        let ceil_bytes_per_s = ceil_bytes_per_s.min(link_bytes_per_s);
        check(self.link.device(), "the cap", ceil_bytes_per_s)?;
        let rate = self.class_rate(rate.share_bytes_per_s, ceil_bytes_per_s);
        let before = self.shares_bytes_per_s.insert(class, rate.rate_bytes_per_s);
        // Growth comes last, so that the guaranteed rates never exceed the link.
        if before.is_none_or(|before| before < rate.rate_bytes_per_s) {
            self.change_rest()?;
        }
        self.link.set_class(WHOLE, class.minor, rate)?;
        self.change_rest()
    }

    /// Removes a class and its queued packets. Packets that still have its priority count as
    /// unclassified. A missing class is not an error.
    pub fn remove(&mut self, class: EgressClass) -> Result<(), ShaperError> {
        if self.shares_bytes_per_s.contains_key(&class) {
            self.link.remove_class(class.minor)?;
            self.shares_bytes_per_s.remove(&class);
        }
        self.change_rest()
    }

    pub fn device(&self) -> &NetworkDevice {
        self.link.device()
    }

    /// Removes the root with all classes; the device returns to the kernel's default.
    pub fn restore(mut self) -> Result<(), ShaperError> {
        self.link.restore().map(|_| ())
    }

    fn class_rate(&self, share_bytes_per_s: u64, ceil_bytes_per_s: u64) -> ClassRate {
        let rate_bytes_per_s = share_bytes_per_s.min(ceil_bytes_per_s);
        let round_bytes = (self.link_bytes_per_s / ROUNDS_PER_S).min(MOST_ROUND_BYTES);
        let turn_bytes = u128::from(round_bytes) * u128::from(rate_bytes_per_s)
            / u128::from(self.link_bytes_per_s);
        ClassRate {
            rate_bytes_per_s,
            ceil_bytes_per_s,
            // At most a round, since no rate exceeds the link's.
            turn_bytes: turn_bytes.max(LEAST_TURN_BYTES) as u32,
        }
    }

    /// Gives the rest of the node the bandwidth that no class has as its share.
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

/// Removes the root that a killed agent left on a device; returns whether there was one. Roots of
/// other owners stay.
pub fn restore(device: &NetworkDevice) -> Result<bool, ShaperError> {
    match Link::open(device) {
        // A device that is gone has taken its root along.
        Err(ShaperError::Kernel { source, .. })
            if source.raw_os_error() == Some(Errno::ENODEV as i32) =>
        {
            Ok(false)
        }
        opened => opened?.restore(),
    }
}

fn check(device: &NetworkDevice, what: &'static str, bytes_per_s: u64) -> Result<(), ShaperError> {
    if bytes_per_s >= LEAST_BYTES_PER_S {
        return Ok(());
    }
    Err(ShaperError::Rate { device: device.clone(), what, bytes_per_s, least: LEAST_BYTES_PER_S })
}
