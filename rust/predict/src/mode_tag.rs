//! The mode that a submitter wants for an application.

use thiserror::Error;

const MODE_TAG: &str = "elastane.mode=";

/// A value of the tag that is no mode.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the tag {MODE_TAG}{0} is ignored: observe, advise or enforce is allowed")]
pub struct BadMode(pub String);

/// Whether the tags `elastane.mode=MODE` want the application in observe or advise, which decide alike, and those that are
/// no mode. `enforce` changes nothing: an application's mode is never above its queue's.
pub fn is_observed_by_tag(tags: &[String]) -> (bool, Vec<BadMode>) {
    let (mut is_observed, mut bad) = (false, Vec::new());
    let tags = tags.iter().map(|tag| tag.trim().to_lowercase());
    for given in tags.filter_map(|tag| Some(tag.strip_prefix(MODE_TAG)?.trim().to_owned())) {
        match &*given {
            "observe" | "advise" => is_observed = true,
            "enforce" => {}
            _ => bad.push(BadMode(given)),
        }
    }
    (is_observed, bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tags: &[&str]) -> (bool, Vec<BadMode>) {
        let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
        is_observed_by_tag(&tags)
    }

    #[test]
    fn observe_is_read_in_any_case_and_wins_over_enforce() {
        assert_eq!(of(&[]), (false, vec![]));
        assert_eq!(of(&["elastane.mode=enforce"]), (false, vec![]));
        assert_eq!(of(&["nightly", " Elastane.Mode= OBSERVE"]), (true, vec![]));
        assert_eq!(of(&["elastane.mode=enforce", "elastane.mode=observe"]), (true, vec![]));
        assert_eq!(of(&["elastane.mode=advise"]), (true, vec![]));
    }

    #[test]
    fn what_is_no_mode_is_ignored_and_named() {
        let (is_observed, bad) = of(&["elastane.mode=off"]);
        assert!(!is_observed);
        let said = "the tag elastane.mode=off is ignored: observe, advise or enforce is allowed";
        assert_eq!(bad[0].to_string(), said);
    }
}
