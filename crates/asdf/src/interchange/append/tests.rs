//! Rows of `.npy` files, appended to streamed arrays.

use std::fs;

use container_core::container::{Container, ReadOptions};
use container_core::format::{Input, TargetOptions};
use container_core::region::Region;
use container_core::{ErrorKind, Progress, npy};

use super::*;

/// A `.npy` file of version 1.0, by numpy's format description.
fn rows(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Box<dyn Container> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    (npy::FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default()).unwrap()
}

/// A file of these lines, and of a block whose data end with the file.
fn streamed(lines: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = tree(lines);
    bytes.extend_from_slice(b"\xd3BLK\0\x30\0\0\0\x01");
    bytes.extend_from_slice(&[0; 44]);
    bytes.extend_from_slice(data);
    bytes
}

fn tree(lines: &str) -> Vec<u8> {
    format!(
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n{lines}\n...\n"
    )
    .into_bytes()
}

fn array(source: &str, datatype: &str, rest: &str) -> String {
    format!("!core/ndarray-1.1.0 {{source: {source}, datatype: {datatype}, byteorder: little, {rest}}}")
}

fn pairs() -> String {
    format!("a: {}", array("0", "uint16", "shape: ['*', 2]"))
}

fn appended(path: &Path, source: &dyn Container, options: &TargetOptions) -> Result<Vec<Loss>> {
    let selection: Vec<(usize, Region)> = source
        .datasets()
        .iter()
        .enumerate()
        .map(|(index, dataset)| (index, Region::whole(&dataset.shape)))
        .collect();
    let job = WriteRequest {
        container: source,
        selection: &selection,
        options,
        read: ReadOptions::default(),
        progress: Progress::none(),
    };
    append(path, &OpenOptions::default(), &job, Durability::Cached)
}

/// Appends to a file of these bytes; returns the result, and the bytes afterwards.
fn result(bytes: &[u8], source: &dyn Container) -> (Result<Vec<Loss>>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.asdf");
    fs::write(&path, bytes).unwrap();
    let result = appended(&path, source, &TargetOptions::default());
    (result, fs::read(&path).unwrap())
}

/// In the byte order and the order of axes of the array, whatever those of the source are.
#[test]
fn rows_are_appended_as_the_array_stores_them() {
    let before = streamed(&pairs(), &[1, 0, 2, 0]);
    let expected = [&before[..], &[3, 0, 4, 0, 5, 0, 6, 0]].concat();
    for source in [
        rows("<u2", "False", "(2, 2)", &[3, 0, 4, 0, 5, 0, 6, 0]),
        rows(">u2", "False", "(2, 2)", &[0, 3, 0, 4, 0, 5, 0, 6]),
        rows("<u2", "True", "(2, 2)", &[3, 0, 5, 0, 4, 0, 6, 0]),
        rows(">u2", "True", "(2, 2)", &[0, 3, 0, 5, 0, 4, 0, 6]),
    ] {
        let (losses, after) = result(&before, &*source);
        assert_eq!(losses.unwrap(), []);
        assert_eq!(after, expected);
    }
    let none = rows("<u2", "False", "(0, 2)", &[]);
    assert_eq!(result(&before, &*none).1, before);
}

#[test]
fn rows_of_another_shape_or_type_are_refused() {
    let before = streamed(&pairs(), &[1, 0, 2, 0]);
    for (source, told) in [
        (rows("<u2", "False", "(2, 3)", &[0; 12]), "a has rows of shape [2]: cannot append [2, 3]"),
        (rows("<u2", "False", "(2,)", &[0; 4]), "a has rows of shape [2]: cannot append [2]"),
        (rows("<u2", "False", "(2, 2, 1)", &[0; 8]), "a has rows of shape [2]: cannot append [2, 2, 1]"),
        (rows("<i2", "False", "(2, 2)", &[0; 8]), ""),
        (rows("<u4", "False", "(1, 2)", &[0; 8]), ""),
    ] {
        let (refused, after) = result(&before, &*source);
        let error = refused.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.to_string().contains(told), "{error}");
        assert_eq!(after, before);
    }
}

