use container_core::ErrorKind;
use container_core::Progress;
use container_core::container::{Container, ReadOptions, visible_datasets};
use container_core::dtype::DType;
use container_core::format::{Format, Input, ItemKind, Pack, TargetOptions};
use container_core::source::open_path;

use super::*;
use crate::FORMAT;
use crate::b2nd::{NdOptions, write_array_to};
use crate::options::{FrameOptions, default_params};
use crate::writer::Writer;

fn opened(format: &Format, path: &Path) -> Box<dyn Container> {
    let options = OpenOptions::default();
    let source = open_path(path, options.access, &options.limits).unwrap();
    (format.open)(Input { source: Some(source), path: Some(path.to_owned()) }, &options).unwrap()
}

fn add(path: &Path, source: &dyn Container, part: Option<&str>) -> Result<Vec<Loss>> {
    let selection: Vec<_> = visible_datasets(source)
        .map(|(index, dataset)| {
            let whole = Region::whole(&dataset.shape);
            (index, part.map_or(whole, |text| Region::parse(text, &dataset.shape).unwrap()))
        })
        .collect();
    let options = TargetOptions::default();
    let (read, progress) = (ReadOptions::default(), Progress::none());
    let job = WriteRequest { container: source, selection: &selection, options: &options, read, progress };
    append(path, &OpenOptions::default(), &job, Durability::Cached)
}

fn values(path: &Path) -> (Vec<u64>, Vec<u8>) {
    let file = opened(&FORMAT, path);
    let dataset = file.require(0).unwrap();
    let array = file.read(0, &Region::whole(&dataset.shape), &ReadOptions::default()).unwrap();
    let bytes = array.bytes(Order::C, &ReadOptions::default().limits).unwrap().into_owned();
    (dataset.shape.clone(), bytes)
}

fn write(path: &Path, dtype: &str, shape: &[u64], chunks: &[u32], bytes: &[u8]) {
    let array = Array::new(DType::parse(dtype).unwrap(), shape.to_vec(), Order::C, bytes.into()).unwrap();
    let options = NdOptions { chunkshape: Some(chunks.to_vec()), ..NdOptions::default() };
    let mut file = Vec::new();
    write_array_to(&mut file, &array, &options).unwrap();
    std::fs::write(path, file).unwrap();
}

/// Five rows in chunks of four and four more: where C-Blosc2's fast way puts zeros in between.
#[test]
fn rows_go_behind_the_last_one_wherever_in_a_chunk_that_is() {
    let folder = tempfile::tempdir().unwrap();
    let (path, more) = (folder.path().join("a.b2nd"), folder.path().join("b.b2nd"));
    let bytes: Vec<u8> = (0..18).collect();
    write(&path, "|u1", &[5, 2], &[4, 2], &bytes[..10]);
    write(&more, "|u1", &[4, 2], &[4, 2], &bytes[10..]);
    add(&path, &*opened(&FORMAT, &more), None).unwrap();
    assert_eq!(values(&path), (vec![9, 2], bytes.clone()));
    add(&path, &*opened(&FORMAT, &more), Some("::-1")).unwrap();
    let backwards = [16, 17, 14, 15, 12, 13, 10, 11];
    assert_eq!(values(&path), (vec![13, 2], [&bytes[..], &backwards].concat()));
    // Rows of another width, and elements of another type.
    for (dtype, shape, bytes) in [("|u1", [2, 3], &bytes[..6]), ("<u2", [2, 2], &bytes[..8])] {
        write(&more, dtype, &shape, &[1, 1], bytes);
        let error = add(&path, &*opened(&FORMAT, &more), None).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        assert_eq!(values(&path).0, [13, 2]);
    }
}

#[test]
fn rows_of_the_other_byte_order_are_brought_into_the_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let (path, more) = (folder.path().join("a.b2nd"), folder.path().join("b.b2nd"));
    write(&path, "<u2", &[1], &[4], &[1, 0]);
    write(&more, ">u2", &[2], &[4], &[0, 2, 0, 3]);
    add(&path, &*opened(&FORMAT, &more), None).unwrap();
    assert_eq!(values(&path), (vec![3], vec![1, 0, 2, 0, 3, 0]));
}

