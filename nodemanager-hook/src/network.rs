//! The network of containers: measured, and limited where the administrator allows it.
//!
//! [`Networks`] count what a group receives and sends, limit what it receives, and mark what it sends
//! with a class; [`Backend`] says by what. [`Shaper`] gives the classes their rates on one
//! [`Device`]. None of them knows containers or plans.
//!
//! `assembler` → `programs` → `bpf_networks`, over `bpf`, is the usual backend, `nft` and `net_prio`
//! are for hosts without it. `htb` → `link` → `shaper`, over `netlink`, is what they mark for.

mod assembler;
mod attachment;
mod backend;
#[allow(unsafe_code, reason = "bpf(2) has no safe wrapper")]
mod bpf;
mod bpf_networks;
mod device;
mod error;
mod htb;
mod link;
mod net_prio;
mod netlink;
mod networks;
mod nft;
mod programs;
mod shaper;
mod slots;
mod taken_file;

#[cfg(fuzzing)]
pub(crate) use self::{
    device::{in_ipv4_routes, in_ipv6_routes, speed_bytes_per_s},
    htb::Discipline,
    netlink::take_answers,
};
pub use assembler::AssembleError;
pub use attachment::{Mechanism, remove_leftovers};
pub use backend::{Backend, Chosen, PassedOver};
pub use bpf_networks::BpfNetworks;
pub use device::{Device, DeviceCounters, NoDeviceName};
pub use error::NetworkError;
pub use link::ShaperError;
pub use net_prio::NetPrioNetworks;
pub use networks::{GroupNetwork, NetworkCounters, Networks};
pub use nft::{GroupsBy, NftError, NftNetworks, remove_nft_table};
pub use shaper::{EgressClass, EgressRate, Shaper, restore};
pub use slots::{AllCounters, MOST_GROUPS, Slot};
