//! Drawing of spheres and other bodies that hide each other, in parallel projection.
//!
//! They are drawn from the nearest to the furthest, so that most hidden parts are skipped before their points are tested: a square of points
//! that is nearer everywhere than the sphere can be there is left out. The remaining work is bounded by [`Budget`], since the sizes of
//! particles come from the file.

use std::ops::Range;

use container_core::{Limits, Result};

use crate::bodies::Form;
use crate::scale::place;
use crate::scene::{Pixels, Rgba};

/// A body, in the lengths of the box.
pub(crate) struct Body {
    /// Position: to the right, up, towards the viewer.
    pub at: [f64; 3],
    /// Its form.
    pub form: Form,
    /// Its colour in full light, nearby.
    pub color: Rgba,
}

impl Body {
    /// Bytes that it takes.
    pub(crate) fn memory(&self) -> u64 {
        (size_of::<Self>() as u64).saturating_add(self.form.cost().saturating_mul(32))
    }
}

/// Mapping from lengths of the box to the picture.
pub(crate) struct Place {
    /// Coordinates of the left and lower edge.
    pub low: [f64; 2],
    /// Pixels for each length of 1.
    pub scale: f64,
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// Depths of the furthest and nearest point, where paleness shows depth.
    pub depth: Option<(f64, f64)>,
}

/// Points drawn for each pixel of the picture, along each axis.
const FINE: usize = 2;

/// Points along the side of a square.
const SIDE: usize = 16;

/// Budget of points: for a valid file a few for each particle and a few for each pixel.
///
/// A million spheres that each fill the picture, none hiding another, would take hours. The nearest are drawn until the budget is spent, and
/// of those behind them only the middles.
struct Budget(u64);

impl Budget {
    /// A few seconds, or some layers of a large picture.
    fn of(width: usize, height: usize) -> Self {
        let points = (width as u64).saturating_mul(height as u64);
        Self(points.saturating_mul(8).max(500_000_000))
    }

    fn spend(&mut self, points: u64) {
        self.0 = self.0.saturating_sub(points);
    }

    const fn is_spent(&self) -> bool {
        self.0 == 0
    }

    const fn has(&self, points: u64) -> bool {
        points <= self.0
    }
}

/// Minimum radius in points, so that spheres smaller than a pixel stay visible.
const MIN_RADIUS: f64 = 1.2;

/// The picture of the bodies, twice as fine and then averaged, and how many of them are drawn as points although they are larger; bonds,
/// which are rods, are left out instead.
///
/// # Errors
/// `Limit` for a picture that is too large.
pub(crate) fn image(bodies: &[Body], to: &Place, limits: &Limits) -> Result<(Pixels, u64)> {
    let (width, height) = (to.size.0 as usize * FINE, to.size.1 as usize * FINE);
    let points = (width as u64).saturating_mul(height as u64);
    limits.allocate(points.saturating_mul(8).saturating_add((bodies.len() as u64).saturating_mul(8)))?;
    Ok(drawn(bodies, to, Canvas::new(width, height), Budget::of(width, height)))
}

fn drawn(bodies: &[Body], to: &Place, mut canvas: Canvas, mut budget: Budget) -> (Pixels, u64) {
    let mut order: Vec<usize> = (0..bodies.len()).collect();
    let nearest = |number: &usize| bodies.get(*number).map_or(0.0, |body| body.at[2] + body.form.half()[2]);
    order.sort_by_cached_key(|number| std::cmp::Reverse(Sortable(nearest(number))));
    let scale = to.scale * FINE as f64;
    let height = canvas.height as f64;
    let mut small = 0;
    for body in order.into_iter().filter_map(|number| bodies.get(number)) {
        let half = body.form.half();
        let reach = half[0].max(half[1]);
        let mut disc = Disc {
            x: (body.at[0] - to.low[0]) * scale,
            y: height - (body.at[1] - to.low[1]) * scale,
            radius: (reach * scale).max(MIN_RADIUS),
            z: body.at[2],
            up: reach,
            color: body.color,
            pale: to.depth.map_or(0.0, |(low, high)| 0.5 * (1.0 - place(body.at[2], low, high))),
        };
        let is_large = disc.radius > MIN_RADIUS;
        if !matches!(body.form, Form::Sphere(_)) && is_large {
            let solid = Solid { body, x: disc.x, y: disc.y, scale, half, pale: disc.pale };
            let (rows, columns) = solid.spans(canvas.height, canvas.width);
            let points = (rows.len() as u64).saturating_mul(columns.len() as u64);
            // Each point is compared with every part of the body: one body alone may take too long.
            if !budget.is_spent() && budget.has(points.saturating_mul(body.form.cost())) {
                budget.spend(canvas.draw(&solid).saturating_mul(body.form.cost()));
                continue;
            }
            if matches!(body.form, Form::Rod(..)) {
                continue;
            }
            disc.radius = MIN_RADIUS;
            small += 1;
        } else if budget.is_spent() && is_large {
            disc.radius = MIN_RADIUS;
            small += 1;
        }
        budget.spend(canvas.draw(&disc));
    }
    (canvas.averaged(to.size), small)
}

