//! The parts of a key, for `elastane profiles explain`.

use elastane_runs::SignaturePart;

use crate::signature::{Submission, profile_tag};
use crate::{launch, shape, stem};

fn part(part: &str, submitted: &str, in_key: String) -> SignaturePart {
    SignaturePart {
        part: part.to_owned(),
        submitted: Some(submitted.to_owned()),
        in_key,
    }
}

fn argument(submitted: &str, in_key: String) -> SignaturePart {
    let is_kept = !may_hold_secret(submitted, &in_key);
    SignaturePart {
        part: "argument".to_owned(),
        submitted: is_kept.then(|| submitted.to_owned()),
        in_key,
    }
}

/// The parts of the key of a submission, in its order and before escaping; see
/// [`crate::signature()`].
#[must_use]
pub fn signature_parts(submission: &Submission) -> Vec<SignaturePart> {
    if let Some(name) = profile_tag(&submission.tags) {
        return vec![part("tag", &name, name.clone())];
    }
    let as_it_is = |name, text: &String| part(name, text, text.clone());
    let mut parts = vec![
        as_it_is("type", &submission.application_type),
        as_it_is("user", &submission.user),
        as_it_is("queue", &submission.queue),
        part(
            "name",
            &submission.name,
            stem::without_numbers(&submission.name),
        ),
    ];
    if let Some(launch) = launch::launch(&submission.commands) {
        let main = stem::without_dates(&launch.main);
        parts.push(part("main", &launch.main, main));
        let shapes = shape::shape(&launch.arguments);
        let arguments = launch.arguments.iter().zip(shapes);
        parts.extend(arguments.map(|(given, shape)| argument(given, shape)));
    }
    parts
}

/// Whether the text that the key drops may hold a secret: a host, a query, the name of a user.
fn may_hold_secret(submitted: &str, in_key: &str) -> bool {
    let is_location = submitted.contains(['@', '?', '&']) || submitted.contains("://");
    submitted != in_key && (in_key.contains('*') || is_location)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::signature;

    fn submission(arguments: &[&str]) -> Submission {
        let arguments: Vec<String> = arguments
            .iter()
            .map(|argument| format!("--arg '{argument}'"))
            .collect();
        Submission {
            name: "Sales 2024-01-05".into(),
            user: "alice".into(),
            queue: "root.etl".into(),
            application_type: "SPARK".into(),
            commands: vec![format!(
                "/bin/java org.apache.spark.deploy.yarn.ApplicationMaster \
                 --class 'org.apache.spark.deploy.PythonRunner' --primary-py-file sales.py {}",
                arguments.join(" ")
            )],
            ..Submission::default()
        }
    }

    #[test]
    fn the_parts_are_those_of_the_key() {
        let submission = submission(&["--day", "2024-01-05", "full"]);
        let parts = signature_parts(&submission);
        let key: Vec<&str> = parts.iter().map(|part| part.in_key.as_str()).collect();
        assert_eq!(
            format!("app|{}|{}", key[..5].join("|"), key[5..].join(" ")),
            signature(&submission).key
        );
        let made_equal: Vec<_> = parts.iter().filter(|part| part.made_equal()).collect();
        let words: Vec<_> = made_equal
            .iter()
            .map(|part| (part.part.as_str(), part.submitted.as_deref()))
            .collect();
        assert_eq!(
            words,
            [
                ("name", Some("Sales 2024-01-05")),
                ("argument", Some("2024-01-05"))
            ]
        );
    }

    #[test]
    fn no_secret_is_repeated() {
        let secrets = [
            ["--password", "hunter2"],
            ["--url", "jdbc:db://alice:hunter2@host/x"],
            ["--from", "https://host/part?sig=hunter2"],
            ["--token=hunter2", "x"],
        ];
        for arguments in secrets {
            let parts = signature_parts(&submission(&arguments));
            assert!(!format!("{parts:?}").contains("hunter2"), "{parts:?}");
        }
    }

    #[test]
    fn a_tag_is_all_there_is_to_say() {
        let mut submission = submission(&["x"]);
        submission.tags = vec!["elastane.profile=Nightly".into()];
        let parts = signature_parts(&submission);
        assert_eq!((parts.len(), parts[0].part.as_str()), (1, "tag"));
        assert_eq!(parts[0].in_key, "nightly");
    }
}
