//! Every operation against an array in memory that does the same naively, and what is in the file when it is done.

use container_core::ErrorKind;
use std::ops::Range;

use container_core::container::ReadOptions;
use container_core::region::{AxisSelection, Kept};
use proptest::prelude::*;

use super::super::chunk_boxes::for_each_place;
use super::super::{Fill, NdArray, NdOptions, write_filled};
use super::*;
use crate::frame::Frame;

/// An array in memory: elements in C order.
#[derive(Clone, Debug, PartialEq)]
struct Model {
    shape: Vec<u64>,
    size: usize,
    bytes: Vec<u8>,
}

impl Model {
    fn new(shape: &[u64], size: usize) -> Self {
        let count: u64 = shape.iter().product();
        Self { shape: shape.to_vec(), size, bytes: vec![0; count as usize * size] }
    }

    fn get(&self, index: &[u64]) -> &[u8] {
        let at = index.iter().zip(&self.shape).fold(0, |at, (index, len)| at * len + index) as usize;
        &self.bytes[at * self.size..][..self.size]
    }

    /// Makes an array of `shape` whose elements come from those of this one, or are zeros.
    fn map(&self, shape: &[u64], from: impl Fn(&[u64]) -> Option<Vec<u8>>) -> Self {
        let mut new = Self { shape: shape.to_vec(), size: self.size, bytes: Vec::new() };
        let ranges: Vec<_> = shape.iter().map(|len| 0..*len).collect();
        for_each_place(&ranges, |index| {
            new.bytes.extend(from(index).unwrap_or_else(|| vec![0; self.size]));
            Ok(())
        })
        .unwrap();
        new
    }

    fn resize(&self, shape: &[u64]) -> Self {
        let inside = |index: &[u64]| index.iter().zip(&self.shape).all(|(at, len)| at < len);
        self.map(shape, |index| inside(index).then(|| self.get(index).to_vec()))
    }

    fn insert(&self, axis: usize, at: u64, values: &Self) -> Self {
        let mut shape = self.shape.clone();
        let count = values.shape[axis];
        shape[axis] += count;
        self.map(&shape, |index| {
            let mut index = index.to_vec();
            if index[axis] >= at + count {
                index[axis] -= count;
            } else if index[axis] >= at {
                index[axis] -= at;
                return Some(values.get(&index).to_vec());
            }
            Some(self.get(&index).to_vec())
        })
    }

    fn delete(&self, axis: usize, range: &Range<u64>) -> Self {
        let mut shape = self.shape.clone();
        shape[axis] -= range.end - range.start;
        self.map(&shape, |index| {
            let mut index = index.to_vec();
            if index[axis] >= range.start {
                index[axis] += range.end - range.start;
            }
            Some(self.get(&index).to_vec())
        })
    }

    fn set(&self, region: &Region, value: impl Fn(&[u64]) -> Vec<u8>) -> Self {
        self.map(&self.shape, |index| {
            let place: Option<Vec<u64>> = index
                .iter()
                .zip(region.axes())
                .map(|(at, axis)| {
                    (0..axis.count).find(|n| axis.start as i64 + axis.step * *n as i64 == *at as i64)
                })
                .collect();
            Some(place.map_or_else(|| self.get(index).to_vec(), |place| value(&place)))
        })
    }

    fn array(&self, dtype: &DType) -> Array<'_> {
        Array::new(dtype.clone(), self.shape.clone(), Order::C, Cow::Borrowed(&self.bytes)).unwrap()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Set(u64),
    Fill(u64),
    Resize(Vec<u64>),
    Insert { axis: usize, at: u64, count: u64, aligned: Aligned },
    Append { axis: usize, count: u64 },
    Delete { axis: usize, at: u64, count: u64, aligned: Aligned },
    Reopen,
}

/// Whether a number of elements is made a multiple of the chunk's.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Aligned {
    Yes,
    No,
}

