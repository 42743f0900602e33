//! Values of conditions, and how those of rows compare with them.

use std::cmp::Ordering;

use container_core::dtype::{ByteOrder, DType};

use super::date::instant;
use super::{Comparison, Value};

/// The value on the right of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Text(String),
    Number {
        text: String,
        number: Number,
    },
    /// Nanoseconds since 1970.
    Date {
        text: String,
        nanos: i128,
    },
    /// A type; of a name without a byte order any order is meant.
    DType {
        dtype: DType,
        any_order: bool,
    },
}

/// A number, exact where it is an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    /// A number as JSON has it, or with a sign, or without digits on one side of the point.
    fn parse(text: &str) -> Option<Self> {
        if let Ok(integer) = text.parse() {
            return Some(Self::Integer(integer));
        }
        // Not the words that Rust takes: inf, nan.
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
        text.parse().ok().filter(|_| is_number).map(Self::Float)
    }

    fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(&b)),
            (a, b) => a.float().partial_cmp(&b.float()),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "compared with a number that has no more digits")]
    const fn float(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// A number of bytes: 1000, 64K, 2GiB (powers of 1024), 1GB (of 1000).
fn size(text: &str) -> Option<Number> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let suffix = text.get(digits.len()..)?.to_ascii_lowercase();
    let (letter, base) = match suffix.as_str() {
        "" | "b" => ("", 1024),
        "k" | "m" | "g" | "t" | "p" => (suffix.as_str(), 1024),
        _ => match (suffix.strip_suffix("ib"), suffix.strip_suffix('b')) {
            (Some(letter), _) => (letter, 1024),
            (None, Some(letter)) => (letter, 1000_i128),
            (None, None) => return None,
        },
    };
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|known| *known == letter)?;
    let unit = base.checked_pow(u32::try_from(power).ok()?)?;
    match Number::parse(digits)? {
        Number::Integer(count) => count.checked_mul(unit).map(Number::Integer),
        Number::Float(count) => Some(Number::Float(count * Number::Integer(unit).float())),
    }
}

impl Literal {
    /// A value without quotes: a number, a date, or text.
    pub(super) fn plain(text: String) -> Self {
        if let Some(number) = Number::parse(&text) {
            return Self::Number { text, number };
        }
        match instant(&text) {
            Some(nanos) => Self::Date { text, nanos },
            None => Self::Text(text),
        }
    }

    /// A value in quotes: text.
    pub(super) const fn quoted(text: String) -> Self {
        Self::Text(text)
    }

    pub(super) const fn is_number_or_date(&self) -> bool {
        matches!(self, Self::Number { .. } | Self::Date { .. })
    }

    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Number { text, .. } | Self::Date { text, .. } => text,
            Self::DType { .. } => "",
        }
    }

    /// The value for a column of texts.
    pub(super) fn as_text(&self) -> Self {
        Self::Text(self.text().to_owned())
    }

    /// The value for a column of numbers of bytes.
    pub(super) fn as_size(&self) -> Result<Self, String> {
        let text = self.text();
        let number = size(text)
            .ok_or_else(|| format!("{text:?} is no number of bytes (expected 1000, 64K, 2GiB or 1GB)"))?;
        Ok(Self::Number { text: text.to_owned(), number })
    }

    /// The value for lengths.
    pub(super) fn as_number(&self) -> Result<Self, String> {
        match self {
            Self::Number { .. } => Ok(self.clone()),
            other => Err(format!("{:?} is no number", other.text())),
        }
    }

    /// The value for a column of times.
    pub(super) fn as_date(&self) -> Result<Self, String> {
        let text = self.text();
        let nanos = instant(text)
            .ok_or_else(|| format!("{text:?} is no date (expected 2026-01-31 or 2026-01-31T12:00:00Z)"))?;
        Ok(Self::Date { text: text.to_owned(), nanos })
    }

    /// The value for the column of types.
    pub(super) fn as_dtype(&self, comparison: Comparison) -> Result<Self, String> {
        let text = self.text();
        if !matches!(comparison, Comparison::Equal | Comparison::Different) {
            return Err("types have no order (expected == or !=)".to_owned());
        }
        let dtype = DType::parse(text).map_err(|error| format!("{text:?} is no type: {}", error.kind()))?;
        Ok(Self::DType { dtype, any_order: !text.starts_with(['<', '>', '|', '=', '[']) })
    }

    /// The order of a value of a row against this one; `None` where they do not compare.
    pub(super) fn order_of(&self, value: &Value<'_>) -> Option<Ordering> {
        match (value, self) {
            (Value::Text(value), Self::Text(text)) => Some((*value).cmp(text.as_str())),
            (Value::Text(value), Self::Number { number, .. }) => Number::parse(value.trim())?.order(*number),
            (Value::Text(value), Self::Date { nanos, .. }) => Some(instant(value)?.cmp(nanos)),
            (Value::Number(value), Self::Number { number, .. }) => value.order(*number),
            (Value::Time(micros), Self::Date { nanos, .. }) => {
                Some(i128::from(*micros).saturating_mul(1000).cmp(nanos))
            }
            (Value::DType(value), Self::DType { dtype, any_order }) => {
                let value = DType::parse(value).ok()?;
                let little = |dtype: &DType| dtype.with_order(ByteOrder::Little);
                let is_equal = value == *dtype || (*any_order && little(&value) == little(dtype));
                is_equal.then_some(Ordering::Equal)
            }
            _ => None,
        }
    }
}