/// A depth in the order of [`f64::total_cmp`].
#[derive(Clone, Copy)]
struct Sortable(f64);

impl Ord for Sortable {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Sortable {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sortable {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Sortable {}

/// A body that covers some of the points of a canvas.
trait Cover {
    /// The rows and columns that it may touch, of a canvas of this height and width.
    fn spans(&self, height: usize, width: usize) -> (Range<usize>, Range<usize>);

    /// Nearest depth within these rows and columns; `None` where it is not in them.
    fn nearest(&self, rows: &Range<usize>, columns: &Range<usize>) -> Option<f32>;

    /// Depth and normal of its surface at the middle of a point.
    fn surface(&self, row: usize, column: usize) -> Option<(f32, [f64; 3])>;

    /// Its colour, and how pale that is.
    fn color(&self) -> (Rgba, f64);
}

/// A body other than a sphere in points of the canvas.
struct Solid<'b> {
    body: &'b Body,
    x: f64,
    y: f64,
    scale: f64,
    half: [f64; 3],
    pale: f64,
}

impl Cover for Solid<'_> {
    fn spans(&self, height: usize, width: usize) -> (Range<usize>, Range<usize>) {
        let half = |axis: usize| self.half.get(axis).copied().unwrap_or(0.0) * self.scale;
        (span(self.y, half(1), height), span(self.x, half(0), width))
    }

    #[expect(clippy::cast_possible_truncation, reason = "as exact as a picture needs")]
    fn nearest(&self, _: &Range<usize>, _: &Range<usize>) -> Option<f32> {
        Some((self.body.at[2] + self.half[2]) as f32)
    }

    #[expect(clippy::cast_possible_truncation, reason = "as exact as a picture needs")]
    fn surface(&self, row: usize, column: usize) -> Option<(f32, [f64; 3])> {
        let (x, y) = ((column as f64 + 0.5 - self.x) / self.scale, (self.y - row as f64 - 0.5) / self.scale);
        let (depth, normal) = self.body.form.surface(x, y, self.scale)?;
        Some(((self.body.at[2] + depth) as f32, normal))
    }

    fn color(&self) -> (Rgba, f64) {
        (self.body.color, self.pale)
    }
}

/// A sphere in points of the canvas.
struct Disc {
    x: f64,
    y: f64,
    radius: f64,
    /// Depth of its middle, in lengths of the box, and distance from there to its nearest point.
    z: f64,
    up: f64,
    color: Rgba,
    pale: f64,
}

/// Points, and the depth of the visible sphere in each.
struct Canvas {
    width: usize,
    height: usize,
    points: Vec<[u8; 4]>,
    near: Vec<f32>,
    /// Depth of the furthest point of each square.
    furthest: Vec<f32>,
    /// Squares in a row.
    squares: usize,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        let squares = width.div_ceil(SIDE);
        Self {
            width,
            height,
            points: vec![[0; 4]; width * height],
            near: vec![f32::NEG_INFINITY; width * height],
            furthest: vec![f32::NEG_INFINITY; squares * height.div_ceil(SIDE)],
            squares,
        }
    }

    /// Draws the visible part of a body; returns the number of points and squares tested.
    fn draw(&mut self, body: &impl Cover) -> u64 {
        let (rows, columns) = body.spans(self.height, self.width);
        let mut looked = 0;
        for row in parts(&rows) {
            for column in parts(&columns) {
                looked += 1;
                let square = row.start / SIDE * self.squares + column.start / SIDE;
                let Some(furthest) = self.furthest.get(square).copied() else { continue };
                if body.nearest(&row, &column).is_none_or(|nearest| nearest <= furthest) {
                    continue;
                }
                looked += (row.len() * column.len()) as u64;
                self.fill(body, &row, &column);
                let found = self.furthest_of(row.start / SIDE, column.start / SIDE);
                if let Some(furthest) = self.furthest.get_mut(square) {
                    *furthest = found;
                }
            }
        }
        looked
    }

