//! Machine output: the keys that other programs rely on, and their values.

use serde_json::Value;

use crate::support::{files, fixtures_of, floats, rawarray, run};

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
fn ls_lists_the_trailer_only_when_asked_for_all() {
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
