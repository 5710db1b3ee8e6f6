//! A profile as an SVG image: one panel for each kind of container and resource.

use std::fmt::Write as _;

use elastane_core::{Demand, Resource};
use elastane_sim::report::escape;

use crate::units::{amount, duration};

const WIDTH: f64 = 640.0;
const PANEL: f64 = 150.0;
const TITLE: f64 = 40.0;
const LEFT: f64 = 90.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 24.0;

/// Draws the series, each with the name of its kind.
pub(crate) fn svg(title: &str, series: &[(String, &Demand)]) -> String {
    let panels = series.len() * Resource::ALL.len();
    let height = TITLE + panels as f64 * PANEL;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"22\" font-size=\"13\">{}</text>\n",
        escape(title)
    );
    let panels = series
        .iter()
        .flat_map(|(kind, demand)| Resource::ALL.map(|resource| (kind, demand, resource)));
    for (at, (kind, demand, resource)) in panels.enumerate() {
        panel(&mut svg, TITLE + at as f64 * PANEL, kind, demand, resource);
    }
    svg.push_str("</svg>\n");
    svg
}

fn panel(svg: &mut String, y: f64, kind: &str, demand: &Demand, resource: Resource) {
    let most = demand.peak().get(resource);
    let (base, top) = (y + PANEL - BOTTOM, y + TOP);
    let right = WIDTH - 20.0;
    let slots = demand.slots();
    let width = (right - LEFT) / slots.len() as f64;
    let height_of_1 = if most > 0.0 { (base - top) / most } else { 0.0 };
    // A step per slot, since a value holds for its whole slot.
    let mut path = format!("M{LEFT:.1} {base:.1}");
    for (at, slot) in slots.iter().enumerate() {
        let (x, y) = (LEFT + at as f64 * width, base - slot.get(resource) * height_of_1);
        // Writing to a string cannot fail.
        let _ = write!(path, "L{x:.1} {y:.1}L{:.1} {y:.1}", x + width);
    }
    let length = duration(demand.duration_ms().unwrap_or_default());
    let (name, unit) = (resource.name(), amount(resource, most));
    let none = amount(resource, 0.0);
    let label = LEFT - 6.0;
    let _ = writeln!(
        svg,
        "<g><text x=\"10\" y=\"{:.1}\">{}: {name}</text>\n\
         <path d=\"{path}L{right:.1} {base:.1}Z\" fill=\"#9ecae1\" stroke=\"#3182bd\"/>\n\
         <line x1=\"{LEFT}\" y1=\"{base}\" x2=\"{right}\" y2=\"{base}\" stroke=\"black\"/>\n\
         <text x=\"{label}\" y=\"{:.1}\" text-anchor=\"end\">{unit}</text>\n\
         <text x=\"{label}\" y=\"{base}\" text-anchor=\"end\">{none}</text>\n\
         <text x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">{length}</text></g>",
        y + 16.0,
        escape(kind),
        top + 8.0,
        base + 14.0,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use elastane_core::Resources;

    #[test]
    fn each_resource_has_a_panel_and_no_key_is_markup() {
        let slots = [1.0, 4.0].map(|cores| Resources::from_array([cores, 2e9, 0.0, 1.0]));
        let demand = Demand::series(3_000, &slots).unwrap();
        let svg = svg("app|<b>&", &[("executor".to_owned(), &demand)]);
        assert!(svg.contains("app|&lt;b&gt;&amp;"), "{svg}");
        assert_eq!(svg.matches("<path").count(), 4);
        // A quarter of the peak stands a quarter high: 96 pixels are all.
        assert!(svg.contains("M90.0 166.0L90.0 142.0L355.0 142.0L355.0 70.0L620.0 70.0"), "{svg}");
        assert!(svg.contains(">4.00 cores<") && svg.contains(">6 s<"), "{svg}");
    }
}
