//! YARN's ids of applications and containers.

use elastane_core::Cluster;
use elastane_core::cluster::ApplicationId;

/// YARN's id of a container's application. The container's id names an application that has ended, and of which the
/// cluster knows nothing any more. Empty if that is no id of YARN's.
pub(crate) fn application_id(
    cluster: &Cluster,
    application: ApplicationId,
    container: &str,
) -> String {
    let known = cluster.application(application).map(|it| it.id.clone());
    known.or_else(|| application_of(container)).unwrap_or_default()
}

/// The application of a container, by YARN's ids: `container_[eEPOCH_]CLUSTER_APPLICATION_ATTEMPT_NUMBER`.
pub fn application_of(container: &str) -> Option<String> {
    let parts: Vec<&str> = container.strip_prefix("container_")?.split('_').collect();
    let [.., cluster, application, _, _] = parts.as_slice() else {
        return None;
    };
    Some(format!("application_{cluster}_{application}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_container_names_its_application() {
        let of = |container| application_of(container).unwrap();
        assert_eq!(of("container_17_0007_01_000002"), "application_17_0007");
        assert_eq!(of("container_e3_17_0007_01_000002"), "application_17_0007");
        assert_eq!(application_of("container_17"), None);
    }
}
