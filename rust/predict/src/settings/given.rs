//! The settings of a submission.

use super::Settings;
use super::numbers::argument_numbers;
use crate::signature::Submission;

/// The most settings of one submission; further ones are ignored.
pub const MOST_SETTINGS: usize = 32;

const SETTING_TAG: &str = "elastane.setting.";

/// The settings known at submission: the tags `elastane.setting.NAME=NUMBER`, and the numbers in the
/// arguments ([`argument_numbers`]). A tag takes precedence over an argument of the same name. Of more
/// than [`MOST_SETTINGS`], the last by name are left out.
#[must_use]
pub fn submission_settings(submission: &Submission) -> Settings {
    let mut settings: Settings = Settings(tagged(&submission.tags).take(MOST_SETTINGS).collect());
    for (name, number) in argument_numbers(submission).0 {
        if settings.0.len() < MOST_SETTINGS {
            settings.0.entry(name).or_insert(number);
        }
    }
    settings
}

/// The settings in tags. Where a name is given twice, the largest number counts: YARN keeps tags without
/// order.
fn tagged(tags: &[String]) -> impl Iterator<Item = (String, f64)> {
    let mut found: Vec<(String, f64)> = tags
        .iter()
        .filter_map(|tag| {
            let tag = tag.trim().to_lowercase();
            let (name, number) = tag.strip_prefix(SETTING_TAG)?.split_once('=')?;
            let number: f64 = number.trim().parse().ok()?;
            let is_setting = !name.is_empty() && number.is_finite();
            is_setting.then(|| (name.to_owned(), number))
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    found.into_iter()
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
}
