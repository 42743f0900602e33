//! Names of the extensions of FITS files.
//!
//! Spec: FITS standard 4.0, 3 "FITS file organization" and 4.4.1 "Mandatory keywords".

use container_core::Result;
use container_core::source::Source;

/// Headers and data are whole blocks of this many bytes.
const BLOCK: u64 = 2880;

/// Length of a card of a header.
const CARD: usize = 80;

/// Maximum number of header and data units that are inspected.
const MAX_UNITS: usize = 64;

/// Maximum number of blocks of one header: 9216 cards.
const MAX_HEADER_BLOCKS: u64 = 256;

/// Whether a FITS file has an extension of this name. Structures that are not understood end the search.
///
/// # Errors
/// Those of the source.
pub(super) fn has(source: &dyn Source, name: &str) -> Result<bool> {
    if source.len() < BLOCK || *source.read(0..9)? != *b"SIMPLE  =" {
        return Ok(false);
    }
    let mut at = 0_u64;
    for _ in 0..MAX_UNITS {
        let Some(unit) = unit(source, at)? else { return Ok(false) };
        if unit.name.as_deref() == Some(name) {
            return Ok(true);
        }
        match unit.end() {
            Some(end) if end > at => at = end,
            _ => return Ok(false),
        }
    }
    Ok(false)
}

/// A header, as far as the search needs it.
#[derive(Default)]
struct Unit {
    name: Option<String>,
    bits: u64,
    axes: Vec<u64>,
    parameters: u64,
    groups: u64,
    /// Offset of the first byte after the header.
    data: u64,
}

impl Unit {
    /// Offset of the next unit; `None` past 2^64.
    fn end(&self) -> Option<u64> {
        let count = match self.axes.as_slice() {
            [] => 0,
            axes => axes.iter().try_fold(1_u64, |count, len| count.checked_mul(*len))?,
        };
        let elements = count.checked_add(self.parameters)?.checked_mul(self.groups)?;
        let bytes = elements.checked_mul(self.bits / 8)?.checked_next_multiple_of(BLOCK)?;
        self.data.checked_add(bytes)
    }
}

/// The header at an offset; `None` where there is none, or one that does not end.
fn unit(source: &dyn Source, at: u64) -> Result<Option<Unit>> {
    let mut unit = Unit { groups: 1, ..Unit::default() };
    for block in 0..MAX_HEADER_BLOCKS {
        let range = block.checked_mul(BLOCK).and_then(|before| at.checked_add(before));
        let range = range.and_then(|start| Some(start..start.checked_add(BLOCK)?));
        let Some(range) = range.filter(|range| range.end <= source.len()) else { return Ok(None) };
        unit.data = range.end;
        for card in source.read(range)?.chunks_exact(CARD) {
            let Ok(card) = std::str::from_utf8(card) else { return Ok(None) };
            if card.trim_end() == "END" {
                return Ok(Some(unit));
            }
            unit.take(card);
        }
    }
    Ok(None)
}

impl Unit {
    /// Takes the value of a card, if it is one of those that count.
    fn take(&mut self, card: &str) {
        let Some((keyword, value)) = card.split_once('=') else { return };
        let value = value.trim_start();
        let number = || {
            let digits = value.split([' ', '/']).next().unwrap_or_default().trim_start_matches('-');
            digits.parse::<u64>().unwrap_or(0)
        };
        match keyword.trim_end() {
            "BITPIX" => self.bits = number(),
            "PCOUNT" => self.parameters = number(),
            "GCOUNT" => self.groups = number(),
            "EXTNAME" => {
                let text = value.strip_prefix('\'').and_then(|text| text.split('\'').next());
                self.name = text.map(|text| text.trim_end().to_owned());
            }
            keyword if keyword.starts_with("NAXIS") && keyword.len() > 5 => self.axes.push(number()),
            _ => {}
        }
    }
}
