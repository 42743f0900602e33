use super::*;
use crate::testing::Memory;
use container_core::{ErrorKind, Value};

/// Items with names, or without where the name is empty.
fn items(all: &[(&str, &[u8])]) -> Memory {
    all.iter().enumerate().fold(Memory::new(), |memory, (number, (name, bytes))| {
        let path = format!("items/{number}");
        let memory = memory.with(&path, "|u1", &[bytes.len() as u64], bytes).attribute(&path, ITEM, "text");
        if name.is_empty() { memory } else { memory.attribute(&path, ITEM_NAME, *name) }
    })
}

fn files(container: &Memory, form: ExtractAs, directory: &Path) -> Result<Vec<Extracted>> {
    extract_files(container, &container.all(), form, directory, &ExtractOptions::default())
}

fn lines(all: &[(&str, &[u8])], notes: &[&str]) -> String {
    let others: Vec<Value> = notes.iter().map(|note| Value::from(*note)).collect();
    let mut container = items(all);
    container.meta = Value::Map(vec![("others".into(), others.into())]);
    let mut out = Vec::new();
    extract_lines(&container, &container.all(), &ExtractOptions::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn lines_end_as_the_text_did() {
    let all: [(&str, &[u8]); 3] = [("", b"a"), ("", b""), ("", b"b\r")];
    assert_eq!(lines(&all, &[]), "a\n\nb\r\n");
    assert_eq!(lines(&all, &["lines"]), "a\n\nb\r\n");
    assert_eq!(lines(&all, &["lines", "no line end after the last"]), "a\n\nb\r");
    assert_eq!(lines(&[], &["lines"]), "");
}

#[test]
fn texts_without_names_are_lines() {
    let are = |container: &Memory| are_lines(container, &container.all()).unwrap();
    assert!(are(&items(&[("", b"a"), ("", b"b")])));
    assert!(!are(&items(&[("", b"a"), ("x", b"b")])));
    assert!(!are(&Memory::new().with("data", "|u1", &[1], &[1])));
}

#[test]
fn escaping_names_are_kept_below_the_directory() {
    let place = tempfile::tempdir().unwrap();
    let inside = place.path().join("in");
    let container = items(&[
        ("sub/a.txt", b"1"),
        ("../../b", b"2"),
        ("/c", b"3"),
        ("..", b"4"),
        ("", b"5"),
        // The same name in other letters, a directory's name, and a file taken for a directory.
        ("SUB/A.TXT", b"6"),
        ("sub", b"7"),
        ("b/d", b"8"),
        ("items/6", b"9"),
    ]);
    let written = files(&container, ExtractAs::Items, &inside).unwrap();
    let names: Vec<_> =
        written.iter().map(|file| file.path.strip_prefix(&inside).unwrap().to_str().unwrap()).collect();
    assert_eq!(
        names,
        ["sub/a.txt", "b", "c", "items/3", "items/4", "items/5", "items/6", "items/7", "items/8"]
    );
    let refused: Vec<_> = written.iter().map(|file| file.refused_name.as_deref()).collect();
    assert_eq!(
        refused,
        [
            None,
            Some("../../b"),
            Some("/c"),
            Some(".."),
            None,
            Some("SUB/A.TXT"),
            Some("sub"),
            Some("b/d"),
            Some("items/6")
        ]
    );
    for (number, file) in written.iter().enumerate() {
        assert_eq!(std::fs::read(&file.path).unwrap(), (number + 1).to_string().as_bytes());
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn existing_file_prevents_the_whole_extraction() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("b"), b"old").unwrap();
    let container = items(&[("a", b"1"), ("b", b"2")]);
    let error = files(&container, ExtractAs::Items, place.path()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    assert!(!place.path().join("a").exists());
    let replace = ExtractOptions { overwrite: Overwrite::Replace, ..ExtractOptions::default() };
    extract_files(&container, &container.all(), ExtractAs::Items, place.path(), &replace).unwrap();
    assert_eq!(std::fs::read(place.path().join("b")).unwrap(), b"2");
}

#[test]
fn damage_leaves_no_new_file() {
    let place = tempfile::tempdir().unwrap();
    let container = items(&[("x/a", b"1"), ("y/b", b"2")]).damaged("items/1");
    for below in ["", "new/er"] {
        let error = files(&container, ExtractAs::Items, &place.path().join(below)).unwrap_err();
        assert!(error.is_damage(), "{error}");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "{below}");
    }
}

#[test]
fn readable_items_are_extracted_despite_damaged_ones() {
    let place = tempfile::tempdir().unwrap();
    let container = items(&[("x/a", b"1"), ("y/b", b"2"), ("c", b"3")]).damaged("items/1");
    let named = std::cell::RefCell::new(Vec::new());
    let failed = |path: &str, error: Error| named.borrow_mut().push((path.to_owned(), error.is_damage()));
    let options = ExtractOptions { failed: Some(&failed), ..ExtractOptions::default() };
    let all = container.all();
    let written = extract_files(&container, &all, ExtractAs::Items, place.path(), &options).unwrap();
    assert_eq!(written.iter().map(|file| file.dataset.as_str()).collect::<Vec<_>>(), ["items/0", "items/2"]);
    assert!(place.path().join("x/a").exists() && place.path().join("c").exists());
    assert!(!place.path().join("y").exists());
    let mut out = Vec::new();
    extract_lines(&container, &all, &options, &mut out).unwrap();
    assert_eq!(out, b"1\n3\n");
    assert_eq!(*named.borrow(), [("items/1".to_owned(), true), ("items/1".to_owned(), true)]);
    // No folder is left where no dataset could be read.
    let ruined = items(&[("y/b", b"2")]).damaged("items/0");
    let into = place.path().join("new");
    assert!(extract_files(&ruined, &ruined.all(), ExtractAs::Items, &into, &options).unwrap().is_empty());
    assert!(!into.exists());
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let (inside, outside) = (place.path().join("in"), place.path().join("out"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("sub")).unwrap();
    std::os::unix::fs::symlink(outside.join("x"), inside.join("b")).unwrap();
    let replace = ExtractOptions { overwrite: Overwrite::Replace, ..ExtractOptions::default() };
    for name in ["sub/a", "b"] {
        let container = items(&[(name, b"1")]);
        let error = extract_files(&container, &container.all(), ExtractAs::Items, &inside, &replace);
        assert!(matches!(error.unwrap_err().kind(), ErrorKind::Usage(_)), "{name}");
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn arrays_become_npy_files() {
    let place = tempfile::tempdir().unwrap();
    let container =
        Memory::new().with("data", "<u2", &[2], &[1, 0, 2, 0]).with("sub/other", "|u1", &[1], &[7]);
    let written = files(&container, ExtractAs::Arrays, place.path()).unwrap();
    assert_eq!(written[1].path, place.path().join("sub/other.npy"));
    assert!(written.iter().all(|file| file.refused_name.is_none()));
    let expected = crate::testing::npy_bytes("<u2", "False", "(2,)", &[1, 0, 2, 0]);
    let bytes = std::fs::read(&written[0].path).unwrap();
    assert_eq!((&bytes[..6], &bytes[bytes.len() - 4..]), (&expected[..6], &[1, 0, 2, 0][..]));
}
