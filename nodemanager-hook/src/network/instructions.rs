//! The BPF instructions of the agent's two programs.
//!
//! The crates that load BPF (aya, libbpf-rs) need ELF objects from a compiler for the BPF target,
//! which neither a build of this project nor a node has. These functions are smaller than that
//! toolchain: each program has 30 instructions.

/// One instruction in the kernel's encoding.
pub type Instruction = [u8; 8];

/// A register. The kernel passes the packet in `R1`, a helper's arguments in `R1` to `R5`, and
/// results in `R0`. Helpers keep `R6` to `R9`. `Frame` points to the end of the stack.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub enum Register {
    R0 = 0,
    R1 = 1,
    R2 = 2,
    R6 = 6,
    R7 = 7,
    R8 = 8,
    R9 = 9,
    Frame = 10,
}

#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub enum Width {
    Four = 0x00,
    Eight = 0x18,
}

/// A helper function of the kernel.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub enum Helper {
    /// `R1`: map, `R2`: address of the key. Returns the address of the value, or 0.
    MapLookup = 1,
    /// Returns nanoseconds of the monotonic clock.
    MonotonicNs = 5,
}

/// Unsigned arithmetic on 64 bits.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub enum Operation {
    Add = 0x00,
    Multiply = 0x20,
    ShiftRight = 0x70,
    Move = 0xb0,
}

/// Unsigned comparisons.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub enum Condition {
    Equal = 0x10,
    GreaterOrEqual = 0x30,
    NotEqual = 0x50,
    LessOrEqual = 0xb0,
}

#[derive(Debug, Clone, Copy)]
pub enum Operand {
    Register(Register),
    Number(i32),
}

impl From<Register> for Operand {
    fn from(register: Register) -> Self {
        Self::Register(register)
    }
}

impl From<i32> for Operand {
    fn from(number: i32) -> Self {
        Self::Number(number)
    }
}

// Classes and modes from the kernel's instruction set.
const LOAD_IMMEDIATE: u8 = 0x18;
const LOAD: u8 = 0x61;
const STORE_NUMBER: u8 = 0x62;
const STORE: u8 = 0x63;
const ATOMIC_ADD: u8 = 0xc3;
const ARITHMETIC: u8 = 0x07;
const JUMP: u8 = 0x05;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
const FROM_REGISTER: u8 = 0x08;
/// Marks the number of a `LOAD_IMMEDIATE` as a map descriptor.
const MAP_DESCRIPTOR: u8 = 1;

/// `to = to OPERATION operand`
pub fn calculate(operation: Operation, to: Register, operand: impl Into<Operand>) -> Instruction {
    with_operand(ARITHMETIC | operation as u8, to, operand.into(), 0)
}

/// `to = *(from + offset)`
pub fn load(width: Width, to: Register, from: Register, offset: i16) -> Instruction {
    encode(LOAD | width as u8, to as u8, from as u8, offset, 0)
}

/// `*(to + offset) = from`
pub fn store(width: Width, to: Register, offset: i16, from: Register) -> Instruction {
    encode(STORE | width as u8, to as u8, from as u8, offset, 0)
}

/// `*(to + offset) = number`
pub fn store_number(width: Width, to: Register, offset: i16, number: i32) -> Instruction {
    encode(STORE_NUMBER | width as u8, to as u8, 0, offset, number)
}

/// `*(to + offset) += from`, atomic across cores.
pub fn add_atomically(to: Register, offset: i16, from: Register) -> Instruction {
    let code = ATOMIC_ADD | Width::Eight as u8;
    encode(code, to as u8, from as u8, offset, 0)
}

/// `to = map`
pub fn load_map(to: Register, descriptor: i32) -> [Instruction; 2] {
    let first = encode(LOAD_IMMEDIATE, to as u8, MAP_DESCRIPTOR, 0, descriptor);
    [first, Instruction::default()]
}

/// Calls a helper, which overwrites `R1` to `R5`.
pub fn call(helper: Helper) -> Instruction {
    encode(CALL, 0, 0, 0, helper as i32)
}

/// Passes over the next `count` instructions if `left CONDITION right`.
pub fn skip_if(
    left: Register,
    condition: Condition,
    right: impl Into<Operand>,
    count: usize,
) -> Instruction {
    with_operand(JUMP | condition as u8, left, right.into(), count as i16)
}

/// Ends the program with a result.
pub fn exit_with(number: i32) -> [Instruction; 2] {
    let result = calculate(Operation::Move, Register::R0, number);
    [result, encode(EXIT, 0, 0, 0, 0)]
}

fn with_operand(code: u8, to: Register, operand: Operand, offset: i16) -> Instruction {
    match operand {
        Operand::Register(from) => encode(code | FROM_REGISTER, to as u8, from as u8, offset, 0),
        Operand::Number(number) => encode(code, to as u8, 0, offset, number),
    }
}

fn encode(code: u8, to: u8, from: u8, offset: i16, number: i32) -> Instruction {
    let registers =
        if cfg!(target_endian = "little") { (from << 4) | to } else { (to << 4) | from };
    let [low, high] = offset.to_ne_bytes();
    let [a, b, c, d] = number.to_ne_bytes();
    [code, registers, low, high, a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::{Condition::*, Operation::*, Register::*, Width::*, *};

    /// What the kernel's own assembler macros give, on a little-endian machine.
    #[test]
    #[cfg(target_endian = "little")]
    fn each_instruction_is_the_kernels() {
        let [map, second_half] = load_map(R1, 5);
        let [result, exit] = exit_with(1);
        let instructions = [
            calculate(Move, R6, R1),
            calculate(Add, R2, -4),
            calculate(Multiply, R9, R8),
            calculate(ShiftRight, R9, 20),
            load(Four, R8, R6, 0),
            load(Eight, R9, R0, 8),
            store(Eight, R7, 24, R0),
            store_number(Four, Frame, -4, 7),
            add_atomically(R7, 16, R8),
            map,
            second_half,
            call(Helper::MonotonicNs),
            skip_if(R1, LessOrEqual, R0, 5),
            skip_if(R0, NotEqual, 0, 2),
            result,
            exit,
        ];
        let expected: [Instruction; 16] = [
            [0xbf, 0x16, 0, 0, 0, 0, 0, 0],
            [0x07, 0x02, 0, 0, 0xfc, 0xff, 0xff, 0xff],
            [0x2f, 0x89, 0, 0, 0, 0, 0, 0],
            [0x77, 0x09, 0, 0, 20, 0, 0, 0],
            [0x61, 0x68, 0, 0, 0, 0, 0, 0],
            [0x79, 0x09, 8, 0, 0, 0, 0, 0],
            [0x7b, 0x07, 24, 0, 0, 0, 0, 0],
            [0x62, 0x0a, 0xfc, 0xff, 7, 0, 0, 0],
            [0xdb, 0x87, 16, 0, 0, 0, 0, 0],
            [0x18, 0x11, 0, 0, 5, 0, 0, 0],
            [0, 0, 0, 0, 0, 0, 0, 0],
            [0x85, 0, 0, 0, 5, 0, 0, 0],
            [0xbd, 0x01, 5, 0, 0, 0, 0, 0],
            [0x55, 0, 2, 0, 0, 0, 0, 0],
            [0xb7, 0, 0, 0, 1, 0, 0, 0],
            [0x95, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(instructions, expected);
    }
}
