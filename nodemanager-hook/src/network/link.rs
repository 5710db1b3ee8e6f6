//! One device whose root queueing discipline may be the agent's.

use std::io;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::{
    RouteNetlinkMessage,
    tc::{TcHandle, TcMessage},
};
use nix::{errno::Errno, net::if_::if_nametoindex};

use super::{
    device::Device,
    htb::{self, ClassRate, Discipline},
    netlink::Netlink,
};

/// The handle of the agent's roots. Those that the kernel gives by itself begin at 0x8000.
const MAJOR: u16 = 0x7e1a;
/// The number of the root itself.
pub const ROOT: u16 = 0;

/// What a device cannot be made to do.
#[derive(Debug, thiserror::Error)]
pub enum ShaperError {
    /// Somebody set up the device; that is left as it is.
    #[error(
        "{}: its root queueing discipline is {kind} {handle:x}:, which is not the agent's and \
         stays; remove it, or take the device from network.devices",
        device.name()
    )]
    Foreign {
        /// The device.
        device: Device,
        /// The discipline, such as `fq`.
        kind: String,
        /// The major number of its handle.
        handle: u16,
    },
    /// A rate that cannot be.
    #[error("{}: {what} is {bytes_per_s} bytes per second, at least {least} are allowed", device.name())]
    Rate {
        /// The device.
        device: Device,
        /// Which rate.
        what: &'static str,
        /// The rate.
        bytes_per_s: u64,
        /// The least that is allowed.
        least: u64,
    },
    /// The kernel refused.
    #[error("{}: cannot {action}: {source}{}", device.name(), hint(source))]
    Kernel {
        /// The device.
        device: Device,
        /// What was tried.
        action: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

/// A device and the socket to change it.
#[derive(Debug)]
pub struct Link {
    device: Device,
    index: i32,
    netlink: Netlink,
}

/// Whose root a device has.
enum Root {
    Default,
    Own,
    Foreign { kind: String, handle: u16 },
}

impl Link {
    pub fn open(device: &Device) -> Result<Self, ShaperError> {
        let failed = |action, source| ShaperError::Kernel {
            device: device.clone(),
            action,
            source,
        };
        let index = if_nametoindex(device.name())
            .map_err(|error| failed("find the device", error.into()))?;
        let netlink = Netlink::open().map_err(|error| failed("open a netlink socket", error))?;
        Ok(Self {
            device: device.clone(),
            index: index.cast_signed(),
            netlink,
        })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Makes the agent's root, in place of the kernel's default or of an earlier agent's.
    ///
    /// # Errors
    /// A root of somebody else; what the kernel refuses.
    pub fn make_root(&mut self, default_minor: u16) -> Result<(), ShaperError> {
        if self.check_root(default_minor)? {
            self.remove_root()?;
        }
        let root = htb::root(self.index, handle(ROOT), default_minor);
        let message = RouteNetlinkMessage::NewQueueDiscipline(root);
        self.change("make the root", message, NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Says whether the root is an earlier agent's.
    ///
    /// # Errors
    /// A root of somebody else.
    pub fn check_root(&mut self, default_minor: u16) -> Result<bool, ShaperError> {
        match self.root(default_minor)? {
            Root::Default => Ok(false),
            Root::Own => Ok(true),
            Root::Foreign { kind, handle } => Err(ShaperError::Foreign {
                device: self.device.clone(),
                kind,
                handle,
            }),
        }
    }

    /// Removes the agent's root with all its classes; says whether there was one.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn restore(&mut self, default_minor: u16) -> Result<bool, ShaperError> {
        let is_own = matches!(self.root(default_minor)?, Root::Own);
        if is_own {
            self.remove_root()?;
        }
        Ok(is_own)
    }

    /// Makes a class below another or below [`ROOT`], or changes its rates.
    ///
    /// # Errors
    /// What the kernel refuses.
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

    /// Removes a class; that it is gone already is no error.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn remove_class(&mut self, class: u16) -> Result<(), ShaperError> {
        let named = htb::named(self.index, TcHandle::UNSPEC, handle(class));
        let removed = self
            .netlink
            .change(RouteNetlinkMessage::DelTrafficClass(named), 0);
        match removed {
            Err(error) if error.raw_os_error() == Some(Errno::ENOENT as i32) => Ok(()),
            removed => removed.map_err(|error| self.error("remove a class", error)),
        }
    }

    fn root(&mut self, default_minor: u16) -> Result<Root, ShaperError> {
        let every = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::with_index(self.index));
        let listed = self.netlink.list(every).and_then(|answers| {
            let parsed = answers.iter().map(|answer| Discipline::parse(&answer.0));
            parsed
                .collect::<Result<Vec<_>, _>>()
                .map_err(io::Error::other)
        });
        let mut disciplines = listed
            .map_err(|error| self.error("list queueing disciplines", error))?
            .into_iter();
        // The kernel lists those of all devices.
        let root = disciplines.find(|one| one.device == self.index && one.parent == TcHandle::ROOT);
        Ok(root.map_or(Root::Default, |root| Root::of(root, default_minor)))
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
        changed.map_err(|error| self.error(action, error))
    }

    fn error(&self, action: &'static str, source: io::Error) -> ShaperError {
        ShaperError::Kernel {
            device: self.device.clone(),
            action,
            source,
        }
    }
}

impl Root {
    fn of(root: Discipline, default_minor: u16) -> Self {
        // The kernel's own choice has no handle.
        if root.handle == TcHandle::UNSPEC {
            return Self::Default;
        }
        let is_own = root.handle == handle(ROOT)
            && root.kind == htb::KIND
            && root.default_minor == Some(default_minor.into());
        if is_own {
            return Self::Own;
        }
        Self::Foreign {
            kind: root.kind,
            handle: root.handle.major,
        }
    }
}

/// The handle of the agent's class with a number.
pub fn handle(minor: u16) -> TcHandle {
    TcHandle {
        major: MAJOR,
        minor,
    }
}

/// Whether a number is that of one of the agent's classes.
pub fn is_own(class: u32) -> bool {
    class >> u16::BITS == u32::from(MAJOR)
}

fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EPERM) => "; it takes CAP_NET_ADMIN",
        Some(Errno::ENOENT) => "; it may take a kernel with CONFIG_NET_SCH_HTB",
        _ => "",
    }
}
