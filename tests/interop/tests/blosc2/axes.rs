//! The same array is changed by ours and by both releases in turns; after each change it is what numpy makes of the same steps.

use std::borrow::Cow;
use std::path::Path;

use blosc2_frame::b2nd::{NdArray, NdEditor, NdOptions};
use blosc2_frame::{EditOptions, Kind};
use container_core::array::Array;
use container_core::container::ReadOptions;
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use container_core::write::Durability;
use serde_json::{Value, json};

use crate::peers::{Peer, folder, hex, numbers, put};
use crate::random::{Random, cases, itemsize, text, type_json};

const TYPES: [&str; 5] = ["<i4", "<f8", "|u1", "|S3", "<i2"];

/// A change of an array; by `testdata/blosc2/peer.py` as numpy does it.
#[derive(Clone, Debug)]
enum Step {
    Set(Vec<Value>, Vec<u8>),
    Resize(Vec<u64>),
    Append(usize, u64, Vec<u8>),
    Insert(usize, u64, u64, Vec<u8>),
    Delete(usize, u64, u64),
}

impl Step {
    fn random(
        random: &mut Random,
        dtype: &str,
        shape: &mut [u64],
        chunks: &[u64],
        theirs: bool,
        grow: bool,
    ) -> Self {
        let axis = random.below(shape.len() as u64) as usize;
        let chunk = chunks[axis];
        let len =
            |random: &mut Random| if random.chance(5) { chunk * random.below(3) } else { random.below(7) };
        let slab = |random: &mut Random, shape: &[u64], len: u64| {
            let others = shape.iter().enumerate().filter(|(at, _)| *at != axis).map(|(_, len)| len);
            random.elements(dtype, (others.product::<u64>() * len) as usize)
        };
        match random.below(if theirs { 2 } else { 5 }) {
            0 => {
                let selection = loop {
                    let selection = random.selection(shape, false);
                    // python-blosc2 sets boxes.
                    let is_box = |part: &Value| part.is_u64() || part[2] == 1;
                    if !theirs || selection.iter().all(is_box) {
                        break selection;
                    }
                };
                let count = Region::parse(&text(&selection), shape).unwrap().len().unwrap();
                Self::Set(selection, random.elements(dtype, count as usize))
            }
            1 => {
                for len in shape.iter_mut() {
                    let more = if grow { random.below(9) } else { 0 };
                    *len = if random.chance(6) {
                        *len + more
                    } else {
                        random.below(*len + 1).max(u64::from(theirs))
                    };
                }
                Self::Resize(shape.to_vec())
            }
            2 => {
                let more = len(random);
                let values = slab(random, shape, more);
                shape[axis] += more;
                Self::Append(axis, more, values)
            }
            3 => {
                let more = len(random);
                let at = random.below(shape[axis] + 1);
                let at = if random.chance(3) { at / chunk * chunk } else { at };
                let values = slab(random, shape, more);
                shape[axis] += more;
                Self::Insert(axis, at, more, values)
            }
            _ => {
                let start = random.below(shape[axis] + 1);
                let start = if random.chance(3) { start / chunk * chunk } else { start };
                let stop = (start + len(random)).min(shape[axis]);
                shape[axis] -= stop - start;
                Self::Delete(axis, start, stop)
            }
        }
    }

    fn numpy(&self) -> Value {
        match self {
            Self::Set(selection, values) => json!(["set", selection, hex(values)]),
            Self::Resize(shape) => json!(["resize", shape]),
            Self::Append(axis, more, values) => json!(["append", axis, more, hex(values)]),
            Self::Insert(axis, at, more, values) => json!(["insert", axis, at, more, hex(values)]),
            Self::Delete(axis, start, stop) => json!(["delete", axis, start, stop]),
        }
    }

    /// As a step of `mutate`, for an array of `shape`.
    fn theirs(&self, shape: &[u64]) -> Value {
        match self {
            Self::Set(selection, values) => {
                let region = Region::parse(&text(selection), shape).unwrap();
                let axes = region.axes();
                let start: Vec<u64> = axes.iter().map(|axis| axis.start).collect();
                let stop: Vec<u64> = axes.iter().map(|axis| axis.start + axis.count).collect();
                json!(["set", start, stop, {"hex": hex(values)}])
            }
            Self::Resize(shape) => json!(["resize", shape]),
            other => panic!("{other:?} is for ours"),
        }
    }

    fn ours(&self, editor: &mut NdEditor) {
        let dtype = editor.dtype().clone();
        let old = editor.shape().to_vec();
        let array = |shape: Vec<u64>, values: &[u8]| {
            Array::new(dtype.clone(), shape, Order::C, Cow::Owned(values.to_vec())).unwrap()
        };
        let slab = |axis: usize, more: u64, values: &[u8]| {
            let mut shape = old.clone();
            shape[axis] = more;
            array(shape, values)
        };
        match self {
            Self::Set(selection, values) => {
                let region = Region::parse(&text(selection), &old).unwrap();
                editor.set(&region, &array(region.shape(), values)).unwrap();
            }
            Self::Resize(shape) => editor.resize(shape).unwrap(),
            Self::Append(axis, more, values) => editor.append(*axis, &slab(*axis, *more, values)).unwrap(),
            Self::Insert(axis, at, more, values) => {
                editor.insert(*axis, *at, &slab(*axis, *more, values)).unwrap();
            }
            Self::Delete(axis, start, stop) => editor.delete(*axis, *start..*stop).unwrap(),
        }
    }
}

