//! Scenes as PDF: one page of lines, areas and letters, with the values as images within.
//!
//! Texts can be selected and searched: the font is in the file, and a table maps its glyphs to characters. No date and no random number is
//! written, so that the same scene gives the same bytes on every machine; for that reason streams are compressed by `miniz_oxide`, which has
//! one code for all processors.

use std::collections::{BTreeMap, BTreeSet};

use container_core::{Limits, Result};
use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::{CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Chunk, Content, Filter, Finish, Name, Pdf, Ref, Str, TextStr};

use crate::font::{FONT, Font};
use crate::scene::{Anchor, Direction, Item, Pixels, Rect, Rgba, Scene};

/// Points in an inch.
const POINTS: f64 = 72.0;
/// Longest side of a page in units, above which a unit is more than a point (ISO 32000-1, annex C.2).
const MAX_SIDE: f64 = 14_400.0;
/// Compression level: slower ones save less than a hundredth.
const LEVEL: u8 = 6;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const INFO: Ref = Ref::new(5);
const TYPE0: Ref = Ref::new(6);
const CID_FONT: Ref = Ref::new(7);
const DESCRIPTOR: Ref = Ref::new(8);
const FONT_FILE: Ref = Ref::new(9);
const TO_UNICODE: Ref = Ref::new(10);
/// The first of images and states.
const MORE: i32 = 11;

/// Six letters mark a part of a font.
const FONT_NAME: Name<'_> = Name(b"HOLDAL+DejaVuSans");
const CHARACTERS: SystemInfo<'_> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// A PDF file of one page. `recipe`, the command that makes the picture, is stored as its subject.
///
/// # Errors
/// `Limit` where images are larger than `limits` allow.
pub fn pdf(scene: &Scene, recipe: Option<&str>, limits: &Limits) -> Result<Vec<u8>> {
    let mut writer = Writer {
        objects: Chunk::new(),
        next: MORE,
        images: Vec::new(),
        states: BTreeMap::new(),
        letters: BTreeMap::new(),
        font: Font::new(),
    };
    let inches = f64::from(scene.width.max(scene.height)) / f64::from(scene.dpi.max(1));
    let unit = (inches * POINTS / MAX_SIDE).ceil().max(1.0);
    let scale = POINTS / f64::from(scene.dpi.max(1)) / unit;
    let (width, height) = (f64::from(scene.width) * scale, f64::from(scene.height) * scale);
    let content = writer.content(scene, scale, height, limits)?;
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut page = pdf.page(PAGE);
    page.media_box(pdf_writer::Rect::new(0.0, 0.0, narrow(width), narrow(height)));
    page.parent(PAGES).contents(CONTENT);
    if unit > 1.0 {
        page.user_unit(narrow(unit));
    }
    let mut resources = page.resources();
    if !writer.letters.is_empty() {
        resources.fonts().pair(Name(b"F"), TYPE0);
    }
    if !writer.images.is_empty() {
        let mut images = resources.x_objects();
        for (number, image) in writer.images.iter().enumerate() {
            images.pair(Name(format!("I{number}").as_bytes()), *image);
        }
    }
    if !writer.states.is_empty() {
        let mut states = resources.ext_g_states();
        for (opacity, state) in &writer.states {
            states.pair(Name(format!("A{opacity}").as_bytes()), *state);
        }
    }
    resources.finish();
    page.finish();
    stream(&mut pdf, CONTENT, &content);
    let mut info = pdf.document_info(INFO);
    info.producer(TextStr("holdall"));
    if let Some(recipe) = recipe {
        info.subject(TextStr(recipe));
    }
    info.finish();
    if !writer.letters.is_empty() {
        writer.embed_font();
    }
    pdf.extend(&writer.objects);
    Ok(pdf.finish())
}

/// A compressed stream without entries of its own.
fn stream(objects: &mut Chunk, at: Ref, bytes: &[u8]) {
    objects.stream(at, &compress_to_vec_zlib(bytes, LEVEL)).filter(Filter::FlateDecode);
}

