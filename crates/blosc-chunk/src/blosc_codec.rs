//! A whole chunk as the encoded form of a block: for formats that hold Blosc chunks where others hold zlib or LZ4.

use container_core::codec::Codec;
use container_core::{Error, ErrorKind, Result};

use crate::{BloscVersion, Chunk, Compressor, Decoder, Encoder, Params, Pipeline, SplitMode};

/// Codec `blosc`: exactly one chunk of any version. Written with its parameters; the level of a call, 0 to 9, overrides theirs.
#[derive(Clone, Debug)]
pub struct BloscCodec(Params);

impl BloscCodec {
    /// Creates a codec that writes with `params`.
    ///
    /// # Errors
    /// As [`Encoder::new`].
    pub fn new(params: Params) -> Result<Self> {
        Encoder::new(params.clone())?;
        Ok(Self(params))
    }
}

impl Default for BloscCodec {
    /// Returns the defaults of C-Blosc, for readers of Blosc1: BloscLZ at level 5, byte shuffle of elements of 8 bytes, one
    /// thread.
    fn default() -> Self {
        Self(Params {
            blosc_version: BloscVersion::Blosc1,
            compressor: Compressor::BLOSCLZ,
            codec_meta: 0,
            level: 5,
            typesize: 8,
            filters: Pipeline::shuffle(),
            split: SplitMode::default(),
            blocksize: None,
            dictionary: false,
            threads: 1,
        })
    }
}

impl Codec for BloscCodec {
    fn name(&self) -> &str {
        "blosc"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let wrong = |problem: String| {
            Error::malformed(format!("blosc data do not decode to exactly {} bytes: {problem}", dst.len()))
        };
        let chunk = Chunk::parse(src).map_err(|error| match error.kind() {
            // Of the block, not of the file.
            ErrorKind::Truncated { need, have } => {
                wrong(format!("the chunk ends early: need {need} bytes, {have} present"))
            }
            _ => error,
        })?;
        if chunk.bytes().len() < src.len() {
            return Err(wrong(format!("the chunk ends at byte {} of {}", chunk.bytes().len(), src.len())));
        }
        if chunk.nbytes() != dst.len() {
            return Err(wrong(format!("the header declares {}", chunk.nbytes())));
        }
        Decoder::new().decode(&chunk, dst)
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        let mut params = self.0.clone();
        if let Some(level) = level {
            params.level = u8::try_from(level)
                .ok()
                .filter(|level| *level <= 9)
                .ok_or_else(|| Error::usage(format!("blosc has no level {level} (expected 0 to 9)")))?;
        }
        Encoder::new(params)?.encode(src, out)?;
        Ok(())
    }

    /// Returns the bound for stored data: a chunk that would be longer holds a copy of the data.
    fn max_encoded_len(&self, len: usize) -> usize {
        len.saturating_add(crate::Header::MAX_LEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By python-blosc 1.11.4: `blosc.compress(b"hello bloscpack")`.
    const HELLO: &[u8] = b"\x02\x01\x13\x08\x0f\0\0\0\x08\0\0\0\x1f\0\0\0hello bloscpack";

    #[test]
    fn a_chunk_is_all_there_is() {
        let codec = BloscCodec::default();
        let mut dst = [0; 15];
        codec.decode(HELLO, &mut dst).unwrap();
        assert_eq!(&dst, b"hello bloscpack");
        let longer = [HELLO, b"\0"].concat();
        for (src, len) in [(HELLO, 14), (HELLO, 16), (&HELLO[..30], 15), (&HELLO[..0], 0), (&longer, 15)] {
            let error = codec.decode(src, &mut vec![0; len]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
        }
    }

    #[test]
    fn levels_and_parameters_are_used() {
        let data: Vec<u8> = (0..4000_u32).flat_map(u32::to_le_bytes).collect();
        let params = Params { typesize: 4, ..BloscCodec::default().0 };
        let codec = BloscCodec::new(params.clone()).unwrap();
        let mut lens = Vec::new();
        for level in [Some(0), Some(9), None] {
            let mut out = b"before".to_vec();
            codec.encode(&data, level, &mut out).unwrap();
            let mut back = vec![0; data.len()];
            codec.decode(&out[6..], &mut back).unwrap();
            assert_eq!(back, data);
            assert!(out.len() - 6 <= codec.max_encoded_len(data.len()));
            lens.push(out.len() - 6);
        }
        assert_eq!(lens[0], data.len() + 16);
        assert!(lens[1] < data.len() / 8 && lens[2] < data.len() / 8, "{lens:?}");
        assert!(matches!(
            codec.encode(&data, Some(10), &mut Vec::new()).unwrap_err().kind(),
            ErrorKind::Usage(_)
        ));
        assert!(BloscCodec::new(Params { level: 10, ..params }).is_err());
    }
}
