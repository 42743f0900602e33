//! An open file of any element type: header, dimensions, values, trailer.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use container_codecs::lz4::Lz4;
use container_core::array::{Array, StoredArray};
use container_core::block::{Block, read_block};
use container_core::codec::Codecs;
use container_core::container::{OpenOptions, ReadOptions, Tolerance};
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use container_core::report::Severity;
use container_core::source::{Source, check_range, into_vec, open_path};
use container_core::{Error, OpenDataset, Result};

use crate::DATASET;
use crate::bits::Bits;
use crate::eltype::public_type;
use crate::encoding::{DetectedEncoding, Encoding, detect};
use crate::fault::Fault;
use crate::header::Header;
use crate::layout::{DeclaredEncoding, Layout};
use crate::leb128::Leb128;

/// The data segment, as a block of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSegment {
    range: Range<u64>,
    decoded_len: u64,
    encoding: Encoding,
}

impl DataSegment {
    /// Encoding of the elements.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }
}

impl Block for DataSegment {
    fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    fn decoded_len(&self) -> u64 {
        self.decoded_len
    }

    fn codec(&self) -> Option<&str> {
        self.encoding.codec()
    }
}

/// An open RawArray file.
///
/// Opening reads the header alone, whatever the size, except that encoded data (flag bit 1) are read once, to detect which of the two encodings they
/// have. A damaged file opens as long as its first 48 bytes are there; reading its values then reports the damage.
pub struct File {
    /// The path that it was opened at.
    path: Option<PathBuf>,
    source: Box<dyn Source>,
    layout: Layout,
    detected: DetectedEncoding,
    /// Number of bytes in memory that detection of the encoding needs, where that is over the limit.
    detection_limit: Option<u64>,
    codecs: Codecs,
    options: OpenOptions,
    decoded: OnceLock<Vec<u8>>,
}

