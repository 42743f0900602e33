//! The details that `info` shows of a frame, from its header, index, trailer and first chunk, or from all chunks where they are few.

use blosc_chunk::{Filter, SplitMode};
use container_codecs::checksum::Algorithm;
use container_core::Value;
use container_core::container::BLOCK_SHAPE;

use crate::absent_values::{Absence, Recipe};
use crate::b2nd::Meta;
use crate::chunk_stats::{ChunkSummary, SampledChunks, compressor_word};
use crate::dataset_view::{DatasetView, lens};
use crate::frame::Frame;
use crate::header::{ChunkSize, Header, Kind};
use crate::metadata::CHECKSUMS;
use crate::trailer::Trailer;

/// Containers of python-blosc2 that are frames, by the metalayer that marks them.
const CONTAINER_METALAYERS: [(&str, &str); 7] = [
    ("vlarray", "ObjectArray: a chunk for each object, as msgpack"),
    ("batcharray", "BatchArray: a chunk for each batch, as msgpack"),
    ("listarray", "ListArray"),
    ("b2embed", "EmbedStore"),
    ("proxy-source", "Proxy: the parts of another array that were fetched"),
    ("b2o", "an expression or function, which is shown but never run"),
    ("LazyArray", "an expression or function, which is shown but never run"),
];

/// Returns the details, in the order of the file.
pub(crate) fn details(
    view: &DatasetView,
    summary: &ChunkSummary,
    digests: Option<Algorithm>,
) -> Vec<(String, Value)> {
    let frame = view.frame();
    let header = frame.header();
    let mut list = List::default();
    list.add("kind", if header.kind == Kind::Sparse { "sparse" } else { "contiguous" });
    if let Some(Absence::Made(Recipe::Server)) = frame.absence() {
        list.add("holds", "a reference to an array on a server, which is shown but not followed");
    } else if let Some((_, what)) =
        CONTAINER_METALAYERS.iter().find(|(name, _)| frame.metalayers().get(name).is_some())
    {
        list.add("holds", *what);
    }
    if let DatasetView::Tensor(_, tensor) = view {
        list.add("holds", format!("a tensor of {}", tensor.kind));
    }
    if let Some(fetched) = frame.absence().and_then(Absence::fetched) {
        list.add("fetched", fetched.to_string());
    }
    add_shapes(view, &mut list);
    list.add("typesize", header.typesize);
    match header.chunksize {
        ChunkSize::Fixed(len) => list.add("chunk size", len),
        ChunkSize::Variable => list.add("chunk size", "different"),
        ChunkSize::Unset => list.add("chunk size", Value::Null),
    }
    if header.variable_blocks {
        list.add("block size", "different");
    } else if header.blocksize > 0 {
        list.add("block size", header.blocksize);
    }
    list.add("codec", compressor_word(header.compressor));
    list.add("level", header.level);
    let filters: Vec<Value> = header.filters.names().into_iter().map(Value::from).collect();
    list.add("filters", filters);
    list.add("split", split(header.split));
    if header.use_dictionary {
        list.add("dictionary", true);
    }
    add_chunks(frame, summary, &mut list);
    if frame.vlmetalayer_names().any(|name| name == CHECKSUMS) {
        let what = digests.map_or("none that matches: the frame was changed since", Algorithm::name);
        list.add("chunk checksums", what);
    }
    add_metadata(frame, &mut list);
    if let Some(told) = frame.absence().and_then(Absence::description) {
        list.add("values", told);
    }
    list.add("header", header_fields(header));
    let trailer = frame.layout().trailer_range();
    if !trailer.is_empty() {
        list.add(
            "trailer",
            trailer_fields(frame.layout().trailer(), trailer.end.saturating_sub(trailer.start)),
        );
    }
    if let DatasetView::Array(array) = view {
        list.add("b2nd", array_fields(array.meta()));
    }
    list.0
}