#[test]
fn elements_fill_up_the_last_chunk_first() {
    let folder = tempfile::tempdir().unwrap();
    let (path, more) = (folder.path().join("a.b2frame"), folder.path().join("b.b2nd"));
    let options = FrameOptions { params: default_params(2), ..FrameOptions::default() };
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, options).unwrap();
    writer.append(&[1, 1, 2, 2, 3, 3]).unwrap();
    writer.append(&[4, 4]).unwrap();
    writer.finish().unwrap();
    std::fs::write(&path, file).unwrap();
    let added = [5, 5, 6, 6, 7, 7, 8, 8];
    write(&more, "|V2", &[4], &[4], &added);
    assert_eq!(add(&path, &*opened(&FORMAT, &more), None).unwrap(), []);
    let all = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8];
    assert_eq!(values(&path), (vec![8], all.to_vec()));
    let frame = crate::Frame::open(&path).unwrap();
    assert_eq!((frame.chunk_count(), frame.header().chunksize), (3, ChunkSize::Fixed(6)));
    write(&more, "|u1", &[3], &[3], &[1, 2, 3]);
    let error = add(&path, &*opened(&FORMAT, &more), None).unwrap_err();
    assert!(error.to_string().contains("whole elements"), "{error}");
}

#[test]
fn items_are_added_with_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let pack = |name: &str, items: &[&str], names: Option<&[String]>| {
        let path = folder.path().join(name);
        let mut bytes = Vec::new();
        let mut given = items.iter().map(|item| Ok(item.as_bytes().to_vec()));
        let job = Pack {
            items: &mut given,
            count: Some(items.len() as u64),
            kind: ItemKind::Text,
            names,
            dtype: None,
            others: &[],
            options: &TargetOptions::default(),
            progress: Progress::none(),
        };
        crate::items::pack(job, &mut bytes).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let path = pack("a.b2frame", &["one", "", "three"], Some(&names(&["x", "y", "z"])));
    let more = pack("b.b2frame", &["", "five"], None);
    assert_eq!(add(&path, &*opened(&FORMAT, &more), None).unwrap(), []);
    let file = opened(&FORMAT, &path);
    let read = |index: usize| {
        let dataset = file.require(index).unwrap();
        let array = file.read(index, &Region::whole(&dataset.shape), &ReadOptions::default()).unwrap();
        let bytes = array.bytes(Order::C, &ReadOptions::default().limits).unwrap().into_owned();
        let name = dataset.attributes.iter().find(|(key, _)| key == "name").map(|(_, name)| name.clone());
        (String::from_utf8(bytes).unwrap(), name.unwrap())
    };
    let found: Vec<_> = (0..file.dataset_count()).map(read).collect();
    let expected = [("one", "x"), ("", "y"), ("three", "z"), ("", "chunks/0"), ("five", "chunks/1")];
    let expected: Vec<_> = expected.iter().map(|(item, name)| ((*item).to_owned(), (*name).into())).collect();
    assert_eq!(found, expected);
}

