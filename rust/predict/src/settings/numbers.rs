//! The numbers in a submission's arguments, which its key replaces by `#`.

use super::Settings;
use crate::launch;
use crate::shape::{Numbered, numbers};
use crate::signature::Submission;

/// The numbers in the arguments that the key shows as `#`, by the option or name before them
/// (`--iterations 10`, `iterations=10`) or else by their place (`argument 2`). Dates and possible secrets
/// are excluded. Empty where the launch command shows no arguments.
#[must_use]
pub fn argument_numbers(submission: &Submission) -> Settings {
    let arguments = launch::launch(&submission.commands).map(|launch| launch.arguments);
    let numbers = numbers(&arguments.unwrap_or_default());
    let named = numbers.into_iter().map(
        |Numbered {
             name,
             place,
             number,
         }| { (name.unwrap_or_else(|| format!("argument {place}")), number) },
    );
    Settings(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let found: Vec<(String, f64)> = argument_numbers(&submission).0.into_iter().collect();
        let expected = [
            ("--iterations", 20.0),
            ("--rate", 0.5),
            ("argument 2", 12.0),
            ("k", 3.0),
        ];
        assert_eq!(
            found,
            expected.map(|(name, number)| (name.to_owned(), number))
        );
    }

    #[test]
    fn without_a_launch_command_there_are_none() {
        assert_eq!(
            argument_numbers(&Submission::default()),
            Settings::default()
        );
    }
}
