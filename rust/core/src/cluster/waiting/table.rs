//! The waiting applications as parallel arrays without gaps, one row each.

mod user_limits;

use std::collections::HashMap;
use std::sync::Arc;

use super::queue_numbers::QueueNumbers;
use super::screen::Screen;
use super::{Line, Note, Row};
use crate::cluster::state::{
    Application, ApplicationId, Applications, Ask, Countables, Demands, NodeEntry, NodeId,
    Predicted,
};
use crate::container_kind::ContainerKind;
use crate::fit::Peaks;
use crate::resources::Resource;

/// Maximum number of node sizes with a screen; a further size replaces the least recently used screen.
const MOST_SIZES: usize = 8;

/// The waiting applications.
#[derive(Debug, Default)]
pub(crate) struct WaitingTable {
    rows: HashMap<ApplicationId, Row>,
    lines: Vec<Line>,
    predicted: Vec<Option<Predicted>>,
    countables: Vec<Countables>,
    labels: Vec<Arc<str>>,
    notes: Vec<Note>,
    users: Vec<Arc<str>>,
    queues: QueueNumbers,
    masters: usize,
    screens: Vec<Screen>,
    uses: u64,
    version: u64,
    is_any_user_at_limit: bool,
}

/// The table as a round on one node reads it.
pub(crate) struct Screened<'a> {
    pub(crate) lines: &'a [Line],
    pub(crate) predicted: &'a [Option<Predicted>],
    pub(crate) countables: &'a [Countables],
    pub(crate) screen: &'a Screen,
    pub(crate) notes: &'a mut [Note],
}

/// One row, and what is prepared for it.
pub(crate) struct Known<'a> {
    pub(crate) row: Row,
    pub(crate) line: &'a Line,
    pub(crate) predicted: Option<&'a Predicted>,
    pub(crate) screen: &'a Screen,
}

impl WaitingTable {
    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Each waiting application with the prediction for its next container.
    pub(crate) fn lines_predicted(&self) -> impl Iterator<Item = (&Line, Option<&Predicted>)> {
        self.lines.iter().zip(self.predicted.iter().map(Option::as_ref))
    }

    /// Whether every waiting application is planned at its request.
    pub(crate) fn is_nothing_predicted(&self) -> bool {
        self.predicted.iter().all(Option::is_none)
    }

    pub(crate) fn countables_of(&self, row: Row) -> &Countables {
        &self.countables[row]
    }

    /// The node label that the row's next container asks for; empty for none.
    pub(crate) fn label_of(&self, row: Row) -> &str {
        &self.labels[row]
    }

    pub(crate) fn line(&self, row: Row) -> &Line {
        &self.lines[row]
    }

    pub(crate) fn row_of(&self, application: ApplicationId) -> Option<Row> {
        self.rows.get(&application).copied()
    }

    pub(crate) fn line_of(&self, application: ApplicationId) -> Option<&Line> {
        self.lines.get(self.row_of(application)?)
    }

    pub(crate) fn note_of(&self, application: ApplicationId) -> Option<Note> {
        let row = self.rows.get(&application)?;
        self.notes.get(*row).copied()
    }

    /// The number of every queue is below this one.
    pub(crate) fn queue_count(&self) -> usize {
        self.queues.end()
    }

    /// The number of users with waiting applications in a queue.
    pub(crate) fn users_in(&self, queue: &str) -> usize {
        self.queues.users_in(queue)
    }

    /// Equal versions mean that no ask, no prediction and no queue changed in between.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Takes over an application's ask. The row's note stays.
    pub(crate) fn update(&mut self, id: ApplicationId, applications: &Applications) {
        let Some(application) = applications.get(&id) else {
            return;
        };
        self.version += 1;
        match (application.waiting, self.rows.get(&id).copied()) {
            (Some(ask), Some(row)) => {
                self.change(row, ask, &application.demands);
                let line = &mut self.lines[row];
                line.is_ordered = application.is_ordered();
                line.observed = application.demands.observed();
                line.asks_countables = !application.countables.is_empty();
                line.asks_label = !application.label.is_empty();
                if self.labels[row] != application.label {
                    // Why it was skipped on other nodes says nothing of these.
                    line.skipped_since_ms = None;
                    user_limits::forget(&mut self.notes[row]);
                    self.labels[row] = Arc::clone(&application.label);
                }
                self.countables[row].clone_from(&application.countables);
            }
            (Some(ask), None) => self.add(id, application, ask),
            (None, _) => self.remove(id),
        }
    }

