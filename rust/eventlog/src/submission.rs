//! Reconstructs the submission to YARN, so that the run has the key of the application's next run.

use std::collections::BTreeMap;

use elastane_predict::Submission;

use crate::event::{ApplicationStart, Environment};
use crate::properties::Properties;

const CLUSTER_MODE: &str = "org.apache.spark.deploy.yarn.ApplicationMaster";
const REDACTED: &str = "(redacted)";

/// Options that Spark adds to the arguments of the program.
const MASTER_OPTIONS: &str = "--class --jar --primary-py-file --primary-r-file --arg \
                              --properties-file --dist-cache-conf --archives";

/// Properties of submissions that logs do not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Queue paths by logged name.
    pub queues: BTreeMap<String, String>,
    /// Submitted application names by logged name.
    pub names: BTreeMap<String, String>,
}

/// An uncertain property of a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum KeyNote {
    /// The log has only the last part of the queue path.
    #[error("queue {0} is taken as root.{0}; `--queue {0}=PATH` where it is another")]
    ShortQueue(String),
    /// The log has the name that the program set; YARN has the submitted name.
    #[error(
        "in cluster mode the name is the program's own; \
         `--name LOGGED=SUBMITTED` where spark-submit had another"
    )]
    OwnName,
    /// The driver ran outside YARN, so YARN has no main class and arguments.
    #[error("client mode: the key ends with the name, as it does on YARN")]
    ClientMode,
    /// The application did not run on YARN.
    #[error("master {0} is not YARN: the key is that of YARN's client mode")]
    NotYarn(String),
    /// Spark redacted the command since it seemed to contain a secret.
    #[error("the command is redacted: the key has no main class and arguments, YARN's will have")]
    Redacted,
    /// The log has no command.
    #[error("the command is not logged: the key has no main class and arguments, YARN's will have")]
    NoCommand,
}

/// The submission of this application and its uncertain properties.
pub(crate) fn submission(
    start: &ApplicationStart,
    environment: &Environment,
    options: &ImportOptions,
) -> (Submission, Vec<KeyNote>) {
    let properties = Properties(&environment.spark);
    let mut notes = Vec::new();
    let queue = properties.get("spark.yarn.queue").unwrap_or("default");
    let queue = match options.queues.get(queue) {
        Some(path) => path.clone(),
        None if queue == "root" || queue.starts_with("root.") => queue.to_owned(),
        None => {
            if queue != "default" {
                notes.push(KeyNote::ShortQueue(queue.to_owned()));
            }
            format!("root.{queue}")
        }
    };
    let tags = properties.get("spark.yarn.tags").unwrap_or_default();
    let submitted = options.names.get(&start.name);
    let command = command(&properties, environment);
    match &command {
        Ok(_) if submitted.is_none() => notes.push(KeyNote::OwnName),
        Ok(_) => {}
        Err(note) => notes.push(note.clone()),
    }
    let submission = Submission {
        id: start.id.clone().unwrap_or_default(),
        name: submitted.unwrap_or(&start.name).clone(),
        user: start.user.clone(),
        queue,
        application_type: properties
            .get("spark.yarn.applicationType")
            .unwrap_or("SPARK")
            .to_owned(),
        tags: tags.split(',').filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
        commands: command.into_iter().collect(),
        ..Submission::default()
    };
    (submission, notes)
}

/// The command in the launch context of the application master.
fn command(properties: &Properties<'_>, environment: &Environment) -> Result<String, KeyNote> {
    let master = properties.get("spark.master").unwrap_or_default();
    if master != "yarn" {
        return Err(KeyNote::NotYarn(master.to_owned()));
    }
    if properties.get("spark.submit.deployMode") != Some("cluster") {
        return Err(KeyNote::ClientMode);
    }
    let logged = environment.system.get("sun.java.command");
    let logged = logged.ok_or(KeyNote::NoCommand)?;
    let Some(arguments) = logged.strip_prefix(CLUSTER_MODE) else {
        return Err(match logged.ends_with(REDACTED) {
            true => KeyNote::Redacted,
            false => KeyNote::NoCommand,
        });
    };
    let words = master_arguments(arguments);
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    Ok(format!("java {CLUSTER_MODE} {}", quoted.join(" ")))
}

/// The arguments of the application master. The JVM joins them with spaces, so all words up to the next
/// option belong to one value.
fn master_arguments(line: &str) -> Vec<String> {
    let is_option = |word: &str| MASTER_OPTIONS.split(' ').any(|option| option == word);
    let mut arguments: Vec<String> = Vec::new();
    // Whether the last argument is the value of an option.
    let mut is_value = false;
    for word in line.trim_start().split(' ') {
        match arguments.last_mut() {
            Some(option) if !is_value && is_option(option) => {
                arguments.push(word.to_owned());
                is_value = true;
            }
            Some(value) if is_value && !is_option(word) => {
                value.push(' ');
                value.push_str(word);
            }
            _ => {
                arguments.push(word.to_owned());
                is_value = false;
            }
        }
    }
    arguments
}

