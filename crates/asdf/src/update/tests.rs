use container_core::container::ReadOptions;
use container_core::dtype::{DType, Kind, Order};
use container_core::region::Region;
use container_core::write::journal::{Journal, Patch};
use crash_test::RecordingStorage;

use super::*;
use crate::writer::Padding;
use crate::{File, IndexState};

mod values;

fn spec(len: u64) -> ArraySpec {
    ArraySpec::new(DType::native(Kind::Uint, 1), [len])
}

/// A file with two arrays of 100 and 200 bytes.
fn file(options: WriteOptions) -> Vec<u8> {
    let mut plan = Plan::new(options);
    let [a, b] = [100, 200].map(|len| plan.array(&spec(len)).unwrap());
    let mut bytes = Vec::new();
    let mut writer =
        plan.start(Yaml::mapping([("a", a), ("b", b), ("text", Yaml::text("x"))]), &mut bytes).unwrap();
    writer.write(&[1; 100]).unwrap();
    writer.write(&[2; 200]).unwrap();
    writer.finish().unwrap();
    bytes
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.asdf"), bytes).unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.asdf")
    }

    fn open<'a>(&self) -> Updater<'a> {
        Updater::open(self.path(), UpdateOptions::default()).unwrap()
    }

    /// The file, which must not have any findings.
    fn read(&self) -> File {
        let names: Vec<_> =
            std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a.asdf"]);
        let file = File::open(self.path()).unwrap();
        assert_eq!(file.faults().collect::<Vec<_>>(), Vec::<&crate::Fault>::new());
        file
    }
}

fn values(file: &File, path: &str) -> Vec<u8> {
    let options = ReadOptions::default();
    let shape: Vec<u64> = file.array(path).unwrap().array.shape.iter().map(|len| len.unwrap()).collect();
    let array = file.read(path, &Region::whole(&shape), &options).unwrap();
    array.bytes(Order::C, &options.limits).unwrap().into_owned()
}

fn give(bytes: &'static [u8]) -> DataSource<'static> {
    Box::new(move |put| put(bytes))
}

#[test]
fn a_tree_that_does_not_fit_moves_the_blocks() {
    let old = file(WriteOptions::default());
    let place = Place::new(&old);
    let mut updater = place.open();
    updater.set("text", &Yaml::text("longer")).unwrap();
    assert_eq!(updater.commit().unwrap(), CommitKind::NewFile);
    // Only the word, and the offsets in the index, which are as long.
    let new = std::fs::read(place.path()).unwrap();
    let index = |file: &[u8]| {
        Layout::parse(&file.to_vec(), &Limits::default()).unwrap().index.unwrap().start as usize
    };
    let at = old.windows(7).position(|here| here == b"text: x").unwrap() + 6;
    let expected = [&old[..at], b"longer", &old[at + 1..index(&old)]].concat();
    assert!(new[..index(&new)] == expected);
    let file = place.read();
    assert_eq!((file.layout().index_state, values(&file, "b")), (IndexState::Valid, vec![2; 200]));
    // The same updater continues with the new file, which is locked.
    assert!(cfg!(windows) || Updater::open(place.path(), UpdateOptions::default()).is_err());
    updater.set("text", &Yaml::text("x")).unwrap();
    assert_eq!(updater.commit().unwrap(), CommitKind::OneWrite);
    assert_eq!(updater.commit().unwrap(), CommitKind::Unchanged);
    assert_eq!(place.read().tree().find("text").unwrap().text(), "x");
}

/// Other programs may replace the file without asking for the lock.
#[cfg(unix)]
#[test]
fn a_file_that_another_program_has_replaced_is_not_replaced_again() {
    let place = Place::new(&file(WriteOptions::default()));
    let mut updater = place.open();
    updater.set("text", &Yaml::text("longer")).unwrap();
    let other = place.folder.path().join("other");
    std::fs::write(&other, b"theirs").unwrap();
    std::fs::rename(&other, place.path()).unwrap();
    let refused = updater.commit().unwrap_err();
    assert!(refused.to_string().contains("replaced by another program"), "{refused}");
    assert_eq!(std::fs::read(place.path()).unwrap(), b"theirs");
}

#[test]
fn failed_add_array_leaves_the_file_unchanged() {
    let old = file(WriteOptions { padding: Padding::Factor(1.1), ..WriteOptions::default() });
    for full in [true, false] {
        let storage = RecordingStorage::with_journal(&old);
        let (own, beside) = (Box::new(storage.clone()), Box::new(storage.clone()));
        let mut updater = Updater::open_storage(own, beside, UpdateOptions::default()).unwrap();
        let data: DataSource<'_> = Box::new(|put| {
            put(&[7; 3000])?;
            Err(Error::usage("their own fault"))
        });
        let data = if full { give(&[7; 4000]) } else { data };
        updater.add_array("c", &spec(4000), data).unwrap();
        storage.set_room(full.then_some(old.len() as u64 + 1000));
        updater.commit().unwrap_err();
        assert!(storage.file() == old && storage.journal().is_none(), "{full}");
    }
}

