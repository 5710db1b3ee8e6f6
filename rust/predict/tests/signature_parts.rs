//! The parts of a key, for `elastane profiles explain`.

use elastane_predict::{Submission, signature, signature_parts};

fn submission(arguments: &[&str]) -> Submission {
    let arguments: Vec<String> =
        arguments.iter().map(|argument| format!("--arg '{argument}'")).collect();
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
        signature(&submission)
    );
    let made_equal: Vec<_> = parts
        .iter()
        .filter(|part| part.submitted.as_deref() != Some(part.in_key.as_str()))
        .collect();
    let words: Vec<_> =
        made_equal.iter().map(|part| (part.part.as_str(), part.submitted.as_deref())).collect();
    assert_eq!(words, [("name", Some("Sales 2024-01-05")), ("argument", Some("2024-01-05"))]);
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
fn a_tag_and_its_user_are_all_there_is_to_say() {
    let mut submission = submission(&["x"]);
    submission.tags = vec!["elastane.profile=Nightly".into()];
    let parts = signature_parts(&submission);
    let words: Vec<_> =
        parts.iter().map(|part| (part.part.as_str(), part.in_key.as_str())).collect();
    assert_eq!(words, [("user", "alice"), ("tag", "nightly")]);
}
