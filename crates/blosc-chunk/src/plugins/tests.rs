//! Chunks with a codec and a filter of the user's own, as python-blosc2 writes them (`tests/data/make_plugins.py`).

use container_core::ErrorKind;

use super::*;
use crate::{BloscVersion, Chunk, Compressor, Decoder, Encoder, Filter, Params, Pipeline, SplitMode};

/// Runs as a count and a byte.
struct Runs {
    version: u8,
}

impl CodecPlugin for Runs {
    fn id(&self) -> u8 {
        200
    }

    fn name(&self) -> &'static str {
        "runs"
    }

    fn version(&self) -> u8 {
        self.version
    }

    fn decode(&self, src: &[u8], cx: &PluginContext<'_>, dst: &mut [u8]) -> Result<()> {
        let mut bytes =
            src.chunks_exact(2).flat_map(|run| std::iter::repeat_n(run[1] ^ cx.meta, run[0].into()));
        for (at, byte) in dst.iter_mut().enumerate() {
            *byte = bytes.next().ok_or_else(|| {
                Error::malformed(format!("runs end at byte {at}")).with_range(2..src.len() as u64)
            })?;
        }
        Ok(())
    }

    fn encode(&self, src: &[u8], cx: &PluginContext<'_>, level: u8, dst: &mut [u8]) -> Result<Option<usize>> {
        assert_eq!(level, 5);
        let mut out = Vec::new();
        for run in src.chunk_by(|one, other| one == other).flat_map(|run| run.chunks(255)) {
            out.extend([u8::try_from(run.len()).unwrap(), run[0] ^ cx.meta]);
        }
        let room = dst.get_mut(..out.len());
        Ok(room.map(|room| room.copy_from_slice(&out)).map(|()| out.len()))
    }
}

/// Adds a ramp.
struct Ramp;

fn ramp(meta: u8) -> impl Iterator<Item = u8> {
    std::iter::successors(Some(0_u8), move |byte| Some(byte.wrapping_add(meta)))
}

impl FilterPlugin for Ramp {
    fn id(&self) -> u8 {
        201
    }

    fn name(&self) -> &'static str {
        "ramp"
    }

    fn forward(&self, src: &[u8], cx: &PluginContext<'_>, dst: &mut [u8]) -> Result<()> {
        for ((to, from), ramp) in dst.iter_mut().zip(src).zip(ramp(cx.meta)) {
            *to = from.wrapping_add(ramp);
        }
        Ok(())
    }

    fn backward(&self, src: &[u8], cx: &PluginContext<'_>, dst: &mut [u8]) -> Result<()> {
        for ((to, from), ramp) in dst.iter_mut().zip(src).zip(ramp(cx.meta)) {
            *to = from.wrapping_sub(ramp);
        }
        Ok(())
    }
}

fn plugins() -> Plugins {
    let mut plugins = Plugins::new();
    plugins.register_codec(Runs { version: 3 }).unwrap();
    plugins.register_filter(Ramp).unwrap();
    plugins
}

fn decoder() -> Decoder {
    Decoder::new().with_plugins(plugins())
}

fn data(kind: &str) -> Vec<u8> {
    match kind {
        "steps" => (0..300_u32).flat_map(|k| (k / 16).to_le_bytes()).collect(),
        "slope" => (0..300_i32).map(|k| (100 - 7 * k + k / 50).to_le_bytes()[0]).collect(),
        "marks" => (200..215).collect::<Vec<u8>>().repeat(20),
        _ => panic!("no such data: {kind}"),
    }
}

/// One line of the file.
struct Case {
    name: &'static str,
    params: Params,
    data: Vec<u8>,
    chunk: Vec<u8>,
}

fn cases() -> Vec<Case> {
    let lines = include_str!("../../tests/data/plugins.txt").lines();
    lines.map(|line| Case::parse(&line.split('|').collect::<Vec<_>>())).collect()
}