#[test]
fn blocks_that_are_aligned_stay_so() {
    for options in [
        WriteOptions { align: Some(4096), ..WriteOptions::default() },
        WriteOptions { padding: Padding::Factor(1.1), ..WriteOptions::default() },
    ] {
        let place = Place::new(&file(options));
        let mut updater = place.open();
        let before: Vec<u64> = updater.layout().blocks.iter().map(|block| block.data.start % 4096).collect();
        updater.set("text", &Yaml::text("long ".repeat(2000))).unwrap();
        assert_eq!(updater.commit().unwrap(), CommitKind::NewFile);
        let file = place.read();
        let after: Vec<u64> = file.blocks().iter().map(|block| block.data.start % 4096).collect();
        assert_eq!(before, after);
        assert_eq!((values(&file, "a"), values(&file, "b")), (vec![1; 100], vec![2; 200]));
    }
}

#[test]
fn arrays_are_added_in_place_and_by_a_new_file() {
    for (options, expected) in [
        (WriteOptions { padding: Padding::Factor(1.1), ..WriteOptions::default() }, CommitKind::Journal),
        (WriteOptions::default(), CommitKind::NewFile),
    ] {
        let place = Place::new(&file(options));
        let mut updater = place.open();
        updater.add_array("c", &spec(5), give(b"added")).unwrap();
        updater.add_array("d", &spec(4000).compressed("zlib", None), give(&[7; 4000])).unwrap();
        updater.add_inline("e", &spec(2), &[8, 9]).unwrap();
        assert_eq!(updater.commit().unwrap(), expected);
        let file = place.read();
        assert_eq!(file.blocks().len(), 4);
        for (path, value) in
            [("a", vec![1; 100]), ("c", b"added".to_vec()), ("d", vec![7; 4000]), ("e", vec![8, 9])]
        {
            assert_eq!(values(&file, path), value, "{path}");
        }
        assert_eq!(file.blocks()[3].label(), Some("zlib"));
    }
}

#[test]
fn data_of_another_length_are_refused() {
    let old = file(WriteOptions { padding: Padding::Factor(1.1), ..WriteOptions::default() });
    for data in [&b"four"[..], b"sixsix"] {
        let place = Place::new(&old);
        let mut updater = place.open();
        updater.add_array("c", &spec(5), give(data)).unwrap();
        assert!(updater.commit().is_err());
        drop(updater);
        // The next one cuts off the written bytes.
        drop(place.open());
        assert!(std::fs::read(place.path()).unwrap() == old);
        place.read();
    }
}

#[test]
fn numbers_from_the_end_are_put_right() {
    let old = file(WriteOptions::default());
    let at = old.windows(9).position(|here| here == b"source: 1").unwrap() + 8;
    let place = Place::new(&[&old[..at], b"-1", &old[at + 1..]].concat());
    let mut updater = place.open();
    updater.add_array("c", &spec(5), give(b"added")).unwrap();
    updater.commit().unwrap();
    let file = place.read();
    assert_eq!((values(&file, "b"), values(&file, "c")), (vec![2; 200], b"added".to_vec()));
    assert_eq!(file.tree().find("b/source").unwrap().text(), "1");
}