impl File {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// `WrongFormat`, `Truncated` within the first 48 bytes, `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens the file at `path` with options.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let named = |error: Error| error.in_file(path.display().to_string());
        let source = open_path(path, options.access, &options.limits).map_err(named)?;
        let mut file = Self::from_source(source, options).map_err(named)?;
        file.path = Some(path.to_path_buf());
        Ok(file)
    }

    /// Opens a file in memory.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_source(Box::new(bytes), &OpenOptions::default())
    }

    /// Opens bytes from anywhere.
    ///
    /// # Errors
    /// `WrongFormat`, `Truncated` within the first 48 bytes, `Usage` for an unknown `assume_codec`, and those of the
    /// source.
    pub fn from_source(source: Box<dyn Source>, options: &OpenOptions) -> Result<Self> {
        let mut layout = Layout::parse(&source, &options.limits)?;
        if options.tolerance == Tolerance::Lenient {
            layout = layout.with_corrections();
        }
        let assumed = options.assume_codec.as_deref().map(|name| {
            Encoding::from_name(name)
                .ok_or_else(|| Error::usage(format!("RawArray has no encoding {name:?}")))
        });
        let (detected, detection_limit) = detect_encoding(&source, &layout, assumed.transpose()?, options)?;
        let mut codecs = Codecs::none();
        codecs.register(Lz4);
        codecs.register(Bits { order: layout.data_order() });
        if let Some(codec) = layout.dtype().and_then(Leb128::new) {
            codecs.register(codec);
        }
        Ok(Self {
            path: None,
            source,
            layout,
            detected,
            detection_limit,
            codecs,
            options: options.clone(),
            decoded: OnceLock::new(),
        })
    }

    /// The six words before the dimensions.
    #[must_use]
    pub fn header(&self) -> &Header {
        self.layout.header()
    }

    /// The dimensions; the first one varies fastest (column major). Empty for a scalar, and where they cannot be read.
    #[must_use]
    pub fn dims(&self) -> &[u64] {
        self.layout.dims()
    }

    /// Element type in the byte order of the file. Widths that have no name elsewhere (16-byte floats, 3-byte floats …) are
    /// opaque bytes; bit arrays are bools.
    ///
    /// # Errors
    /// `Unsupported` and `Malformed` where the codes make no type.
    pub fn dtype(&self) -> Result<DType> {
        let dtype = self.layout.dtype().map(public_type);
        dtype.ok_or_else(|| self.blocking().unwrap_or_else(|| Error::malformed("the elements have no type")))
    }

    /// Encoding of the elements.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.detected.encoding
    }

    /// The layout of the file.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The bytes of the file.
    #[must_use]
    pub fn source(&self) -> &dyn Source {
        &self.source
    }

    /// All faults and oddities that opening detects; errors first.
    #[must_use]
    pub fn faults(&self) -> Vec<&Fault> {
        let mut faults: Vec<&Fault> = self.layout.faults().iter().chain(&self.detected.faults).collect();
        faults.sort_by_key(|fault| std::cmp::Reverse(fault.severity()));
        faults
    }

    /// Number of elements.
    ///
    /// # Errors
    /// As [`File::read`].
    pub fn len(&self) -> Result<u64> {
        let count = self.layout.element_count();
        count.ok_or_else(|| self.blocking().unwrap_or_else(|| Error::malformed("the file has no dimensions")))
    }

    /// True for an array without elements.
    ///
    /// # Errors
    /// As [`File::len`].
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The values of `region`, column major, in the byte order of [`File::dtype`]: borrowed from memory or map where they are stored plainly, else
    /// copied. Encoded data are decoded once and kept.
    ///
    /// # Errors
    /// `Truncated`, `Malformed` or `Unsupported` for a damaged file, `Usage` for a region that does not fit, `Limit`, and those of the source.
    pub fn read(&self, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let cut = self.cut_short();
        let segment = if cut.is_none() { Some(self.segment()?) } else { None };
        let dtype = self.dtype()?;
        let dims = self.dims().to_vec();
        let Some(segment) = segment.filter(|segment| segment.encoding != Encoding::Plain) else {
            let stored = StoredArray { dtype, shape: dims, order: Order::F, data_at: self.layout.data_at() };
            let limits = self.options.limits.with_stop(options.limits.stop);
            let array = stored.read(&self.source, region, &limits, options.threads);
            // The wanted part may be there although the file is cut.
            return array.map_err(|error| match cut {
                Some(fault) if error.is_damage() => explain(fault),
                _ => error,
            });
        };
        Array::new(dtype, dims, Order::F, Cow::Borrowed(self.decoded(&segment, options)?))?.select(region)
    }

    /// The array, whose values are read by type and selection: `file.dataset()?.read::<f32>()?`.
    ///
    /// # Errors
    /// As [`File::dtype`].
    pub fn dataset(&self) -> Result<OpenDataset<'_>> {
        let read = |region: &Region, options: &ReadOptions| self.read(region, options);
        let dataset = OpenDataset::new(DATASET, self.dtype()?, self.dims(), read).within(self.options.limits);
        Ok(dataset.in_file(self.path.as_deref()))
    }

    /// All values; see [`File::read`].
    ///
    /// # Errors
    /// As [`File::read`].
    pub fn read_all(&self, options: &ReadOptions) -> Result<Array<'_>> {
        self.read(&Region::whole(self.dims()), options)
    }

    /// The bools of a file of them, as bytes, bits or LEB128. Any byte but 0 counts as true.
    ///
    /// # Errors
    /// As [`File::read`]; `Usage` for other elements.
    pub fn to_bools(&self, options: &ReadOptions) -> Result<Vec<bool>> {
        let array = self.read_all(options)?;
        if array.dtype().to_string() != "|b1" {
            return Err(Error::usage(format!("the elements are {}, not bools", array.dtype())));
        }
        let bytes = array.bytes(Order::F, &self.options.limits)?;
        let mut bools = Vec::new();
        let len = bytes.len() as u64;
        let refused = |_| Error::out_of_memory(len, self.options.limits.memory);
        bools.try_reserve_exact(self.options.limits.allocate(len)?).map_err(refused)?;
        bools.extend(bytes.iter().map(|byte| *byte != 0));
        Ok(bools)
    }

    /// Opens element `index` of an array of whole RawArray files: eltype 0, elbyte their length. The element is copied.
    ///
    /// # Errors
    /// As [`File::read`]; `Usage` for an absent element or elements that are not user-defined; `WrongFormat` when it is not a RawArray file.
    pub fn element_file(&self, index: u64) -> Result<Self> {
        if self.header().eltype != crate::Eltype::USER {
            return Err(Error::usage("only user-defined elements can be files"));
        }
        let segment = self.segment()?;
        let width = self.header().elbyte;
        if index >= self.len()? {
            return Err(Error::usage(format!("no element {index} (there are {})", self.len()?)));
        }
        let element = if segment.encoding == Encoding::Plain {
            let at = segment.range.start.saturating_add(index.saturating_mul(width));
            self.options.limits.allocate(width)?;
            into_vec(self.source.read(at..at.saturating_add(width))?, &self.options.limits)?
        } else {
            let decoded = self.decoded(&segment, &ReadOptions::default())?;
            into_vec(decoded.read(index * width..(index + 1) * width)?, &self.options.limits)?
        };
        Self::from_source(Box::new(element), &self.options)
    }

    /// Range of the trailer: the bytes after the data, which the description calls volatile metadata. Empty without a trailer, and where the end of
    /// the data is unknown.
    #[must_use]
    pub fn trailer_range(&self) -> Range<u64> {
        let found = self.faults().into_iter().find_map(|fault| match fault {
            Fault::TrailingBytes { range } => Some(range.clone()),
            _ => None,
        });
        found.unwrap_or(self.layout.file_len()..self.layout.file_len())
    }

    /// The trailer.
    ///
    /// # Errors
    /// `Limit` when it would have to be copied and is over the limit; those of the source.
    pub fn trailer(&self) -> Result<Cow<'_, [u8]>> {
        let range = self.trailer_range();
        if self.source.lend(range.clone()).is_none() {
            self.options.limits.allocate(range.end - range.start)?;
        }
        self.source.read(range)
    }

    /// The data segment as a block, where it can be read.
    ///
    /// # Errors
    /// The first error of a damaged file.
    pub fn segment(&self) -> Result<DataSegment> {
        self.check_detected()?;
        if let Some(error) = self.blocking() {
            return Err(error);
        }
        let decoded_len = self.layout.decoded_len();
        let decoded_len = decoded_len.ok_or_else(|| Error::malformed("the data have no known length"))?;
        let segment =
            DataSegment { range: self.detected.range.clone(), decoded_len, encoding: self.encoding() };
        check_range(&segment.range, self.source.len())?;
        Ok(segment)
    }

    /// Returns an error where the encoding could not be detected for lack of memory.
    pub(crate) fn check_detected(&self) -> Result<()> {
        let limits = &self.options.limits;
        let refused =
            |len| Error::limit("memory in bytes", len, limits.memory).with_range(self.layout.data());
        self.detection_limit.map_or(Ok(()), |len| Err(refused(len)))
    }

    pub(crate) fn codecs(&self) -> &Codecs {
        &self.codecs
    }

    pub(crate) fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// The fault of plain data that end early, if it is the only error.
    pub(crate) fn cut_short(&self) -> Option<&Fault> {
        let mut errors = self.faults().into_iter().filter(|fault| fault.severity() == Severity::Error);
        match (self.layout.form(), errors.next(), errors.next()) {
            (DeclaredEncoding::Plain, Some(fault @ Fault::DataTruncated { .. }), None) => Some(fault),
            _ => None,
        }
    }

    fn blocking(&self) -> Option<Error> {
        let lenient = self.options.tolerance == Tolerance::Lenient;
        let told = self.detected.faults.iter().find(|fault| {
            let meant = matches!(fault, Fault::SizeMismatch { .. } | Fault::FlagOnRawData);
            fault.severity() == Severity::Error && !(meant && lenient)
        });
        let fault = self.layout.blocking(self.options.tolerance).or(told)?;
        Some(explain(fault))
    }

    fn decoded(&self, segment: &DataSegment, options: &ReadOptions) -> Result<&[u8]> {
        if let Some(decoded) = self.decoded.get() {
            return Ok(decoded);
        }
        let limits = self.options.limits.with_stop(options.limits.stop);
        let decoded = read_block(&self.source, segment, &self.codecs, &limits, options.threads)?.into_owned();
        // Another thread may have been faster; both have the same bytes.
        Ok(self.decoded.get_or_init(|| decoded))
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File")
            .field("layout", &self.layout)
            .field("encoding", &self.detected.encoding)
            .finish()
    }
}