impl Case {
    fn parse(fields: &[&'static str]) -> Self {
        let bytes = |at: usize| fields[at].split(',').map(|byte| byte.parse::<u8>().unwrap());
        let mut filters = Pipeline::none();
        for (slot, (id, meta)) in filters.0.iter_mut().zip(bytes(4).zip(bytes(5))) {
            *slot = Filter::new(id, meta);
        }
        let chunk = fields[6].as_bytes().chunks(2).map(|hex| std::str::from_utf8(hex).unwrap());
        let chunk: Vec<u8> = chunk.map(|hex| u8::from_str_radix(hex, 16).unwrap()).collect();
        let params = Params {
            blosc_version: BloscVersion::Blosc2,
            compressor: Compressor(200),
            codec_meta: 0x5A,
            level: 5,
            typesize: fields[2].parse().unwrap(),
            filters,
            split: if chunk[2] & 0x10 == 0 { SplitMode::Always } else { SplitMode::Never },
            blocksize: fields[3].parse().ok().filter(|size| *size > 0),
            dictionary: false,
            threads: 1,
        };
        Self { name: fields[0], params, data: data(fields[1]), chunk }
    }
}

#[test]
fn chunks_of_c_blosc2_decode_with_plugins_whole_and_in_part() {
    let cases = cases();
    assert_eq!(cases.len(), 6);
    let mut decoder = decoder();
    for Case { name, data, chunk, .. } in &cases {
        let chunk = Chunk::parse(chunk).unwrap();
        assert!(chunk.header().special().is_none() && !chunk.header().is_memcpyed(), "{name}");
        let mut dst = vec![0xA5; data.len()];
        decoder.decode(&chunk, &mut dst).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(&dst, data, "{name}");
        for from in (0..data.len()).step_by(7) {
            for to in [from + 1, from + 5, from + 130, data.len()].map(|to| to.min(data.len())) {
                let mut part = vec![0xA5; to - from];
                decoder.decode_range(&chunk, from..to, &mut part).unwrap();
                assert_eq!(part, data[from..to], "{name}: {from}..{to}");
            }
        }
        for (index, range) in chunk.blocks().enumerate() {
            let mut block = vec![0xA5; range.len()];
            decoder.decode_block(&chunk, index, &mut block).unwrap();
            assert_eq!(block, data[range], "{name}");
        }
        let mut dst = vec![0xA5; data.len()];
        decoder.decode_parallel(&chunk, &mut dst, 3).unwrap();
        assert_eq!(&dst, data, "{name}");
    }
}

/// Byte for byte, so C-Blosc2 reads ours.
#[test]
fn chunks_are_those_of_c_blosc2() {
    for Case { name, params, data, chunk } in cases() {
        for threads in [1, 3] {
            let params = Params { threads, ..params.clone() };
            let mut out = Vec::new();
            Encoder::new_with_plugins(params, plugins()).unwrap().encode(&data, &mut out).unwrap();
            assert_eq!(out, chunk, "{name}");
        }
    }
}

/// C-Blosc2 3.3.5 makes a chunk of zeros of this one, which is lost.
#[test]
fn data_that_a_filter_turns_into_zeros_round_trips() {
    let data: Vec<u8> = ramp(0_u8.wrapping_sub(7)).take(1024).collect();
    let mut filters = Pipeline::none();
    filters.0[0] = Filter::new(201, 7);
    let params = Params { filters, typesize: 1, ..cases().remove(0).params };
    let mut out = Vec::new();
    let mut encoder = Encoder::new_with_plugins(params, plugins()).unwrap();
    encoder.encode(&data, &mut out).unwrap();
    let chunk = Chunk::parse(&out).unwrap();
    assert_eq!(chunk.header().special(), None);
    // One stream of no bytes.
    assert_eq!(out.len(), 32 + 4 + 4);
    let mut dst = vec![0xA5; data.len()];
    decoder().decode(&chunk, &mut dst).unwrap();
    assert_eq!(dst, data);
    // Zeros are stored without filters.
    out.clear();
    encoder.encode(&[0; 1024], &mut out).unwrap();
    assert_eq!(Chunk::parse(&out).unwrap().header().special(), Some(crate::Special::Zeros));
    assert_eq!((out.len(), out[1]), (32, 1));
}

/// Clears the low bits of each byte: a filter of users that is lossy.
struct Coarse;

impl FilterPlugin for Coarse {
    fn id(&self) -> u8 {
        202
    }

    fn name(&self) -> &'static str {
        "coarse"
    }

    fn forward(&self, src: &[u8], _: &PluginContext<'_>, dst: &mut [u8]) -> Result<()> {
        dst.iter_mut().zip(src).for_each(|(to, from)| *to = from & 0xf0);
        Ok(())
    }

    fn backward(&self, src: &[u8], _: &PluginContext<'_>, dst: &mut [u8]) -> Result<()> {
        dst.copy_from_slice(src);
        Ok(())
    }
}

