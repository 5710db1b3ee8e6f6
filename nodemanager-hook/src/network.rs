//! The network of containers: measured, and limited where the administrator allows.
//!
//! [`Networks`] counts the traffic of groups, limits received traffic and marks sent packets with a
//! class; [`Backend`] is the mechanism. [`Shaper`] gives the classes their rates on one
//! [`NetworkDevice`]. None of these knows containers or plans.
//!
//! The usual backend is `instructions` → `programs` → `bpf_networks`, over `bpf`; `nft` and `net_prio`
//! are for hosts without BPF. Classes get their rates by `htb` → `link` → `shaper`, over `netlink`.
#![allow(missing_docs, reason = "public for the integration tests only")]

mod backend;
#[allow(unsafe_code, reason = "bpf(2) has no safe wrapper")]
mod bpf;
mod bpf_networks;
mod device;
mod error;
mod htb;
mod instructions;
mod link;
mod net_prio;
mod networks;
mod nft;
mod programs;
mod shaper;
mod slots;
mod tags;

#[cfg(fuzzing)]
pub(crate) use self::{
    device::{in_ipv4_routes, in_ipv6_routes, speed_bytes_per_s},
    htb::Discipline,
};
pub use backend::{Backend, ChosenBackend};
pub use bpf::programs_attached;
pub use bpf_networks::BpfNetworks;
pub use device::{DeviceCounters, NetworkDevice};
pub use error::NetworkError;
pub use link::ShaperError;
pub use net_prio::NetPrioNetworks;
pub use networks::{AllCounters, GroupNetwork, NetworkCounters, Networks};
pub use nft::{GroupsBy, NftError, NftNetworks, remove_nft_table};
pub use shaper::{EgressClass, EgressRate, Shaper, restore};
pub use slots::{MOST_GROUPS, Slot};