/// Checks that ours and a peer read `expected` from the array.
fn check(path: &Path, shape: &[u64], expected: &[u8], peers: &mut [Peer], label: &str) {
    let array = NdArray::open(path).unwrap_or_else(|error| panic!("{label}: {error}"));
    assert_eq!(array.shape(), shape, "{label}");
    let options = ReadOptions::default();
    let found = array.read(&Region::whole(shape), &options).unwrap();
    assert!(found.bytes(Order::C, &options.limits).unwrap() == expected, "{label}");
    for peer in peers {
        let (answer, values) = peer.read(path);
        assert_eq!(numbers(&answer["shape"]), shape, "{label}, read by {:?}", peer.release);
        assert!(values == expected, "{label}, read by {:?}", peer.release);
    }
}

#[test]
fn arrays_are_changed_by_three_programs_in_turns_as_numpy_changes_them() {
    let mut random = Random::new(7);
    let mut peers = Peer::both();
    let mut by = [0; 3];
    for number in 0..cases(36) {
        let folder = folder();
        let path = folder.path().join("a.b2nd");
        let dtype = random.pick(&TYPES);
        let dimensions = 1 + random.below(3) as usize;
        let start: Vec<u64> =
            (0..dimensions).map(|_| 1 + random.below([150, 25, 10][dimensions - 1])).collect();
        let chunks: Vec<u64> =
            start.iter().map(|len| if *len > 1 { 1 + random.below(7) } else { 1 }).collect();
        let blocks: Vec<u64> = chunks.iter().map(|len| 1 + random.below(*len)).collect();
        let values = random.elements(dtype, start.iter().product::<u64>() as usize);
        let raw = put(&folder, "values", &values);
        let sparse = random.chance(2);
        let maker = random.below(3) as usize;
        if maker == 0 {
            let narrow = |list: &[u64]| Some(list.iter().map(|len| *len as u32).collect());
            let mut options = NdOptions::default();
            (options.chunkshape, options.blockshape) = (narrow(&chunks), narrow(&blocks));
            options.kind = if sparse { Kind::Sparse } else { Kind::Contiguous };
            let parsed = DType::parse(dtype).unwrap();
            let mut editor =
                NdEditor::create(&path, &parsed, &start, &options, &EditOptions::default()).unwrap();
            let array = Array::new(parsed, start.clone(), Order::C, Cow::Borrowed(&values[..])).unwrap();
            editor.set(&Region::whole(&start), &array).unwrap();
            editor.commit(Durability::Cached).unwrap();
        } else {
            let request = json!({"path": path, "dtype": type_json(dtype), "shape": start, "raw": raw,
                "chunks": chunks, "blocks": blocks, "sparse": sparse});
            peers[maker - 1].ask("write", request);
        }
        let mut steps = Vec::new();
        let mut shape = start.clone();
        // C-Blosc2 leaves what was beyond the end of an array that it makes shorter, and shows it when it makes it longer.
        let mut cut = false;
        for _ in 0..10 {
            let writer = if shape.contains(&0) { 0 } else { random.below(3) as usize };
            let old = shape.clone();
            let step = Step::random(&mut random, dtype, &mut shape, &chunks, writer > 0, writer == 0 || !cut);
            cut |= writer > 0 && shape.iter().zip(&old).any(|(new, old)| new < old);
            steps.push((writer, step, old));
        }
        let out = folder.path().join("states");
        let said: Vec<Value> = steps.iter().map(|(_, step, _)| step.numpy()).collect();
        let request =
            json!({"dtype": type_json(dtype), "shape": start, "from": raw, "steps": said, "raw": out});
        let answer = peers[0].ask("replay", request);
        let states = std::fs::read(&out).unwrap();
        let mut rest = &states[..];
        for (at, ((writer, step, old), shape)) in
            steps.iter().zip(answer["shapes"].as_array().unwrap()).enumerate()
        {
            let shape = numbers(shape);
            let label = format!(
                "array {number} {dtype} {start:?} {chunks:?} {blocks:?} (sparse: {sparse}, made by {maker}), step {at} \
                 by {writer} of {old:?}: {}",
                step.numpy()
            );
            let label: String = label.chars().take(260).collect();
            let (expected, behind) = rest.split_at(shape.iter().product::<u64>() as usize * itemsize(dtype));
            rest = behind;
            if *writer == 0 {
                let mut editor = NdEditor::open(&path, &EditOptions::default()).unwrap();
                step.ours(&mut editor);
                editor.commit(Durability::Cached).unwrap();
            } else {
                let request = json!({"path": path, "steps": [step.theirs(old)]});
                let answer = peers[*writer - 1].try_ask("mutate", request);
                answer.unwrap_or_else(|error| panic!("{label}: {error}"));
            }
            by[*writer] += 1;
            check(&path, &shape, expected, &mut peers, &label);
        }
        assert!(rest.is_empty());
    }
    assert!(by.iter().all(|count| *count >= 50), "{by:?}");
}
