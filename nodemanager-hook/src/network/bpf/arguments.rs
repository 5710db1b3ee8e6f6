//! What bpf(2) takes, as the kernel's `union bpf_attr` lays it out for each command: whole words
//! without gaps, addresses as numbers of 64 bits.

/// A name with its final zero.
pub const NAME_BYTES: usize = 16;

/// Makes a map.
#[repr(C)]
pub struct CreateMap {
    pub map_type: u32,
    pub key_bytes: u32,
    pub value_bytes: u32,
    pub length: u32,
    pub flags: u32,
    pub inner_map: u32,
    pub numa_node: u32,
    pub name: [u8; NAME_BYTES],
}

/// Reads many values.
#[repr(C)]
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

/// Reads or writes one value.
#[repr(C)]
pub struct MapElement {
    pub map: u32,
    pub padding: u32,
    pub key: u64,
    pub value: u64,
    pub flags: u64,
}

/// Loads a program.
#[repr(C)]
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

/// Attaches or detaches a program.
#[repr(C)]
pub struct ChangeAttachment {
    pub group: u32,
    pub program: u32,
    pub hook: u32,
    pub flags: u32,
}

/// Opens a program by its id.
#[repr(C)]
pub struct OpenProgram {
    pub id: u32,
    pub next_id: u32,
    pub flags: u32,
}

/// The kernel's `struct bpf_prog_info` up to the name.
#[repr(C)]
#[derive(Default)]
pub struct ProgramInfo {
    pub program_type: u32,
    pub id: u32,
    pub tag: u64,
    pub lengths: [u32; 2],
    pub instructions: [u64; 2],
    pub load_time: u64,
    pub user: u32,
    pub map_count: u32,
    pub maps: u64,
    pub name: [u8; NAME_BYTES],
}

/// Asks what a program is.
#[repr(C)]
pub struct AskInfo {
    pub program: u32,
    pub info_bytes: u32,
    pub info: u64,
}

/// Attaches a program by a link.
#[repr(C)]
pub struct CreateLink {
    pub program: u32,
    pub group: u32,
    pub hook: u32,
    pub flags: u32,
}

/// Lists programs.
#[repr(C)]
pub struct QueryAttached {
    pub group: u32,
    pub hook: u32,
    pub query_flags: u32,
    pub attach_flags: u32,
    pub ids: u64,
    pub count: u32,
    pub padding: u32,
    // Not asked for, but kernels since 6.17 write the last of these whatever size they are told.
    pub program_flags: u64,
    pub link_ids: u64,
    pub link_flags: u64,
    pub revision: u64,
}
