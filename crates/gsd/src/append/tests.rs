use container_core::array::Array;
use container_core::block::Block;
use container_core::container::{
    About, CheckDepth, Container, Dataset, FileStructure, Interchange, ReadOptions, Segment, require,
};
use container_core::dtype::{ByteOrder, DType, Order};
use container_core::format::TargetOptions;
use container_core::region::Region;
use container_core::report::Report;
use container_core::{ErrorKind, Progress, Value};

use super::*;
use crate::{File, OpenOptions as GsdOptions, Strictness, Version};

/// A GSD file or one array, as much of a container as an append reads.
struct Given {
    file: Option<File>,
    datasets: Vec<Dataset>,
    bytes: Vec<u8>,
}

impl Container for Given {
    fn about(&self) -> About {
        About { format: "given", version: None, size: 0, complete: true, details: vec![] }
    }

    fn meta(&self) -> Result<Value> {
        Ok(Value::Map(vec![]))
    }

    fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    fn read(&self, index: usize, region: &Region, _options: &ReadOptions) -> Result<Array<'_>> {
        let Dataset { dtype, shape, order, .. } = require(self, index)?.into_owned();
        Array::new(dtype, shape, order, self.bytes.as_slice().into())?.select(region)
    }
}

impl FileStructure for Given {
    fn blocks(&self) -> Vec<&dyn Block> {
        vec![]
    }

    fn byte_map(&self) -> Vec<Segment> {
        vec![]
    }

    fn check(&self, _: CheckDepth, _: &ReadOptions, _: Progress<'_>) -> Result<Report> {
        Err(Error::unsupported("not looked at"))
    }
}

impl Interchange for Given {
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        self.file.as_ref().map(|file| file as &dyn std::any::Any)
    }
}

fn array(path: &str, dtype: &str, shape: &[u64], bytes: &[u8]) -> Given {
    let dataset = Dataset {
        path: path.into(),
        dtype: DType::parse(dtype).unwrap(),
        shape: shape.to_vec(),
        order: Order::C,
        chunks: None,
        codec: "none".into(),
        stored: bytes.len() as u64,
        logical: bytes.len() as u64,
        attributes: vec![],
        visibility: container_core::container::Visibility::Always,
    };
    Given { file: None, datasets: vec![dataset], bytes: bytes.to_vec() }
}

fn add(path: &Path, given: &Given, words: &[(&str, &str)]) -> Result<Vec<Loss>> {
    let mut options = TargetOptions::default();
    options.extra = words.iter().map(|(word, value)| ((*word).to_owned(), (*value).to_owned())).collect();
    let selection: Vec<_> =
        given.datasets.iter().enumerate().map(|(at, one)| (at, Region::whole(&one.shape))).collect();
    let job = WriteRequest {
        container: given,
        selection: &selection,
        options: &options,
        read: ReadOptions::default(),
        progress: Progress::none(),
    };
    append(path, &OpenOptions::default(), &job, Durability::Cached)
}

type Chunk<'a> = (&'a str, ChunkType, u64, u32, &'a [u8]);

