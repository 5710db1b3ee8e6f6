//! The numbers of outcomes in the tables. They are in files: never change one.

use elastane_runs::Outcome;

pub(crate) fn outcome_code(outcome: Outcome) -> i64 {
    match outcome {
        Outcome::Succeeded => 0,
        Outcome::Failed => 1,
        Outcome::CutOff => 2,
    }
}

pub(crate) fn outcome_of(code: i64) -> Result<Outcome, String> {
    match code {
        0 => Ok(Outcome::Succeeded),
        1 => Ok(Outcome::Failed),
        2 => Ok(Outcome::CutOff),
        _ => Err(format!("outcome {code} is not known")),
    }
}
