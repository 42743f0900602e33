//! A scene as pixels.

use container_core::{Error, Limits, Result};
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect as SkiaRect, Stroke, Transform,
};
use ttf_parser::OutlineBuilder;

use crate::font::Font;
use crate::scene::{Anchor, Direction, Item, Pixels, Rect, Rgba, Scene};

/// Draws a scene.
///
/// # Errors
/// `Limit` where the picture is larger than `limits` allow.
pub fn raster(scene: &Scene, limits: &Limits) -> Result<Pixels> {
    let (width, height) = (scene.width, scene.height);
    limits.allocate(u64::from(width) * u64::from(height) * 4)?;
    let mut map =
        Pixmap::new(width, height).ok_or_else(|| Error::usage("a picture has a width and a height"))?;
    let font = Font::new();
    for item in &scene.items {
        match item {
            Item::Rect { rect, fill } => fill_rect(&mut map, *rect, *fill),
            Item::Line { points, width, color } => stroke(&mut map, points, *width, *color),
            Item::Area { points, fill } => {
                if let Some(path) = path(points) {
                    map.fill_path(&path, &paint(*fill), FillRule::Winding, Transform::identity(), None);
                }
            }
            Item::Text { at, size, anchor, direction, color, text } => {
                let before = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => font.width(text, *size) / 2.0,
                    Anchor::End => font.width(text, *size),
                };
                let mut outline = Outline { path: PathBuilder::new(), direction: *direction };
                font.outline(text, *size, &mut outline);
                // Whole pixels: the same letters look the same.
                let (x, y) = match direction {
                    Direction::Right => ((at.0 - before).round(), at.1.round()),
                    Direction::Up => (at.0.round(), (at.1 + before).round()),
                };
                if let Some(path) = outline.path.finish() {
                    let place = Transform::from_translate(narrow(x), narrow(y));
                    map.fill_path(&path, &paint(*color), FillRule::Winding, place, None);
                }
            }
            Item::Image { rect, pixels } => image(&mut map, *rect, pixels),
        }
    }
    let mut rgba = map.take();
    // The sheet is opaque, so the colours need no division by opacity.
    rgba.chunks_exact_mut(4).for_each(|point| point[3] = 255);
    Ok(Pixels { width, height, rgba })
}

#[expect(clippy::cast_possible_truncation, reason = "pixels")]
fn narrow(value: f64) -> f32 {
    value.clamp(-1e6, 1e6) as f32
}

fn paint(color: Rgba) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(color.0, color.1, color.2, color.3);
    paint.anti_alias = true;
    paint
}

fn fill_rect(map: &mut Pixmap, rect: Rect, fill: Rgba) {
    if let Some(place) = SkiaRect::from_xywh(narrow(rect.x), narrow(rect.y), narrow(rect.w), narrow(rect.h)) {
        map.fill_rect(place, &paint(fill), Transform::identity(), None);
    }
}

fn path(points: &[(f64, f64)]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    let (first, rest) = points.split_first()?;
    builder.move_to(narrow(first.0), narrow(first.1));
    for (x, y) in rest {
        builder.line_to(narrow(*x), narrow(*y));
    }
    builder.finish()
}

fn stroke(map: &mut Pixmap, points: &[(f64, f64)], width: f64, color: Rgba) {
    // Frames and ticks: tiny-skia 0.12 leaves out a part of a point in the middle of such strokes.
    if let [(x0, y0), (x1, y1)] = *points
        && (x0 == x1) != (y0 == y1)
    {
        let half = width / 2.0;
        let (across, down) = if x0 == x1 { (half, 0.0) } else { (0.0, half) };
        let (x, y) = (x0.min(x1) - across, y0.min(y1) - down);
        let rect = Rect { x, y, w: (x1 - x0).abs() + 2.0 * across, h: (y1 - y0).abs() + 2.0 * down };
        return fill_rect(map, rect, color);
    }
    let stroke = Stroke {
        width: narrow(width),
        line_cap: LineCap::Butt,
        line_join: LineJoin::Bevel,
        ..Stroke::default()
    };
    if let Some(path) = path(points) {
        map.stroke_path(&path, &paint(color), &stroke, Transform::identity(), None);
    }
}

/// Each point a rectangle: the nearest one for each pixel.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the map")]
fn image(map: &mut Pixmap, rect: Rect, pixels: &Pixels) {
    let (width, height) = (f64::from(map.width()), f64::from(map.height()));
    let span = |from: f64, len: f64, most: f64| {
        (from.round().clamp(0.0, most) as u32)..((from + len).round().clamp(0.0, most) as u32)
    };
    let (xs, ys) = (span(rect.x, rect.w, width), span(rect.y, rect.h, height));
    let source = |at: u32, from: f64, len: f64, count: u32| {
        let place = (f64::from(at) + 0.5 - from.round()) / len * f64::from(count);
        (place.max(0.0) as u32).min(count.saturating_sub(1))
    };
    let columns: Vec<u32> = xs.clone().map(|x| source(x, rect.x, rect.w, pixels.width)).collect();
    let stride = map.width() as usize;
    let data = map.data_mut();
    for y in ys {
        let row = source(y, rect.y, rect.h, pixels.height);
        for (x, column) in xs.clone().zip(&columns) {
            let Rgba(r, g, b, a) = pixels.at(*column, row);
            let at = (y as usize * stride + x as usize) * 4;
            let Some(place) = data.get_mut(at..at + 4) else { continue };
            for (have, over) in place.iter_mut().zip([r, g, b]) {
                let mixed = u32::from(*have) * u32::from(255 - a) + u32::from(over) * u32::from(a);
                *have = ((mixed + 127) / 255) as u8;
            }
        }
    }
}

/// The outline of a text, each point turned here: on a big-endian machine tiny-skia 0.12 loses some paths, those that it turns itself among them.
struct Outline {
    path: PathBuilder,
    direction: Direction,
}

impl Outline {
    fn turned(&self, x: f32, y: f32) -> (f32, f32) {
        match self.direction {
            Direction::Right => (x, y),
            Direction::Up => (y, -x),
        }
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.turned(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.turned(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.turned(x1, y1), self.turned(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.turned(x1, y1), self.turned(x2, y2), self.turned(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The point in the middle of the upper edge of a frame was paler than the others.
    #[test]
    fn straight_lines_are_the_same_all_along() {
        for (from, to) in [(77.0, 699.0), (77.0, 772.0), (3.0, 800.0)] {
            let mut scene = Scene::new(820, 820, 100);
            scene.line(vec![(from, 43.5), (to, 43.5)], 1.0, Rgba::BLACK);
            scene.line(vec![(2.5, from), (2.5, to)], 1.0, Rgba::BLACK);
            let pixels = raster(&scene, &Limits::default()).unwrap();
            let inked = |at: u32| f64::from(at) >= from && f64::from(at) < to;
            for at in 0..820 {
                let wanted = if inked(at) { Rgba::BLACK } else { Rgba::WHITE };
                assert_eq!(pixels.at(2, at), wanted, "{from} {to}: row {at}");
                if at > 2 {
                    assert_eq!(pixels.at(at, 43), wanted, "{from} {to}: column {at}");
                }
            }
        }
    }
}
