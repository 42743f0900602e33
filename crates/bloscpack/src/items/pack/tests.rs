use container_core::container::OpenOptions;
use container_core::format::{Pipe, TargetOptions};
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{ErrorKind, Progress, Value};

use super::*;
use crate::VarReader;

fn run(
    items: &[&[u8]],
    count: Option<u64>,
    kind: ItemKind,
    words: &[(&str, &str)],
    out: &mut dyn Output,
) -> Result<()> {
    let mut options = TargetOptions::default();
    options.extra = words.iter().map(|(word, value)| ((*word).to_owned(), (*value).to_owned())).collect();
    let names: Vec<String> = (0..items.len()).map(|number| format!("n{number}")).collect();
    pack(
        Pack {
            items: &mut items.iter().map(|item| Ok(item.to_vec())),
            count,
            kind,
            dtype: None,
            names: count.map(|_| names.as_slice()),
            others: &[Value::from("kept")],
            options: &options,
            progress: Progress::none(),
        },
        out,
    )
}

#[test]
fn files_and_pipes_get_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.blp");
    let items: [&[u8]; 3] = [b"one", b"", &[0xff; 3000]];
    let mut file = AtomicFile::create(&path, Overwrite::Refuse).unwrap();
    run(&items, Some(3), ItemKind::Bytes, &[], &mut file).unwrap();
    file.commit(Durability::Cached).unwrap();
    let mut pipe = Pipe(Vec::new());
    run(&items, Some(3), ItemKind::Bytes, &[], &mut pipe).unwrap();
    assert!(std::fs::read(&path).unwrap() == pipe.0);
    let reader = VarReader::open(&path).unwrap();
    assert_eq!(reader.iter().map(Result::unwrap).collect::<Vec<_>>(), items);
    assert_eq!(reader.names().unwrap(), ["n0", "n1", "n2"]);
    let others = reader.file().metadata().unwrap().get("others").unwrap();
    assert_eq!(others, &vec![Value::from("kept")].into());
}

#[test]
fn options_reach_the_file() {
    let mut out = Vec::new();
    let words = [("checksum", "sha256"), ("reserve", "9"), ("filter", "none")];
    run(&[b"one", b"two"], None, ItemKind::Text, &words, &mut out).unwrap();
    let reader = VarReader::from_source(Box::new(out), &OpenOptions::default()).unwrap();
    let starts: Vec<u64> = reader.file().chunks().iter().map(|chunk| chunk.range().start).collect();
    assert_eq!(starts[1] - starts[0], 16 + 3 + 32 + 9);
    assert_eq!((reader.text(1).unwrap().as_str(), reader.names()), ("two", None));
    for words in [[("chunks", "3")], [("reserve", "-1")], [("checksum", "x")]] {
        let error = run(&[b"one"], None, ItemKind::Text, &words, &mut Vec::new()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    }
    let error = run(&[b"ok", b"\xff"], None, ItemKind::Text, &[], &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("item 1"), "{error}");
}