#[test]
fn files_without_a_streamed_array_of_whole_rows_are_refused() {
    let source = rows("<u2", "False", "(1, 2)", &[0; 4]);
    let mut plain = streamed(&format!("a: {}", array("0", "uint16", "shape: [1, 2]")), &[1, 0, 2, 0]);
    let at = plain.len() - 58;
    plain[at + 9] = 0;
    for size in [14, 22, 30] {
        plain[at + size + 7] = 4;
    }
    let (refused, after) = result(&plain, &*source);
    let error = refused.unwrap_err();
    // Other formats have files that grow.
    assert!(error.hint().is_some_and(|hint| hint.contains("Blosc2")), "{error:?}");
    assert_eq!(after, plain);
    // The elements of a row are not next to one another.
    let turned = format!("a: {}", array("0", "uint16", "shape: ['*', 2], strides: [2, 4]"));
    let before = streamed(&turned, &[0; 8]);
    let (refused, after) = result(&before, &*source);
    let error = refused.unwrap_err();
    assert!(error.to_string().contains("its strides are not those of C order"), "{error}");
    assert_eq!(after, before);
    // Of no rows there is nothing to say.
    let before = streamed(&turned, &[]);
    assert!(!result(&before, &*source).0.is_err_and(|error| error.to_string().contains("strides")));
}

/// A truth value is 0 or 1.
#[test]
fn rows_with_an_invalid_value_leave_the_file_as_it_was() {
    let before = streamed(&format!("a: {}", array("0", "bool8", "shape: ['*']")), &[1]);
    let (refused, after) = result(&before, &*rows("|b1", "False", "(3,)", &[0, 1, 2]));
    assert!(refused.unwrap_err().to_string().contains("the byte 2"));
    assert_eq!(after, before);
    let (done, after) = result(&before, &*rows("|b1", "False", "(2,)", &[0, 1]));
    assert_eq!((done.unwrap(), &after[before.len()..]), (vec![], &[0, 1][..]));
}

#[test]
fn options_of_new_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.asdf");
    fs::write(&path, streamed(&pairs(), &[])).unwrap();
    let source = rows("<u2", "False", "(1, 2)", &[0; 4]);
    let mut codec = TargetOptions::default();
    codec.codec = Some(("zlib".to_owned(), None));
    let error = appended(&path, &*source, &codec).unwrap_err();
    assert!(error.to_string().contains("a streamed block has no codec"), "{error}");
    let mut checksum = TargetOptions::default();
    checksum.extra = vec![("checksum".to_owned(), "md5".to_owned())];
    let error = appended(&path, &*source, &checksum).unwrap_err();
    assert!(error.to_string().contains("appending to ASDF takes no checksum"), "{error}");
}

/// The exploded form: the tree is in one file, and each block in another.
#[test]
fn rows_go_into_the_file_that_has_the_streamed_block() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let source = rows("<u2", "False", "(1, 2)", &[3, 0, 4, 0]);
    let external = |name: &str| array(name, "uint16", "shape: ['*', 2]");
    let before = streamed("{}", &[1, 0, 2, 0]);
    for name in ["x0.asdf", "x1.asdf"] {
        fs::write(at(name), &before).unwrap();
    }
    // An array of a fixed length in another file says nothing of rows.
    let fixed = array("x1.asdf", "uint16", "shape: [1, 2]");
    let main = tree(&format!("f: {fixed}\na: {}\nb: {}", external("x0.asdf"), external("x0.asdf")));
    fs::write(at("x.asdf"), &main).unwrap();
    assert_eq!(appended(&at("x.asdf"), &*source, &TargetOptions::default()).unwrap(), []);
    assert_eq!(fs::read(at("x0.asdf")).unwrap(), [&before[..], &[3, 0, 4, 0]].concat());
    assert_eq!((fs::read(at("x1.asdf")).unwrap(), fs::read(at("x.asdf")).unwrap()), (before, main));
    let two = tree(&format!("a: {}\nb: {}", external("x0.asdf"), external("x1.asdf")));
    fs::write(at("two.asdf"), two).unwrap();
    let error = appended(&at("two.asdf"), &*source, &TargetOptions::default()).unwrap_err();
    assert!(error.to_string().contains("a and b are streamed in different files"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("implode")), "{error:?}");
    // A streamed block of the file itself comes first.
    let own = format!("a: {}\nb: {}", array("0", "uint16", "shape: ['*', 2]"), external("x1.asdf"));
    let own = streamed(&own, &[]);
    fs::write(at("own.asdf"), &own).unwrap();
    assert_eq!(appended(&at("own.asdf"), &*source, &TargetOptions::default()).unwrap(), []);
    assert_eq!(fs::read(at("own.asdf")).unwrap(), [&own[..], &[3, 0, 4, 0]].concat());
}