#[test]
fn replaced_blocks_keep_codec_and_place_or_make_room() {
    let mut plan = Plan::new(WriteOptions::default());
    let nodes = [0, 1].map(|_| plan.array(&spec(1000).compressed("zlib", None)).unwrap());
    let mut bytes = Vec::new();
    let mut writer = plan.start(Yaml::mapping([("n", Yaml::sequence(nodes))]), &mut bytes).unwrap();
    let noise: Vec<u8> = (0..1000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    writer.write(&noise).unwrap();
    writer.write(&[0; 1000]).unwrap();
    writer.finish().unwrap();
    let place = Place::new(&bytes);
    let mut updater = place.open();
    let allocated = updater.layout().blocks[0].header.allocated_size;
    updater.replace_block(0, &[5; 1000]).unwrap();
    assert_eq!(updater.commit().unwrap(), CommitKind::Journal);
    let file = place.read();
    assert_eq!(file.blocks()[0].header.allocated_size, allocated);
    assert!(file.blocks()[0].header.used_size < allocated);
    assert_eq!(values(&file, "n/0"), [5; 1000]);
    // Noise does not fit where zeros were.
    updater.replace_block(1, &noise).unwrap();
    assert_eq!(updater.commit().unwrap(), CommitKind::NewFile);
    let file = place.read();
    assert_eq!((values(&file, "n/0"), values(&file, "n/1")), (vec![5; 1000], noise.clone()));
    assert_eq!(file.blocks()[1].label(), Some("zlib"));
    assert!(updater.replace_block(2, &[]).is_err());
}

#[test]
fn files_without_blocks_and_with_odd_ends() {
    let text = b"#ASDF 1.0.0\n# mine\n%YAML 1.1\n---\na: 1 # one\n...\n";
    let place = Place::new(text);
    let mut updater = place.open();
    updater.set("a", &Yaml::int(12)).unwrap();
    assert_eq!(updater.commit().unwrap(), CommitKind::NewFile);
    assert_eq!(
        std::fs::read(place.path()).unwrap(),
        b"#ASDF 1.0.0\n# mine\n%YAML 1.1\n---\na: 12 # one\n...\n"
    );
    updater.add_array("b", &spec(5), give(b"added")).unwrap();
    assert_eq!(updater.commit().unwrap(), CommitKind::NewFile);
    let opened = File::open(place.path()).unwrap();
    assert_eq!(values(&opened, "b"), b"added");
    assert_eq!(opened.layout().index_state, IndexState::Valid);
    drop(updater);
    // NULs after the index stay as they are; so does junk, if no block is added.
    let old = file(WriteOptions { padding: Padding::Factor(1.1), ..WriteOptions::default() });
    let place = Place::new(&[&old[..], &[0; 5000]].concat());
    let mut updater = place.open();
    updater.add_array("c", &spec(5), give(b"added")).unwrap();
    assert_eq!(updater.commit().unwrap(), CommitKind::Journal);
    assert_eq!(values(&place.read(), "c"), b"added");
    drop(updater);
    let place = Place::new(&[&old[..], b"junk"].concat());
    let mut updater = place.open();
    updater.set("text", &Yaml::text("y")).unwrap();
    assert_eq!(updater.commit().unwrap(), CommitKind::OneWrite);
    assert!(std::fs::read(place.path()).unwrap().ends_with(b"junk"));
    updater.add_array("c", &spec(5), give(b"added")).unwrap();
    assert_eq!(updater.commit().unwrap(), CommitKind::NewFile);
    assert!(std::fs::read(place.path()).unwrap().ends_with(b"...\njunk"));
    assert_eq!(values(&File::open(place.path()).unwrap(), "c"), b"added");
    drop(updater);
    let index = Layout::parse(&old, &Limits::default()).unwrap().index.unwrap();
    let place = Place::new(&[&old[..index.start as usize], b"junk"].concat());
    let error = place.open().add_array("c", &spec(5), give(b"added")).unwrap_err();
    assert_eq!(error.range(), Some(index.start..index.start + 4));
}

#[test]
fn a_streamed_block_takes_no_arrays_but_other_changes() {
    let mut plan = Plan::new(WriteOptions::default());
    let node = plan.streamed(&spec(0)).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        plan.start(Yaml::mapping([("rows", node), ("text", Yaml::text("x"))]), &mut bytes).unwrap();
    writer.write(b"rows").unwrap();
    writer.finish().unwrap();
    let place = Place::new(&bytes);
    let mut updater = place.open();
    assert!(updater.add_array("c", &spec(5), give(b"added")).is_err());
    assert!(updater.replace_block(0, b"x").is_err());
    updater.set("text", &Yaml::text("longer")).unwrap();
    assert_eq!(updater.commit().unwrap(), CommitKind::NewFile);
    let file = place.read();
    assert!(file.blocks()[0].header.is_streamed());
    assert_eq!(file.source().read(file.blocks()[0].data.clone()).unwrap(), &b"rows"[..]);
}

/// A journal that a crash left: readers of the path see the file with its changes, and write nothing.
#[test]
fn readers_see_what_a_journal_promises() {
    let old = file(WriteOptions { padding: Padding::Factor(1.1), ..WriteOptions::default() });
    let place = Place::new(&old);
    let mut updater = place.open();
    updater.replace_block(0, &[3; 100]).unwrap();
    updater.set("text", &Yaml::text("other")).unwrap();
    let patches = updater.patches().unwrap();
    let len = old.len() as u64;
    drop(updater);
    let beside = place.folder.path().join("a.asdf.asdfjournal");
    let change = Journal::new(len, len, patches.clone()).unwrap();
    std::fs::write(&beside, change.encode(&in_place::KIND)).unwrap();
    // The file is still unchanged, so that it is read as it is.
    let file = File::open(place.path()).unwrap();
    assert_eq!((values(&file, "a"), file.tree().find("text").unwrap().text()), (vec![1; 100], "x"));
    assert!(std::fs::read(place.path()).unwrap() == old && beside.exists());
    let mut torn = old.clone();
    let first = &patches[0];
    let at = usize::try_from(first.at).unwrap();
    torn[at..at + first.new.len()].copy_from_slice(&first.new);
    std::fs::write(place.path(), &torn).unwrap();
    let file = File::open(place.path()).unwrap();
    assert_eq!((values(&file, "a"), file.tree().find("text").unwrap().text()), (vec![3; 100], "other"));
    assert!(std::fs::read(place.path()).unwrap() == torn && beside.exists());
    let added = Patch { at: len, old: Vec::new(), new: b"half a block and the rest".to_vec() };
    let grow = Journal::new(len, len + 25, vec![added]).unwrap();
    std::fs::write(&beside, grow.encode(&in_place::KIND)).unwrap();
    std::fs::write(place.path(), [&old[..], b"half a block"].concat()).unwrap();
    let file = File::open(place.path()).unwrap();
    assert_eq!((file.layout().size, values(&file, "a")), (len, vec![1; 100]));
    drop(place.open());
    assert!(std::fs::read(place.path()).unwrap() == old && !beside.exists());
}

/// NULs may take the place of the newline after the dots. A tree that grows over the last of them needs its own.
#[test]
fn dots_without_a_newline_stay_a_line() {
    let head = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n";
    for room in 1..12 {
        for value in ["", "1", "123", "123456789"] {
            let tree = "%YAML 1.1\n---\na: {b: 12}\n...";
            let block =
                [&b"\xd3BLK\0\x30"[..], &[0; 8], &[0, 0, 0, 0, 0, 0, 0, 2].repeat(3), &[0; 16], b"xy"]
                    .concat();
            let place = Place::new(&[head.as_bytes(), tree.as_bytes(), &vec![0; room], &block].concat());
            let mut updater = place.open();
            updater.set("a/b", &Yaml::text(value)).unwrap();
            updater.commit().unwrap();
            let file = File::open(place.path()).unwrap();
            assert_eq!(file.tree().find("a/b").unwrap().text(), value, "{room}");
            assert_eq!(
                (file.blocks().len(), file.faults().count()),
                (1, 1),
                "{room} {value}: {:?}",
                file.faults().collect::<Vec<_>>()
            );
            assert_eq!(*file.read_block(0, &ReadOptions::default()).unwrap(), *b"xy");
        }
    }
    let place = Place::new(&file(WriteOptions::default()));
    let mut updater = place.open();
    assert!(updater.set_text("%YAML 1.1\n---\na: 1\n").is_err());
    assert!(updater.set_text("%YAML 1.1\n---\na: 1\n...\n").is_ok());
}
