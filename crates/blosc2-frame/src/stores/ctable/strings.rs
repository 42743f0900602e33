//! Texts of a column, which differ in length, as elements of one length: of numpy's type `U`, and bytes of its type `S`.

use container_core::array::Array;
use container_core::container::{Container, ReadOptions};
use container_core::dtype::{DType, Kind, Order};
use container_core::region::{AxisSelection, Region};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result, Value};

use super::live_rows::Rows;
use crate::msgpack;

/// Bytes that an element of a list takes while it is decoded, about.
const VALUE_LEN: u64 = 64;

/// The texts of a column in the order in which they are stored.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    /// The end of each in `bytes`.
    ends: Vec<usize>,
    /// Indices of those that are nil.
    missing: Vec<usize>,
}

/// Texts, or bytes that are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Text,
    Bytes,
}

impl Of {
    /// Returns the type of elements that hold so many characters, or bytes.
    pub(crate) fn dtype(self, width: usize) -> DType {
        // numpy has no texts of length 0 either.
        let width = width.max(1);
        match self {
            Self::Text => DType::native(Kind::Unicode, width.saturating_mul(4)),
            Self::Bytes => DType::native(Kind::Bytes, width),
        }
    }

    /// Characters or bytes of an item.
    fn width(self, item: &[u8]) -> usize {
        match self {
            Self::Text => String::from_utf8_lossy(item).chars().count(),
            Self::Bytes => item.len(),
        }
    }

    /// Writes an item into an element of [`Of::dtype`], which is zeros.
    pub(crate) fn put(self, item: &[u8], element: &mut [u8]) {
        match self {
            Self::Text => {
                for (to, c) in element.chunks_exact_mut(4).zip(String::from_utf8_lossy(item).chars()) {
                    to.copy_from_slice(&u32::from(c).to_ne_bytes());
                }
            }
            Self::Bytes => {
                let len = item.len().min(element.len());
                if let (Some(to), Some(from)) = (element.get_mut(..len), item.get(..len)) {
                    to.copy_from_slice(from);
                }
            }
        }
    }
}

