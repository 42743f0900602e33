use std::path::Path;

use container_core::dtype::{DType, Kind};
use container_core::write::{Durability, Overwrite};

use super::*;
use crate::writer::ArraySpec;

/// Three arrays of bytes, named out of order, one of them twice, one from the end; comments of the user's.
fn file(folder: &Path, streamed: bool) -> PathBuf {
    let mut plan = Plan::new(WriteOptions::default());
    let spec = |len: u64| ArraySpec::new(DType::native(Kind::Uint, 1), [len]);
    let nodes: Vec<Yaml> = (0..3).map(|number| plan.array(&spec(number * 100)).unwrap()).collect();
    let mut tree = vec![
        ("c", nodes[2].clone()),
        ("a", nodes[0].clone()),
        ("b", nodes[1].clone()),
        ("c2", nodes[2].clone()),
    ];
    if streamed {
        tree.push(("rows", plan.streamed(&spec(0)).unwrap()));
    }
    let mut bytes = Vec::new();
    let mut writer = plan.start(Yaml::mapping(tree), &mut bytes).unwrap();
    writer.write(&(0..300).map(|at| (at % 251) as u8).collect::<Vec<u8>>()).unwrap();
    if streamed {
        writer.write(b"rows").unwrap();
    }
    writer.finish().unwrap();
    let path = folder.join("x.asdf");
    std::fs::write(&path, bytes).unwrap();
    path
}

fn explode_into(folder: &Path, path: &Path, name: &str) -> ExplodeReport {
    let file = File::open(path).unwrap();
    explode(&file, &folder.join(name), Overwrite::Refuse, Durability::Cached, &WriteOptions::default())
        .unwrap()
}

fn imploded(path: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    implode(&File::open(path).unwrap(), &WriteOptions::default(), &mut out).unwrap();
    out
}

#[test]
fn a_file_comes_back_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), false);
    let done = explode_into(folder.path(), &path, "y.asdf");
    let names: Vec<&str> =
        done.files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["y0000.asdf", "y0001.asdf", "y0002.asdf", "y.asdf"]);
    let (old, tree) =
        (std::fs::read(&path).unwrap(), std::fs::read_to_string(folder.path().join("y.asdf")).unwrap());
    let text = String::from_utf8_lossy(&old);
    let text = text.split_once('\u{fffd}').unwrap().0;
    let mut expected = text.to_owned();
    for number in 0..3 {
        expected = expected.replace(&format!("source: {number}"), &format!("source: y{number:04}.asdf"));
    }
    assert_eq!(tree, expected);
    let other = File::open(folder.path().join("y0002.asdf")).unwrap();
    assert_eq!(other.layout().faults, []);
    assert_eq!(other.blocks()[0].header, File::open(&path).unwrap().blocks()[2].header);
    assert_eq!(imploded(&folder.path().join("y.asdf")), old);
}

#[test]
fn an_edit_by_hand_is_a_direct_edit() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), false);
    explode_into(folder.path(), &path, "y.asdf");
    let edit = |text: &str| text.replace("\na: !core", "\n# by hand\nnew: {x: 1}\na:   !core");
    let tree = folder.path().join("y.asdf");
    let text = std::fs::read_to_string(&tree).unwrap();
    assert_ne!(edit(&text), text);
    std::fs::write(&tree, edit(&text)).unwrap();
    let file = File::open(&path).unwrap();
    let end = usize::try_from(file.layout().tree.clone().unwrap().end).unwrap();
    let direct = edit(std::str::from_utf8(&std::fs::read(&path).unwrap()[..end]).unwrap());
    let both = imploded(&tree);
    assert_eq!(std::str::from_utf8(&both[..direct.len()]).unwrap(), direct);
    let both = File::from_bytes(both, crate::OpenOptions::default()).unwrap();
    assert_eq!(both.layout().faults, []);
    for (old, new) in file.blocks().iter().zip(both.blocks()) {
        assert_eq!(old.header, new.header);
        assert_eq!(
            file.source().read(old.data.clone()).unwrap(),
            both.source().read(new.data.clone()).unwrap()
        );
    }
}

