//! Parts of encoded data.

use super::*;
use container_core::Limits;

fn decode_range(
    codec: &dyn Codec,
    src: &[u8],
    len: usize,
    range: Range<usize>,
    threads: usize,
) -> Result<Vec<u8>> {
    let limits = Limits::default();
    let encoded = Encoded {
        source: &src,
        range: 0..src.len() as u64,
        decoded_len: len as u64,
        limits: &limits,
        threads,
    };
    let mut dst = vec![0xAA; range.len()];
    codec.decode_range(&encoded, range.start as u64..range.end as u64, &mut dst).map(|()| dst)
}

#[test]
fn every_part_is_that_part_of_the_whole() {
    for_each_vector(|codec, encoded, data| {
        let len = data.len();
        for range in
            [0..len, 0..len / 2, len / 3..len, len / 2..len / 2, len / 2..len.min(len / 2 + 3), len..len]
        {
            let part = decode_range(codec, encoded, len, range.clone(), 2);
            assert!(part.is_ok_and(|part| part == data[range.clone()]), "{} {range:?}", codec.name());
        }
    });
}

#[test]
fn a_part_that_reaches_the_end_proves_it() {
    for_each_vector(|codec, encoded, data| {
        let len = data.len().min(1000);
        if len < 10 || codec.name() == "zstd" && data.len() > len {
            return;
        }
        for claimed in [data.len() + 1, data.len() - 1] {
            let part = decode_range(codec, encoded, claimed, claimed - 5..claimed, 1);
            assert!(
                matches!(part.unwrap_err().kind(), ErrorKind::Malformed(_)),
                "{} {claimed}",
                codec.name()
            );
        }
        let longer = [encoded, b"\0"].concat();
        let part = decode_range(codec, &longer, data.len(), data.len() - 5..data.len(), 1);
        assert!(matches!(part.unwrap_err().kind(), ErrorKind::Malformed(_)), "{}", codec.name());
    });
}

/// Decodes all of `src`; gives the bytes and the length of the longest piece.
fn in_pieces(codec: &dyn Codec, src: &[u8], len: usize) -> Result<(Vec<u8>, usize)> {
    let (limits, range) = (Limits::default(), 0..src.len() as u64);
    let encoded = Encoded { source: &src, range, decoded_len: len as u64, limits: &limits, threads: 2 };
    let (mut all, mut longest) = (Vec::new(), 0);
    codec.decode_in_pieces(&encoded, &mut |piece| {
        all.extend_from_slice(piece);
        longest = longest.max(piece.len());
        Ok(())
    })?;
    Ok((all, longest))
}

#[test]
fn pieces_are_the_whole() {
    for_each_vector(|codec, encoded, data| {
        let (all, _) = in_pieces(codec, encoded, data.len()).unwrap();
        assert!(all == data, "{}", codec.name());
        // Who takes them may end it.
        if !data.is_empty() {
            let (limits, range) = (Limits::default(), 0..encoded.len() as u64);
            let decoded_len = data.len() as u64;
            let encoded = Encoded { source: &encoded, range, decoded_len, limits: &limits, threads: 1 };
            let ended = codec.decode_in_pieces(&encoded, &mut |_| Err(Error::usage("enough")));
            assert!(matches!(ended.unwrap_err().kind(), ErrorKind::Usage(_)), "{}", codec.name());
        }
    });
    let data = noise(200_000);
    for_each_codec(|codec| {
        let (all, longest) = in_pieces(codec, &encode(codec, &data, None), data.len()).unwrap();
        assert!(all == data, "{}", codec.name());
        // A block of LZ4 is made at once.
        assert!(longest <= 64 << 10 || codec.name() == "lz4", "{}: {longest}", codec.name());
    });
}

/// For data that are cut, changed or of another length, pieces give the same result as one call.
#[test]
fn pieces_prove_the_whole() {
    for_each_vector(|codec, encoded, data| {
        let len = data.len();
        let mut damaged: Vec<(Vec<u8>, usize)> =
            vec![(encoded.to_vec(), len + 1), ([encoded, b"\0"].concat(), len)];
        if len > 0 {
            damaged.push((encoded.to_vec(), len - 1));
        }
        for at in (0..encoded.len()).step_by(encoded.len() / 9 + 1) {
            let mut changed = encoded.to_vec();
            changed[at] ^= 0x10;
            damaged.extend([(changed, len), (encoded[..at].to_vec(), len)]);
        }
        for (src, len) in damaged {
            let mut dst = vec![0; len];
            let whole = codec.decode(&src, &mut dst);
            let pieces = in_pieces(codec, &src, len);
            assert_eq!(whole.is_ok(), pieces.is_ok(), "{}: {whole:?}, {:?}", codec.name(), pieces.err());
            if let Ok((pieces, _)) = pieces {
                assert!(pieces == dst, "{}", codec.name());
            }
        }
    });
}

#[test]
fn a_part_that_does_not_fit_is_a_usage_error() {
    for_each_vector(|codec, encoded, data| {
        let past = decode_range(codec, encoded, data.len(), 0..data.len() + 1, 1);
        assert!(matches!(past.unwrap_err().kind(), ErrorKind::Usage(_)));
    });
}