fn map(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Map(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Returns every field of the header by its name in the table of docs/formats/blosc2.md, flags taken apart.
fn header_fields(header: &Header) -> Value {
    let of_filters = |byte: fn(&Filter) -> u8| -> Vec<Value> {
        header.filters.0.iter().map(|filter| Value::from(byte(filter))).collect()
    };
    let chunksize = match header.chunksize {
        ChunkSize::Fixed(len) => i64::from(len),
        ChunkSize::Variable => 0,
        ChunkSize::Unset => -1,
    };
    let split = match header.split {
        SplitMode::Always => 0_u8,
        SplitMode::Never => 1,
        SplitMode::Auto => 2,
        SplitMode::ForwardCompat => 3,
    };
    map([
        ("header_len", header.header_len.into()),
        ("frame_len", header.frame_len.into()),
        ("version", header.version.into()),
        // Others are not read.
        ("offset_bits", 64_u8.into()),
        ("variable_chunks", header.variable_chunks.into()),
        ("variable_blocks", header.variable_blocks.into()),
        ("frame_type", u8::from(header.kind == Kind::Sparse).into()),
        ("codec", header.compressor.0.into()),
        ("level", header.level.into()),
        ("split", split.into()),
        ("nbytes", header.nbytes.into()),
        ("cbytes", header.cbytes.into()),
        ("typesize", header.typesize.into()),
        ("blocksize", header.blocksize.into()),
        ("chunksize", chunksize.into()),
        ("compress_threads", i64::from(header.threads.0).into()),
        ("decompress_threads", i64::from(header.threads.1).into()),
        ("vlmetalayers", header.has_vlmetalayers.into()),
        ("filters", of_filters(|filter| filter.id).into()),
        ("filters_meta", of_filters(|filter| filter.meta).into()),
        ("codec_meta", header.codec_meta.into()),
        ("dictionary", header.use_dictionary.into()),
    ])
}

/// Returns the fields of the trailer but its values, which are metadata.
fn trailer_fields(trailer: &Trailer, len: u64) -> Value {
    let fingerprint = trailer.fingerprint;
    map([
        // Others are not read.
        ("version", 1_u8.into()),
        ("trailer_len", len.into()),
        ("vlmetalayers", (trailer.vlmetalayers.len() as u64).into()),
        ("fingerprint_type", fingerprint.kind.into()),
        ("fingerprint", Value::Bytes(fingerprint.bytes.to_vec())),
    ])
}

/// Returns the fields of the metalayer of an array except its shapes, which are shown separately.
fn array_fields(meta: &Meta) -> Value {
    map([
        ("version", meta.version.into()),
        ("ndim", (meta.shape.len() as u64).into()),
        ("dtype_format", meta.dtype_format.map_or(Value::Null, Value::from)),
        ("dtype", meta.dtype.as_str().into()),
    ])
}

#[derive(Default)]
struct List(Vec<(String, Value)>);

impl List {
    fn add(&mut self, name: &str, value: impl Into<Value>) {
        self.0.push((name.to_owned(), value.into()));
    }
}

fn add_shapes(view: &DatasetView, list: &mut List) {
    let DatasetView::Array(array) = view else { return };
    let geometry = array.geometry();
    list.add("chunk shape", lens(geometry.chunkshape()));
    list.add(BLOCK_SHAPE, lens(geometry.blockshape()));
    list.add("blocks per chunk", geometry.blocks_per_chunk());
}

fn add_chunks(frame: &Frame, summary: &ChunkSummary, list: &mut List) {
    let header = frame.header();
    list.add("chunks", frame.chunk_count());
    if !summary.special.is_empty() {
        list.add("chunks of one value", summary.special.value());
    }
    let sampled = SampledChunks::new(frame);
    match &sampled {
        Some(sampled) if sampled.codecs.is_empty() => {}
        Some(sampled) => list.add("chunk codecs", sampled.codecs.value()),
        None => list.add("chunk codecs", Value::Null),
    }
    if let Some(blocks) = summary.blocks {
        list.add("blocks", blocks);
    }
    list.add("decoded bytes", header.nbytes);
    list.add("stored bytes", summary.stored);
    list.add("ratio", ratio(header.nbytes, summary.stored));
    if header.kind == Kind::Contiguous {
        list.add("dead bytes", sampled.map_or(Value::Null, |sampled| sampled.dead.into()));
    }
    let layout = frame.layout();
    let behind = layout.file_len().saturating_sub(layout.end());
    if behind > 0 {
        list.add("bytes after the frame", behind);
    }
}

fn add_metadata(frame: &Frame, list: &mut List) {
    let fixed: Vec<Value> = frame.metalayers().iter().map(|(name, _)| name.into()).collect();
    if !fixed.is_empty() {
        list.add("metalayers", fixed);
    }
    let user: Vec<Value> =
        frame.vlmetalayer_names().filter(|name| *name != CHECKSUMS).map(Value::from).collect();
    if !user.is_empty() {
        list.add("user metadata", user);
    }
    let fingerprint = frame.layout().trailer().fingerprint;
    if fingerprint.kind != 0 {
        list.add("fingerprint type", fingerprint.kind);
    }
}

const fn split(mode: SplitMode) -> &'static str {
    match mode {
        SplitMode::Always => "always",
        SplitMode::Never => "never",
        SplitMode::Auto => "auto",
        SplitMode::ForwardCompat => "forward compatible",
    }
}

/// Rounds to three digits after the point.
#[allow(clippy::cast_precision_loss, reason = "three digits are left of it")]
fn ratio(decoded: u64, stored: u64) -> f64 {
    (decoded as f64 / stored.max(1) as f64 * 1000.0).round() / 1000.0
}
