//! The key that all submissions of one application share.

use elastane_runs::SignaturePart;
use serde::Deserialize;

use crate::{launch, shape, stem};

/// The longest key, in bytes. A longer one is cut and ends in a hash of the whole.
const MAX_KEY_BYTES: usize = 512;

const PROFILE_TAG: &str = "elastane.profile=";

/// Parts of a key, see [`SignaturePart::part`].
const TAG: &str = "tag";
/// The queue that shares the name of a profile tag.
const SHARED: &str = "shared";
const USER: &str = "user";
const QUEUE: &str = "queue";
const MAIN: &str = "main";
const ARGUMENT: &str = "argument";

/// What the ResourceManager knows of an application when it is submitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Submission {
    /// YARN's application id.
    pub id: String,
    /// The name, as submitted.
    pub name: String,
    /// The user who submitted it.
    pub user: String,
    /// The queue it runs in.
    pub queue: String,
    /// YARN's application type, such as `SPARK`.
    #[serde(rename = "type")]
    pub application_type: String,
    /// YARN's application tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// How long ago it was submitted, in milliseconds: a ResourceManager that starts knows applications of
    /// the former one.
    #[serde(default)]
    pub age_ms: i64,
    /// The commands of the application master's launch context.
    #[serde(default)]
    pub commands: Vec<String>,
    /// What its queue and the queues above it share, the innermost one first.
    #[serde(default)]
    pub shared_profiles: Vec<SharedProfiles>,
}

/// The names of profile tags whose runs count together for all users of a queue and of those below it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct SharedProfiles {
    /// The path of the queue.
    pub queue: String,
    /// The names, in any case; `*` for all.
    pub names: Vec<String>,
}

impl SharedProfiles {
    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|shared| shared == "*" || shared.to_lowercase() == name)
    }
}

/// The key of an application: equal for all its runs, and for no other application.
///
/// Where the tag `elastane.profile=NAME` is given, `shared|QUEUE|NAME` if a queue shares the name, else `tag|USER|NAME`.
/// Without the tag `app|TYPE|USER|QUEUE|NAME|MAIN|ARGUMENTS`, the last two where the launch command shows them.
/// Readable text of at most 512 bytes, the same in every process and version; `docs/learning.md` says what is made equal.
pub fn signature(submission: &Submission) -> String {
    let parts = signature_parts(submission);
    let (arguments, others): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|part| part.part == ARGUMENT);
    let has = |name: &str| others.iter().any(|part| part.part == name);
    let kind = if has(SHARED) {
        SHARED
    } else if has(TAG) {
        TAG
    } else {
        "app"
    };
    let mut fields = vec![kind.to_owned()];
    fields.extend(others.iter().map(|part| escaped(&part.in_key)));
    if has(MAIN) {
        let arguments = arguments.iter().map(|part| escaped(&part.in_key).replace(' ', "\\ "));
        fields.push(arguments.collect::<Vec<_>>().join(" "));
    }
    key(&fields)
}

/// The parts of the key of a submission, in its order and before escaping. Arguments that the key makes
/// equal and that may hold a secret are left out of [`SignaturePart::submitted`].
pub fn signature_parts(submission: &Submission) -> Vec<SignaturePart> {
    let part = |part: &str, submitted: &String, in_key: String| SignaturePart {
        part: part.to_owned(),
        submitted: Some(submitted.clone()),
        in_key,
    };
    let Submission { application_type, user, queue, name, .. } = submission;
    if let Some(tag) = profile_tag(&submission.tags) {
        let shared = submission.shared_profiles.iter().find(|shared| shared.has(&tag));
        let owner = match shared {
            Some(SharedProfiles { queue, .. }) => part(SHARED, queue, queue.clone()),
            None => part(USER, user, user.clone()),
        };
        return vec![owner, part(TAG, &tag, tag.clone())];
    }
    let mut parts = vec![
        part("type", application_type, application_type.clone()),
        part(USER, user, user.clone()),
        part(QUEUE, queue, queue.clone()),
        part("name", name, stem::without_numbers(name)),
    ];
    if let Some(launch) = launch::launch(&submission.commands) {
        parts.push(part(MAIN, &launch.main, stem::without_dates(&launch.main)));
        let shapes = shape::shape(&launch.arguments);
        for (given, shape) in launch.arguments.iter().zip(shapes) {
            let mut argument = part(ARGUMENT, given, shape);
            argument.submitted =
                argument.submitted.filter(|given| !may_hold_secret(given, &argument.in_key));
            parts.push(argument);
        }
    }
    parts
}