    fn add(&mut self, id: ApplicationId, application: &Application, ask: Ask) {
        let queue = self.queues.enter(&application.queue, &application.user);
        let predicted = application.demands.of(ask.kind);
        self.rows.insert(id, self.lines.len());
        self.lines.push(Line {
            request: ask.request,
            since_ms: application.waiting_since_ms,
            deadline_ms: application.deadline_ms,
            queue,
            application: id,
            priority: ask.priority,
            kind: ask.kind,
            skipped_since_ms: None,
            executors: ask.count,
            makes_progress: application.makes_progress(),
            is_ordered: application.is_ordered(),
            observed: application.demands.observed(),
            asks_countables: !application.countables.is_empty(),
            asks_label: !application.label.is_empty(),
            user_at_limit: false,
        });
        self.countables.push(application.countables.clone());
        self.labels.push(Arc::clone(&application.label));
        self.predicted.push(predicted.cloned());
        self.notes.push(Note::None);
        self.users.push(Arc::clone(&application.user));
        self.masters += usize::from(ask.kind.is_application_master());
        for screen in &mut self.screens {
            screen.push();
        }
    }

    fn change(&mut self, row: Row, ask: Ask, demands: &Demands) {
        let Some(line) = self.lines.get_mut(row) else {
            return;
        };
        line.priority = ask.priority;
        line.executors = ask.count;
        let former = (line.request, line.kind);
        if former == (ask.request, ask.kind) {
            return;
        }
        self.masters -= usize::from(line.kind.is_application_master());
        self.masters += usize::from(ask.kind.is_application_master());
        line.skipped_since_ms = None;
        line.request = ask.request;
        line.kind = ask.kind;
        self.predict(row, demands);
    }

    /// The prediction for containers of this kind changed.
    pub(crate) fn set_prediction(
        &mut self,
        id: ApplicationId,
        kind: ContainerKind,
        demands: &Demands,
    ) {
        self.version += 1;
        if let Some(row) = self.rows.get(&id).copied()
            && self.lines[row].kind == kind
        {
            self.predict(row, demands);
        }
    }

    /// Whether the predictions for these applications count may have changed.
    pub(crate) fn refresh_predictions(
        &mut self,
        ids: &[ApplicationId],
        applications: &Applications,
    ) {
        self.version += 1;
        for id in ids {
            let row = self.rows.get(id).copied();
            if let (Some(row), Some(application)) = (row, applications.get(id)) {
                self.lines[row].observed = application.demands.observed();
                self.predict(row, &application.demands);
            }
        }
    }

    fn predict(&mut self, row: Row, demands: &Demands) {
        self.predicted[row] = demands.of(self.lines[row].kind).cloned();
        for screen in &mut self.screens {
            screen.outdate(row);
        }
    }

    /// Removes an application. The last row takes the place of its row.
    pub(crate) fn remove(&mut self, id: ApplicationId) {
        self.version += 1;
        let Some(row) = self.rows.remove(&id) else {
            return;
        };
        let line = self.lines.swap_remove(row);
        self.notes.swap_remove(row);
        self.predicted.swap_remove(row);
        self.countables.swap_remove(row);
        self.labels.swap_remove(row);
        self.masters -= usize::from(line.kind.is_application_master());
        let user = self.users.swap_remove(row);
        self.queues.leave(line.queue, &user);
        for screen in &mut self.screens {
            screen.swap_remove(row);
        }
        if let Some(moved) = self.lines.get(row) {
            self.rows.insert(moved.application, row);
        }
    }

