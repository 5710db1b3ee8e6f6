//! The network of groups by nftables, for hosts whose kernel takes no BPF programs on groups.

pub(super) mod program;
mod script;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use program::NftError;

use parking_lot::Mutex;

use self::{
    program::{Counter, Nft},
    script::{DROPPED, GroupRules, Match, RECEIVED, SENT},
};
use super::{
    error::NetworkError,
    networks::{AllCounters, GroupNetwork, NetworkCounters, Networks},
    shaper::EgressClass,
    slots::{Slot, SlotNumbers},
    tags::ClassId,
};
use crate::cgroups::NetworkGroups;

/// The only place where `nft` looks for groups of version 2.
pub const CGROUP2: &str = "/sys/fs/cgroup";
/// Not a class of the agent's; for probing whether the kernel accepts such a rule.
const PROBED_CLASS_ID: u32 = 1;

/// How rules match a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupsBy {
    /// By the path in version 2.
    Path,
    /// By the class id of a `net_cls` group.
    ClassId,
}

impl GroupsBy {
    pub fn groups(self) -> NetworkGroups {
        match self {
            Self::Path => NetworkGroups::Version2,
            Self::ClassId => NetworkGroups::NetCls,
        }
    }
}

/// The agent's table of rules. Dropping this and all groups removes the table.
#[derive(Debug)]
pub struct NftNetworks {
    groups_by: GroupsBy,
    slots: Arc<SlotNumbers>,
    table: Arc<Table>,
}

/// The agent's table; removed when the last owner drops it.
#[derive(Debug)]
struct Table {
    nft: Nft,
    /// Groups that ended while `nft` did not run.
    left: Mutex<Vec<EndedGroup>>,
}

/// A group whose rules are to be removed.
#[derive(Debug)]
struct EndedGroup {
    script: String,
    is_told: bool,
    /// Kept until then: what another group with these numbers sends would be counted by the old rules too.
    _numbers: Arc<Numbers>,
}

#[derive(Debug)]
struct Numbers {
    slot: Slot,
    /// Resets the class id.
    _class_id: Option<ClassId>,
}

#[derive(Debug)]
struct NftGroup {
    handles: [u64; 2],
    rules: GroupRules,
    numbers: Arc<Numbers>,
    table: Arc<Table>,
}

impl NftNetworks {
    /// Probes whether `nft` and the kernel accept the rules; changes nothing.
    pub fn check(groups_by: GroupsBy) -> Result<(), NetworkError> {
        let mut script = script::make_table();
        // A rule with a path needs an existing group.
        if groups_by == GroupsBy::ClassId {
            script += &script::add_group(0, &Match::ClassId(PROBED_CLASS_ID));
        }
        Ok(Nft::default().check(&script)?)
    }

    /// Creates the table; replaces the table that a killed agent left.
    pub fn open(groups_by: GroupsBy) -> Result<Self, NetworkError> {
        let nft = Nft::default();
        nft.apply(&script::make_table())?;
        Ok(Self { groups_by, slots: Arc::default(), table: Arc::new(Table::of(nft)) })
    }
}

impl Networks for NftNetworks {
    /// A process that joins the group later brings its open sockets along in `net_cls`, but not in
    /// version 2.
    fn attach(&self, group: &Path) -> Result<Box<dyn GroupNetwork>, NetworkError> {
        self.table.remove(None);
        let slot = SlotNumbers::take(&self.slots).ok_or_else(|| NetworkError::full(group))?;
        let (by, class_id) = match self.groups_by {
            GroupsBy::Path => (Match::Path(below_cgroup2(group)?), None),
            GroupsBy::ClassId => {
                let id = EgressClass::new(&slot).priority();
                (Match::ClassId(id), Some(ClassId::set(group, id)?))
            }
        };
        let number = slot.number();
        let script = script::add_group(number, &by);
        let handles = self.table.nft.add_rules(&script, script::CHAINS)?;
        Ok(Box::new(NftGroup {
            handles,
            rules: GroupRules::default(),
            numbers: Arc::new(Numbers { slot, _class_id: class_id }),
            table: Arc::clone(&self.table),
        }))
    }

    fn read(&self) -> io::Result<AllCounters> {
        let counters = self.table.nft.counters().map_err(not_read)?;
        let count = self.slots.count();
        let all = (0..count).map(|number| counters_of(number, &counters));
        Ok(AllCounters(all.collect()))
    }

    fn counts(&self) -> bool {
        !self.table.nft.has_hung()
    }
}

impl GroupNetwork for NftGroup {
    fn slot(&self) -> &Slot {
        &self.numbers.slot
    }

    /// Bursts of one second and 64 KiB pass.
    fn set_receive_rate(&mut self, bytes_per_s: Option<u64>) -> io::Result<()> {
        self.set(GroupRules { receive_bytes_per_s: bytes_per_s, ..self.rules })
    }

