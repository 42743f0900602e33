//! Particles in their box, seen from afar: spheres without perspective.

use std::str::FromStr;

use container_core::{Error, Limits, Result};

use crate::Picture;
use crate::categorical_palette::distinct_colors;
use crate::frame::{Axis, Frame, Style};
use crate::heatmap::Colors;
use crate::layout::{SideParts, TopParts};
use crate::legend::Mark;
use crate::scale::{Range, Stretch, place};
use crate::scene::{Anchor, Item, Rgba};
use crate::snapshot::Snapshot;
use crate::spheres::{self, Place, Sphere};

/// Most colours of types.
const MAX_COLORS: usize = crate::categorical_palette::MAX_COLOURS;

/// Position of the viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// x to the right, y up.
    Xy,
    /// x to the right, z up.
    Xz,
    /// y to the right, z up.
    Yz,
    /// View from the front, the right and above; z up.
    Tilted,
}

impl View {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Xy, Self::Xz, Self::Yz, Self::Tilted];

    /// `xy`, `xz`, `yz` or `tilted`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xy => "xy",
            Self::Xz => "xz",
            Self::Yz => "yz",
            Self::Tilted => "tilted",
        }
    }

    /// Right, up and towards the viewer.
    fn axes(self) -> [[f64; 3]; 3] {
        match self {
            Self::Xy => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            Self::Xz => [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]],
            Self::Yz => [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
            Self::Tilted => {
                let (azimuth, height) = ((-62.0_f64).to_radians(), 22.0_f64.to_radians());
                let right = [-azimuth.sin(), azimuth.cos(), 0.0];
                let towards = [height.cos() * azimuth.cos(), height.cos() * azimuth.sin(), height.sin()];
                [right, cross(towards, right), towards]
            }
        }
    }

    fn letters(self) -> [&'static str; 2] {
        match self {
            Self::Xy => ["x", "y"],
            Self::Xz => ["x", "z"],
            Self::Yz => ["y", "z"],
            Self::Tilted => ["", ""],
        }
    }
}

impl FromStr for View {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let names = Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|view| view.name() == text)
            .ok_or_else(|| Error::usage(format!("unknown view {text:?} (expected one of: {names})")))
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The edges of a box between its corners. A corner's number is the sum of the edges that reach it from the origin: 1, 2 and 4.
const EDGES: [(usize, usize); 12] =
    [(0, 1), (0, 2), (0, 4), (1, 3), (1, 5), (2, 3), (2, 6), (4, 5), (4, 6), (3, 7), (5, 7), (6, 7)];