/// Objects of a file besides its page.
struct Writer {
    objects: Chunk,
    next: i32,
    images: Vec<Ref>,
    /// Graphics states by the opacity that they set.
    states: BTreeMap<u8, Ref>,
    /// Characters that are shown, by glyph.
    letters: BTreeMap<u16, BTreeSet<char>>,
    font: Font,
}

impl Writer {
    fn new_ref(&mut self) -> Ref {
        let made = Ref::new(self.next);
        self.next = self.next.saturating_add(1);
        made
    }

    /// The operators that draw the scene. Its coordinates, whose y axis points down, are those of the content.
    fn content(&mut self, scene: &Scene, scale: f64, height: f64, limits: &Limits) -> Result<Vec<u8>> {
        let mut content = Content::new();
        content.transform([narrow(scale), 0.0, 0.0, narrow(-scale), 0.0, narrow(height)]);
        content.set_line_cap(LineCapStyle::ButtCap).set_line_join(LineJoinStyle::BevelJoin);
        for item in &scene.items {
            match item {
                Item::Rect { rect, fill } => {
                    self.fill(&mut content, *fill);
                    content.rect(place(rect.x), place(rect.y), place(rect.w), place(rect.h)).fill_nonzero();
                }
                Item::Line { points, width, color } => {
                    self.opacity(&mut content, color.3);
                    let [r, g, b] = levels(*color);
                    content.set_stroke_rgb(r, g, b).set_line_width(place(*width));
                    if path(&mut content, points) {
                        content.stroke();
                    }
                }
                Item::Area { points, fill } => {
                    self.fill(&mut content, *fill);
                    if path(&mut content, points) {
                        content.close_path().fill_nonzero();
                    }
                }
                Item::Text { at, size, anchor, direction, color, text } => {
                    self.fill(&mut content, *color);
                    self.text(&mut content, *at, *size, *anchor, *direction, text);
                }
                Item::Image { rect, pixels } => {
                    self.opacity(&mut content, 255);
                    self.image(&mut content, *rect, pixels, limits)?;
                }
            }
        }
        Ok(content.finish().into_vec())
    }

    fn fill(&mut self, content: &mut Content, color: Rgba) {
        self.opacity(content, color.3);
        let [r, g, b] = levels(color);
        content.set_fill_rgb(r, g, b);
    }

    /// Sets the opacity of what follows. A scene of opaque items needs no state.
    fn opacity(&mut self, content: &mut Content, opacity: u8) {
        if opacity == 255 && self.states.is_empty() {
            return;
        }
        if !self.states.contains_key(&opacity) {
            let at = self.new_ref();
            let level = f32::from(opacity) / 255.0;
            self.objects.ext_graphics(at).non_stroking_alpha(level).stroking_alpha(level);
            self.states.insert(opacity, at);
        }
        content.set_parameters(Name(format!("A{opacity}").as_bytes()));
    }

    fn text(
        &mut self,
        content: &mut Content,
        at: (f64, f64),
        size: f64,
        anchor: Anchor,
        direction: Direction,
        text: &str,
    ) {
        let width = self.font.width(text, size);
        let before = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let mut glyphs = Vec::with_capacity(text.len() * 2);
        for letter in text.chars() {
            let glyph = self.font.glyph(letter);
            self.letters.entry(glyph).or_default().insert(letter);
            glyphs.extend(glyph.to_be_bytes());
        }
        // Where pixels have it, too.
        let matrix = match direction {
            Direction::Right => [1.0, 0.0, 0.0, -1.0, narrow((at.0 - before).round()), narrow(at.1.round())],
            Direction::Up => [0.0, -1.0, -1.0, 0.0, narrow(at.0.round()), narrow((at.1 + before).round())],
        };
        content.begin_text().set_font(Name(b"F"), place(size)).set_text_matrix(matrix);
        content.show(Str(&glyphs)).end_text();
    }

