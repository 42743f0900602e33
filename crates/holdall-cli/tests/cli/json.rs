//! Machine output: the keys that other programs rely on, and their values.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::bloscpack::with_blp;
use crate::support::{files, fixtures_of, floats, rawarray, run, testdata};

/// The lines of a run, parsed.
fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The contract's keys come first and in its order; more may follow.
#[track_caller]
fn assert_keys(line: &Value, keys: &[&str]) {
    let present: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
    let known: Vec<&str> = present.iter().copied().filter(|key| keys.contains(key)).collect();
    assert_eq!(known, keys, "{line}");
}

#[test]
fn info_has_its_keys() {
    let directory = files();
    let run = run(directory.path(), &["info", "--json", "good.ra", "cut.ra"]);
    let lines = lines(run.expect(0));
    assert_eq!(lines.len(), 2);
    for line in &lines {
        assert_keys(
            line,
            &["schema", "path", "format", "version", "size", "complete", "datasets", "details"],
        );
    }
    let good = &lines[0];
    assert_eq!(good["schema"], "holdall.info/1");
    assert_eq!((&good["path"], &good["format"]), (&"good.ra".into(), &"rawarray".into()));
    assert!(good["version"].is_null() && good["details"].is_object());
    assert_eq!((&good["size"], &good["complete"], &good["datasets"]), (&88.into(), &true.into(), &1.into()));
    assert_eq!((&lines[1]["size"], &lines[1]["complete"]), (&83.into(), &false.into()));
}

