//! What all nodes may book.

use elastane_core::cluster::Request;

use super::ResourceManager;

impl ResourceManager {
    /// Reads it, where a limit or the order of queues depends on it.
    pub(super) fn read_bookable(&mut self) {
        if !self.reads_bookable {
            return;
        }
        let raised = |amount: u64, thousandths: u32| match self.follows_demand {
            true => amount * u64::from(thousandths) / 1_000,
            false => amount,
        };
        let mut bookable = Request::default();
        for (_, entry) in self.service.cluster().nodes() {
            let (registered, ratio) = (entry.registered, entry.bookable);
            bookable = bookable.plus(Request {
                memory_bytes: raised(registered.memory_bytes, ratio.memory_thousandths),
                vcores: match self.queues.virtual_cores_count() {
                    true => raised(u64::from(registered.vcores), ratio.vcores_thousandths) as u32,
                    false => 0,
                },
            });
        }
        self.bookable = bookable;
    }
}