/// A file of a schema with the chunks of each frame.
fn make(path: &Path, schema: &str, frames: &[&[Chunk<'_>]]) {
    let options = WriterOptions::default().with_schema("a", schema, Version::new(2, 0));
    let mut writer = Writer::create(path, &options).unwrap();
    for frame in frames {
        for (name, chunk_type, n, m, bytes) in *frame {
            writer.write_chunk_bytes(name, *chunk_type, *n, *m, bytes).unwrap();
        }
        writer.end_frame().unwrap();
    }
    writer.close().unwrap();
}

fn opened(path: &Path) -> File {
    File::open_with(path, &GsdOptions::default().with_strictness(Strictness::Strict)).unwrap()
}

fn given(path: &Path) -> Given {
    Given { file: Some(opened(path)), datasets: vec![], bytes: vec![] }
}

/// The bytes of a chunk; `None` where a frame has none.
fn chunk(file: &File, frame: u64, name: &str) -> Option<Vec<u8>> {
    let entry = file.find_chunk(frame, name)?;
    Some(file.read_chunk(&entry).unwrap().into_owned())
}

#[test]
fn rows_of_an_array_become_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gsd");
    make(&path, "none", &[&[("x", ChunkType::Uint16, 2, 1, &[1, 0, 2, 0])]]);
    // Big-endian, and under another name: there is but one chunk it could go to.
    add(&path, &array("data", ">u2", &[2, 2], &[0, 3, 0, 4, 0, 5, 0, 6]), &[]).unwrap();
    // As long as a frame: one.
    add(&path, &array("x", "<u2", &[2], &[7, 0, 8, 0]), &[]).unwrap();
    add(&path, &array("x", "<u2", &[3, 2], &[0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 9, 0]), &[("frames", "-1:")])
        .unwrap();
    let file = opened(&path);
    assert_eq!(file.nframes(), 5);
    let all: Vec<_> = (0..5).map(|frame| chunk(&file, frame, "x").unwrap()).collect();
    assert_eq!(all, [[1, 0, 2, 0], [3, 0, 4, 0], [5, 0, 6, 0], [7, 0, 8, 0], [9, 0, 9, 0]]);
}

#[test]
fn rejected_append_leaves_the_file_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gsd");
    make(&path, "none", &[&[("x", ChunkType::Uint8, 2, 1, &[1, 2]), ("y", ChunkType::Uint8, 1, 1, &[3])]]);
    let before = std::fs::read(&path).unwrap();
    for (wrong, why) in [
        (array("z", "|u1", &[1, 2], &[1, 2]), "no chunk \"z\""),
        (array("x", "|i1", &[1, 2], &[1, 2]), "x: cannot append int8 (expected uint8)"),
        (array("x", "|u1", &[1, 3], &[1, 2, 3]), "shape [3] (expected [2])"),
        (array("x", "|u1", &[1, 2], &[1, 2]), "missing chunk \"y\""),
        (array("x", "<c8", &[1], &[0; 8]), "no type"),
    ] {
        let error = add(&path, &wrong, &[]).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    // Values that cannot be read after some could: the file ends within them.
    let mut cut = array("x", "|u1", &[1, 2], &[1, 2]);
    cut.datasets.push(array("y", "|u1", &[1], &[]).datasets.remove(0));
    cut.bytes.truncate(1);
    add(&path, &cut, &[]).unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let other = folder.path().join("b.gsd");
    make(&other, "hoomd", &[]);
    let error = add(&path, &given(&other), &[]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn frames_of_another_file_follow_with_all_their_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a.gsd"), folder.path().join("b.gsd"));
    make(&path, "none", &[&[("x", ChunkType::Uint8, 1, 1, &[1])]]);
    make(
        &other,
        "none",
        &[&[("y", ChunkType::Character, 2, 1, b"hi")], &[], &[("x", ChunkType::Int8, 0, 3, b"")]],
    );
    assert_eq!(add(&path, &given(&other), &[]).unwrap(), []);
    let file = opened(&path);
    assert_eq!((file.nframes(), file.index().len()), (4, 3));
    assert_eq!(chunk(&file, 1, "y").unwrap(), b"hi");
    assert_eq!((chunk(&file, 1, "x"), file.find_chunk(3, "x").unwrap().m), (None, 3));
    add(&path, &given(&other), &[("frames", "::-2")]).unwrap();
    let file = opened(&path);
    assert_eq!((file.nframes(), chunk(&file, 5, "y").unwrap().as_slice()), (6, &b"hi"[..]));
}

#[test]
fn frames_of_the_schema_read_the_same_in_their_new_place() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a.gsd"), folder.path().join("b.gsd"));
    let (two, one) = (2_u32.to_le_bytes(), 1_u32.to_le_bytes());
    let reals = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let (ten, twenty) = (10_u64.to_le_bytes(), 20_u64.to_le_bytes());
    let (masses, others) = (reals(&[5.0, 6.0]), reals(&[7.0, 8.0]));
    let charge = reals(&[0.5, 0.25]);
    make(
        &path,
        "hoomd",
        &[&[
            ("configuration/step", ChunkType::Uint64, 1, 1, &ten),
            ("particles/N", ChunkType::Uint32, 1, 1, &two),
            ("particles/mass", ChunkType::Float, 2, 1, &masses),
            ("particles/charge", ChunkType::Float, 2, 1, &charge),
            ("log/a", ChunkType::Uint8, 1, 1, &[1]),
        ]],
    );
    make(
        &other,
        "hoomd",
        &[
            // Step 0, charges 0 by default, no log; mass as there.
            &[
                ("particles/N", ChunkType::Uint32, 1, 1, &two),
                ("particles/mass", ChunkType::Float, 2, 1, &others),
            ],
            // Masses of frame 0.
            &[("configuration/step", ChunkType::Uint64, 1, 1, &twenty)],
            // One particle: mass 1 by default, here and there.
            &[("particles/N", ChunkType::Uint32, 1, 1, &one)],
        ],
    );
    let losses = add(&path, &given(&other), &[]).unwrap();
    assert_eq!(losses.len(), 1);
    assert_eq!(losses[0].dataset.as_deref(), Some("log/a"));
    let file = opened(&path);
    assert_eq!(file.nframes(), 4);
    let names = |frame: u64| {
        let index = file.index();
        let ids = file.frame_entries(frame).map(|at| index.get(at).unwrap().id);
        let mut names: Vec<String> = ids.map(|id| file.names().get(id).unwrap().into_owned()).collect();
        names.sort_unstable();
        names
    };
    let all = ["configuration/step", "particles/N", "particles/charge", "particles/mass"];
    assert_eq!(names(1), all);
    assert_eq!(chunk(&file, 1, "configuration/step").unwrap(), [0; 8]);
    assert_eq!(chunk(&file, 1, "particles/charge").unwrap(), [0; 8]);
    // As many particles as frame 0 here has, so that the count is not stored.
    assert_eq!(names(2), [all[0], all[2], all[3]]);
    assert_eq!(chunk(&file, 2, "particles/mass").unwrap(), others);
    assert_eq!(chunk(&file, 2, "particles/charge").unwrap(), [0; 8]);
    assert_eq!(names(3), [all[0], all[1]]);
}

/// gsd.hoomd fails at a table of one column.
#[test]
fn no_types_are_a_table_that_gsd_reads() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a.gsd"), folder.path().join("b.gsd"));
    let two = 2_u32.to_le_bytes();
    make(
        &path,
        "hoomd",
        &[&[("particles/N", ChunkType::Uint32, 1, 1, &two), ("bonds/types", ChunkType::Int8, 1, 2, b"b\0")]],
    );
    make(&other, "hoomd", &[&[("particles/N", ChunkType::Uint32, 1, 1, &two)]]);
    assert_eq!(add(&path, &given(&other), &[]).unwrap(), []);
    let entry = opened(&path).find_chunk(1, "bonds/types").unwrap();
    assert_eq!((entry.type_code, entry.n, entry.m), (ChunkType::Int8.code(), 0, 2));
}

