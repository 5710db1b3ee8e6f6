//! Published and simulated figures, as text and as JSON.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_lab::reproduce::{Agreement, Compared};
use serde_json::{Value, json};

/// Writes a line per figure, then each reason once.
pub(super) fn write_figures(output: &mut impl Write, compared: &[Compared]) -> Result<(), Failure> {
    writeln!(
        output,
        "{:<16} {:>9} {:>9} {:>9} {:>7}  figure",
        "source", "published", "ours", "median", "±"
    )?;
    let mut reasons: Vec<&str> = Vec::new();
    for one in compared {
        let agreement = one.agreement();
        let mut note = String::new();
        if agreement != Agreement::Agrees {
            let known = reasons.iter().position(|reason| *reason == one.because);
            let number = known.unwrap_or_else(|| {
                reasons.push(one.because);
                reasons.len() - 1
            });
            note = format!("  ({}) {}", number + 1, agreement.words());
        }
        writeln!(
            output,
            "{:<16} {:>9.1} {:>9.1} {:>9.1} {:>7.1}  {}{note}",
            one.source,
            one.published,
            one.measured.mean(),
            one.measured.median(),
            one.measured.deviation(),
            one.figure,
        )?;
    }
    for (number, reason) in reasons.into_iter().enumerate() {
        writeln!(output, "({}) {reason}", number + 1)?;
    }
    Ok(())
}

/// The report's `claims`.
pub(super) fn figures_json(compared: &[Compared]) -> Value {
    let figures = compared.iter().map(|one| {
        let agreement = one.agreement();
        let because = (agreement != Agreement::Agrees).then_some(one.because);
        json!({
            "source": one.source,
            "figure": one.figure,
            "published": one.published,
            "ours": one.measured.values,
            "differs": agreement.words(),
            "because": because,
        })
    });
    figures.collect()
}
