//! The container adapter of an open file, and its entry in the table of formats.

use container_core::array::{Array, StoredArray};
use container_core::block::Block;
use container_core::container::{
    About, Axes, CheckDepth, Container, Dataset, FileStructure, Interchange, OpenOptions, ReadOptions,
    Segment, Visibility,
};
use container_core::dtype::{ByteOrder, DType, Kind, Order};
use container_core::format::{Format, Input, Level, Probe, Support};
use container_core::interchange;
use container_core::interchange::WHOLE;
use container_core::region::Region;
use container_core::report::{Loss, Report};
use container_core::{Error, Progress, Result, Value};

use crate::eltype::describe;
use crate::file::{DataSegment, File};
use crate::header::{Eltype, MAGIC, MAGIC_REVERSED};
use crate::{DATASET, Encoding, TRAILER, append, check, import, repair, trailer};

const ALL: Level = Level::Yes;

/// RawArray in a table of formats.
pub const FORMAT: Format = Format {
    extensions: &["ra"],
    order: Some(Order::F),
    support: &[
        Support { version: "plain, little-endian", read: ALL, write: ALL, verify: ALL, repair: ALL },
        Support {
            version: "big-endian data (flag bit 0)",
            read: ALL,
            write: Level::Partly,
            verify: ALL,
            repair: ALL,
        },
        Support { version: "big-endian header", read: ALL, write: Level::Partly, verify: ALL, repair: ALL },
        Support { version: "LZ4 (C)", read: ALL, write: ALL, verify: ALL, repair: Level::Partly },
        Support { version: "LEB128 (Julia)", read: ALL, write: ALL, verify: ALL, repair: Level::Partly },
        Support { version: "bit arrays (Julia)", read: ALL, write: ALL, verify: ALL, repair: ALL },
    ],
    magics: &[&MAGIC, &MAGIC_REVERSED],
    opens_by_head: true,
    codecs: import::CODECS,
    options: import::OPTIONS,
    import: Some(import::import),
    comparable_metadata: Some(comparable_metadata),
    change_metadata: Some(append::change_metadata),
    repair: Some(repair::repair_to),
    append: Some(append::append),
    ..Format::new(
        "rawarray",
        "RawArray",
        |probe: &Probe<'_>| probe.head.starts_with(&MAGIC) || probe.head.starts_with(&MAGIC_REVERSED),
        |input: Input, options: &OpenOptions| Ok(Box::new(RawArrayContainer::new(input, options)?)),
    )
};

/// Types that numpy has and RawArray does not are opaque in targets, with their code under the format's own key.
fn comparable_metadata(source: Value, written: Value) -> (Value, Value) {
    let written = match source.get(FORMAT.name) {
        None => interchange::remove_key(written, FORMAT.name),
        Some(_) => written,
    };
    (source, written)
}

/// A longer trailer is not shown among the metadata; it is read as a dataset.
const MAX_SHOWN_TRAILER_LEN: u64 = 1 << 20;

/// An open file as a container.
struct RawArrayContainer {
    file: File,
    segment: Option<DataSegment>,
    datasets: Vec<Dataset>,
}

impl RawArrayContainer {
    fn new(input: Input, options: &OpenOptions) -> Result<Self> {
        let file = File::from_source(input.into_source()?, options)?;
        let segment = file.segment().ok();
        let datasets = datasets(&file, segment.as_ref());
        Ok(Self { file, segment, datasets })
    }
}

impl Container for RawArrayContainer {
    fn about(&self) -> About {
        let (header, layout) = (self.file.header(), self.file.layout());
        let word = |order: ByteOrder| if order == ByteOrder::Big { "big" } else { "little" };
        let details = [
            ("element", Value::from(describe(header))),
            ("dims", self.file.dims().iter().map(|dim| Value::from(*dim)).collect::<Vec<_>>().into()),
            ("flags", header.flags.0.into()),
            ("eltype", header.eltype.0.into()),
            ("elbyte", header.elbyte.into()),
            ("size", header.size.into()),
            ("ndims", header.ndims.into()),
            ("header byte order", word(header.byte_order).into()),
            ("data byte order", word(layout.data_order()).into()),
            ("encoding", self.file.encoding().name().into()),
            ("trailer bytes", (self.file.trailer_range().end - self.file.trailer_range().start).into()),
        ];
        About {
            format: FORMAT.name,
            version: None,
            size: layout.file_len(),
            complete: !self.file.faults().iter().any(|fault| {
                matches!(fault, crate::Fault::DimsTruncated { .. } | crate::Fault::DataTruncated { .. })
            }),
            details: details.map(|(name, value)| (name.to_owned(), value)).into(),
        }
    }

    fn meta(&self) -> Result<Value> {
        let dims = self.file.dims().iter().map(|dim| Value::from(*dim)).collect::<Vec<_>>();
        let mut entries =
            vec![("element".into(), describe(self.file.header()).into()), ("dims".into(), dims.into())];
        let trailer = self.file.trailer_range();
        let len = trailer.end - trailer.start;
        if len > MAX_SHOWN_TRAILER_LEN {
            entries.push((TRAILER.into(), format!("{len} bytes, too many to show here").into()));
        } else if len > 0 {
            let bytes = self.file.trailer()?.into_owned();
            let trailer = String::from_utf8(bytes).map_or_else(|bad| bad.into_bytes().into(), Value::from);
            entries.push((TRAILER.into(), trailer));
        }
        Ok(Value::Map(entries))
    }

