//! Where every decision goes: it is counted, kept for a while, and written to the journal.

mod former;

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::counters::Counters;
use crate::journal::{JournalEvent, Record};
use crate::writer::JournalWriter;
pub(crate) use former::replaced;

/// The newest records, for those who ask; about 26 MiB. The journal has the others.
const KEPT: usize = 20_000;

/// The records that are looked at before a decision gets its turn.
const CHUNK: usize = 500;

/// The decisions of this process, and before them the newest of the journal.
pub(crate) struct Decisions {
    counters: Arc<Counters>,
    journal: JournalWriter,
    kept: Mutex<KeptDecisions>,
    /// Tells the numbers of this process from those of another one: 53 bits, as JavaScript has.
    numbering: u64,
}

#[derive(Default)]
struct KeptDecisions {
    /// The number of the oldest one.
    first: u64,
    records: VecDeque<Arc<Record>>,
}

impl KeptDecisions {
    /// The number of the newest record.
    fn newest(&self) -> Option<u64> {
        let count = self.records.len() as u64;
        (count > 0).then(|| self.first + count - 1)
    }

    fn push(&mut self, record: Arc<Record>) {
        if self.records.len() == KEPT {
            self.records.pop_front();
            self.first += 1;
        }
        self.records.push_back(record);
    }

    /// Up to [`CHUNK`] records before this number, newest first.
    fn before(&self, number: u64) -> Vec<(u64, Arc<Record>)> {
        let end = self.first + self.records.len() as u64;
        let end = end.min(number).max(self.first);
        let begin = end.saturating_sub(CHUNK as u64).max(self.first);
        let numbered = |number: u64| {
            let place = usize::try_from(number - self.first).ok()?;
            Some((number, Arc::clone(self.records.get(place)?)))
        };
        (begin..end).rev().filter_map(numbered).collect()
    }
}

impl Decisions {
    /// With the newest decisions that earlier processes wrote to the journal's file, if there is one.
    ///
    /// # Errors
    /// A thread that cannot be started.
    pub(crate) fn open(
        journal_file: Option<PathBuf>,
        counters: &Arc<Counters>,
    ) -> io::Result<Self> {
        let former = journal_file.as_deref().map(|file| former::newest(file, KEPT));
        let journal = JournalWriter::open(journal_file, counters)?;
        let mut kept = KeptDecisions::default();
        former.into_iter().flatten().for_each(|record| kept.push(Arc::new(record)));
        let numbering = RandomState::new().build_hasher().finish() >> 11;
        Ok(Self { counters: Arc::clone(counters), journal, kept: Mutex::new(kept), numbering })
    }

    pub(crate) fn record(&self, record: Record) {
        self.counters.record(&record.event);
        let record = Arc::new(record);
        if !matches!(record.event, JournalEvent::Node(_)) {
            self.kept.lock().push(Arc::clone(&record));
        }
        self.journal.write(record);
    }

    pub(crate) fn record_all(&self, records: impl IntoIterator<Item = Record>) {
        for record in records {
            self.record(record);
        }
    }

    pub(crate) fn journal(&self) -> &JournalWriter {
        &self.journal
    }

    /// Writes what the journal has not yet.
    pub(crate) fn close(&mut self) {
        self.journal.close();
    }

    /// The queue in the newest decision about an application that has one.
    pub(crate) fn latest_queue_of(&self, application: &str) -> Option<String> {
        let mut before = u64::MAX;
        loop {
            let chunk = self.kept.lock().before(before);
            before = chunk.last()?.0;
            let mut of_it = chunk.iter().map(|(_, record)| record);
            let latest =
                of_it.find(|it| it.queue.is_some() && it.event.application() == Some(application));
            if let Some(latest) = latest {
                return latest.queue.clone();
            }
        }
    }

    /// The newest decisions of those that are asked for.
    pub(crate) fn find(&self, wanted: &WantedDecisions) -> FoundDecisions {
        let newest = self.kept.lock().newest();
        let numbering = self.numbering;
        let mut found = FoundDecisions { newest, numbering, ..FoundDecisions::default() };
        let mut before = wanted.before.unwrap_or(u64::MAX);
        loop {
            let chunk = self.kept.lock().before(before);
            let Some((last, _)) = chunk.last() else {
                return found;
            };
            before = *last;
            for (number, record) in chunk {
                if !wanted.is_for(&record) {
                    continue;
                }
                if found.decisions.len() == wanted.limit {
                    found.next_before = found.decisions.last().map(|it| it.number);
                    return found;
                }
                found
                    .decisions
                    .push(NumberedRecord { number, record: Arc::unwrap_or_clone(record) });
            }
        }
    }
}

/// Which decisions somebody asks for; all that is given must hold.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedDecisions {
    application: Option<String>,
    container: Option<String>,
    node: Option<String>,
    /// This one and those below it.
    queue: Option<String>,
    /// As in the journal.
    kind: Option<String>,
    /// Only those with a smaller number.
    before: Option<u64>,
    limit: usize,
}

impl WantedDecisions {
    fn is_for(&self, record: &Record) -> bool {
        let event = &record.event;
        let holds = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        holds(&self.kind, Some(event.kind()))
            && holds(&self.application, event.application())
            && holds(&self.container, event.container())
            && holds(&self.node, event.node())
            && self.queue.as_deref().is_none_or(|path| record.is_within_queue(path))
    }
}

/// The answer, newest first.
#[derive(Debug, Default, Serialize)]
pub(crate) struct FoundDecisions {
    decisions: Vec<NumberedRecord>,
    /// Where the next page begins; none on the last one.
    next_before: Option<u64>,
    /// The newest decision of all, also of those that were not asked for; none before the first one.
    newest: Option<u64>,
    /// The same as long as the numbers mean the same decisions.
    numbering: u64,
}

#[derive(Debug, Serialize)]
struct NumberedRecord {
    /// Counts up from 0, the oldest that was read from the journal as the core was opened.
    number: u64,
    #[serde(flatten)]
    record: Record,
}

#[cfg(test)]
mod tests;
