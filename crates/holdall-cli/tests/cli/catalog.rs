//! Catalogues: written, brought up to date, read by others, and searched.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::support::{Run, files, floats, rawarray, run};

/// Runs Python with `duckdb`, `pandas`, `polars` and `pyarrow`.
#[track_caller]
fn python(at: &Path, code: &str) -> String {
    let python = std::env::var_os("HOLDALL_PYTHON").map(PathBuf::from);
    let python = python.expect("HOLDALL_PYTHON names no Python with duckdb (cargo xtask setup makes one)");
    let run = Run::of(&Command::new(python).args(["-c", code]).current_dir(at).output().unwrap());
    run.expect(0).to_owned()
}

/// A folder `data` with two RawArray files, a damaged one, one that cannot be read, and an ASDF file with metadata; all of them an hour old.
fn desk() -> TempDir {
    let directory = files();
    let at = directory.path();
    std::fs::create_dir_all(at.join("data/sub")).unwrap();
    for (name, to) in
        [("good.ra", "a.ra"), ("good.ra", "sub/b.ra"), ("cut.ra", "cut.ra"), ("empty.ra", "empty.ra")]
    {
        std::fs::copy(at.join(name), at.join("data").join(to)).unwrap();
    }
    let ndarray = "!<tag:stsci.edu:asdf/core/ndarray-1.1.0>";
    let text = format!(
        "#ASDF 1.0.0\n%YAML 1.1\n---\nroman:\n  data: {ndarray} {{data: [[1, 2]], datatype: int16}}\n  meta:\n    start: 2026-03-04T05:06:07\n    \
         exposure: 30.5\n    filters: [F158, F087]\n    'odd \"name\"': 1\n...\n"
    );
    std::fs::write(at.join("data/image.asdf"), text).unwrap();
    for name in ["a.ra", "sub/b.ra", "cut.ra", "empty.ra", "image.asdf"] {
        age(&at.join("data").join(name), 3600);
    }
    directory
}

/// Sets the time of the last change.
fn age(path: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_times(std::fs::FileTimes::new().set_modified(time)).unwrap();
}

const META: [&str; 6] =
    ["--meta", "roman/meta/start", "--meta", "/roman/meta/exposure", "--meta", "roman/meta/filters"];

/// Makes or renews `cat.parquet`; standard error.
#[track_caller]
fn catalog(at: &Path, more: &[&str]) -> String {
    let run = run(at, &[&["catalog", "data", "-o", "cat.parquet"], &META[..], more].concat());
    run.expect(0);
    run.err
}

#[test]
fn other_programs_read_a_catalogue() {
    let directory = desk();
    let at = directory.path();
    let told = catalog(at, &[]);
    assert!(told.starts_with("cat.parquet: 5 rows, 5 files read, 0 as before, 2 not sound"), "{told}");
    // Expected values are those of the files as Python sees them.
    let code = r#"
import datetime, hashlib, os, duckdb, pandas, polars, pyarrow.parquet
t = pyarrow.parquet.read_table('cat.parquet')
rows = {r['path']: r for r in t.to_pylist()}
assert sorted(rows) == [os.path.join('data', n) for n in ('a.ra', 'cut.ra', 'empty.ra', 'image.asdf', os.path.join('sub', 'b.ra'))], rows
for path, row in rows.items():
    data = open(path, 'rb').read()
    assert row['file_bytes'] == len(data) and row['head_sha256'] == hashlib.sha256(data[:4096]).hexdigest()
    modified = row['modified'] - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    assert modified // datetime.timedelta(microseconds=1) == os.stat(path).st_mtime_ns // 1000
a, image, empty = rows[os.path.join('data', 'a.ra')], rows[os.path.join('data', 'image.asdf')], rows[os.path.join('data', 'empty.ra')]
assert a['shape'] == [3, 2] and a['chunks'] is None and a['dtype'] == '<f4' and (a['bytes'], a['stored']) == (24, 24), a
assert a['verdict'] == 'sound' and a['message'] is None and a['roman/meta/start'] is None and a['dataset'] == 'data'
assert rows[os.path.join('data', 'cut.ra')]['verdict'] == 'damaged' and rows[os.path.join('data', 'cut.ra')]['message']
assert empty['verdict'] == 'unreadable' and empty['dataset'] is None and empty['shape'] is None and empty['message']
assert image['roman/meta/start'] == '2026-03-04T05:06:07' and image['roman/meta/exposure'] == '30.5'
assert image['roman/meta/filters'] == '["F158","F087"]' and image['dataset'] == 'roman/data' and image['format'] == 'asdf'
names = t.column_names
for other in (duckdb.sql("select * from 'cat.parquet'").arrow(), polars.read_parquet('cat.parquet').to_arrow()):
    other = other.read_all() if hasattr(other, 'read_all') else other
    assert other.column_names == names
    assert [[r[n] for n in names if n not in ('modified', 'checked')] for r in other.to_pylist()] == [[r[n] for n in names if n not in ('modified', 'checked')] for r in t.to_pylist()]
frame = pandas.read_parquet('cat.parquet')
assert list(frame['path']) == t['path'].to_pylist() and list(frame[frame['verdict'] == 'sound']['bytes']) == [24, 4, 24]
sql = "select path from 'cat.parquet' where shape[1] = 3 and verdict = 'sound' and modified < now() order by path"
assert len(duckdb.sql(sql).fetchall()) == 2
assert str(duckdb.sql("select bytes, shape, modified from 'cat.parquet'").types) == "[UBIGINT, UBIGINT[], TIMESTAMP WITH TIME ZONE]"
print('ok')
"#;
    assert_eq!(python(at, code), "ok\n");
}