#[test]
fn an_empty_file_takes_everything_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a.gsd"), folder.path().join("b.gsd"));
    make(&path, "hoomd", &[]);
    make(&other, "hoomd", &[&[("particles/N", ChunkType::Uint32, 1, 1, &[0; 4])]]);
    add(&path, &given(&other), &[]).unwrap();
    let file = opened(&path);
    assert_eq!((file.nframes(), file.index().len()), (1, 1));
    let path = folder.path().join("c.gsd");
    make(&path, "none", &[]);
    add(&path, &array("a/b", "<u2", &[2, 1, 1, 1], &[1, 0, 2, 0]), &[]).unwrap();
    let file = opened(&path);
    assert_eq!((file.nframes(), chunk(&file, 1, "a/b").unwrap()), (2, vec![2, 0]));
    assert_eq!(chunk(&file, 0, "a/b/shape").unwrap(), [1_u64; 3].map(u64::to_le_bytes).concat());
    // The stored shape is a frame's.
    add(&path, &array("a/b", "<u2", &[1, 1, 1, 1], &[3, 0]), &[]).unwrap();
    assert_eq!(opened(&path).nframes(), 3);
    assert_eq!(ByteOrder::Little, opened(&path).header().byte_order);
}

#[test]
fn no_frames_are_a_loss_where_the_source_has_some() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other, empty) =
        (folder.path().join("a.gsd"), folder.path().join("b.gsd"), folder.path().join("c.gsd"));
    make(&path, "none", &[&[("x", ChunkType::Uint8, 1, 1, &[1])]]);
    make(&other, "none", &[&[("x", ChunkType::Uint8, 1, 1, &[2])]]);
    make(&empty, "none", &[]);
    let none = Loss { dataset: None, what: "arrays without frames: no chunk stores them".into() };
    assert_eq!(add(&path, &given(&other), &[("frames", "1:")]).unwrap(), std::slice::from_ref(&none));
    assert_eq!(add(&path, &array("x", "|u1", &[0, 1], &[]), &[]).unwrap(), [none]);
    assert_eq!(add(&path, &given(&empty), &[]).unwrap(), []);
    assert_eq!(opened(&path).nframes(), 1);
    let error = add(&path, &given(&other), &[("frames", "9")]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    let named = folder.path().join("d.gsd");
    make(&named, "other", &[]);
    let error = add(&path, &given(&named), &[]).unwrap_err();
    assert!(error.to_string().contains("frames of schema \"other\" (expected \"none\")"), "{error}");
    assert_eq!(error.hint(), Some("FILE::PATH, to add an array"));
}