impl Texts {
    /// Reads the texts of a utf8 column: `starts` of them in the dataset `data`, and the end of the last.
    ///
    /// # Errors
    /// `Malformed` for starts that are not integers which rise within the bytes, and for texts that are not UTF-8; `Limit`; those of reading.
    pub(crate) fn of_bytes(
        starts: &dyn Container,
        data: &dyn Container,
        options: &ReadOptions,
    ) -> Result<Self> {
        let (starts, data) = (all(starts, options)?, all(data, options)?);
        let is = |array: &Array<'_>, kind: &Kind, size| {
            array.shape().len() == 1
                && array.dtype().as_scalar().is_some_and(|it| it.kind == *kind && it.size == size)
        };
        if !is(&starts, &Kind::Int, 8) || !is(&data, &Kind::Uint, 1) {
            let problem = format!("texts by {} in {}, not <i8 in |u1", starts.dtype(), data.dtype());
            return Err(Error::malformed(problem));
        }
        let bytes = data.bytes(Order::C, &options.limits)?.into_owned();
        let starts = starts.elements::<i64>(Order::C, &options.limits)?;
        let mut texts = Self { bytes, ..Self::default() };
        let mut before = 0;
        for (number, start) in starts.iter().enumerate() {
            let end = usize::try_from(*start).ok().filter(|end| *end <= texts.bytes.len());
            let part = end.and_then(|end| texts.bytes.get(before..end)).filter(|_| number > 0 || *start == 0);
            let (Some(end), Some(part)) = (end, part) else {
                let problem = format!(
                    "text {number} starts at byte {start}, outside the {} bytes of texts",
                    texts.bytes.len()
                );
                return Err(Error::malformed(problem));
            };
            if std::str::from_utf8(part).is_err() {
                return Err(Error::malformed(format!("text {} is not UTF-8", number.saturating_sub(1))));
            }
            if number > 0 {
                texts.ends.push(end);
            }
            before = end;
        }
        Ok(texts)
    }

    /// Reads the items of a BatchArray, whose chunks are msgpack lists one after the other.
    ///
    /// # Errors
    /// `Malformed` for anything else, and for items that are not `of` this or nil; `Limit`; those of reading.
    pub(crate) fn of_batches(container: &dyn Container, of: Of, options: &ReadOptions) -> Result<Self> {
        let mut texts = Self::default();
        for chunk in 0..container.dataset_count() {
            let shape = container.require(chunk)?.shape.clone();
            let array = container.read(chunk, &Region::whole(&shape), options)?;
            let bytes = array.bytes(Order::C, &options.limits)?;
            for list in msgpack::to_values(&bytes, &options.limits)? {
                let Value::List(items) = list else {
                    return Err(Error::malformed(format!("chunk {chunk} is not a list of msgpack")));
                };
                for item in &items {
                    texts.push(item, of, &options.limits)?;
                }
            }
        }
        Ok(texts)
    }

    fn push(&mut self, item: &Value, of: Of, limits: &Limits) -> Result<()> {
        let number = self.ends.len();
        match (item, of) {
            (Value::Null, _) => self.missing.push(number),
            (Value::Text(text), Of::Text) => self.bytes.extend_from_slice(text.as_bytes()),
            (Value::Bytes(bytes), Of::Bytes) => self.bytes.extend_from_slice(bytes),
            (Value::Text(text), Of::Bytes) => self.bytes.extend_from_slice(text.as_bytes()),
            _ => return Err(Error::malformed(format!("item {number} is not {}", of.noun()))),
        }
        self.ends.push(self.bytes.len());
        let held = (self.bytes.len() as u64).saturating_add((number as u64).saturating_mul(VALUE_LEN));
        limits.allocate(held).map(|_| ())
    }

    /// Returns the number of texts.
    pub(crate) fn len(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Returns one of them.
    pub(crate) fn get(&self, number: u64) -> Option<&[u8]> {
        let number = usize::try_from(number).ok()?;
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.bytes.get(start..end)
    }

    /// Whether one of them is nil.
    pub(crate) fn is_missing(&self, number: u64) -> bool {
        usize::try_from(number).is_ok_and(|number| self.missing.binary_search(&number).is_ok())
    }

    /// Returns the largest number of characters or bytes in the texts of `numbers`.
    ///
    /// # Errors
    /// `Unsupported` for a text that ends with NUL: elements of one length are padded with NUL.
    pub(crate) fn width(&self, numbers: impl Iterator<Item = u64>, of: Of) -> Result<usize> {
        let mut width = 0;
        for item in numbers.filter_map(|number| self.get(number)) {
            if item.last() == Some(&0) {
                let problem =
                    format!("{} that ends with NUL, which elements of fixed length cannot store", of.noun());
                return Err(Error::unsupported(problem));
            }
            width = width.max(of.width(item));
        }
        Ok(width)
    }

    /// Reads the texts of selected live rows.
    ///
    /// # Errors
    /// `Limit`.
    pub(crate) fn select(
        &self,
        rows: &Rows,
        axis: &AxisSelection,
        of: Of,
        dtype: &DType,
        limits: &Limits,
    ) -> Result<Vec<u8>> {
        let size = dtype.itemsize();
        let mut bytes = try_zeroed_vec(axis.count.saturating_mul(size as u64), limits)?;
        for (element, number) in bytes.chunks_exact_mut(size.max(1)).zip(rows.stored(axis)) {
            if !self.is_missing(number) {
                of.put(self.get(number).unwrap_or_default(), element);
            }
        }
        Ok(bytes)
    }
}

impl Of {
    const fn noun(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Bytes => "a byte string",
        }
    }
}