fn step() -> impl Strategy<Value = Step> {
    let aligned = || prop_oneof![Just(Aligned::Yes), Just(Aligned::No)];
    prop_oneof![
        3 => any::<u64>().prop_map(Step::Set),
        1 => any::<u64>().prop_map(Step::Fill),
        2 => prop::collection::vec(0_u64..11, 3).prop_map(Step::Resize),
        2 => (0_usize..3, 0_u64..12, 0_u64..7, aligned())
            .prop_map(|(axis, at, count, aligned)| Step::Insert { axis, at, count, aligned }),
        2 => (0_usize..3, 0_u64..7).prop_map(|(axis, count)| Step::Append { axis, count }),
        2 => (0_usize..3, 0_u64..12, 0_u64..7, aligned())
            .prop_map(|(axis, at, count, aligned)| Step::Delete { axis, at, count, aligned }),
        1 => Just(Step::Reopen),
    ]
}

/// Numbers that look random, from a seed.
struct Noise(u64);

impl Noise {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (self.0 >> 33) % end.max(1)
    }

    fn model(&mut self, shape: &[u64], size: usize) -> Model {
        let mut model = Model::new(shape, size);
        model.bytes.fill_with(|| self.below(255) as u8 + 1);
        model
    }

    /// Makes any region of an array: steps either way, axes dropped.
    fn region(&mut self, shape: &[u64]) -> Region {
        let axis = |len: &u64| {
            if *len == 0 {
                return AxisSelection { start: 0, step: 1, count: 0, kept: Kept::Yes };
            }
            let (start, step) = (self.below(*len), self.below(3) as i64 + 1);
            let step = if self.below(3) == 0 { -step } else { step };
            let most =
                if step > 0 { (len - 1 - start) / step as u64 } else { start / step.unsigned_abs() } + 1;
            match self.below(6) {
                0 => AxisSelection { start: 0, step: 1, count: *len, kept: Kept::Yes },
                1 => AxisSelection { start, step: 1, count: 1, kept: Kept::No },
                _ => AxisSelection { start, step, count: self.below(most + 1), kept: Kept::Yes },
            }
        };
        Region::new(shape.iter().map(axis).collect(), shape).unwrap()
    }
}

fn apply(editor: &mut NdEditor, model: &mut Model, step: &Step, noise: &mut Noise) {
    let axes = model.shape.len();
    let chunk = |editor: &NdEditor, axis: usize| u64::from(editor.geometry().chunkshape()[axis]);
    let dtype = editor.dtype().clone();
    match step {
        Step::Set(seed) => {
            let region = Noise(*seed).region(&model.shape);
            let counts: Vec<u64> = region.axes().iter().map(|axis| axis.count).collect();
            let values = noise.model(&counts, model.size);
            let kept = Model { shape: region.shape(), ..values.clone() };
            editor.set(&region, &kept.array(&dtype)).unwrap();
            *model = model.set(&region, |place| values.get(place).to_vec());
        }
        Step::Fill(seed) => {
            let region = Noise(*seed).region(&model.shape);
            let value = noise.model(&[], model.size).bytes;
            editor.fill(&region, &value).unwrap();
            *model = model.set(&region, |_| value.clone());
        }
        Step::Resize(shape) => {
            editor.resize(&shape[..axes]).unwrap();
            *model = model.resize(&shape[..axes]);
        }
        Step::Insert { .. } | Step::Append { .. } | Step::Delete { .. } if axes == 0 => {}
        Step::Insert { axis, at, count, aligned } => {
            let axis = axis % axes;
            let at = at % (model.shape[axis] + 1);
            let count = if *aligned == Aligned::Yes { count % 3 * chunk(editor, axis) } else { *count };
            let mut shape = model.shape.clone();
            shape[axis] = count;
            let values = noise.model(&shape, model.size);
            editor.insert(axis, at, &values.array(&dtype)).unwrap();
            *model = model.insert(axis, at, &values);
        }
        Step::Append { axis, count } => {
            let axis = axis % axes;
            let mut shape = model.shape.clone();
            shape[axis] = *count;
            let values = noise.model(&shape, model.size);
            editor.append(axis, &values.array(&dtype)).unwrap();
            *model = model.insert(axis, model.shape[axis], &values);
        }
        Step::Delete { axis, at, count, aligned } => {
            let axis = axis % axes;
            let at = at % (model.shape[axis] + 1);
            let count = if *aligned == Aligned::Yes { count % 3 * chunk(editor, axis) } else { *count };
            let range = at..(at + count).min(model.shape[axis]);
            editor.delete(axis, range.clone()).unwrap();
            *model = model.delete(axis, &range);
        }
        Step::Reopen => {}
    }
}

