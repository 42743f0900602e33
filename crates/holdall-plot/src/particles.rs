//! Particles in their box, seen from afar: bodies and bonds without perspective.

use std::str::FromStr;

use container_core::{Error, Limits, Result};

use crate::Picture;
use crate::bodies::{Ellipsoid, Form};
use crate::bonds::{self, Cell};
use crate::categorical_palette::distinct_colors;
use crate::frame::{Axis, Frame, Style};
use crate::heatmap::Colors;
use crate::layout::{SideParts, TopParts};
use crate::legend::Mark;
use crate::scale::{Range, Stretch, place};
use crate::scene::{Anchor, Item, Rgba};
use crate::shapes::{Shape, cross, dot, turned};
use crate::snapshot::Snapshot;
use crate::spheres::{self, Body, Place};

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

/// The edges of a box between its corners. A corner's number is the sum of the edges that reach it from the origin: 1, 2 and 4.
const EDGES: [(usize, usize); 12] =
    [(0, 1), (0, 2), (0, 4), (1, 3), (1, 5), (2, 3), (2, 6), (4, 5), (4, 6), (3, 7), (5, 7), (6, 7)];

/// Particles in the shapes of their types, or as spheres of their diameters, in the colours of their types or of a field; those further away
/// are paler. Bonds are rods between them.
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
    let mut bodies: Vec<Body> = Vec::with_capacity(snapshot.positions.len());
    let (mut lost, mut sizeless, mut memory) = (0_u64, 0_u64, 0_u64);
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
        let kind = snapshot.types.get(number).copied().unwrap_or(0);
        let quaternion = snapshot.orientations.get(number).copied().unwrap_or([1.0, 0.0, 0.0, 0.0]);
        let placed = Placed { at: *position, quaternion, axes, color };
        let before = bodies.len();
        placed.push(snapshot.shapes.get(kind), diameter.abs() / 2.0, &mut bodies);
        // A type's shape may have many parts, which each particle has in its own direction.
        memory = bodies.iter().skip(before).fold(memory, |sum, body| sum.saturating_add(body.memory()));
        limits.allocate(memory)?;
    }
    // The size of the picture, which has the aspect ratio of the bounds.
    let bounds = Bounds::new(&corners, &bodies)?;
    limits.allocate(
        memory.saturating_add((snapshot.bonds.len() as u64).saturating_mul(2 * size_of::<Body>() as u64)),
    )?;
    let lost_bonds = add_bonds(snapshot, &seen, &mut bodies);
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
    let (image, small) = spheres::image(&bodies, &to, limits)?;
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
    notes.extend(undrawn(snapshot));
    if lost_bonds > 0 {
        let have = if lost_bonds == 1 { "bond has" } else { "bonds have" };
        notes.push(format!("{lost_bonds} {have} an end that is not there"));
    }
    if small > 0 {
        let (are, points) = if small == 1 { ("is", "a point") } else { ("are", "points") };
        notes.push(format!("{} covered by others {are} drawn as {points} to save time", counted(small)));
    }
    let range = range_ends.map(|(low, high)| Range::Fixed(low, high));
    Ok(Picture { scene: frame.scene, range, bins: None, notes })
}

/// A particle in its place.
struct Placed {
    at: [f64; 3],
    quaternion: [f64; 4],
    /// The axes of the view.
    axes: [[f64; 3]; 3],
    color: Rgba,
}