    /// The metadata with a trailer that is a JSON object as its entries, independent of its spelling.
    fn logical_meta(&self) -> Result<Value> {
        let mut meta = self.meta()?;
        let Value::Map(entries) = &mut meta else { return Ok(meta) };
        let range = self.file.trailer_range();
        if (1..=trailer::MAX_TRAILER_LEN).contains(&(range.end - range.start))
            && let Value::Map(said) = trailer::to_tree(self.file.trailer()?.into_owned())
        {
            entries.retain(|(key, _)| key != TRAILER);
            let said = match &said[..] {
                [] => None,
                [(key, whole)] if key == WHOLE => Some(whole.clone()),
                _ => Some(Value::Map(said)),
            };
            entries.extend(said.map(|said| (TRAILER.to_owned(), said)));
        }
        Ok(meta)
    }

    fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let dataset = self.datasets.get(index).ok_or_else(|| Error::usage(format!("no dataset {index}")))?;
        if dataset.path == TRAILER {
            let range = self.file.trailer_range();
            let dtype = DType::native(Kind::Uint, 1);
            let stored =
                StoredArray { dtype, shape: dataset.shape.clone(), order: Order::C, data_at: range.start };
            let limits = self.file.options().limits.with_stop(options.limits.stop);
            return stored.read(self.file.source(), region, &limits, options.threads);
        }
        if self.file.options().axes == Axes::AsStored {
            return self.file.read(region, options);
        }
        Ok(self.file.read(&region.reversed(self.file.dims())?, options)?.reversed_axes())
    }
}

impl FileStructure for RawArrayContainer {
    fn blocks(&self) -> Vec<&dyn Block> {
        self.segment.iter().map(|segment| segment as &dyn Block).collect()
    }

    fn byte_map(&self) -> Vec<Segment> {
        check::segments(&self.file)
    }

    fn check(&self, depth: CheckDepth, options: &ReadOptions, progress: Progress<'_>) -> Result<Report> {
        check::check(&self.file, depth, options, progress)
    }
}

impl Interchange for RawArrayContainer {
    fn losses(&self) -> Vec<Loss> {
        let trailer = self.file.trailer_range();
        let mut losses = Vec::new();
        if !trailer.is_empty() {
            let what = format!("trailer of {} bytes", trailer.end - trailer.start);
            losses.push(Loss { dataset: None, what });
        }
        if self.file.header().eltype == Eltype::USER && self.file.layout().data_order() == ByteOrder::Big {
            let what = "the byte order of the user-defined elements (big-endian)".to_owned();
            losses.push(Loss { dataset: Some(DATASET.to_owned()), what });
        }
        losses
    }

    fn export_metadata(&self, selection: &[(usize, Region)]) -> Result<Value> {
        let range = self.file.trailer_range();
        let is_selected = selection
            .iter()
            .any(|(index, _)| self.datasets.get(*index).is_some_and(|dataset| dataset.path == TRAILER));
        let mut tree = match range.end - range.start {
            0 => Value::Map(Vec::new()),
            _ if is_selected => Value::Map(Vec::new()),
            len if len > trailer::MAX_TRAILER_LEN => Value::Map(Vec::new()),
            _ => trailer::to_tree(self.file.trailer()?.into_owned()),
        };
        if let (Value::Map(entries), Some(own)) = (&mut tree, import::own_type(&self.datasets, selection)) {
            entries.retain(|(key, _)| key != import::OWN);
            entries.push((import::OWN.to_owned(), own));
        }
        Ok(tree)
    }

    fn unexported_metadata(&self, _selection: &[(usize, Region)]) -> Vec<Loss> {
        let trailer = self.file.trailer_range();
        let len = trailer.end - trailer.start;
        let long = (len > trailer::MAX_TRAILER_LEN)
            .then(|| Loss { dataset: None, what: format!("trailer of {len} bytes, too long for metadata") });
        long.into_iter().collect()
    }
}

/// The array, and the trailer where there is one.
fn datasets(file: &File, segment: Option<&DataSegment>) -> Vec<Dataset> {
    let header = file.header();
    let mut datasets = Vec::new();
    if let (Ok(dtype), Ok(_)) = (file.dtype(), file.len()) {
        let stored = segment.map_or(file.layout().data(), Block::range);
        let (shape, order) = match file.options().axes {
            Axes::AsStored => (file.dims().to_vec(), Order::F),
            Axes::Reversed => (file.dims().iter().rev().copied().collect(), Order::C),
        };
        // The byte order of user records cannot be changed, only recorded.
        let opaque_big = header.eltype == Eltype::USER && file.layout().data_order() == ByteOrder::Big;
        let mut attributes = vec![
            ("eltype".to_owned(), Value::from(header.eltype.0)),
            ("element".to_owned(), describe(header).into()),
        ];
        if opaque_big {
            attributes.push(("byte_order".to_owned(), "big".into()));
        }
        datasets.push(Dataset {
            path: DATASET.to_owned(),
            dtype,
            shape,
            order,
            chunks: None,
            codec: file.encoding().name().to_owned(),
            stored: stored.end - stored.start,
            logical: file.layout().decoded_len().unwrap_or(0),
            attributes,
            visibility: Visibility::Always,
        });
    }
    let trailer = file.trailer_range();
    if !trailer.is_empty() {
        let len = trailer.end - trailer.start;
        datasets.push(Dataset {
            path: TRAILER.to_owned(),
            dtype: DType::native(Kind::Uint, 1),
            shape: vec![len],
            order: Order::C,
            chunks: None,
            codec: Encoding::Plain.name().to_owned(),
            stored: len,
            logical: len,
            attributes: Vec::new(),
            visibility: Visibility::Recursive,
        });
    }
    datasets
}
