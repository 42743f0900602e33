//! Frames of any content are read as they were written.

use blosc2_frame::blosc_chunk::{Compressor, Filter, Pipeline, SplitMode};
use blosc2_frame::{ChunkSize, Fingerprint, Header, Kind, Metalayers, Trailer};
use proptest::collection::vec;
use proptest::prelude::*;

fn header() -> impl Strategy<Value = Header> {
    let sizes = (any::<u32>(), any::<u64>(), 0..=i64::MAX as u64, 0..=i64::MAX as u64);
    let lens = (any::<u32>(), any::<u32>(), 0..=i32::MAX.unsigned_abs());
    let flags = any::<(bool, bool, bool, bool, bool)>();
    let codec = (prop_oneof![Just(0_u8), Just(1), Just(2), Just(4), Just(5), 32..=255_u8], 0..10_u8, 0..4_u8);
    let filters = (any::<[u8; 6]>(), any::<[u8; 6]>(), any::<u8>(), any::<(i16, i16)>(), 1..=3_u8);
    (sizes, lens, flags, codec, filters).prop_map(|(sizes, lens, flags, codec, filters)| Header {
        header_len: sizes.0,
        frame_len: sizes.1,
        version: filters.4,
        variable_chunks: flags.0,
        variable_blocks: flags.1,
        kind: if flags.2 { Kind::Sparse } else { Kind::Contiguous },
        compressor: Compressor(codec.0),
        level: codec.1,
        split: [SplitMode::Always, SplitMode::Never, SplitMode::Auto, SplitMode::ForwardCompat]
            [usize::from(codec.2)],
        nbytes: sizes.2,
        cbytes: sizes.3,
        typesize: lens.0,
        blocksize: lens.1,
        chunksize: match (lens.2, flags.3) {
            (_, true) => ChunkSize::Unset,
            (0, false) => ChunkSize::Variable,
            (len, false) => ChunkSize::Fixed(len),
        },
        threads: filters.3,
        has_vlmetalayers: flags.4,
        filters: Pipeline(std::array::from_fn(|at| Filter::new(filters.0[at], filters.1[at]))),
        codec_meta: filters.2,
        use_dictionary: flags.0 != flags.1,
    })
}

proptest! {
    #[test]
    fn headers(header in header()) {
        let bytes = header.encode();
        prop_assert_eq!(bytes.len(), 87);
        prop_assert_eq!(Header::parse(&bytes).unwrap(), header);
    }

    #[test]
    fn metalayers(values in vec(("[a-zé]{1,12}", vec(any::<u8>(), 0..40)), 0..16)) {
        let mut all = Metalayers::new();
        for (name, value) in values {
            all.set(&name, value).unwrap();
        }
        let bytes = all.encode();
        prop_assert_eq!(Metalayers::parse(&bytes, 87).unwrap(), all);
    }

    #[test]
    fn trailers(
        vlmetalayers in vec((".{0,40}", vec(any::<u8>(), 0..40)), 0..20),
        kind in any::<u8>(),
        bytes in any::<[u8; 16]>(),
    ) {
        let trailer = Trailer { vlmetalayers, fingerprint: Fingerprint { kind, bytes } };
        let bytes = trailer.encode();
        prop_assert_eq!(Trailer::parse(&bytes, 1000).unwrap(), trailer);
    }
}
