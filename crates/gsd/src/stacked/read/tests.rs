use container_core::ErrorKind;
use container_core::source::Source;
use proptest::prelude::*;

use super::*;
use crate::writer::sequential::{NewChunk, Plan, to_vec};
use crate::{OpenOptions, Strictness, Version};

/// Bytes that are only copied, never lent.
struct CopyingSource(Vec<u8>);

impl Source for CopyingSource {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.read_into(at, dst)
    }
}

fn file(schema: &str, chunks: &[NewChunk<'_>]) -> [File; 2] {
    let plan = Plan::new("test", schema, Version::new(1, 4)).unwrap();
    let bytes = to_vec(plan, chunks).unwrap();
    let options = OpenOptions::default().with_strictness(Strictness::Strict);
    let lent = File::from_source(Box::new(bytes.clone()), &options).unwrap();
    [lent, File::from_source(Box::new(CopyingSource(bytes)), &options).unwrap()]
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn read(file: &File, name: &str, rows: &Rows<'_>) -> Result<(Vec<u64>, Vec<f32>)> {
    let stack = StackedChunks::new(file, name, &Frames::all(file), Defaults::Schema)?;
    let array = stack.read(rows, 2)?;
    let values = array.elements::<f32>(Order::C, &file.options().limits)?.into_owned();
    Ok((array.shape().to_vec(), values))
}

#[test]
fn frames_inherit_frame_0_or_get_defaults_if_n_differs() {
    let two = floats(&[1., 2., 3., 4., 5., 6.]);
    let other = floats(&[7., 8., 9., 7., 8., 9.]);
    let (n2, n3) = (2_u32.to_le_bytes(), 3_u32.to_le_bytes());
    let chunks: Vec<NewChunk<'_>> = vec![
        (0, "particles/N", ChunkType::Uint32, 1, 1, &n2),
        (0, "particles/position", ChunkType::Float, 2, 3, &two),
        (1, "configuration/step", ChunkType::Uint64, 1, 1, &[9, 0, 0, 0, 0, 0, 0, 0]),
        (2, "particles/position", ChunkType::Float, 2, 3, &other),
    ];
    for file in file("hoomd", &chunks) {
        let (shape, values) = read(&file, "particles/position", &Rows::All).unwrap();
        assert_eq!(shape, [3, 2, 3]);
        assert_eq!(values, [1., 2., 3., 4., 5., 6., 1., 2., 3., 4., 5., 6., 7., 8., 9., 7., 8., 9.]);
        // Never stored: the default, of the frame's N.
        let (shape, values) = read(&file, "particles/orientation", &Rows::List(&[1])).unwrap();
        assert_eq!((shape, &values[..4]), (vec![3, 1, 4], &[1., 0., 0., 0.][..]));
        // Without the schema a gap is an error.
        let stored =
            StackedChunks::new(&file, "particles/position", &Frames::all(&file), Defaults::StoredOnly);
        assert!(stored.is_err_and(|error| error.to_string().contains("frame 1")));
    }
    let mut more = chunks.clone();
    more.push((3, "particles/N", ChunkType::Uint32, 1, 1, &n3));
    for file in file("hoomd", &more) {
        // Three particles at the default, where frame 0 has two.
        let error = read(&file, "particles/position", &Rows::All).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Usage(_)) && error.to_string().contains("frame 3 has 3 by 3")
        );
        let last =
            StackedChunks::new(&file, "particles/position", &Frames::range(3..4), Defaults::Schema).unwrap();
        assert_eq!((last.extent(), last.chunk_offset(0)), ((1, 3, 3), None));
        assert!(
            last.read(&Rows::All, 1)
                .unwrap()
                .bytes(Order::C, &file.options().limits)
                .unwrap()
                .iter()
                .all(|b| *b == 0)
        );
        let counts = StackedChunks::new(&file, "particles/N", &Frames::all(&file), Defaults::Schema).unwrap();
        let counts = counts.read(&Rows::All, 1).unwrap();
        assert_eq!(*counts.elements::<u32>(Order::C, &file.options().limits).unwrap(), [2, 2, 2, 3]);
    }
    // Under another schema frames do not inherit.
    for file in file("none", &chunks) {
        assert!(read(&file, "particles/position", &Rows::All).is_err());
    }
}

