//! The applications that wait, in the form that a round reads: a row each in arrays without gaps.

use std::collections::HashMap;

use super::application::{Application, ApplicationId, Ask, Demands, Predicted};
use super::node_entry::{NodeEntry, Request};
use super::notes::{Note, Notes};
use super::screen::Screen;
use crate::container_kind::ContainerKind;
use crate::fit::Peaks;

/// The number of a row. The last row takes the place of one that is removed.
pub(super) type Row = usize;

/// Nodes of so many sizes are remembered at once; one more size takes the place of the one that was
/// asked for least recently.
const MOST_SIZES: usize = 8;

/// What a round reads of every application that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) request: Request,
    pub(super) since_ms: i64,
    /// Its number in this table.
    pub(super) queue: u32,
    pub(super) application: ApplicationId,
    pub(super) priority: i32,
    pub(super) kind: ContainerKind,
    /// Since when it is named first and not placed.
    pub(super) named_first_since_ms: Option<i64>,
    /// How many containers it waits for.
    pub(super) executors: u32,
    /// See [`Application::gets_on`].
    pub(super) gets_on: bool,
}

/// All that wait.
#[derive(Debug, Default)]
pub(super) struct WaitingTable {
    lines: Vec<Line>,
    predicted: Vec<Option<Predicted>>,
    notes: Notes,
    queue_numbers: HashMap<String, u32>,
    masters: usize,
    screens: Vec<Screen>,
    looks: u64,
}

/// The table as one round on a node reads it.
pub(super) struct Screened<'a> {
    pub(super) lines: &'a [Line],
    pub(super) predicted: &'a [Option<Predicted>],
    pub(super) screen: &'a Screen,
    pub(super) notes: &'a mut Notes,
}

impl WaitingTable {
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub(super) fn note(&self, row: Row) -> Note {
        self.notes.get(row)
    }

    pub(super) fn queue_count(&self) -> usize {
        self.notes.queue_count()
    }

    pub(super) fn add(&mut self, id: ApplicationId, application: &Application, ask: Ask) -> Row {
        let queue = self.queue_number(&application.queue);
        let predicted = application.demands.of(ask.kind);
        self.lines.push(Line {
            request: ask.request,
            since_ms: application.waiting_since_ms,
            queue,
            application: id,
            priority: ask.priority,
            kind: ask.kind,
            named_first_since_ms: None,
            executors: ask.count,
            gets_on: application.gets_on(),
        });
        self.predicted.push(predicted.cloned());
        self.notes.push();
        self.masters += usize::from(ask.kind.is_application_master());
        for screen in &mut self.screens {
            screen.push();
        }
        self.lines.len() - 1
    }

    /// It waits for something else now; what was noted stays.
    pub(super) fn change(&mut self, row: Row, ask: Ask, demands: &Demands) {
        let Some(line) = self.lines.get_mut(row) else {
            return;
        };
        line.priority = ask.priority;
        line.executors = ask.count;
        let former = (line.request, line.kind);
        if former == (ask.request, ask.kind) {
            return;
        }
        self.notes.count_out(row, line);
        self.masters -= usize::from(line.kind.is_application_master());
        self.masters += usize::from(ask.kind.is_application_master());
        line.named_first_since_ms = None;
        line.request = ask.request;
        line.kind = ask.kind;
        self.notes.count_in(row, line);
        self.predicted[row] = demands.of(ask.kind).cloned();
        for screen in &mut self.screens {
            screen.outdate(row);
        }
    }

    /// It waits for the same, of which something else is known now.
    pub(super) fn foreseen(&mut self, row: Row, demands: &Demands) {
        let Some(line) = self.lines.get(row) else {
            return;
        };
        self.predicted[row] = demands.of(line.kind).cloned();
        for screen in &mut self.screens {
            screen.outdate(row);
        }
    }

    /// Removes a row; returns the application whose row takes its number.
    pub(super) fn remove(&mut self, row: Row) -> Option<ApplicationId> {
        if row >= self.lines.len() {
            return None;
        }
        let line = self.lines.swap_remove(row);
        self.notes.swap_remove(row, &line);
        self.predicted.swap_remove(row);
        self.masters -= usize::from(line.kind.is_application_master());
        for screen in &mut self.screens {
            screen.swap_remove(row);
        }
        self.lines.get(row).map(|line| line.application)
    }

    /// More or fewer of an application's containers run.
    pub(super) fn counted(&mut self, application: &Application) {
        if let Some(line) = application.row.and_then(|row| self.lines.get_mut(row)) {
            line.gets_on = application.gets_on();
        }
    }

    pub(super) fn move_to_queue(&mut self, row: Row, queue: &str) {
        let queue = self.queue_number(queue);
        if let Some(line) = self.lines.get_mut(row) {
            self.notes.count_out(row, line);
            line.queue = queue;
            self.notes.count_in(row, line);
        }
    }

    /// Its wait begins anew.
    pub(super) fn granted(&mut self, row: Row, now_ms: i64) {
        if let Some(line) = self.lines.get_mut(row) {
            line.since_ms = now_ms;
            line.named_first_since_ms = None;
            self.notes.set(row, line, Note::None);
        }
    }

    /// It was named as the first of its queue to go to a node.
    pub(super) fn named_first(&mut self, row: Row, now_ms: i64) {
        if let Some(line) = self.lines.get_mut(row) {
            line.named_first_since_ms.get_or_insert(now_ms);
        }
    }

    pub(super) fn set_note(&mut self, row: Row, note: Note) {
        if let Some(line) = self.lines.get(row) {
            self.notes.set(row, line, note);
        }
    }

    /// For each queue, whether an application in it that runs waits and was refused memory when last
    /// looked at. None where no application master waits, so that nobody asks.
    pub(super) fn queues_short_of_memory(&self) -> Option<Vec<bool>> {
        (self.masters > 0).then(|| self.notes.queues_short_of_memory())
    }

    /// With what is known beforehand about every row on nodes of this one's size.
    pub(super) fn screened(&mut self, entry: &NodeEntry, peaks: Peaks) -> Screened<'_> {
        self.looks += 1;
        let known = |screen: &Screen| screen.is_for(entry);
        let index = self.screens.iter().position(known).unwrap_or_else(|| {
            if self.screens.len() >= MOST_SIZES {
                let oldest = (0..self.screens.len()).min_by_key(|i| self.screens[*i].used);
                self.screens.swap_remove(oldest.unwrap_or(0));
            }
            self.screens
                .push(Screen::new(entry, peaks, self.lines.len()));
            self.screens.len() - 1
        });
        let screen = &mut self.screens[index];
        screen.used = self.looks;
        screen.update(entry, &self.lines, &self.predicted);
        Screened {
            lines: &self.lines,
            predicted: &self.predicted,
            screen,
            notes: &mut self.notes,
        }
    }

    fn queue_number(&mut self, queue: &str) -> u32 {
        if let Some(number) = self.queue_numbers.get(queue) {
            return *number;
        }
        let number = u32::try_from(self.notes.queue_count()).unwrap_or(u32::MAX);
        self.queue_numbers.insert(queue.to_owned(), number);
        self.notes.push_queue();
        number
    }
}