    /// The number of running containers of an application changed.
    pub(crate) fn running_changed(&mut self, id: ApplicationId, applications: &Applications) {
        if let Some(row) = self.rows.get(&id)
            && let (Some(line), Some(application)) =
                (self.lines.get_mut(*row), applications.get(&id))
        {
            line.makes_progress = application.makes_progress();
        }
    }

    pub(crate) fn move_to_queue(&mut self, id: ApplicationId, queue: &str) {
        let Some(row) = self.rows.get(&id).copied() else {
            return;
        };
        self.version += 1;
        let user = &self.users[row];
        if let Some(line) = self.lines.get_mut(row) {
            let former = std::mem::replace(&mut line.queue, self.queues.enter(queue, user));
            self.queues.leave(former, user);
        }
    }

    /// An application got a container: its wait restarts.
    pub(crate) fn granted(&mut self, id: ApplicationId, now_ms: i64) {
        if let Some(row) = self.rows.get(&id).copied()
            && let Some(line) = self.lines.get_mut(row)
        {
            line.since_ms = now_ms;
            line.skipped_since_ms = None;
            self.notes[row] = Note::None;
        }
    }

    /// CapacityScheduler went past the application on a node. `on_asked_ms` is none on a node without the label that
    /// is asked for: that says nothing of the others.
    pub(crate) fn skipped(&mut self, id: ApplicationId, node: NodeId, on_asked_ms: Option<i64>) {
        if let Some(row) = self.rows.get(&id).copied() {
            let line = &mut self.lines[row];
            line.skipped_since_ms = line.skipped_since_ms.or(on_asked_ms);
            self.notes[row] = Note::Skipped { node };
        }
    }

    pub(crate) fn note(&mut self, id: ApplicationId, note: Note) {
        if let Some(row) = self.rows.get(&id).copied() {
            self.notes[row] = note;
        }
    }

    pub(crate) fn set_note(&mut self, row: Row, note: Note) {
        self.notes[row] = note;
    }

    /// For each queue, whether one of its running applications waits and, at the latest check, lacked memory or
    /// had to wait for room within the node's registered size. `None` while no application master waits: no round needs it.
    pub(crate) fn queues_short_of_memory(&self) -> Option<Vec<bool>> {
        if self.masters == 0 {
            return None;
        }
        let mut short = vec![false; self.queue_count()];
        for (line, note) in self.lines.iter().zip(&self.notes) {
            let lacks_memory = matches!(
                note,
                Note::NoFit { resource: Resource::Memory, .. } | Note::RegisteredOnly { .. }
            );
            if lacks_memory && !line.kind.is_application_master() {
                short[line.queue as usize] = true;
            }
        }
        Some(short)
    }

    /// A waiting application's row, if the screen for nodes of this size is up to date for it.
    pub(crate) fn known(
        &self,
        entry: &NodeEntry,
        peaks: Peaks,
        application: ApplicationId,
    ) -> Option<Known<'_>> {
        let row = self.row_of(application)?;
        let screen = self.screens.iter().find(|screen| screen.is_for(entry, peaks))?;
        let known =
            Known { row, line: &self.lines[row], predicted: self.predicted[row].as_ref(), screen };
        screen.is_up_to_date(row).then_some(known)
    }

    /// The table with the screen for nodes of this size.
    pub(crate) fn screened(&mut self, entry: &NodeEntry, peaks: Peaks) -> Screened<'_> {
        self.uses += 1;
        let is_for = |screen: &Screen| screen.is_for(entry, peaks);
        let index = self.screens.iter().position(is_for).unwrap_or_else(|| {
            if self.screens.len() >= MOST_SIZES {
                let oldest = (0..self.screens.len()).min_by_key(|i| self.screens[*i].used_at);
                self.screens.swap_remove(oldest.unwrap_or(0));
            }
            self.screens.push(Screen::new(entry, peaks, self.lines.len()));
            self.screens.len() - 1
        });
        let screen = &mut self.screens[index];
        screen.used_at = self.uses;
        screen.update(entry, &self.lines, &self.predicted);
        Screened {
            lines: &self.lines,
            predicted: &self.predicted,
            countables: &self.countables,
            screen,
            notes: &mut self.notes,
        }
    }
}
