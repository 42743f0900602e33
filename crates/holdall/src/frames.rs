//! ASDF with the codecs of blocks that hold Blosc2 frames: its own crate does not know another format.

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
    #[allow(unused_mut)]
    let mut codecs = asdf::compression::codecs();
    #[cfg(feature = "blosc2")]
    frame::register(&mut codecs);
    codecs
}

#[cfg(feature = "blosc2")]
mod frame {
    use blosc2_frame::Frame;
    use container_core::codec::{Codec, Codecs};
    use container_core::container::ReadOptions;
    use container_core::{Error, ErrorKind, Result};

    /// Where a contiguous frame says that it is one.
    const MAGIC_AT: std::ops::Range<usize> = 2..9;

    /// A block that is a contiguous Blosc2 frame, or, as some writers use the label, what the codec of that name knew before.
    struct BlockFrame {
        label: &'static str,
        /// The codecs that were there before.
        others: Codecs,
    }

    pub(super) fn register(codecs: &mut Codecs) {
        for label in ["bls2", "bsc2"] {
            let others = codecs.clone();
            codecs.register(BlockFrame { label, others });
        }
    }

    impl Codec for BlockFrame {
        fn name(&self) -> &str {
            self.label
        }

        fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
            if src.get(MAGIC_AT) != Some(b"b2frame")
                && let Ok(other) = self.others.get(self.label)
            {
                return other.decode(src, dst);
            }
            let frame = Frame::from_bytes(src.to_vec()).map_err(without_place)?;
            let len = frame.data_len();
            if len != dst.len() as u64 {
                let problem = format!("a Blosc2 frame of {len} bytes in the place of {}", dst.len());
                return Err(Error::malformed(problem));
            }
            frame.read_into(0..len, dst, &ReadOptions::default()).map_err(without_place)
        }

        fn encode(&self, _src: &[u8], _level: Option<i32>, _out: &mut Vec<u8>) -> Result<()> {
            Err(Error::unsupported("blocks are not written as Blosc2 frames"))
        }

        fn max_encoded_len(&self, len: usize) -> usize {
            len
        }
    }

    /// Ranges within the frame are none of the file.
    fn without_place(error: Error) -> Error {
        let context = error.what().map(ToOwned::to_owned);
        let error = match error.kind() {
            ErrorKind::WrongFormat { .. } => Error::malformed("a block that is no Blosc2 frame"),
            _ => Error::new(error.into_kind()),
        };
        match context {
            Some(context) => error.context(context),
            None => error,
        }
    }
}
