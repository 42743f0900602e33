//! Boxes of the texts of a scene, for tests.

use crate::font::Font;
use crate::scene::{Anchor, Direction, Item, Rect, Scene};

/// Texts of a scene with their extents: left, right, upper and lower edge.
pub(crate) fn texts(scene: &Scene) -> Vec<(String, [f64; 4])> {
    let font = Font::new();
    let of = |item: &Item| match item {
        Item::Text { at: (x, y), size, anchor, direction, text, .. } => {
            let long = font.width(text, *size);
            let before = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => long / 2.0,
                Anchor::End => long,
            };
            // Digits and capitals are three quarters of the size high.
            let high = 0.75 * size;
            let place = match direction {
                Direction::Right => [x - before, x - before + long, y - high, *y],
                Direction::Up => [x - high, *x, y + before - long, y + before],
            };
            Some((text.clone(), place))
        }
        _ => None,
    };
    scene.items.iter().filter_map(of).filter(|(text, _)| !text.is_empty()).collect()
}

/// Asserts that all text is on the sheet, and overlaps neither other text nor the data.
pub(crate) fn assert_apart(scene: &Scene, data: Rect, what: &str) {
    let (w, h) = (f64::from(scene.width), f64::from(scene.height));
    let data = ("the data".to_owned(), [data.x, data.x + data.w, data.y, data.y + data.h]);
    let mut before = vec![data];
    for (text, [left, right, top, bottom]) in texts(scene) {
        assert!(left >= 0.0 && right <= w && top >= 0.0 && bottom <= h, "{what}: {text} leaves the sheet");
        for (other, place) in &before {
            let apart = left >= place[1] || right <= place[0] || top >= place[3] || bottom <= place[2];
            assert!(apart, "{what}: {text} on {other}");
        }
        before.push((text, [left, right, top, bottom]));
    }
}
