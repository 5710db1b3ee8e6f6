//! The root queueing discipline of one device.

use std::io::{self, ErrorKind::NotFound};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::{
    RouteNetlinkMessage,
    tc::{TcHandle, TcMessage},
};
use nix::{errno::Errno, net::if_::if_nametoindex, sys::socket::SockProtocol};

use super::{
    device::NetworkDevice,
    htb::{self, ClassRate, Discipline},
};
use crate::netlink::Netlink;

/// The major number of the agent's handles. The kernel's own handles begin at 0x8000.
const MAJOR: u16 = 0x7e1a;
/// The minor number of the root itself.
pub const ROOT: u16 = 0;
/// The class of unclassified traffic: everything but the containers.
pub const REST: u16 = 2;

/// Why a device cannot be shaped.
#[derive(Debug, thiserror::Error)]
pub enum ShaperError {
    #[error(
        "{}: another program set the root queueing discipline {kind} {handle:x}:; remove it, or \
         remove the device from network.devices",
        device.name()
    )]
    Foreign { device: NetworkDevice, kind: String, handle: u16 },
    #[error("{}: {what} is {bytes_per_s} bytes per second, at least {least} are allowed", device.name())]
    Rate { device: NetworkDevice, what: &'static str, bytes_per_s: u64, least: u64 },
    #[error("{}: cannot {action}: {source}{}", device.name(), hint(source))]
    Kernel { device: NetworkDevice, action: &'static str, source: io::Error },
}

/// A device and the netlink socket to change it.
#[derive(Debug)]
pub struct Link {
    device: NetworkDevice,
    index: i32,
    netlink: Netlink,
}

impl Link {
    pub fn open(device: &NetworkDevice) -> Result<Self, ShaperError> {
        let index = if_nametoindex(device.name())
            .map_err(|error| kernel_error(device, "find the device", error.into()))?;
        let netlink = Netlink::open(SockProtocol::NetlinkRoute)
            .map_err(|error| kernel_error(device, "open a netlink socket", error))?;
        Ok(Self { device: device.clone(), index: index.cast_signed(), netlink })
    }

    pub fn device(&self) -> &NetworkDevice {
        &self.device
    }

    /// Creates the agent's root in place of the kernel's default or of a former agent's root.
    /// Fails if the root is another owner's.
    pub fn make_root(&mut self) -> Result<(), ShaperError> {
        if self.check_root()? {
            self.remove_root()?;
        }
        let root = htb::root(self.index, handle(ROOT), REST);
        let message = RouteNetlinkMessage::NewQueueDiscipline(root);
        self.change("make the root", message, NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Returns whether the root is a former agent's; fails if the root is another owner's.
    pub fn check_root(&mut self) -> Result<bool, ShaperError> {
        match self.root()? {
            None => Ok(false),
            Some(root) if is_own_root(&root) => Ok(true),
            Some(root) => Err(ShaperError::Foreign {
                device: self.device.clone(),
                kind: root.kind,
                handle: root.handle.major,
            }),
        }
    }

    /// Removes the agent's root with all its classes; returns whether there was one.
    pub fn restore(&mut self) -> Result<bool, ShaperError> {
        let is_own = self.root()?.is_some_and(|root| is_own_root(&root));
        if is_own {
            self.remove_root()?;
        }
        Ok(is_own)
    }

    /// Creates a class below another class or below [`ROOT`], or changes its rates.
    pub fn set_class(
        &mut self,
        parent: u16,
        class: u16,
        rate: ClassRate,
    ) -> Result<(), ShaperError> {
        let message = htb::class(self.index, handle(parent), handle(class), rate);
        let message = RouteNetlinkMessage::NewTrafficClass(message);
        self.change("set a class", message, NLM_F_CREATE)
    }

    /// Removes a class. A missing class is not an error.
    pub fn remove_class(&mut self, class: u16) -> Result<(), ShaperError> {
        let named = htb::named(self.index, TcHandle::UNSPEC, handle(class));
        let message = RouteNetlinkMessage::DelTrafficClass(named);
        match self.change("remove a class", message, 0) {
            Err(ShaperError::Kernel { source, .. }) if source.kind() == NotFound => Ok(()),
            removed => removed,
        }
    }

    /// `None` for the kernel's default, which has no handle.
    fn root(&mut self) -> Result<Option<Discipline>, ShaperError> {
        let every = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::with_index(self.index));
        let parsed = self.netlink.list(every).and_then(|answers| {
            let disciplines = answers.iter().map(|answer| Discipline::parse(&answer.0));
            disciplines.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)
        });
        let listed = parsed
            .map_err(|error| kernel_error(&self.device, "list queueing disciplines", error))?;
        // The kernel lists the disciplines of all devices.
        let is_root = |one: &Discipline| one.device == self.index && one.parent == TcHandle::ROOT;
        let root = listed.into_iter().find(is_root);
        Ok(root.filter(|root| root.handle != TcHandle::UNSPEC))
    }

    fn remove_root(&mut self) -> Result<(), ShaperError> {
        let root = htb::named(self.index, TcHandle::ROOT, handle(ROOT));
        let message = RouteNetlinkMessage::DelQueueDiscipline(root);
        self.change("remove the root", message, 0)
    }

    fn change(
        &mut self,
        action: &'static str,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> Result<(), ShaperError> {
        let changed = self.netlink.change(message, flags);
        changed.map_err(|error| kernel_error(&self.device, action, error))
    }
}

fn kernel_error(device: &NetworkDevice, action: &'static str, source: io::Error) -> ShaperError {
    ShaperError::Kernel { device: device.clone(), action, source }
}

fn is_own_root(root: &Discipline) -> bool {
    root.handle == handle(ROOT) && root.kind == htb::KIND && root.default_minor == Some(REST.into())
}

/// The handle of the agent's class `minor`.
pub fn handle(minor: u16) -> TcHandle {
    TcHandle { major: MAJOR, minor }
}

/// Whether a class is one of the agent's.
pub fn is_own(class: u32) -> bool {
    class >> u16::BITS == u32::from(MAJOR)
}

fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EPERM) => "; it needs CAP_NET_ADMIN",
        Some(Errno::ENOENT) => "; the kernel may lack CONFIG_NET_SCH_HTB",
        _ => "",
    }
}
