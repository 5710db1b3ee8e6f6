//! Text without the numbers and dates that differ from run to run.

use std::ops::Range;

/// Replaces a number, a date or an id.
pub(crate) const NUMBER: &str = "#";

/// Fewer digits than this are part of a word (`q5`, `10g`); more are a date or an id.
const DATE_DIGITS: usize = 6;

/// Shorter alphanumeric sequences are words.
const OPAQUE_LENGTH: usize = 16;

/// Every number, date and id in `text` becomes `#`: `sales 2024-01-05 part 3` is `sales # part #`.
pub(crate) fn without_numbers(text: &str) -> String {
    stem(text, 1)
}

/// Every date and id in `text` becomes `#`, short numbers stay: `q5-2024-01-05` is `q5-#`.
pub(crate) fn without_dates(text: &str) -> String {
    stem(text, DATE_DIGITS)
}

#[derive(Clone, Copy, PartialEq)]
enum StemKind {
    /// Digits, or an id of this many characters.
    Number(usize),
    /// The name of a month or a weekday.
    Calendar,
    /// The T between a date and a time, or the Z behind one.
    TimeMark,
    Word,
    Separator,
    /// A separator that may join the parts of one date or number.
    Joint,
}

struct StemPiece {
    span: Range<usize>,
    kind: StemKind,
}

fn stem(text: &str, least_digits: usize) -> String {
    let pieces = pieces(text);
    let mut stemmed = String::with_capacity(text.len());
    let mut at = 0;
    while at < pieces.len() {
        let end = number_end(&pieces, at).max(at + 1);
        let digits: usize = pieces[at..end].iter().map(StemPiece::digits).sum();
        if digits >= least_digits {
            stemmed.push_str(NUMBER);
        } else {
            stemmed.push_str(&text[pieces[at].span.start..pieces[end - 1].span.end]);
        }
        at = end;
    }
    stemmed
}

impl StemPiece {
    /// The number of digits. The name of a month or a weekday has none.
    fn digits(&self) -> usize {
        match self.kind {
            StemKind::Number(digits) => digits,
            _ => 0,
        }
    }
}

/// The end of the number or date that begins at `start`; `start` when none does.
fn number_end(pieces: &[StemPiece], start: usize) -> usize {
    let kind = |at: usize| pieces.get(at).map(|piece| piece.kind);
    let is_part = |at: usize| matches!(kind(at), Some(StemKind::Number(_) | StemKind::Calendar));
    if !is_part(start) {
        return start;
    }
    let mut end = start + 1;
    if is_suffix(pieces, start) {
        return end;
    }
    loop {
        if is_part(end) {
            end += 1;
        } else if matches!(kind(end), Some(StemKind::Joint | StemKind::TimeMark))
            && is_part(end + 1)
        {
            end += 2;
        } else {
            break;
        }
    }
    let has_number = pieces[start..end].iter().any(|piece| piece.digits() > 0);
    if !has_number {
        return start;
    }
    let has_time_zone =
        kind(end) == Some(StemKind::TimeMark) && kind(end + 1) != Some(StemKind::Word);
    if has_time_zone { end + 1 } else { end }
}

/// Whether a piece is a short number that belongs to the letters before it: `q5-2024-01-05` is `q5` and a
/// date.
fn is_suffix(pieces: &[StemPiece], at: usize) -> bool {
    const YEAR_DIGITS: usize = 4;
    let behind_word = at > 0 && pieces[at - 1].kind == StemKind::Word;
    behind_word && matches!(pieces[at].kind, StemKind::Number(digits) if digits < YEAR_DIGITS)
}

fn pieces(text: &str) -> Vec<StemPiece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let start = text.len() - rest.len();
        let length = uuid_length(rest).unwrap_or_else(|| alphanumeric_length(rest));
        if length == 0 {
            let kind = match first {
                '-' | '/' | '.' | ':' | '_' | ',' | '+' | ' ' => StemKind::Joint,
                _ => StemKind::Separator,
            };
            let span = start..start + first.len_utf8();
            rest = &text[span.end..];
            pieces.push(StemPiece { span, kind });
            continue;
        }
        let run = &rest[..length];
        if is_opaque(run) {
            let (span, kind) = (start..start + length, StemKind::Number(length));
            pieces.push(StemPiece { span, kind });
        } else {
            split_digits(run, start, &mut pieces);
        }
        rest = &rest[length..];
    }
    pieces
}

