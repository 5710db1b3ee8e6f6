//! An assembler for the BPF instructions of the agent's two programs.
//!
//! The crates that load BPF (aya, libbpf-rs) need ELF objects from a compiler for the BPF target,
//! which neither a build of this project nor a node has. An assembler is smaller than that
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

/// The target of a jump, bound to a place in the program later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(usize);

/// A program that cannot be assembled.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    /// The label of the jump was never bound.
    #[error("the jump in instruction {instruction} goes to a label without a place")]
    Unbound { instruction: usize },
    /// A jump backwards, or over more instructions than 16 bits count. The verifier of kernels
    /// before 5.3 refuses every jump backwards.
    #[error("the jump in instruction {instruction} cannot reach its label")]
    OutOfReach { instruction: usize },
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

/// Collects instructions and resolves jumps.
#[derive(Debug, Default)]
pub struct Assembler {
    instructions: Vec<Instruction>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Binds a label to the next instruction.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0] = Some(self.instructions.len());
    }

    /// `to = to OPERATION operand`
    pub fn calculate(&mut self, operation: Operation, to: Register, operand: impl Into<Operand>) {
        let code = ARITHMETIC | operation as u8;
        self.with_operand(code, to, operand.into());
    }

    /// `to = *(from + offset)`
    pub fn load(&mut self, width: Width, to: Register, from: Register, offset: i16) {
        self.push(LOAD | width as u8, to as u8, from as u8, offset, 0);
    }

    /// `*(to + offset) = from`
    pub fn store(&mut self, width: Width, to: Register, offset: i16, from: Register) {
        self.push(STORE | width as u8, to as u8, from as u8, offset, 0);
    }

    /// `*(to + offset) = number`
    pub fn store_number(&mut self, width: Width, to: Register, offset: i16, number: i32) {
        self.push(STORE_NUMBER | width as u8, to as u8, 0, offset, number);
    }

    /// `*(to + offset) += from`, atomic across cores.
    pub fn add_atomically(&mut self, to: Register, offset: i16, from: Register) {
        let code = ATOMIC_ADD | Width::Eight as u8;
        self.push(code, to as u8, from as u8, offset, 0);
    }

    /// `to = map`. Takes two instructions.
    pub fn load_map(&mut self, to: Register, descriptor: i32) {
        self.push(LOAD_IMMEDIATE, to as u8, MAP_DESCRIPTOR, 0, descriptor);
        self.push(0, 0, 0, 0, 0);
    }

    /// Calls a helper, which overwrites `R1` to `R5`.
    pub fn call(&mut self, helper: Helper) {
        self.push(CALL, 0, 0, 0, helper as i32);
    }

    /// Jumps if `left CONDITION right`.
    pub fn jump_if(
        &mut self,
        left: Register,
        condition: Condition,
        right: impl Into<Operand>,
        label: Label,
    ) {
        self.jumps.push((self.instructions.len(), label));
        self.with_operand(JUMP | condition as u8, left, right.into());
    }

    /// Ends the program with a result.
    pub fn exit_with(&mut self, number: i32) {
        self.calculate(Operation::Move, Register::R0, number);
        self.push(EXIT, 0, 0, 0, 0);
    }

    /// The program with all jumps resolved. Fails for a jump to an unbound label, backwards or too
    /// far.
    pub fn finish(mut self) -> Result<Vec<Instruction>, AssembleError> {
        for (instruction, label) in self.jumps {
            let target = self.labels[label.0].ok_or(AssembleError::Unbound { instruction })?;
            // Distances count from the instruction after the jump.
            let distance = target
                .checked_sub(instruction + 1)
                .and_then(|distance| i16::try_from(distance).ok())
                .ok_or(AssembleError::OutOfReach { instruction })?;
            self.instructions[instruction][2..4].copy_from_slice(&distance.to_ne_bytes());
        }
        Ok(self.instructions)
    }

    fn with_operand(&mut self, code: u8, to: Register, operand: Operand) {
        match operand {
            Operand::Register(from) => self.push(code | FROM_REGISTER, to as u8, from as u8, 0, 0),
            Operand::Number(number) => self.push(code, to as u8, 0, 0, number),
        }
    }

    fn push(&mut self, code: u8, to: u8, from: u8, offset: i16, number: i32) {
        let registers = if cfg!(target_endian = "little") {
            (from << 4) | to
        } else {
            (to << 4) | from
        };
        let offset = offset.to_ne_bytes();
        let number = number.to_ne_bytes();
        self.instructions.push([
            code, registers, offset[0], offset[1], number[0], number[1], number[2], number[3],
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::{Condition::*, Operation::*, Register::*, Width::*, *};

    /// What the kernel's own assembler macros give, on a little-endian machine.
    #[test]
    #[cfg(target_endian = "little")]
    fn each_instruction_is_the_kernels() {
        let mut assembler = Assembler::default();
        assembler.calculate(Move, R6, R1);
        assembler.calculate(Add, R2, -4);
        assembler.calculate(Multiply, R9, R8);
        assembler.calculate(ShiftRight, R9, 20);
        assembler.load(Four, R8, R6, 0);
        assembler.load(Eight, R9, R0, 8);
        assembler.store(Eight, R7, 24, R0);
        assembler.store_number(Four, Frame, -4, 7);
        assembler.add_atomically(R7, 16, R8);
        assembler.load_map(R1, 5);
        assembler.call(Helper::MonotonicNs);
        assembler.exit_with(1);
        let expected: [Instruction; 14] = [
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
            [0xb7, 0, 0, 0, 1, 0, 0, 0],
            [0x95, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(assembler.finish().unwrap(), expected);
    }

    /// The distance that the jump at the start of a program has.
    fn distance(instructions: &[Instruction]) -> i16 {
        i16::from_ne_bytes([instructions[0][2], instructions[0][3]])
    }

    #[test]
    fn a_jump_counts_the_instructions_that_it_passes_over() {
        let mut assembler = Assembler::default();
        let label = assembler.label();
        assembler.jump_if(R0, NotEqual, 0, label);
        assembler.exit_with(1);
        assembler.bind(label);
        assembler.exit_with(0);
        assert_eq!(distance(&assembler.finish().unwrap()), 2);
    }

    #[test]
    fn a_map_counts_as_two_instructions() {
        let mut assembler = Assembler::default();
        let label = assembler.label();
        assembler.jump_if(R1, LessOrEqual, R2, label);
        assembler.load_map(R1, 3);
        assembler.bind(label);
        assembler.exit_with(0);
        assert_eq!(distance(&assembler.finish().unwrap()), 2);
    }

    #[test]
    fn two_jumps_may_go_to_one_label() {
        let mut assembler = Assembler::default();
        let label = assembler.label();
        assembler.jump_if(R0, Equal, 0, label);
        assembler.jump_if(R1, GreaterOrEqual, 9, label);
        assembler.bind(label);
        assembler.exit_with(0);
        let program = assembler.finish().unwrap();
        assert_eq!((distance(&program), distance(&program[1..])), (1, 0));
    }

    #[test]
    fn a_jump_to_nowhere_backwards_or_too_far_is_refused() {
        let mut assembler = Assembler::default();
        let label = assembler.label();
        assembler.jump_if(R0, Equal, 0, label);
        assert_eq!(
            assembler.finish(),
            Err(AssembleError::Unbound { instruction: 0 })
        );
        for (before, between) in [(1, 0), (0, 40_000)] {
            let mut assembler = Assembler::default();
            let label = assembler.label();
            if before > 0 {
                assembler.bind(label);
            }
            assembler.jump_if(R0, Equal, 0, label);
            for _ in 0..between {
                assembler.calculate(Add, R0, 1);
            }
            if before == 0 {
                assembler.bind(label);
            }
            assert_eq!(
                assembler.finish(),
                Err(AssembleError::OutOfReach { instruction: 0 })
            );
        }
    }
}