/// Returns the bytes of a chunk that no element is in.
fn padding(geometry: &Geometry, place: &[u64], chunk: &[u8]) -> usize {
    let mut rest = chunk.to_vec();
    let zero = vec![0; geometry.itemsize()];
    let whole = ChunkBoxes::plain(&vec![0; geometry.shape().len()], geometry.shape(), zero.len()).unwrap();
    whole.of_one_element().write_chunk(geometry, place, &zero, &mut rest).unwrap();
    rest.iter().filter(|byte| **byte != 0).count()
}

fn check(path: &Path, model: &Model) {
    let array = NdArray::open(path).unwrap();
    let read = array.read(&Region::whole(&model.shape), &ReadOptions::default()).unwrap();
    assert_eq!(read.bytes(Order::C, &Limits::default()).unwrap(), model.bytes);
    let frame = Frame::open(path).unwrap();
    for index in 0..frame.chunk_count() {
        let chunk = frame.read_chunk(index, &ReadOptions::default()).unwrap();
        assert_eq!(padding(array.geometry(), &array.geometry().chunk_place(index), &chunk), 0, "{index}");
    }
}

fn options(chunks: &[u32], blocks: &[u32]) -> NdOptions {
    NdOptions {
        params: Params { level: 1, ..NdOptions::default().params },
        chunkshape: Some(chunks.to_vec()),
        blockshape: Some(blocks.to_vec()),
        ..NdOptions::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn any_sequence_of_changes_ends_where_memory_does(
        axes in prop::collection::vec((0_u64..10, 1_u32..5, 1_u32..4), 0..4),
        size in 1_usize..4,
        steps in prop::collection::vec(step(), 1..10),
        seed in any::<u64>(),
    ) {
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let chunks: Vec<u32> = axes.iter().map(|axis| axis.1).collect();
        let blocks: Vec<u32> = axes.iter().map(|axis| axis.2.min(axis.1)).collect();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.b2nd");
        let edit = EditOptions::default();
        let mut editor =
            NdEditor::create(&path, &DType::void(size), &shape, &options(&chunks, &blocks), &edit).unwrap();
        let mut model = Model::new(&shape, size);
        let mut noise = Noise(seed);
        for step in &steps {
            if matches!(step, Step::Reopen) {
                editor.commit(Durability::Cached).unwrap();
                drop(editor);
                check(&path, &model);
                editor = NdEditor::open(&path, &edit).unwrap();
            }
            apply(&mut editor, &mut model, step, &mut noise);
            prop_assert_eq!(editor.shape(), &model.shape);
            let read = editor.read(&Region::whole(&model.shape)).unwrap();
            prop_assert_eq!(&*read.bytes(Order::C, &Limits::default()).unwrap(), &model.bytes);
        }
        editor.commit(Durability::Cached).unwrap();
        drop(editor);
        check(&path, &model);
    }
}

fn bytes(values: &[u8]) -> Array<'_> {
    Array::new(DType::parse("|u1").unwrap(), vec![values.len() as u64], Order::C, Cow::Borrowed(values))
        .unwrap()
}

fn create(path: &Path, len: u64, chunk: u32) -> NdEditor {
    let dtype = DType::parse("|u1").unwrap();
    NdEditor::create(path, &dtype, &[len], &options(&[chunk], &[chunk]), &EditOptions::default()).unwrap()
}

