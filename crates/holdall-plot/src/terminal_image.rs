//! Pixels on a terminal.

use std::fmt::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use container_core::Result;

use crate::encode::png;
use crate::scene::{Pixels, Rgba};

/// Protocol by which a terminal shows pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Kitty's graphics protocol: PNG in escape sequences.
    Kitty,
    /// DEC's sixels.
    Sixel,
    /// Two pixels in each character, in 24-bit colours.
    Blocks,
    /// The same in the 256 colours of xterm.
    Blocks256,
}

/// The sequences that show the pixels at the cursor, with a line feed after them.
///
/// # Errors
/// As [`png()`].
pub fn sequences(pixels: &Pixels, protocol: Protocol) -> Result<String> {
    Ok(match protocol {
        Protocol::Kitty => kitty(&png(pixels, 96, None)?),
        Protocol::Sixel => sixel(pixels),
        Protocol::Blocks | Protocol::Blocks256 => blocks(pixels, protocol),
    })
}

/// "Terminal graphics protocol" of kitty: transmit and display (`a=T`) a PNG (`f=100`) in pieces of 4096 characters, without an
/// answer (`q=2`).
fn kitty(file: &[u8]) -> String {
    let data = BASE64.encode(file);
    let mut out = String::with_capacity(data.len() + data.len() / 64);
    let mut rest = data.as_str();
    let mut head = "a=T,f=100,q=2,";
    loop {
        let (piece, after) = rest.split_at(rest.len().min(4096));
        let _ = write!(out, "\x1b_G{head}m={};{piece}\x1b\\", u8::from(!after.is_empty()));
        if after.is_empty() {
            out.push('\n');
            return out;
        }
        (rest, head) = (after, "");
    }
}

/// Steps of red, green and blue among the 240 colours of a sixel picture.
const LEVELS: [u32; 3] = [6, 8, 5];

/// VT330/VT340 Programmer Reference Manual, chapter 14. Colours are rounded to a fixed set, with an ordered pattern so that gradients
/// do not become bands.
fn sixel(pixels: &Pixels) -> String {
    let (width, height) = (pixels.width, pixels.height);
    // Background is left alone; one point is as high as wide.
    let mut out = format!("\x1bP0;1;0q\"1;1;{width};{height}");
    let [reds, greens, blues] = LEVELS;
    for number in 0..reds * greens * blues {
        let percent = |level: u32, levels: u32| level * 100 / (levels - 1);
        let (r, g, b) = (number / (greens * blues), number / blues % greens, number % blues);
        let _ = write!(out, "#{number};2;{};{};{}", percent(r, reds), percent(g, greens), percent(b, blues));
    }
    for top in (0..height).step_by(6) {
        // For each colour of the band, the six points of each column as bits.
        let mut rows: Vec<Option<Vec<u8>>> = vec![None; (reds * greens * blues) as usize];
        for y in top..(top + 6).min(height) {
            for x in 0..width {
                let number = nearest(over_white(pixels.at(x, y)), x, y);
                if let Some(row) = rows.get_mut(number) {
                    let row = row.get_or_insert_with(|| vec![0; width as usize]);
                    if let Some(bits) = row.get_mut(x as usize) {
                        *bits |= 1 << (y - top);
                    }
                }
            }
        }
        for (number, row) in rows.into_iter().enumerate() {
            let Some(row) = row else { continue };
            let _ = write!(out, "#{number}");
            for run in row.chunk_by(|a, b| a == b) {
                let letter = char::from(63 + run[0]);
                match run.len() {
                    0..=3 => run.iter().for_each(|_| out.push(letter)),
                    count => _ = write!(out, "!{count}{letter}"),
                }
            }
            // Back to the start of the band.
            out.push('$');
        }
        out.push('-');
    }
    out.push_str("\x1b\\\n");
    out
}

