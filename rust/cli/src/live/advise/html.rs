//! Advice as a page.

use std::fmt::Write;

use elastane_sim::report::escape;

use super::answer::Comparison;
use super::tables::{MEASURES, three};
use super::{sentences, tables};
use crate::page;

pub(super) fn page(comparison: &Comparison, is_recording: bool, top: usize) -> String {
    let mut body = String::new();
    // Writing to a String does not fail.
    for (index, sentence) in sentences::all(comparison, is_recording).iter().enumerate() {
        // The gain and the replay's error are what is to be read.
        let class = if index < 2 { "" } else { " class=\"note\"" };
        let _ = write!(body, "<p{class}>{}</p>", escape(sentence));
    }
    body.push_str(&figures(comparison));
    let sections = [
        (tables::QUEUES, tables::queues(comparison)),
        (tables::APPLICATIONS, tables::applications(comparison, top)),
    ];
    for (title, table) in sections.iter().filter(|(_, table)| !table.is_empty()) {
        let _ = write!(body, "<h2>{title}</h2>{}", table.to_html());
    }
    if let Some(left_out) = tables::left_out(comparison, top) {
        let _ = write!(body, "<p class=\"note\">{left_out}</p>");
    }
    let assumptions = &comparison.advice.assumptions;
    if !assumptions.is_empty() {
        let items = assumptions.iter().map(|it| format!("<li>{}</li>", escape(it)));
        let items: String = items.collect();
        let _ = write!(body, "<h2>The replay assumes</h2><ul>{items}</ul>");
    }
    page::page("What mode enforce would have gained", &body)
}

/// The table of the three with bars, each as long as its part of the column's largest number.
fn figures(comparison: &Comparison) -> String {
    const COLORS: [&str; 3] = ["", " orange", " green"];
    let three = three(comparison);
    let mut table =
        "<div class=\"scroll\"><table class=\"figures\"><thead><tr><th></th>".to_owned();
    for measure in MEASURES {
        let _ = write!(table, "<th scope=\"col\">{}</th>", measure.heading);
    }
    table.push_str("</tr></thead><tbody>");
    for ((name, figures), color) in three.iter().zip(COLORS) {
        let _ = write!(table, "<tr><th scope=\"row\">{name}</th>");
        for measure in MEASURES {
            let amount = (measure.of)(figures);
            let largest = three.iter().map(|(_, it)| (measure.of)(it)).fold(0.0, f64::max);
            let percent = if largest > 0.0 { 100.0 * amount / largest } else { 0.0 };
            let _ = write!(
                table,
                "<td>{}<span class=\"share{color}\"><i style=\"width:{percent:.0}%\"></i></span></td>",
                (measure.write)(amount),
            );
        }
        table.push_str("</tr>");
    }
    table + "</tbody></table></div>"
}