/// The queue of a submission with these parts; none where a profile is named by a tag.
pub fn queue_of(parts: &[SignaturePart]) -> Option<&str> {
    parts.iter().find(|part| part.part == QUEUE)?.submitted.as_deref()
}

/// Whether the text that the key drops may hold a secret: a host, a query, the name of a user.
fn may_hold_secret(submitted: &str, in_key: &str) -> bool {
    let is_location = submitted.contains(['@', '?', '&']) || submitted.contains("://");
    submitted != in_key && (in_key.contains('*') || is_location)
}

/// The NAME of the profile tag, in lower case because YARN lowers tags by default. Where several tags name
/// a profile, the first in alphabetical order counts: YARN keeps tags without order.
fn profile_tag(tags: &[String]) -> Option<String> {
    tags.iter()
        .map(|tag| tag.trim().to_lowercase())
        .filter_map(|tag| Some(tag.strip_prefix(PROFILE_TAG)?.trim().to_owned()))
        .filter(|name| !name.is_empty())
        .min()
}

/// Escapes separators and control characters.
fn escaped(field: &str) -> String {
    field.chars().fold(String::new(), |mut text, character| {
        match character {
            '\\' | '|' => text.extend(['\\', character]),
            c if c.is_control() => text.extend(c.escape_unicode()),
            c => text.push(c),
        }
        text
    })
}

fn key(fields: &[String]) -> String {
    let key = fields.join("|");
    if key.len() <= MAX_KEY_BYTES {
        return key;
    }
    let ending = format!("~{:032x}", fnv1a(key.as_bytes()));
    let kept = key.floor_char_boundary(MAX_KEY_BYTES - ending.len());
    format!("{}{ending}", &key[..kept])
}

