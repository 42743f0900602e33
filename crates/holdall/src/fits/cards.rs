//! Cards: 80 characters of a header.

use super::BLOCK;
use super::checksum::{Sum, encoded};

/// Characters of a card.
pub(super) const WIDTH: usize = 80;

/// One card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Card(String);

impl Card {
    pub(super) fn logical(key: &str, value: bool) -> Self {
        Self::fixed(key, if value { "T" } else { "F" })
    }

    pub(super) fn integer(key: &str, value: i128) -> Self {
        Self::fixed(key, &value.to_string())
    }

    /// A card of text that is short and plain.
    pub(super) fn text(key: &str, value: &str) -> Self {
        Self(format!("{key:<8}= '{value}'"))
    }

    /// A value in fixed format: it ends in column 30.
    fn fixed(key: &str, value: &str) -> Self {
        Self(format!("{key:<8}= {value:>20}"))
    }

    /// A card for a name and a value; `None` where they do not fit. `key` consists of A to Z, 0 to 9, `_`, `-`, and of blanks and dots
    /// where it is not a single keyword.
    pub(super) fn new(key: &str, value: &CardValue) -> Option<Self> {
        let is_keyword = key.len() <= 8 && !key.contains([' ', '.']);
        let value = match value {
            CardValue::Plain(text) => text.clone(),
            CardValue::Text(text) if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) => {
                format!("'{:<8}'", text.replace('\'', "''"))
            }
            CardValue::Text(_) => return None,
        };
        let is_text = value.starts_with('\'');
        let card = match (is_keyword, is_text) {
            (true, true) => format!("{key:<8}= {value}"),
            (true, false) => format!("{key:<8}= {value:>20}"),
            (false, _) => format!("HIERARCH {key} = {value}"),
        };
        (card.len() <= WIDTH).then_some(Self(card))
    }

    /// The part before the value, which identifies the card.
    fn name(&self) -> &str {
        self.0.split_once('=').map_or(self.0.as_str(), |(name, _)| name).trim_end()
    }
}

/// The value of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CardValue {
    /// A number, `T` or `F`, unquoted.
    Plain(String),
    Text(String),
}

/// The cards of a header, without sums and the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    cards: Vec<Card>,
    names: std::collections::HashSet<String>,
}

impl Header {
    /// Adds a card unless its name exists; returns whether it did.
    pub(super) fn push(&mut self, card: Card) -> bool {
        let is_new = self.names.insert(card.name().to_owned());
        if is_new {
            self.cards.push(card);
        }
        is_new
    }

    /// The header in whole blocks, with the sum of the data after it and its own.
    pub(super) fn to_bytes(&self, data: &Sum) -> Vec<u8> {
        let mut header = self.with_sums(&"0".repeat(16), data);
        let mut all = data.clone();
        all.add(&header);
        header = self.with_sums(&encoded(all.value()), data);
        header
    }

    fn with_sums(&self, checksum: &str, data: &Sum) -> Vec<u8> {
        let mut text = String::new();
        let sums = [Card::text("CHECKSUM", checksum), Card::text("DATASUM", &format!("{:<8}", data.value()))];
        for card in self.cards.iter().chain(&sums) {
            text.push_str(&format!("{:<WIDTH$}", card.0));
        }
        text.push_str("END");
        let mut bytes = text.into_bytes();
        let block = usize::try_from(BLOCK).unwrap_or(usize::MAX);
        bytes.resize(bytes.len().next_multiple_of(block), b' ');
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_laid_out_as_the_standard_has_them() {
        let plain = |text: &str| CardValue::Plain(text.into());
        let text = |text: &str| CardValue::Text(text.into());
        let of = |key: &str, value: &CardValue| Card::new(key, value).map(|card| card.0);
        assert_eq!(Card::integer("NAXIS", 2).0, "NAXIS   =                    2");
        assert_eq!(of("GAIN", &plain("1.5")).unwrap(), "GAIN    =                  1.5");
        assert_eq!(of("OBJECT", &text("it's")).unwrap(), "OBJECT  = 'it''s   '");
        assert_eq!(of("A B", &text("x")).unwrap(), "HIERARCH A B = 'x       '");
        assert_eq!(of("OBJECT", &text(&"x".repeat(68))).unwrap().len(), 80);
        assert_eq!(of("OBJECT", &text(&"x".repeat(69))), None);
        assert_eq!(of("OBJECT", &text("µ")), None);
        assert_eq!(of(&"K".repeat(80), &plain("1")), None);
    }

    #[test]
    fn a_header_is_whole_blocks_and_no_card_is_there_twice() {
        let mut header = Header::default();
        assert!(header.push(Card::logical("SIMPLE", true)));
        assert!(!header.push(Card::logical("SIMPLE", false)));
        let bytes = header.to_bytes(&Sum::default());
        assert_eq!(bytes.len(), 2880);
        // The sum of a whole unit is that of all ones.
        let mut sum = Sum::default();
        sum.add(&bytes);
        assert_eq!(sum.value(), u32::MAX);
    }
}
