//! Charts as SVG.

use std::fmt::Write;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 40.0;

/// A colour-blind-safe palette (Okabe and Ito), then darker colours.
const COLOURS: [&str; 14] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666", "#7b3294",
    "#a6611a", "#1b7837", "#c51b7d", "#4d4d4d", "#2166ac", "#b2182b",
];

/// The colour of the line or area of this number.
pub(super) fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

/// The labels and ranges of a chart's axes, which start at 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axes<'a> {
    pub(super) x: &'a str,
    pub(super) y: &'a str,
    pub(super) x_most: f64,
    pub(super) y_most: f64,
}

impl Axes<'_> {
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let part = |value: f64, most: f64| if most > 0.0 { value / most } else { 0.0 };
        (
            LEFT + part(x, self.x_most) * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - part(y, self.y_most) * (HEIGHT - TOP - BOTTOM),
        )
    }

    fn path(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for (number, (x, y)) in points.iter().enumerate() {
            let (x, y) = self.at(*x, *y);
            let letter = if number == 0 { 'M' } else { 'L' };
            // Writing to a String does not fail.
            let _ = write!(path, "{letter}{x:.1} {y:.1}");
        }
        path
    }

    fn frame(&self) -> String {
        let mut frame = String::new();
        let (left, bottom) = self.at(0.0, 0.0);
        let (right, _) = self.at(self.x_most, 0.0);
        for value in ticks(self.y_most) {
            let (_, y) = self.at(0.0, value);
            let label = y + 4.0;
            let _ = write!(
                frame,
                r##"<path d="M{left} {y:.1}H{right}" stroke="#ddd"/><text x="{x}" y="{label:.1}" text-anchor="end">{value}</text>"##,
                x = left - 6.0,
            );
        }
        for value in ticks(self.x_most) {
            let (x, _) = self.at(value, 0.0);
            let label = bottom + 16.0;
            let _ = write!(
                frame,
                r##"<path d="M{x:.1} {bottom}v4" stroke="#999"/><text x="{x:.1}" y="{label}" text-anchor="middle">{value}</text>"##,
            );
        }
        let _ = write!(
            frame,
            r##"<path d="M{left} {TOP}V{bottom}H{right}" fill="none" stroke="#999"/><text x="{middle}" y="{below}" text-anchor="middle">{x}</text><text transform="translate(12 {center}) rotate(-90)" text-anchor="middle">{y}</text>"##,
            middle = (left + right) / 2.0,
            below = HEIGHT - 6.0,
            center = (TOP + bottom) / 2.0,
            x = escape(self.x),
            y = escape(self.y),
        );
        frame
    }
}

/// A chart of lines, one colour each, in the order of [`colour`].
pub(super) fn lines(axes: Axes<'_>, lines: &[Vec<(f64, f64)>]) -> String {
    let mut content = axes.frame();
    for (number, points) in lines.iter().enumerate() {
        let _ = write!(
            content,
            r#"<path d="{}" fill="none" stroke="{}" stroke-width="1.3"/>"#,
            axes.path(points),
            colour(number)
        );
    }
    svg(&content)
}

/// A chart of bands on top of each other at equal steps of x, with a line at `most`.
pub(super) fn bands(axes: Axes<'_>, step: f64, bands: &[(usize, Vec<f64>)], most: f64) -> String {
    let mut content = axes.frame();
    let length = bands.iter().map(|(_, values)| values.len()).max();
    let mut base = vec![0.0; length.unwrap_or(0)];
    for (number, values) in bands {
        let mut band = String::new();
        let mut at = 0;
        // Draws only non-empty steps: an application is on a node for a small part of the time.
        for run in values.chunk_by(|a, b| (*a > 0.0) == (*b > 0.0)) {
            if run[0] > 0.0 {
                band.push_str(&axes.path(&outline(run, &base[at..], at, step)));
                band.push('Z');
            }
            at += run.len();
        }
        for (base, value) in base.iter_mut().zip(values) {
            *base += value;
        }
        let _ =
            write!(content, r#"<path d="{band}" fill="{}" fill-opacity="0.75"/>"#, colour(*number));
    }
    let capacity = axes.path(&[(0.0, most), (axes.x_most, most)]);
    let _ = write!(content, r##"<path d="{capacity}" stroke="#000" stroke-dasharray="4 3"/>"##);
    svg(&content)
}

/// The outline of steps of these heights on top of `base`, from step `first` of the chart on.
fn outline(heights: &[f64], base: &[f64], first: usize, step: f64) -> Vec<(f64, f64)> {
    let mut upper = Vec::new();
    let mut lower = Vec::new();
    for (at, (height, base)) in heights.iter().zip(base).enumerate() {
        for x in [first + at, first + at + 1].map(|end| end as f64 * step) {
            upper.push((x, base + height));
            lower.push((x, *base));
        }
    }
    lower.reverse();
    upper.extend(lower);
    upper
}

fn svg(content: &str) -> String {
    format!(
        r#"<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" xmlns="http://www.w3.org/2000/svg">{content}</svg>"#
    )
}

/// About five round values from 0 to `most`.
fn ticks(most: f64) -> Vec<f64> {
    if !(most > 0.0 && most.is_finite()) {
        return vec![0.0];
    }
    let rough = most / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    let count = (most / step + 1e-9).floor() as u32;
    let digits = (-power.log10().floor()).max(0.0) as i32;
    let round = 10_f64.powi(digits);
    (0..=count).map(|number| (f64::from(number) * step * round).round() / round).collect()
}

/// Escapes text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(16.0), [0.0, 5.0, 10.0, 15.0]);
        assert_eq!(ticks(1.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(ticks(0.0), [0.0]);
        assert_eq!(ticks(f64::NAN), [0.0]);
    }

    #[test]
    fn names_cannot_add_markup() {
        assert_eq!(escape("<b>&\""), "&lt;b&gt;&amp;&quot;");
    }

    #[test]
    fn a_line_reaches_the_corners_of_its_axes() {
        let axes = Axes { x: "s", y: "%", x_most: 10.0, y_most: 100.0 };
        let drawn = lines(axes, &[vec![(0.0, 0.0), (10.0, 100.0)]]);
        assert!(drawn.contains(r#"d="M48.0 200.0L548.0 12.0""#), "{drawn}");
    }
}