/// Spheres of the particles' diameters, in the colours of their types or of a field; those further away are paler.
///
/// # Errors
/// `Usage` where no particle has a place; `Limit` for a picture that is too large.
pub fn particles(
    snapshot: &Snapshot,
    view: View,
    colors: &Colors,
    style: &Style,
    limits: &Limits,
) -> Result<Picture> {
    // The range of colours, if a field gives them.
    let by_field = snapshot.field.as_ref();
    let base = by_field.map_or(0, |field| field.counting.base);
    let range_ends = by_field.map(|field| {
        let ends = colors.range.ends_beyond(&field.values, base).unwrap_or((0.0, 1.0));
        field.counting.bounds(colors.range, ends)
    });
    let ends = range_ends.map(|(low, high)| (low.beyond(base), high.beyond(base)));
    // The corners of the box, turned into the view.
    let axes = view.axes();
    let seen = |point: [f64; 3]| axes.map(|axis| dot(axis, point));
    let (origin, edges) = snapshot.corners();
    let corners: Vec<[f64; 3]> = (0..8_usize)
        .map(|corner| {
            let mut point = origin;
            for (_, edge) in edges.iter().enumerate().filter(|(bit, _)| corner >> bit & 1 == 1) {
                point = std::array::from_fn(|axis| point[axis] + edge[axis]);
            }
            seen(point)
        })
        .collect();
    // Spheres with their colours; those without a finite place or diameter are only counted.
    let most = snapshot.types.iter().copied().max().unwrap_or(0);
    let of_types =
        distinct_colors(if by_field.is_some() { 1 } else { most.saturating_add(1).min(MAX_COLORS) });
    let color_of = |kind: usize| of_types.get(kind % of_types.len().max(1)).copied().unwrap_or(Rgba::BLACK);
    let mut spheres: Vec<Sphere> = Vec::with_capacity(snapshot.positions.len());
    let (mut lost, mut sizeless) = (0_u64, 0_u64);
    for (number, position) in snapshot.positions.iter().enumerate() {
        let diameter = snapshot.diameters.get(number).copied().unwrap_or(1.0);
        if !position.iter().all(|value| value.is_finite()) {
            lost += 1;
            continue;
        }
        if !diameter.is_finite() {
            sizeless += 1;
            continue;
        }
        let color = match (by_field, ends) {
            (Some(field), Some((low, high))) => match field.values.get(number) {
                Some(value) if value.is_finite() => {
                    colors.palette.at(colors.stretch.apply(place(*value, low, high)))
                }
                _ => colors.nan,
            },
            _ => color_of(snapshot.types.get(number).copied().unwrap_or(0)),
        };
        spheres.push(Sphere { at: seen(*position), radius: diameter.abs() / 2.0, color });
    }
    // The size of the picture, which has the aspect ratio of the bounds.
    let bounds = Bounds::new(&corners, &spheres)?;
    let legend_types = if by_field.is_some() { Vec::new() } else { present(snapshot) };
    let has_side = by_field.is_some() || !legend_types.is_empty();
    let (mut size, room) = style.canvas((800, 760), has_side);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "no more than the room")]
    let fitted = |room: (u32, u32)| {
        let scale = (f64::from(room.0) / bounds.width()).min(f64::from(room.1) / bounds.height());
        let pixels = |length: f64| ((length * scale).round() as u32).max(8);
        (pixels(bounds.width()).min(room.0), pixels(bounds.height()).min(room.1))
    };
    let mut inner = fitted(room);
    if style.size.is_none() || style.bare {
        let margins = style.plan(size, has_side).margins;
        // Repeated until the size is that of its own picture, which a caller may request: each time about a pixel is rounded away.
        for _ in 0..64 {
            // High enough for all parts around the data.
            let lowest = if style.bare { 1 } else { style.pixels(200.0) };
            size.1 = (inner.1 + margins.top + margins.bottom).max(lowest);
            let least = if style.bare { 1 } else { size.1.min(size.0) / 2 };
            size.0 = (inner.0 + margins.left + margins.right).max(least);
            let again = fitted(style.room(size, has_side));
            if again == inner {
                break;
            }
            inner = again;
        }
    }
    let mut frame = Frame::new(style, size, inner, has_side);
    let rect = frame.rect;
    let scale = (rect.w / bounds.width()).min(rect.h / bounds.height());
    let screen = |point: [f64; 3]| {
        (rect.x + (point[0] - bounds.low[0]) * scale, rect.y + rect.h - (point[1] - bounds.low[1]) * scale)
    };
    // The edges at the furthest corner are behind everything else.
    let furthest = (0..8).min_by(|a, b| corners[*a][2].total_cmp(&corners[*b][2])).unwrap_or(0);
    let line = style.scaled(1.2).max(1.0);
    let draw_edges = |frame: &mut Frame<'_>, is_behind: bool| {
        for (from, to) in
            EDGES.into_iter().filter(|(from, to)| (*from == furthest || *to == furthest) == is_behind)
        {
            let color = if is_behind { Rgba(170, 170, 170, 255) } else { Rgba(70, 70, 70, 255) };
            frame.scene.line(vec![screen(corners[from]), screen(corners[to])], line, color);
        }
    };
    // From back to front: far edges, spheres, near edges, axes and legend.
    draw_edges(&mut frame, true);
    let depth = if snapshot.dimensions == 2 { None } else { Some((bounds.low[2], bounds.high[2])) };
    let to = Place { low: [bounds.low[0], bounds.low[1]], scale, size: inner, depth };
    let (image, small) = spheres::image(&spheres, &to, limits)?;
    frame.scene.items.push(Item::Image { rect, pixels: image });
    draw_edges(&mut frame, false);
    if view == View::Tilted {
        triad(&mut frame, axes, style);
    } else {
        let [x, y] = view.letters();
        let axis = |low: f64, high: f64, label: &str| Axis {
            low,
            high,
            base: 0,
            label: label.to_owned(),
            whole: false,
            stretch: Stretch::Linear,
        };
        let (right, top) = (bounds.low[0] + rect.w / scale, bounds.low[1] + rect.h / scale);
        frame.axes(&axis(bounds.low[0], right, x), &axis(bounds.low[1], top, y));
    }
    match (by_field, ends) {
        (Some(field), Some(ends)) => {
            frame.bar(&colors.palette, ends, base, (colors.stretch, false), &field.label);
        }
        _ => {
            let name =
                |number: usize| snapshot.names.get(number).cloned().unwrap_or_else(|| number.to_string());
            let entries: Vec<(Rgba, String)> =
                legend_types.iter().map(|number| (color_of(*number), name(*number))).collect();
            frame.legend(Mark::Square, &entries);
        }
    }
    frame.title();
    let mut notes = frame.told();
    for (count, what) in [(lost, "place"), (sizeless, "diameter")] {
        if count > 0 {
            let have = if count == 1 { "has" } else { "have" };
            notes.push(format!("{} {have} no finite {what}", counted(count)));
        }
    }
    if small > 0 {
        let (are, points) = if small == 1 { ("is", "a point") } else { ("are", "points") };
        notes.push(format!("{} covered by others {are} drawn as {points} to save time", counted(small)));
    }
    let range = range_ends.map(|(low, high)| Range::Fixed(low, high));
    Ok(Picture { scene: frame.scene, range, bins: None, notes })
}

