//! Which mechanism measures and limits the network of groups on this host.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    bpf_networks::BpfNetworks,
    device::NetworkDevice,
    error::NetworkError,
    net_prio::NetPrioNetworks,
    networks::Networks,
    nft::{CGROUP2, GroupsBy, NftNetworks},
};
use crate::cgroups::{Hierarchies, NetworkGroups};

/// The mechanisms, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// BPF programs on cgroup2 groups: count traffic, limit received and classify sent traffic.
    Bpf,
    /// nftables rules, which do the same. Each reading runs `nft`.
    Nft,
    /// `net_prio` of cgroup v1: classifies sent traffic only.
    NetPrio,
}

/// A backend that works on this host. Choosing a backend changes nothing.
#[derive(Debug)]
pub enum ChosenBackend {
    /// The maps exist; no program is attached.
    Bpf(BpfNetworks),
    /// How the rules will match groups.
    Nft(GroupsBy),
    /// For the devices that are shaped.
    NetPrio(NetPrioNetworks),
}

impl Backend {
    pub const ALL: [Self; 3] = [Self::Bpf, Self::Nft, Self::NetPrio];

    /// Probes the backends in order, or the wanted one alone, and changes nothing. Also returns
    /// why the backends before the chosen one do not work; empty if the first one works.
    pub fn choose(
        wanted: Option<Self>,
        hierarchies: &Hierarchies,
        devices: &[NetworkDevice],
    ) -> (Option<ChosenBackend>, String) {
        let mut passed_over = Vec::new();
        let tried = Self::ALL.into_iter();
        for backend in tried.filter(|one| wanted.is_none_or(|wanted| wanted == *one)) {
            match backend.try_on(hierarchies, devices) {
                Ok(chosen) => return (Some(chosen), passed_over.join("; ")),
                Err(error) => passed_over.push(format!("{backend}: {error}")),
            }
        }
        (None, passed_over.join("; "))
    }

    fn try_on(
        self,
        hierarchies: &Hierarchies,
        devices: &[NetworkDevice],
    ) -> Result<ChosenBackend, NetworkError> {
        let need = |groups: NetworkGroups| {
            let what = groups.name();
            let offered = hierarchies.offer_network(groups);
            offered.ok_or(NetworkError::NotMounted { what })
        };
        match self {
            Self::Bpf => {
                need(NetworkGroups::Version2)?;
                Ok(ChosenBackend::Bpf(BpfNetworks::open()?))
            }
            Self::Nft => {
                let version_2 = need(NetworkGroups::Version2);
                let is_found = version_2.is_ok_and(|one| one.mount_point() == CGROUP2);
                let groups_by = if is_found { GroupsBy::Path } else { GroupsBy::ClassId };
                need(groups_by.groups())?;
                NftNetworks::check(groups_by)?;
                Ok(ChosenBackend::Nft(groups_by))
            }
            Self::NetPrio => {
                let networks = NetPrioNetworks::open(devices.to_vec())?;
                need(NetworkGroups::NetPrio)?;
                Ok(ChosenBackend::NetPrio(networks))
            }
        }
    }
}

impl ChosenBackend {
    pub fn backend(&self) -> Backend {
        match self {
            Self::Bpf(_) => Backend::Bpf,
            Self::Nft(_) => Backend::Nft,
            Self::NetPrio(_) => Backend::NetPrio,
        }
    }

    /// The hierarchy whose groups the backend works on.
    pub fn groups(&self) -> NetworkGroups {
        match self {
            Self::Bpf(_) => NetworkGroups::Version2,
            Self::Nft(groups_by) => groups_by.groups(),
            Self::NetPrio(_) => NetworkGroups::NetPrio,
        }
    }

    /// Starts the backend. Removes what a killed agent's backend of the same kind left.
    pub fn open(self) -> Result<Box<dyn Networks>, NetworkError> {
        Ok(match self {
            Self::Bpf(networks) => Box::new(networks),
            Self::Nft(groups_by) => Box::new(NftNetworks::open(groups_by)?),
            Self::NetPrio(networks) => Box::new(networks),
        })
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
