//! The words of the options of `plot`.

use std::fmt;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use container_core::to_f64::ComplexPart;
use holdall_plot::{Origin, Rgba, Stretch};

/// Width and height in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Size(pub (u32, u32));

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const ALLOWED: std::ops::RangeInclusive<u32> = 16..=20_000;
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| ALLOWED.contains(number));
        let pair = text.split_once('x').and_then(|(width, height)| number(width).zip(number(height)));
        pair.map(Self).ok_or_else(|| "write 800x600; each from 16 to 20000".to_owned())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.0.0, self.0.1)
    }
}

/// `AXIS=INDEX`.
pub fn slice(text: &str) -> Result<(usize, i64), String> {
    let pair = text.split_once('=');
    let pair = pair.and_then(|(axis, index)| axis.trim().parse().ok().zip(index.trim().parse().ok()));
    pair.ok_or_else(|| "write AXIS=INDEX, such as 0=12".to_owned())
}

/// `#rrggbb`.
pub fn color(text: &str) -> Result<Rgba, String> {
    let bad = || "write #rrggbb, such as #ff00ff".to_owned();
    let digits = text.strip_prefix('#').unwrap_or(text);
    if digits.len() != 6 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(bad());
    }
    let number = u32::from_str_radix(digits, 16).map_err(|_| bad())?;
    let [_, r, g, b] = number.to_be_bytes();
    Ok(Rgba(r, g, b, 255))
}

pub fn color_text(color: Rgba) -> String {
    format!("#{:02x}{:02x}{:02x}", color.0, color.1, color.2)
}

const PARTS: [(&str, ComplexPart); 4] = [
    ("abs", ComplexPart::Abs),
    ("phase", ComplexPart::Phase),
    ("re", ComplexPart::Re),
    ("im", ComplexPart::Im),
];

/// Kinds of picture of an array with a last axis of 3 or 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PictureKind {
    #[default]
    Rgb,
    Heatmap,
}

const KINDS: [(&str, PictureKind); 2] = [("rgb", PictureKind::Rgb), ("heatmap", PictureKind::Heatmap)];

pub fn picture_kind() -> impl TypedValueParser<Value = PictureKind> {
    word(&KINDS)
}

const ORIGINS: [(&str, Origin); 2] = [("upper", Origin::Upper), ("lower", Origin::Lower)];

fn word<T: Copy + Default + Send + Sync + 'static>(
    words: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words.iter().map(|(name, _)| *name)).map(move |name| {
        words.iter().find(|(known, _)| **known == name).map_or_else(T::default, |(_, value)| *value)
    })
}

pub fn part() -> impl TypedValueParser<Value = ComplexPart> {
    word(&PARTS)
}

pub fn part_name(part: ComplexPart) -> &'static str {
    PARTS.iter().find(|(_, known)| *known == part).map_or("abs", |(name, _)| name)
}

pub fn origin() -> impl TypedValueParser<Value = Origin> {
    word(&ORIGINS)
}

pub fn origin_name(origin: Origin) -> &'static str {
    ORIGINS.iter().find(|(_, known)| *known == origin).map_or("upper", |(name, _)| name)
}

pub fn stretch() -> impl TypedValueParser<Value = Stretch> {
    PossibleValuesParser::new(Stretch::ALL.map(Stretch::name))
        .map(|name| Stretch::ALL.into_iter().find(|known| known.name() == name).unwrap_or_default())
}
