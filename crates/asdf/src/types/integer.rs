//! `core/integer`: a whole number of any size in words of 32 bits (ASDF standard 1.6.0, core schemas, integer).

use container_core::container::ReadOptions;
use container_core::dtype::{ByteOrder, DType, Kind, Order};
use container_core::region::Region;
use container_core::{Error, Result};

use super::{invalid, require_key, text};
use crate::ndarray::NdArray;
use crate::writer::root::{PREFIX, ndarray_tag};
use crate::yaml::{Collection, Int, Node, Yaml};
use crate::{File, Version};

/// Maximum number of words: half a million bits. Converting more to digits takes too long.
const MAX_WORDS: u64 = 1 << 14;

/// A whole number of any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integer {
    /// True for `-`.
    pub negative: bool,
    /// Words of 32 bits, the least significant first.
    pub words: Vec<u32>,
}

impl Integer {
    pub(super) fn read(node: Node<'_>, file: &File) -> Result<Self> {
        let sign = require_key(node, "sign")?;
        let negative = match text(sign)? {
            "-" => true,
            "+" => false,
            _ => return Err(invalid(sign, "unknown sign (expected + or -)")),
        };
        let given = require_key(node, "words")?;
        let array = NdArray::parse(given)?;
        let geometry = file.geometry_of(&array)?;
        let native = geometry.dtype.with_order(ByteOrder::NATIVE);
        let of_words = native == DType::native(Kind::Uint, 4);
        // Inline words without a datatype are numbers, too.
        let inferred = array.datatype.is_none() && native == DType::native(Kind::Int, 8);
        if geometry.is_empty() {
            return Ok(Self { negative, words: Vec::new() });
        }
        if geometry.shape.len() != 1 || !(of_words || inferred) {
            return Err(invalid(given, "the words are not a list of uint32"));
        }
        if geometry.len() > MAX_WORDS {
            return Err(
                Error::limit("words of an integer", geometry.len(), MAX_WORDS).with_range(given.range())
            );
        }
        let limits = file.options().limits;
        let read = ReadOptions::default().with_limits(limits);
        let array = file.read_array(&array, &Region::whole(&geometry.shape), &read)?;
        let words = if inferred {
            let words = array.elements::<i64>(Order::C, &limits)?;
            let word =
                |word: &i64| u32::try_from(*word).map_err(|_| invalid(given, "a word does not fit 32 bits"));
            words.iter().map(word).collect::<Result<_>>()?
        } else {
            array.elements::<u32>(Order::C, &limits)?.into_owned()
        };
        Ok(Self { negative, words })
    }

    /// The number, or its digits beyond 128 bits.
    #[must_use]
    pub fn value(&self) -> Int {
        let mut words: Vec<u32> = self.words.clone();
        while words.last() == Some(&0) {
            words.pop();
        }
        if let Some(number) = small(&words) {
            let number = if self.negative { number.checked_neg() } else { Some(number) };
            if let Some(number) = number {
                return Int::Small(number);
            }
        }
        let mut digits = decimal(words);
        if self.negative {
            digits.insert(0, '-');
            // The only number whose magnitude alone exceeds 127 bits.
            if let Ok(number) = digits.parse() {
                return Int::Small(number);
            }
        }
        Int::Big(digits)
    }

    /// The number in a tree: `core/integer` with its words inline.
    #[must_use]
    pub fn to_yaml(&self, standard: Version) -> Yaml {
        let words = self.words.iter().map(|word| Yaml::int(*word)).collect();
        let shape = Yaml::Sequence(vec![Yaml::int(self.words.len() as u64)], Some(Collection::Flow));
        let words = Yaml::mapping([
            ("data", Yaml::Sequence(words, Some(Collection::Flow))),
            ("datatype", Yaml::text("uint32")),
            ("shape", shape),
        ]);
        let tag = if standard.minor >= 6 { "core/integer-1.1.0" } else { "core/integer-1.0.0" };
        Yaml::mapping([
            ("words", words.tagged(ndarray_tag(standard))),
            ("sign", Yaml::text(if self.negative { "-" } else { "+" })),
        ])
        .tagged(format!("{PREFIX}{tag}"))
    }

    /// The words of a number.
    #[must_use]
    pub fn of(value: &Int) -> Option<Self> {
        match value {
            Int::Small(number) => {
                let mut magnitude = number.unsigned_abs();
                let mut words = Vec::new();
                while magnitude > 0 {
                    words.push(u32::try_from(magnitude & u128::from(u32::MAX)).unwrap_or(0));
                    magnitude >>= 32;
                }
                Some(Self { negative: *number < 0, words })
            }
            Int::Big(digits) => {
                let (negative, digits) =
                    digits.strip_prefix('-').map_or((false, digits.as_str()), |rest| (true, rest));
                let mut words: Vec<u32> = Vec::new();
                for digit in digits.chars() {
                    let mut carry = u64::from(digit.to_digit(10)?);
                    for word in &mut words {
                        let product = u64::from(*word) * 10 + carry;
                        *word = u32::try_from(product & u64::from(u32::MAX)).unwrap_or(0);
                        carry = product >> 32;
                    }
                    if carry > 0 {
                        words.push(u32::try_from(carry).ok()?);
                    }
                }
                Some(Self { negative, words })
            }
        }
    }
}

fn small(words: &[u32]) -> Option<i128> {
    if words.len() > 4 {
        return None;
    }
    let number = words.iter().rev().fold(0_u128, |number, word| number << 32 | u128::from(*word));
    i128::try_from(number).ok()
}

/// Decimal digits, by dividing by 10^9 down to 0.
fn decimal(mut words: Vec<u32>) -> String {
    const PART: u64 = 1_000_000_000;
    let mut parts = Vec::new();
    while !words.is_empty() {
        let mut rest = 0_u64;
        for word in words.iter_mut().rev() {
            let here = rest << 32 | u64::from(*word);
            *word = u32::try_from(here / PART).unwrap_or(0);
            rest = here % PART;
        }
        parts.push(rest);
        while words.last() == Some(&0) {
            words.pop();
        }
    }
    let mut digits = parts.pop().unwrap_or(0).to_string();
    for part in parts.iter().rev() {
        digits.push_str(&format!("{part:09}"));
    }
    digits
}
