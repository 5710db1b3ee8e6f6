//! The network of containers: measured, and limited where the administrator allows it.
//!
//! [`Network`] counts what a cgroup2 group receives and sends, limits what it receives, and marks
//! what it sends with a class. [`Shaper`] gives the classes their rates on one [`Device`]. Neither
//! knows containers or plans.
//!
//! `assembler` → `programs` → `groups`, over `bpf`, is the one half; `htb` → `link` → `shaper`,
//! over `netlink`, the other.

mod assembler;
mod attachment;
#[allow(unsafe_code, reason = "bpf(2) has no safe wrapper")]
mod bpf;
mod device;
mod error;
mod groups;
mod htb;
mod link;
mod netlink;
mod programs;
mod shaper;

pub use assembler::AssembleError;
pub use attachment::{Mechanism, remove_leftovers};
pub use device::{Device, DeviceCounters, NoDeviceName};
pub use error::NetworkError;
pub use groups::{AllCounters, GroupNetwork, MOST_GROUPS, Network, NetworkCounters};
pub use link::ShaperError;
pub use shaper::{EgressClass, EgressRate, Shaper, restore};