#[test]
fn a_later_run_reads_what_has_changed() {
    let directory = desk();
    let at = directory.path();
    catalog(at, &[]);
    let before = std::fs::read(at.join("cat.parquet")).unwrap();
    // What could not be read is tried again.
    assert!(catalog(at, &[]).starts_with("cat.parquet: 5 rows, 1 files read, 4 as before, 2 not sound"));
    // Another length, a new file, one that is gone.
    std::fs::write(at.join("data/a.ra"), rawarray(3, 4, &[2], &floats(2))).unwrap();
    std::fs::write(at.join("data/new.ra"), rawarray(3, 4, &[1], &floats(1))).unwrap();
    std::fs::remove_file(at.join("data/cut.ra")).unwrap();
    assert!(catalog(at, &[]).starts_with("cat.parquet: 5 rows, 3 files read, 2 as before, 1 not sound"));
    // The same table as of a new run, but for the times of reading.
    run(at, &[&["catalog", "data", "-o", "fresh.parquet"], &META[..]].concat()).expect(0);
    let code = "import pyarrow.parquet as p\na, b = (p.read_table(f).drop(['checked']) for f in ('cat.parquet', 'fresh.parquet'))\nassert a.equals(b)\nprint(a.num_rows)";
    assert_eq!(python(at, code), "5\n");
    // The same length within the second of reading, or with the time set back, is not the same file.
    age(&at.join("data/image.asdf"), 7200);
    let again = catalog(at, &[]);
    assert!(again.contains(" files read") && !again.contains("files read, 5 as before"), "{again}");
    // Other columns, and -f.
    let other = run(at, &["catalog", "data", "-o", "cat.parquet", "--meta", "a/b"]);
    other.expect(0);
    assert!(
        other.err.contains("every file is read") && other.err.contains("5 files read, 0 as before"),
        "{other:?}"
    );
    assert!(catalog(at, &["-f"]).contains("5 files read"));
    assert_ne!(std::fs::read(at.join("cat.parquet")).unwrap(), before);
}

#[test]
fn files_in_another_order_are_right_all_the_same() {
    let directory = desk();
    let at = directory.path();
    run(at, &["catalog", "data/a.ra", "data/sub", "data/image.asdf", "data/a.ra", "-o", "cat.parquet"])
        .expect(0);
    let turned = run(at, &["catalog", "data/image.asdf", "data/sub", "data/a.ra", "-o", "cat.parquet"]);
    turned.expect(0);
    assert!(turned.err.starts_with("cat.parquet: 3 rows, 2 files read, 1 as before"), "{turned:?}");
    let code = "import pyarrow.parquet as p\nprint(*p.read_table('cat.parquet')['format'].to_pylist())";
    assert_eq!(python(at, code), "asdf rawarray rawarray\n");
}

