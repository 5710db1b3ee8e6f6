//! Why an application waits, in words that are made when somebody asks.

use super::Cluster;
use super::application::{ApplicationId, Held};
use super::notes::Note;
use super::prospect::Judge;

impl Cluster {
    /// Why an application's next container was not placed when it was last looked at; none when it
    /// waits for nothing, or was not refused.
    pub fn held(&mut self, application: ApplicationId, now_ms: i64) -> Option<Held> {
        let waits = self.applications.get(&application)?;
        let row = waits.row?;
        if let Some(kept) = self.kept_node()
            && kept.application == application
        {
            return Some(Held::Keeps(kept));
        }
        match self.waiting.note(row) {
            Note::None => None,
            Note::Behind { node, behind } => Some(Held::Behind { node, behind }),
            Note::Kept { node } => self.kept_here(node).map(Held::Kept),
            Note::Passed { node } => waits.passed_for.map(|better| Held::Passed {
                node,
                better: better.node,
                gain_ms: better.gain_ms,
            }),
            Note::Short { node, resource } => {
                if let Some(entry) = self.nodes.get_mut(&node) {
                    Judge::of(self.policy.as_ref()).look_at(entry, now_ms);
                }
                let prospect = self.prospect(node, application, now_ms);
                Some(Held::NoFit {
                    node,
                    resource,
                    excess: prospect.and_then(|prospect| prospect.fits().err()),
                })
            }
        }
    }
}