#[test]
fn ls_has_its_keys() {
    let directory = files();
    let run = run(directory.path(), &["ls", "--json", "good.ra"]);
    let lines = lines(run.expect(0));
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert_keys(line, &["schema", "path", "dtype", "shape", "order", "chunks", "codec", "stored", "logical"]);
    let expected = serde_json::json!({
        "schema": "holdall.ls/1", "path": "data", "dtype": "<f4", "shape": [3, 2], "order": "F", "chunks": null,
        "codec": "none", "stored": 24, "logical": 24,
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(line[key], *value, "{key}");
    }
}

#[test]
fn ls_lists_the_trailer_only_with_recursive() {
    let directory = files();
    let mut bytes = rawarray(3, 4, &[2], &floats(2));
    bytes.extend(b"notes");
    std::fs::write(directory.path().join("trailer.ra"), bytes).unwrap();
    assert_eq!(lines(run(directory.path(), &["ls", "--json", "trailer.ra"]).expect(0)).len(), 1);
    let all = lines(run(directory.path(), &["ls", "--json", "-R", "trailer.ra"]).expect(0));
    assert_eq!((all.len(), &all[1]["path"], &all[1]["stored"]), (2, &"trailer".into(), &5.into()));
    let info = lines(run(directory.path(), &["info", "--json", "trailer.ra"]).expect(0));
    assert_eq!(info[0]["datasets"], 1);
}

#[test]
fn verify_has_its_keys_even_for_what_cannot_be_read() {
    let directory = files();
    let run = run(directory.path(), &["verify", "--json", "good.ra", "cut.ra", "missing.ra", "other.txt"]);
    let lines = lines(run.expect(2));
    assert_eq!(lines.len(), 4);
    for line in &lines {
        assert_keys(line, &["schema", "path", "format", "verdict", "blocks", "findings"]);
        assert_keys(&line["blocks"], &["total", "checked", "bad"]);
        for finding in line["findings"].as_array().unwrap() {
            assert_keys(finding, &["severity", "code", "part", "start", "end", "dataset", "message"]);
        }
    }
    let verdicts: Vec<&str> = lines.iter().map(|line| line["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["sound", "damaged", "unreadable", "unreadable"]);
    assert_eq!(lines[0]["findings"].as_array().unwrap().len(), 0);
    assert_eq!(lines[0]["blocks"], serde_json::json!({"total": 1, "checked": 1, "bad": 0}));
    let finding = &lines[1]["findings"][0];
    assert_eq!((&finding["severity"], &finding["code"]), (&"error".into(), &"data_truncated".into()));
    // The range that the file claims: 24 bytes after the header of 64.
    assert_eq!((&finding["start"], &finding["end"]), (&64.into(), &88.into()));
    assert!(lines[2]["format"].is_null());
}

#[test]
fn layout_tiles_every_fixture() {
    let mut seen = 0;
    let folders = ["rawarray", "bloscpack"]
        .map(|format| ["ok", "odd", "bad"].map(|folder| fixtures_of(format, folder)));
    for path in folders.into_iter().flatten().flatten() {
        let run = run(path.parent().unwrap(), &["layout".as_ref(), "--json".as_ref(), path.as_os_str()]);
        if run.code == Some(2) && path.to_str().unwrap().contains("/bad/") {
            continue;
        }
        let lines = lines(run.expect(0));
        let mut at = 0;
        for line in &lines {
            let keys = [
                "schema", "part", "start", "end", "role", "codec", "stored", "decoded", "checksum", "dataset",
            ];
            assert_keys(line, &keys);
            assert_eq!(line["start"], at, "{} {line}", path.display());
            at = line["end"].as_u64().unwrap();
        }
        assert_eq!(at, path.metadata().unwrap().len(), "{}", path.display());
        seen += 1;
    }
    assert!(seen > 300, "{seen} fixtures");
}

#[test]
fn convert_has_its_keys_and_lists_losses_there_and_on_standard_error() {
    let directory = files();
    let mut bytes = rawarray(3, 4, &[2], &floats(2));
    bytes.extend(b"notes");
    std::fs::write(directory.path().join("trailer.ra"), bytes).unwrap();
    let run = run(directory.path(), &["convert", "--json", "trailer.ra", "new.npy"]);
    let lines = lines(run.expect(0));
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert_keys(line, &["schema", "source", "target", "datasets", "losses"]);
    assert_eq!((&line["source"], &line["target"]), (&"trailer.ra".into(), &"new.npy".into()));
    assert_eq!(line["datasets"], serde_json::json!(["data"]));
    assert_keys(&line["losses"][0], &["dataset", "what"]);
    assert!(run.err.contains(line["losses"][0]["what"].as_str().unwrap()), "{run:#?}");
}

#[test]
fn repair_has_its_keys() {
    let directory = files();
    for (args, target) in [
        (&["repair", "--json", "cut.ra", "-o", "new.ra"][..], Value::from("new.ra")),
        (&["repair", "--json", "cut.ra", "--dry-run"], Value::Null),
    ] {
        let run = run(directory.path(), args);
        let lines = lines(run.expect(1));
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert_keys(line, &["schema", "source", "target", "kept", "guessed", "lost"]);
        assert_eq!((&line["source"], &line["target"]), (&"cut.ra".into(), &target));
        assert!(!line["lost"].as_array().unwrap().is_empty());
    }
    // 19 of 24 bytes were there: one column of three is whole.
    assert_eq!(run(directory.path(), &["cat", "new.ra"]).expect(0), "0.0\n1.0\n2.0\n");
}

#[test]
fn diff_has_its_keys() {
    let directory = files();
    let at = directory.path();
    std::fs::write(at.join("b.ra"), rawarray(3, 4, &[2], &floats(2))).unwrap();
    for (b, code, same) in [("good.npy", 0, true), ("b.ra", 1, false)] {
        let run = run(at, &["diff", "--json", "good.ra", b]);
        let lines = lines(run.expect(code));
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        assert_keys(line, &["schema", "a", "b", "same", "differences"]);
        assert_eq!((&line["a"], &line["b"], &line["same"]), (&"good.ra".into(), &b.into(), &same.into()));
        for difference in line["differences"].as_array().unwrap() {
            assert_keys(difference, &["dataset", "what"]);
        }
    }
}

#[test]
fn formats_and_meta_are_json_too() {
    let directory = files();
    let formats = lines(run(directory.path(), &["formats", "--json"]).expect(0));
    assert!(formats.iter().any(|line| line["format"] == "rawarray"), "{formats:?}");
    assert!(formats.iter().all(|line| line["schema"] == "holdall.formats/1"));
    let meta = lines(run(directory.path(), &["meta", "--json", "good.ra"]).expect(0));
    assert_eq!(meta[0]["dims"], serde_json::json!([3, 2]));
    assert_eq!(run(directory.path(), &["meta", "--json", "good.ra", "/dims/1"]).expect(0), "2\n");
}

/// Keys that no correct build writes in these tests, such as differences after reading back.
const ONLY_OF_FAULTS: [&str; 6] = [
    "holdall.append/1 warning",
    "holdall.convert/1 differences[].dataset",
    "holdall.convert/1 differences[].what",
    "holdall.convert/1 warning",
    "holdall.pack/1 warning",
    "holdall.repair/1 warning",
];

#[test]
fn the_page_has_every_key_and_no_other() {
    let directory = with_blp();
    let at = directory.path();
    let fixture = |name: &str| testdata().join(name).to_str().unwrap().to_owned();
    let (image, cut) = (&fixture("asdf/ok/image.asdf"), &fixture("asdf/bad/cut_lz4.asdf"));
    let offsets = &fixture("bloscpack/bad/offsets_all_minus_1.blp");
    let size = &fixture("rawarray/bad/size_0.ra");
    let list = run(at, &["digest", "good.ra"]).out;
    std::fs::write(at.join("list"), list).unwrap();
    let mut page = Page::read();
    for (args, code) in [
        (&["info", "--json", "good.ra", image][..], 0),
        (&["info", "--json", &format!("{image}::roman/dq")], 0),
        (&["meta", "--json", "good.ra", "good.ra::data", "/dims"], 1),
        (&["ls", "--json", image], 0),
        (&["layout", "--json", image], 0),
        (&["verify", "--json", image, cut, "missing.ra"], 2),
        (&["repair", "--json", "cut.ra", "-o", "new.ra"], 1),
        (&["repair", "--json", offsets, "--dry-run"], 0),
        (&["repair", "--json", size, "--dry-run"], 0),
        (&["convert", "--json", &format!("{image}::roman/dq"), "dq.npy"], 0),
        (&["recode", "--json", image, "image.asdf"], 0),
        (&["pack", "--json", "good.npy", "packed.blp"], 0),
        (&["pack", "--json", "--items", "lines", "other.txt", "lines.blp"], 0),
        (&["pack", "--json", "--items", "arrays", "--dtype", "|u1", "other.txt", "numbers.blp"], 0),
        (&["extract", "--json", image, "-o", "arrays"], 0),
        (&["append", "--json", "hello.blp", "good.npy"], 0),
        (&["explode", "--json", image, "-o", "parts"], 0),
        (&["implode", "--json", "parts/image_exploded.asdf", "-o", "whole.asdf"], 0),
        (&["diff", "--json", "good.ra", "hello.blp"], 1),
        (&["diff", "--json", "good.ra", "cut.ra"], 2),
        (&["digest", "--json", "good.ra", "missing.ra"], 2),
        (&["digest", "--json", "--check", "list"], 0),
        (&["stat", "--json", "good.ra", image], 0),
        (&["stat", "--json", &format!("{image}::roman/dq[0]")], 0),
        (&["formats", "--json"], 0),
        (&["cat", "--format", "json", "good.ra", "good.npy"], 0),
        (&["find", "--json", "ndim == 2", "good.ra"], 0),
    ] {
        for line in lines(run(at, args).expect(code)) {
            page.see(&line);
        }
    }
    let never: Vec<&String> = page.listed.difference(&page.seen).collect();
    assert_eq!(never, ONLY_OF_FAULTS);
}

/// The page on JSON: keys with their schema before them.
struct Page {
    listed: BTreeSet<String>,
    seen: BTreeSet<String>,
}

impl Page {
    fn read() -> Self {
        let text = std::fs::read_to_string(testdata().join("../docs/json.md")).unwrap();
        let mut listed = BTreeSet::new();
        for section in text.split("\n## ") {
            let (heading, body) = section.split_once('\n').unwrap();
            let Some(schema) = heading.split('`').nth(1) else { continue };
            for row in body.lines().filter(|line| line.starts_with("| `")) {
                let keys = row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2);
                listed.extend(keys.map(|key| format!("{schema} {key}")));
            }
            listed.insert(format!("{schema} schema"));
        }
        Self { listed, seen: BTreeSet::new() }
    }

    fn see(&mut self, line: &Value) {
        let schema = line["schema"].as_str().unwrap();
        for (key, value) in line.as_object().unwrap() {
            self.see_key(format!("{schema} {key}"), value);
        }
    }

    fn see_key(&mut self, key: String, value: &Value) {
        if self.listed.contains(&key) {
            self.seen.insert(key);
            return;
        }
        match value {
            Value::Object(entries) => {
                entries.iter().for_each(|(name, value)| self.see_key(format!("{key}.{name}"), value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.see_key(format!("{key}[]"), item)),
            // A value that is an object elsewhere.
            Value::Null if self.listed.iter().any(|listed| listed.starts_with(&format!("{key}."))) => {}
            _ => panic!("{key} is not on the page"),
        }
    }
}
