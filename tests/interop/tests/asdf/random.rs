//! Random values of the tests: the same in each run.

use std::ops::{Deref, DerefMut};

pub use interop::random::cases;
use serde_json::{Map, Value, json};

/// [`interop::random::Random`], and what these tests make of it.
pub struct Random(interop::random::Random);

impl Deref for Random {
    type Target = interop::random::Random;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Random {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(interop::random::Random::new(seed))
    }

    /// Text that is awkward to write.
    pub fn text(&mut self) -> String {
        const WORDS: [&str; 44] = [
            "",
            "a",
            "yes",
            "No",
            "null",
            "~",
            "1",
            "0o17",
            "1e3",
            "1_000",
            "12:30:45",
            ".inf",
            "-",
            "- a",
            "a: b",
            "a #b",
            "#",
            "? x",
            ":",
            "[",
            "]",
            "{a: 1}",
            "&x",
            "*x",
            "!t",
            "|",
            ">",
            "%",
            "@",
            "`",
            "'",
            "\"",
            "a\nb",
            " a",
            "a ",
            "\n",
            "é",
            "\u{1F600}",
            "a\tb",
            "<<",
            "=",
            "2001-12-14",
            "---",
            "...",
        ];
        let count = self.below(3) + 1;
        let mut text = String::new();
        for _ in 0..count {
            text.push_str(self.pick(&WORDS));
            if self.chance(3) {
                text.push_str(self.pick(&[" ", "\n", "  ", "x", ", ", "\\", "\u{a0}", "\u{2028}", "\u{85}"]));
            }
        }
        if self.chance(1) {
            text.push_str(&"many words ".repeat(self.below(20) as usize));
        }
        text
    }

    /// A name for a key.
    pub fn name(&mut self) -> String {
        let word =
            self.pick(&["a", "b", "c", "data", "meta", "x y", "é", "1", "yes", "a/b", "~", "wcs", "-", "k0"]);
        format!("{word}{}", if self.chance(5) { String::new() } else { self.below(9).to_string() })
    }

    /// A value without arrays, in the words of `peer.py`.
    pub fn value(&mut self, depth: u64) -> Value {
        match self.below(if depth == 0 { 9 } else { 13 }) {
            0 => self.chance(5).into(),
            1 => (self.below(2000) as i64 - 1000).into(),
            2 => json!(self.bits() as i64 * if self.chance(5) { -1 } else { 1 }),
            3 => ((self.below(1_000_000) as f64 - 5e5) / 1e3).into(),
            4 => self.pick(&[1e300, -5e-324, 1e22, 0.1, 1e-7, 123_456_789.125, 1.0, -2.0, 1e16, 1e15]).into(),
            5 => json!({"$float": self.pick(&["nan", "inf", "-inf", "-0.0"])}),
            6 | 7 => self.text().into(),
            8 => match self.below(4) {
                0 => json!({"$complex": [1.5, -2.0]}),
                1 => json!({"$bytes": self.pick(&["", "00", "ff00aa", "68656c6c6f"])}),
                2 => json!({"$date": self.pick(&["2001-12-14", "1999-01-01"])}),
                _ => {
                    json!({"$datetime": self.pick(&["2001-12-14T21:59:43+00:00", "2020-02-29T00:00:00.000678+00:00"])})
                }
            },
            9 | 10 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => {
                let count = self.below(4);
                Value::Object((0..count).map(|_| (self.name(), self.value(depth - 1))).collect::<Map<_, _>>())
            }
        }
    }
}
