//! Columns of text.

use std::io::Write;

use elastane_sim::report::escape;

use crate::failure::Failure;

pub(crate) struct Table {
    headings: Vec<&'static str>,
    /// The number of columns that are aligned to the left, from the first one; the last column is, too.
    names: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(names: usize, headings: &[&'static str]) -> Self {
        Self { headings: headings.to_vec(), names, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn is_text(&self, column: usize) -> bool {
        column < self.names || column + 1 == self.headings.len()
    }

    pub(crate) fn to_html(&self) -> String {
        let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
            let cell = |(column, cell)| {
                let class = if self.is_text(column) { " class=\"text\"" } else { "" };
                format!("<{tag}{class}>{}</{tag}>", escape(cell))
            };
            format!("<tr>{}</tr>", cells.enumerate().map(cell).collect::<String>())
        };
        let head = cells("th", &mut self.headings.iter().copied());
        let rows = self.rows.iter().map(|row| cells("td", &mut row.iter().map(String::as_str)));
        format!(
            "<div class=\"scroll\"><table><thead>{head}</thead><tbody>{}</tbody></table></div>",
            rows.collect::<String>()
        )
    }

    pub(crate) fn print(&self, output: &mut impl Write) -> Result<(), Failure> {
        let headings: Vec<String> = self.headings.iter().map(|it| (*it).to_owned()).collect();
        let length = |cells: &Vec<String>, column: usize| {
            cells.get(column).map_or(0, |cell| cell.chars().count())
        };
        let rows = || std::iter::once(&headings).chain(&self.rows);
        let widths: Vec<usize> = (0..headings.len())
            .map(|column| rows().map(|row| length(row, column)).max().unwrap_or(0))
            .collect();
        for row in rows() {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                line += &if self.is_text(column) {
                    format!("{cell:<width$}  ")
                } else {
                    format!("{cell:>width$}  ")
                };
            }
            writeln!(output, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::Table;

    #[test]
    fn names_are_left_and_numbers_right() {
        let mut table = Table::new(1, &["node", "GiB", "why"]);
        table.row(vec!["a".into(), "10".into(), "it is so".into()]);
        table.row(vec!["long".into(), "9".into(), String::new()]);
        let mut printed = Vec::new();
        table.print(&mut printed).unwrap();
        let expected = "node  GiB  why\na      10  it is so\nlong    9\n";
        assert_eq!(String::from_utf8(printed).unwrap(), expected);
        let page = table.to_html();
        assert!(page.contains("<tr><td class=\"text\">a</td><td>10</td>"), "{page}");
    }
}
