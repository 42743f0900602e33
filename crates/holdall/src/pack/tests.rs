use super::*;
use crate::testing::{FAKE, FAKE_FORMAT};
use container_core::ErrorKind;
use container_core::format::Output;
use container_core::write::{Durability, Overwrite};

fn place(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(directory.path().join(name), bytes).unwrap();
    }
    directory
}

fn verified() -> ConvertOptions<'static> {
    ConvertOptions { verify: ReadBack::Yes, durability: Durability::Cached, ..ConvertOptions::default() }
}

fn packed(source: ItemSource<'_>, target: &Path) -> Result<PackOutcome> {
    write_items(&Items::open(source, &OpenOptions::default())?, &FAKE, target, &verified())
}

#[test]
fn lines_are_items_without_their_line_feeds() {
    for (text, bytes, items) in [
        (&b"one\r\n\ntwo\n"[..], &b"FAKEo\x05linest\x04one\rt\x00t\x03two"[..], 3),
        (b"a\nb", b"FAKEo\x05lineso\x1ano line end after the lastt\x01at\x01b", 2),
        (b"", b"FAKEo\x05lines", 0),
        (b"\xff\n", b"FAKEo\x05linesb\x01\xff", 1),
    ] {
        let place = place(&[("a.txt", text)]);
        let (source, target) = (place.path().join("a.txt"), place.path().join("a.fake"));
        let outcome = packed(ItemSource::Lines(&source), &target).unwrap();
        let PackOutcome::Done(packing) = outcome else { panic!("{outcome:?}") };
        assert_eq!((packing.items, packing.target_format), (items, "fake"));
        assert_eq!(std::fs::read(&target).unwrap(), bytes, "{text:?}");
    }
}

#[test]
fn files_keep_their_names() {
    let place = place(&[("a", b"x"), ("b", b"")]);
    let paths = [place.path().join("a"), place.path().join("b")];
    packed(ItemSource::Files(&paths), &place.path().join("c.fake")).unwrap();
    let bytes = std::fs::read(place.path().join("c.fake")).unwrap();
    let name = |path: &PathBuf| path.to_str().unwrap().as_bytes()[1..].to_vec();
    let record = |bytes: &[u8]| [&[b'n', u8::try_from(bytes.len()).unwrap()], bytes].concat();
    let expected = [
        b"FAKE".to_vec(),
        record(&name(&paths[0])),
        b"b\x01x".to_vec(),
        record(&name(&paths[1])),
        b"b\0".to_vec(),
    ];
    assert_eq!(bytes, expected.concat());
}

#[test]
fn a_file_that_is_not_there_leaves_no_target() {
    let place = place(&[("a", b"x"), ("c.fake", b"old")]);
    let paths = [place.path().join("a"), place.path().join("b")];
    let items = Items::open(ItemSource::Files(&paths), &OpenOptions::default()).unwrap();
    let force = ConvertOptions { overwrite: Overwrite::Replace, ..verified() };
    let error = write_items(&items, &FAKE, &place.path().join("c.fake"), &force).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error}");
    assert!(error.subject().unwrap().ends_with("/b"), "{error}");
    assert_eq!(std::fs::read(place.path().join("c.fake")).unwrap(), b"old");
}

#[test]
fn items_that_read_back_otherwise_are_not_left() {
    /// Loses the last item.
    fn wrong(pack: Pack<'_>, out: &mut dyn Output) -> Result<()> {
        let Pack { items, count, .. } = pack;
        let last = count.unwrap() - 1;
        let items = &mut items.take(usize::try_from(last).unwrap());
        (FAKE.pack.unwrap())(Pack { items, count: Some(last), ..pack }, out)
    }
    /// Changes an item.
    fn changed(pack: Pack<'_>, out: &mut dyn Output) -> Result<()> {
        let Pack { items, .. } = pack;
        let items = &mut items.map(|item| item.map(|bytes| bytes.iter().map(|byte| byte + 1).collect()));
        (FAKE.pack.unwrap())(Pack { items, ..pack }, out)
    }
    static WRONG: Format = Format { pack: Some(wrong), ..FAKE_FORMAT };
    static CHANGED: Format = Format { pack: Some(changed), ..FAKE_FORMAT };
    let place = place(&[("a", b"x\ny\n")]);
    let source = place.path().join("a");
    let items = Items::open(ItemSource::Lines(&source), &OpenOptions::default()).unwrap();
    for (format, what) in [(&WRONG, "2 items became 1"), (&CHANGED, "its bytes differ")] {
        let outcome = write_items(&items, format, &place.path().join("new"), &verified()).unwrap();
        let PackOutcome::Differs(differences) = outcome else { panic!("it passed") };
        assert_eq!(differences[0].what, what);
        assert!(!place.path().join("new").exists());
    }
}

#[test]
fn packing_items_into_npy_is_a_usage_error() {
    let place = place(&[("a", b"x\n")]);
    let source = place.path().join("a");
    let error = pack_items(ItemSource::Lines(&source), &place.path().join("b.npy"), &verified()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    assert!(!place.path().join("b.npy").exists());
}

#[test]
fn raw_elements_become_an_array() {
    let place = place(&[("a.raw", &[0, 1, 0, 2, 0, 3, 0, 4])]);
    let (source, target) = (place.path().join("a.raw"), place.path().join("a.npy"));
    let array = |shape: Option<&[u64]>, order| RawBytesSpec {
        dtype: DType::parse(">u2").unwrap(),
        shape: shape.map(<[u64]>::to_vec),
        order,
    };
    for (shape, order, header) in [
        (None, Order::C, "'fortran_order': False, 'shape': (4,)"),
        (Some(&[2, 2][..]), Order::F, "'fortran_order': True, 'shape': (2, 2)"),
    ] {
        let options = ConvertOptions { overwrite: Overwrite::Replace, ..verified() };
        pack_raw(&source, &array(shape, order), &target, &options).unwrap();
        let bytes = std::fs::read(&target).unwrap();
        assert!(String::from_utf8_lossy(&bytes).contains(header), "{bytes:?}");
        assert_eq!(bytes[bytes.len() - 8..], [0, 1, 0, 2, 0, 3, 0, 4]);
    }
    let error = pack_raw(&source, &array(Some(&[3]), Order::C), &place.path().join("b.npy"), &verified());
    assert!(matches!(error.unwrap_err().kind(), ErrorKind::Usage(_)));
}