/// `1 particle`, `2 particles`.
#[must_use]
pub fn counted(particles: u64) -> String {
    format!("{particles} particle{}", if particles == 1 { "" } else { "s" })
}

/// Bounds of the box and of the spheres in and around it.
struct Bounds {
    low: [f64; 3],
    high: [f64; 3],
}

impl Bounds {
    fn new(corners: &[[f64; 3]], spheres: &[Sphere]) -> Result<Self> {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        let mut include = |point: [f64; 3], radius: f64| {
            low = std::array::from_fn(|axis| f64::min(low[axis], point[axis] - radius));
            high = std::array::from_fn(|axis| f64::max(high[axis], point[axis] + radius));
        };
        corners.iter().for_each(|corner| include(*corner, 0.0));
        spheres.iter().for_each(|sphere| include(sphere.at, sphere.radius));
        let span = (high[0] - low[0]).max(high[1] - low[1]);
        if !span.is_finite() {
            return Err(Error::usage("the particles have no finite positions"));
        }
        let span = if span > 0.0 { span } else { 1.0 };
        // A little air, and something to divide by.
        let room = std::array::from_fn::<f64, 3, _>(|axis| {
            let least = if axis < 2 { 0.05 * span } else { 0.0 };
            0.02 * span + ((least - (high[axis] - low[axis])) / 2.0).max(0.0)
        });
        let low = std::array::from_fn(|axis| low[axis] - room[axis]);
        let high = std::array::from_fn(|axis| high[axis] + room[axis]);
        Ok(Self { low, high })
    }

    fn width(&self) -> f64 {
        self.high[0] - self.low[0]
    }

    fn height(&self) -> f64 {
        self.high[1] - self.low[1]
    }
}

/// Draws the directions of x, y and z.
fn triad(frame: &mut Frame<'_>, axes: [[f64; 3]; 3], style: &Style) {
    if style.bare {
        return;
    }
    if frame.plan.beside >= SideParts::Narrow || frame.plan.above >= TopParts::NoLabel {
        frame.leave_out("the directions of the axes");
        return;
    }
    let (length, size) = (style.scaled(28.0), style.scaled(12.0));
    let x = style.scaled(40.0);
    let y = f64::from(frame.scene.height) - style.scaled(34.0);
    for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
        let (right, up) = (axes[0][axis], axes[1][axis]);
        let end = (x + right * length, y - up * length);
        frame.scene.line(vec![(x, y), end], style.scaled(1.5).max(1.0), Rgba::BLACK);
        let at = (x + right * (length + size * 0.8), y - up * (length + size * 0.8) + size * 0.36);
        frame.scene.text(at, size, Anchor::Middle, letter);
    }
}

