//! The test data of every format, and GSD's curves.

use std::fs;
use std::path::{Path, PathBuf};

use container_core::container::{OpenOptions, ReadOptions};
use holdall::open::{Accept, open_with};
use serde_json::{Value as Json, json};

use super::{Format, Opened};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

#[test]
fn logs_of_one_number_a_frame_are_curves() {
    let file = Opened::path(&testdata("gsd/ok/hoomd_log_alone.gsd"));
    let names = file.names("/curves");
    assert!(!names.is_empty());
    for name in names {
        let path = format!("/curves/{name}");
        assert_eq!(
            file.attributes(&path),
            json!({ "NX_class": "NXdata", "signal": "value", "axes": ["step"] })
        );
        assert_eq!(file.names(&path), ["value", "step"]);
        let [value, step] = ["value", "step"].map(|child| file.meta(&format!("{path}/{child}")));
        assert_eq!((value["shape"].as_array().unwrap().len(), &value["shape"]), (1, &step["shape"]));
        let log = format!("/log/{}", name.replace('.', "/"));
        let column: Vec<Json> =
            file.json(&log, None).as_array().unwrap().iter().map(|row| row[0].clone()).collect();
        assert_eq!(file.json(&format!("{path}/value"), None), json!(column));
        assert_eq!(file.json(&format!("{path}/value"), Some("-1")), column[column.len() - 1]);
    }
}

#[test]
fn names_with_slashes_of_datasets_have_a_place() {
    // Its names are a, ab, abc, a/b, a/ and /.
    let file = Opened::path(&testdata("gsd/ok/fl_names.gsd"));
    let names = file.names("/");
    for name in ["a", "ab", "abc", "a~1b", "a~1", "~1"] {
        assert!(names.iter().any(|own| own == name), "{name} in {names:?}");
        assert_eq!(file.meta(&format!("/{name}"))["kind"], "dataset");
    }
    let container = file.container.as_ref();
    for index in 0..container.listed_count() {
        let path = file.entities.path_of(container, index);
        assert_eq!(file.entities.find(container, &path), Some((index, None)), "{path}");
    }
}

#[test]
fn frames_and_blocks_that_are_not_listed_have_paths() {
    let file = Opened::path(&testdata("gsd/ok/hoomd_full.gsd"));
    assert!(!file.names("/").contains(&"frames".to_owned()));
    assert_eq!(file.meta("/frames/0/particles/position")["shape"], json!([4, 3]));
    assert_eq!(file.attributes("/")["schema"], "hoomd");
}

/// Every entity that a group lists has the same description under its own path, and values or an error: no panic, and no group that
/// a bad child breaks.
#[test]
fn every_listed_entity_can_be_asked_for() {
    let mut files = Vec::new();
    let mut folders = vec![testdata("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            files.push(path);
        }
    }
    let mut opened = 0;
    for path in files {
        let Ok(file) = open_with(&path, Accept::ContainersAndArrays, &OpenOptions::default()) else {
            continue;
        };
        opened += 1;
        let file = Opened::new(file.container);
        look(&file, "", &mut 300);
    }
    assert!(opened > 500, "{opened} files");
}

fn look(file: &Opened, path: &str, left: &mut u32) {
    let container = file.container.as_ref();
    let meta = file.meta(if path.is_empty() { "/" } else { path });
    let listed: Vec<&Json> = meta["attributes"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    let values = file.attributes(if path.is_empty() { "/" } else { path });
    assert_eq!(json!(listed), json!(values.as_object().unwrap().keys().collect::<Vec<_>>()));
    for child in meta["children"].as_array().into_iter().flatten() {
        let name = child["name"].as_str().unwrap();
        assert!(!name.is_empty() && !name.contains('/'), "{name:?}");
        let below = format!("{path}/{name}");
        let mut own = file.meta(&below);
        own.as_object_mut().unwrap().remove("children");
        assert_eq!(&own, child, "{below}");
        *left = left.saturating_sub(1);
        if *left == 0 {
            return;
        }
        match child["kind"].as_str() {
            Some("group") => look(file, &below, left),
            Some("dataset") => {
                let shape: Option<Vec<u64>> = serde_json::from_value(child["shape"].clone()).unwrap();
                let count = shape.iter().flatten().copied().fold(1, u64::saturating_mul);
                if count > 1 << 16 {
                    continue;
                }
                for how in
                    [(Format::Json, true, false), (Format::Json, false, false), (Format::Bin, false, true)]
                {
                    let answer = file.try_data(&below, None, how);
                    if let (Ok(answer), (Format::Json, true, _)) = (answer, how) {
                        let value: Json = serde_json::from_slice(&answer).unwrap();
                        let items = value.as_array().map(Vec::len);
                        let expected = shape.as_ref().filter(|shape| !shape.is_empty()).map(|_| count);
                        if let Some(expected) = expected {
                            assert_eq!(items.map(|items| items as u64), Some(expected), "{below}");
                        }
                    }
                }
            }
            _ => {}
        }
    }
    let _ = file.entities.paths(container, "/", &ReadOptions::default().limits).unwrap();
}
