//! ASDF with codecs for blocks that hold Blosc2 frames, which its own crate cannot depend on.

use container_core::codec::Codecs;
use container_core::format::Format;

/// ASDF in the table of formats, with the codecs `bls2` and `bsc2` for frames.
pub(crate) static ASDF: Format = Format {
    open: |input, options| asdf::open(input, options, codecs()),
    repair: Some(|input, options, out, progress| asdf::repair_with(input, options, &codecs(), out, progress)),
    ..asdf::FORMAT
};

/// The codecs of blocks that this build has.
fn codecs() -> Codecs {
    #[cfg(feature = "blosc2")]
    return asdf::compression::codecs_with_frames(&(std::sync::Arc::new(frame::BlockFrame) as _));
    #[cfg(not(feature = "blosc2"))]
    asdf::compression::codecs()
}

#[cfg(feature = "blosc2")]
mod frame {
    use std::ops::Range;

    use blosc2_frame::{Frame, OpenOptions};
    use container_core::codec::{Codec, Encoded, Take, decode_by_range};
    use container_core::container::ReadOptions;
    use container_core::source::{into_vec, try_zeroed_vec};
    use container_core::{Error, ErrorKind, Result};

    /// A block that is a contiguous Blosc2 frame.
    pub(super) struct BlockFrame;

    impl Codec for BlockFrame {
        fn name(&self) -> &str {
            "frame"
        }

        fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
            decode_by_range(self, src, dst)
        }

        /// Decodes the Blosc blocks that hold the range.
        fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
            encoded.check(&range, dst)?;
            open(encoded)?.read_into(range, dst, &reading(encoded)).map_err(without_place)
        }

        fn decode_in_pieces(&self, encoded: &Encoded<'_>, take: &mut Take<'_>) -> Result<()> {
            let frame = open(encoded)?;
            let most = encoded.piece_len();
            let mut piece = try_zeroed_vec(most.min(encoded.decoded_len), encoded.limits)?;
            let mut at = 0;
            while at < encoded.decoded_len {
                let end = at.saturating_add(most).min(encoded.decoded_len);
                let len = usize::try_from(end - at).unwrap_or(usize::MAX);
                let piece = piece.get_mut(..len).unwrap_or_default();
                frame.read_into(at..end, piece, &reading(encoded)).map_err(without_place)?;
                take(piece)?;
                at = end;
            }
            Ok(())
        }

        fn encode(&self, _src: &[u8], _level: Option<i32>, _out: &mut Vec<u8>) -> Result<()> {
            Err(Error::unsupported("blocks are not written as Blosc2 frames"))
        }

        fn max_encoded_len(&self, len: usize) -> usize {
            len
        }
    }

    /// The frame, which holds as much as the block is to.
    fn open(encoded: &Encoded<'_>) -> Result<Frame> {
        let mut options = OpenOptions::default();
        options.limits = *encoded.limits;
        let bytes = into_vec(encoded.bytes()?, encoded.limits)?;
        let frame = Frame::from_source(Box::new(bytes), 0, &options).map_err(without_place)?;
        let (len, want) = (frame.data_len(), encoded.decoded_len);
        if len != want {
            return Err(Error::malformed(format!("a Blosc2 frame of {len} bytes (expected {want})")));
        }
        Ok(frame)
    }

    fn reading(encoded: &Encoded<'_>) -> ReadOptions {
        ReadOptions::default().with_limits(*encoded.limits).with_threads(encoded.threads)
    }

    /// Drops ranges within the frame, which are not ranges of the file.
    fn without_place(error: Error) -> Error {
        let context = error.context().map(ToOwned::to_owned);
        let error = match error.kind() {
            ErrorKind::WrongFormat { .. } => Error::malformed("a block that is not a Blosc2 frame"),
            _ => Error::new(error.into_kind()),
        };
        match context {
            Some(context) => error.with_context(context),
            None => error,
        }
    }
}