#[test]
fn shapes_and_types_that_change_are_refused_by_frame() {
    let double = 1_f64.to_le_bytes();
    let chunks: Vec<NewChunk<'_>> = vec![
        (0, "a", ChunkType::Float, 2, 1, &double),
        (1, "a", ChunkType::Float, 2, 1, &double),
        (2, "a", ChunkType::Double, 1, 1, &double),
    ];
    for file in file("none", &chunks) {
        let error = read(&file, "a", &Rows::All).unwrap_err();
        assert!(
            error.to_string().contains("frame 2 has 1 by 1 of double, frame 0 has 2 by 1 of float"),
            "{error}"
        );
        assert!(read(&file, "b", &Rows::All).is_err());
        let stack = StackedChunks::new(&file, "a", &Frames::range(0..2), Defaults::StoredOnly).unwrap();
        assert!(stack.byte_len(&Rows::List(&[2])).is_err());
        assert!(stack.byte_len(&Rows::Strided { start: 1, step: 1, count: 2 }).is_err());
        assert!(stack.read_into(&Rows::All, &mut [0; 3], 1).is_err());
        assert!(StackedChunks::new(&file, "a", &Frames::range(0..4), Defaults::StoredOnly).is_err());
    }
}

#[test]
fn precisions_are_mixed_only_as_double() {
    let single = floats(&[0.1, 2.0, 3.0]);
    let double: Vec<u8> = [0.1, -5.0, 1e300].iter().flat_map(|value: &f64| value.to_le_bytes()).collect();
    let step = [1, 0, 0, 0, 0, 0, 0, 0];
    let chunks: Vec<NewChunk<'_>> = vec![
        (0, "particles/N", ChunkType::Uint32, 1, 1, &[3, 0, 0, 0]),
        (0, "particles/charge", ChunkType::Float, 3, 1, &single),
        (1, "particles/charge", ChunkType::Double, 3, 1, &double),
        (2, "configuration/step", ChunkType::Uint64, 1, 1, &step),
    ];
    let tenth = f64::from(0.1_f32);
    let [lent, copied] = file("hoomd", &chunks);
    let big = {
        let bytes = crate::rewrite::big_endian(&lent.source().read(0..lent.source().len()).unwrap());
        File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap()
    };
    for file in [lent, copied, big] {
        let error = read(&file, "particles/charge", &Rows::All).unwrap_err();
        assert!(error.hint().is_some_and(|step| step.contains("f64")));
        let all = Frames::all(&file);
        for threads in [1, 2] {
            let stack = StackedChunks::of_floats(&file, "particles/charge", &all, Defaults::Schema).unwrap();
            let values = stack.read_f64(&Rows::All, threads).unwrap();
            assert_eq!(values, [tenth, 2.0, 3.0, 0.1, -5.0, 1e300, tenth, 2.0, 3.0]);
            let values = stack.read_f64(&Rows::List(&[2, 0]), threads).unwrap();
            assert_eq!(values, [3.0, tenth, 1e300, 0.1, 3.0, tenth]);
            assert!(stack.read(&Rows::All, threads).is_err());
        }
        let diameter = StackedChunks::of_floats(&file, "particles/diameter", &all, Defaults::Schema).unwrap();
        assert_eq!(diameter.read_f64(&Rows::All, 1).unwrap(), [1.0; 9]);
        let single = StackedChunks::new(&file, "particles/mass", &all, Defaults::Schema).unwrap();
        assert_eq!(single.read_f64(&Rows::Strided { start: 2, step: -2, count: 2 }, 1).unwrap(), [1.0; 6]);
        assert!(StackedChunks::of_floats(&file, "particles/N", &all, Defaults::Schema).is_err());
        let trajectory = hoomd::Trajectory::from_file(file).unwrap();
        let tensor = trajectory.time_series("particles/charge");
        let (shape, values) = tensor.frames(1.., 2).unwrap().rows(Rows::List(&[1])).read_f64().unwrap();
        assert_eq!((shape, values), ([1, 1, 1], vec![-5.0]));
        assert!(tensor.frames(..4, 1).is_err() && tensor.frames(.., 0).is_err());
        assert_eq!(tensor.frames(..=0, 1).unwrap().read().unwrap().shape(), [1, 3]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Against reading chunk by chunk, element by element.
    #[test]
    fn a_stack_is_its_chunks(
        frames in 1..40_usize, n in 0..6_u64, m in 1..4_u32,
        start in 0..40_u64, step in -7..8_i64, count in 0..40_u64,
        row in 0..6_u64, row_step in -2..3_i64, row_count in 0..4_u64,
        list in prop::collection::vec(0..6_u64, 0..5),
        threads in 1..4_usize,
    ) {
        let len = usize::try_from(n).unwrap() * m as usize * 2;
        let data: Vec<Vec<u8>> = (0..frames).map(|f| (0..len).map(|at| (f * 7 + at) as u8).collect()).collect();
        let mut chunks: Vec<NewChunk<'_>> = Vec::new();
        for (frame, bytes) in data.iter().enumerate() {
            chunks.push((frame as u64, "other", ChunkType::Uint8, 3, 1, b"abc"));
            chunks.push((frame as u64, "a", ChunkType::Uint16, n, m, bytes));
        }
        for file in file("none", &chunks) {
            let chosen = Frames { start, step, count };
            let stack = StackedChunks::new(&file, "a", &chosen, Defaults::Schema);
            let valid = chosen.check(&file).is_ok();
            prop_assert_eq!(stack.is_ok(), valid);
            let Ok(stack) = stack else { continue };
            let picks: Vec<(Rows<'_>, Vec<i64>)> = vec![
                (Rows::All, (0..n as i64).collect()),
                (Rows::Strided { start: row, step: row_step, count: row_count },
                    (0..row_count as i64).map(|at| row as i64 + at * row_step).collect()),
                (Rows::List(&list), list.iter().map(|row| *row as i64).collect()),
            ];
            for (rows, picked) in picks {
                let inside = picked.iter().all(|row| (0..n as i64).contains(row));
                let inside = inside && (picked.len() < 2 || row_step != 0 || !matches!(rows, Rows::Strided { .. }));
                let result = stack.read(&rows, threads);
                prop_assert_eq!(result.is_ok(), inside, "{:?} of {}", rows, n);
                let Ok(array) = result else { continue };
                let width = m as usize * 2;
                let expected: Vec<u8> = (0..count)
                    .flat_map(|slot| {
                        let frame = usize::try_from(chosen.frame(slot).unwrap()).unwrap();
                        let data = &data;
                        picked.iter().flat_map(move |row| {
                            let at = usize::try_from(*row).unwrap() * width;
                            data[frame][at..at + width].to_vec()
                        })
                    })
                    .collect();
                prop_assert_eq!(&*array.bytes(Order::C, &file.options().limits).unwrap(), &expected[..]);
            }
        }
    }
}

#[test]
fn of_two_chunks_of_one_name_in_a_frame_the_one_that_a_search_finds_is_read() {
    let values: Vec<Vec<u8>> = (0_u8..5).map(|value| floats(&[value.into()])).collect();
    let chunks: Vec<NewChunk<'_>> = [(0, "a"), (0, "b"), (0, "c"), (1, "a"), (2, "a")]
        .into_iter()
        .zip(&values)
        .map(|((frame, name), value)| (frame, name, ChunkType::Float, 1, 1, value.as_slice()))
        .collect();
    let sound = to_vec(Plan::new("test", "none", Version::new(1, 0)).unwrap(), &chunks).unwrap();
    let index = File::from_source(Box::new(sound.clone()), &OpenOptions::default()).unwrap();
    let index = usize::try_from(index.header().index_location).unwrap();
    for ids in [[0, 0, 2], [0, 0, 0], [1, 1, 1], [0, 1, 1]] {
        let mut bytes = sound.clone();
        for (at, id) in ids.into_iter().enumerate() {
            bytes[index + 32 * at + 28] = id;
        }
        let file = File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap();
        for name in ["a", "b"] {
            let Some(found) = file.find_chunk(0, name) else { continue };
            let found = file.read_elements::<f32>(&found).unwrap()[0];
            let one = StackedChunks::new(&file, name, &Frames::range(0..1), Defaults::StoredOnly).unwrap();
            let one = one.read(&Rows::All, 1).unwrap();
            assert_eq!(one.elements::<f32>(Order::C, &file.options().limits).unwrap()[0], found);
        }
    }
}

/// Bytes that are only copied, and how many.
struct CountingSource(Vec<u8>, std::sync::Arc<[std::sync::atomic::AtomicU64; 2]>);

impl Source for CountingSource {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.1[0].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.1[1].fetch_add(dst.len() as u64, std::sync::atomic::Ordering::Relaxed);
        self.0.read_into(at, dst)
    }
}

