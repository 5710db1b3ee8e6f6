//! bpf(2), with the types that make it safe to call. The only unsafe code of the agent's network
//! part: neither the standard library nor nix wraps this system call.

mod arguments;

use std::{
    ffi::CStr,
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

use self::arguments::{
    AskInfo, ChangeAttachment, CreateLink, CreateMap, LoadProgram, MapBatch, MapElement,
    NAME_BYTES, OpenProgram, ProgramInfo, QueryAttached,
};
use super::assembler::Instruction;

/// What bpf(2) can be asked for; the kernel's numbers.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
enum Command {
    MapCreate = 0,
    MapLookup = 1,
    MapUpdate = 2,
    ProgramLoad = 5,
    ProgramAttach = 8,
    ProgramDetach = 9,
    ProgramOpenById = 13,
    ObjectInfo = 15,
    ProgramQuery = 16,
    MapLookupBatch = 24,
    LinkCreate = 28,
}

/// Where in a group a program is attached; the kernel's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Hook {
    /// Packets for the group's sockets.
    Ingress = 0,
    /// Packets from the group's sockets.
    Egress = 1,
}

const MAP_TYPE_ARRAY: u32 = 2;
const PROGRAM_TYPE_CGROUP_SKB: u32 = 8;
/// Programs of others on the same group stay, and all of them run.
const ALLOW_MULTI: u32 = 2;
/// The kernel's bound for programs on one hook of one group.
const MOST_PROGRAMS: usize = 64;
/// The programs are also under the GPL: before Linux 5.8 no others may ask for the time.
const LICENSE: &CStr = c"GPL";

/// The argument of a command: whole words without gaps, as the kernel lays them out. Addresses
/// are numbers of 64 bits there.
///
/// # Safety
/// Every address in it must stay valid for what the command reads or writes there.
unsafe fn call<T>(command: Command, argument: &mut T) -> io::Result<i32> {
    // SAFETY: `argument` is a live, exclusive object of the size that is told, which the kernel
    // may read and write; the caller answers for the addresses in it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command as libc::c_long,
            std::ptr::from_mut(argument),
            size_of::<T>(),
        )
    };
    i32::try_from(result)
        .ok()
        .filter(|result| *result >= 0)
        .ok_or_else(io::Error::last_os_error)
}

/// # Safety
/// As [`call`]; the command must be one that gives a new descriptor.
unsafe fn call_for_descriptor<T>(command: Command, argument: &mut T) -> io::Result<OwnedFd> {
    // SAFETY: the caller answers for the addresses; the descriptor is new, so nobody else owns it.
    unsafe { Ok(OwnedFd::from_raw_fd(call(command, argument)?)) }
}

fn address<T: ?Sized>(object: &T) -> u64 {
    std::ptr::from_ref(object).cast::<u8>() as u64
}

fn address_to_write<T>(object: &mut [T]) -> u64 {
    object.as_mut_ptr() as u64
}

fn number(descriptor: &impl AsFd) -> u32 {
    descriptor.as_fd().as_raw_fd().cast_unsigned()
}

fn bytes_of(name: &CStr) -> [u8; NAME_BYTES] {
    let mut bytes = [0; NAME_BYTES];
    let kept = name.to_bytes().len().min(NAME_BYTES - 1);
    bytes[..kept].copy_from_slice(&name.to_bytes()[..kept]);
    bytes
}

/// A map from the numbers below its length to values of whole 64-bit words.
#[derive(Debug)]
pub struct ArrayMap<const WORDS: usize> {
    descriptor: OwnedFd,
    length: u32,
}

impl<const WORDS: usize> ArrayMap<WORDS> {
    const VALUE_BYTES: u32 = (WORDS * size_of::<u64>()) as u32;