#[test]
fn arrays_are_compared_with_the_chunks_of_the_last_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gsd");
    let x = |n: u64, bytes: &'static [u8]| -> Chunk<'static> { ("x", ChunkType::Uint8, n, 1, bytes) };
    // In the last frame `x` has three rows; `y` is in frame 0 alone.
    make(&path, "none", &[&[x(2, &[1, 2]), ("y", ChunkType::Uint8, 1, 1, &[9])], &[x(3, &[1, 2, 3])]]);
    let refused = |array: &Given| add(&path, array, &[]).unwrap_err();
    let error = refused(&array("x", "|u1", &[2], &[1, 2]));
    assert!(error.to_string().contains("x: cannot append frames of shape [] (expected [3])"), "{error}");
    assert_eq!(error.hint(), Some("its first axis counts the frames"));
    let error = refused(&array("x", "|u1", &[3], &[1, 2, 3]));
    assert!(error.to_string().contains("missing chunk \"y\""), "{error}");
    assert_eq!(error.hint(), Some("a file with arrays of all their names"));
    let error = refused(&array("z", "|u1", &[3], &[1, 2, 3]));
    assert!(error.to_string().contains("the frames of this file have no chunk \"z\""), "{error}");
    assert_eq!(error.hint(), Some("an array named as one of: x, y"));
    let mut both = array("x", "|u1", &[2, 3], &[1, 2, 3, 4, 5, 6]);
    both.datasets.push(array("y", "|u1", &[2, 1], &[]).datasets.remove(0));
    add(&path, &both, &[]).unwrap_err();
    assert_eq!(opened(&path).nframes(), 2);
}

/// gsd.hoomd takes a log from frame 0 for each frame without it, and fails where that has none either.
#[test]
fn frames_that_gsd_hoomd_would_not_read_any_more_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (path, logged, silent) =
        (folder.path().join("a.gsd"), folder.path().join("b.gsd"), folder.path().join("c.gsd"));
    let steps = [1_u64, 2, 3, 4].map(u64::to_le_bytes);
    let step = |at: usize| ("configuration/step", ChunkType::Uint64, 1, 1, &steps[at][..]);
    make(&logged, "hoomd", &[&[step(2), ("log/e", ChunkType::Uint8, 1, 1, &[7])]]);
    make(&silent, "hoomd", &[&[step(3)]]);

    // Frame 0 is read without the log.
    make(&path, "hoomd", &[&[step(0)]]);
    assert!(add(&path, &given(&logged), &[]).unwrap().is_empty());
    // The next one is not.
    let before = std::fs::read(&path).unwrap();
    let error = add(&path, &given(&silent), &[]).unwrap_err();
    assert!(
        error.to_string().contains("would not read frame 2 any more: they and frame 0 lack log/e"),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("new-logs=keep"));
    assert_eq!(std::fs::read(&path).unwrap(), before);

    make(&path, "hoomd", &[&[step(0)], &[step(1)], &[step(1)]]);
    let before = std::fs::read(&path).unwrap();
    let error = add(&path, &given(&logged), &[]).unwrap_err();
    assert!(error.to_string().contains("frames 1 to 2 any more"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let losses = add(&path, &given(&logged), &[("new-logs", "drop")]).unwrap();
    assert_eq!(losses[0].dataset.as_deref(), Some("log/e"));
    let file = opened(&path);
    assert!(file.nframes() == 4 && file.names().id("log/e").is_none());
    drop(file);
    let losses = add(&path, &given(&logged), &[("new-logs", "keep")]).unwrap();
    assert!(losses[0].what.contains("does not read frames 1 to 3"), "{losses:?}");
    assert_eq!(chunk(&opened(&path), 4, "log/e").unwrap(), [7]);
}