    /// An image of at least one point for each pixel: readers that smooth enlarged images would blur the edges of its values.
    fn image(&mut self, content: &mut Content, rect: Rect, pixels: &Pixels, limits: &Limits) -> Result<()> {
        if pixels.width == 0 || pixels.height == 0 {
            return Ok(());
        }
        let (columns, rows) = (times(rect.w, pixels.width), times(rect.h, pixels.height));
        let (width, height) = (pixels.width.saturating_mul(columns), pixels.height.saturating_mul(rows));
        limits.allocate(u64::from(width).saturating_mul(height.into()).saturating_mul(4))?;
        let is_opaque = pixels.rgba.chunks_exact(4).all(|point| point.get(3) == Some(&255));
        let samples = |part: std::ops::Range<usize>| {
            let mut samples = Vec::new();
            for line in pixels.rgba.chunks_exact(pixels.width as usize * 4) {
                let start = samples.len();
                for point in line.chunks_exact(4).filter_map(|point| point.get(part.clone())) {
                    (0..columns).for_each(|_| samples.extend_from_slice(point));
                }
                let end = samples.len();
                (1..rows).for_each(|_| samples.extend_from_within(start..end));
            }
            compress_to_vec_zlib(&samples, LEVEL)
        };
        let side = |side: u32| i32::try_from(side).unwrap_or(i32::MAX);
        let (at, mask) = (self.new_ref(), (!is_opaque).then(|| self.new_ref()));
        let colors = samples(0..3);
        let mut image = self.objects.image_xobject(at, &colors);
        image.filter(Filter::FlateDecode);
        image.width(side(width)).height(side(height)).bits_per_component(8).interpolate(false);
        image.color_space().device_rgb();
        if let Some(mask) = mask {
            image.s_mask(mask);
        }
        image.finish();
        if let Some(mask) = mask {
            let opacities = samples(3..4);
            let mut image = self.objects.image_xobject(mask, &opacities);
            image.filter(Filter::FlateDecode);
            image.width(side(width)).height(side(height)).bits_per_component(8).interpolate(false);
            image.color_space().device_gray();
        }
        let name = format!("I{}", self.images.len());
        self.images.push(at);
        // The edges of the picture's own pixels, as the raster has them.
        let (x, y) = (rect.x.round(), rect.y.round());
        let (w, h) = ((rect.x + rect.w).round() - x, (rect.y + rect.h).round() - y);
        content.save_state().transform([place(w), 0.0, 0.0, place(-h), place(x), place(y + h)]);
        content.x_object(Name(name.as_bytes())).restore_state();
        Ok(())
    }

