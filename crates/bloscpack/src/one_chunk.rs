//! Single chunks, without a file around them.

use blosc_chunk::{Chunk, Decoder, Encoder};
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result};

use crate::write::ChunkOptions;

/// Encodes bytes as one chunk of Blosc1. No digest follows it.
///
/// # Errors
/// `Usage` for a level over 9, and for more than [`crate::MAX_CHUNK_SIZE`] bytes.
pub fn encode_chunk(bytes: &[u8], options: &ChunkOptions) -> Result<Vec<u8>> {
    let mut chunk = Vec::new();
    Encoder::new(options.params()?)?.encode(bytes, &mut chunk)?;
    Ok(chunk)
}

/// Decodes the chunk at the start of `bytes`.
///
/// # Errors
/// `Truncated`, `Malformed`, `Unsupported`; `Limit` for one that holds more than the limits allow.
pub fn decode_chunk(bytes: &[u8], limits: &Limits) -> Result<Vec<u8>> {
    let decoded = Chunk::parse(bytes).and_then(|chunk| {
        let mut decoded = try_zeroed_vec(chunk.header().nbytes.into(), limits)?;
        Decoder::new().with_limits(*limits).decode(&chunk, &mut decoded)?;
        Ok(decoded)
    });
    decoded.map_err(|error: Error| error.with_context("bloscpack chunk"))
}

#[cfg(test)]
mod tests {
    use container_core::ErrorKind;

    use super::*;

    #[test]
    fn a_chunk_comes_back_and_a_cut_one_is_an_error() {
        let bytes: Vec<u8> = (0..5000_u32).flat_map(u32::to_le_bytes).collect();
        let options = ChunkOptions::default().with_typesize(4);
        let chunk = encode_chunk(&bytes, &options).unwrap();
        assert!(chunk.len() < bytes.len() / 4);
        assert_eq!(decode_chunk(&chunk, &Limits::default()).unwrap(), bytes);
        let cut = decode_chunk(&chunk[..100], &Limits::default()).unwrap_err();
        assert!(matches!(cut.kind(), ErrorKind::Truncated { .. }), "{cut}");
        let small = Limits::default().with_memory(1000);
        assert!(matches!(decode_chunk(&chunk, &small).unwrap_err().kind(), ErrorKind::Limit { .. }));
    }
}
