//! Categorical palettes of distinguishable colours.

use crate::palette::lab;
use crate::scene::Rgba;

/// Ten distinguishable colours, for lines and for types of particles.
#[must_use]
pub fn distinct(number: usize) -> Rgba {
    let color = colorous::TABLEAU10[number % colorous::TABLEAU10.len()];
    Rgba(color.r, color.g, color.b, 255)
}

/// Most colours that are made.
pub(crate) const MAX_COLOURS: usize = 256;

/// `count` colours, [`distinct`]'s first, then each as far as can be from all before it, from white and from the colour of ink: those of a
/// longer list begin as a shorter one. Beyond 256 they come round.
pub(crate) fn distinct_colors(count: usize) -> Vec<Rgba> {
    let mut colors: Vec<Rgba> = (0..count.min(colorous::TABLEAU10.len())).map(distinct).collect();
    if colors.len() == count {
        return colors;
    }
    // Colours that are neither pale nor dark: spheres are shaded both ways.
    let steps: [u8; 9] = [0, 32, 64, 96, 128, 160, 192, 224, 255];
    let cube = steps.iter().flat_map(|r| steps.iter().flat_map(move |g| steps.map(|b| Rgba(*r, *g, b, 255))));
    let mut free: Vec<(Rgba, [f64; 3], f64)> = cube
        .map(|color| (color, place(color), f64::INFINITY))
        .filter(|(_, place, _)| (35.0..=82.0).contains(&place[0]))
        .collect();
    let mut taken = [colors.as_slice(), &[Rgba::WHITE, Rgba::BLACK]].concat();
    while colors.len() < count.min(MAX_COLOURS) {
        for color in taken.drain(..) {
            let from = place(color);
            for (_, place, nearest) in &mut free {
                *nearest = nearest.min(far(*place, from));
            }
        }
        let Some(next) = (0..free.len()).reduce(|a, b| if free[b].2 > free[a].2 { b } else { a }) else {
            break;
        };
        let (color, ..) = free.swap_remove(next);
        colors.push(color);
        taken.push(color);
    }
    let made = colors.clone();
    colors.extend(made.iter().cycle().take(count - made.len()));
    colors
}

fn place(color: Rgba) -> [f64; 3] {
    lab([color.0, color.1, color.2].map(f64::from))
}

/// The square of the distance in CIELAB.
fn far(one: [f64; 3], other: [f64; 3]) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one - other) * (one - other)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(colors: &[Rgba]) -> f64 {
        let pairs = colors
            .iter()
            .enumerate()
            .flat_map(|(at, one)| colors[..at].iter().map(move |other| (one, other)));
        pairs.map(|(one, other)| far(place(*one), place(*other)).sqrt()).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn no_two_of_many_are_alike() {
        let many = distinct_colors(MAX_COLOURS);
        assert!((0..10).all(|number| many[number] == distinct(number)));
        assert_eq!(distinct_colors(17), many[..17]);
        // A difference of 2.3 is just visible; these are distinguishable.
        for (count, least) in [(10, 20.0), (15, 20.0), (30, 15.0), (60, 10.0), (MAX_COLOURS, 5.0)] {
            assert!(nearest(&many[..count]) > least, "{count}: {}", nearest(&many[..count]));
        }
        let more = distinct_colors(300);
        assert_eq!((more.len(), more[256]), (300, many[0]));
        assert!(distinct_colors(0).is_empty());
    }
}