/// The types that occur, where there are several.
fn present(snapshot: &Snapshot) -> Vec<usize> {
    let mut types: Vec<usize> = snapshot.types.clone();
    types.sort_unstable();
    types.dedup();
    if types.len() < 2 { Vec::new() } else { types }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recipe of a picture names its size.
    #[test]
    fn a_picture_of_the_size_that_it_takes_is_the_same() {
        let colors = Colors {
            range: Range::MinMax,
            stretch: Stretch::Linear,
            palette: crate::Palette::by_name("viridis").unwrap(),
            nan: Rgba(0, 0, 0, 255),
        };
        for edges in [
            [30.0, 10.0, 10.0],
            [40.0, 40.0, 5.0],
            [100.0, 100.0, 1.0],
            [1000.0, 1.0, 1.0],
            [10.0, 10.0, 0.0],
        ] {
            let at = |number: usize, axis: usize| {
                ((number * (axis + 3) * 37 % 101) as f64 / 101.0 - 0.5) * edges[axis]
            };
            let snapshot = Snapshot {
                frame: 0,
                frames: 1,
                step: None,
                dimensions: if edges[2] == 0.0 { 2 } else { 3 },
                cell: Some([edges[0], edges[1], edges[2], 0.0, 0.0, 0.0]),
                positions: (0..50).map(|number| [0, 1, 2].map(|axis| at(number, axis))).collect(),
                diameters: vec![1.0; 50],
                types: vec![0; 50],
                names: vec!["A".to_owned()],
                field: None,
            };
            for view in [View::Tilted, View::Xy, View::Xz, View::Yz] {
                for bare in [false, true] {
                    let style = Style { bare, ..Style::default() };
                    let draw = |style: &Style| {
                        particles(&snapshot, view, &colors, style, &Limits::default()).unwrap()
                    };
                    let first = draw(&style);
                    let size = Some((first.scene.width, first.scene.height));
                    let again = draw(&Style { size, ..style });
                    assert!(again.scene == first.scene, "{edges:?}, {view:?}, bare: {bare}");
                }
            }
        }
    }

    fn many(kinds: usize) -> Snapshot {
        Snapshot {
            frame: 0,
            frames: 1,
            step: None,
            dimensions: 2,
            cell: Some([10.0, 10.0, 0.0, 0.0, 0.0, 0.0]),
            positions: (0..kinds)
                .map(|at| [at as f64 % 9.0 - 4.0, (at / 9) as f64 % 9.0 - 4.0, 0.0])
                .collect(),
            diameters: vec![1.0; kinds],
            types: (0..kinds).collect(),
            names: (0..kinds).map(|kind| format!("T{kind}")).collect(),
            field: None,
        }
    }

    #[test]
    fn particles_without_finite_values_are_counted_in_the_notes() {
        let palette = crate::Palette::by_name("viridis").unwrap();
        let colors =
            Colors { range: Range::MinMax, stretch: Stretch::Linear, palette, nan: Rgba(0, 0, 0, 255) };
        let mut snapshot = many(5);
        snapshot.diameters[1] = f64::NAN;
        snapshot.positions[2][0] = f64::INFINITY;
        snapshot.positions[3][1] = f64::NAN;
        let drawn = particles(&snapshot, View::Xy, &colors, &Style::default(), &Limits::default()).unwrap();
        assert_eq!(drawn.notes, ["2 particles have no finite place", "1 particle has no finite diameter"]);
    }

    /// The eleventh type had the colour of the first.
    #[test]
    fn legend_colours_are_distinct_and_omitted_types_are_counted() {
        let palette = crate::Palette::by_name("viridis").unwrap();
        let colors =
            Colors { range: Range::MinMax, stretch: Stretch::Linear, palette, nan: Rgba(0, 0, 0, 255) };
        for (kinds, size, rows) in [(15, 500, 15), (100, 700, 24), (100, 200, 9)] {
            let style = Style { size: Some((size, size)), ..Style::default() };
            let drawn = particles(&many(kinds), View::Xy, &colors, &style, &Limits::default()).unwrap();
            let squares: Vec<Rgba> = drawn
                .scene
                .items
                .iter()
                .skip(1)
                .filter_map(|item| match item {
                    Item::Rect { fill, .. } => Some(*fill),
                    _ => None,
                })
                .collect();
            let all_differ = squares.iter().enumerate().all(|(at, color)| !squares[..at].contains(color));
            let shown = if kinds > rows { rows - 1 } else { kinds };
            assert!(all_differ && squares.len() == shown, "{kinds}: {squares:?}");
            let says = |wanted: &str| {
                drawn.scene.items.iter().any(|item| matches!(item, Item::Text { text, .. } if text == wanted))
            };
            let more = kinds - shown;
            assert_eq!(says(&format!("+ {more} more")) || says(&format!("+ {more}")), kinds > rows);
            assert_eq!(drawn.notes.contains(&format!("the legend has {shown} of {kinds}")), kinds > rows);
        }
    }
}
