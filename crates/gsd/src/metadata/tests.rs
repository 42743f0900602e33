use container_core::container::OpenOptions;
use container_core::format::Input;

use super::*;
use crate::container::FORMAT;
use crate::import::SCHEMA;
use crate::writer::sequential::{NewChunk, Plan, to_vec};

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

/// Returns the metadata that a file with these metadata carries, and the number of losses.
fn carried(tree: &Value, frames: u64) -> (Value, usize) {
    let plan = Plan::new("holdall 1", SCHEMA, Version::new(1, 0)).unwrap();
    let json = to_json(tree).unwrap().unwrap();
    let mut chunks: Vec<NewChunk<'_>> = vec![(0, METADATA, ChunkType::Uint8, json.len() as u64, 1, &json)];
    chunks.extend((0..frames).map(|frame| (frame, "a", ChunkType::Uint8, 2, 1, &[1, 2][..])));
    let bytes = to_vec(plan, &chunks).unwrap();
    let container = (FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default()).unwrap();
    (container.export_metadata(&[]).unwrap(), container.unexported_metadata(&[]).len())
}

#[test]
fn a_key_of_the_user_that_is_called_as_the_formats_own_is_kept() {
    let header = [("application", "x".into()), ("schema", "y".into()), ("schema_version", "1.0".into())];
    let more = map(&[&header[..], &[("other", 5_i64.into())]].concat());
    let like = *Plan::new("x", SCHEMA, Version::new(1, 0)).unwrap().header();
    let run = map(&[("file", "run.gsd".into()), ("n", 3_i64.into())]);
    for value in [run, more, "text".into(), Value::List(vec![1_i64.into(), 2_i64.into()]), Value::Null] {
        let tree = map(&[("b", 1_i64.into()), (OWN, value)]);
        assert!(super::header(&tree, &like).is_none());
        assert_eq!(carried(&tree, 1), (tree.clone(), 0));
        // The value that it replaces is reported.
        assert_eq!(carried(&tree, 2), (tree.clone(), 1));
    }
    assert!(super::header(&map(&[(OWN, map(&header))]), &like).is_some());
}
