//! Damage that shows without reading elements, and targets that are their own source.

use std::path::{Path, PathBuf};

use crate::support::{contents, files, fixtures, fixtures_of, npy, run};

fn bad(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rawarray/bad").join(name)
}

/// Damaged dimensions may give a size of 0; that is damage, not an empty array.
#[test]
fn damaged_zero_sizes_are_refused_with_their_range() {
    let directory = files();
    let at = directory.path();
    for name in ["reshape_zero.ra", "size_of_nothing.ra", "elbyte_0_huge.ra"] {
        let path = bad(name);
        let path = path.to_str().unwrap();
        for args in [
            &["cat", path][..],
            &["cat", path, "--format", "npy"],
            &["convert", path, "new.npy"],
            &["convert", path, "new.ra"],
            &["diff", path, path],
        ] {
            let run = run(at, args);
            assert_eq!(run.expect(2), "", "{args:?}");
            assert!(run.err.contains("bytes "), "no place: {run:#?}");
        }
    }
    assert!(!at.join("new.npy").exists() && !at.join("new.ra").exists());
}

#[test]
fn unreadable_values_produce_empty_output() {
    let directory = files();
    for path in fixtures("bad") {
        for args in [["cat", "--format", "npy"], ["convert", "--to", "npy"]] {
            let args = [Path::new(args[0]), Path::new(args[1]), Path::new(args[2]), &path];
            let target: &[&Path] = if args[0] == Path::new("convert") { &[Path::new("-")] } else { &[] };
            let run = run(directory.path(), &[&args[..], target].concat());
            // Files damaged outside of their values still have them.
            if run.code != Some(0) {
                assert_eq!(run.expect(2), "", "{}", path.display());
            }
        }
    }
}

#[test]
fn a_file_is_never_its_own_target() {
    let directory = files();
    let at = directory.path();
    #[cfg(unix)]
    {
        std::fs::hard_link(at.join("good.ra"), at.join("hard.npy")).unwrap();
        std::os::unix::fs::symlink("good.ra", at.join("link.npy")).unwrap();
    }
    let before = contents(at);
    for target in ["good.ra", "./good.ra", "link.npy", "hard.npy"] {
        for args in [
            &["cat", "good.ra", "-f", "--format", "npy", "-o", target][..],
            &["convert", "-f", "--to", "npy", "good.ra", target],
        ] {
            let run = run(at, args);
            if cfg!(unix) || target.ends_with(".ra") {
                run.expect(2);
                assert!(run.err.contains("is the source itself"), "{run:#?}");
            }
        }
    }
    if cfg!(unix) {
        assert_eq!(contents(at), before);
    }
}

#[test]
fn cat_reports_the_range_of_an_unreadable_shape() {
    let directory = files();
    for name in ["eltype_6.ra", "dims_wrap_to_4.ra", "header_48.ra"] {
        let path = bad(name);
        let run = run(directory.path(), &["cat", path.to_str().unwrap()]);
        run.expect(2);
        assert!(run.err.contains("bytes "), "{run:#?}");
    }
}

#[test]
fn a_long_double_verifies_as_the_opaque_bytes_that_it_becomes() {
    let directory = files();
    let at = directory.path();
    let values: Vec<u8> = (0..48).collect();
    std::fs::write(at.join("ld.npy"), npy("<f16", false, "(3,)", &values)).unwrap();
    let there = run(at, &["convert", "--verify", "ld.npy", "ld.ra"]);
    there.expect(0);
    assert!(there.err.contains("opaque"), "{there:#?}");
    let back = run(at, &["convert", "--verify", "ld.ra", "back.npy"]);
    back.expect(0);
    assert!(back.err.contains("no type"), "{back:#?}");
    assert_eq!(std::fs::read(at.join("back.npy")).unwrap()[128..], values);
}

#[test]
fn bits_do_not_round_bools() {
    let directory = files();
    let odd = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rawarray/odd/bool_other_values.ra");
    let run = run(directory.path(), &["convert", odd.to_str().unwrap(), "new.ra", "--codec", "bits"]);
    run.expect(2);
    assert!(!directory.path().join("new.ra").exists());
}

#[test]
fn memory_does_not_grow_with_what_passes_through() {
    let directory = files();
    let at = directory.path();
    let rows = vec![0_u8; 4 << 20];
    std::fs::write(at.join("rows.npy"), npy("<f4", false, "(1024, 1024)", &rows)).unwrap();
    // A transposition within a sixteenth of the array.
    for args in [
        &["convert", "--positioned", "--limit-memory", "256K", "rows.npy", "columns.ra"][..],
        &["cat", "--positioned", "--limit-memory", "256K", "--format", "raw", "columns.ra", "-o", "rows.raw"],
        &["diff", "--positioned", "--limit-memory", "256K", "rows.npy", "columns.ra"],
    ] {
        run(at, args).expect(0);
    }
}

