//! The shape of an application's arguments: what is equal in every run, without secrets.

use std::collections::BTreeMap;

use crate::stem::{NUMBER, without_dates, without_numbers};

/// Replaces text that must not be stored.
const DROPPED: &str = "*";

/// An option or a setting whose name contains one of these has a value that must not be stored.
const SECRETS: &str = "password passwd passphrase pwd secret token key credential";

/// One word for each argument: options and other words as they are, `#` for numbers and dates, the last
/// component of paths, `*` for a value after the name of a secret.
pub(crate) fn shape(arguments: &[String]) -> Vec<String> {
    let mut shapes = Vec::with_capacity(arguments.len());
    let mut arguments = arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        if is_number(argument) {
            shapes.push(NUMBER.to_owned());
        } else if let Some((name, value)) = setting(argument) {
            let is_secret = mentions_secret(name);
            let value = if is_secret { DROPPED.to_owned() } else { value_shape(value) };
            shapes.push(format!("{name}={value}"));
        } else if is_name_of_secret(argument) {
            shapes.push(argument.clone());
            if arguments.next_if(|next| !next.starts_with("--")).is_some() {
                shapes.push(DROPPED.to_owned());
            }
        } else if argument.starts_with('-') && !argument.contains(is_structure) {
            shapes.push(argument.clone());
        } else {
            shapes.push(value_shape(argument));
        }
    }
    shapes
}

/// The numbers that [`shape`] replaces, without dates and secrets, by the option or name that they belong
/// to, or else by their place from 1 on (`argument 2`).
pub(crate) fn numbers(arguments: &[String]) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    let mut before: Option<&String> = None;
    for (argument, place) in arguments.iter().zip(1..) {
        let is_secret = before.is_some_and(|name| is_name_of_secret(name));
        let (name, value) = match setting(argument) {
            Some((name, _)) if mentions_secret(name) => (None, None),
            Some((name, value)) => (Some(name), amount(value)),
            None if is_secret => (None, None),
            None => {
                let option = before.filter(|it| it.starts_with('-') && amount(it).is_none());
                (option.map(String::as_str), amount(argument))
            }
        };
        if let Some(number) = value {
            let name = name.map_or_else(|| format!("argument {place}"), str::to_owned);
            found.insert(name, number);
        }
        before = Some(argument);
    }
    found
}

/// A number that is an amount and no date.
fn amount(word: &str) -> Option<f64> {
    const DATE_DIGITS: usize = 8;
    let looks_like_date = word.len() == DATE_DIGITS
        && word.bytes().all(|byte| byte.is_ascii_digit())
        && ["19", "20"].iter().any(|century| word.starts_with(century));
    if !is_number(word) || looks_like_date {
        return None;
    }
    word.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The name and value of `--name=value` or `name=value`.
fn setting(argument: &str) -> Option<(&str, &str)> {
    let (name, value) = argument.split_once('=')?;
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    (!name.is_empty() && name.chars().all(is_of_name)).then_some((name, value))
}

/// Whether the next argument may be a secret.
fn is_name_of_secret(argument: &str) -> bool {
    let is_option = argument.starts_with('-') && !argument.contains(is_structure);
    let mut names = SECRETS.split(' ');
    (is_option && mentions_secret(argument))
        || names.any(|name| argument.eq_ignore_ascii_case(name))
}

fn value_shape(word: &str) -> String {
    if mentions_secret(word) && word.contains(is_structure) {
        return DROPPED.to_owned();
    }
    if is_number(word) {
        return NUMBER.to_owned();
    }
    // Before an @ stands a user name, and possibly a password.
    let word = word.rsplit('@').next().unwrap_or(word);
    if word.contains('/') { path_shape(word) } else { without_dates(word) }
}

fn path_shape(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let path = path.trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or(path);
    if last.is_empty() { "/".to_owned() } else { without_numbers(last) }
}

fn is_number(word: &str) -> bool {
    let begins_as_one = word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let is_numeric = || word.parse::<f64>().is_ok_and(f64::is_finite);
    begins_as_one && (is_numeric() || without_numbers(word) == NUMBER)
}

fn mentions_secret(text: &str) -> bool {
    let lower = text.to_lowercase();
    SECRETS.split(' ').any(|name| lower.contains(name))
}

/// Whether a character is a sign of structured text (a URL, JSON, a sentence).
fn is_structure(character: char) -> bool {
    character.is_whitespace() || "=:\"'{}[]()&?,;".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape_of(arguments: &[&str]) -> String {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        shape(&arguments).join(" ")
    }

    #[test]
    fn arguments_keep_what_stays_from_run_to_run() {
        for (arguments, expected) in [
            (&["--mode", "full", "-v"][..], "--mode full -v"),
            (&["10", "-5", "1e-3", "2.5"], "# # # #"),
            (&["2024-01-05", "2024/01/05", "03:00"], "# # #"),
            (&["hdfs://nn:8020/in/2024/part-7.parquet"], "part-#.parquet"),
            (&["/data/dt=2024-01-05/"], "dt=#"),
            (&["--day=2024-01-05", "query=q5"], "--day=# query=q5"),
            (&["run-20240105", "q5"], "run-# q5"),
            (&["s3a://bucket/"], "bucket"),
            (&["/"], "/"),
            (&["-"], "-"),
            (&["inf", ""], "inf "),
        ] {
            assert_eq!(shape_of(arguments), expected, "{arguments:?}");
        }
    }

    #[test]
    fn secrets_are_dropped() {
        for arguments in [
            &["--password=hunter"][..],
            &["--password", "hunter"],
            &["--password", "-hunter"],
            &["-Ddb.secretKey=hunter"],
            &["--conf", "spark.my.token=hunter"],
            &["--conf=spark.my.token=hunter"],
            &["API_KEY=hunter"],
            &["password", "hunter"],
            &["jdbc:postgresql://alice:hunter@host/db"],
            &["jdbc:postgresql://host/db?user=alice&password=hunter"],
            &["jdbc:sqlserver://host;pwd=hunter"],
            &["scott/hunter@db"],
            &["https://alice:hunter@host"],
            &["s3a://bucket/file?signature=hunter"],
            &[r#"{"user":"alice","password":"hunter"}"#],
            &["-{\"password\": \"hunter\"}"],
            &["the password is hunter"],
        ] {
            let shape = shape_of(arguments);
            assert!(!shape.contains("hunter"), "{arguments:?} gave {shape}");
        }
    }

    #[test]
    fn an_option_after_the_name_of_a_secret_is_no_secret() {
        assert_eq!(shape_of(&["--no-token", "--day", "5"]), "--no-token --day #");
    }

    proptest! {
        #[test]
        fn the_value_of_a_secret_is_never_stored(
            prefix in "-{0,2}[a-z.]{0,6}",
            secret in proptest::sample::select(SECRETS.split(' ').collect::<Vec<_>>()),
            upper in any::<bool>(),
            value in "[A-Z]{12}",
        ) {
            let name = if upper { secret.to_uppercase() } else { secret.to_owned() };
            let setting = shape_of(&[&format!("{prefix}{name}={value}")]);
            prop_assert!(!setting.contains(&value), "{}", setting);
        }

        #[test]
        fn any_arguments_have_a_shape(arguments in proptest::collection::vec("\\PC{0,20}", 0..6)) {
            shape(&arguments);
        }
    }
}
