//! Chunks that python-blosc2 and python-blosc wrote (`tests/data/make.py`, `make_arrays.py`): whole, in parts, damaged.

use container_core::ErrorKind;

use super::*;

/// One byte of how many is tried, cut and changed, where not each is: under Miri, and on big-endian machines, which are emulated.
const SPARSE: Option<[usize; 3]> = if cfg!(miri) {
    Some([307, 211, 401])
} else if cfg!(target_endian = "big") {
    Some([97, 31, 41])
} else {
    None
};

struct Stored {
    name: &'static str,
    bytes: Vec<u8>,
    want: Vec<u8>,
    geometry: Geometry,
}

/// Makes the same bytes as `data` of `make.py`.
fn data(kind: &str, len: usize) -> Vec<u8> {
    let ints = |len: usize| -> Vec<u8> {
        let count = i32::try_from(len / 4 + 1).unwrap();
        (0..count).flat_map(|k| (k * k / 3).to_le_bytes()).take(len).collect()
    };
    match kind {
        "ints" => ints(len),
        "half" => [vec![0; len / 2], ints(len)].concat()[..len].to_vec(),
        "noise" => {
            let next = |state: &u32| Some(state.wrapping_mul(69069).wrapping_add(1));
            std::iter::successors(Some(69070), next)
                .map(|state: u32| state.to_be_bytes()[0])
                .take(len)
                .collect()
        }
        "text" => {
            let item = |k: usize| format!("{{\"id\": {k}, \"name\": \"item {}\"}}, ", k * k).into_bytes();
            (0..len / 20).flat_map(item).take(len).collect()
        }
        "nan32" => f32::from_bits(0x7FC0_0000).to_le_bytes().repeat(len / 4),
        "value" => (10..210).collect::<Vec<u8>>().repeat(5)[..len].to_vec(),
        "zeros" => vec![0; len],
        _ => panic!("no such data: {kind}"),
    }
}

