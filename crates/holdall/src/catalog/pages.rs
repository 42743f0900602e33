//! The values of a column of a Parquet file, page by page: memory is bounded by a page and a dictionary.

use std::ops::Range;

use container_core::source::{Source, try_zeroed_vec};
use container_core::{Error, Limits, Result};

use super::footer::{Chunk, Column, Physical};
use super::levels::Runs;
use super::thrift::Reader;

/// Bytes in which a header of a page is first looked for, and at most.
const HEADER_LEN: (u64, u64) = (1 << 10, 1 << 20);

/// Maximum number of items of a list: an array has fewer axes.
const MAX_ITEMS: usize = 64;

/// Encodings, by their numbers in the specification.
mod encoding {
    pub(super) const PLAIN: i64 = 0;
    pub(super) const PLAIN_DICTIONARY: i64 = 2;
    pub(super) const RLE: i64 = 3;
    pub(super) const RLE_DICTIONARY: i64 = 8;
}

/// A value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    Int(i64),
    Text(String),
    List(Vec<i64>),
}

/// Reads the values of a column in one row group.
pub(super) struct Pages<'a> {
    source: &'a dyn Source,
    column: &'a Column,
    limits: Limits,
    /// Pages that are left.
    range: Range<u64>,
    dictionary: Dictionary,
    page: Page,
    /// The levels of the next value, where it has been read to find the end of a list.
    ahead: Option<(u32, u32)>,
}

/// The values that numbers in a page stand for.
#[derive(Default)]
struct Dictionary {
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

/// A page of values.
struct Page {
    bytes: Vec<u8>,
    /// Values and nulls that are left.
    left: u64,
    repetition: Runs,
    definition: Runs,
    values: Values,
}

enum Values {
    /// The place of the next one.
    Plain(usize),
    Numbers(Runs),
}

/// The header of a page.
#[derive(Default)]
struct Header {
    kind: i64,
    stored: u64,
    decoded: u64,
    values: u64,
    encoding: i64,
    /// Lengths of the levels, in pages of version 2.
    levels: Option<(u64, u64)>,
    definition_encoding: i64,
    repetition_encoding: i64,
}

impl<'a> Pages<'a> {
    /// The values of a column of integers or texts, or of lists of integers.
    ///
    /// # Errors
    /// `Unsupported` for compressed values.
    pub(super) fn new(
        source: &'a dyn Source,
        column: &'a Column,
        chunk: &Chunk,
        limits: Limits,
    ) -> Result<Self> {
        if chunk.codec != 0 {
            let codec = match chunk.codec {
                1 => "SNAPPY",
                2 => "GZIP",
                6 => "ZSTD",
                7 => "LZ4_RAW",
                _ => "another codec",
            };
            let error =
                Error::unsupported(format!("column {} is compressed by {codec}", column.path.join(".")));
            return Err(
                error.with_hint("a table that is written without compression, as `holdall catalog` does")
            );
        }
        let none = || Runs::new(0..0, 0);
        let page = Page {
            bytes: Vec::new(),
            left: 0,
            repetition: none()?,
            definition: none()?,
            values: Values::Plain(0),
        };
        let range = chunk.range.clone();
        Ok(Self { source, column, limits, range, dictionary: Dictionary::default(), page, ahead: None })
    }

    /// The value of the next row.
    ///
    /// # Errors
    /// `Malformed` where there is none, and for pages that contradict themselves; `Limit`; `Unsupported` for other encodings than those of
    /// writers' defaults; those of the source.
    pub(super) fn next(&mut self) -> Result<Cell> {
        let at = self.range.start;
        let value = if self.column.max_repetition == 0 { self.flat() } else { self.list() };
        value.map_err(|error| {
            let error = error.with_context(format!("column {}", self.column.path.join(".")));
            if error.range().is_none() { error.with_range(at..self.range.end.max(at)) } else { error }
        })
    }

    fn flat(&mut self) -> Result<Cell> {
        let (_, definition) = self.levels()?;
        if definition < self.column.max_definition { Ok(Cell::Null) } else { self.value() }
    }

    fn list(&mut self) -> Result<Cell> {
        let (repetition, definition) = self.levels()?;
        if repetition != 0 {
            return Err(Error::malformed("a list goes on before it begins"));
        }
        if definition < self.column.empty_list {
            return Ok(Cell::Null);
        }
        let mut items = Vec::new();
        if definition == self.column.empty_list {
            return Ok(Cell::List(items));
        }
        let mut definition = definition;
        loop {
            if definition < self.column.max_definition {
                return Err(Error::malformed("a list has a null in it"));
            }
            if items.len() >= MAX_ITEMS {
                return Err(Error::malformed(format!("a list has more than {MAX_ITEMS} items")));
            }
            let Cell::Int(item) = self.value()? else {
                return Err(Error::malformed("a list is not of integers"));
            };
            items.push(item);
            if self.is_at_end()? {
                return Ok(Cell::List(items));
            }
            match self.levels()? {
                (0, first) => {
                    self.ahead = Some((0, first));
                    return Ok(Cell::List(items));
                }
                (_, next) => definition = next,
            }
        }
    }