/// Items of numbers have a type, so elements of that type lose their shape at most; other items are bytes.
#[test]
fn losses_of_items_are_types_and_shapes() {
    let folder = tempfile::tempdir().unwrap();
    let pack = |name: &str, kind: ItemKind, dtype: Option<&DType>| {
        let path = folder.path().join(name);
        let mut bytes = Vec::new();
        let mut given = [Ok(b"ab".to_vec())].into_iter();
        let job = Pack {
            items: &mut given,
            count: Some(1),
            kind,
            names: None,
            dtype,
            others: &[],
            options: &TargetOptions::default(),
            progress: Progress::none(),
        };
        crate::items::pack(job, &mut bytes).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let shorts = DType::parse("<i2").unwrap();
    let more = folder.path().join("more.b2nd");
    for (name, kind, dtype, given, shape, loss) in [
        ("a.b2frame", ItemKind::Numbers, Some(&shorts), "<i2", &[4][..], None),
        ("b.b2frame", ItemKind::Numbers, Some(&shorts), "<i2", &[2, 2], Some("shape [2, 2]")),
        ("c.b2frame", ItemKind::Bytes, None, "<i2", &[4], Some("type <i2")),
        ("d.b2frame", ItemKind::Bytes, None, "|u1", &[8], None),
        ("e.b2frame", ItemKind::Bytes, None, "|u1", &[2, 4], Some("shape [2, 4]")),
        ("f.b2frame", ItemKind::Text, None, "|u1", &[8], None),
    ] {
        let path = pack(name, kind, dtype);
        let chunks: Vec<u32> = vec![4; shape.len()];
        write(&more, given, shape, &chunks, b"abcdefgh");
        let losses = add(&path, &*opened(&FORMAT, &more), None).unwrap();
        assert_eq!(losses.len(), usize::from(loss.is_some()), "{name}: {losses:?}");
        assert!(losses.iter().all(|it| it.what.contains(loss.unwrap())), "{name}: {losses:?}");
        assert_eq!(opened(&FORMAT, &path).dataset_count(), 2, "{name}");
    }
    // Part of a number, and bytes that are no text.
    let numbers = pack("g.b2frame", ItemKind::Numbers, Some(&shorts));
    write(&more, "|V3", &[1], &[1], b"abc");
    assert!(add(&numbers, &*opened(&FORMAT, &more), None).is_err());
    let text = pack("h.b2frame", ItemKind::Text, None);
    write(&more, "|u1", &[2], &[2], b"\xff\xfe");
    let error = add(&text, &*opened(&FORMAT, &more), None).unwrap_err();
    assert!(error.to_string().contains("UTF-8"), "{error}");
}

/// Rows of a region are counted along its first kept axis, with its step.
#[test]
fn rows_of_a_region_are_added_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let (path, more) = (folder.path().join("a.b2nd"), folder.path().join("b.b2nd"));
    let bytes: Vec<u8> = (0..60).collect();
    write(&path, "|u1", &[1, 2], &[3, 2], &[100, 101]);
    write(&more, "|u1", &[15, 4], &[4, 2], &bytes);
    add(&path, &*opened(&FORMAT, &more), Some("1::3, 1:3")).unwrap();
    let rows = [1_u8, 4, 7, 10, 13].into_iter().flat_map(|row| [4 * row + 1, 4 * row + 2]);
    let expected: Vec<u8> = [100, 101].into_iter().chain(rows).collect();
    assert_eq!(values(&path), (vec![6, 2], expected.clone()));
    // An axis that is left out is none to append along.
    add(&path, &*opened(&FORMAT, &more), Some("14, :2")).unwrap_err();
    assert_eq!(values(&path), (vec![6, 2], expected));
    let line = folder.path().join("c.b2nd");
    write(&line, "|u1", &[1], &[2], &[100]);
    add(&line, &*opened(&FORMAT, &more), Some("2, ::-1")).unwrap();
    assert_eq!(values(&line), (vec![5], vec![100, 11, 10, 9, 8]));
    // A single value has no axis.
    let single = folder.path().join("d.b2nd");
    write(&single, "|u1", &[], &[], &[7]);
    assert!(add(&single, &*opened(&FORMAT, &more), None).is_err());
    assert!(add(&line, &*opened(&FORMAT, &single), None).is_err());
}

/// Metadata of the source stay there; those of the file stay as they are.
#[test]
fn appending_reports_what_the_source_has_besides() {
    let folder = tempfile::tempdir().unwrap();
    let (path, more) = (folder.path().join("a.b2nd"), folder.path().join("b.b2nd"));
    write(&path, "|u1", &[2], &[4], &[1, 2]);
    write(&more, "|u1", &[2], &[4], &[3, 4]);
    crate::set_user_metadata(&more, &OpenOptions::default(), Durability::Cached, |_| {
        Ok(container_core::Value::Map(vec![("unit".to_owned(), "m".into())]))
    })
    .unwrap();
    let losses = add(&path, &*opened(&FORMAT, &more), None).unwrap();
    assert!(losses.len() == 1 && losses[0].what.contains("unit"), "{losses:?}");
    assert_eq!(values(&path), (vec![4], vec![1, 2, 3, 4]));
}
