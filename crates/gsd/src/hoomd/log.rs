//! Logged quantities and the state of HPMC integrators: chunks of any type and shape.

use std::borrow::Cow;

use container_core::dtype::{ByteOrder, Element};
use container_core::source::into_vec;
use container_core::{Error, Result};

use crate::hoomd::read::FrameView;
use crate::index::IndexEntry;
use crate::{ChunkType, File};

/// A value of a log: an array of one or two axes, or text.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedValue<'a> {
    chunk_type: ChunkType,
    n: u64,
    m: u32,
    /// In this machine's byte order, row by row.
    bytes: Cow<'a, [u8]>,
}

impl<'a> LoggedValue<'a> {
    /// An array of `n` × `m` elements, row by row, in this machine's byte order. With one column it is read as one axis.
    ///
    /// # Errors
    /// `Usage` where the bytes are not as many, and for no columns.
    pub fn new(chunk_type: ChunkType, n: u64, m: u32, bytes: impl Into<Cow<'a, [u8]>>) -> Result<Self> {
        let bytes = bytes.into();
        let size = n.checked_mul(m.into()).and_then(|count| count.checked_mul(chunk_type.size()));
        if m == 0 || size != Some(bytes.len() as u64) {
            let problem = format!("{} bytes for {n} × {m} {}", bytes.len(), chunk_type.name());
            return Err(Error::usage(problem));
        }
        Ok(Self { chunk_type, n, m, bytes })
    }

    /// One axis of numbers, borrowed.
    ///
    /// # Errors
    /// `Usage` for element types that GSD lacks.
    pub fn array<T: Element>(values: &'a [T]) -> Result<Self> {
        Self::matrix(1, values)
    }

    /// Rows of `m` numbers, borrowed.
    ///
    /// # Errors
    /// `Usage` for element types that GSD lacks, for no columns and for values that fill no whole rows.
    pub fn matrix<T: Element>(m: u32, values: &'a [T]) -> Result<Self> {
        let chunk_type = ChunkType::from_dtype(&T::dtype())
            .ok_or_else(|| Error::usage(format!("GSD has no elements of {}", T::dtype())))?;
        let rows = (values.len() as u64).checked_div(m.into()).unwrap_or(0);
        Self::new(chunk_type, rows, m, bytemuck::cast_slice(values))
    }

    /// Text, UTF-8; file layer 2.1 and later.
    #[must_use]
    pub fn text(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        Self { chunk_type: ChunkType::Character, n: bytes.len() as u64, m: 1, bytes: Cow::Borrowed(bytes) }
    }

    /// The chunk of an entry.
    pub(crate) fn read(file: &'a File, entry: &IndexEntry) -> Result<Self> {
        let dtype = file.stored_array(entry)?.dtype;
        let chunk_type = entry.chunk_type().ok_or_else(|| Error::malformed("the chunk has no type"))?;
        let mut bytes = file.read_chunk(entry)?;
        if !dtype.is_in_order(ByteOrder::NATIVE) {
            let mut own = into_vec(bytes, &file.options().limits)?;
            dtype.swap_to(ByteOrder::NATIVE, &mut own)?;
            bytes = Cow::Owned(own);
        }
        Ok(Self { chunk_type, n: entry.n, m: entry.m, bytes })
    }

    /// Element type.
    #[must_use]
    pub fn chunk_type(&self) -> ChunkType {
        self.chunk_type
    }

    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (u64, u32) {
        (self.n, self.m)
    }

    /// The elements, row by row, in this machine's byte order; not aligned.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The elements, row by row: borrowed where they are aligned.
    ///
    /// # Errors
    /// `Usage` for another type; values are not converted.
    pub fn elements<T: Element>(&self) -> Result<Cow<'_, [T]>> {
        if ChunkType::from_dtype(&T::dtype()) != Some(self.chunk_type) {
            let problem = format!("the elements are {}, not {}", self.chunk_type.name(), T::dtype());
            return Err(Error::usage(problem));
        }
        Ok(match bytemuck::try_cast_slice(&self.bytes) {
            Ok(elements) => Cow::Borrowed(elements),
            Err(_) => Cow::Owned(bytemuck::pod_collect_to_vec(&self.bytes)),
        })
    }

    /// The elements as f64, row by row; integers of 64 bits are rounded to the nearest. `None` for text.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "said above")]
    pub fn to_f64(&self) -> Option<Vec<f64>> {
        fn wide<T: bytemuck::Pod>(bytes: &[u8], widen: impl Fn(T) -> f64) -> Vec<f64> {
            bytes.chunks_exact(size_of::<T>()).map(|one| widen(bytemuck::pod_read_unaligned(one))).collect()
        }
        Some(match self.chunk_type {
            ChunkType::Uint8 => wide(&self.bytes, |one: u8| one.into()),
            ChunkType::Uint16 => wide(&self.bytes, |one: u16| one.into()),
            ChunkType::Uint32 => wide(&self.bytes, |one: u32| one.into()),
            ChunkType::Uint64 => wide(&self.bytes, |one: u64| one as f64),
            ChunkType::Int8 => wide(&self.bytes, |one: i8| one.into()),
            ChunkType::Int16 => wide(&self.bytes, |one: i16| one.into()),
            ChunkType::Int32 => wide(&self.bytes, |one: i32| one.into()),
            ChunkType::Int64 => wide(&self.bytes, |one: i64| one as f64),
            ChunkType::Float => wide(&self.bytes, |one: f32| one.into()),
            ChunkType::Double => wide(&self.bytes, |one: f64| one),
            ChunkType::Character => return None,
        })
    }

    /// The one number of a scalar as f64; `None` for more or fewer, and for text.
    #[must_use]
    pub fn scalar(&self) -> Option<f64> {
        if (self.n, self.m) != (1, 1) {
            return None;
        }
        self.to_f64()?.first().copied()
    }

    /// The text, without NULs at its end.
    ///
    /// # Errors
    /// `Usage` for a type other than text, `Malformed` for invalid UTF-8.
    pub fn to_text(&self) -> Result<&str> {
        if self.chunk_type != ChunkType::Character {
            return Err(Error::usage(format!("the elements are {}, not text", self.chunk_type.name())));
        }
        let text = std::str::from_utf8(&self.bytes).map_err(|_| Error::malformed("the text is not UTF-8"))?;
        Ok(text.trim_end_matches('\0'))
    }

    /// The same, independent of what it borrows from.
    #[must_use]
    pub fn into_owned(self) -> LoggedValue<'static> {
        LoggedValue { bytes: Cow::Owned(self.bytes.into_owned()), ..self }
    }
}

