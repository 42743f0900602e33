//! Random arrays both ways: every type, codec, filter, shape of chunks and blocks; whole, and in pieces as numpy cuts them.

use std::borrow::Cow;
use std::path::Path;

use blosc2_frame::b2nd::{
    Fill, Indices, NdArray, NdEditor, NdOptions, NdWriter, write_array_to, write_filled,
};
use blosc2_frame::blosc_chunk::{Filter, Pipeline};
use blosc2_frame::{EditOptions, Frame, Kind, OpenOptions};
use container_core::array::Array;
use container_core::container::ReadOptions;
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use container_core::write::{AtomicFile, Durability, Overwrite};
use serde_json::{Value, json};

use crate::peers::{Peer, Release, folder, hex, numbers, put};
use crate::random::{Random, TYPES, cases, itemsize, text, type_json};

/// Of which the last works on arrays only.
const PIPELINES: [&str; 8] = [
    "",
    "shuffle",
    "shuffle",
    "bitshuffle",
    "shuffle bytedelta",
    "delta shuffle",
    "delta",
    "ndcell:2 shuffle",
];

/// An array to be written.
struct Case {
    dtype: &'static str,
    shape: Vec<u64>,
    bytes: Vec<u8>,
    options: NdOptions,
    theirs: Value,
    pipeline: Pipeline,
    /// Whether DELTA is among the filters.
    differences: bool,
}

fn case(random: &mut Random) -> Case {
    let dtype = random.pick(&TYPES);
    let dimensions = random.below(6) as usize;
    let shape = random.shape(dimensions);
    let size = itemsize(dtype);
    let bytes = random.elements(dtype, shape.iter().product::<u64>() as usize);
    let mut options = NdOptions::default();
    let mut shapes = json!({});
    if dimensions > 0 && random.chance(7) && !shape.contains(&0) {
        let chunks: Vec<u64> = shape.iter().map(|len| 1 + random.below(*len)).collect();
        let blocks: Vec<u64> = chunks.iter().map(|len| 1 + random.below(*len)).collect();
        let narrow = |list: &[u64]| Some(list.iter().map(|len| *len as u32).collect());
        (options.chunkshape, options.blockshape) = (narrow(&chunks), narrow(&blocks));
        shapes = json!({"chunks": chunks, "blocks": blocks});
    }
    let (params, mut theirs) = random.params(size, &PIPELINES);
    options.params = params;
    // C-Blosc2 fails at cells of blocks that are smaller, and python-blosc2 at differences of as many bytes.
    let cells = options.geometry(&shape, size).unwrap().blockshape().iter().all(|len| *len >= 2);
    let filters = options.params.filters.to_string();
    if (filters.contains("ndcell") && (!cells || dimensions == 0 || size > 255))
        || (filters.contains("bytedelta") && size > 255)
    {
        options.params.filters = Pipeline::shuffle();
        theirs["filters"] = json!([["shuffle", 0]]);
    }
    let pipeline = options.params.filters;
    let theirs = json!({"dtype": type_json(dtype), "shape": shape, "cparams": theirs, "shapes": shapes});
    let differences = pipeline.filters().any(|filter| filter.id == Filter::DELTA);
    Case { dtype, shape, bytes, options, theirs, pipeline, differences }
}

impl Case {
    fn has(&self, filter: &str) -> bool {
        self.pipeline.to_string().contains(filter)
    }

    /// Whether it is tested with C-Blosc2 2.16, which decodes otherwise: filters that have changed since, widths that it ignores, elements of more
    /// than 255 bytes.
    fn is_for_old(&self) -> bool {
        let wide = self.dtype.contains('U') || itemsize(self.dtype) > 255;
        !wide && !self.has("bytedelta") && !self.differences
    }

    fn write(&self, path: &Path, random: &mut Random) {
        let dtype = DType::parse(self.dtype).unwrap();
        let array =
            Array::new(dtype.clone(), self.shape.clone(), Order::C, Cow::Borrowed(&self.bytes[..])).unwrap();
        let way = random.below(3);
        if way == 0 {
            let mut options = self.options.clone();
            options.kind = if random.chance(5) { Kind::Sparse } else { Kind::Contiguous };
            let mut editor =
                NdEditor::create(path, &dtype, &self.shape, &options, &EditOptions::default()).unwrap();
            editor.set(&Region::whole(&self.shape), &array).unwrap();
            return editor.commit(Durability::Cached).unwrap();
        }
        let mut out = AtomicFile::create(path, Overwrite::Refuse).unwrap();
        if way == 1 {
            write_array_to(&mut out, &array, &self.options).unwrap();
        } else {
            let mut writer = NdWriter::new(&mut out, &dtype, &self.shape, &self.options).unwrap();
            let mut rest = &self.bytes[..];
            while !rest.is_empty() {
                let (piece, behind) = rest.split_at((1 + random.below(5000) as usize).min(rest.len()));
                writer.push(piece).unwrap();
                rest = behind;
            }
            writer.finish().unwrap();
        }
        out.commit(Durability::Cached).unwrap();
    }

