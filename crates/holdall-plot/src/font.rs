//! The widths and outlines of letters.

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// DejaVu Sans: Latin, Greek, and characters of formulas.
pub(crate) const FONT: &[u8] = include_bytes!("../fonts/DejaVuSans-subset.ttf");

/// The embedded font; widths are 0 where it cannot be parsed.
pub(crate) struct Font(Option<Face<'static>>);

/// Measures of a font, in thousandths of its size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Metrics {
    /// Left, lower, right and upper end of all letters.
    pub(crate) bounds: [f64; 4],
    pub(crate) ascent: f64,
    /// Negative.
    pub(crate) descent: f64,
    /// Height of capital letters.
    pub(crate) capitals: f64,
}

impl Font {
    pub(crate) fn new() -> Self {
        Self(Face::parse(FONT, 0).ok())
    }

    /// Width in pixels of one line of text at font size `size`.
    pub(crate) fn width(&self, text: &str, size: f64) -> f64 {
        let Some(face) = &self.0 else { return 0.0 };
        text.chars().map(|letter| advance(face, letter)).sum::<f64>() * scale(face, size)
    }

    /// The glyph of a letter; 0, a box, where the font lacks it.
    pub(crate) fn glyph(&self, letter: char) -> u16 {
        self.0.as_ref().and_then(|face| face.glyph_index(letter)).map_or(0, |glyph| glyph.0)
    }

    /// Width of a glyph at font size `size`.
    pub(crate) fn advance(&self, glyph: u16, size: f64) -> f64 {
        let Some(face) = &self.0 else { return 0.0 };
        f64::from(face.glyph_hor_advance(GlyphId(glyph)).unwrap_or(0)) * scale(face, size)
    }

    /// Measures of all its letters.
    pub(crate) fn metrics(&self) -> Metrics {
        let Some(face) = &self.0 else { return Metrics::default() };
        let of = |value: i16| f64::from(value) * scale(face, 1000.0);
        let bounds = face.global_bounding_box();
        Metrics {
            bounds: [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(of),
            ascent: of(face.ascender()),
            descent: of(face.descender()),
            capitals: of(face.capital_height().unwrap_or(face.ascender())),
        }
    }

    /// Draws a line of text from (0, 0) to the right. The y axis points down.
    pub(crate) fn outline(&self, text: &str, size: f64, out: &mut impl OutlineBuilder) {
        let Some(face) = &self.0 else { return };
        let scale = scale(face, size);
        let mut x = 0.0;
        for letter in text.chars() {
            let glyph = face.glyph_index(letter).unwrap_or_default();
            face.outline_glyph(glyph, &mut Placed { out, scale, x });
            x += advance(face, letter) * scale;
        }
    }

    /// Letters of `text` that it does not have: they are drawn as boxes.
    pub(crate) fn lacks<'t>(&'t self, text: &'t str) -> impl Iterator<Item = char> + 't {
        let has = |letter: char| self.0.as_ref().is_some_and(|face| face.glyph_index(letter).is_some());
        text.chars().filter(move |letter| !has(*letter))
    }

    /// `text`, cut in its middle until it is at most `most` wide.
    pub(crate) fn fitted(&self, text: &str, size: f64, most: f64) -> String {
        self.cut(text, 4, size, most)
    }

    /// Shortens `text` to at most the width `most`: `eighths` of 8 of the kept characters from its start, the rest from its end.
    pub(crate) fn cut(&self, text: &str, eighths: usize, size: f64, most: f64) -> String {
        if self.width(text, size) <= most {
            return text.to_owned();
        }
        let letters: Vec<char> = text.chars().collect();
        for kept in (2..letters.len()).rev() {
            let head = kept * eighths / 8;
            let tail = &letters[letters.len() - (kept - head)..];
            let cut: String = letters[..head].iter().chain(['…'].iter()).chain(tail).collect();
            if self.width(&cut, size) <= most {
                return cut;
            }
        }
        String::new()
    }
}

fn scale(face: &Face<'_>, size: f64) -> f64 {
    size / f64::from(face.units_per_em())
}

fn advance(face: &Face<'_>, letter: char) -> f64 {
    face.glyph_hor_advance(face.glyph_index(letter).unwrap_or_default()).unwrap_or(0).into()
}

/// Outline of a letter, scaled from font units to pixels and moved to its place.
struct Placed<'o, O> {
    out: &'o mut O,
    scale: f64,
    x: f64,
}

#[expect(clippy::cast_possible_truncation, reason = "pixels")]
impl<O: OutlineBuilder> Placed<'_, O> {
    fn x(&self, x: f32) -> f32 {
        (self.x + f64::from(x) * self.scale) as f32
    }

    fn y(&self, y: f32) -> f32 {
        (-f64::from(y) * self.scale) as f32
    }
}

impl<O: OutlineBuilder> OutlineBuilder for Placed<'_, O> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = (self.x(x), self.y(y));
        self.out.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = (self.x(x), self.y(y));
        self.out.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (x1, y1, x, y) = (self.x(x1), self.y(y1), self.x(x), self.y(y));
        self.out.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (x1, y1, x2, y2, x, y) = (self.x(x1), self.y(y1), self.x(x2), self.y(y2), self.x(x), self.y(y));
        self.out.curve_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.out.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Advance widths of DejaVu Sans: 2048 units, H 1540, space 651, digits 1303.
    #[test]
    fn widths_are_the_fonts() {
        let font = Font::new();
        assert_eq!(font.width("H 1", 2048.0), 1540.0 + 651.0 + 1303.0);
        assert!(font.width("µÅ⁻²−×", 10.0) > 20.0);
        assert_eq!(font.lacks("a日µ本…").collect::<String>(), "日本");
        assert!(font.width(&font.fitted(&"long title ".repeat(20), 10.0, 100.0), 10.0) <= 100.0);
    }
}