    /// A new map of zeros.
    pub fn create(length: u32, name: &CStr) -> io::Result<Self> {
        let mut create = CreateMap {
            map_type: MAP_TYPE_ARRAY,
            key_bytes: size_of::<u32>() as u32,
            value_bytes: Self::VALUE_BYTES,
            length,
            flags: 0,
            inner_map: 0,
            numa_node: 0,
            name: bytes_of(name),
        };
        // SAFETY: there is no address in it, and the command gives a new descriptor.
        let descriptor = unsafe { call_for_descriptor(Command::MapCreate, &mut create)? };
        Ok(Self { descriptor, length })
    }

    /// The number that programs know the map by while they are loaded.
    pub fn descriptor(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    pub fn get(&self, key: u32) -> io::Result<[u64; WORDS]> {
        let mut value = [0; WORDS];
        let mut element = MapElement {
            map: number(&self.descriptor),
            padding: 0,
            key: address(&key),
            value: address_to_write(&mut value),
            flags: 0,
        };
        // SAFETY: the key has 4 bytes and the value VALUE_BYTES, as the map was created with.
        unsafe { call(Command::MapLookup, &mut element)? };
        Ok(value)
    }

    pub fn set(&self, key: u32, value: &[u64; WORDS]) -> io::Result<()> {
        let mut element = MapElement {
            map: number(&self.descriptor),
            padding: 0,
            key: address(&key),
            value: address(value),
            flags: 0,
        };
        // SAFETY: the key has 4 bytes and the value VALUE_BYTES, as the map was created with;
        // both are only read.
        unsafe { call(Command::MapUpdate, &mut element)? };
        Ok(())
    }

    /// The values of the first keys, at most the map's length, by one call.
    ///
    /// # Errors
    /// EINVAL on kernels before 5.6, which cannot do that.
    pub fn get_first(&self, count: u32) -> io::Result<Vec<[u64; WORDS]>> {
        let count = count.min(self.length);
        let mut last = [0_u32; 1];
        let mut keys = vec![0_u32; count as usize];
        let mut values = vec![[0; WORDS]; count as usize];
        if count == 0 {
            return Ok(values);
        }
        let mut batch = MapBatch {
            after: 0, // From the start.
            last: address_to_write(&mut last),
            keys: address_to_write(&mut keys),
            values: address_to_write(&mut values),
            count,
            map: number(&self.descriptor),
            element_flags: 0,
            flags: 0,
        };
        // SAFETY: both vectors have room for `count` keys of 4 bytes and values of VALUE_BYTES,
        // a multiple of 8, which is how the kernel spaces them; `last` has room for a key.
        let result = unsafe { call(Command::MapLookupBatch, &mut batch) };
        match result {
            // That the end of the map was reached.
            Err(error) if error.raw_os_error() != Some(libc::ENOENT) => return Err(error),
            _ => {}
        }
        values.truncate(batch.count as usize);
        Ok(values)
    }
}

/// A loaded program that sees packets of a group.
#[derive(Debug)]
pub struct Program {
    descriptor: OwnedFd,
}

impl Program {
    /// # Errors
    /// EACCES where the kernel's verifier refuses the program.
    pub fn load(name: &CStr, instructions: &[Instruction]) -> io::Result<Self> {
        let mut load = LoadProgram {
            program_type: PROGRAM_TYPE_CGROUP_SKB,
            instruction_count: u32::try_from(instructions.len()).map_err(io::Error::other)?,
            instructions: address(instructions),
            license: LICENSE.as_ptr() as u64,
            log_level: 0,
            log_bytes: 0,
            log: 0,
            kernel_version: 0,
            flags: 0,
            name: bytes_of(name),
        };
        // SAFETY: the instructions are as many as told, of 8 bytes each, the license ends with a
        // zero, and both are only read; there is no log. The command gives a new descriptor.
        let descriptor = unsafe { call_for_descriptor(Command::ProgramLoad, &mut load)? };
        Ok(Self { descriptor })
    }

    /// Attaches until the descriptor that this gives is closed.
    ///
    /// # Errors
    /// EINVAL on kernels before 5.7, which have no links.
    pub fn link(&self, group: BorrowedFd<'_>, hook: Hook) -> io::Result<OwnedFd> {
        create_link(number(&self.descriptor), number(&group), hook)
    }

