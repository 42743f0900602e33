//! Pixels as PNG, scenes as SVG.

use std::fmt::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use container_core::{Error, Result};

use crate::scene::{Anchor, Direction, Item, Pixels, Rgba, Scene};

/// Inches in a metre.
const INCHES: f64 = 39.370_078_740_157_48;

/// A PNG file. `recipe`, the command that makes the picture, is stored as its text `Comment`.
///
/// # Errors
/// `Usage` where the encoder refuses the pixels.
pub fn png(pixels: &Pixels, dpi: u32, recipe: Option<&str>) -> Result<Vec<u8>> {
    let refused = |error: png::EncodingError| Error::usage(format!("PNG: {error}"));
    let mut bytes = Vec::new();
    let is_opaque = pixels.rgba.chunks_exact(4).all(|point| point[3] == 255);
    let mut encoder = png::Encoder::new(&mut bytes, pixels.width, pixels.height);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_color(if is_opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
    encoder.set_compression(png::Compression::Balanced);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand")]
    let per_metre = (f64::from(dpi) * INCHES).round() as u32;
    let unit = png::Unit::Meter;
    encoder.set_pixel_dims(Some(png::PixelDimensions { xppu: per_metre, yppu: per_metre, unit }));
    if let Some(recipe) = recipe {
        encoder.add_text_chunk("Software".into(), "holdall".into()).map_err(refused)?;
        // A file's name may be in any script, but tEXt is Latin-1.
        let stored = match recipe.is_ascii() {
            true => encoder.add_text_chunk("Comment".into(), recipe.into()),
            false => encoder.add_itxt_chunk("Comment".into(), recipe.into()),
        };
        stored.map_err(refused)?;
    }
    let mut writer = encoder.write_header().map_err(refused)?;
    if is_opaque {
        let rgb: Vec<u8> = pixels.rgba.chunks_exact(4).flat_map(|point| point[..3].iter().copied()).collect();
        writer.write_image_data(&rgb).map_err(refused)?;
    } else {
        writer.write_image_data(&pixels.rgba).map_err(refused)?;
    }
    writer.finish().map_err(refused)?;
    Ok(bytes)
}

/// An SVG file: lines and text as such, values as an image within. `recipe` is stored as its `desc`.
///
/// # Errors
/// As [`png()`].
pub fn svg(scene: &Scene, recipe: Option<&str>) -> Result<String> {
    let (width, height) = (scene.width, scene.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n"
    );
    if let Some(recipe) = recipe {
        let _ = writeln!(out, "<desc>{}</desc>", escaped(recipe));
    }
    out.push_str("<g font-family=\"DejaVu Sans, Verdana, sans-serif\">\n");
    for item in &scene.items {
        match item {
            Item::Rect { rect, fill } => {
                let _ = write!(
                    out,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>",
                    number(rect.x),
                    number(rect.y),
                    number(rect.w),
                    number(rect.h),
                    color("fill", *fill)
                );
            }
            Item::Line { points, width, color: ink } => {
                out.push_str("<polyline points=\"");
                push_points(points, &mut out);
                let _ = write!(
                    out,
                    "\" fill=\"none\" stroke-width=\"{}\" {}/>",
                    number(*width),
                    color("stroke", *ink)
                );
            }
            Item::Area { points, fill } => {
                out.push_str("<polygon points=\"");
                push_points(points, &mut out);
                let _ = write!(out, "\" {}/>", color("fill", *fill));
            }
            Item::Text { at, size, anchor, direction, color: ink, text } => {
                let (x, y) = (number(at.0), number(at.1));
                let turned = match direction {
                    Direction::Right => String::new(),
                    Direction::Up => format!(" transform=\"rotate(-90 {x} {y})\""),
                };
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                let _ = write!(
                    out,
                    "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\" {}{turned}>{}</text>",
                    number(*size),
                    color("fill", *ink),
                    escaped(text)
                );
            }
            Item::Image { rect, pixels } => {
                let _ = write!(
                    out,
                    "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
                     style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>",
                    number(rect.x),
                    number(rect.y),
                    number(rect.w),
                    number(rect.h),
                    BASE64.encode(png(pixels, scene.dpi, None)?)
                );
            }
        }
        out.push('\n');
    }
    out.push_str("</g>\n</svg>\n");
    Ok(out)
}

/// Points as SVG lists them: `1,2 3,4`.
fn push_points(points: &[(f64, f64)], out: &mut String) {
    for (at, (x, y)) in points.iter().enumerate() {
        let _ = write!(out, "{}{},{}", if at > 0 { " " } else { "" }, number(*x), number(*y));
    }
}

/// A place, to a hundredth of a pixel.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

fn color(name: &str, color: Rgba) -> String {
    let Rgba(r, g, b, a) = color;
    let mut text = format!("{name}=\"#{r:02x}{g:02x}{b:02x}\"");
    if a < 255 {
        let _ = write!(text, " {name}-opacity=\"{}\"", number(f64::from(a) / 255.0));
    }
    text
}

/// Text between tags. XML forbids control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            letter if letter.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(escaped("a<b>&\u{1b}\u{7}"), "a&lt;b&gt;&amp;\u{fffd}\u{fffd}");
    }
}
