use super::*;
use crate::testing::{FAKE, npy_bytes};
use container_core::ErrorKind;
use container_core::format::ItemKind;

#[test]
fn items_are_added_through_the_formats_own_function() {
    let directory = tempfile::tempdir().unwrap();
    let (file, text) = (directory.path().join("a.fake"), directory.path().join("a.txt"));
    std::fs::write(&file, b"FAKEb\x01x").unwrap();
    std::fs::write(&text, b"one\ntwo\n").unwrap();
    let options = AppendOptions::default();
    let job = Job { path: &file, format: &FAKE, append: FAKE.append.unwrap(), options: &options };
    let items = Items::open(ItemSource::Lines(&text), &options.open).unwrap();
    assert_eq!(items.kind, ItemKind::Text);
    let items = items.into_container().unwrap();
    let appended = job.run(&items, &items.all()).unwrap();
    assert_eq!(appended.datasets, ["items/0", "items/1"]);
    assert_eq!((appended.format, appended.losses.len()), ("fake", 1));
    assert_eq!(std::fs::read(&file).unwrap(), b"FAKEb\x01xb\x03oneb\x03two");
}

#[test]
fn failed_last_sync_is_a_warning_after_the_append() {
    let directory = tempfile::tempdir().unwrap();
    let (file, text) = (directory.path().join("a.fake"), directory.path().join("a.txt"));
    std::fs::write(&file, b"FAKEb\x01x").unwrap();
    std::fs::write(&text, b"one\n").unwrap();
    let options = AppendOptions::default();
    let items = Items::open(ItemSource::Lines(&text), &options.open).unwrap().into_container().unwrap();
    let run = |append: AppendFn| {
        Job { path: &file, format: &FAKE, append, options: &options }.run(&items, &items.all())
    };
    fn refused() -> Error {
        std::io::Error::other("no sync").into()
    }
    let appended = run(|_, _, _, _| Err(refused().after_change())).unwrap();
    assert!(appended.warning.as_deref().is_some_and(|warning| warning.contains("no sync")));
    let line = crate::json::append_json(&["a.txt".into()], "a.fake", &appended);
    assert!(line["warning"].is_string() && line["datasets"] == serde_json::json!(["items/0"]), "{line}");
    assert!(run(|_, _, _, _| Err(refused().after_change().rolled_back())).is_err());
}

#[test]
fn unsupported_append_targets_are_refused_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.npy");
    let bytes = npy_bytes("|u1", "False", "(2,)", &[1, 2]);
    std::fs::write(&file, &bytes).unwrap();
    let address = Address::file(directory.path().join("b.npy"));
    for path in [file.as_path(), Path::new("-"), &directory.path().join("missing")] {
        let error = append(path, Addition::Datasets(&address), &AppendOptions::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_) | ErrorKind::Io(_)), "{error}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

#[test]
fn raw_elements_take_the_type_and_the_axes_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let (file, raw) = (directory.path().join("a.npy"), directory.path().join("a.raw"));
    std::fs::write(&file, npy_bytes(">u2", "False", "(1, 2)", &[0, 1, 0, 2])).unwrap();
    std::fs::write(&raw, [0, 3, 0, 4, 0, 5, 0, 6]).unwrap();
    let plain = like(&file, &raw, None, &AppendOptions::default()).unwrap();
    let dataset = &plain.datasets()[0];
    assert_eq!((dataset.dtype.to_string().as_str(), &dataset.shape[..]), (">u2", &[2, 2][..]));
    let little = DType::parse("<u2").unwrap();
    let plain = like(&file, &raw, Some(&little), &AppendOptions::default()).unwrap();
    assert_eq!(plain.datasets()[0].dtype, little);
    let other = DType::parse("<u4").unwrap();
    let error = like(&file, &raw, Some(&other), &AppendOptions::default()).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    std::fs::write(&raw, [0; 6]).unwrap();
    let error = like(&file, &raw, None, &AppendOptions::default()).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
}
