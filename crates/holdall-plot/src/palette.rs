//! Colour maps by name.

use colorous::Gradient;
use container_core::{Error, Result};

use crate::scene::Rgba;

const GRADIENTS: &[(&str, Gradient)] = &[
    ("viridis", colorous::VIRIDIS),
    ("inferno", colorous::INFERNO),
    ("magma", colorous::MAGMA),
    ("plasma", colorous::PLASMA),
    ("cividis", colorous::CIVIDIS),
    ("turbo", colorous::TURBO),
    ("cubehelix", colorous::CUBEHELIX),
    ("rdbu", colorous::RED_BLUE),
    ("rdylbu", colorous::RED_YELLOW_BLUE),
    ("spectral", colorous::SPECTRAL),
    ("piyg", colorous::PINK_GREEN),
    ("prgn", colorous::PURPLE_GREEN),
    ("brbg", colorous::BROWN_GREEN),
    ("puor", colorous::PURPLE_ORANGE),
    ("rdgy", colorous::RED_GREY),
    ("blues", colorous::BLUES),
    ("greens", colorous::GREENS),
    ("oranges", colorous::ORANGES),
    ("purples", colorous::PURPLES),
    ("reds", colorous::REDS),
    ("rainbow", colorous::RAINBOW),
    // The same at both ends: for phases.
    ("sinebow", colorous::SINEBOW),
];

/// The names of the colour maps, `_r` aside.
pub fn names() -> impl Iterator<Item = &'static str> {
    GRADIENTS.iter().map(|(name, _)| *name).chain(["gray", "coolwarm"])
}

/// Colours for numbers from 0 to 1, in 256 steps.
#[derive(Clone)]
pub struct Palette(Vec<Rgba>);

impl Palette {
    /// The colour map of a name; with the suffix `_r`, reversed.
    ///
    /// # Errors
    /// `Usage` for an unknown name, listing the valid ones.
    pub fn by_name(name: &str) -> Result<Self> {
        let wanted = name.to_ascii_lowercase();
        let (plain, is_reversed) = match wanted.strip_suffix("_r") {
            Some(plain) => (plain, true),
            None => (wanted.as_str(), false),
        };
        let plain = if plain == "grey" { "gray" } else { plain };
        let steps = 0..256_u16;
        let mut colors: Vec<Rgba> =
            if let Some((_, gradient)) = GRADIENTS.iter().find(|(known, _)| *known == plain) {
                let color = |step: u16| gradient.eval_rational(step.into(), 256);
                steps.map(color).map(|color| Rgba(color.r, color.g, color.b, 255)).collect()
            } else if plain == "gray" {
                (0..=255).map(|level| Rgba(level, level, level, 255)).collect()
            } else if plain == "coolwarm" {
                steps.map(|step| coolwarm(f64::from(step) / 255.0)).collect()
            } else {
                let all: Vec<&str> = names().collect();
                return Err(Error::usage(format!("unknown colour map {name:?}"))
                    .with_hint(format!("one of {}; with _r backwards", all.join(", "))));
            };
        if is_reversed {
            colors.reverse();
        }
        Ok(Self(colors))
    }

    /// The colour at `place`, which is cut to 0..=1.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    pub fn at(&self, place: f64) -> Rgba {
        let step = (place.clamp(0.0, 1.0) * 255.999) as usize;
        self.0.get(step).copied().unwrap_or(Rgba::BLACK)
    }
}

/// K. Moreland, "Diverging Color Maps for Scientific Visualization", 2009: from blue over a light grey to red, with a
/// lightness that rises and falls evenly. Polar coordinates of CIELAB: the distance from black (`m`), the angle from the
/// axis of greys (`s`) and the hue (`h`).
fn coolwarm(place: f64) -> Rgba {
    let ends = [[59.0, 76.0, 192.0], [180.0, 4.0, 38.0]].map(polar);
    // Minimum lightness of the unsaturated middle.
    let middle = ends[0][0].max(ends[1][0]).max(88.0);
    let (end, part) = if place < 0.5 { (ends[0], 2.0 * place) } else { (ends[1], 2.0 - 2.0 * place) };
    let [m, s, h] = end;
    // The hue turns away from the end towards the grey, so that the step to it appears even.
    let spin = s * (middle * middle - m * m).max(0.0).sqrt() / (m * s.sin());
    let spun = if h > -std::f64::consts::FRAC_PI_3 { h + spin } else { h - spin };
    let mixed = [m + (middle - m) * part, s * (1.0 - part), h + (spun - h) * part];
    rgb(mixed)
}

