//! What is to be explained, by its name.

use std::str::FromStr;

/// An application, container, node or queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    Application(String),
    Container(String),
    Node(String),
    Queue(String),
}

impl FromStr for Subject {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let is_allowed = |it: char| it.is_alphanumeric() || "._-:@[]".contains(it);
        let owned = name.to_owned();
        if name.is_empty() || !name.chars().all(is_allowed) {
            Err("an application's or container's id, HOST:PORT of a node, or a queue's path from \
                 root on is allowed"
                .to_owned())
        } else if name.starts_with("application_") {
            Ok(Self::Application(owned))
        } else if name.starts_with("container_") {
            Ok(Self::Container(owned))
        } else if name == "root" || name.starts_with("root.") {
            Ok(Self::Queue(owned))
        } else if name.contains(':') {
            Ok(Self::Node(owned))
        } else {
            Err("no application's or container's id, no HOST:PORT, and no queue's path from root \
                 on"
            .to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_told_by_its_name() {
        let parsed = |name: &str| name.parse::<Subject>();
        let application = "application_1763736000000_0007";
        assert_eq!(parsed(application), Ok(Subject::Application(application.into())));
        assert_eq!(parsed("root.etl"), Ok(Subject::Queue("root.etl".into())));
        assert_eq!(parsed("node-1:8041"), Ok(Subject::Node("node-1:8041".into())));
        let container = "container_e17_1763736000000_0007_01_000002";
        assert_eq!(parsed(container), Ok(Subject::Container(container.into())));
        for wrong in ["", "etl", "a/b:1", "root.a?x=1", "a b:1"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