/// Quotes an argument as Spark does for the NodeManager's shell.
fn quoted(argument: &str) -> String {
    let mut quoted = String::from("'");
    for character in argument.chars() {
        match character {
            '$' => quoted.push_str("\\$"),
            '"' => quoted.push_str("\\\""),
            '\'' => quoted.push_str("'\\''"),
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use elastane_predict::signature;

    /// A log of the worked example of docs/learning.md.
    fn sales() -> (ApplicationStart, Environment) {
        let start = ApplicationStart {
            name: "Sales 2024-01-05".into(),
            id: Some("application_1700000000000_0001".into()),
            at_ms: 0,
            user: "alice".into(),
            attempt: Some("1".into()),
        };
        let property = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let command = "org.apache.spark.deploy.yarn.ApplicationMaster \
            --class org.apache.spark.deploy.PythonRunner --primary-py-file sales.py \
            --arg --day --arg 2024-01-05 --arg hdfs://nn/in/part-7 --arg full \
            --properties-file /x/__spark_conf__.properties --dist-cache-conf /x/y";
        let environment = Environment {
            spark: [
                ("spark.master", "yarn"),
                ("spark.submit.deployMode", "cluster"),
                ("spark.yarn.queue", "root.etl"),
            ]
            .map(property)
            .into(),
            system: [("sun.java.command", command)].map(property).into(),
        };
        (start, environment)
    }

    fn key(
        start: &ApplicationStart,
        environment: &Environment,
        options: &ImportOptions,
    ) -> (String, Vec<KeyNote>) {
        let (submission, notes) = submission(start, environment, options);
        (signature(&submission), notes)
    }

    #[test]
    fn cluster_mode_has_the_key_of_the_live_submission() {
        let (start, environment) = sales();
        let (key, notes) = key(&start, &environment, &ImportOptions::default());
        assert_eq!(key, "app|SPARK|alice|root.etl|Sales #|sales.py|--day # part-# full");
        assert_eq!(notes, [KeyNote::OwnName]);
    }

    #[test]
    fn client_mode_ends_with_the_name() {
        let (start, mut environment) = sales();
        environment.spark.insert("spark.submit.deployMode".into(), "client".into());
        let (key, notes) = key(&start, &environment, &ImportOptions::default());
        assert_eq!(key, "app|SPARK|alice|root.etl|Sales #");
        assert_eq!(notes, [KeyNote::ClientMode]);
    }

    #[test]
    fn what_cannot_be_known_is_said() {
        let (start, mut environment) = sales();
        environment.spark.insert("spark.yarn.queue".into(), "etl".into());
        let redacted = "*********(redacted)".to_owned();
        environment.system.insert("sun.java.command".into(), redacted);
        let (key, notes) = key(&start, &environment, &ImportOptions::default());
        assert_eq!(key, "app|SPARK|alice|root.etl|Sales #");
        assert_eq!(notes, [KeyNote::ShortQueue("etl".to_owned()), KeyNote::Redacted]);
    }

    #[test]
    fn queues_and_names_are_mapped() {
        let (start, mut environment) = sales();
        environment.spark.insert("spark.yarn.queue".into(), "etl".into());
        let options = ImportOptions {
            queues: [("etl".into(), "root.a.etl".into())].into(),
            names: [(start.name.clone(), "nightly".into())].into(),
        };
        let (key, notes) = key(&start, &environment, &options);
        assert!(key.starts_with("app|SPARK|alice|root.a.etl|nightly|sales.py|"), "{key}");
        assert_eq!(notes, []);
    }

    #[test]
    fn the_tag_decides() {
        let (start, mut environment) = sales();
        let tags = "nightly,elastane.profile=Sales".to_owned();
        environment.spark.insert("spark.yarn.tags".into(), tags);
        let (key, _) = key(&start, &environment, &ImportOptions::default());
        assert_eq!(key, "tag|alice|sales");
    }

    #[test]
    fn arguments_with_spaces_and_quotes_come_back() {
        let line = " --class com.example.Etl --jar file:/a b/etl.jar --arg WHERE x = 'a b' \
                    --arg  --arg --mode --properties-file p";
        assert_eq!(
            master_arguments(line),
            [
                "--class",
                "com.example.Etl",
                "--jar",
                "file:/a b/etl.jar",
                "--arg",
                "WHERE x = 'a b'",
                "--arg",
                "",
                "--arg",
                "--mode",
                "--properties-file",
                "p"
            ]
        );
    }
}
