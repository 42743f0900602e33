//! Blosc chunks that are written and read again, with any parameters.

use blosc_chunk::{
    BloscVersion, Chunk, Compressor, Decoder, Encoder, Filter, Geometry, Header, Params, Pipeline, SplitMode,
};
use container_core::ErrorKind;

use crate::feed::Feed;

/// Encodes chunks, decodes them whole and in part, and checks that the encoded bytes are the same every time.
pub fn blosc_chunk_roundtrip(data: &[u8]) {
    let mut feed = Feed::new(data);
    let params = params(&mut feed);
    let shape: Vec<usize> = (0..feed.below(4)).map(|_| 1 + feed.below(12)).collect();
    let typesize = (params.typesize <= 255).then_some(params.typesize);
    let geometry = Geometry { typesize, blockshape: shape };
    let mut encoder = match Encoder::new(params.clone()) {
        Ok(encoder) => encoder.with_geometry(geometry.clone()),
        Err(error) => return refused(&error),
    };
    let values = values(params.typesize, &mut feed);
    let case = Case { params: &params, geometry: &geometry, values: &values };
    let mut out = b"before".to_vec();
    match encoder.encode(&values, &mut out) {
        Ok(len) => {
            assert_eq!(len, out.len() - 6);
            assert!(len <= encoder.max_encoded_len(values.len()));
            case.reads_back(&out[6..], &mut feed);
        }
        Err(error) => {
            refused(&error);
            assert_eq!(out, b"before");
        }
    }
    case.same_again(&mut encoder, &out);
    case.cut(&mut encoder, &mut feed);
}

fn refused(error: &container_core::Error) {
    assert!(matches!(error.kind(), ErrorKind::Usage(_) | ErrorKind::Unsupported(_)), "{error}");
}

fn params(feed: &mut Feed<'_>) -> Params {
    let blosc_version = feed.one_of(&[BloscVersion::Blosc1, BloscVersion::Blosc2, BloscVersion::Blosc2]);
    let codecs = [
        Compressor::BLOSCLZ,
        Compressor::LZ4,
        Compressor::LZ4HC,
        Compressor::ZLIB,
        Compressor::ZSTD,
        Compressor::BLOSCLZ,
        Compressor::LZ4,
        Compressor::SNAPPY,
    ];
    let compressor = feed.one_of(&codecs);
    // The highest levels of zstd take their time.
    let level = feed.byte() % if compressor == Compressor::ZSTD { 8 } else { 11 };
    let typesize = match feed.below(4) {
        0 => 1 + feed.below(300),
        _ => feed.one_of(&[1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 32, 255, 256]),
    };
    let filters = filters(blosc_version, feed);
    let split =
        feed.one_of(&[SplitMode::Always, SplitMode::Never, SplitMode::Auto, SplitMode::ForwardCompat]);
    let blocksize = match feed.below(3) {
        0 => None,
        1 => Some(feed.below(300)),
        _ => Some((1 + feed.below(64)) * 64),
    };
    let dictionary = feed.below(4) == 1;
    Params {
        blosc_version,
        compressor,
        codec_meta: 0,
        level,
        typesize,
        filters,
        split,
        blocksize,
        dictionary,
        threads: feed.threads(),
    }
}

fn filters(blosc_version: BloscVersion, feed: &mut Feed<'_>) -> Pipeline {
    if blosc_version == BloscVersion::Blosc1 && feed.below(8) > 0 {
        return feed.one_of(&[Pipeline::none(), Pipeline::shuffle(), Pipeline::bitshuffle()]);
    }
    let ids = [
        Filter::SHUFFLE,
        Filter::BITSHUFFLE,
        Filter::DELTA,
        Filter::BYTEDELTA,
        Filter::SHUFFLE,
        Filter::BYTEDELTA,
        Filter::DELTA,
        Filter::TRUNC_PREC,
        Filter::INT_TRUNC,
        Filter::NDCELL,
        Filter::NDMEAN,
        Filter::BYTEDELTA_BUGGY,
        99,
    ];
    let mut pipeline = Pipeline::none();
    let first = 6 - feed.below(4);
    for slot in &mut pipeline.0[first..] {
        let meta = if feed.flag() { 0 } else { feed.byte() >> feed.below(8) };
        // What is refused is rare.
        let known = if feed.below(8) == 1 { ids.len() } else { 7 };
        *slot = Filter::new(feed.one_of(&ids[..known]), meta);
    }
    pipeline
}

/// Noise, runs, and what is alike.
fn values(typesize: usize, feed: &mut Feed<'_>) -> Vec<u8> {
    let len = match feed.below(4) {
        0 => feed.below(200),
        1 => typesize * feed.below(400),
        2 => feed.below(1 << 13),
        _ => feed.below(1 << 14),
    };
    match feed.below(5) {
        0 => vec![feed.byte(); len],
        1 => {
            let element = feed.fill(typesize);
            element.iter().copied().cycle().take(len).collect()
        }
        2 => {
            let step = feed.byte();
            (0..len).map(|at| ((at / typesize) as u8).wrapping_mul(step) ^ (at % typesize) as u8).collect()
        }
        3 => {
            let mut values = vec![0; len];
            let patch = feed.fill(len.min(20));
            let at = feed.below(len + 1).min(len - patch.len());
            values[at..at + patch.len()].copy_from_slice(&patch);
            values
        }
        _ => feed.fill(len),
    }
}

