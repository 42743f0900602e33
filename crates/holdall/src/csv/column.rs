//! Type inference for the cells of a column.

use container_core::dtype::{ByteOrder, DType, Kind};

use super::cell::{decimal, is_complex, trimmed, whole};

/// Doubles represent every integer up to this one.
const ALL_DOUBLES: u128 = 1 << f64::MANTISSA_DIGITS;

/// Class of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Empty,
    Bool,
    /// Within −2⁶³ … 2⁶⁴ − 1.
    Integer(i128),
    Decimal,
    Complex,
    Text,
}

/// Classes of the cells of a column so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    empty: bool,
    bools: bool,
    integers: Option<(i128, i128)>,
    /// An integer that doubles do not have.
    beyond_doubles: bool,
    decimals: bool,
    complex: bool,
    text: bool,
    /// Most characters of a cell.
    characters: usize,
    /// Most bytes of a cell.
    bytes: usize,
    not_utf8: bool,
}

impl Column {
    /// The column of one cell.
    fn of(cell: &[u8]) -> Self {
        let mut column = Self::default();
        column.push(cell);
        column
    }

    /// Adds a cell, and returns its value if it is an integer of 64 bits.
    pub(super) fn push(&mut self, cell: &[u8]) -> Option<i64> {
        self.bytes = self.bytes.max(cell.len());
        // Most cells are integers, which need no check for UTF-8.
        if let Some(value) = integer(cell) {
            self.characters = self.characters.max(cell.len());
            self.push_integer(value);
            return i64::try_from(value).ok();
        }
        let Ok(text) = std::str::from_utf8(cell) else {
            (self.text, self.not_utf8) = (true, true);
            return None;
        };
        if cell.len() > self.characters {
            self.characters = self.characters.max(text.chars().count());
        }
        // Text stays text whatever the other cells are.
        if self.text {
            return None;
        }
        match class(text) {
            Class::Empty => self.empty = true,
            Class::Bool => self.bools = true,
            Class::Integer(value) => {
                self.push_integer(value);
                return i64::try_from(value).ok();
            }
            Class::Decimal => self.decimals = true,
            Class::Complex => self.complex = true,
            Class::Text => self.text = true,
        }
        None
    }

    fn push_integer(&mut self, value: i128) {
        let (least, most) = self.integers.unwrap_or((value, value));
        self.integers = Some((least.min(value), most.max(value)));
        self.beyond_doubles |= !is_double(value);
    }

    /// Takes in the cells of another.
    pub(super) fn merge(&mut self, other: &Self) {
        self.empty |= other.empty;
        self.bools |= other.bools;
        self.integers = match (self.integers, other.integers) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self.beyond_doubles |= other.beyond_doubles;
        self.decimals |= other.decimals;
        self.complex |= other.complex;
        self.text |= other.text;
        self.characters = self.characters.max(other.characters);
        self.bytes = self.bytes.max(other.bytes);
        self.not_utf8 |= other.not_utf8;
    }

    /// Whether its cells have a type other than text.
    pub(super) fn has_values(&self) -> bool {
        !matches!(self.kind(), Kind::Unicode | Kind::Bytes)
    }

    /// The type that has all its cells.
    pub(super) fn dtype(&self) -> DType {
        let kind = self.kind();
        let size = match kind {
            Kind::Bool => 1,
            Kind::Complex => 16,
            Kind::Unicode => self.characters.max(1).saturating_mul(4),
            Kind::Bytes => self.bytes.max(1),
            _ => 8,
        };
        DType::new(kind, size, ByteOrder::Little)
    }

    fn kind(&self) -> Kind {
        let text = if self.not_utf8 { Kind::Bytes } else { Kind::Unicode };
        let numbers = self.integers.is_some() || self.decimals || self.complex;
        match (self.text, self.bools, numbers) {
            (true, ..) | (_, true, true) | (_, false, false) => text,
            (false, true, false) if self.empty => text,
            (false, true, false) => Kind::Bool,
            _ if self.complex => Kind::Complex,
            _ if self.decimals => Kind::Float,
            // A gap makes them decimals, which have NaN, but not where that changes a number.
            _ if self.empty && self.beyond_doubles => text,
            _ if self.empty => Kind::Float,
            _ => match self.integers {
                Some((least, most)) if i64::try_from(least).is_ok() && i64::try_from(most).is_ok() => {
                    Kind::Int
                }
                Some((0.., _)) => Kind::Uint,
                _ => text,
            },
        }
    }
}

/// The one type that has the cells of all columns; `None` where they are of different kinds, or where numbers would change.
pub(super) fn common(columns: &[Column]) -> Option<DType> {
    let mut all = Column::default();
    columns.iter().for_each(|column| all.merge(column));
    let (kind, is_exact) = (all.kind(), !all.beyond_doubles);
    let fits = |column: &Column| match (column.kind(), &kind) {
        (Kind::Int | Kind::Uint, Kind::Int | Kind::Uint) => true,
        (Kind::Int | Kind::Uint, Kind::Float | Kind::Complex) => is_exact,
        (Kind::Float, Kind::Complex) => true,
        (Kind::Unicode | Kind::Bytes, Kind::Unicode | Kind::Bytes) => true,
        (a, b) => a == *b,
    };
    columns.iter().all(fits).then(|| all.dtype())
}

/// Whether a cell can be a name: text that does not begin as a number, a date or digits of another kind.
pub(super) fn is_name(cell: &[u8]) -> bool {
    let begins_a_number = |byte: &u8| byte.is_ascii_digit() || b"+-.(".contains(byte);
    Column::of(cell).text && !cell.first().is_some_and(begins_a_number)
}

/// Whether a double is this integer.
fn is_double(value: i128) -> bool {
    let bits = value.unsigned_abs();
    if bits <= ALL_DOUBLES {
        return true;
    }
    let width = u128::BITS.saturating_sub(bits.leading_zeros()).saturating_sub(bits.trailing_zeros());
    width <= f64::MANTISSA_DIGITS
}

fn class(text: &str) -> Class {
    match trimmed(text) {
        "" => Class::Empty,
        "True" | "False" | "true" | "false" | "TRUE" | "FALSE" => Class::Bool,
        // Integers lack a negative zero.
        "-0" => Class::Decimal,
        number if is_integer(number) => integer(number.as_bytes()).map_or(Class::Text, Class::Integer),
        number if decimal::<f64>(number).is_some() => Class::Decimal,
        number if is_complex(number) => Class::Complex,
        _ => Class::Text,
    }
}

/// Whether it is spelled as an integer.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The integer that a text spells, if it would be written with the same text, except for a plus.
fn integer(text: &[u8]) -> Option<i128> {
    let value = match text {
        b"-0" => return None,
        [b'0', _, ..] | [b'+' | b'-', b'0', _, ..] => return None,
        _ => whole(text)?,
    };
    (value >= i128::from(i64::MIN)).then_some(value)
}
