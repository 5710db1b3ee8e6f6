//! Arguments of bpf(2) that hold addresses, laid out as in the kernel's `union bpf_attr` for each
//! command: whole words without gaps, addresses as 64-bit numbers.

/// The size of a name, final zero included.
pub const NAME_BYTES: usize = 16;

#[repr(C)]
#[derive(Default)]
pub struct MapBatch {
    pub after: u64,
    pub last: u64,
    pub keys: u64,
    pub values: u64,
    pub count: u32,
    pub map: u32,
    pub element_flags: u64,
    pub flags: u64,
}

#[repr(C)]
#[derive(Default)]
pub struct MapElement {
    pub map: u32,
    pub padding: u32,
    pub key: u64,
    pub value: u64,
    pub flags: u64,
}

#[repr(C)]
#[derive(Default)]
pub struct LoadProgram {
    pub program_type: u32,
    pub instruction_count: u32,
    pub instructions: u64,
    pub license: u64,
    pub log_level: u32,
    pub log_bytes: u32,
    pub log: u64,
    pub kernel_version: u32,
    pub flags: u32,
    pub name: [u8; NAME_BYTES],
}
