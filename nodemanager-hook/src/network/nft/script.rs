//! What `nft` is told: one table of the agent's own, with two chains and three counters a group.
//!
//! In version 2 the kernel finds the group of a packet's socket by its path, in version 1 by the
//! class id (`net_cls`) that the agent gave the group.

use std::fmt::Write as _;

/// The table that holds everything.
pub const TABLE: &str = "inet elastane";
/// Counters of received and sent bytes, and of dropped packets, end in the group's number.
pub const RECEIVED: &str = "received_";
pub const SENT: &str = "sent_";
pub const DROPPED: &str = "dropped_";

/// Packets up to this many bytes pass a receive limit, as with BPF.
const SMALL_PACKET_BYTES: u32 = 128;
/// Beside the second's bytes that nft's bucket holds anyway: one packet, as the card hands it on.
const BURST_BYTES: u32 = 64 * 1024;

/// How the packets of a group are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// By the path below `/sys/fs/cgroup`, without quotes and escapes in it.
    Path(String),
    /// By the class id of a `net_cls` group.
    ClassId(u32),
}

/// What is wanted of a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    pub receive_bytes_per_s: Option<u64>,
    pub send_priority: Option<u32>,
}

/// Makes the table; one that a killed agent left goes.
pub fn make_table() -> String {
    format!(
        "add table {TABLE}
delete table {TABLE}
add table {TABLE}
add chain {TABLE} receive {{ type filter hook input priority 0; policy accept; }}
add chain {TABLE} send {{ type filter hook output priority 0; policy accept; }}
"
    )
}

/// Removes the table; that there is none is no error.
pub fn remove_table() -> String {
    format!("add table {TABLE}\ndelete table {TABLE}\n")
}

/// Begins to count a group.
pub fn add_group(number: u32, by: &Match) -> String {
    let mut script = String::new();
    for counter in [RECEIVED, SENT, DROPPED] {
        line(
            &mut script,
            &format!("add counter {TABLE} {counter}{number}"),
        );
    }
    for direction in ["receive", "send"] {
        line(
            &mut script,
            &format!("add chain {TABLE} {direction}_{number}"),
        );
    }
    script += &set_rules(number, Rules::default());
    let of_group = by.expression();
    for direction in ["receive", "send"] {
        let jump = format!("{of_group} jump {direction}_{number}");
        line(&mut script, &format!("add rule {TABLE} {direction} {jump}"));
    }
    script
}

/// Replaces what is done with a group's packets; its counters go on.
pub fn set_rules(number: u32, rules: Rules) -> String {
    let mut script = String::new();
    let (receive, send) = (format!("receive_{number}"), format!("send_{number}"));
    line(&mut script, &format!("flush chain {TABLE} {receive}"));
    if let Some(rate) = rules.receive_bytes_per_s {
        let over = format!("limit rate over {rate} bytes/second burst {BURST_BYTES} bytes");
        let dropped = format!("counter name {DROPPED}{number} drop");
        line(
            &mut script,
            &format!(
                "add rule {TABLE} {receive} meta length > {SMALL_PACKET_BYTES} {over} {dropped}"
            ),
        );
    }
    line(
        &mut script,
        &format!("add rule {TABLE} {receive} counter name {RECEIVED}{number}"),
    );
    line(&mut script, &format!("flush chain {TABLE} {send}"));
    if let Some(priority) = rules.send_priority {
        let class = format!("{:x}:{:x}", priority >> 16, priority & 0xffff);
        line(
            &mut script,
            &format!("add rule {TABLE} {send} meta priority set {class}"),
        );
    }
    line(
        &mut script,
        &format!("add rule {TABLE} {send} counter name {SENT}{number}"),
    );
    script
}

/// Ends the counting of a group. `handles` are those of its rules in `receive` and `send`.
pub fn remove_group(number: u32, handles: [u64; 2]) -> String {
    let mut script = String::new();
    for (direction, handle) in ["receive", "send"].into_iter().zip(handles) {
        line(
            &mut script,
            &format!("delete rule {TABLE} {direction} handle {handle}"),
        );
        line(
            &mut script,
            &format!("flush chain {TABLE} {direction}_{number}"),
        );
        line(
            &mut script,
            &format!("delete chain {TABLE} {direction}_{number}"),
        );
    }
    for counter in [RECEIVED, SENT, DROPPED] {
        line(
            &mut script,
            &format!("delete counter {TABLE} {counter}{number}"),
        );
    }
    script
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

fn line(script: &mut String, text: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(script, "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_version_2_is_told_by_its_path_at_its_depth() {
        let by = Match::Path("yarn/elastane/container_1".into());
        let script = add_group(3, &by);
        let rule = "receive socket cgroupv2 level 3 \"yarn/elastane/container_1\" jump receive_3";
        assert!(script.contains(rule), "{script}");
    }

    #[test]
    fn what_is_above_the_rate_is_dropped_before_it_is_counted() {
        let rules = Rules {
            receive_bytes_per_s: Some(5_000_000),
            send_priority: Some(0x7e1a_0010),
        };
        let script = set_rules(0, rules);
        let place = |text: &str| script.find(text).unwrap();
        assert!(place("limit rate over 5000000 bytes/second") < place("name received_0"));
        assert!(
            script.contains("send_0 meta priority set 7e1a:10\n"),
            "{script}"
        );
        let without = set_rules(0, Rules::default());
        assert!(!without.contains("limit") && !without.contains("priority"));
    }
}