/// Reads the whole of the one dataset of a frame.
fn all(container: &dyn Container, options: &ReadOptions) -> Result<Array<'static>> {
    let shape = container.require(0)?.shape.clone();
    container.read(0, &Region::whole(&shape), options)?.into_owned(&options.limits)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use container_core::ErrorKind;
    use container_core::container::OpenOptions;
    use container_core::format::Input;

    use super::*;
    use crate::b2nd::{NdOptions, write_array_to};
    use crate::{FORMAT, FrameOptions, Writer};

    fn opened(bytes: Vec<u8>) -> Box<dyn Container> {
        (FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default()).unwrap()
    }

    fn array(dtype: &str, shape: &[u64], bytes: &[u8]) -> Box<dyn Container> {
        let dtype = DType::parse(dtype).unwrap();
        let array = Array::new(dtype, shape.to_vec(), Order::C, bytes.into()).unwrap();
        let mut out = Vec::new();
        write_array_to(&mut out, &array, &NdOptions::default()).unwrap();
        opened(out)
    }

    fn starts(starts: &[i64]) -> Box<dyn Container> {
        let bytes: Vec<u8> = starts.iter().flat_map(|start| start.to_le_bytes()).collect();
        array("<i8", &[starts.len() as u64], &bytes)
    }

    fn read(starts: &dyn Container, data: &dyn Container) -> Result<Texts> {
        Texts::of_bytes(starts, data, &ReadOptions::default())
    }

    #[test]
    fn texts_end_where_the_next_begins() {
        let data = array("|u1", &[9], "aé\0日bc".as_bytes());
        let texts = read(&*starts(&[0, 3, 3, 7, 9]), &*data).unwrap();
        assert_eq!(texts.len(), 4);
        let all: Vec<&[u8]> = (0..4).map(|number| texts.get(number).unwrap()).collect();
        assert_eq!(all, ["aé".as_bytes(), b"", "\0日".as_bytes(), b"bc"]);
        assert_eq!(texts.get(4), None);
        assert!((0..5).all(|number| !texts.is_missing(number)));
        // Characters of texts, bytes of others.
        assert_eq!(texts.width(0..4, Of::Text).unwrap(), 2);
        assert_eq!(texts.width(0..4, Of::Bytes).unwrap(), 4);
        assert_eq!(texts.width([1].into_iter(), Of::Text).unwrap(), 0);
        assert_eq!(read(&*starts(&[0]), &*data).unwrap().len(), 0);
    }

    #[test]
    fn starts_and_bytes_of_other_kinds_are_refused() {
        let data = || array("|u1", &[4], b"abcd");
        let zeros = [0; 16];
        for (starts, data) in [
            (array("<i4", &[2], &zeros[..8]), data()),
            (array("<u8", &[2], &zeros), data()),
            (array("<f8", &[2], &zeros), data()),
            (array("<i8", &[1, 2], &zeros), data()),
            (starts(&[0, 4]), array("<u2", &[2], b"abcd")),
            (starts(&[0, 4]), array("|i1", &[4], b"abcd")),
            (starts(&[0, 4]), array("|u1", &[2, 2], b"abcd")),
            // Not from the start, back, past the end, before the start, within a character.
            (starts(&[1, 4]), data()),
            (starts(&[0, 3, 2]), data()),
            (starts(&[0, 5]), data()),
            (starts(&[0, -1]), data()),
            (starts(&[0, 1, 2]), array("|u1", &[2], "é".as_bytes())),
        ] {
            let error = read(&*starts, &*data).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
        }
    }

    #[test]
    fn items_of_batches_are_texts_or_bytes_or_nil() {
        let batches = |chunks: &[&[u8]]| {
            let mut out = Vec::new();
            let options = FrameOptions { variable_chunks: true, ..FrameOptions::default() };
            let mut writer = Writer::new(&mut out, options).unwrap();
            chunks.iter().for_each(|chunk| writer.append(chunk).unwrap());
            writer.finish().unwrap();
            opened(out)
        };
        // Two lists in the first chunk, one in the second, of msgpack.
        let texts = batches(&[b"\x92\xa2ab\xc0\x91\xa0", b"\x91\xa3cde"]);
        let read = |container: &dyn Container, of| Texts::of_batches(container, of, &ReadOptions::default());
        for of in [Of::Text, Of::Bytes] {
            let found = read(&*texts, of).unwrap();
            let all: Vec<&[u8]> = (0..found.len()).map(|number| found.get(number).unwrap()).collect();
            assert_eq!(all, [&b"ab"[..], b"", b"", b"cde"]);
            let missing: Vec<bool> = (0..4).map(|number| found.is_missing(number)).collect();
            assert_eq!(missing, [false, true, false, false]);
        }
        let bytes = batches(&[b"\x91\xc4\x02ab", b"\x91\xc4\x01\0"]);
        let found = read(&*bytes, Of::Bytes).unwrap();
        assert_eq!((found.get(0), found.get(1)), (Some(&b"ab"[..]), Some(&b"\0"[..])));
        assert_eq!(found.width(0..1, Of::Bytes).unwrap(), 2);
        // Elements of one length are padded with NUL.
        let error = found.width(0..2, Of::Bytes).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
        assert!(matches!(read(&*bytes, Of::Text).unwrap_err().kind(), ErrorKind::Malformed(_)));
        for other in [&b"\x91\x07"[..], b"\x81\xa1a\xa1b", b"\xa2ab"] {
            let wrong = batches(&[other, b"\x91\xa0"]);
            assert!(
                matches!(read(&*wrong, Of::Text).unwrap_err().kind(), ErrorKind::Malformed(_)),
                "{other:?}"
            );
        }
    }
}
