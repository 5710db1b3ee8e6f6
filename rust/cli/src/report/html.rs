//! A report as a page.

use std::fmt::Write;

use elastane_sim::report::escape;

use super::By;
use super::rows::{Row, Rows};
use super::text::{Labels, could_ask, headings, numbers, summary};
use crate::page;

pub(super) fn page(rows: &Rows, notes: &[String], by: By, top: usize, period: &str) -> String {
    let mut body = String::new();
    // Writing to a String does not fail.
    let _ = write!(body, "<p class=\"note\">{period}</p><p>{}</p>", summary(&rows.total));
    for note in notes {
        let _ = write!(body, "<p>{}</p>", escape(note));
    }
    let (shown, left_out) = rows.top(top);
    let labels = Labels::of(rows, by);
    body.push_str(
        "<p class=\"note\">The bar is the memory: green is used, orange is wasted. A GB is of 1,024 MB.</p>\
         <div class=\"scroll\"><table><thead><tr>",
    );
    let headings = headings(rows, by);
    let (last, others) = headings.split_last().unwrap_or((&"", &[]));
    for heading in others.iter().chain([&"", last]) {
        let _ = write!(body, "<th scope=\"col\">{heading}</th>");
    }
    body.push_str("</tr></thead><tbody>");
    for row in shown {
        let (of, label) = (escape(&row.subject.of), escape(&labels.label(row)));
        let _ = write!(body, "<tr><th scope=\"row\" title=\"{of}\">{label}</th>");
        for cell in numbers(row, rows) {
            let _ = write!(body, "<td>{cell}</td>");
        }
        let _ = write!(body, "<td>{}</td><td>{}</td></tr>", bar(row), escape(&could_ask(row, by)));
    }
    body.push_str("</tbody></table></div>");
    if left_out > 0 {
        let _ = write!(body, "<p class=\"note\">{left_out} more are left out.</p>");
    }
    page::page("What applications booked and used", &body)
}

/// Nothing where nothing was measured.
fn bar(row: &Row) -> String {
    if row.amounts.measured_gb_hours == 0.0 {
        return String::new();
    }
    let percent = 100.0 * row.amounts.wasted_memory();
    format!("<span class=\"bar\"><i style=\"width:{percent:.0}%\"></i></span>")
}