    /// Whether the kernel knows links.
    ///
    /// # Errors
    /// EPERM where it does not let the agent attach anything.
    pub fn can_link(&self) -> io::Result<bool> {
        let no_group = u32::MAX;
        let refused = create_link(number(&self.descriptor), no_group, Hook::Ingress);
        match refused.map_err(|error| (error.raw_os_error(), error)) {
            // All is well but for the group, which is looked for last.
            Ok(_) | Err((Some(libc::EBADF), _)) => Ok(true),
            Err((Some(libc::EINVAL), _)) => Ok(false),
            Err((_, error)) => Err(error),
        }
    }

    /// Attaches until it is detached or the group is removed.
    pub fn attach(&self, group: BorrowedFd<'_>, hook: Hook) -> io::Result<()> {
        self.change(Command::ProgramAttach, group, hook, ALLOW_MULTI)
    }

    /// # Errors
    /// ENOENT where the program is not attached, or by a link.
    pub fn detach(&self, group: BorrowedFd<'_>, hook: Hook) -> io::Result<()> {
        self.change(Command::ProgramDetach, group, hook, 0)
    }

    fn change(
        &self,
        command: Command,
        group: BorrowedFd<'_>,
        hook: Hook,
        flags: u32,
    ) -> io::Result<()> {
        let mut attach = ChangeAttachment {
            group: number(&group),
            program: number(&self.descriptor),
            hook: hook as u32,
            flags,
        };
        // SAFETY: there is no address in it.
        unsafe { call(command, &mut attach)? };
        Ok(())
    }

    /// Opens a program that somebody loaded.
    ///
    /// # Errors
    /// ENOENT where it is gone; EPERM without `CAP_SYS_ADMIN`.
    pub fn open(id: u32) -> io::Result<Self> {
        let mut open = OpenProgram {
            id,
            next_id: 0,
            flags: 0,
        };
        // SAFETY: there is no address in it, and the command gives a new descriptor.
        let descriptor = unsafe { call_for_descriptor(Command::ProgramOpenById, &mut open)? };
        Ok(Self { descriptor })
    }

    /// The name that it was loaded with.
    pub fn name(&self) -> io::Result<String> {
        let mut info = [ProgramInfo::default()];
        let mut ask = AskInfo {
            program: number(&self.descriptor),
            info_bytes: size_of::<ProgramInfo>() as u32,
            info: address_to_write(&mut info),
        };
        // SAFETY: `info` has as many bytes as told, and the addresses in it are zero with zero
        // lengths, so that nothing is written there.
        unsafe { call(Command::ObjectInfo, &mut ask)? };
        let [info] = info;
        let name = CStr::from_bytes_until_nul(&info.name).unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }
}

fn create_link(program: u32, group: u32, hook: Hook) -> io::Result<OwnedFd> {
    let mut link = CreateLink {
        program,
        group,
        hook: hook as u32,
        flags: 0,
    };
    // SAFETY: there is no address in it, and the command gives a new descriptor.
    unsafe { call_for_descriptor(Command::LinkCreate, &mut link) }
}

/// The ids of the programs that are attached to a group itself.
pub fn attached_programs(group: BorrowedFd<'_>, hook: Hook) -> io::Result<Vec<u32>> {
    let mut ids = vec![0_u32; MOST_PROGRAMS];
    let mut query = QueryAttached {
        group: number(&group),
        hook: hook as u32,
        query_flags: 0,
        attach_flags: 0,
        ids: address_to_write(&mut ids),
        count: MOST_PROGRAMS as u32,
        padding: 0,
        program_flags: 0,
        link_ids: 0,
        link_flags: 0,
        revision: 0,
    };
    // SAFETY: `ids` has room for as many ids of 4 bytes as told.
    unsafe { call(Command::ProgramQuery, &mut query)? };
    ids.truncate(query.count as usize);
    Ok(ids)
}