    fn set_priority(&mut self, priority: Option<u32>) -> io::Result<()> {
        self.set(GroupRules { send_priority: priority, ..self.rules })
    }
}

impl NftGroup {
    fn set(&mut self, rules: GroupRules) -> io::Result<()> {
        if rules != self.rules {
            let script = script::set_rules(self.numbers.slot.number(), rules);
            self.table.nft.apply(&script).map_err(io::Error::other)?;
            self.rules = rules;
        }
        Ok(())
    }
}

impl Drop for NftGroup {
    fn drop(&mut self) {
        let script = script::remove_group(self.numbers.slot.number(), self.handles);
        self.table.remove(Some(EndedGroup {
            script,
            is_told: false,
            _numbers: Arc::clone(&self.numbers),
        }));
    }
}

impl Table {
    fn of(nft: Nft) -> Self {
        Self { nft, left: Mutex::default() }
    }

    /// Removes the rules of this group and of those before it that are left. A group whose rules cannot be removed because
    /// `nft` does not run now is left for the next call.
    fn remove(&self, ended: Option<EndedGroup>) {
        let mut left = self.left.lock();
        left.extend(ended);
        left.retain_mut(|group| match self.nft.apply(&group.script) {
            Ok(()) => false,
            Err(error) => {
                if !std::mem::replace(&mut group.is_told, true) {
                    log::warn!("cannot remove the nft rules of a group: {error}");
                }
                error.may_pass()
            }
        });
    }
}

/// Removes the table that a killed agent left.
pub fn remove_nft_table() -> Result<(), NftError> {
    Nft::default().apply(&script::remove_table())
}

impl Drop for Table {
    fn drop(&mut self) {
        if let Err(error) = self.nft.apply(&script::remove_table()) {
            log::warn!("cannot remove the agent's nft table: {error}");
        }
    }
}

fn not_read(error: NftError) -> io::Error {
    let kind = match error {
        NftError::StillReads => io::ErrorKind::WouldBlock,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

fn counters_of(number: u32, counters: &BTreeMap<String, Counter>) -> NetworkCounters {
    let of = |name: &str| {
        let counter = counters.get(&format!("{name}{number}"));
        counter.copied().unwrap_or_default()
    };
    NetworkCounters {
        received_bytes: of(RECEIVED).bytes,
        sent_bytes: of(SENT).bytes,
        dropped_packets: of(DROPPED).packets,
    }
}

/// The path as `nft` takes it; a path that would end the quotes is refused.
fn below_cgroup2(group: &Path) -> Result<String, NetworkError> {
    let is_plain = |path: &&str| {
        !path.is_empty()
            && path
                .chars()
                .all(|letter| letter.is_ascii_graphic() && !['"', '\\'].contains(&letter))
    };
    let below = group.strip_prefix(CGROUP2).ok();
    let path = below.and_then(Path::to_str).filter(is_plain);
    path.map(str::to_owned).ok_or_else(|| NetworkError::NotCgroup2 { group: PathBuf::from(group) })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_group_that_ends_while_nft_does_not_run_keeps_its_numbers_until_its_rules_are_gone() {
        let directory = tempfile::tempdir().unwrap();
        let (nft, calls) = Nft::that_notes_its_calls(directory.path());
        let slots = Arc::default();
        let table = Arc::new(Table::of(nft));
        let networks = NftNetworks {
            groups_by: GroupsBy::Path,
            slots: Arc::clone(&slots),
            table: Arc::clone(&table),
        };
        let slot = SlotNumbers::take(&slots).unwrap();
        let numbers = Arc::new(Numbers { slot, _class_id: None });
        let rules = GroupRules::default();
        table.nft.pause();
        drop(NftGroup { handles: [7, 8], rules, numbers, table });

        let other = SlotNumbers::take(&slots).unwrap();
        assert_eq!(other.number(), 1, "the number of the ended group is in use");
        assert!(!calls.exists(), "nft was run");

        networks.table.nft.go_on();
        // The program answers nothing that is understood.
        assert!(networks.attach(Path::new("/sys/fs/cgroup/a")).is_err());
        assert!(fs::read_to_string(&calls).unwrap().contains("handle 7"));
        assert_eq!(SlotNumbers::take(&slots).unwrap().number(), 0);
    }

    #[test]
    fn only_plain_paths_of_version_2_are_passed_to_nft() {
        let told = |path: &str| below_cgroup2(Path::new(path)).ok();
        assert_eq!(told("/sys/fs/cgroup/elastane/a"), Some("elastane/a".into()));
        for other in
            ["/sys/fs/cgroup", "/tmp/a", "/sys/fs/cgroup/a\" accept", "/sys/fs/cgroup/a\nb"]
        {
            assert_eq!(told(other), None, "{other}");
        }
    }
}