fn explain(fault: &Fault) -> Error {
    fault.error().with_hint("holdall repair FILE -o NEW recovers the intact data")
}

/// Detects the encoding of the data: fixed by the header, except for flag bit 1.
fn detect_encoding(
    source: &dyn Source,
    layout: &Layout,
    assumed: Option<Encoding>,
    options: &OpenOptions,
) -> Result<(DetectedEncoding, Option<u64>)> {
    let plain = |encoding| DetectedEncoding { encoding, range: layout.data(), faults: Vec::new() };
    match layout.form() {
        DeclaredEncoding::Plain => return Ok((plain(Encoding::Plain), None)),
        DeclaredEncoding::Bits => return Ok((plain(Encoding::Bits), None)),
        DeclaredEncoding::Encoded => {}
    }
    if layout.blocking(options.tolerance).is_some() || layout.decoded_len().is_none() {
        return Ok((plain(assumed.unwrap_or(Encoding::Lz4)), None));
    }
    let range = layout.data();
    let len = range.end - range.start;
    if source.lend(range.clone()).is_none() && options.limits.allocate(len).is_err() {
        return Ok((plain(assumed.unwrap_or(Encoding::Lz4)), Some(len)));
    }
    let mut told = detect(layout, &source.read(range)?, assumed);
    if options.tolerance == Tolerance::Lenient && told.faults.contains(&Fault::FlagOnRawData) {
        told.encoding = Encoding::Plain;
    }
    Ok((told, None))
}