fn alphanumeric_length(text: &str) -> usize {
    let end = text.find(|c: char| !c.is_alphanumeric());
    end.unwrap_or(text.len())
}

/// The length of the UUID that `text` begins with.
fn uuid_length(text: &str) -> Option<usize> {
    const LENGTH: usize = 36;
    let candidate = text.get(..LENGTH)?;
    let is_uuid = candidate.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    let ends = alphanumeric_length(&text[LENGTH..]) == 0;
    (is_uuid && ends).then_some(LENGTH)
}

/// Whether an alphanumeric sequence is a UUID, a hash or a random id: long, and hexadecimal or switching
/// often between letters and digits.
fn is_opaque(run: &str) -> bool {
    if run.len() < OPAQUE_LENGTH {
        return false;
    }
    let has_digit = run.bytes().any(|byte| byte.is_ascii_digit());
    let is_hexadecimal = run.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let switches = run
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
        .count();
    has_digit && (is_hexadecimal || switches >= 4)
}

/// Splits an alphanumeric sequence where digits and letters meet.
fn split_digits(run: &str, start: usize, pieces: &mut Vec<StemPiece>) {
    let mut at = 0;
    while at < run.len() {
        let rest = &run[at..];
        let starts_with_digit = rest.starts_with(|c: char| c.is_ascii_digit());
        let end = rest.find(|c: char| c.is_ascii_digit() != starts_with_digit);
        let length = end.unwrap_or(rest.len());
        let kind = match starts_with_digit {
            true => StemKind::Number(length),
            false => word_kind(&rest[..length]),
        };
        pieces.push(StemPiece { span: start + at..start + at + length, kind });
        at += length;
    }
}

fn word_kind(word: &str) -> StemKind {
    const CALENDAR: &str = "january february march april may june july august september october \
                            november december monday tuesday wednesday thursday friday saturday sunday";
    let lower = word.to_ascii_lowercase();
    let is_calendar = CALENDAR
        .split(' ')
        .any(|name| lower == name || (lower.len() == 3 && name.starts_with(&lower)));
    match word {
        "T" | "Z" => StemKind::TimeMark,
        _ if is_calendar => StemKind::Calendar,
        _ => StemKind::Word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_and_dates_are_made_equal() {
        for (text, stemmed) in [
            ("nightly sales 2024-01-05", "nightly sales #"),
            ("nightly sales 2024-01-05T03:00:00Z", "nightly sales #"),
            ("nightly sales 5 Jan 2024", "nightly sales #"),
            ("report-Jan-05-2024-v2", "report-#-v#"),
            ("part-3-of-20", "part-#-of-#"),
            ("sales in may", "sales in may"),
            ("application_1700000000000_0042", "application_#"),
            ("job 3f2504e0-4f89-41d3-9a0c-0305e82c3301 x", "job # x"),
            ("tmp9f86d081884c7d659a2f", "#"),
            ("customers2024backup", "customers#backup"),
            ("Tagesumsätze 12", "Tagesumsätze #"),
            ("", ""),
        ] {
            assert_eq!(without_numbers(text), stemmed, "{text}");
        }
    }

    #[test]
    fn short_numbers_stay_where_only_dates_go() {
        for (text, stemmed) in [
            ("q5", "q5"),
            ("10g", "10g"),
            ("sf-1.0", "sf-1.0"),
            ("q5-2024-01-05", "q5-#"),
            ("q9-2024-01-05", "q9-#"),
            ("etl_20240105.py", "etl_#.py"),
            ("etl2024-01-05.py", "etl#.py"),
            ("may-5", "may-5"),
        ] {
            assert_eq!(without_dates(text), stemmed, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_stem_without_digits_that_stays(text in "\\PC{0,60}") {
            let stemmed = without_numbers(&text);
            prop_assert!(!stemmed.contains(|c: char| c.is_ascii_digit()), "{}", stemmed);
            without_dates(&text);
        }

        #[test]
        fn two_days_give_one_stem(
            (y1, m1, d1) in (2000..2099, 1..13, 1..29),
            (y2, m2, d2) in (2000..2099, 1..13, 1..29),
        ) {
            prop_assert_eq!(
                without_dates(&format!("etl {y1}-{m1:02}-{d1:02}")),
                without_dates(&format!("etl {y2}-{m2:02}-{d2:02}"))
            );
        }
    }
}
