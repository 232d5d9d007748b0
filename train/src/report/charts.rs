//! Curves, drawn as SVG by the `plotters` library.

use std::ops::Range;

use plotters::prelude::*;

/// A curve: points, with half the width of an interval where there is one. A
/// point whose height is not finite is a gap.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64, f64)>,
    /// Whether a line joins the points.
    pub(super) joined: bool,
}

/// What stands beside the axes.
pub(super) struct Axes<'a> {
    pub(super) x: &'a str,
    pub(super) y: &'a str,
    /// The values that the vertical axis spans; those of the curves if absent.
    pub(super) y_range: Option<Range<f64>>,
}

/// Colours that people with any colour vision can tell apart (Okabe and Ito
/// 2008).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
];

const SIZE: (u32, u32) = (560, 330);

/// Draws curves; an error of the library is told in place of the picture.
pub(super) fn chart(curves: &[Curve], axes: &Axes<'_>) -> String {
    let mut svg = String::new();
    match draw(&mut svg, curves, axes) {
        Ok(()) => svg,
        Err(error) => format!("<p>no picture: {error}</p>"),
    }
}

fn draw(
    svg: &mut String,
    curves: &[Curve],
    axes: &Axes<'_>,
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let x = span(points().map(|point| point.0));
    let ends = points().flat_map(|&(_, y, margin)| [y - margin, y + margin]);
    let y = axes.y_range.clone().unwrap_or_else(|| span(ends));
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(10)
        .x_label_area_size(38)
        .y_label_area_size(56)
        .build_cartesian_2d(x, y)?;
    let mesh = &mut chart.configure_mesh();
    mesh.x_desc(axes.x).y_desc(axes.y).light_line_style(WHITE).max_light_lines(1).draw()?;
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let middle = |&(x, y, _): &(f64, f64, f64)| (x, y);
        let gap = |point: &(f64, f64, f64)| !point.1.is_finite();
        for piece in curve.points.split(gap).filter(|_| curve.joined) {
            let line = piece.iter().map(middle);
            chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
        }
        let points = || curve.points.iter().filter(|point| !gap(point));
        let bars = points().filter(|(.., margin)| *margin > 0.0);
        chart.draw_series(bars.map(|&(x, y, margin)| {
            ErrorBar::new_vertical(x, y - margin, y, y + margin, colour.mix(0.6), 6)
        }))?;
        let dots = points().map(|point| Circle::new(middle(point), 3, colour.filled()));
        chart
            .draw_series(dots)?
            .label(&curve.name)
            .legend(move |(x, y)| Circle::new((x + 8, y), 4, colour.filled()));
    }
    if curves.len() > 1 {
        let labels = &mut chart.configure_series_labels();
        labels.background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.2)).draw()?;
    }
    area.present()?;
    drop(chart);
    Ok(())
}

/// The range of some values with a little room around; never empty.
fn span(values: impl Iterator<Item = f64>) -> Range<f64> {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return 0.0..1.0;
    }
    let room = if high > low { 0.05 * (high - low) } else { 0.5 };
    low - room..high + room
}
