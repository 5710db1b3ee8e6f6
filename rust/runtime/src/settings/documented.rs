//! The tables of keys in the docs say what the code does: names, defaults and what is allowed.

use std::collections::{BTreeMap, BTreeSet};

use super::{OF_JAVA, PREFIX, RuntimeSettings, SettingsError};
use crate::settings::keys::Keys;

const PAGES: [&str; 2] = [
    include_str!("../../../../docs/configuration.md"),
    include_str!("../../../../docs/reprovisioning.md"),
];

/// A row of a table.
struct Row {
    key: String,
    default: String,
    allowed: String,
}

fn rows() -> Vec<Row> {
    let lines = PAGES.iter().flat_map(|page| page.lines());
    let cells = lines.map(|line| line.trim_matches('|').split('|').map(|it| it.trim()));
    let rows = cells.filter_map(|mut cells| {
        let key = cells.next()?.strip_prefix('`')?.strip_suffix('`')?.strip_prefix(PREFIX)?;
        let mut next = || cells.next().map(|it| it.replace('`', ""));
        Some(Row { key: key.to_owned(), default: next()?, allowed: next()? })
    });
    rows.collect()
}

fn is_of_java(key: &str) -> bool {
    OF_JAVA.contains(&key)
}

/// With these keys, and what they need beside them.
fn read(pairs: &[(&str, &str)]) -> Result<RuntimeSettings, SettingsError> {
    let full = |(key, value): &(&str, &str)| (format!("{PREFIX}{key}"), (*value).to_owned());
    let mut configuration: BTreeMap<_, _> = pairs.iter().map(full).collect();
    configuration.entry(format!("{PREFIX}depository.file")).or_insert_with(|| "/d".into());
    // Its other keys have no effect without it.
    configuration.entry(format!("{PREFIX}reprovision")).or_insert_with(|| "on".into());
    RuntimeSettings::from_configuration(&configuration, true)
}

fn is_allowed(key: &str, value: &str) -> bool {
    // Without limits there is nothing to reprovision.
    let reprovision = if key.starts_with("plan.") { "off" } else { "on" };
    read(&[("reprovision", reprovision), (key, value)]).is_ok()
}

#[test]
fn every_key_that_is_read_has_a_row_and_every_row_is_a_key() {
    let rows: BTreeSet<String> = rows().into_iter().map(|row| row.key).collect();
    let mut keys = Keys::of([(format!("{PREFIX}depository.file"), "/d".into())].into());
    RuntimeSettings::read(&mut keys, true).unwrap();
    let labels_and_queues = [
        "mode.label.LABEL",
        "mode.queue.PATH",
        "overcommit.max-ratio.label.LABEL",
        "overcommit.max-ratio.queue.PATH",
    ];
    let labels_and_queues = labels_and_queues.map(str::to_owned);
    let of_java = OF_JAVA.map(str::to_owned);
    // The mode has a table of its own.
    let mut expected: BTreeSet<_> = keys.asked.into_iter().filter(|key| key != "mode").collect();
    expected.extend(labels_and_queues.into_iter().chain(of_java));
    assert_eq!(rows, expected);
}

#[test]
fn the_default_of_a_row_is_what_holds_without_the_key() {
    let without = read(&[]).unwrap();
    let mut checked = 0;
    for Row { key, default, .. } in rows() {
        // Words, where the default depends on something else.
        let is_word = default.contains([' ', '$']) || default == "none";
        if is_of_java(&key) || is_word {
            continue;
        }
        // It is on above, so that the rows of its other keys count.
        if key == "reprovision" {
            assert_eq!(default, "off");
            continue;
        }
        assert_eq!(read(&[(&key, &default)]).unwrap(), without, "{key} = {default}");
        checked += 1;
    }
    assert!(checked > 20, "{checked} rows have a value as default");
}

#[test]
fn what_a_row_allows_is_allowed_and_nothing_beyond() {
    for Row { key, allowed, .. } in rows().into_iter().filter(|row| !is_of_java(&row.key)) {
        // Only a path that begins with the root is allowed.
        let key = key.replace("mode.queue.PATH", "mode.queue.root.PATH");
        if let Some((before, most)) = allowed.split_once(" to ") {
            let least = before.rsplit(' ').next().unwrap();
            for value in [least, most] {
                assert!(is_allowed(&key, value), "{key} = {value}");
            }
            let above = most.parse::<f64>().unwrap() * 1.5;
            assert!(!is_allowed(&key, &above.to_string()), "{key} = {above}");
            assert!(!is_allowed(&key, "-1"), "{key} = -1");
        } else if !allowed.starts_with("a path") && !allowed.starts_with("names of") {
            for value in allowed.split(", ") {
                assert!(is_allowed(&key, value), "{key} = {value}");
            }
            assert!(!is_allowed(&key, "no-such-word"), "{key}");
        }
    }
}