    /// Draws the part of a body that is in these rows and columns.
    fn fill(&mut self, body: &impl Cover, rows: &Range<usize>, columns: &Range<usize>) {
        let (color, pale) = body.color();
        for row in rows.clone() {
            let line = row * self.width + columns.start..row * self.width + columns.end;
            let (Some(near), Some(points)) = (self.near.get_mut(line.clone()), self.points.get_mut(line))
            else {
                continue;
            };
            for (column, (near, point)) in columns.clone().zip(near.iter_mut().zip(points)) {
                if let Some((z, normal)) = body.surface(row, column)
                    && z > *near
                {
                    *near = z;
                    *point = shaded(color, normal, pale);
                }
            }
        }
    }

    /// The point of a square that is furthest away.
    fn furthest_of(&self, row: usize, column: usize) -> f32 {
        let columns = column * SIDE..(column * SIDE + SIDE).min(self.width);
        let rows = row * SIDE..(row * SIDE + SIDE).min(self.height);
        let lines = rows.filter_map(|row| {
            self.near.get(row * self.width + columns.start..row * self.width + columns.end)
        });
        lines.flatten().copied().fold(f32::INFINITY, f32::min)
    }

    /// The means of [`FINE`] × [`FINE`] points.
    #[expect(clippy::cast_possible_truncation, reason = "means of bytes")]
    fn averaged(&self, size: (u32, u32)) -> Pixels {
        let mut pixels = Pixels::transparent(size.0, size.1);
        for (number, place) in pixels.rgba.chunks_exact_mut(4).enumerate() {
            let (row, column) = (number / size.0 as usize * FINE, number % size.0 as usize * FINE);
            let mut sums = [0_u32; 4];
            for at in 0..FINE * FINE {
                let point = self.points.get((row + at / FINE) * self.width + column + at % FINE);
                let [r, g, b, a] = point.copied().unwrap_or_default();
                for (sum, part) in sums.iter_mut().zip([r, g, b]) {
                    *sum += u32::from(part) * u32::from(a) / 255;
                }
                sums[3] += u32::from(a);
            }
            let covered = (sums[3] / 255).max(1);
            for (part, sum) in place.iter_mut().zip(&sums[..3]) {
                *part = (sum / covered) as u8;
            }
            place[3] = (sums[3] / (FINE * FINE) as u32) as u8;
        }
        pixels
    }
}

impl Disc {
    /// Depth at a point that is `up` of its radius above the middle.
    #[expect(clippy::cast_possible_truncation, reason = "as exact as a picture needs")]
    fn at(&self, up: f64) -> f32 {
        (self.z + up * self.up) as f32
    }
}

impl Cover for Disc {
    fn spans(&self, height: usize, width: usize) -> (Range<usize>, Range<usize>) {
        (span(self.y, self.radius, height), span(self.x, self.radius, width))
    }

    fn nearest(&self, rows: &Range<usize>, columns: &Range<usize>) -> Option<f32> {
        let off = |middle: f64, range: &Range<usize>| {
            let (low, high) = (range.start as f64 + 0.5, range.end as f64 - 0.5);
            (middle.clamp(low, high.max(low)) - middle) / self.radius
        };
        let (dx, dy) = (off(self.x, columns), off(self.y, rows));
        let off = dx * dx + dy * dy;
        (off <= 1.0).then(|| self.at((1.0 - off).sqrt()))
    }

    fn surface(&self, row: usize, column: usize) -> Option<(f32, [f64; 3])> {
        let dy = (row as f64 + 0.5 - self.y) / self.radius;
        let dx = (column as f64 + 0.5 - self.x) / self.radius;
        let off = dx * dx + dy * dy;
        if off > 1.0 {
            return None;
        }
        let up = (1.0 - off).sqrt();
        Some((self.at(up), [dx, -dy, up]))
    }

    fn color(&self) -> (Rgba, f64) {
        (self.color, self.pale)
    }
}

/// The rows or columns that are within `radius` of a middle.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the picture")]
fn span(middle: f64, radius: f64, most: usize) -> Range<usize> {
    let low = (middle - radius).floor().max(0.0) as usize;
    low..((middle + radius).ceil().max(0.0) as usize).min(most)
}

/// A range cut where squares begin.
fn parts(range: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
    let range = range.clone();
    (range.start / SIDE..range.end.div_ceil(SIDE))
        .map(move |square| range.start.max(square * SIDE)..range.end.min((square + 1) * SIDE))
        .filter(|part| !part.is_empty())
}