macro_rules! scalars {
    ($($type:ty: $chunk_type:ident;)+) => {$(
        impl From<$type> for LoggedValue<'_> {
            fn from(value: $type) -> Self {
                let bytes = Cow::Owned(value.to_ne_bytes().to_vec());
                Self { chunk_type: ChunkType::$chunk_type, n: 1, m: 1, bytes }
            }
        }
    )+};
}

scalars! {
    u8: Uint8; u16: Uint16; u32: Uint32; u64: Uint64;
    i8: Int8; i16: Int16; i32: Int32; i64: Int64;
    f32: Float; f64: Double;
}

impl<'a> From<&'a str> for LoggedValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::text(text)
    }
}

/// Named values in the order in which they were given, which is that of their ids in a new file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log<'a> {
    values: Vec<(Cow<'a, str>, LoggedValue<'a>)>,
}

impl<'a> Log<'a> {
    /// Sets a value, in its old place where the name has one.
    pub fn insert(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<LoggedValue<'a>>) {
        let (name, value) = (name.into(), value.into());
        match self.values.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.values.push((name, value)),
        }
    }

    /// The value called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&LoggedValue<'a>> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &LoggedValue<'a>)> {
        self.values.iter().map(|(name, value)| (&**name, value))
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True without values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The same, independent of what it borrows from.
    #[must_use]
    pub fn into_owned(self) -> Log<'static> {
        let values = self.values.into_iter();
        let own = values.map(|(name, value)| (Cow::Owned(name.into_owned()), value.into_owned()));
        Log { values: own.collect() }
    }
}

impl<'t> FrameView<'t> {
    /// The value logged as `name`, without `log/`: the frame's, else frame 0's; `None` where neither has one.
    ///
    /// # Errors
    /// As [`File::read_chunk`].
    pub fn log(&self, name: &str) -> Result<Option<LoggedValue<'t>>> {
        let logs = self.core().logs();
        match logs.iter().find(|(_, known)| known == name) {
            Some((id, _)) => self.logged(*id, true),
            None => Ok(None),
        }
    }

    /// Everything that is logged in this frame, including values of frame 0 where the frame lacks them.
    ///
    /// # Errors
    /// As [`File::read_chunk`].
    pub fn logs(&self) -> Result<Log<'t>> {
        self.collect_logs(true)
    }

    /// Returns the logged quantities that this frame itself stores.
    ///
    /// # Errors
    /// As [`File::read_chunk`].
    pub fn stored_logs(&self) -> Result<Log<'t>> {
        self.collect_logs(false)
    }

    /// State of HPMC integrators, schema 1.2 to 1.4: the chunks `state/…` of this frame by the rest of their names. They are not
    /// inherited.
    ///
    /// # Errors
    /// As [`File::read_chunk`].
    pub fn state(&self) -> Result<Log<'t>> {
        let mut state = Log::default();
        let names = self.file().names();
        for entry in self.file().found_of_frame(self.index()) {
            let Some(Cow::Borrowed(name)) = names.get(entry.id) else { continue };
            if let Some(name) = name.strip_prefix("state/") {
                state.insert(name, LoggedValue::read(self.file(), &entry)?);
            }
        }
        Ok(state)
    }

    fn collect_logs(&self, inherited: bool) -> Result<Log<'t>> {
        let mut log = Log::default();
        for (id, name) in self.core().logs() {
            if let Some(value) = self.logged(*id, inherited)? {
                log.values.push((Cow::Borrowed(name), value));
            }
        }
        Ok(log)
    }

    fn logged(&self, id: u16, inherited: bool) -> Result<Option<LoggedValue<'t>>> {
        let file = self.file();
        let find = |frame, entries| {
            let entry = file.index().slice(entries).iter().find(|entry| entry.id == id);
            // Of several with one name the reference's search decides.
            entry.and_then(|_| file.find_id(frame, id))
        };
        let entry = find(self.index(), self.entries())
            .or_else(|| if inherited { find(0, self.core().initial.entries()) } else { None });
        let Some(entry) = entry else { return Ok(None) };
        let named = |error: Error| match file.names().get(id) {
            Some(name) => error.with_context(format!("gsd frame {} {name}", self.index())),
            None => error,
        };
        LoggedValue::read(file, &entry).map(Some).map_err(named)
    }
}

#[cfg(test)]
mod tests;
