//! Scripts for `nft`: one table of the agent's, with two chains and three counters per group.
//!
//! In version 2 the kernel finds the group of a packet's socket by its path, in version 1 by the
//! class id (`net_cls`) that the agent gave the group.

/// The agent's table.
pub const TABLE: &str = "inet elastane";
// Prefixes of counters; a group's number follows.
pub const RECEIVED: &str = "received_";
pub const SENT: &str = "sent_";
pub const DROPPED: &str = "dropped_";
const COUNTERS: [&str; 3] = [RECEIVED, SENT, DROPPED];
/// The base chains. A chain of each group extends each of them.
pub const CHAINS: [&str; 2] = ["receive", "send"];

/// Packets up to this size pass a receive limit, as with BPF.
const SMALL_PACKET_BYTES: u32 = 128;
/// Burst beyond the one second of nft's bucket: one packet, as the card hands it over.
const BURST_BYTES: u32 = 64 * 1024;

/// How packets of a group are matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// The path below `/sys/fs/cgroup`, without quotes and escapes.
    Path(String),
    /// The class id of a `net_cls` group.
    ClassId(u32),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupRules {
    pub receive_bytes_per_s: Option<u64>,
    pub send_priority: Option<u32>,
}

/// Creates the table anew; removes the table that a killed agent left.
pub fn make_table() -> String {
    let [receive, send] = CHAINS;
    format!(
        "{}\
add table {TABLE}
add chain {TABLE} {receive} {{ type filter hook input priority 0; policy accept; }}
add chain {TABLE} {send} {{ type filter hook output priority 0; policy accept; }}
",
        remove_table()
    )
}

/// Removes the table. Adding the table first avoids an error if it is missing.
pub fn remove_table() -> String {
    format!("add table {TABLE}\ndelete table {TABLE}\n")
}

/// Begins to count a group.
pub fn add_group(number: u32, by: &Match) -> String {
    let group = by.expression();
    let counters = COUNTERS.map(|name| format!("add counter {TABLE} {name}{number}\n"));
    let chains = CHAINS.map(|chain| format!("add chain {TABLE} {chain}_{number}\n"));
    let jumps =
        CHAINS.map(|chain| format!("add rule {TABLE} {chain} {group} jump {chain}_{number}\n"));
    let rules = set_rules(number, GroupRules::default());
    [counters.concat(), chains.concat(), rules, jumps.concat()].concat()
}

/// Replaces the rules of a group; the counters keep their values.
pub fn set_rules(number: u32, rules: GroupRules) -> String {
    let [receive, send] = CHAINS.map(|chain| format!("{TABLE} {chain}_{number}"));
    let limit = rules.receive_bytes_per_s.map(|rate| {
        format!(
            "add rule {receive} meta length > {SMALL_PACKET_BYTES} limit rate over {rate} \
             bytes/second burst {BURST_BYTES} bytes counter name {DROPPED}{number} drop\n"
        )
    });
    let class = rules.send_priority.map(|priority| {
        let (major, minor) = (priority >> 16, priority & 0xffff);
        format!("add rule {send} meta priority set {major:x}:{minor:x}\n")
    });
    [
        format!("flush chain {receive}\n"),
        limit.unwrap_or_default(),
        format!("add rule {receive} counter name {RECEIVED}{number}\n"),
        format!("flush chain {send}\n"),
        class.unwrap_or_default(),
        format!("add rule {send} counter name {SENT}{number}\n"),
    ]
    .concat()
}

/// Ends the counting of a group. `handles` are those of the group's rules in [`CHAINS`].
pub fn remove_group(number: u32, handles: [u64; 2]) -> String {
    let mut script = String::new();
    for (chain, handle) in CHAINS.into_iter().zip(handles) {
        script += &format!(
            "delete rule {TABLE} {chain} handle {handle}\n\
             flush chain {TABLE} {chain}_{number}\n\
             delete chain {TABLE} {chain}_{number}\n"
        );
    }
    let counters = COUNTERS.map(|name| format!("delete counter {TABLE} {name}{number}\n"));
    script + &counters.concat()
}

impl Match {
    fn expression(&self) -> String {
        match self {
            Self::Path(path) => {
                let level = path.split('/').count();
                format!("socket cgroupv2 level {level} \"{path}\"")
            }
            Self::ClassId(id) => format!("meta cgroup {id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_version_2_is_matched_by_its_path_at_its_depth() {
        let by = Match::Path("yarn/elastane/container_1".into());
        let script = add_group(3, &by);
        let rule = "receive socket cgroupv2 level 3 \"yarn/elastane/container_1\" jump receive_3";
        assert!(script.contains(rule), "{script}");
    }

    #[test]
    fn packets_above_the_rate_are_dropped_before_they_are_counted() {
        let rules =
            GroupRules { receive_bytes_per_s: Some(5_000_000), send_priority: Some(0x7e1a_0010) };
        let script = set_rules(0, rules);
        let place = |text: &str| script.find(text).unwrap();
        assert!(place("limit rate over 5000000 bytes/second") < place("name received_0"));
        assert!(script.contains("send_0 meta priority set 7e1a:10\n"), "{script}");
        let without = set_rules(0, GroupRules::default());
        assert!(!without.contains("limit") && !without.contains("priority"));
    }
}
