//! The first ask of an application for executors. Their number and size are not known before.

use std::collections::HashMap;

use elastane_core::cluster::{ApplicationId, Ask};
use elastane_runs::{EXECUTOR_CORES, EXECUTOR_MEMORY_BYTES, EXECUTORS, RunSettings};

/// The first ask of an application for executors: they are to be predicted again.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstAsk {
    /// The application.
    pub application: ApplicationId,
    /// Its id in YARN.
    pub application_id: String,
    /// The settings that the ask adds to those of the submission.
    pub settings: RunSettings,
    /// When, in Unix milliseconds.
    pub now_ms: i64,
}

/// The applications that have not asked yet.
#[derive(Default)]
pub(crate) struct FirstAsks {
    waited_for: HashMap<ApplicationId, String>,
}

impl FirstAsks {
    pub(crate) fn expect(&mut self, application: ApplicationId, id: &str) {
        self.waited_for.insert(application, id.to_owned());
    }

    /// The settings of this ask; none where it is not the first for executors.
    pub(crate) fn asked(
        &mut self,
        application: ApplicationId,
        ask: &Ask,
        now_ms: i64,
    ) -> Option<FirstAsk> {
        if ask.kind.is_application_master() || ask.count == 0 {
            return None;
        }
        let application_id = self.waited_for.remove(&application)?;
        let given = [
            (EXECUTORS, f64::from(ask.count)),
            (EXECUTOR_CORES, f64::from(ask.request.vcores)),
            (EXECUTOR_MEMORY_BYTES, ask.request.memory_bytes as f64),
        ];
        let named = given.map(|(name, amount)| (name.to_owned(), amount));
        Some(FirstAsk { application, application_id, settings: RunSettings(named.into()), now_ms })
    }

    pub(crate) fn forget(&mut self, application: ApplicationId) {
        self.waited_for.remove(&application);
    }
}

#[cfg(test)]
mod tests {
    use elastane_core::ContainerKind;
    use elastane_core::cluster::Request;

    use super::*;

    const APPLICATION: ApplicationId = ApplicationId(3);
    const EXECUTOR: ContainerKind = ContainerKind::DEFAULT_EXECUTOR;

    fn ask(kind: ContainerKind, count: u32) -> Ask {
        Ask { kind, priority: 0, request: Request { memory_bytes: 2_000, vcores: 4 }, count }
    }

    #[test]
    fn the_first_ask_for_executors_says_what_was_given_and_no_other_does() {
        let mut asks = FirstAsks::default();
        asks.expect(APPLICATION, "application_1");
        for other in [ask(ContainerKind::ApplicationMaster, 1), ask(EXECUTOR, 0)] {
            assert!(asks.asked(APPLICATION, &other, 5).is_none());
        }
        let asked = asks.asked(APPLICATION, &ask(EXECUTOR, 7), 5).unwrap();
        let given: Vec<(String, f64)> = asked.settings.0.into_iter().collect();
        let expected =
            [("executor_cores", 4.0), ("executor_memory_bytes", 2_000.0), ("executors", 7.0)];
        assert_eq!(given, expected.map(|(name, it)| (name.to_owned(), it)));
        assert_eq!((asked.application_id.as_str(), asked.now_ms), ("application_1", 5));
        assert!(asks.asked(APPLICATION, &ask(EXECUTOR, 9), 6).is_none());
    }

    #[test]
    fn nothing_is_waited_for_from_an_application_that_ended() {
        let mut asks = FirstAsks::default();
        asks.expect(APPLICATION, "application_1");
        asks.forget(APPLICATION);
        assert!(asks.asked(APPLICATION, &ask(EXECUTOR, 7), 5).is_none());
    }
}
