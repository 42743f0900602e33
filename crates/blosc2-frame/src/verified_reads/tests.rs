use container_core::Progress;
use container_core::array::Array;
use container_core::container::{self, CheckDepth, Container, Digests, ReadOptions};
use container_core::dtype::{DType, Order};
use container_core::format::Input;
use container_core::region::Region;

use super::*;
use crate::FORMAT;
use crate::b2nd::{NdArray, NdEditor, NdOptions, copy, write_array_to};
use crate::{CompactOptions, Durability, EditOptions, Editor, compact, to_directory};

/// Makes six by four bytes in chunks of two by two, stored plainly: each chunk is its header and four bytes.
fn array() -> Vec<u8> {
    let bytes: Vec<u8> = (1..25).collect();
    let array = Array::new(DType::parse("|u1").unwrap(), vec![6, 4], Order::C, bytes.into()).unwrap();
    let checksums = Some(Algorithm::Crc32);
    let mut options = NdOptions { chunkshape: Some(vec![2, 2]), checksums, ..NdOptions::default() };
    options.params.level = 0;
    let mut file = Vec::new();
    write_array_to(&mut file, &array, &options).unwrap();
    file
}

fn opened(bytes: Vec<u8>) -> Box<dyn Container> {
    (FORMAT.open)(Input::bytes(Box::new(bytes)), &container::OpenOptions::default()).unwrap()
}

fn codes(file: &dyn Container) -> Vec<&'static str> {
    let report = file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
    report.findings.iter().map(|finding| finding.code).collect()
}

/// A change of an open array.
type Change<'a> = &'a dyn Fn(&mut NdEditor) -> Result<()>;

#[test]
fn values_are_read_where_their_chunks_fit_their_digests() {
    let mut file = array();
    let whole = opened(file.clone());
    assert_eq!(whole.checksums().into_iter().collect::<Vec<_>>(), ["crc32"]);
    assert_eq!(codes(&*whole), [""; 0]);
    // The element 11 at (2, 2): the fourth chunk.
    let at = file.windows(4).position(|bytes| bytes == [11, 12, 15, 16]).unwrap();
    file[at] ^= 0x40;
    let damaged = opened(file);
    assert_eq!(codes(&*damaged), ["checksum"]);
    let read = |text: &str, options: &ReadOptions| {
        let region = Region::parse(text, &[6, 4]).unwrap();
        let array = damaged
            .read(0, &region, options)
            .map(|array| array.bytes(Order::C, &ReadOptions::default().limits).unwrap().into_owned());
        array.map_err(|error| error.to_string())
    };
    let options = ReadOptions::default();
    assert_eq!(read("2:4, :2", &options).unwrap(), [9, 10, 13, 14]);
    assert_eq!(read("::-4, ::3", &options).unwrap(), [21, 24, 5, 8]);
    for touching in ["...", "3, 3", "2::2, -1", "::-3, 2"] {
        let error = read(touching, &options).unwrap_err();
        assert!(error.contains("blosc2 chunk 3: checksum differs"), "{touching}: {error}");
    }
    let mut unguarded = options;
    unguarded.digests = Digests::Ignore;
    assert_eq!(read("2, 2", &unguarded).unwrap(), [11 ^ 0x40]);
}

/// As a program without support for them leaves them: the metadata stay, the chunks are others.
#[test]
fn stale_checksums_are_ignored_and_reported() {
    let frame = Frame::from_bytes(array()).unwrap();
    let digests = frame.vlmetalayer(checksums::NAME).unwrap().unwrap();
    let options = crate::FrameOptions { chunksize: Some(4), ..crate::FrameOptions::default() };
    let mut bytes = Vec::new();
    let mut writer = crate::Writer::new(&mut bytes, options).unwrap();
    writer.append(&[1, 2, 3, 4]).unwrap();
    writer.set_vlmetalayer(checksums::NAME, &digests).unwrap();
    writer.finish().unwrap();
    let file = opened(bytes);
    assert_eq!(codes(&*file), ["checksums_stale"]);
    assert!(file.checksums().is_empty());
    let array = file.read(0, &Region::whole(&[4]), &ReadOptions::default()).unwrap();
    assert_eq!(*array.bytes(Order::C, &ReadOptions::default().limits).unwrap(), [1, 2, 3, 4]);
}