/// White of the D65 illuminant.
const WHITE: [f64; 3] = [0.950_47, 1.0, 1.088_83];

fn polar(rgb: [f64; 3]) -> [f64; 3] {
    let [l, a, b] = lab(rgb);
    let m = (l * l + a * a + b * b).sqrt();
    [m, (l / m).acos(), b.atan2(a)]
}

/// CIELAB of sRGB from 0 to 255.
pub(crate) fn lab(rgb: [f64; 3]) -> [f64; 3] {
    let linear = rgb.map(|level| {
        let level = level / 255.0;
        if level > 0.040_45 { ((level + 0.055) / 1.055).powf(2.4) } else { level / 12.92 }
    });
    let [r, g, b] = linear;
    let xyz = [
        0.412_456_4 * r + 0.357_576_1 * g + 0.180_437_5 * b,
        0.212_672_9 * r + 0.715_152_2 * g + 0.072_175 * b,
        0.019_333_9 * r + 0.119_192 * g + 0.950_304_1 * b,
    ];
    let bend = |value: f64| if value > 0.008_856 { value.cbrt() } else { 7.787 * value + 16.0 / 116.0 };
    let [x, y, z] = [0_usize, 1, 2].map(|axis| bend(xyz[axis] / WHITE[axis]));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
fn rgb([m, s, h]: [f64; 3]) -> Rgba {
    let (l, a, b) = (m * s.cos(), m * s.sin() * h.cos(), m * s.sin() * h.sin());
    let y = (l + 16.0) / 116.0;
    let unbend = |value: f64| if value > 0.206_893 { value.powi(3) } else { (value - 16.0 / 116.0) / 7.787 };
    let bent = [y + a / 500.0, y, y - b / 200.0];
    let [x, y, z] = [0, 1, 2].map(|axis| unbend(bent[axis]) * WHITE[axis]);
    let linear = [
        3.240_454_2 * x - 1.537_138_5 * y - 0.498_531_4 * z,
        -0.969_266 * x + 1.876_010_8 * y + 0.041_556 * z,
        0.055_643_4 * x - 0.204_025_9 * y + 1.057_225_2 * z,
    ];
    let [r, g, b] = linear.map(|level| {
        let level = if level > 0.003_130_8 { 1.055 * level.powf(1.0 / 2.4) - 0.055 } else { 12.92 * level };
        (level * 255.0).round().clamp(0.0, 255.0) as u8
    });
    Rgba(r, g, b, 255)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_map_and_turns_round() {
        for name in names() {
            let (forth, back) =
                (Palette::by_name(name).unwrap(), Palette::by_name(&format!("{name}_r")).unwrap());
            assert_eq!(
                (forth.0.len(), forth.at(0.0), forth.at(2.0)),
                (256, back.at(1.0), back.at(-1.0)),
                "{name}"
            );
        }
        assert!(Palette::by_name("nosuch").is_err());
    }

    /// The ends and the middle of the published tables.
    #[test]
    fn palette_ends_and_middle_match_the_published_tables() {
        let close = |have: Rgba, want: [u8; 3]| {
            [have.0, have.1, have.2].iter().zip(want).all(|(have, want)| have.abs_diff(want) <= 2)
        };
        let viridis = Palette::by_name("viridis").unwrap();
        assert!(close(viridis.at(0.0), [68, 1, 84]) && close(viridis.at(1.0), [253, 231, 37]));
        let coolwarm = Palette::by_name("coolwarm").unwrap();
        assert!(close(coolwarm.at(0.0), [59, 76, 192]) && close(coolwarm.at(1.0), [180, 4, 38]));
        assert!(close(coolwarm.at(0.5), [221, 221, 221]), "{:?}", coolwarm.at(0.5));
    }
}
