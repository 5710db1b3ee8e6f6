//! By what the networks of groups are measured and limited on a host: the first that works.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    bpf_networks::BpfNetworks,
    device::Device,
    error::NetworkError,
    net_prio::NetPrioNetworks,
    networks::Networks,
    nft::{CGROUP2, GroupsBy, NftNetworks},
};
use crate::cgroups::{Hierarchies, NetworkGroups};

/// What there is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// Programs on cgroup2 groups: counts, limits what is received, and marks what is sent.
    Bpf,
    /// Rules of nftables, which do the same; each reading runs `nft`.
    Nft,
    /// Priorities in version 1: marks what is sent and nothing else.
    NetPrio,
}

/// A backend that works on this host, with the groups that it works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    /// By what.
    pub backend: Backend,
    /// On which.
    pub groups: NetworkGroups,
}

/// Backends that do not work on this host, and why.
#[derive(Debug, Default)]
pub struct PassedOver(Vec<(Backend, NetworkError)>);

impl Backend {
    /// All of them, best first.
    pub const ALL: [Self; 3] = [Self::Bpf, Self::Nft, Self::NetPrio];

    /// Tries one after the other, or the wanted one alone, and changes nothing. Gives why those
    /// before the chosen one do not work, too.
    pub fn choose(
        wanted: Option<Self>,
        hierarchies: &Hierarchies,
        devices: &[Device],
    ) -> (Option<Chosen>, PassedOver) {
        let mut passed_over = PassedOver::default();
        let tried = Self::ALL.into_iter();
        for backend in tried.filter(|one| wanted.is_none_or(|wanted| wanted == *one)) {
            match backend.check(hierarchies, devices) {
                Ok(groups) => return (Some(Chosen { backend, groups }), passed_over),
                Err(error) => passed_over.0.push((backend, error)),
            }
        }
        (None, passed_over)
    }

    fn check(
        self,
        hierarchies: &Hierarchies,
        devices: &[Device],
    ) -> Result<NetworkGroups, NetworkError> {
        let need = |groups: NetworkGroups| {
            let is_there = hierarchies.offer_network(groups).is_some();
            let missing = || NetworkError::NotMounted {
                what: groups.name(),
            };
            is_there.then_some(groups).ok_or_else(missing)
        };
        match self {
            Self::Bpf => {
                let groups = need(NetworkGroups::Version2)?;
                BpfNetworks::open()?;
                Ok(groups)
            }
            Self::Nft => {
                let version_2 = hierarchies.offer_network(NetworkGroups::Version2);
                let groups = match version_2.is_some_and(|one| one.mount_point() == CGROUP2) {
                    true => NetworkGroups::Version2,
                    false => need(NetworkGroups::NetCls)?,
                };
                NftNetworks::check(groups_by(groups))?;
                Ok(groups)
            }
            Self::NetPrio => {
                NetPrioNetworks::open(devices.to_vec())?;
                need(NetworkGroups::NetPrio)
            }
        }
    }
}

impl Chosen {
    /// # Errors
    /// What has come about since it was chosen.
    pub fn open(self, devices: &[Device]) -> Result<Box<dyn Networks>, NetworkError> {
        Ok(match self.backend {
            Backend::Bpf => Box::new(BpfNetworks::open()?),
            Backend::Nft => Box::new(NftNetworks::open(groups_by(self.groups))?),
            Backend::NetPrio => Box::new(NetPrioNetworks::open(devices.to_vec())?),
        })
    }
}

fn groups_by(groups: NetworkGroups) -> GroupsBy {
    match groups {
        NetworkGroups::Version2 => GroupsBy::Path,
        NetworkGroups::NetCls | NetworkGroups::NetPrio => GroupsBy::ClassId,
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str(match self {
            Self::Bpf => "BPF",
            Self::Nft => "nft",
            Self::NetPrio => "net_prio",
        })
    }
}

impl PassedOver {
    /// Whether the first that was tried works.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for PassedOver {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (backend, error)) in self.0.iter().enumerate() {
            let separator = if place == 0 { "" } else { "; " };
            write!(text, "{separator}{backend}: {error}")?;
        }
        Ok(())
    }
}
