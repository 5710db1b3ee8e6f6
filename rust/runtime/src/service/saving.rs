//! What of the service is to be saved: runs, their checkpoints and the ledger.

use elastane_runs::{LedgerNews, Run, RunEvent};

use super::Service;
use crate::effects::Due;

impl Service {
    /// The records to be saved now, every second or so.
    pub fn due(&mut self, now_ms: i64) -> Due {
        let Self { settings, cluster, runs, accounts, .. } = self;
        let ended = runs.take_closed(now_ms);
        accounts.past.set_recording(settings.advises.anywhere, cluster, now_ms);
        accounts.past.closed(&ended);
        let ledger = accounts.ledger.take_due(cluster, &settings.prices, now_ms);
        Due { checkpoint: runs.take_news(now_ms), ended, ledger }
    }

    /// The changes since the latest checkpoint, for the end; and when something last happened.
    pub fn last_checkpoint(&mut self) -> (Option<Vec<RunEvent>>, i64) {
        (self.runs.take_all_news(), self.runs.latest_ms())
    }

    /// What was booked and used since [`Service::due`] last said it, for the end.
    pub fn last_ledger(&mut self) -> LedgerNews {
        let Self { settings, cluster, runs, accounts, .. } = self;
        accounts.ledger.take_last(cluster, &settings.prices, runs.latest_ms())
    }

    /// Every run that ended, also those whose last samples have not arrived.
    pub fn ended(&mut self) -> Vec<Run> {
        self.runs.take_ended()
    }

    /// The whole state of running applications, for a depository that lacks earlier checkpoints.
    pub fn whole(&mut self, now_ms: i64) -> Vec<RunEvent> {
        self.runs.take_whole(now_ms)
    }
}