#[test]
fn distant_chunks_are_read_without_the_bytes_between() {
    let (position, energy) = (vec![1; 12 << 10], 7_u64.to_le_bytes());
    let chunks: Vec<NewChunk<'_>> = (0..100)
        .flat_map(|frame| {
            let position: NewChunk<'_> =
                (frame, "particles/position", ChunkType::Float, 1 << 10, 3, &position);
            [
                position,
                (frame, "log/e", ChunkType::Double, 1, 1, &energy),
                (frame, "log/f", ChunkType::Double, 1, 1, &energy),
            ]
        })
        .collect();
    let bytes = to_vec(Plan::new("test", "hoomd", Version::new(1, 4)).unwrap(), &chunks).unwrap();
    let counts = std::sync::Arc::new([const { std::sync::atomic::AtomicU64::new(0) }; 2]);
    let source = CountingSource(bytes, std::sync::Arc::clone(&counts));
    let file = File::from_source(Box::new(source), &OpenOptions::default()).unwrap();
    let counted = || [0, 1].map(|of: usize| counts[of].swap(0, std::sync::atomic::Ordering::Relaxed));
    counted();
    let stack = StackedChunks::new(&file, "log/e", &Frames::all(&file), Defaults::Schema).unwrap();
    assert_eq!(stack.read(&Rows::All, 1).unwrap().shape(), [100, 1]);
    assert_eq!(counted(), [100, 800]);
    // Of two logs side by side both at once.
    let table = hoomd::columns::LogTable::read(&file, &Default::default()).unwrap();
    assert_eq!((table.len(), table.columns.len()), (100, 2));
    assert_eq!(counted(), [100, 1600]);
}