#[test]
fn unknown_checksum_error_lists_the_supported_names() {
    let asked = |name: &str| {
        let mut options = TargetOptions::default();
        options.extra = vec![(CHECKSUM.to_owned(), name.to_owned())];
        target_checksum(&options, None)
    };
    let words = "none, adler32, crc32, md5, sha1, sha224, sha256, sha384, sha512";
    assert!(asked("foo").unwrap_err().to_string().contains(words));
    assert_eq!(asked("none").unwrap(), None);
    assert_eq!(asked("sha1").unwrap(), Some(Algorithm::Sha1));
}

/// Makes a frame in which one bit of chunk 3, which holds the element (2, 2), was flipped.
fn damaged() -> Vec<u8> {
    let mut file = array();
    let at = file.windows(4).position(|bytes| bytes == [11, 12, 15, 16]).unwrap();
    file[at] ^= 0x40;
    file
}

#[test]
fn whatever_passes_chunks_on_compares_them_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2nd");
    std::fs::write(&path, damaged()).unwrap();
    let frame = Frame::open(&path).unwrap();
    let (read, mut out) = (ReadOptions::default(), Vec::new());
    let mut bytes = [0; 4];
    let array = NdArray::open(&path).unwrap();
    let like = NdOptions::options_of(&array).unwrap();
    let passed: Vec<(&str, Result<()>)> = vec![
        ("chunk", frame.chunk(3).map(|_| ())),
        ("read_chunk", frame.read_chunk(3, &read).map(|_| ())),
        ("read_chunk_into", frame.read_chunk_into(3, 0..1, &mut bytes[..1], &read)),
        ("read_range", frame.read_range(12..13, &read).map(|_| ())),
        ("read_block", frame.read_block(3, 0, &read).map(|_| ())),
        ("to_cframe", frame.to_cframe().map(|_| ())),
        ("to_directory", to_directory(&frame, folder.path().join("dir"), Durability::Cached)),
        ("array", array.read(&Region::whole(&[6, 4]), &read).map(|_| ())),
        ("copy", copy(&array, &mut out, &like, &read)),
        ("compact", compact(&path, &CompactOptions::default()).map(|_| ())),
    ];
    for (name, passed) in passed {
        let error = passed.expect_err(name);
        assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{name}: {error}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), damaged());
    assert!(!folder.path().join("dir").exists());
    // The other chunks, and whoever asks for it.
    assert_eq!(frame.read_chunk(2, &read).unwrap(), [9, 10, 13, 14]);
    let mut ignoring = read;
    ignoring.digests = Digests::Ignore;
    assert_eq!(frame.read_chunk(3, &ignoring).unwrap(), [11 ^ 0x40, 12, 15, 16]);
}

#[test]
fn changes_in_place_do_not_sign_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2nd");
    let values = |shape: Vec<u64>| {
        let len = usize::try_from(shape.iter().product::<u64>()).unwrap();
        Array::new(DType::parse("|u1").unwrap(), shape, Order::C, vec![0; len].into()).unwrap()
    };
    let changes: [(&str, Change<'_>); 5] = [
        ("one element", &|editor| editor.set(&Region::parse("3,3", &[6, 4]).unwrap(), &values(vec![]))),
        ("a shorter axis", &|editor| editor.resize(&[3, 4])),
        ("rows before it", &|editor| editor.insert(0, 1, &values(vec![1, 4]))),
        ("a row less", &|editor| editor.delete(0, 3..4)),
        ("a column less", &|editor| editor.delete(1, 0..1)),
    ];
    for (name, change) in changes {
        std::fs::write(&path, damaged()).unwrap();
        let mut editor = NdEditor::open(&path, &EditOptions::default()).unwrap();
        let error = change(&mut editor).expect_err(name);
        assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{name}: {error}");
        drop(editor);
        assert_eq!(codes(&*opened(std::fs::read(&path).unwrap())), ["checksum"], "{name}");
    }
    let mut editor = Editor::open(&path, &EditOptions::default()).unwrap();
    assert!(editor.set_checksums(Some(Algorithm::Sha256)).is_err());
    assert!(editor.stored_chunk(3).is_err() && editor.stored_chunk(2).is_ok());
    drop(editor);
    // What is replaced as a whole need not fit.
    let mut editor = NdEditor::open(&path, &EditOptions::default()).unwrap();
    editor.set(&Region::parse("2:4,2:4", &[6, 4]).unwrap(), &values(vec![2, 2])).unwrap();
    editor.commit(Durability::Cached).unwrap();
    assert_eq!(
        codes(&*opened(std::fs::read(&path).unwrap())).iter().filter(|code| **code == "checksum").count(),
        0
    );
}
