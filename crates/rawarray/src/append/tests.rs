use container_core::container::{Container, ReadOptions};
use container_core::format::{Input, TargetOptions};
use container_core::region::Region;
use container_core::{ErrorKind, Progress};

use super::*;
use crate::{FORMAT, RawArray, WriteOptions};

fn append_file(path: &Path, source: &Path, open: &OpenOptions) -> Result<Vec<Loss>> {
    let input = Input::bytes(Box::new(std::fs::read(source).unwrap()));
    let container: Box<dyn Container> = (FORMAT.open)(input, open).unwrap();
    let selection = [(0, Region::whole(&container.datasets()[0].shape))];
    let options = TargetOptions::default();
    let (read, progress) = (ReadOptions::default(), Progress::none());
    let job =
        WriteRequest { container: &*container, selection: &selection, options: &options, read, progress };
    append(path, open, &job, Durability::Cached)
}

/// Element `[i, j]` of dimensions `[2, n]` is at `i + 2 j`: columns follow each other.
#[test]
fn elements_are_added_along_the_last_dimension_and_the_trailer_stays() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let mut array = RawArray::new(vec![2, 2], vec![1_u16, 2, 3, 4]).unwrap();
    array.set_trailer(b"{\"a\": 1}".to_vec());
    for reversed in [false, true] {
        array.write(at("a.ra")).unwrap();
        let big = RawArray::new(vec![2, 1], vec![5_u16, 6]).unwrap();
        let options =
            WriteOptions { data_order: container_core::dtype::ByteOrder::Big, ..WriteOptions::default() };
        big.write_with(at("b.ra"), &options).unwrap();
        let mut open = OpenOptions::default();
        open.axes = if reversed { Axes::Reversed } else { Axes::AsStored };
        append_file(&at("a.ra"), &at("b.ra"), &open).unwrap();
        let back = RawArray::<u16>::read(at("a.ra")).unwrap();
        assert_eq!((back.dims(), back.as_slice()), (&[2, 3][..], &[1, 2, 3, 4, 5, 6][..]));
        assert_eq!(back.trailer(), b"{\"a\": 1}");
    }
}

#[test]
fn rejected_append_leaves_the_file_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    RawArray::new(vec![2, 2], vec![1_u16, 2, 3, 4]).unwrap().write(at("a.ra")).unwrap();
    RawArray::new(vec![1, 2], vec![1_u16, 2]).unwrap().write(at("rows.ra")).unwrap();
    RawArray::new(vec![2], vec![1_u16, 2]).unwrap().write(at("flat.ra")).unwrap();
    RawArray::new(vec![2, 1], vec![1_i16, 2]).unwrap().write(at("type.ra")).unwrap();
    RawArray::new(vec![], vec![1_u16]).unwrap().write(at("scalar.ra")).unwrap();
    let lz4 = WriteOptions { encoding: Encoding::Lz4, ..WriteOptions::default() };
    RawArray::new(vec![2, 1], vec![1_u16, 2]).unwrap().write_with(at("lz4.ra"), &lz4).unwrap();
    let before = std::fs::read(at("a.ra")).unwrap();
    let open = OpenOptions::default();
    for name in ["rows.ra", "flat.ra", "type.ra", "scalar.ra"] {
        let error = append_file(&at("a.ra"), &at(name), &open).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{name}: {error}");
        assert_eq!(std::fs::read(at("a.ra")).unwrap(), before);
    }
    assert!(append_file(&at("lz4.ra"), &at("a.ra"), &open).is_err());
    assert!(append_file(&at("scalar.ra"), &at("scalar.ra"), &open).is_err());
    std::fs::write(at("a.ra"), &before[..before.len() - 1]).unwrap();
    assert!(append_file(&at("a.ra"), &at("lz4.ra"), &open).is_err());
}

#[test]
fn the_trailer_is_changed_and_the_data_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.ra");
    RawArray::new(vec![2], vec![1_u16, 2]).unwrap().write(&path).unwrap();
    let plain = std::fs::read(&path).unwrap();
    let set = |value: Value| {
        set_trailer(&path, &OpenOptions::default(), Durability::Cached, |_| Ok(value))
            .map(|()| std::fs::read(&path).unwrap()[plain.len()..].to_vec())
    };
    let of = |trailer: Value| Value::Map(vec![("trailer".into(), trailer)]);
    let object = of(Value::Map(vec![("a".into(), Value::Int(1))]));
    assert_eq!(set(object.clone()).unwrap(), b"{\"a\":1}");
    let seen = |want: Value| {
        set_trailer(&path, &OpenOptions::default(), Durability::Cached, |before| {
            assert_eq!(before, want);
            Ok(before)
        })
    };
    seen(object).unwrap();
    assert_eq!(set(of("note".into())).unwrap(), b"note");
    seen(of("note".into())).unwrap();
    assert!(set(Value::Map(vec![("other".into(), Value::Int(1))])).is_err());
    assert_eq!(set(Value::Map(vec![])).unwrap(), b"");
    assert_eq!(std::fs::read(&path).unwrap(), plain);
}
