//! Network devices: speed, counters, and the device of the default route.

use std::{fs, io, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::sensors::with_path;

/// The kernel's limit for a name, without the final zero.
const MOST_NAME_BYTES: usize = 15;
const BYTES_PER_MEGABIT: u64 = 1_000_000 / 8;

/// The name of a network device, such as `eth0`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct NetworkDevice(String);

/// What a device received and sent since its creation, link headers included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceCounters {
    pub received_bytes: u64,
    pub sent_bytes: u64,
}

impl FromStr for NetworkDevice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let is_plain = |character: char| !character.is_whitespace() && !"/:\0".contains(character);
        let is_name = (1..=MOST_NAME_BYTES).contains(&name.len())
            && name.chars().all(is_plain)
            && ![".", ".."].contains(&name);
        if is_name {
            return Ok(Self(name.into()));
        }
        Err(format!(
            "`{name}` is not a device name: 1 to 15 bytes without whitespace, `/` and `:` are allowed"
        ))
    }
}

impl TryFrom<String> for NetworkDevice {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

impl NetworkDevice {
    /// The device of the default route with the lowest metric, IPv4 before IPv6; `None` without a
    /// default route. Disabled IPv6 is not an error.
    pub fn of_default_route() -> io::Result<Option<Self>> {
        let read = |path| fs::read_to_string(path).map_err(|error| with_path(error, path));
        if let Some(device) = in_ipv4_routes(&read("/proc/net/route")?) {
            return Ok(Some(device));
        }
        match read("/proc/net/ipv6_route") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            routes => Ok(in_ipv6_routes(&routes?)),
        }
    }

    pub fn name(&self) -> &str {
        &self.0
    }

    /// The speed of the link; `None` if unknown, as for virtual devices and links that are down.
    pub fn link_bytes_per_s(&self) -> io::Result<Option<u64>> {
        // Reading fails with EINVAL where a device has no speed; -1 is a speed not known yet.
        match self.read("speed") {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(None),
            text => Ok(speed_bytes_per_s(&text?)),
        }
    }

    pub fn counters(&self) -> io::Result<DeviceCounters> {
        let read = |name| {
            let text = self.read(name)?;
            text.trim().parse().map_err(io::Error::other)
        };
        Ok(DeviceCounters {
            received_bytes: read("statistics/rx_bytes")?,
            sent_bytes: read("statistics/tx_bytes")?,
        })
    }

    fn read(&self, file: &str) -> io::Result<String> {
        let path = format!("/sys/class/net/{}/{file}", self.0);
        fs::read_to_string(&path)
            .map_err(|error| io::Error::new(error.kind(), format!("cannot read {path}: {error}")))
    }
}

pub(crate) fn speed_bytes_per_s(text: &str) -> Option<u64> {
    let megabits_per_s: u64 = text.trim().parse().ok()?;
    // Some drivers report 2^32 - 1 instead of -1.
    let is_known = megabits_per_s > 0 && megabits_per_s < u64::from(u32::MAX);
    is_known.then(|| megabits_per_s * BYTES_PER_MEGABIT)
}

/// Parses lines of `eth0 destination gateway flags references uses metric mask …` below a title.
pub(crate) fn in_ipv4_routes(routes: &str) -> Option<NetworkDevice> {
    let routes = routes.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let &[device, destination, _, flags, _, _, metric, mask, ..] = fields.as_slice() else {
            return None;
        };
        let is_default = destination == "00000000" && mask == "00000000";
        (is_default && is_used(flags)).then_some((metric.parse().ok()?, device))
    });
    best(routes)
}

/// Parses lines of `destination length source length hop metric references uses flags eth0`.
pub(crate) fn in_ipv6_routes(routes: &str) -> Option<NetworkDevice> {
    let routes = routes.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let &[destination, length, _, _, _, metric, _, _, flags, device] = fields.as_slice() else {
            return None;
        };
        let is_default = length == "00" && destination.bytes().all(|digit| digit == b'0');
        let metric = u32::from_str_radix(metric, 16).ok()?;
        (is_default && is_used(flags)).then_some((metric, device))
    });
    best(routes)
}

/// The device of the route with the lowest metric.
fn best<'a>(routes: impl Iterator<Item = (u32, &'a str)>) -> Option<NetworkDevice> {
    routes.min()?.1.parse().ok()
}

/// Whether a route is up and does not reject packets.
fn is_used(flags: &str) -> bool {
    const UP: u32 = 0x1;
    const REJECT: u32 = 0x200;
    u32::from_str_radix(flags, 16).is_ok_and(|flags| flags & (UP | REJECT) == UP)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Option<NetworkDevice> {
        Some(name.parse().unwrap())
    }

    #[test]
    fn invalid_names_are_refused() {
        for name in ["", ".", "..", "../eth0", "a/b", "a b", "eth0:1", "sixteen-bytes-xx"] {
            let error = name.parse::<NetworkDevice>().unwrap_err();
            assert!(error.starts_with(&format!("`{name}` is not a device name: 1 to 15 bytes")));
        }
        assert_eq!("bond0.100".parse::<NetworkDevice>().unwrap().name(), "bond0.100");
    }

    #[test]
    fn a_speed_is_in_megabits() {
        assert_eq!(speed_bytes_per_s("1000\n"), Some(125_000_000));
        for unknown in ["-1\n", "0\n", "4294967295\n", ""] {
            assert_eq!(speed_bytes_per_s(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn the_default_route_with_the_lowest_metric_wins() {
        let routes = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
            wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n\
            eth0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
            eth1\t00000000\t00000000\t0002\t0\t0\t0\t00000000\t0\t0\t0\n\
            eth2\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
        assert_eq!(in_ipv4_routes(routes), named("eth0"));
        assert_eq!(in_ipv4_routes("Iface\n"), None);
    }

    #[test]
    fn a_reject_route_is_skipped() {
        let zeros = "00000000000000000000000000000000";
        let gateway = "fe800000000000000000000000000001";
        let refusing =
            format!("{zeros} 00 {zeros} 00 {zeros} ffffffff 00000001 00000000 00200200 lo\n");
        assert_eq!(in_ipv6_routes(&refusing), None);
        let route =
            format!("{zeros} 00 {zeros} 00 {gateway} 00000400 00000003 00000000 00000003 eth0\n");
        assert_eq!(in_ipv6_routes(&format!("{refusing}{route}")), named("eth0"));
    }

    #[test]
    fn the_loopback_device_counts_and_has_no_speed() {
        let device: NetworkDevice = "lo".parse().unwrap();
        let counters = device.counters().unwrap();
        // Received bytes are read first, and the loopback device receives what it sends.
        assert!(counters.sent_bytes >= counters.received_bytes);
        assert_eq!(device.link_bytes_per_s().unwrap(), None);
        let missing: NetworkDevice = "no-such-device".parse().unwrap();
        let error = missing.counters().unwrap_err().to_string();
        let expected = "cannot read /sys/class/net/no-such-device/statistics/rx_bytes: ";
        assert!(error.starts_with(expected), "{error}");
    }
}