    /// True after the last value of the row group.
    fn is_at_end(&mut self) -> Result<bool> {
        while self.page.left == 0 {
            if self.range.is_empty() {
                return Ok(true);
            }
            self.next_page()?;
        }
        Ok(false)
    }

    /// The levels of the next value: repetition and definition.
    fn levels(&mut self) -> Result<(u32, u32)> {
        if let Some(ahead) = self.ahead.take() {
            return Ok(ahead);
        }
        if self.is_at_end()? {
            return Err(Error::malformed("fewer values than rows"));
        }
        self.page.left = self.page.left.saturating_sub(1);
        let repetition = self.page.repetition.next(&self.page.bytes)?;
        let definition = match self.column.max_definition {
            0 => 0,
            _ => self.page.definition.next(&self.page.bytes)?,
        };
        Ok((repetition, definition))
    }

    fn value(&mut self) -> Result<Cell> {
        let physical = self.column.physical;
        match &mut self.page.values {
            Values::Plain(at) => {
                let place = plain(&self.page.bytes, physical, at)?;
                cell(&self.page.bytes, physical, place)
            }
            Values::Numbers(runs) => {
                let number = runs.next(&self.page.bytes)?;
                let place =
                    usize::try_from(number).ok().and_then(|number| self.dictionary.places.get(number));
                let place = place.ok_or_else(|| Error::malformed("a value is not in the dictionary"))?;
                cell(&self.dictionary.bytes, physical, place.clone())
            }
        }
    }

    /// Reads the next page; one of values, or the dictionary.
    fn next_page(&mut self) -> Result<()> {
        self.limits.stop.check()?;
        let (header, len) = self.header()?;
        let start = self.range.start.checked_add(len).filter(|start| *start <= self.range.end);
        let start = start.ok_or_else(too_long)?;
        let end =
            start.checked_add(header.stored).filter(|end| *end <= self.range.end).ok_or_else(too_long)?;
        let is_known = matches!(header.kind, 0 | 2 | 3);
        if is_known && header.decoded != header.stored {
            return Err(Error::malformed("a page that is not compressed has two lengths"));
        }
        self.range.start = end;
        // Of other kinds there may be more.
        if !is_known {
            return Ok(());
        }
        let mut bytes = try_zeroed_vec::<u8>(header.stored, &self.limits)?;
        self.source.read_into(start, &mut bytes)?;
        if header.kind == 2 {
            self.dictionary = Dictionary::new(bytes, self.column.physical, &header, &self.limits)?;
            return Ok(());
        }
        self.page = Page::new(bytes, self.column, &header)?;
        Ok(())
    }

