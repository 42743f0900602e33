//! In the reference's scheme the same calls give the file that gsd 5.0.1 wrote, byte for byte.
//!
//! The calls are read back from the reference's files: names have ids in the order of their first use, and chunks are in the order in which they were
//! written.

use std::path::PathBuf;

use container_core::write::storage::FileStorage;
use gsd::{ChunkType, Commit, CommitScheme, File, Version, Writer, WriterOptions};

fn fixture(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd");
    let found = ["ok", "odd"].map(|kind| folder.join(kind).join(format!("{name}.gsd")));
    found.into_iter().find(|path| path.exists()).unwrap_or_else(|| panic!("no fixture {name}"))
}

fn options() -> WriterOptions {
    WriterOptions::default()
        .with_schema("make.py", "none", Version::new(1, 2))
        .with_scheme(CommitScheme::Reference)
        .with_commit(Commit::Manual)
}

/// A file to write, in a folder that goes with it.
struct Target {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Target {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { path: folder.path().join("a.gsd"), _folder: folder }
    }

    fn create(&self) -> Writer<FileStorage> {
        Writer::create(&self.path, &options()).unwrap()
    }

    fn open(&self) -> Writer<FileStorage> {
        Writer::open(&self.path, &options()).unwrap()
    }

    fn assert_is(&self, name: &str) {
        let (found, expected) = (std::fs::read(&self.path).unwrap(), std::fs::read(fixture(name)).unwrap());
        let differs = found.iter().zip(&expected).position(|(one, other)| one != other);
        assert_eq!((found.len(), differs), (expected.len(), None), "{name}");
    }
}

/// Writes frame `frame` of a file of the reference.
fn write_frame(writer: &mut Writer<FileStorage>, file: &File, frame: u64) {
    let mut entries: Vec<_> = file.index().slice(file.frame_entries(frame)).iter().collect();
    entries.sort_by_key(|entry| (entry.location, entry.id));
    for entry in entries {
        let name = file.names().get(entry.id).unwrap();
        let bytes = file.read_chunk(&entry).unwrap();
        let chunk_type = entry.chunk_type().unwrap();
        writer.write_chunk_bytes(&name, chunk_type, entry.n, entry.m, &bytes).unwrap();
    }
    writer.end_frame().unwrap();
}

#[test]
fn files_of_one_session() {
    let every = |frames: u64| move |frame: u64| frame.is_multiple_of(frames);
    let never = |_| false;
    let cases: &[(&str, &dyn Fn(u64) -> bool)] = &[
        ("fl_0_frames", &never),
        ("fl_1_frame", &never),
        ("fl_all_empty", &never),
        ("fl_all_types", &never),
        ("fl_columns_change", &never),
        ("fl_empty_at_the_end", &never),
        ("fl_f4", &never),
        ("fl_f8", &never),
        ("fl_i1", &never),
        ("fl_names", &never),
        ("fl_names_full", &never),
        ("fl_order", &never),
        ("fl_rows_change", &never),
        ("fl_shapes", &never),
        ("fl_sparse", &never),
        ("fl_strings", &never),
        ("fl_type_changes", &never),
        ("fl_u8", &never),
        ("fl_200_frames", &never),
        ("fl_empty_between", &never),
        ("fl_empty_first", &never),
        ("fl_long_names", &never),
        ("fl_many_names", &never),
        ("fl_flushes", &every(1)),
        ("fl_index_moves_twice", &every(7)),
    ];
    for (name, flush_after) in cases {
        let file = File::open(fixture(name)).unwrap();
        let target = Target::new();
        let mut writer = target.create();
        for frame in 0..file.nframes() {
            write_frame(&mut writer, &file, frame);
            if flush_after(frame) {
                writer.flush().unwrap();
            }
        }
        writer.close().unwrap();
        target.assert_is(name);
    }
}

#[test]
fn a_file_of_several_sessions() {
    let file = File::open(fixture("fl_reopened")).unwrap();
    let target = Target::new();
    for session in 0..3 {
        let mut writer = if session == 0 { target.create() } else { target.open() };
        write_frame(&mut writer, &file, 2 * session);
        write_frame(&mut writer, &file, 2 * session + 1);
        writer.close().unwrap();
    }
    target.assert_is("fl_reopened");
}

#[test]
fn frames_that_were_not_ended() {
    let file = File::open(fixture("fl_unended")).unwrap();
    let target = Target::new();
    let mut writer = target.create();
    (0..2).for_each(|frame| write_frame(&mut writer, &file, frame));
    let len = file.source().len();
    let orphan = file.source().read(len - 20..len).unwrap();
    writer.write_chunk_bytes("x", ChunkType::Int16, 10, 1, &orphan).unwrap();
    // Their data are left.
    writer.close().unwrap();
    target.assert_is("fl_unended");

    let target = Target::new();
    let mut writer = target.create();
    writer.write_chunk("used", 1, 1, &[1_u8]).unwrap();
    writer.end_frame().unwrap();
    writer.write_chunk("unused", 1, 1, &[2_u8]).unwrap();
    writer.flush().unwrap();
    writer.close().unwrap();
    target.assert_is("fl_names_unused");
}

#[test]
fn a_file_that_was_truncated() {
    let file = File::open(fixture("fl_truncated_then_written")).unwrap();
    let target = Target::new();
    let mut writer = target.create();
    for _ in 0..3 {
        writer.write_chunk("old", 20, 1, &[0.5_f64; 20]).unwrap();
        writer.end_frame().unwrap();
    }
    writer.flush().unwrap();
    writer.truncate().unwrap();
    (0..2).for_each(|frame| write_frame(&mut writer, &file, frame));
    writer.close().unwrap();
    target.assert_is("fl_truncated_then_written");
}

#[test]
fn files_of_older_versions() {
    for (start, name) in [("v1_small", "append5_v1"), ("v20_small", "append5_v20")] {
        let target = Target::new();
        std::fs::copy(fixture(start), &target.path).unwrap();
        let mut writer = target.open();
        write_frame(&mut writer, &File::open(fixture(name)).unwrap(), 3);
        writer.close().unwrap();
        target.assert_is(name);
    }
    let target = Target::new();
    std::fs::copy(fixture("v1_small"), &target.path).unwrap();
    let mut writer = target.open();
    writer.upgrade().unwrap();
    writer.close().unwrap();
    target.assert_is("upgrade5_v1");
}
