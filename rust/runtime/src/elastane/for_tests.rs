//! What tests of the boundary to Java ask for.

use elastane_core::cluster::{ApplicationId, Basis, Predicted};
use elastane_core::{ContainerKind, Demand, Resources, SLOT_MS};

use super::Elastane;

impl Elastane {
    /// Containers of this kind will need this for an hour.
    pub fn foresee_for_test(&self, id: ApplicationId, kind: ContainerKind, amounts: Resources) {
        let slots = vec![amounts; 1_200];
        if let Ok(demand) = Demand::series(SLOT_MS, &slots) {
            let predicted = Predicted::of(demand, 0.0, Basis::Profile("test".into()));
            self.service.lock().set_prediction(id, kind, Some(predicted));
        }
    }

    /// Panics while the service is locked.
    #[allow(clippy::panic)]
    pub fn panic_for_test(&self) {
        let _service = self.service.lock();
        panic!("a panic that a test asked for");
    }
}