    /// The next header, and its length.
    fn header(&self) -> Result<(Header, u64)> {
        let mut len = HEADER_LEN.0;
        loop {
            let left = self.range.end.saturating_sub(self.range.start);
            let window =
                self.source.read(self.range.start..self.range.start.saturating_add(len.min(left)))?;
            let mut reader = Reader::new(&window);
            match Header::read(&mut reader) {
                Ok(header) => return Ok((header, reader.position() as u64)),
                // It may hold a long text.
                Err(_) if len < left && len < HEADER_LEN.1 => len = len.saturating_mul(8).min(HEADER_LEN.1),
                Err(error) => return Err(error.with_context("header of a page")),
            }
        }
    }
}

fn too_long() -> Error {
    Error::malformed("a page is longer than its column")
}

impl Header {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut header = Self::default();
        reader.structure(|reader, id| {
            match id {
                1 => header.kind = reader.integer()?,
                2 => header.decoded = reader.count()?,
                3 => header.stored = reader.count()?,
                // A dictionary.
                7 => reader.structure(|reader, id| {
                    match id {
                        1 => header.values = reader.count()?,
                        2 => header.encoding = reader.integer()?,
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?,
                // A page of version 1.
                5 => reader.structure(|reader, id| {
                    match id {
                        1 => header.values = reader.count()?,
                        2 => header.encoding = reader.integer()?,
                        3 => header.definition_encoding = reader.integer()?,
                        4 => header.repetition_encoding = reader.integer()?,
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?,
                8 => {
                    let (mut definition, mut repetition) = (0, 0);
                    reader.structure(|reader, id| {
                        match id {
                            1 => header.values = reader.count()?,
                            4 => header.encoding = reader.integer()?,
                            5 => definition = reader.count()?,
                            6 => repetition = reader.count()?,
                            _ => return Ok(false),
                        }
                        Ok(true)
                    })?;
                    header.levels = Some((repetition, definition));
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(header)
    }
}

impl Dictionary {
    fn new(bytes: Vec<u8>, physical: Physical, header: &Header, limits: &Limits) -> Result<Self> {
        if !matches!(header.encoding, encoding::PLAIN | encoding::PLAIN_DICTIONARY) {
            return Err(Error::unsupported(format!("a dictionary in encoding {}", header.encoding)));
        }
        // Each has four bytes at least; a place takes sixteen.
        limits.allocate((bytes.len() as u64).saturating_mul(4))?;
        let (mut at, mut places) = (0, Vec::new());
        for _ in 0..header.values {
            places.push(plain(&bytes, physical, &mut at)?);
        }
        Ok(Self { bytes, places })
    }
}

impl Page {
    fn new(bytes: Vec<u8>, column: &Column, header: &Header) -> Result<Self> {
        let width = |max: u32| u32::BITS.saturating_sub(max.leading_zeros());
        let mut at = 0_usize;
        let mut levels = |max: u32, len: Option<u64>, encoding: i64| {
            if max == 0 && len.is_none_or(|len| len == 0) {
                return Runs::new(0..0, 0);
            }
            if encoding != encoding::RLE {
                return Err(Error::unsupported(format!("levels in encoding {encoding}")));
            }
            let len = match len {
                Some(len) => len,
                None => {
                    let start = at;
                    at = at.saturating_add(4);
                    let len = bytes.get(start..at).and_then(|len| len.try_into().ok()).ok_or_else(cut)?;
                    u32::from_le_bytes(len).into()
                }
            };
            let start = at;
            let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len));
            at = end.filter(|end| *end <= bytes.len()).ok_or_else(cut)?;
            Runs::new(start..at, width(max))
        };
        let (repetition_len, definition_len) = header.levels.unzip();
        let of = |encoding| if header.levels.is_some() { encoding::RLE } else { encoding };
        let repetition = levels(column.max_repetition, repetition_len, of(header.repetition_encoding))?;
        let definition = levels(column.max_definition, definition_len, of(header.definition_encoding))?;
        let values = match header.encoding {
            encoding::PLAIN => Values::Plain(at),
            // A page of nulls may be without the width.
            encoding::PLAIN_DICTIONARY | encoding::RLE_DICTIONARY => match bytes.get(at) {
                Some(width) => {
                    Values::Numbers(Runs::new(at.saturating_add(1)..bytes.len(), (*width).into())?)
                }
                None => Values::Plain(at),
            },
            other => return Err(Error::unsupported(format!("values in encoding {other}"))),
        };
        Ok(Self { bytes, left: header.values, repetition, definition, values })
    }
}

fn cut() -> Error {
    Error::malformed("a page is shorter than its values")
}

/// The place of the value at `at`, which is moved behind it.
fn plain(bytes: &[u8], physical: Physical, at: &mut usize) -> Result<Range<usize>> {
    let (start, len) = match physical {
        Physical::Int32 => (*at, 4),
        Physical::Int64 => (*at, 8),
        Physical::Bytes => {
            let start = at.checked_add(4).ok_or_else(cut)?;
            let len = bytes.get(*at..start).and_then(|len| len.try_into().ok()).ok_or_else(cut)?;
            (start, usize::try_from(u32::from_le_bytes(len)).map_err(|_| cut())?)
        }
        Physical::Other => return Err(Error::unsupported("values that are neither integers nor texts")),
    };
    let end = start.checked_add(len).filter(|end| *end <= bytes.len()).ok_or_else(cut)?;
    *at = end;
    Ok(start..end)
}

fn cell(bytes: &[u8], physical: Physical, place: Range<usize>) -> Result<Cell> {
    let bytes = bytes.get(place).ok_or_else(cut)?;
    Ok(match physical {
        Physical::Int32 => Cell::Int(i32::from_le_bytes(bytes.try_into().map_err(|_| cut())?).into()),
        Physical::Int64 => Cell::Int(i64::from_le_bytes(bytes.try_into().map_err(|_| cut())?)),
        Physical::Bytes | Physical::Other => {
            let text = std::str::from_utf8(bytes).map_err(|_| Error::malformed("a text is not UTF-8"))?;
            Cell::Text(text.to_owned())
        }
    })
}
