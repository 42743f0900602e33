//! The header of a new frame.

use blosc_chunk::{BatchEncoder, Params, Plugins};
use container_core::{Error, ErrorKind, Result};

use super::{ChunkSizes, SizeChange, chunk_size};
use crate::b2nd;
use crate::header::{BARE_LEN, ChunkSize, Header};
use crate::metalayer::Metalayers;
use crate::options::FrameOptions;

/// Makes sizes what a chunk needs them to be.
pub(crate) fn apply_size_change(sizes: &mut ChunkSizes, fit: SizeChange) {
    match fit {
        SizeChange::Unchanged => {}
        SizeChange::Sets(size) => sizes.chunksize = ChunkSize::Fixed(size),
        SizeChange::BecomesVariable => sizes.chunksize = ChunkSize::Variable,
    }
}

/// Writes the size of chunks into a header, and the version that readers need for it.
pub(crate) fn set_chunksize(header: &mut Header, chunksize: ChunkSize) {
    header.chunksize = chunksize;
    header.variable_chunks = chunksize == ChunkSize::Variable;
    if header.variable_chunks || header.variable_blocks {
        header.version = header.version.max(3);
    }
}

pub(crate) fn mixed_blocks_error() -> Error {
    Error::usage("chunks with blocks of different lengths and regular chunks cannot be in one frame")
}

/// Lengths are signed 64-bit numbers.
pub(crate) fn check_total(len: u64) -> Result<()> {
    match i64::try_from(len) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::usage("a frame of more than 2^63 bytes")),
    }
}

/// Properties that the decoder and the encoder of a frame's chunks need.
pub(crate) fn geometry(header: &Header, metalayers: &Metalayers) -> blosc_chunk::Geometry {
    let meta = metalayers.get(b2nd::NAME).or_else(|| metalayers.get(b2nd::OLD_NAME));
    let meta = meta.and_then(|bytes| b2nd::Meta::parse(bytes).ok());
    blosc_chunk::Geometry {
        typesize: usize::try_from(header.typesize).ok(),
        blockshape: meta.map_or_else(Vec::new, |meta| {
            meta.blockshape.iter().map(|len| usize::try_from(*len).unwrap_or(usize::MAX)).collect()
        }),
    }
}

/// Creates the encoders for the chunks of a frame. A missing codec is an error only when there is something to encode: chunks may only
/// be copied.
///
/// # Errors
/// `Usage` for parameters that do not fit each other.
pub(crate) fn frame_encoder(
    params: Params,
    geometry: blosc_chunk::Geometry,
    plugins: Plugins,
) -> Result<BatchEncoder> {
    let mut encoder = BatchEncoder::new(params, geometry, plugins);
    match encoder.encoder() {
        Err(error) if !matches!(error.kind(), ErrorKind::Unsupported(_)) => Err(error),
        _ => Ok(encoder),
    }
}

/// Encoders with other parameters, for the same frame.
pub(crate) fn encoder_with(encoder: &BatchEncoder, params: Params, typesize: u32) -> Result<BatchEncoder> {
    if params.typesize as u64 != u64::from(typesize) {
        let problem = format!("elements of {} bytes in a frame of elements of {typesize}", params.typesize);
        return Err(Error::usage(problem));
    }
    frame_encoder(params, encoder.geometry().clone(), encoder.plugins().clone())
}

/// Bytes of a header with `metalayers`.
pub(crate) fn header_len(metalayers: &Metalayers) -> Result<u32> {
    let len = crate::header::FIXED_LEN.saturating_add(metalayers.encode().len());
    match u32::try_from(len).ok().filter(|len| i32::try_from(*len).is_ok()) {
        Some(len) => Ok(len.max(BARE_LEN)),
        None => Err(Error::usage("metalayers of more than 2 GiB")),
    }
}

/// Returns the header of an empty frame, with its lengths still unset.
pub(crate) fn new_header(options: &FrameOptions) -> Result<Header> {
    let params = &options.params;
    let number = |value: usize| u32::try_from(value).map_err(|_| Error::usage(format!("{value} bytes")));
    if params.level > 9 {
        return Err(Error::usage(format!("no level {} (expected 0 to 9)", params.level)));
    }
    let chunksize = match options.chunksize {
        Some(0) => return Err(Error::usage("chunks of no bytes")),
        Some(len) if len as usize > chunk_size::MAX_CHUNK_LEN => {
            let problem = format!("chunks of {len} bytes (expected at most {})", chunk_size::MAX_CHUNK_LEN);
            return Err(Error::usage(problem));
        }
        Some(len) => ChunkSize::Fixed(len),
        None => ChunkSize::Unset,
    };
    Ok(Header {
        header_len: header_len(&options.metalayers)?,
        frame_len: 0,
        version: 2,
        variable_chunks: false,
        variable_blocks: false,
        kind: options.kind,
        compressor: params.compressor,
        level: params.level,
        split: params.split,
        nbytes: 0,
        cbytes: 0,
        typesize: number(params.typesize)?,
        blocksize: number(params.blocksize.unwrap_or(0))?,
        chunksize,
        threads: (1, 1),
        has_vlmetalayers: false,
        filters: params.filters,
        codec_meta: params.codec_meta,
        use_dictionary: params.dictionary,
    })
}