impl Placed {
    /// Adds the bodies of a shape; of a shape that is not drawn, a sphere of this radius.
    fn push(&self, shape: Option<&Shape>, radius: f64, bodies: &mut Vec<Body>) {
        let seen = |point: [f64; 3]| self.axes.map(|axis| dot(axis, point));
        let placed = |vector: [f64; 3]| seen(turned(self.quaternion, vector));
        let mut add = |at: [f64; 3], form: Form| bodies.push(Body { at, form, color: self.color });
        let middle = seen(self.at);
        match shape {
            Some(Shape::Sphere(Some(diameter))) => add(middle, Form::Sphere(diameter / 2.0)),
            Some(Shape::Ellipsoid(radii)) => {
                let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(placed);
                let form = Ellipsoid::new(axes, *radii).map_or(Form::Sphere(0.0), Form::Ellipsoid);
                add(middle, form);
            }
            Some(Shape::Polyhedron(planes, reach)) => {
                let planes = planes.iter().map(|(normal, off)| (placed(*normal), *off)).collect();
                add(middle, Form::Polyhedron(planes, *reach));
            }
            Some(Shape::Polygon(vertices, rounding)) => {
                let flat = |vertex: &[f64; 2]| {
                    let [x, y, _] = placed([vertex[0], vertex[1], 0.0]);
                    [x, y]
                };
                add(middle, Form::Polygon(vertices.iter().map(flat).collect(), *rounding));
            }
            Some(Shape::Union(parts)) => {
                for (center, diameter) in parts {
                    let off = placed(*center);
                    add([0, 1, 2].map(|axis| middle[axis] + off[axis]), Form::Sphere(diameter / 2.0));
                }
            }
            _ => add(middle, Form::Sphere(radius)),
        }
    }
}

/// Radius of bonds, as a part of the mean radius of what they are between.
const BOND: f64 = 0.3;

/// The same as a part of their length, which large particles do not exceed.
const BOND_OF_LENGTH: f64 = 0.15;

/// Adds the bonds as rods; returns the number of those without two particles at finite places.
fn add_bonds(snapshot: &Snapshot, seen: &dyn Fn([f64; 3]) -> [f64; 3], bodies: &mut Vec<Body>) -> u64 {
    let cell = snapshot.cell.and_then(Cell::new);
    let narrow = bodies.iter().map(|body| body.form.half()).map(|[x, y, _]| x.min(y));
    let radius = BOND * narrow.sum::<f64>() / bodies.len().max(1) as f64;
    let mut lost = 0;
    for bond in &snapshot.bonds {
        let ends = bond.map(|end| {
            snapshot.positions.get(end).copied().filter(|at| at.iter().all(|value| value.is_finite()))
        });
        let [Some(from), Some(to)] = ends else {
            lost += 1;
            continue;
        };
        for (start, end) in bonds::parts(cell, from, to) {
            let (at, end) = (seen(start), seen(end));
            let rod = [0, 1, 2].map(|axis| end[axis] - at[axis]);
            let radius = radius.min(BOND_OF_LENGTH * dot(rod, rod).sqrt());
            let form = Form::Rod(rod, radius);
            bodies.push(Body { at, form, color: Rgba(120, 120, 120, 255) });
        }
    }
    lost
}

/// Notes on the types whose shape is not drawn.
fn undrawn(snapshot: &Snapshot) -> Vec<String> {
    const SHOWN: usize = 4;
    let mut types = snapshot.types.clone();
    types.sort_unstable();
    types.dedup();
    let mut notes: Vec<String> = Vec::new();
    for number in types {
        let name = || snapshot.names.get(number).cloned().unwrap_or_else(|| number.to_string());
        if let Some(Shape::Other(shape)) = snapshot.shapes.get(number) {
            if notes.len() == SHOWN {
                notes.push("shapes of more types are not drawn".into());
                break;
            }
            notes.push(format!(
                "particles of type {} are drawn as spheres: their shape, {shape}, is not drawn",
                name()
            ));
        }
    }
    notes
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
    fn new(corners: &[[f64; 3]], bodies: &[Body]) -> Result<Self> {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        let mut include = |point: [f64; 3], half: [f64; 3]| {
            low = std::array::from_fn(|axis| f64::min(low[axis], point[axis] - half[axis]));
            high = std::array::from_fn(|axis| f64::max(high[axis], point[axis] + half[axis]));
        };
        corners.iter().for_each(|corner| include(*corner, [0.0; 3]));
        bodies.iter().for_each(|body| include(body.at, body.form.half()));
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
                orientations: vec![],
                shapes: vec![],
                bonds: vec![],
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
            orientations: vec![],
            shapes: vec![],
            bonds: vec![],
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
