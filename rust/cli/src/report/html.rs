//! A report as a page that loads nothing else.

use std::fmt::Write;

use elastane_sim::report::escape;

use super::By;
use super::rows::{Row, Rows, Saved};
use super::text::{could_ask, could_ask_is_shown, hours, in_words, money, summary};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;\
color:#1d2530;background:#fff}h1{font-size:1.4rem}.scroll{overflow-x:auto}\
table{border-collapse:collapse;width:100%}th,td{padding:.3rem .7rem;border-bottom:1px solid #d9dfe6;\
text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}thead th{color:#4d5a69;font-size:.85rem}\
th:first-child,td:last-child{text-align:left}th[scope=row]{font-weight:500;white-space:normal}\
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
        if rows.rows.is_empty() { "No application ran.".to_owned() } else { summary(&rows.total) },
    );
    if let Some(saved) = saved {
        let _ = write!(page, "<p>{}</p>", in_words(saved));
    }
    let (shown, left_out) = rows.top(top);
    let has_prices = rows.total.cost > 0.0;
    let _ = write!(
        page,
        "<p class=\"note\">The bar is the memory: green is used, orange is wasted. An hour of a GB is of 1,024 MB.</p>\
         <div class=\"scroll\"><table><thead><tr><th scope=\"col\">{}</th>",
        by.name()
    );
    let mut headings =
        vec!["runs", "core-h booked", "used", "wasted", "GB-h booked", "used", "wasted", ""];
    if has_prices {
        headings.extend(["cost", "wasted"]);
    }
    headings.push(if could_ask_is_shown(by) { "an executor could ask for" } else { "" });
    for heading in headings {
        let _ = write!(page, "<th scope=\"col\">{heading}</th>");
    }
    page.push_str("</tr></thead><tbody>");
    for row in shown {
        page.push_str(&table_row(row, has_prices));
    }
    page.push_str("</tbody></table></div>");
    if left_out > 0 {
        let _ = write!(page, "<p class=\"note\">{left_out} more are left out.</p>");
    }
    page.push_str("</body></html>\n");
    page
}

fn table_row(row: &Row, has_prices: bool) -> String {
    let amounts = &row.amounts;
    let measured = amounts.used_gb_hours + amounts.wasted_gb_hours;
    let wasted_percent =
        if measured > 0.0 { 100.0 * amounts.wasted_gb_hours / measured } else { 0.0 };
    let name = if row.subject.name.is_empty() { &row.subject.of } else { &row.subject.name };
    let mut html = format!(
        "<tr><th scope=\"row\" title=\"{}\">{}</th>",
        escape(&row.subject.of),
        escape(name)
    );
    let numbers = [
        amounts.runs.to_string(),
        hours(amounts.booked_core_hours),
        hours(amounts.used_core_hours),
        hours(amounts.wasted_core_hours),
        hours(amounts.booked_gb_hours),
        hours(amounts.used_gb_hours),
        hours(amounts.wasted_gb_hours),
        format!("<span class=\"bar\"><i style=\"width:{wasted_percent:.0}%\"></i></span>"),
    ];
    let costs = [money(amounts.cost), money(amounts.wasted_cost)];
    let costs = costs.into_iter().filter(|_| has_prices);
    for cell in numbers.into_iter().chain(costs) {
        let _ = write!(html, "<td>{cell}</td>");
    }
    let _ = write!(html, "<td>{}</td></tr>", could_ask(row));
    html
}