#[test]
fn distant_texts_are_read_without_the_bytes_between() {
    let (position, vector) = (vec![1; 12 << 10], [7; 24]);
    let state: Vec<String> = (0..100).map(|frame| format!("run {frame}")).collect();
    let chunks: Vec<NewChunk<'_>> = state
        .iter()
        .zip(0_u64..)
        .flat_map(|(state, frame)| {
            let position: NewChunk<'_> =
                (frame, "particles/position", ChunkType::Float, 1 << 10, 3, &position);
            let state: NewChunk<'_> =
                (frame, "log/state", ChunkType::Character, state.len() as u64, 1, state.as_bytes());
            // Every second frame has the text and the vector of frame 0.
            let phase: NewChunk<'_> = (frame, "log/phase", ChunkType::Character, 5, 1, b"fluid");
            let vector: NewChunk<'_> = (frame, "log/vector", ChunkType::Double, 3, 1, &vector);
            let own = [position, state, phase, vector];
            own.into_iter().take(if frame % 2 == 0 { 4 } else { 2 })
        })
        .collect();
    let bytes = to_vec(Plan::new("test", "hoomd", Version::new(1, 4)).unwrap(), &chunks).unwrap();
    let counts = std::sync::Arc::new([const { std::sync::atomic::AtomicU64::new(0) }; 2]);
    let source = CountingSource(bytes, std::sync::Arc::clone(&counts));
    let file = File::from_source(Box::new(source), &OpenOptions::default()).unwrap();
    let counted = || [0, 1].map(|of: usize| counts[of].swap(0, std::sync::atomic::Ordering::Relaxed));
    counted();
    let table = hoomd::columns::LogTable::read(&file, &Default::default()).unwrap();
    let Some(hoomd::columns::Values::Text(states)) = table.column("state").map(|column| &column.values)
    else {
        panic!("text")
    };
    assert!((0..100).all(|row| states.get(row) == Some(&*state[row])));
    let Some(hoomd::columns::Values::Text(phases)) = table.column("phase").map(|column| &column.values)
    else {
        panic!("text")
    };
    assert!((0..100).all(|row| phases.get(row) == Some("fluid")));
    // 50 vectors and frame 0's once more. In every second frame two texts, side by side after 8 bytes for the first.
    let alone: u64 = state.iter().skip(1).step_by(2).map(|state| state.len() as u64).sum();
    assert_eq!(counted(), [50 + 1 + 100, 51 * 24 + alone + 50 * (8 + 5)]);
}