/// Returns the lines that are tried. Miri takes some of those that are short, and whose codecs are of this crate.
fn tried(text: &'static str) -> impl Iterator<Item = &'static str> {
    let is_short = |line: &&str| line.len() < 1500 && !line.contains("zlib") && !line.contains("zstd");
    text.lines().filter(move |line| !cfg!(miri) || is_short(line)).step_by(if cfg!(miri) { 5 } else { 1 })
}

fn stored() -> Vec<Stored> {
    let alone = tried(include_str!("../../../tests/data/chunks.txt")).map(|line| {
        let fields: Vec<&'static str> = line.split('|').collect();
        let typesize = fields[3].parse().ok();
        Stored {
            name: fields[0],
            bytes: unhex(fields[4]),
            want: data(fields[1], fields[2].parse().unwrap()),
            geometry: Geometry { typesize, blockshape: Vec::new() },
        }
    });
    alone.chain(of_arrays().into_iter().filter(Stored::is_readable)).collect()
}

/// Returns those that do not decode without the shape of their blocks.
fn of_arrays() -> Vec<Stored> {
    tried(include_str!("../../../tests/data/arrays.txt"))
        .map(|line| {
            let fields: Vec<&'static str> = line.split('|').collect();
            let blockshape = fields[1].split(',').map(|side| side.parse().unwrap()).collect();
            Stored {
                name: fields[0],
                bytes: unhex(fields[3]),
                want: unhex(fields[4]),
                geometry: Geometry { typesize: fields[2].parse().ok(), blockshape },
            }
        })
        .collect()
}

impl Stored {
    /// Whether this build has the codec.
    fn is_readable(&self) -> bool {
        cfg!(feature = "zfp") || !self.is_zfp()
    }

    /// Whether it has streams of ZFP. Blocks that ZFP does not shrink are stored.
    fn is_zfp(&self) -> bool {
        self.name.contains("zfp") && !self.name.starts_with("copied") && !self.name.starts_with("runs")
    }

    /// Returns the step between tested bytes, where every byte is possible: blocks of arrays decode slowly, and many are alike.
    fn step(&self) -> usize {
        if self.geometry.blockshape.is_empty() { 1 } else { 11 }
    }

    fn chunk(&self) -> Chunk<'_> {
        Chunk::parse(&self.bytes).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    fn decoder(&self) -> Decoder {
        Decoder::new().with_geometry(self.geometry.clone())
    }
}

#[test]
fn they_decode_on_any_number_of_threads() {
    let mut kept = Decoder::new();
    for stored in stored() {
        kept = kept.with_geometry(stored.geometry.clone());
        for threads in [1, 2, 5] {
            let mut dst = vec![0xA5; stored.want.len()];
            kept.decode_parallel(&stored.chunk(), &mut dst, threads).unwrap();
            assert!(dst == stored.want, "{} on {threads}", stored.name);
        }
    }
}

#[test]
fn every_range_is_that_part_of_the_whole() {
    for stored in stored() {
        let (chunk, mut decoder) = (stored.chunk(), stored.decoder());
        let total = stored.want.len();
        // All starts with a few lengths, more sparsely where there is much.
        let step = SPARSE.map_or(stored.step() + total / 400, |[tried, ..]| tried);
        for start in (0..=total).step_by(step) {
            for len in [1, 4, 7, 64, 300, total] {
                let range = start..total.min(start + len);
                let mut dst = vec![0xA5; range.len()];
                decoder.decode_range(&chunk, range.clone(), &mut dst).unwrap();
                assert!(dst == stored.want[range.clone()], "{} {range:?}", stored.name);
            }
        }
        let mut dst = vec![0; 1];
        assert!(decoder.decode_range(&chunk, total..total + 1, &mut dst).is_err(), "{}", stored.name);
        assert!(decoder.decode_range(&chunk, 0..0, &mut dst).is_err(), "{}", stored.name);
    }
}

#[test]
fn blocks_decode_one_by_one_and_by_choice() {
    for stored in stored() {
        let (chunk, mut decoder) = (stored.chunk(), stored.decoder());
        let mut end = 0;
        for (index, block) in chunk.blocks().enumerate() {
            assert_eq!(block.start, end, "{}", stored.name);
            end = block.end;
            let mut dst = vec![0xA5; block.len()];
            decoder.decode_block(&chunk, index, &mut dst).unwrap();
            assert!(dst == stored.want[block], "{} block {index}", stored.name);
        }
        assert_eq!(end, stored.want.len(), "{}", stored.name);
        assert!(decoder.decode_block(&chunk, chunk.block_count(), &mut []).is_err());
        let mut dst = vec![0xA5; stored.want.len()];
        decoder.decode_blocks(&chunk, |index| index % 2 == 1, &mut dst).unwrap();
        for (index, block) in chunk.blocks().enumerate() {
            let is_right = if index % 2 == 1 {
                dst[block.clone()] == stored.want[block]
            } else {
                dst[block].iter().all(|byte| *byte == 0xA5)
            };
            assert!(is_right, "{} block {index}", stored.name);
        }
    }
}

#[test]
fn runs_of_a_block_are_those_parts_of_it() {
    let mut seed = 7;
    let mut kept = Decoder::new();
    for stored in stored() {
        let chunk = stored.chunk();
        kept = kept.with_geometry(stored.geometry.clone());
        let blocks = chunk.block_count();
        for (index, block) in
            chunk.blocks().enumerate().step_by(if SPARSE.is_some() { 11 } else { 1 + blocks / 40 })
        {
            for (count, most) in [(0, 0), (1, 50), (2, 9), (3, 1), (9, 40), (40, 3), (5, block.len())] {
                let runs = runs::runs_of(block.len(), count, most, &mut seed);
                let whole = &stored.want[block.clone()];
                let want: Vec<u8> = runs.iter().flat_map(|run| &whole[run.clone()]).copied().collect();
                let mut dst = vec![0xA5; want.len()];
                kept.decode_runs(&chunk, index, &runs, &mut dst).unwrap();
                assert!(dst == want, "{} block {index} {runs:?}", stored.name);
            }
        }
        let mut wrong = |index: usize, runs: &[Range<usize>], room: usize| {
            let error = kept.decode_runs(&chunk, index, runs, &mut vec![0; room]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{}: {error}", stored.name);
        };
        let len = chunk.block_len(0);
        wrong(blocks, &[0..1, 1..1], 1);
        if len > 2 {
            wrong(0, &[0..1, len..len + 1], 2);
            wrong(0, &[1..2, 0..1], 2);
            wrong(0, &[0..2, 1..2], 3);
            wrong(0, &[0..1, 2..2], 2);
        }
    }
}

#[test]
fn cut_chunks_are_refused_even_with_adjusted_cbytes() {
    for stored in stored() {
        for len in (0..stored.bytes.len()).step_by(SPARSE.map_or(stored.step(), |[_, cut, _]| cut)) {
            let error = Chunk::parse(&stored.bytes[..len]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{} at {len}: {error}", stored.name);
            // A shorter value is a value.
            if len < 16 || stored.name == "value" {
                continue;
            }
            let mut bytes = stored.bytes[..len].to_vec();
            bytes[12..16].copy_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
            assert!(decode_as(&stored, &bytes).is_err(), "{} at {len}", stored.name);
        }
    }
}

/// Decodes `bytes` in all ways; what comes out is as long as it is to be, or there is an error that stays within them.
fn decode_as(stored: &Stored, bytes: &[u8]) -> Result<()> {
    let look = |result: Result<()>| {
        if let Err(error) = &result
            && let Some(range) = error.range()
        {
            let is_truncated = matches!(error.kind(), ErrorKind::Truncated { .. });
            assert!(
                range.start <= range.end && range.start <= bytes.len() as u64,
                "{}: {error}",
                stored.name
            );
            assert!(is_truncated || range.end <= bytes.len() as u64 + 4, "{}: {error}", stored.name);
        }
        result
    };
    let chunk = match Chunk::parse(bytes) {
        Ok(chunk) => chunk,
        Err(error) => return look(Err(error)),
    };
    // A damaged length can ask for much.
    let limits = Limits::default().with_memory(1 << 20);
    let mut decoder = stored.decoder().with_limits(limits);
    let last = chunk.nbytes().saturating_sub(9)..chunk.nbytes();
    let part = look(decoder.decode_range(&chunk, last.clone(), &mut vec![0; last.len()]));
    let block = chunk.block_len(0);
    let runs = [0..block.min(3), block.max(5) - 2..block.max(5)];
    look(decoder.decode_runs(&chunk, 0, &runs, &mut vec![0; block.min(3) + 2])).ok();
    if chunk.nbytes() > 1 << 20 {
        return part;
    }
    let mut dst = vec![0; chunk.nbytes()];
    let whole = look(decoder.decode(&chunk, &mut dst));
    let on_two = look(decoder.decode_parallel(&chunk, &mut vec![0; chunk.nbytes()], 2));
    assert_eq!(whole.is_ok(), on_two.is_ok(), "{}", stored.name);
    // A part may be sound where the whole is not.
    if whole.is_ok() {
        let mut tail = vec![0; last.len()];
        decoder.decode_range(&chunk, last.clone(), &mut tail).unwrap();
        assert_eq!(tail, dst[last], "{}", stored.name);
    }
    whole
}

#[test]
fn a_flipped_byte_is_an_error_or_other_data_and_no_panic() {
    for stored in stored() {
        let mut bytes = stored.bytes.clone();
        let step = stored.step() + bytes.len() / 300;
        for at in (0..bytes.len()).step_by(SPARSE.map_or(step, |[.., changed]| changed)) {
            for flip in [0x01, 0x80, 0xff] {
                bytes[at] ^= flip;
                decode_as(&stored, &bytes).ok();
                bytes[at] ^= flip;
            }
        }
        decode_as(&stored, &bytes).unwrap();
    }
}

#[test]
fn zfp_needs_its_feature_and_the_shape_and_size_of_the_block() {
    let all = of_arrays();
    let with = |stored: &Stored, typesize, blockshape: &[usize]| {
        let mut dst = vec![0; stored.want.len()];
        let geometry = Geometry { typesize, blockshape: blockshape.to_vec() };
        Decoder::new().with_geometry(geometry).decode(&stored.chunk(), &mut dst)
    };
    for stored in all.iter().filter(|stored| stored.is_zfp()) {
        let Geometry { typesize, blockshape } = &stored.geometry;
        let error = with(stored, *typesize, &[]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{}: {error}", stored.name);
        if !cfg!(feature = "zfp") {
            assert!(error.to_string().contains("feature `zfp`"), "{error}");
            continue;
        }
        assert!(error.to_string().contains("shape"), "{error}");
        let items: usize = blockshape.iter().product();
        for shape in [&[items + 1][..], &[items, 2], &[1, 1, 1, 1, items], &[0, items], &[usize::MAX, 2]] {
            let error = with(stored, *typesize, shape).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{} {shape:?}: {error}", stored.name);
        }
        let error = with(stored, Some(12), blockshape).unwrap_err();
        assert!(error.to_string().contains("12-byte items"), "{}: {error}", stored.name);
    }
}