/// C-Blosc2 3.3.5 makes of this 0 1 2 3 4 0 0 0 100.
#[test]
fn appended_elements_follow_the_last_element() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.b2nd");
    let mut editor = create(&path, 5, 4);
    editor.set(&Region::whole(&[5]), &bytes(&[0, 1, 2, 3, 4])).unwrap();
    editor.append(0, &bytes(&[100, 101, 102, 103])).unwrap();
    editor.commit(Durability::Cached).unwrap();
    let array = NdArray::open(&path).unwrap();
    let read = array.read(&Region::whole(&[9]), &ReadOptions::default()).unwrap();
    assert_eq!(*read.bytes(Order::C, &Limits::default()).unwrap(), [0, 1, 2, 3, 4, 100, 101, 102, 103]);
}

/// Padding that another program left after the end of an array does not become part of it.
#[test]
fn an_array_grows_over_padding_that_is_not_zeros() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.b2nd");
    let mut file = container_core::write::AtomicFile::create(&path, Default::default()).unwrap();
    let (dtype, options) = (DType::parse("|u1").unwrap(), options(&[4], &[4]));
    write_filled(&mut file, &dtype, &[5], Fill::Value(&[9]), &options).unwrap();
    file.commit(Durability::Cached).unwrap();
    let mut editor = NdEditor::open(&path, &EditOptions::default()).unwrap();
    editor.resize(&[7]).unwrap();
    let read = editor.read(&Region::whole(&[7])).unwrap();
    assert_eq!(*read.bytes(Order::C, &Limits::default()).unwrap(), [9, 9, 9, 9, 9, 0, 0]);
}

#[test]
fn edits_that_mismatch_the_array_are_refused_without_changes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.b2nd");
    let mut editor = create(&path, 5, 4);
    let wrong = |result: Result<()>| assert!(matches!(result.unwrap_err().kind(), ErrorKind::Usage(_)));
    wrong(editor.set(&Region::whole(&[6]), &bytes(&[0; 6])));
    wrong(editor.set(&Region::whole(&[5]), &bytes(&[0; 4])));
    let words = Array::new(DType::parse("<u2").unwrap(), vec![1], Order::C, Cow::Borrowed(&[1, 0])).unwrap();
    wrong(editor.append(0, &words));
    wrong(editor.append(1, &bytes(&[1])));
    wrong(editor.insert(0, 6, &bytes(&[1])));
    wrong(editor.delete(0, 3..6));
    wrong(editor.fill(&Region::whole(&[5]), &[1, 2]));
    wrong(editor.resize(&[5, 1]));
    wrong(editor.resize(&[u64::MAX]));
    assert_eq!(editor.shape(), [5]);
    editor.append(0, &bytes(&[7])).unwrap();
    editor.commit(Durability::Cached).unwrap();
    check(&path, &Model { shape: vec![6], size: 1, bytes: vec![0, 0, 0, 0, 0, 7] });
}

#[test]
fn a_change_that_was_stopped_is_not_committed() {
    static ASKED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.b2nd");
    let mut editor = create(&path, 5, 4);
    editor.set_stop(Stop::when(&ASKED));
    let stopped = editor.set(&Region::whole(&[5]), &bytes(&[1; 5])).unwrap_err();
    assert!(matches!(stopped.kind(), ErrorKind::Cancelled));
    editor.set_stop(Stop::never());
    assert!(editor.commit(Durability::Cached).is_err());
    assert!(!editor.remove_vlmetalayer("none"));
}

#[test]
fn rows_that_are_appended_one_by_one_before_a_commit_take_no_room() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.b2nd");
    let mut editor = create(&path, 0, 4096);
    let mut noise = Noise(1);
    let values = noise.model(&[4096], 1);
    for piece in values.bytes.chunks(16) {
        editor.append(0, &bytes(piece)).unwrap();
    }
    editor.commit(Durability::Cached).unwrap();
    drop(editor);
    check(&path, &values);
    assert!(std::fs::metadata(&path).unwrap().len() < 5 * 4096);
}