/// From a stream that is cut or changed, a prefix decodes exactly as far as possible. A step too few shows here: the library fails within a
/// step that has made bytes.
#[test]
fn the_reach_is_the_longest_part_that_decodes() {
    let mut told = std::collections::BTreeSet::new();
    for_each_vector(|codec, encoded, data| {
        let reach = |src: &[u8], most: usize| {
            let (limits, range) = (Limits::default(), 0..src.len() as u64);
            let decoded_len = most as u64;
            codec.reach(&Encoded { source: &src, range, decoded_len, limits: &limits, threads: 1 })
        };
        let len = data.len();
        let Some(all) = reach(encoded, len + 1).unwrap() else { return };
        assert_eq!(all, len as u64, "{}", codec.name());
        assert_eq!(reach(encoded, len / 2).unwrap(), Some(len as u64 / 2), "{}", codec.name());
        told.insert(codec.name().to_owned());
        let mut damaged: Vec<Vec<u8>> =
            (0..encoded.len()).step_by(encoded.len() / 7 + 1).map(|at| encoded[..at].to_vec()).collect();
        for at in (0..encoded.len()).step_by(encoded.len() / 5 + 1) {
            let mut changed = encoded.to_vec();
            changed[at] ^= 0x10;
            damaged.push(changed);
        }
        for src in damaged {
            let most = 2 * len + 10;
            let Ok(Some(got)) = reach(&src, most) else { continue };
            let got = usize::try_from(got).unwrap();
            let part = |to: usize| decode_range(codec, &src, to + 1, 0..to, 1);
            assert!(got == 0 || part(got).is_ok(), "{} {got}", codec.name());
            assert!(got == most || part(got + 1).is_err(), "{} {got}", codec.name());
        }
    });
    let expected: &[&str] = &[
        #[cfg(feature = "bzip2")]
        "bzp2",
        #[cfg(feature = "xz")]
        "xz",
        #[cfg(feature = "zlib")]
        "zlib",
        #[cfg(feature = "zstd")]
        "zstd",
    ];
    assert!(told.iter().eq(expected), "{told:?}");
}

#[cfg(feature = "bzip2")]
mod bzip2_blocks {
    use super::*;

    fn data() -> Vec<u8> {
        noise(120_000).into_iter().chain(vec![7; 600_000]).chain(noise(110_000)).collect()
    }

    #[test]
    fn blocks_on_threads_are_the_same_bytes() {
        let data = data();
        let mut src = encode(&bzip2::Bzip2, &data, Some(1));
        // Two streams, the second with larger blocks.
        src.extend(encode(&bzip2::Bzip2, &data, None));
        let twice = [&data[..], &data].concat();
        let len = twice.len();
        for threads in [1, 2, 5] {
            for range in [0..len, 99_980..99_981, 300_000..len, 119_990..120_010, len - 1..len, 0..900_000] {
                let part = decode_range(&bzip2::Bzip2, &src, len, range.clone(), threads).unwrap();
                assert!(part == twice[range.clone()], "{range:?} on {threads}");
            }
        }
    }

    #[test]
    fn damage_and_wrong_lengths_are_found_on_threads() {
        let data = noise(220_000);
        let src = encode(&bzip2::Bzip2, &data, Some(1));
        let whole = |src: &[u8], len| decode_range(&bzip2::Bzip2, src, len, 0..len, 2);
        assert!(whole(&src, data.len()).unwrap() == data);
        for len in [data.len() - 1, data.len() + 1, data.len() * 2] {
            assert!(matches!(whole(&src, len).unwrap_err().kind(), ErrorKind::Malformed(_)), "{len}");
        }
        for at in [0, 3, 4, 9, 11, 1000, 150_000, src.len() - 12, src.len() - 5, src.len() - 2] {
            let mut changed = src.clone();
            changed[at] ^= 0x40;
            assert!(
                matches!(whole(&changed, data.len()).unwrap_err().kind(), ErrorKind::Malformed(_)),
                "{at}"
            );
        }
        for cut in [70_000, src.len() - 20, src.len() - 1] {
            assert!(
                matches!(whole(&src[..cut], data.len()).unwrap_err().kind(), ErrorKind::Malformed(_)),
                "{cut}"
            );
        }
        assert!(whole(&[&src[..], b"\0\0"].concat(), data.len()).is_err());
    }

    #[test]
    fn bzip2_block_magic_after_the_end_is_refused() {
        let data = noise(150_000);
        let mut src = encode(&bzip2::Bzip2, &data, Some(1));
        let end = src.len();
        src.extend([0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0, 0, 0, 0]);
        let error = decode_range(&bzip2::Bzip2, &src, data.len(), 0..data.len(), 2).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)));
        // Bytes after the range are not checked.
        let part = decode_range(&bzip2::Bzip2, &src, data.len(), 0..1000, 2).unwrap();
        assert!(part == data[..1000]);
        src.truncate(end);
        assert!(decode_range(&bzip2::Bzip2, &src, data.len(), 0..data.len(), 2).unwrap() == data);
    }
}