#[test]
fn a_streamed_block_stays_streamed_in_its_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), true);
    explode_into(folder.path(), &path, "y.asdf");
    let last = File::open(folder.path().join("y0003.asdf")).unwrap();
    let block = &last.blocks()[0];
    let streamed = File::open(&path).unwrap().blocks()[3].header;
    assert_eq!((block.header, last.layout().index.clone()), (streamed, None));
    assert_eq!(*last.source().read(block.data.clone()).unwrap(), *b"rows");
    let whole =
        File::from_bytes(imploded(&folder.path().join("y.asdf")), crate::OpenOptions::default()).unwrap();
    assert_eq!((whole.blocks().len(), whole.layout().faults.len()), (4, 0));
}

#[test]
fn external_file_names_are_percent_encoded_in_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), false);
    explode_into(folder.path(), &path, "my file%é.asdf");
    let tree = folder.path().join("my file%é.asdf");
    assert!(std::fs::read_to_string(&tree).unwrap().contains("source: my%20file%25%C3%A90000.asdf\n"));
    assert!(folder.path().join("my file%é0000.asdf").exists());
    assert_eq!(imploded(&tree), std::fs::read(&path).unwrap());
}

#[test]
fn failed_explode_removes_the_files_it_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), false);
    std::fs::write(folder.path().join("y0002.asdf"), b"mine").unwrap();
    let file = File::open(&path).unwrap();
    let target = folder.path().join("y.asdf");
    assert!(
        explode(&file, &target, Overwrite::Refuse, Durability::Cached, &WriteOptions::default()).is_err()
    );
    assert_eq!(std::fs::read(folder.path().join("y0002.asdf")).unwrap(), b"mine");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// An explosion over an earlier one, which may have been edited since.
#[test]
fn failed_explode_preserves_the_files_of_an_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), false);
    let at = |name: &str| folder.path().join(name);
    for name in ["y0000.asdf", "y0002.asdf"] {
        std::fs::write(at(name), b"mine").unwrap();
    }
    std::fs::create_dir(at("y.asdf")).unwrap();
    let again = || {
        let file = File::open(&path).unwrap();
        let options = WriteOptions::default();
        explode(&file, &at("y.asdf"), Overwrite::Replace, Durability::Cached, &options)
    };
    assert!(again().is_err());
    for name in ["y0000.asdf", "y0002.asdf"] {
        assert_eq!(std::fs::read(at(name)).unwrap(), b"mine");
    }
    assert!(!at("y0001.asdf").exists());
    std::fs::remove_dir(at("y.asdf")).unwrap();
    let done = again().unwrap();
    assert_eq!(done.files.len(), 4);
    assert!(imploded(&at("y.asdf")) == std::fs::read(&path).unwrap());
}

#[test]
fn own_blocks_stay_first_and_numbers_are_put_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), true);
    explode_into(folder.path(), &path, "y.asdf");
    // A block of its own, named from the end.
    let mut text = std::fs::read(folder.path().join("y.asdf")).unwrap();
    let dots = text.len() - 4;
    text.splice(dots..dots, *b"own: !core/ndarray-1.1.0 {source: -1, datatype: uint8, byteorder: big, shape: [3]}\nself: !core/ndarray-1.1.0 {source: '#', datatype: uint8, byteorder: big, shape: [2]}\n");
    text.extend_from_slice(
        b"\xd3BLK\0\x30\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x03",
    );
    text.extend_from_slice(&[0; 16]);
    text.extend_from_slice(b"own");
    std::fs::write(folder.path().join("y.asdf"), text).unwrap();
    let whole = imploded(&folder.path().join("y.asdf"));
    let shown = String::from_utf8_lossy(&whole);
    assert!(
        shown.contains("own: !core/ndarray-1.1.0 {source: 0,")
            && shown.contains("self: !core/ndarray-1.1.0 {source: 0,")
    );
    assert!(shown.contains("c: !core/ndarray-1.1.0\n  source: 3\n"), "{shown}");
    assert!(shown.contains("rows: !core/ndarray-1.1.0\n  source: 4\n"), "{shown}");
    let whole = File::from_bytes(whole, crate::OpenOptions::default()).unwrap();
    assert_eq!((whole.blocks().len(), whole.layout().faults.len()), (5, 0));
    assert_eq!(&*whole.source().read(whole.blocks()[0].data.clone()).unwrap(), b"own");
}

