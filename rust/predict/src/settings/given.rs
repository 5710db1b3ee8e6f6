//! The settings of a submission.

use std::collections::BTreeMap;

use super::Settings;
use crate::launch::launch;
use crate::shape::numbers;
use crate::signature::Submission;

/// The most settings of one submission; further ones are ignored.
const MOST_SETTINGS: usize = 32;

const SETTING_TAG: &str = "elastane.setting.";

/// The settings known at submission: the tags `elastane.setting.NAME=NUMBER`, and the numbers in the
/// arguments that the key shows as `#`, by the option or name before them (`--iterations 10`,
/// `iterations=10`) or else by their place (`argument 2`). Dates and possible secrets are excluded.
///
/// A tag takes precedence over an argument of the same name. Where tags give a name twice, the largest
/// number counts: YARN keeps tags without order. Of more than 32 settings, the last by name are left out.
pub fn submission_settings(submission: &Submission) -> Settings {
    let mut in_tags = BTreeMap::new();
    for (name, number) in submission.tags.iter().filter_map(|tag| in_tag(tag)) {
        let largest = in_tags.entry(name).or_insert(number);
        *largest = number.max(*largest);
    }
    let mut settings: BTreeMap<String, f64> = in_tags.into_iter().take(MOST_SETTINGS).collect();
    for (name, number) in argument_numbers(submission) {
        if settings.len() < MOST_SETTINGS {
            settings.entry(name).or_insert(number);
        }
    }
    Settings(settings)
}

fn in_tag(tag: &str) -> Option<(String, f64)> {
    let tag = tag.trim().to_lowercase();
    let (name, number) = tag.strip_prefix(SETTING_TAG)?.split_once('=')?;
    let number: f64 = number.trim().parse().ok()?;
    (!name.is_empty() && number.is_finite()).then(|| (name.to_owned(), number))
}

/// Empty where the launch command shows no arguments.
fn argument_numbers(submission: &Submission) -> BTreeMap<String, f64> {
    let launch = launch(&submission.commands);
    launch.map_or_else(BTreeMap::new, |launch| numbers(&launch.arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings_of(tags: &[&str], arguments: &str) -> Vec<(String, f64)> {
        let submission = Submission {
            tags: tags.iter().map(ToString::to_string).collect(),
            commands: vec![format!("java com.example.Master {arguments} 1> out")],
            ..Submission::default()
        };
        submission_settings(&submission).0.into_iter().collect()
    }

    fn named(expected: &[(&str, f64)]) -> Vec<(String, f64)> {
        let owned = |(name, number): &(&str, f64)| ((*name).to_owned(), *number);
        expected.iter().map(owned).collect()
    }

    #[test]
    fn tags_and_arguments_are_settings_and_tags_come_first() {
        let tags = [
            "elastane.profile=nightly",
            "Elastane.Setting.input_bytes=12e9",
            "elastane.setting.--rounds=7",
            "elastane.setting.day=monday",
            "elastane.setting.=3",
            "elastane.setting.share=NaN",
        ];
        assert_eq!(
            settings_of(&tags, "--rounds 20 --rate=0.5"),
            named(&[("--rate", 0.5), ("--rounds", 7.0), ("input_bytes", 12e9)])
        );
    }

    #[test]
    fn the_order_of_tags_does_not_matter() {
        let one_way = settings_of(&["elastane.setting.a=1", "elastane.setting.a=2"], "");
        let other_way = settings_of(&["elastane.setting.a=2", "elastane.setting.a=1"], "");
        assert_eq!(one_way, other_way);
    }

    #[test]
    fn there_are_no_more_than_are_looked_at() {
        let arguments: Vec<String> = (0..500).map(|number| number.to_string()).collect();
        let found = settings_of(&["elastane.setting.size=9"], &arguments.join(" "));
        assert_eq!(found.len(), MOST_SETTINGS);
        assert!(found.contains(&("size".to_owned(), 9.0)));
    }

    #[test]
    fn numbers_have_the_name_before_them_or_their_place() {
        let submission = Submission {
            commands: vec![
                "java org.apache.spark.deploy.yarn.ApplicationMaster --class a.B \
                 --arg points.txt --arg 12 --arg --iterations --arg 20 --arg --rate=0.5 \
                 --arg 2024-01-05 --arg 20240105 --arg --password --arg 1234 --arg token=99 \
                 --arg k=3 1> out"
                    .into(),
            ],
            ..Submission::default()
        };
        let found: Vec<(String, f64)> = argument_numbers(&submission).into_iter().collect();
        let expected = [("--iterations", 20.0), ("--rate", 0.5), ("argument 2", 12.0), ("k", 3.0)];
        assert_eq!(found, expected.map(|(name, number)| (name.to_owned(), number)));
    }

    #[test]
    fn without_a_launch_command_there_are_none() {
        assert!(argument_numbers(&Submission::default()).is_empty());
    }
}