#[test]
fn what_is_no_catalogue_is_not_replaced() {
    let directory = desk();
    let at = directory.path();
    std::fs::write(at.join("cat.parquet"), b"precious").unwrap();
    python(
        at,
        "import pyarrow as a, pyarrow.parquet as p\np.write_table(a.table({'x': [1]}), 'table.parquet')",
    );
    for name in ["cat.parquet", "table.parquet"] {
        let before = std::fs::read(at.join(name)).unwrap();
        let refused = run(at, &["catalog", "data", "-o", name]);
        refused.expect(2);
        assert!(refused.err.contains("-f to replace it"), "{refused:?}");
        assert_eq!(std::fs::read(at.join(name)).unwrap(), before);
        run(at, &["catalog", "data", "-f", "-o", name]).expect(0);
    }
    let missing = run(at, &["catalog", "data/a.ra", "nosuch.ra", "-o", "m.parquet"]);
    missing.expect(2);
    assert!(missing.err.contains("nosuch.ra") && missing.err.contains("m.parquet: 1 rows"), "{missing:?}");
    // A mistyped name leaves the catalogue that is there.
    let before = std::fs::read(at.join("m.parquet")).unwrap();
    for force in [&[][..], &["-f"]] {
        let mistyped = run(at, &[&["catalog", "dta", "-o", "m.parquet"], force].concat());
        mistyped.expect(2);
        assert!(
            mistyped.err.contains("dta: ") && mistyped.err.contains("m.parquet: left as it was"),
            "{mistyped:?}"
        );
        assert_eq!(std::fs::read(at.join("m.parquet")).unwrap(), before);
    }
    run(at, &["catalog", "-", "-o", "s.parquet"]).expect(2);
    let names: Vec<String> = crate::support::contents(at).into_iter().map(|(name, _)| name).collect();
    assert!(!names.iter().any(|name| name.contains("tmp") || name == "s.parquet"), "{names:?}");
}

#[test]
fn datasets_are_found_in_files_and_in_catalogues() {
    let directory = desk();
    let at = directory.path();
    catalog(at, &[]);
    let data = |name: &str| Path::new("data").join(name).display().to_string();
    let (a, b, image) = (data("a.ra::data"), data("sub/b.ra::data"), data("image.asdf::roman/data"));
    for (condition, expected) in [
        ("roman/meta/start >= 2026-01-01", vec![&image]),
        ("roman/meta/start >= 2027-01-01", vec![]),
        ("roman/meta/exposure > 30 and dtype == int16", vec![&image]),
        ("dtype == float32 and verdict == sound", vec![&a, &b]),
        ("shape[0] == 1 or shape[1] > 100", vec![&image]),
        ("not (format == rawarray) and exists roman/meta/filters", vec![&image]),
        ("bytes < 5 & ndim == 2", vec![&image]),
    ] {
        let code = if expected.is_empty() { 1 } else { 0 };
        let expected: String = expected.iter().map(|address| format!("{address}\n")).collect();
        let in_catalog = run(at, &["find", condition, "cat.parquet"]);
        assert_eq!(in_catalog.expect(code), expected, "{condition}");
        // One file cannot be read, unless that is asked for.
        let in_files = run(at, &["find", condition, "data"]);
        assert_eq!(in_files.out, expected, "{condition} {in_files:?}");
        assert_eq!(in_files.code, Some(if condition.contains("verdict") { code } else { 2 }), "{condition}");
        assert_eq!(in_files.err.contains("empty.ra"), !condition.contains("verdict"));
    }
    let unread = run(at, &["find", "-l", "verdict != sound", "cat.parquet"]);
    assert_eq!(unread.expect(0), format!("{}\n{}\n", data("cut.ra"), data("empty.ra")));
    let found = run(at, &["find", "--json", "dtype == int16", "cat.parquet"]);
    let line: serde_json::Value = serde_json::from_str(found.expect(0)).unwrap();
    assert_eq!(
        line,
        serde_json::json!({"schema": "holdall.find/1", "address": image, "path": data("image.asdf"), "dataset": "roman/data"})
    );
    // The addresses are those of other verbs.
    assert_eq!(run(at, &["cat", &image]).expect(0), "1 2\n");
}

#[test]
fn questions_that_cannot_be_answered_are_errors() {
    let directory = desk();
    let at = directory.path();
    catalog(at, &[]);
    for (condition, what) in [
        ("roman/meta/nosuch == 1", "--meta 'roman/meta/nosuch'"),
        ("a = 3", "column 3"),
        ("(a == 3", "column 8"),
        ("", "column 1"),
    ] {
        let run = run(at, &["find", condition, "cat.parquet"]);
        run.expect(2);
        assert!(run.err.contains(what), "{run:?}");
    }
    std::fs::write(at.join("bad.parquet"), b"PAR1 and no more PAR1").unwrap();
    let bad = run(at, &["find", "dtype == int16", "bad.parquet", "cat.parquet"]);
    assert!(bad.expect(2).ends_with("image.asdf::roman/data\n"), "{bad:?}");
    // The hint is about the column that is missing, the first of two here, and not about another name of the condition.
    for (condition, name, hint) in [
        ("/roman/x == 1 and ndims == 2", "roman/x", "holdall catalog --meta 'roman/x'"),
        ("ndims == 2 and /roman/x == 1", "ndims", "did you mean ndim?"),
    ] {
        let asked = run(at, &["find", condition, "cat.parquet"]);
        asked.expect(2);
        assert!(
            asked.err.contains(&format!("has no column {name}\n")) && asked.err.contains(hint),
            "{asked:#?}"
        );
        assert!(!asked.err.contains("note:"), "{asked:#?}");
    }
}