    fn label(&self, number: u64) -> String {
        let (chunks, blocks) = (&self.options.chunkshape, &self.options.blockshape);
        format!(
            "case {number}: {} {:?} {chunks:?} {blocks:?} {}",
            self.dtype, self.shape, self.theirs["cparams"]
        )
    }
}

/// The chunks are the same to a peer and to ours, and so is the array to ours and who wrote it.
fn assert_chunks(peer: &mut Peer, path: &Path, case: &Case, label: &str) {
    let options = ReadOptions::default();
    let array = NdArray::open(path).unwrap();
    let found = array.read(&Region::whole(&case.shape), &options).unwrap();
    assert!(found.bytes(Order::C, &options.limits).unwrap() == case.bytes, "{label}");
    let raw = path.with_extension("chunk");
    for number in 0..array.frame().chunk_count().min(12) {
        peer.ask("chunk", json!({"path": path, "n": number, "raw": raw}));
        let expected = std::fs::read(&raw).unwrap();
        assert!(array.frame().read_chunk(number, &options).unwrap() == expected, "{label}: chunk {number}");
    }
}

/// The parts that numpy cuts out of values: shapes, and bytes one after the other.
fn numpy(peer: &mut Peer, case: &Case, raw: &Path, indices: &[Value]) -> (Vec<Vec<u64>>, Vec<u8>) {
    let cut = raw.with_extension("cut");
    let answer = peer.ask(
        "numpy",
        json!({"dtype": type_json(case.dtype), "shape": case.shape, "from": raw, "indices": indices, "raw": cut}),
    );
    (answer["shapes"].as_array().unwrap().iter().map(numbers).collect(), std::fs::read(cut).unwrap())
}

#[test]
fn both_releases_read_the_arrays_that_are_written_whole_and_in_parts() {
    let mut random = Random::new(1);
    let mut peers = Peer::both();
    let [mut for_old, mut sliced] = [0, 0];
    let count = cases(160);
    for number in 0..count {
        let case = case(&mut random);
        let (label, folder) = (case.label(number), folder());
        let path = folder.path().join("a.b2nd");
        case.write(&path, &mut random);
        let geometry = NdArray::open(&path).unwrap().geometry().clone();
        let raw = put(&folder, "values", &case.bytes);
        let indices: Vec<Value> = (0..4).map(|_| random.selection(&case.shape, false).into()).collect();
        let expected = numpy(&mut peers[0], &case, &raw, &indices);
        for peer in &mut peers {
            if peer.release == Release::Old {
                if !case.is_for_old() {
                    continue;
                }
                for_old += 1;
            }
            let (answer, values) = peer.read(&path);
            assert_eq!(answer["dtype"], type_json(case.dtype), "{label}");
            assert_eq!(numbers(&answer["shape"]), case.shape, "{label}");
            let shapes = [&answer["chunks"], &answer["blocks"]].map(numbers);
            let ours = [geometry.chunkshape(), geometry.blockshape()];
            assert_eq!(
                shapes,
                ours.map(|list| list.iter().map(|len| u64::from(*len)).collect::<Vec<_>>()),
                "{label}"
            );
            if case.differences {
                // C-Blosc2 reads whole chunks of differences rightly, and others wrongly.
                assert_chunks(peer, &path, &case, &label);
                continue;
            }
            assert!(values == case.bytes, "{label} by {:?}", peer.release);
            // 2.16 has no steps.
            if peer.release == Release::Newest && !case.shape.contains(&0) {
                let cut = folder.path().join("cut");
                let answer = peer.ask("parts", json!({"path": path, "indices": indices, "raw": cut}));
                let shapes: Vec<_> = answer["shapes"].as_array().unwrap().iter().map(numbers).collect();
                assert!((shapes, std::fs::read(cut).unwrap()) == expected, "{label}: {indices:?}");
                sliced += 1;
            }
        }
    }
    assert!(for_old * 3 > count && sliced * 2 > count, "{for_old} {sliced}");
}

/// Whole, in slices forwards and backwards, and by lists along each axis.
fn assert_read(case: &Case, array: &NdArray, peer: &mut Peer, raw: &Path, random: &mut Random, label: &str) {
    let options = ReadOptions::default();
    let bytes = |array: Array<'_>| array.bytes(Order::C, &options.limits).unwrap().into_owned();
    let whole = array.read(&Region::whole(&case.shape), &options).unwrap();
    assert!(bytes(whole) == case.bytes, "{label}");
    let mut indices: Vec<Value> = (0..6).map(|_| random.selection(&case.shape, true).into()).collect();
    let basic = indices.len();
    if !case.shape.contains(&0) {
        indices.extend((0..3).map(|_| {
            let axes = case.shape.iter().map(|len| {
                let list: Vec<u64> = (0..random.below(6)).map(|_| random.below(*len)).collect();
                json!({ "list": list })
            });
            Value::Array(axes.collect())
        }));
    }
    let (shapes, values) = numpy(peer, case, raw, &indices);
    let mut rest = &values[..];
    for (at, (selection, shape)) in indices.iter().zip(&shapes).enumerate() {
        let axes = selection.as_array().unwrap();
        let part = if at < basic {
            let region = Region::parse(&text(axes), &case.shape).unwrap();
            array.read(&region, &options)
        } else {
            let lists: Vec<Indices> = axes.iter().map(|axis| numbers(&axis["list"]).into()).collect();
            array.read_orthogonal(&lists, &options)
        };
        let part = part.unwrap_or_else(|error| panic!("{label}: {selection}: {error}"));
        assert_eq!(part.shape(), shape, "{label}: {selection}");
        let part = bytes(part);
        let (expected, behind) = rest.split_at(part.len());
        assert!(part == expected, "{label}: {selection}");
        rest = behind;
    }
    assert!(rest.is_empty(), "{label}");
}

