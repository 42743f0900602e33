//! The footer of a Parquet file: its columns, and where their pages are.
//!
//! ```text
//! "PAR1"  pages of columns, row group by row group  FileMetaData  length of it (u32)  "PAR1"
//! ```
//!
//! Read here and not by the crate `parquet`, which writes catalogues: of a footer from a stranger, that one recurses as deep and allocates as much
//! as the footer says. Spec: <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>

use std::ops::Range;

use container_core::source::{Source, try_zeroed_vec};
use container_core::{Error, Limits, Result};

use super::thrift::Reader;

/// First and last bytes of a Parquet file.
pub(super) const MAGIC: &[u8; 4] = b"PAR1";

/// Maximum length of a footer in bytes. That of a million rows and a thousand columns is shorter.
const MAX_FOOTER: u64 = 64 << 20;

/// Maximum number of columns.
const MAX_COLUMNS: usize = 4096;

/// Groups of columns within groups.
const MAX_DEPTH: usize = 16;

/// Columns, row groups and texts of a Parquet file.
#[derive(Debug)]
pub(super) struct Footer {
    pub(super) columns: Vec<Column>,
    pub(super) groups: Vec<RowGroup>,
    /// Texts that the writer put beside the table.
    pub(super) texts: Vec<(String, String)>,
}

/// A column of values: one of the table, or a part of one that is a list or a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    /// Names from that of the table's column on.
    pub(super) path: Vec<String>,
    pub(super) physical: Physical,
    /// Level of a value that is there.
    pub(super) max_definition: u32,
    /// Number of lists that it is in.
    pub(super) max_repetition: u32,
    /// Level of an empty list: one below, the list is null.
    pub(super) empty_list: u32,
}

/// The stored form of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Physical {
    Int32,
    Int64,
    Bytes,
    Other,
}

/// Rows whose values are next to each other, column by column.
#[derive(Debug)]
pub(super) struct RowGroup {
    pub(super) rows: u64,
    /// In the order of [`Footer::columns`].
    pub(super) chunks: Vec<Chunk>,
}

/// The pages of a column in a row group.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub(super) codec: i64,
    /// Absolute, within the file.
    pub(super) range: Range<u64>,
}