/// Readers reverse differences with the block 0 that they decode, not with the original one.
#[test]
fn differences_after_a_lossy_plugin_refer_to_what_readers_see() {
    let mut plugins = Plugins::new();
    plugins.register_filter(Coarse).unwrap();
    let mut filters = Pipeline::parse_words(&["delta", "shuffle"]).unwrap();
    filters.0[0] = Filter::new(202, 0);
    let params = Params {
        filters,
        compressor: Compressor::LZ4,
        codec_meta: 0,
        typesize: 4,
        blocksize: Some(400),
        ..cases().remove(0).params
    };
    let data = data("steps");
    let mut out = Vec::new();
    Encoder::new_with_plugins(params, plugins.clone()).unwrap().encode(&data, &mut out).unwrap();
    let chunk = Chunk::parse(&out).unwrap();
    assert!(!chunk.header().is_memcpyed() && chunk.block_count() == 3);
    let mut dst = vec![0xA5; data.len()];
    Decoder::new().with_plugins(plugins).decode(&chunk, &mut dst).unwrap();
    assert_eq!(dst, data.iter().map(|byte| byte & 0xf0).collect::<Vec<u8>>());
}

#[test]
fn blocks_that_the_caller_cuts_go_through_plugins() {
    let mut filters = Pipeline::none();
    filters.0[5] = Filter::new(201, 7);
    let params = Params { filters, typesize: 1, ..cases().remove(0).params };
    let data = data("slope");
    let mut out = Vec::new();
    let blocks = [&data[..100], &data[100..101], &data[101..]];
    Encoder::new_with_plugins(params, plugins()).unwrap().encode_blocks(&blocks, &mut out).unwrap();
    let chunk = Chunk::parse(&out).unwrap();
    assert_eq!((chunk.header().versionlz, chunk.header().codec_meta), (3, 0x5A));
    let mut dst = vec![0xA5; data.len()];
    decoder().decode(&chunk, &mut dst).unwrap();
    assert_eq!(dst, data);
}

fn unsupported(mut decoder: Decoder, chunk: &[u8], says: &str) {
    let chunk = Chunk::parse(chunk).unwrap();
    let error = decoder.decode(&chunk, &mut vec![0; chunk.nbytes()]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
    assert!(error.to_string().contains(says), "{error}");
    assert!(error.hint().is_some(), "{error}");
}

#[test]
fn unregistered_codecs_and_filters_are_refused() {
    let cases = cases();
    let mut filter_only = Plugins::new();
    filter_only.register_filter(Ramp).unwrap();
    unsupported(Decoder::new().with_plugins(filter_only), &cases[2].chunk, "codec 200");
    let mut codec_only = Plugins::new();
    codec_only.register_codec(Runs { version: 3 }).unwrap();
    unsupported(Decoder::new().with_plugins(codec_only.clone()), &cases[2].chunk, "filter number 201");
    let mut other = Plugins::new();
    other.register_codec(Runs { version: 1 }).unwrap();
    unsupported(Decoder::new().with_plugins(other), &cases[0].chunk, "version 3");

    let refused = |params: &Params, plugins: &Plugins| {
        Encoder::new_with_plugins(params.clone(), plugins.clone()).unwrap_err().into_kind()
    };
    assert!(matches!(refused(&cases[0].params, &Plugins::new()), ErrorKind::Unsupported(_)));
    assert!(matches!(refused(&cases[2].params, &codec_only), ErrorKind::Unsupported(_)));
    let blosc1 = Params { blosc_version: BloscVersion::Blosc1, ..cases[0].params.clone() };
    assert!(matches!(refused(&blosc1, &plugins()), ErrorKind::Usage(_)));
    let dictionary = Params { dictionary: true, ..cases[0].params.clone() };
    assert!(matches!(refused(&dictionary, &plugins()), ErrorKind::Usage(_)));
}

/// A codec or a filter of any number that violates its contract.
struct Careless {
    id: u8,
    says: Option<usize>,
}

impl CodecPlugin for Careless {
    fn id(&self) -> u8 {
        self.id
    }

    fn name(&self) -> &'static str {
        "careless"
    }

    fn decode(&self, _: &[u8], _: &PluginContext<'_>, _: &mut [u8]) -> Result<()> {
        Err(Error::usage("no"))
    }

    fn encode(&self, _: &[u8], _: &PluginContext<'_>, _: u8, _: &mut [u8]) -> Result<Option<usize>> {
        Ok(self.says)
    }
}