struct Case<'c> {
    params: &'c Params,
    geometry: &'c Geometry,
    values: &'c [u8],
}

impl Case<'_> {
    fn decoder(&self) -> Decoder {
        Decoder::new().with_geometry(self.geometry.clone())
    }

    fn reads_back(&self, bytes: &[u8], feed: &mut Feed<'_>) {
        let chunk = Chunk::parse(bytes).expect("what was encoded");
        let header = chunk.header();
        assert_eq!((chunk.bytes().len(), chunk.nbytes()), (bytes.len(), self.values.len()));
        self.header(header);
        let mut decoder = self.decoder();
        let mut whole = vec![0xa5; self.values.len()];
        decoder.decode(&chunk, &mut whole).expect("what was encoded");
        let keeps = !self.params.filters.is_lossy();
        assert!(!keeps || whole == self.values, "{:?}", self.params);
        let mut parallel = vec![0x5a; whole.len()];
        decoder.decode_parallel(&chunk, &mut parallel, self.params.threads).expect("what was encoded");
        assert!(parallel == whole);
        for _ in 0..4 {
            let start = feed.word() as usize % (whole.len() + 1);
            let end = start + feed.word() as usize % (whole.len() - start + 1);
            let mut part = vec![0xa5; end - start];
            decoder.decode_range(&chunk, start..end, &mut part).expect("a part of what was encoded");
            assert!(part == whole[start..end], "{start}..{end} {:?}", self.params);
        }
    }

    fn header(&self, header: &Header) {
        let Params { blosc_version, typesize, filters, compressor, .. } = *self.params;
        assert_eq!(header.len(), blosc_version.header_len());
        assert_eq!(header.is_blosc1(), blosc_version == BloscVersion::Blosc1);
        assert_eq!(header.version, if header.is_blosc1() { 2 } else { 5 });
        assert_eq!(usize::from(header.typesize), if typesize > 255 { 1 } else { typesize });
        assert!(header.block_len() as usize <= self.values.len() || self.values.is_empty());
        if header.is_blosc1() {
            assert!(header.flags & 0x08 == 0 && header.special().is_none());
        }
        if header.is_memcpyed() || header.special().is_some() {
            return;
        }
        assert_eq!(header.compressor.format(), compressor.format());
        if header.is_split() {
            assert!(header.block_len().is_multiple_of(header.typesize.into()));
            assert_ne!(self.params.split, SplitMode::Never);
        }
        if !header.is_blosc1() {
            assert_eq!(header.filters.names().len(), filters.names().len());
        }
    }

    /// Neither what the encoder did before nor the number of threads shows.
    fn same_again(&self, encoder: &mut Encoder, out: &[u8]) {
        let mut again = b"before".to_vec();
        for threads in [1, self.params.threads] {
            encoder.set_threads(threads);
            again.truncate(6);
            let _ = encoder.encode(self.values, &mut again);
            assert!(again == out, "{threads} threads");
        }
        let fresh = Encoder::new(self.params.clone())
            .expect("it was made before")
            .with_geometry(self.geometry.clone());
        again.truncate(6);
        let _ = { fresh }.encode(self.values, &mut again);
        assert!(again == out, "a fresh encoder");
    }

    /// The same in blocks of any length.
    fn cut(&self, encoder: &mut Encoder, feed: &mut Feed<'_>) {
        let mut blocks = Vec::new();
        let mut rest = self.values;
        while !rest.is_empty() && blocks.len() < 40 {
            let (block, after) = rest.split_at(1 + feed.word() as usize % rest.len());
            blocks.push(block);
            rest = after;
        }
        let mut out = b"before".to_vec();
        if let Err(error) = encoder.encode_blocks(&blocks, &mut out) {
            refused(&error);
            assert_eq!(out, b"before");
            return;
        }
        let chunk = Chunk::parse(&out[6..]).expect("what was encoded");
        assert!(chunk.header().has_variable_blocks());
        assert_eq!(chunk.block_count(), blocks.len());
        let mut decoder = self.decoder();
        let mut whole = vec![0; chunk.nbytes()];
        decoder.decode(&chunk, &mut whole).expect("what was encoded");
        assert!(self.params.filters.is_lossy() || whole == blocks.concat());
        for (index, range) in chunk.blocks().enumerate() {
            assert_eq!(range.len(), blocks[index].len());
            let mut block = vec![0xa5; range.len()];
            decoder.decode_block(&chunk, index, &mut block).expect("a block of what was encoded");
            assert!(block == whole[range]);
        }
    }
}