/// The colour of the set for a point, by the 4x4 Bayer pattern.
fn nearest(color: Rgba, x: u32, y: u32) -> usize {
    const BAYER: [[u32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
    let threshold = BAYER[(y % 4) as usize][(x % 4) as usize];
    let [r, g, b] =
        [(color.0, LEVELS[0]), (color.1, LEVELS[1]), (color.2, LEVELS[2])].map(|(level, levels)| {
            // In sixteenths of a step.
            let place = u32::from(level) * (levels - 1) * 16 / 255;
            (place / 16 + u32::from(place % 16 > threshold)).min(levels - 1)
        });
    ((r * LEVELS[1] + g) * LEVELS[2] + b) as usize
}

fn over_white(Rgba(r, g, b, a): Rgba) -> Rgba {
    let over = |level: u8| {
        let mixed = (u32::from(level) * u32::from(a) + 255 * u32::from(255 - a)) / 255;
        u8::try_from(mixed).unwrap_or(255)
    };
    Rgba(over(r), over(g), over(b), 255)
}

fn blocks(pixels: &Pixels, protocol: Protocol) -> String {
    let mut out = String::new();
    let code = |color: Rgba, layer: u8| match protocol {
        Protocol::Blocks256 => format!("{layer};5;{}", of_256(color)),
        _ => format!("{layer};2;{};{};{}", color.0, color.1, color.2),
    };
    for y in (0..pixels.height).step_by(2) {
        let mut last = None;
        for x in 0..pixels.width {
            let upper = over_white(pixels.at(x, y));
            let lower = (y + 1 < pixels.height).then(|| over_white(pixels.at(x, y + 1)));
            if last != Some((upper, lower)) {
                let lower_code = lower.map_or_else(|| "49".to_owned(), |lower| code(lower, 48));
                let _ = write!(out, "\x1b[{};{lower_code}m", code(upper, 38));
                last = Some((upper, lower));
            }
            out.push('▀');
        }
        out.push_str("\x1b[0m\n");
    }
    out
}

/// The nearest of xterm's colours: a cube of six levels, and 24 greys.
fn of_256(Rgba(r, g, b, _): Rgba) -> u32 {
    const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level =
        |value: u8| (0..6_u32).zip(CUBE).min_by_key(|(_, known)| known.abs_diff(value)).unwrap_or((0, 0));
    let far = |one: [u8; 3]| -> u32 {
        one.iter().zip([r, g, b]).map(|(known, value)| u32::from(known.abs_diff(value)).pow(2)).sum()
    };
    let [(ri, rv), (gi, gv), (bi, bv)] = [level(r), level(g), level(b)];
    let mean = (u32::from(r) + u32::from(g) + u32::from(b)) / 3;
    let step = (mean.saturating_sub(3) / 10).min(23);
    let grey = u8::try_from(8 + 10 * step).unwrap_or(255);
    if far([grey; 3]) < far([rv, gv, bv]) { 232 + step } else { 16 + 36 * ri + 6 * gi + bi }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_points() -> Pixels {
        Pixels { width: 1, height: 2, rgba: vec![255, 0, 0, 255, 0, 0, 0, 0] }
    }

    #[test]
    fn blocks_have_two_points_in_a_character() {
        let text = sequences(&two_points(), Protocol::Blocks).unwrap();
        assert_eq!(text, "\x1b[38;2;255;0;0;48;2;255;255;255m▀\x1b[0m\n");
        let text = sequences(&two_points(), Protocol::Blocks256).unwrap();
        assert_eq!(text, "\x1b[38;5;196;48;5;231m▀\x1b[0m\n");
    }

    #[test]
    fn sixels_are_bits_of_a_column() {
        let text = sequences(&two_points(), Protocol::Sixel).unwrap();
        // Red is level (5, 0, 0), white (5, 7, 4): the first and the second bit.
        assert!(text.starts_with("\x1bP0;1;0q\"1;1;1;2#0;2;0;0;0"));
        assert!(text.ends_with("#200@$#239A$-\x1b\\\n"), "{text:?}");
    }

    #[test]
    fn kitty_gets_a_png_in_pieces() {
        let pixels = Pixels {
            width: 80,
            height: 80,
            rgba: (0..25_600_u32).map(|at| u8::try_from(at * at / 7 % 251).unwrap()).collect(),
        };
        let text = sequences(&pixels, Protocol::Kitty).unwrap();
        assert!(text.starts_with("\x1b_Ga=T,f=100,q=2,m=1;iVBORw0KGgo"));
        assert!(text.ends_with("\x1b\\\n") && text.contains("\x1b_Gm=0;"));
    }
}