#[test]
fn numbers_are_those_of_users_and_taken_once() {
    let mut plugins = plugins();
    for id in [0, 5, 38, 159, 200] {
        let error = plugins.register_codec(Careless { id, says: None }).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    }
    assert!(matches!(plugins.register_filter(Ramp).unwrap_err().kind(), ErrorKind::Usage(_)));
    plugins.register_codec(Careless { id: 255, says: None }).unwrap();
    plugins.register_codec(Careless { id: 160, says: None }).unwrap();
    // Two values are independent.
    plugins.register_codec(Careless { id: 201, says: None }).unwrap();
    assert_eq!(plugins.codec(200).map(CodecPlugin::name), Some("runs"));
    assert_eq!(plugins.filter(201).map(FilterPlugin::name), Some("ramp"));
    assert!(plugins.filter(200).is_none());
    assert!(format!("{plugins:?}").contains("runs"));
}

#[test]
fn lengths_that_a_codec_cannot_have_made_are_not_believed() {
    let params = Params { compressor: Compressor(160), ..cases().remove(0).params };
    for (says, is_fine) in [(Some(1200), false), (Some(0), false), (Some(1199), true), (None, true)] {
        let mut plugins = Plugins::new();
        plugins.register_codec(Careless { id: 160, says }).unwrap();
        let mut out = b"before".to_vec();
        let done =
            Encoder::new_with_plugins(params.clone(), plugins).unwrap().encode(&data("steps"), &mut out);
        assert_eq!(done.is_ok(), is_fine, "{says:?}");
        assert!(is_fine || out == b"before");
    }
}

/// Damage of a stream is reported at its place in the chunk.
#[test]
fn errors_of_a_codec_are_placed_in_the_chunk() {
    let mut bytes = cases().remove(0).chunk;
    bytes[40] -= 1;
    let chunk = Chunk::parse(&bytes).unwrap();
    let error = decoder().decode(&chunk, &mut vec![0; chunk.nbytes()]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
    assert_eq!(error.range(), Some(42..86), "{error}");
}

/// Errors of decoders, whose plugin a caller may have.
#[test]
fn missing_plugins_are_found_in_errors() {
    let of = |chunk: &[u8]| {
        let chunk = Chunk::parse(chunk).unwrap();
        let error = Decoder::new().decode(&chunk, &mut vec![0; chunk.nbytes()]).unwrap_err();
        MissingPlugin::of(error.kind())
    };
    let cases = cases();
    assert_eq!(of(&cases[0].chunk), Some(MissingPlugin::Codec(200)));
    let mut codec_only = Plugins::new();
    codec_only.register_codec(Runs { version: 3 }).unwrap();
    let chunk = Chunk::parse(&cases[2].chunk).unwrap();
    let error = Decoder::new().with_plugins(codec_only).decode(&chunk, &mut vec![0; chunk.nbytes()]);
    assert_eq!(MissingPlugin::of(error.unwrap_err().kind()), Some(MissingPlugin::Filter(201)));
    let unsupported = |problem: &str| MissingPlugin::of(Error::unsupported(problem.to_owned()).kind());
    for (number, is_plugin) in [(3, true), (5, false), (31, false), (32, true), (255, true)] {
        let codec = unsupported(&format!("codec {number} (some) is not supported"));
        assert_eq!(codec, is_plugin.then_some(MissingPlugin::Codec(number)));
    }
    // The old bytedelta is built in.
    for (number, is_plugin) in [(3, false), (31, false), (32, true), (34, false), (35, true), (160, true)] {
        let filter = unsupported(&format!("filter number {number} is missing"));
        assert_eq!(filter, is_plugin.then_some(MissingPlugin::Filter(number)));
    }
    assert_eq!(unsupported("codec 256 is none"), None);
    assert_eq!(unsupported("unknown codec 200"), None);
    assert_eq!(MissingPlugin::of(Error::usage("codec 200").kind()), None);
}

#[test]
fn plugins_have_their_version_and_are_shown_by_number_and_name() {
    assert_eq!(CodecPlugin::version(&Careless { id: 160, says: None }), 1);
    let plugins = plugins();
    assert_eq!(format!("{:?}", plugins.shared_codec(200).unwrap()), "codec 200 (runs)");
    assert_eq!(format!("{plugins:?}"), r#"Plugins { codecs: [(200, "runs")], filters: [(201, "ramp")] }"#);
    assert!(plugins.shared_codec(200).is_some() && plugins.shared_codec(201).is_none());
}