/// True for the first bytes of a Parquet file.
#[must_use]
pub fn begins_as_parquet(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

impl Footer {
    /// Reads the footer at the end of a file.
    ///
    /// # Errors
    /// `Malformed` where it is none, or contradicts itself; `Limit`; those of the source.
    pub(super) fn read(source: &dyn Source, limits: &Limits) -> Result<Self> {
        let file_len = source.len();
        let tail_at = file_len.checked_sub(8).filter(|at| *at >= MAGIC.len() as u64);
        let tail_at = tail_at.ok_or_else(|| Error::malformed("the file is too short for a Parquet file"))?;
        let mut tail = [0; 8];
        source.read_into(tail_at, &mut tail)?;
        let [a, b, c, d, magic @ ..] = tail;
        if magic != *MAGIC {
            let error = Error::malformed("the file does not end as a Parquet file");
            return Err(error.with_range(tail_at..file_len));
        }
        let len = u64::from(u32::from_le_bytes([a, b, c, d]));
        let start = tail_at.checked_sub(len).filter(|start| *start >= MAGIC.len() as u64);
        let start = start.ok_or_else(|| {
            Error::malformed(format!("the footer is longer than the file ({len} bytes)"))
                .with_range(tail_at..file_len)
        })?;
        if len > MAX_FOOTER.min(limits.memory / 8) {
            return Err(Error::limit("bytes of a Parquet footer", len, MAX_FOOTER.min(limits.memory / 8)));
        }
        let mut bytes = try_zeroed_vec::<u8>(len, limits)?;
        source.read_into(start, &mut bytes)?;
        Self::parse(&bytes, start).map_err(|error| error.with_context("footer").with_range(start..tail_at))
    }

    /// `data_end`: the end of the pages, and start of the footer.
    fn parse(bytes: &[u8], data_end: u64) -> Result<Self> {
        let (mut elements, mut groups, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        let mut columns = None;
        Reader::new(bytes).structure(|reader, id| {
            match id {
                2 => {
                    reader.each(|reader| {
                        if elements.len() > MAX_COLUMNS.saturating_mul(3) {
                            let most = MAX_COLUMNS as u64;
                            return Err(Error::limit("columns", most.saturating_add(1), most));
                        }
                        elements.push(Element::read(reader)?);
                        Ok(())
                    })?;
                    columns = Some(leaves(&elements)?);
                }
                4 => {
                    let Some(columns) = &columns else {
                        return Err(Error::malformed("row groups come before the columns"));
                    };
                    reader.each(|reader| {
                        groups.push(RowGroup::read(reader, columns, data_end)?);
                        Ok(())
                    })?;
                }
                5 => reader.each(|reader| {
                    let (mut key, mut value) = (String::new(), String::new());
                    reader.structure(|reader, id| {
                        match id {
                            1 => key = reader.text()?,
                            2 => value = reader.text()?,
                            _ => return Ok(false),
                        }
                        Ok(true)
                    })?;
                    texts.push((key, value));
                    Ok(())
                })?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let columns = columns.ok_or_else(|| Error::malformed("no columns"))?;
        Ok(Self { columns, groups, texts })
    }
}

/// A node of the tree of columns, whose nodes are listed from the root on, each before those below it.
#[derive(Debug, Default)]
struct Element {
    name: String,
    physical: Option<i64>,
    /// 0 required, 1 optional, 2 repeated.
    repetition: i64,
    children: u64,
}

impl Element {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut element = Self::default();
        reader.structure(|reader, id| {
            match id {
                1 => element.physical = Some(reader.integer()?),
                3 => element.repetition = reader.integer()?,
                4 => element.name = reader.text()?,
                5 => element.children = reader.count()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(element)
    }
}

/// The columns of values of the tree.
fn leaves(elements: &[Element]) -> Result<Vec<Column>> {
    /// A group whose children follow.
    struct Open<'e> {
        name: &'e str,
        left: u64,
        definition: u32,
        repetition: u32,
        empty_list: u32,
    }
    let mut elements = elements.iter();
    let root = elements.next().ok_or_else(|| Error::malformed("no columns"))?;
    let mut open = vec![Open { name: "", left: root.children, definition: 0, repetition: 0, empty_list: 0 }];
    let mut columns = Vec::new();
    for element in elements {
        while open.last().is_some_and(|group| group.left == 0) {
            open.pop();
        }
        let group = open.last_mut().ok_or_else(|| Error::malformed("more columns than their tree has"))?;
        group.left = group.left.saturating_sub(1);
        let is_repeated = element.repetition == 2;
        let definition = group.definition.saturating_add(u32::from(element.repetition != 0));
        let repetition = group.repetition.saturating_add(u32::from(is_repeated));
        let empty_list = if is_repeated { group.definition } else { group.empty_list };
        if element.children > 0 {
            let left = element.children;
            open.push(Open { name: &element.name, left, definition, repetition, empty_list });
            if open.len() > MAX_DEPTH {
                return Err(Error::limit("columns within columns", open.len() as u64, MAX_DEPTH as u64));
            }
            continue;
        }
        let above = open.iter().skip(1).map(|group| group.name.to_owned());
        columns.push(Column {
            path: above.chain([element.name.clone()]).collect(),
            physical: match element.physical {
                Some(1) => Physical::Int32,
                Some(2) => Physical::Int64,
                Some(6) => Physical::Bytes,
                _ => Physical::Other,
            },
            max_definition: definition,
            max_repetition: repetition,
            empty_list,
        });
    }
    if open.iter().any(|group| group.left > 0) {
        return Err(Error::malformed("fewer columns than their tree has"));
    }
    if columns.len() > MAX_COLUMNS {
        return Err(Error::limit("columns", columns.len() as u64, MAX_COLUMNS as u64));
    }
    Ok(columns)
}

impl RowGroup {
    fn read(reader: &mut Reader<'_>, columns: &[Column], data_end: u64) -> Result<Self> {
        let (mut rows, mut chunks) = (None, Vec::with_capacity(columns.len()));
        reader.structure(|reader, id| {
            match id {
                1 => reader.each(|reader| {
                    let column: &Column = columns
                        .get(chunks.len())
                        .ok_or_else(|| Error::malformed("a row group has more columns than the table"))?;
                    let chunk = Chunk::read(reader, data_end)
                        .map_err(|error| error.with_context(format!("column {}", column.path.join("."))));
                    chunks.push(chunk?);
                    Ok(())
                })?,
                3 => rows = Some(reader.count()?),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let rows = rows.ok_or_else(|| Error::malformed("a row group without a number of rows"))?;
        if chunks.len() != columns.len() {
            return Err(Error::malformed("a row group has fewer columns than the table"));
        }
        Ok(Self { rows, chunks })
    }
}

impl Chunk {
    fn read(reader: &mut Reader<'_>, data_end: u64) -> Result<Self> {
        let (mut codec, mut len) = (0, None);
        let (mut data, mut dictionary) = (None, None);
        let mut is_elsewhere = false;
        reader.structure(|reader, id| {
            match id {
                1 => {
                    is_elsewhere = true;
                    return Ok(false);
                }
                3 => reader.structure(|reader, id| {
                    match id {
                        4 => codec = reader.integer()?,
                        7 => len = Some(reader.count()?),
                        9 => data = Some(reader.count()?),
                        11 => dictionary = Some(reader.count()?),
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        if is_elsewhere {
            return Err(Error::unsupported("values in another file"));
        }
        let (Some(data), Some(len)) = (data, len) else {
            return Err(Error::malformed("the place of the values is missing"));
        };
        // Some writers put a dictionary of 0 where there is none.
        let start = dictionary.filter(|at| *at > 0 && *at < data).unwrap_or(data);
        let end = start.checked_add(len).filter(|end| start >= MAGIC.len() as u64 && *end <= data_end);
        let end = end.ok_or_else(|| {
            Error::malformed(format!("values are outside the file ({len} bytes at offset {start})"))
        })?;
        Ok(Self { codec, range: start..end })
    }
}