#[test]
fn blocks_of_other_files_come_along() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), false);
    explode_into(folder.path(), &path, "y.asdf");
    let other = tempfile::tempdir().unwrap();
    let again = explode_into(other.path(), &folder.path().join("y.asdf"), "z.asdf");
    let names: Vec<&str> =
        again.files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["z0000.asdf", "z0001.asdf", "z0002.asdf", "z.asdf"]);
    for number in 0..3 {
        let block = |folder: &Path, name: &str| {
            std::fs::read(folder.join(format!("{name}{number:04}.asdf"))).unwrap()
        };
        assert!(block(folder.path(), "y") == block(other.path(), "z"), "{number}");
    }
    assert_eq!(imploded(&other.path().join("z.asdf")), std::fs::read(&path).unwrap());
    // A name without a file is not kept.
    std::fs::remove_file(folder.path().join("y0001.asdf")).unwrap();
    let file = File::open(folder.path().join("y.asdf")).unwrap();
    let target = other.path().join("w.asdf");
    explode(&file, &target, Overwrite::Refuse, Durability::Cached, &WriteOptions::default()).unwrap_err();
    assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 4);
}

#[test]
fn a_file_that_the_source_names_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), false);
    explode_into(folder.path(), &path, "y.asdf");
    let before = std::fs::read(folder.path().join("y0000.asdf")).unwrap();
    std::fs::rename(folder.path().join("y.asdf"), folder.path().join("tree.asdf")).unwrap();
    let file = File::open(folder.path().join("tree.asdf")).unwrap();
    for name in ["y.asdf", "y0001.asdf"] {
        let target = folder.path().join(name);
        let options = WriteOptions::default();
        let error = explode(&file, &target, Overwrite::Replace, Durability::Cached, &options).unwrap_err();
        assert!(error.to_string().contains("is a part of the source"), "{name}: {error}");
    }
    assert_eq!(std::fs::read(folder.path().join("y0000.asdf")).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 5);
}

/// Blocks follow it, so that it needs sizes.
#[test]
fn a_streamed_block_before_others_gets_its_sizes() {
    let folder = tempfile::tempdir().unwrap();
    explode_into(folder.path(), &file(folder.path(), false), "y.asdf");
    let path = folder.path().join("y.asdf");
    let mut text = std::fs::read(&path).unwrap();
    let dots = text.len() - 4;
    text.splice(
        dots..dots,
        *b"own: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: big, shape: ['*']}\n",
    );
    text.extend_from_slice(b"\xd3BLK\0\x30\0\0\0\x01");
    text.extend_from_slice(&[0; 44]);
    text.extend_from_slice(b"own");
    std::fs::write(&path, text).unwrap();
    let whole = File::from_bytes(imploded(&path), crate::OpenOptions::default()).unwrap();
    assert_eq!((whole.blocks().len(), whole.layout().faults.len()), (4, 0));
    let block = &whole.blocks()[0];
    let header = block.header;
    assert_eq!((header.flags, header.allocated_size, header.used_size, header.data_size), (0, 3, 3, 3));
    assert_eq!(header.digest().unwrap(), crate::BlockHeader::ALGORITHM.digest(b"own"));
    assert_eq!(&*whole.source().read(block.data.clone()).unwrap(), b"own");
}