#[test]
fn tables_of_other_writers_are_searched() {
    let directory = desk();
    let at = directory.path();
    catalog(at, &[]);
    let code = r#"
import duckdb, polars, pyarrow.parquet as p
t = p.read_table('cat.parquet')
p.write_table(t, 'a.parquet', compression='none')
p.write_table(t, 'a2.parquet', compression='none', data_page_version='2.0', use_dictionary=False, row_group_size=2, data_page_size=64)
p.write_table(t.select(['path', 'dtype', 'shape', 'dataset']), 'few.parquet', compression='none')
p.write_table(t, 'snappy.parquet')
p.write_table(t.append_column('extra', [[1.5] * 5]).append_column('deep', [[{'x': [1]}] * 5]), 'more.parquet', compression='none')
polars.read_parquet('cat.parquet').write_parquet('p.parquet', compression='uncompressed')
duckdb.sql("copy (from 'cat.parquet') to 'd.parquet' (compression uncompressed)")
q = t.set_column(t.column_names.index('shape'), 'shape', [['x'] * 5])
p.write_table(q, 'wrong.parquet', compression='none')
"#;
    python(at, code);
    let expected =
        run(at, &["find", "shape[0] == 3 and dtype == float32", "cat.parquet"]).expect(0).to_owned();
    assert_eq!(expected.lines().count(), 3);
    for name in ["a", "a2", "few", "more", "p", "d"] {
        let run = run(at, &["find", "shape[0] == 3 and dtype == float32", &format!("{name}.parquet")]);
        assert_eq!(run.expect(0), expected, "{name}");
    }
    for (name, what) in [("snappy", "compressed by SNAPPY"), ("wrong", "shape has another type")] {
        let run = run(at, &["find", "shape[0] == 3", &format!("{name}.parquet")]);
        run.expect(2);
        assert!(run.err.contains(what), "{run:?}");
    }
    let few = run(at, &["find", "verdict == sound", "few.parquet"]);
    few.expect(2);
    assert!(few.err.contains("no column verdict"), "{few:?}");
}

#[cfg(unix)]
#[test]
fn odd_names_are_rows_and_cannot_break_lines() {
    use std::os::unix::ffi::OsStrExt;
    let directory = desk();
    let at = directory.path();
    std::fs::create_dir(at.join("odd")).unwrap();
    let names: [&[u8]; 3] = [b"new\nline.ra", b"\xff.ra", b"a::b.ra"];
    for name in names {
        let path = at.join("odd").join(std::ffi::OsStr::from_bytes(name));
        std::fs::copy(at.join("good.ra"), &path).unwrap();
        age(&path, 3600);
    }
    std::os::unix::fs::symlink(at.join("odd"), at.join("odd/loop")).unwrap();
    run(at, &["catalog", "odd", "-o", "odd.parquet"]).expect(0);
    let again = run(at, &["catalog", "odd", "-o", "odd.parquet"]);
    // The name that is not text is read again.
    assert!(again.err.starts_with("odd.parquet: 3 rows, 1 files read, 2 as before"), "{again:?}");
    let found = run(at, &["find", "ndim == 2", "odd"]);
    assert_eq!(found.expect(0).lines().count(), 3);
    assert!(found.out.contains("odd/new\\nline.ra::data\n"), "{found:?}");
    let mut command = crate::support::holdall(at);
    let output = command.args(["find", "-l", "-0", "ndim == 2", "odd"]).output().unwrap();
    assert_eq!(output.stdout, b"odd/a::b.ra\0odd/new\nline.ra\0odd/\xff.ra\0");
}

/// An interrupted run leaves the catalogue that was there, and nothing else.
#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_what_was_there() {
    let directory = desk();
    let at = directory.path();
    catalog(at, &[]);
    let before = crate::support::contents(at);
    // It waits for a writer of the pipe.
    let pipe = at.join("data/pipe.ra");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let mut child = crate::support::holdall(at)
        .args(["catalog", "data/a.ra", "data/pipe.ra", "-o", "cat.parquet"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "it did not wait");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let status = child.wait().unwrap();
    assert!(!status.success());
    assert_eq!(crate::support::contents(at), before);
}
