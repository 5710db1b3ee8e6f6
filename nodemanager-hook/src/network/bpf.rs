//! Safe wrappers of bpf(2), which neither the standard library nor nix wraps. The agent's network
//! part has no other unsafe code.

use std::{
    ffi::CStr,
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

use nix::errno::Errno;

use super::{instructions::Instruction, programs::Direction};

/// The name that `bpftool` shows, ended by a zero.
pub type ProgramName = [u8; 16];

/// Commands of bpf(2), by the kernel's numbers.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
enum BpfCommand {
    MapCreate = 0,
    MapUpdate = 2,
    ProgramLoad = 5,
    ProgramQuery = 16,
    MapLookupBatch = 24,
    LinkCreate = 28,
}

const MAP_TYPE_ARRAY: u32 = 2;
const PROGRAM_TYPE_CGROUP_SKB: u32 = 8;
/// The programs are dual-licensed: before Linux 5.8 only GPL programs may read the clock.
const LICENSE: &CStr = c"GPL";

// Arguments of bpf(2) that hold addresses, laid out as in the kernel's `union bpf_attr` for each
// command: whole words without gaps, addresses as 64-bit numbers.

#[repr(C)]
#[derive(Default)]
struct MapBatch {
    after: u64,
    last: u64,
    keys: u64,
    values: u64,
    count: u32,
    map: u32,
    element_flags: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct MapElement {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct LoadProgram {
    program_type: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: ProgramName,
}

#[repr(C)]
#[derive(Default)]
struct ProgramQuery {
    group: u32,
    hook: u32,
    query_flags: u32,
    attach_flags: u32,
    ids: u64,
    count: u32,
    padding: u32,
    program_flags: u64,
    link_ids: u64,
    link_flags: u64,
    /// Written by recent kernels in any case.
    revision: u64,
}

/// Calls bpf(2) with an argument laid out as in the kernel's `union bpf_attr`.
///
/// # Safety
/// Every address in `argument` must be valid for what the command reads or writes there.
unsafe fn call<T>(command: BpfCommand, argument: &mut T) -> io::Result<i32> {
    // SAFETY: `argument` is live, exclusive and of the size passed, so that the kernel may read
    // and write it; the caller guarantees the addresses in it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command as libc::c_long,
            std::ptr::from_mut(argument),
            size_of::<T>(),
        )
    };
    i32::try_from(result).ok().filter(|result| *result >= 0).ok_or_else(io::Error::last_os_error)
}

/// # Safety
/// As for [`call`]; the command must return a new descriptor.
unsafe fn call_for_descriptor<T>(command: BpfCommand, argument: &mut T) -> io::Result<OwnedFd> {
    // SAFETY: the caller guarantees the addresses; the descriptor is new, so nobody else owns it.
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

/// The number of programs that are attached to a group itself, by a hook of the kernel's `enum bpf_attach_type`. Fails
/// with EINVAL if the kernel has no such hook, with EPERM without CAP_NET_ADMIN.
pub fn programs_attached(group: BorrowedFd<'_>, hook: u32) -> nix::Result<u32> {
    let mut query = ProgramQuery { group: number(&group), hook, ..ProgramQuery::default() };
    // SAFETY: the argument has all fields of the command. The addresses are 0, where the kernel writes nothing.
    match unsafe { call(BpfCommand::ProgramQuery, &mut query) } {
        Ok(_) => Ok(query.count),
        Err(error) => Err(Errno::from_raw(error.raw_os_error().unwrap_or_default())),
    }
}

/// An array map: keys below its length, values of whole 64-bit words.
#[derive(Debug)]
pub struct ArrayMap<const WORDS: usize> {
    descriptor: OwnedFd,
    length: u32,
}

impl<const WORDS: usize> ArrayMap<WORDS> {
    const VALUE_BYTES: u32 = (WORDS * size_of::<u64>()) as u32;

    /// Creates a map of zeros.
    pub fn create(length: u32) -> io::Result<Self> {
        let key_bytes = size_of::<u32>() as u32;
        let mut create = [MAP_TYPE_ARRAY, key_bytes, Self::VALUE_BYTES, length];
        // SAFETY: the argument has no address, and the command returns a new descriptor.
        let descriptor = unsafe { call_for_descriptor(BpfCommand::MapCreate, &mut create)? };
        Ok(Self { descriptor, length })
    }

    /// The number by which programs refer to the map while they are loaded.
    pub fn descriptor(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    pub fn set(&self, key: u32, value: &[u64; WORDS]) -> io::Result<()> {
        let mut element = MapElement {
            map: number(&self.descriptor),
            key: address(&key),
            value: address(value),
            ..MapElement::default()
        };
        // SAFETY: the key has 4 bytes and the value VALUE_BYTES, as the map was created with;
        // the kernel only reads both.
        unsafe { call(BpfCommand::MapUpdate, &mut element)? };
        Ok(())
    }

    /// The values of the first keys, at most the map's length, in one call. Needs Linux
    /// 5.6.
    pub fn get_first(&self, count: u32) -> io::Result<Vec<[u64; WORDS]>> {
        let count = count.min(self.length);
        let mut last = [0_u32; 1];
        let mut keys = vec![0_u32; count as usize];
        let mut values = vec![[0; WORDS]; count as usize];
        if count == 0 {
            return Ok(values);
        }
        let mut batch = MapBatch {
            last: address_to_write(&mut last),
            keys: address_to_write(&mut keys),
            values: address_to_write(&mut values),
            count,
            map: number(&self.descriptor),
            ..MapBatch::default() // From the first key.
        };
        // SAFETY: both vectors have room for `count` keys of 4 bytes and values of VALUE_BYTES,
        // a multiple of 8, which is how the kernel spaces them; `last` has room for a key.
        let result = unsafe { call(BpfCommand::MapLookupBatch, &mut batch) };
        match result {
            // The end of the map was reached.
            Err(error) if error.raw_os_error() != Some(libc::ENOENT) => return Err(error),
            _ => {}
        }
        values.truncate(batch.count as usize);
        Ok(values)
    }
}

/// A loaded program that filters the packets of a group.
#[derive(Debug)]
pub struct Program {
    descriptor: OwnedFd,
}

impl Program {
    /// Fails with EACCES if the kernel's verifier refuses the program.
    pub fn load(name: ProgramName, instructions: &[Instruction]) -> io::Result<Self> {
        let mut load = LoadProgram {
            program_type: PROGRAM_TYPE_CGROUP_SKB,
            instruction_count: u32::try_from(instructions.len()).map_err(io::Error::other)?,
            instructions: address(instructions),
            license: LICENSE.as_ptr() as u64,
            name,
            ..LoadProgram::default()
        };
        // SAFETY: the number of instructions, of 8 bytes each, is passed; the license ends with a
        // zero; the kernel only reads both. There is no log. The command returns a new descriptor.
        let descriptor = unsafe { call_for_descriptor(BpfCommand::ProgramLoad, &mut load)? };
        Ok(Self { descriptor })
    }

    /// Attaches the program until the returned descriptor is closed. Fails with EINVAL before Linux
    /// 5.7, which has no links.
    pub fn link(&self, group: BorrowedFd<'_>, hook: Direction) -> io::Result<OwnedFd> {
        self.create_link(number(&group), hook)
    }

    /// Fails as [`Self::link`] would if the kernel has no links or the agent may not attach
    /// programs.
    pub fn check_link(&self) -> io::Result<()> {
        let no_group = u32::MAX;
        match self.create_link(no_group, Direction::Receive) {
            // The kernel checks the group last, so all else is well.
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => Ok(()),
            created => created.map(drop),
        }
    }

    fn create_link(&self, group: u32, hook: Direction) -> io::Result<OwnedFd> {
        let mut link = [number(&self.descriptor), group, hook as u32];
        // SAFETY: the argument has no address, and the command returns a new descriptor.
        unsafe { call_for_descriptor(BpfCommand::LinkCreate, &mut link) }
    }
}