    /// The font, widths of the glyphs that are shown, and their characters.
    fn embed_font(&mut self) {
        let metrics = self.font.metrics();
        self.objects
            .type0_font(TYPE0)
            .base_font(FONT_NAME)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(CID_FONT)
            .to_unicode(TO_UNICODE);
        let mut font = self.objects.cid_font(CID_FONT);
        font.subtype(CidFontType::Type2).base_font(FONT_NAME).system_info(CHARACTERS);
        font.font_descriptor(DESCRIPTOR).default_width(0.0).cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = font.widths();
        for glyph in self.letters.keys() {
            widths.consecutive(*glyph, [place(self.font.advance(*glyph, 1000.0))]);
        }
        widths.finish();
        font.finish();
        let [left, bottom, right, top] = metrics.bounds.map(place);
        self.objects
            .font_descriptor(DESCRIPTOR)
            .name(FONT_NAME)
            .flags(FontFlags::NON_SYMBOLIC)
            .bbox(pdf_writer::Rect::new(left, bottom, right, top))
            .italic_angle(0.0)
            .ascent(place(metrics.ascent))
            .descent(place(metrics.descent))
            .cap_height(place(metrics.capitals))
            // DejaVu Sans: the stem of its l.
            .stem_v(90.0)
            .font_file2(FONT_FILE);
        let file = compress_to_vec_zlib(FONT, LEVEL);
        let mut stream = self.objects.stream(FONT_FILE, &file);
        stream.filter(Filter::FlateDecode);
        stream.pair(Name(b"Length1"), i32::try_from(FONT.len()).unwrap_or(i32::MAX));
        stream.finish();
        let mut map = UnicodeCmap::<u16>::new(Name(b"Custom"), CHARACTERS);
        for (glyph, letters) in &self.letters {
            // All missing characters share the glyph of the box.
            let letter = letters.first().copied().filter(|_| *glyph != 0);
            map.pair(*glyph, letter.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let map = compress_to_vec_zlib(map.finish().as_slice(), LEVEL);
        self.objects.cmap(TO_UNICODE, &map).filter(Filter::FlateDecode);
    }
}

/// Appends a path; false where it has no line.
fn path(content: &mut Content, points: &[(f64, f64)]) -> bool {
    let Some(((x, y), rest)) = points.split_first() else { return false };
    content.move_to(place(*x), place(*y));
    for (x, y) in rest {
        content.line_to(place(*x), place(*y));
    }
    if rest.is_empty() {
        content.end_path();
    }
    !rest.is_empty()
}

/// Copies of each of `count` points that fill a length.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn times(length: f64, count: u32) -> u32 {
    (length / f64::from(count)).ceil().clamp(1.0, 20_000.0) as u32
}

fn levels(color: Rgba) -> [f32; 3] {
    [color.0, color.1, color.2].map(|level| f32::from(level) / 255.0)
}

/// A place, to a hundredth of a pixel.
fn place(value: f64) -> f32 {
    narrow((value * 100.0).round() / 100.0)
}

#[expect(clippy::cast_possible_truncation, reason = "places on a page")]
fn narrow(value: f64) -> f32 {
    value.clamp(-1e6, 1e6) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(scene: &Scene) -> String {
        let made = pdf(scene, Some("holdall plot a.npy -o \u{e4}.pdf"), &Limits::default()).unwrap();
        assert!(made.starts_with(b"%PDF-1.7") && made.ends_with(b"%%EOF"));
        // The same again: no date and no random number.
        assert!(made == pdf(scene, Some("holdall plot a.npy -o \u{e4}.pdf"), &Limits::default()).unwrap());
        String::from_utf8_lossy(&made).into_owned()
    }

    /// Text after a key, for each object that has it.
    fn values<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
        let ends: &[char] = &['\n', '\r'];
        text.split(key).skip(1).filter_map(|rest| rest.split(ends).next()).map(str::trim).collect()
    }

    #[test]
    fn pages_have_the_size_of_the_picture() {
        let small = text(&Scene::new(900, 480, 100));
        assert_eq!(values(&small, "/MediaBox"), ["[0 0 648 345.6]"]);
        assert!(!small.contains("/UserUnit") && !small.contains("/Font") && !small.contains("/ExtGState"));
        // 48000 points are more than a page may have.
        let large = text(&Scene::new(20_000, 300, 30));
        assert_eq!(
            (values(&large, "/UserUnit"), values(&large, "/MediaBox")),
            (vec!["4"], vec!["[0 0 12000 180]"])
        );
    }

    #[test]
    fn texts_opacities_and_images_have_objects_of_their_own() {
        let mut scene = Scene::new(100, 60, 100);
        scene.text((50.0, 20.0), 12.0, Anchor::Middle, "3.5 \u{b5}m");
        scene.line(vec![(0.0, 0.0), (9.0, 9.0)], 1.0, Rgba(1, 2, 3, 128));
        let rgba = vec![9, 8, 7, 255, 1, 2, 3, 0];
        let rect = Rect { x: 10.0, y: 10.0, w: 7.0, h: 4.0 };
        scene.items.push(Item::Image { rect, pixels: Pixels { width: 2, height: 1, rgba } });
        let text = text(&scene);
        assert!(text.contains("/Subtype /CIDFontType2") && text.contains("/ToUnicode"));
        assert_eq!(values(&text, "/ca "), ["0.5019608", "1"]);
        // Four columns and four rows for each point: at least as many as pixels; and the same of the mask.
        assert_eq!((values(&text, "/Width "), values(&text, "/Height ")), (vec!["8"; 2], vec!["4"; 2]));
        assert_eq!(values(&text, "/Interpolate "), ["false"; 2]);
        let small = Limits::default().with_memory(100);
        assert!(pdf(&scene, None, &small).is_err());
    }
}