/// A file after an HTTP header, or after zeros, is repaired as it would be alone; other verbs report where it begins.
#[test]
fn a_file_behind_other_bytes_is_brought_back_as_it_would_be_alone() {
    let directory = files();
    let at = directory.path();
    for (format, zeros) in
        [("asdf", 1), ("bloscpack", 13), ("blosc2", 512), ("gsd", 64), ("rawarray", 65_535)]
    {
        // Some of each, since every repair waits for the disk. A zip file is found by its end.
        let is_one = |path: &PathBuf| path.is_file() && path.extension().is_none_or(|it| it != "b2z");
        for path in fixtures_of(format, "ok").into_iter().filter(is_one).step_by(9) {
            let file = std::fs::read(&path).unwrap();
            std::fs::write(at.join("alone"), &file).unwrap();
            let alone = run(at, &["repair", "alone", "-o", "new", "-f"]);
            let alone = (alone.code, std::fs::read(at.join("new")).ok());
            for prefix in [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![0; zeros]] {
                std::fs::write(at.join("behind"), [&prefix[..], &file].concat()).unwrap();
                let told = run(at, &["ls", "behind"]);
                assert_eq!(told.code, Some(2));
                let place = format!("file begins at byte {}", prefix.len());
                assert!(
                    told.err.contains(&place) && told.err.contains("holdall repair"),
                    "{} {told:#?}",
                    path.display()
                );
                let behind = run(at, &["repair", "behind", "-o", "new", "-f"]);
                assert_eq!((behind.code, std::fs::read(at.join("new")).ok()), alone, "{}", path.display());
            }
        }
    }
}

#[test]
fn ls_reports_what_damage_hides_without_reading_metadata() {
    let directory = files();
    let at = directory.path();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let ls = |name: &str| run(at, &["ls", data.join(name).to_str().unwrap()]);
    // Its metadata, with aliases expanded, exceed the limit. Its arrays do not.
    let bomb = ls("asdf/ok/tree_alias_bomb.asdf");
    assert_eq!((bomb.expect(0), bomb.err.as_str()), ("", ""));
    for name in ["gsd/bad/names_noise.gsd", "blosc2/bad/array_axes_17.b2nd", "rawarray/bad/eltype_6.ra"] {
        let there = ls(name);
        assert_eq!(there.expect(0), "");
        assert!(there.err.contains(": no dataset is listed: "), "{there:#?}");
        assert!(there.err.contains("try: holdall verify "), "{there:#?}");
    }
    // Beside others: it is named on standard error, and reading it has that reason.
    for (name, path, listed) in [
        ("asdf/bad/array_byteorder_none.asdf", "a", "good\t<i4\t(24,)"),
        ("blosc2/bad/zip_size_max.b2z", "a", "b\t<f8\t(11,)"),
    ] {
        let there = ls(name);
        assert!(there.expect(0).starts_with(listed), "{there:#?}");
        assert!(there.err.contains(": a cannot be read: "), "{there:#?}");
        let address = format!("{}::{path}", data.join(name).display());
        let read = run(at, &["cat", &address]);
        assert!(read.expect(2).is_empty() && read.err.contains(": a cannot be read: "), "{read:#?}");
    }
    // Columns of a table whose metadata cannot be read: the stored values are others than the table's.
    std::fs::create_dir_all(at.join("table.b2d/_cols")).unwrap();
    for file in ["_valid_rows.b2nd", "_cols/number.b2nd"] {
        let from = data.join("blosc2/ok/table_b2d.b2d").join(file);
        std::fs::copy(from, at.join("table.b2d").join(file)).unwrap();
    }
    std::fs::write(at.join("table.b2d/_meta.b2f"), b"cut").unwrap();
    let there = run(at, &["cat", "table.b2d::_cols/number"]);
    assert_eq!(there.expect(2), "");
    assert!(there.err.contains("column number is not decoded: "), "{there:#?}");
    let tree = "#ASDF 1.0.0\n%YAML 1.1\n---\nk: -\nb: 1\n...\n";
    std::fs::write(at.join("tree.asdf"), tree).unwrap();
    let there = run(at, &["ls", "tree.asdf"]);
    there.expect(2);
    assert!(there.err.contains("the tree cannot be read: "), "{there:#?}");
}