/// Light from the upper left, a small gleam, and paler the further away.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
fn shaded(color: Rgba, normal: [f64; 3], pale: f64) -> [u8; 4] {
    const LIGHT: [f64; 3] = [-0.45, 0.55, 0.703_562_4];
    let lit = normal.iter().zip(LIGHT).map(|(one, other)| one * other).sum::<f64>().max(0.0);
    let gleam = lit.powi(24) * 0.35;
    let bright = 0.42 + 0.58 * lit;
    let part = |level: u8| {
        let level = f64::from(level) / 255.0 * bright;
        let level = level + (1.0 - level) * gleam;
        ((level + (1.0 - level) * pale) * 255.0).round().clamp(0.0, 255.0) as u8
    };
    [part(color.0), part(color.1), part(color.2), 255]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(side: u32) -> Place {
        Place { low: [0.0; 2], scale: f64::from(side), size: (side, side), depth: None }
    }

    /// Numbers that look random, from 0 to 1.
    fn noise(seed: &mut u32) -> f64 {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(*seed >> 8) / f64::from(1 << 24)
    }

    fn radius(sphere: &Body) -> f64 {
        let Form::Sphere(radius) = sphere.form else { panic!("no sphere") };
        radius
    }

    /// Every point of every sphere, in any order.
    fn slowly(spheres: &[Body], to: &Place) -> Pixels {
        let (width, height) = (to.size.0 as usize * FINE, to.size.1 as usize * FINE);
        let mut canvas = Canvas::new(width, height);
        let scale = to.scale * FINE as f64;
        for sphere in spheres {
            let disc = Disc {
                x: sphere.at[0] * scale,
                y: height as f64 - sphere.at[1] * scale,
                radius: (radius(sphere) * scale).max(MIN_RADIUS),
                z: sphere.at[2],
                up: radius(sphere),
                color: sphere.color,
                pale: 0.0,
            };
            canvas.fill(&disc, &(0..height), &(0..width));
        }
        canvas.averaged(to.size)
    }

    #[test]
    fn image_matches_brute_force_rendering() {
        let mut seed = 7;
        for count in [1, 20, 400] {
            let spheres: Vec<Body> = (0..=255_u8)
                .cycle()
                .take(count)
                .map(|red| Body {
                    at: std::array::from_fn(|_| noise(&mut seed) * 1.2 - 0.1),
                    form: Form::Sphere(noise(&mut seed).powi(3) * 0.4),
                    color: Rgba(red, 90, 200, 255),
                })
                .collect();
            let to = place(53);
            let (drawn, small) = image(&spheres, &to, &Limits::default()).unwrap();
            assert_eq!(small, 0);
            assert!(drawn.rgba == slowly(&spheres, &to).rgba, "{count} spheres");
        }
    }

    /// Each a little further to the right than the last and as large as the picture: none is hidden by the others.
    #[test]
    fn of_too_many_large_spheres_the_nearest_are_drawn_and_points_of_those_behind() {
        let sphere = |at: u32, near: f64| Body {
            at: [0.5 + f64::from(at) / 4e6, 0.5, near],
            form: Form::Sphere(2.0),
            color: Rgba(200, 60, 60, 255),
        };
        let mut many: Vec<Body> = (0..4000).map(|at| sphere(at, 0.0)).collect();
        many.push(sphere(0, 9.0));
        let to = place(32);
        let (all, small) = drawn(&many, &to, Canvas::new(64, 64), Budget(u64::MAX));
        assert_eq!(small, 0);
        let (few, small) = drawn(&many, &to, Canvas::new(64, 64), Budget(64 * 64 * 10));
        assert!((1000..4000).contains(&small), "{small}");
        assert!(few.rgba == all.rgba, "the nearest hides all");
        // A polygon of so many corners that its points would be more than all of the budget.
        let corners =
            (0..100).map(|at| f64::from(at) / 16.0).map(|angle| [angle.cos(), angle.sin()]).collect();
        let costly =
            Body { at: [0.5, 0.5, 8.0], form: Form::Polygon(corners, 0.0), color: Rgba(0, 0, 0, 255) };
        assert_eq!(drawn(&[costly], &to, Canvas::new(64, 64), Budget(64 * 64 * 10)).1, 1);
        many.pop();
        let (few, _) = drawn(&many, &to, Canvas::new(64, 64), Budget(64 * 64 * 10));
        assert!(few.rgba.chunks_exact(4).all(|pixel| pixel[3] == 255), "{few:?}");
    }
}
