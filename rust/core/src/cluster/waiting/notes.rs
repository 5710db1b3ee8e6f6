//! Why rows of [`super::table`] wait.

use super::{Line, Row};
use crate::cluster::state::{ApplicationId, NodeId};
use crate::resources::Resource;

/// Why a row's next container was not placed at the latest check: as much as a round can afford to
/// write. The words are made on demand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Note {
    /// Not checked, or not refused.
    #[default]
    None,
    /// It does not fit.
    NoFit { node: NodeId, resource: Resource },
    /// It fits, and waits for a better node.
    Passed { node: NodeId },
    /// It fits, and would delay the planned start of the application `behind`.
    Behind { node: NodeId, behind: ApplicationId },
    /// The node is kept for another application.
    Kept { node: NodeId },
}

/// One note for each row, and the number of rows that lack memory.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    notes: Vec<Note>,
    /// By queue: number of rows that wait for a container other than an application master and lack memory.
    short_of_memory: Vec<usize>,
}

impl Notes {
    pub(crate) fn get(&self, row: Row) -> Note {
        self.notes.get(row).copied().unwrap_or_default()
    }

    #[inline]
    pub(crate) fn set(&mut self, row: Row, line: &Line, note: Note) {
        if self.notes[row] != note {
            self.replace(row, line, note);
        }
    }

    fn replace(&mut self, row: Row, line: &Line, note: Note) {
        self.count_out(row, line);
        self.notes[row] = note;
        self.count_in(row, line);
    }

    /// Before a change of the row's line.
    pub(crate) fn count_out(&mut self, row: Row, line: &Line) {
        if self.counts(row, line) {
            self.short_of_memory[line.queue as usize] -= 1;
        }
    }

    /// After a change of the row's line.
    pub(crate) fn count_in(&mut self, row: Row, line: &Line) {
        if self.counts(row, line) {
            self.short_of_memory[line.queue as usize] += 1;
        }
    }

    fn counts(&self, row: Row, line: &Line) -> bool {
        let refused_memory = |note| matches!(note, Note::NoFit { resource: Resource::Memory, .. });
        !line.kind.is_application_master() && refused_memory(self.notes[row])
    }

    pub(crate) fn push(&mut self) {
        self.notes.push(Note::None);
    }

    pub(crate) fn swap_remove(&mut self, row: Row, line: &Line) {
        self.count_out(row, line);
        self.notes.swap_remove(row);
    }

    pub(crate) fn push_queue(&mut self) {
        self.short_of_memory.push(0);
    }

    pub(crate) fn queue_count(&self) -> usize {
        self.short_of_memory.len()
    }

    /// For each queue, whether one of its rows lacks memory.
    pub(crate) fn queues_short_of_memory(&self) -> Vec<bool> {
        self.short_of_memory.iter().map(|rows| *rows > 0).collect()
    }
}
