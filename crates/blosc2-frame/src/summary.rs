//! What the chunks of a frame have in common and in what they differ, counted.

use blosc_chunk::{Compressor, Header, Special};
use container_core::Value;

use crate::frame::Survey;

/// How often each word was met, in the order of the first time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts(Vec<(String, u64)>);

impl Counts {
    fn add(&mut self, word: impl AsRef<str>, count: u64) {
        let word = word.as_ref();
        match self.0.iter_mut().find(|(known, _)| known == word) {
            Some((_, known)) => *known = known.saturating_add(count),
            None if count > 0 => self.0.push((word.to_owned(), count)),
            None => {}
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(word, _)| word.as_str())
    }

    pub(crate) fn value(&self) -> Value {
        Value::Map(self.0.iter().map(|(word, count)| (word.clone(), (*count).into())).collect())
    }
}

/// The chunks of a frame, counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    /// Stored bytes of all chunks; of one that is in the index twice, twice.
    pub(crate) stored: u64,
    /// Blocks of all stored chunks.
    pub(crate) blocks: u64,
    /// Bytes that no chunk has.
    pub(crate) dead: u64,
    /// Codecs of stored chunks.
    pub(crate) codecs: Counts,
    /// Chunks of one value: what they hold, whether or not they are stored.
    pub(crate) special: Counts,
}

impl Summary {
    pub(crate) fn new(survey: &Survey) -> Self {
        let mut summary = Self::default();
        let [zeros, uninit, nan] = survey.special;
        for (special, count) in [(Special::Zeros, zeros), (Special::Uninit, uninit), (Special::Nan, nan)] {
            summary.special.add(word_of(special), count);
        }
        for chunk in &survey.chunks {
            summary.stored = summary.stored.saturating_add(chunk.range.end.saturating_sub(chunk.range.start));
            if let Some(special) = chunk.special {
                summary.special.add(word_of(special), 1);
                continue;
            }
            summary.blocks = summary.blocks.saturating_add(chunk.block_count.into());
            if chunk.is_memcpyed {
                summary.codecs.add("none", 1);
            } else {
                summary.codecs.add(compressor_word(chunk.compressor), 1);
            }
        }
        let dead = survey.dead.iter().map(|gap| gap.end.saturating_sub(gap.start));
        summary.dead = dead.fold(0, u64::saturating_add);
        summary
    }

    /// The codecs by the command's words; chunks stored as they are count only where all of them are.
    pub(crate) fn codec(&self) -> String {
        let words: Vec<&str> = self.codecs.words().filter(|word| *word != "none").collect();
        if words.is_empty() { "none".to_owned() } else { words.join("+") }
    }
}

/// The command's word for the codec of a chunk.
pub(crate) fn codec_word(header: &Header) -> String {
    if header.is_memcpyed() || header.special().is_some() {
        return "none".to_owned();
    }
    compressor_word(header.compressor)
}

/// The command's word for a codec, with its number where it has no name.
pub(crate) fn compressor_word(compressor: Compressor) -> String {
    match compressor.name() {
        "unknown" | "user-defined" => format!("{} ({})", compressor.name(), compressor.0),
        name => name.to_owned(),
    }
}

/// What a chunk of one value holds.
const fn word_of(special: Special) -> &'static str {
    match special {
        Special::Zeros => "zeros",
        Special::Nan => "nan",
        Special::Value => "value",
        Special::Uninit => "uninit",
    }
}
