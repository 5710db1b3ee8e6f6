//! A report as a page that loads nothing else.

use std::fmt::Write;

use elastane_sim::report::escape;

use super::By;
use super::rows::{Row, Rows, Saved};
use super::text::{Labels, could_ask, headings, in_words, numbers, summary};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;\
color:#1d2530;background:#fff}h1{font-size:1.4rem}.scroll{overflow-x:auto}\
table{border-collapse:collapse;width:100%}th,td{padding:.3rem .7rem;border-bottom:1px solid #d9dfe6;\
text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}thead th{color:#4d5a69;font-size:.85rem}\
th:first-child,th:last-child,td:last-child{text-align:left}th[scope=row]{font-weight:500;white-space:normal}\
.bar{display:inline-block;width:8rem;height:.7rem;background:#2f7d4f;vertical-align:middle}\
.bar i{display:block;height:100%;margin-left:auto;background:#d08a1d}.note{color:#4d5a69}\
@media(prefers-color-scheme:dark){body{color:#dce3ea;background:#161b21}th,td{border-color:#333d48}\
thead th,.note{color:#9aa8b7}}";

pub(super) fn page(rows: &Rows, saved: Option<&Saved>, by: By, top: usize, period: &str) -> String {
    let mut page = String::new();
    // Writing to a String does not fail.
    let _ = write!(
        page,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>What applications booked and \
         used</title><style>{STYLE}</style></head><body><h1>What applications booked and used</h1>\
         <p class=\"note\">{period}</p><p>{}</p>",
        summary(&rows.total),
    );
    if let Some(saved) = saved {
        let _ = write!(page, "<p>{}</p>", in_words(saved));
    }
    let (shown, left_out) = rows.top(top);
    let labels = Labels::of(rows, by);
    page.push_str(
        "<p class=\"note\">The bar is the memory: green is used, orange is wasted. A GB is of 1,024 MB.</p>\
         <div class=\"scroll\"><table><thead><tr>",
    );
    let headings = headings(rows, by);
    let (last, others) = headings.split_last().unwrap_or((&"", &[]));
    for heading in others.iter().chain([&"", last]) {
        let _ = write!(page, "<th scope=\"col\">{heading}</th>");
    }
    page.push_str("</tr></thead><tbody>");
    for row in shown {
        let (of, label) = (escape(&row.subject.of), escape(&labels.label(row)));
        let _ = write!(page, "<tr><th scope=\"row\" title=\"{of}\">{label}</th>");
        for cell in numbers(row, rows) {
            let _ = write!(page, "<td>{cell}</td>");
        }
        let _ = write!(page, "<td>{}</td><td>{}</td></tr>", bar(row), could_ask(row));
    }
    page.push_str("</tbody></table></div>");
    if left_out > 0 {
        let _ = write!(page, "<p class=\"note\">{left_out} more are left out.</p>");
    }
    page.push_str("</body></html>\n");
    page
}

/// Nothing where nothing was measured.
fn bar(row: &Row) -> String {
    if row.amounts.measured_gb_hours == 0.0 {
        return String::new();
    }
    let percent = 100.0 * row.amounts.wasted_memory();
    format!("<span class=\"bar\"><i style=\"width:{percent:.0}%\"></i></span>")
}