/// FNV-1a of 128 bits. Keys are stored, and the hashers of the standard library may change. The hash tells
/// keys apart; it is not cryptographic.
fn fnv1a(bytes: &[u8]) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn submission(name: &str, arguments: &str) -> Submission {
        Submission {
            id: "application_1700000000000_0001".into(),
            name: name.into(),
            user: "alice".into(),
            queue: "root.etl".into(),
            application_type: "SPARK".into(),
            commands: vec![format!(
                "{{{{JAVA_HOME}}}}/bin/java -server -Xmx1024m \
                 org.apache.spark.deploy.yarn.ApplicationMaster \
                 --class 'org.apache.spark.deploy.PythonRunner' --primary-py-file sales.py \
                 {arguments} --properties-file x 1> <LOG_DIR>/stdout 2> <LOG_DIR>/stderr"
            )],
            ..Submission::default()
        }
    }

    fn key_of(submission: &Submission) -> String {
        signature(submission)
    }

    #[test]
    fn a_key_can_be_read() {
        // The worked example of docs/learning.md.
        let submission = submission(
            "Sales 2024-01-05",
            "--arg '--day' --arg '2024-01-05' --arg 'hdfs://nn/in/part-7' --arg 'full' \
             --arg '--password' --arg 'hunter2'",
        );
        let key = "app|SPARK|alice|root.etl|Sales #|sales.py|--day # part-# full --password *";
        assert_eq!(key_of(&submission), key);
    }

    #[test]
    fn the_next_day_is_the_same_application() {
        let monday = submission("Sales 2024-01-05", "--arg '--day=2024-01-05'");
        let tuesday = submission("Sales 2024-01-06", "--arg '--day=2024-01-06'");
        assert_eq!(key_of(&monday), key_of(&tuesday));
    }

    #[test]
    fn each_part_of_the_submission_tells_applications_apart() {
        let first = submission("Sales", "--arg 'a'");
        let changes: [fn(&mut Submission); 6] = [
            |s| s.name = "Stock".into(),
            |s| s.user = "bob".into(),
            |s| s.queue = "root.other".into(),
            |s| s.application_type = "MAPREDUCE".into(),
            |s| s.commands[0] = s.commands[0].replace("sales.py", "stock.py"),
            |s| s.commands[0] = s.commands[0].replace("'a'", "'b'"),
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut other = first.clone();
            change(&mut other);
            assert_ne!(key_of(&first), key_of(&other), "change {number}");
        }
    }

    #[test]
    fn a_tag_decides_and_its_case_does_not_matter() {
        let mut first = submission("Sales", "");
        let mut second = submission("Other", "--arg 'x'");
        first.tags = vec!["other".into(), "elastane.profile=Nightly".into()];
        second.tags = vec!["Elastane.Profile=nightly ".into()];
        assert_eq!(signature(&first), "tag|alice|nightly");
        assert_eq!(key_of(&first), key_of(&second));
    }

    #[test]
    fn the_order_of_tags_does_not_matter() {
        for names in [["b", "a"], ["a", "b"]] {
            let mut submission = submission("Sales", "");
            submission.tags = names.map(|name| format!("elastane.profile={name}")).into();
            assert_eq!(key_of(&submission), "tag|alice|a");
        }
    }

    #[test]
    fn a_tag_is_the_users_own_unless_a_queue_shares_it() {
        let of = |user: &str, name: &str, shared: &[(&str, &[&str])]| {
            let mut submission = submission("Sales", "");
            submission.user = user.into();
            submission.tags = vec![format!("elastane.profile={name}")];
            submission.shared_profiles = { shared.iter() }
                .map(|(queue, names)| SharedProfiles {
                    queue: (*queue).into(),
                    names: names.iter().map(|name| (*name).into()).collect(),
                })
                .collect();
            key_of(&submission)
        };
        assert_ne!(of("alice", "nightly", &[]), of("bob", "nightly", &[]));
        let shared: &[(&str, &[&str])] = &[("root.etl", &["Nightly"]), ("root", &["*"])];
        assert_eq!(of("alice", "nightly", shared), "shared|root.etl|nightly");
        assert_eq!(of("bob", "nightly", shared), "shared|root.etl|nightly");
        assert_eq!(of("bob", "weekly", shared), "shared|root|weekly", "the innermost that has it");
        assert_eq!(of("bob", "weekly", &shared[..1]), "tag|bob|weekly");
        assert_ne!(of("root.etl", "nightly", &[]), of("bob", "nightly", shared), "a user's name");
    }

    #[test]
    fn a_tag_without_a_name_decides_nothing() {
        let mut submission = submission("Sales", "");
        submission.tags = vec!["elastane.profile=".into()];
        assert!(key_of(&submission).starts_with("app|"));
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let mut first = submission("a|b", "");
        let mut second = submission("b", "");
        first.queue = "q".into();
        second.queue = "q|a".into();
        assert_ne!(key_of(&first), key_of(&second));
        assert_ne!(
            key_of(&submission("x", "--arg 'a b'")),
            key_of(&submission("x", "--arg 'a' --arg 'b'"))
        );
    }

    #[test]
    fn unknown_and_missing_fields_of_a_submission_are_allowed() {
        let text = r#"{"id":"a","name":"n","user":"u","queue":"q","type":"T","priority":7}"#;
        let submission: Submission = serde_json::from_str(text).unwrap();
        assert_eq!(key_of(&submission), "app|T|u|q|n");
    }

    #[test]
    fn the_hash_is_fnv1a() {
        // The empty string's is the offset by definition; "a" is a published test vector.
        assert_eq!(fnv1a(b""), 0x6c62272e07bb014262b821756295c58d);
        assert_eq!(fnv1a(b"a"), 0xd228cb696f1a8caf78912b704e4a8964);
    }

    #[test]
    fn long_keys_are_cut_and_still_told_apart() {
        let long = "ä".repeat(600);
        let (first, second) = (
            key_of(&submission(&format!("{long}x"), "")),
            key_of(&submission(&format!("{long}y"), "")),
        );
        assert!(first.len() <= MAX_KEY_BYTES && first.len() > MAX_KEY_BYTES - 4);
        assert_ne!(first, second);
    }

    proptest! {
        #[test]
        fn any_submission_has_a_bounded_printable_key(
            name in "\\PC{0,300}", queue in "[\\s\\S]{0,300}", command in "\\PC{0,300}",
        ) {
            let submission = Submission {
                name, queue, commands: vec![command], ..Submission::default()
            };
            let key = key_of(&submission);
            prop_assert!(key.len() <= MAX_KEY_BYTES);
            prop_assert!(!key.contains(char::is_control));
        }
    }
}