#[test]
fn arrays_of_both_releases_are_read_whole_and_in_parts() {
    let mut random = Random::new(2);
    let mut peers = Peer::both();
    let count = cases(160);
    for number in 0..count {
        let case = case(&mut random);
        let (label, folder) = (case.label(number), folder());
        let raw = put(&folder, "values", &case.bytes);
        let path = folder.path().join("a.b2nd");
        let old = case.is_for_old() && random.chance(4);
        let mut request = json!({"path": path, "dtype": case.theirs["dtype"], "shape": case.shape, "raw": raw,
            "cparams": case.theirs["cparams"], "sparse": random.chance(2)});
        for name in ["chunks", "blocks"] {
            if let Some(shape) = case.theirs["shapes"].get(name) {
                request[name] = shape.clone();
            }
        }
        // It cannot copy an array without elements.
        if case.shape.contains(&0) {
            request["special"] = "zeros".into();
        }
        peers[usize::from(old)].ask("write", request);
        let mut options = OpenOptions::default();
        options.cache = random.pick(&[0, 1 << 10, 1 << 26]);
        let array = NdArray::from_frame(Frame::open_with(&path, &options).unwrap()).unwrap();
        // It stores such a type as a record of one field, and numpy names that.
        let dtype =
            if case.dtype == "|V10" && !case.shape.contains(&0) { "[('f0', '|V10')]" } else { case.dtype };
        assert_eq!(*array.dtype(), DType::parse(dtype).unwrap(), "{label}");
        assert_eq!(array.shape(), case.shape, "{label}");
        assert_read(&case, &array, &mut peers[0], &raw, &mut random, &label);
    }
}

/// Zeros, one value, NaN and whatever, as nothing but marks; and as ours writes them.
#[test]
fn arrays_of_one_value_come_over_both_ways() {
    let mut random = Random::new(3);
    let mut peers = Peer::both();
    for number in 0..cases(80) {
        let folder = folder();
        let kind = random.pick(&["zeros", "nans", "uninit", "full"]);
        let dtype = if kind == "nans" { random.pick(&["<f4", "<f8"]) } else { random.pick(&TYPES) };
        let dimensions = random.below(4) as usize;
        let shape = random.shape(dimensions);
        let mut value = random.elements(dtype, 1);
        if dtype.starts_with("|S") {
            // numpy cuts zeros off, and python-blosc2 counts what is left.
            value.fill(b'x');
        }
        let count = shape.iter().product::<u64>() as usize;
        let item = match (kind, dtype) {
            ("nans", "<f4") => f32::NAN.to_le_bytes().to_vec(),
            ("nans", _) => f64::NAN.to_le_bytes().to_vec(),
            ("full", _) => value.clone(),
            _ => vec![0; itemsize(dtype)],
        };
        let expected = item.repeat(count);
        let label = format!("case {number}: {kind} {dtype} {shape:?}");
        let path = folder.path().join("ours.b2nd");
        let fill = match kind {
            "zeros" => Fill::Zeros,
            "nans" => Fill::Nan,
            "uninit" => Fill::Uninit,
            _ => Fill::Value(&value),
        };
        let parsed = DType::parse(dtype).unwrap();
        let mut out = AtomicFile::create(&path, Overwrite::Refuse).unwrap();
        write_filled(&mut out, &parsed, &shape, fill, &NdOptions::default()).unwrap();
        out.commit(Durability::Cached).unwrap();
        for peer in &mut peers {
            // 2.16 repeats its first byte.
            let wide = itemsize(dtype) > 255;
            if kind == "uninit" || (wide && peer.release == Release::Old) {
                continue;
            }
            let (answer, values) = peer.read(&path);
            assert_eq!(numbers(&answer["shape"]), shape, "{label}");
            assert!(values == expected, "{label} by {:?}", peer.release);
        }
        let theirs = folder.path().join("theirs.b2nd");
        let request = json!({"path": theirs, "dtype": type_json(dtype), "shape": shape, "special": kind,
            "value": hex(&value)});
        let writer = usize::from(random.chance(4) && itemsize(dtype) < 256);
        peers[writer].ask("write", request);
        let array = NdArray::open(&theirs).unwrap();
        let options = ReadOptions::default();
        let found = array.read(&Region::whole(&shape), &options).unwrap();
        assert_eq!(found.shape(), shape, "{label}");
        let found = found.bytes(Order::C, &options.limits).unwrap().into_owned();
        assert!(found == expected, "{label}");
    }
}
