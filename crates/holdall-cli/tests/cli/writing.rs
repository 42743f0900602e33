//! Files that the command writes: never half, never over another without -f, never left behind by a failure.

use std::path::Path;

use crate::support::{contents, files, fixtures, floats, holdall, npy, rawarray, run, testdata};

/// Every verb that writes, with a target called `new`.
const WRITERS: [&[&str]; 5] = [
    &["convert", "good.ra", "new", "--to", "npy"],
    &["convert", "good.npy", "new", "--to", "rawarray", "--verify"],
    &["repair", "good.ra", "-o", "new"],
    &["cat", "good.ra", "--format", "raw", "-o", "new"],
    &["cat", "good.ra", "--format", "csv", "-o", "new"],
];

#[test]
fn an_existing_file_is_only_replaced_by_force() {
    for args in WRITERS {
        let directory = files();
        let new = directory.path().join("new");
        std::fs::write(&new, b"precious").unwrap();
        let before = contents(directory.path());
        let refused = run(directory.path(), args);
        refused.expect(2);
        assert!(refused.err.contains("exists") && refused.err.contains("-f"), "{args:?} {refused:#?}");
        assert_eq!(contents(directory.path()), before, "{args:?}");
        run(directory.path(), &[args, &["-f"]].concat()).expect(0);
        assert_ne!(std::fs::read(&new).unwrap(), b"precious", "{args:?}");
        assert_eq!(contents(directory.path()).len(), before.len(), "{args:?}");
    }
}

#[test]
fn failed_command_leaves_the_directory_unchanged() {
    for source in ["cut.ra", "missing.ra", "other.txt", "empty.ra", "directory.ra"] {
        for args in [
            &["convert", source, "new", "--to", "npy", "-f"][..],
            &["cat", source, "--format", "npy", "-o", "new", "-f"],
            &["cat", source, "--format", "text", "-o", "new", "-f"],
        ] {
            let directory = files();
            for precious in [false, true] {
                if precious {
                    std::fs::write(directory.path().join("new"), b"precious").unwrap();
                }
                let before = contents(directory.path());
                run(directory.path(), args).expect(2);
                assert_eq!(contents(directory.path()), before, "{args:?}");
            }
        }
    }
}

#[test]
fn repair_without_recoverable_data_leaves_the_directory_unchanged() {
    let directory = files();
    std::fs::write(directory.path().join("new"), b"precious").unwrap();
    let before = contents(directory.path());
    for source in ["missing.ra", "other.txt", "empty.ra", "good.npy"] {
        run(directory.path(), &["repair", source, "-o", "new", "-f"]).expect(2);
        assert_eq!(contents(directory.path()), before, "{source}");
    }
    run(directory.path(), &["repair", "cut.ra", "-o", "new", "--dry-run", "-f"]).expect(1);
    assert_eq!(contents(directory.path()), before);
}

#[test]
fn target_equal_to_the_source_is_refused() {
    let directory = files();
    let before = contents(directory.path());
    for args in [
        &["convert", "good.ra", "good.ra", "-f"][..],
        &["convert", "good.ra", "./good.ra", "-f"],
        &["repair", "cut.ra", "-o", "cut.ra", "-f"],
    ] {
        run(directory.path(), args).expect(2);
        assert_eq!(contents(directory.path()), before, "{args:?}");
    }
}

#[test]
fn a_target_in_a_directory_that_is_not_there_is_refused() {
    let directory = files();
    let before = contents(directory.path());
    for args in [
        &["convert", "good.ra", "no/such/new.npy"][..],
        &["repair", "good.ra", "-o", "no/such/new.ra"],
        &["cat", "good.ra", "-o", "no/such/new.csv"],
        &["man", "-o", "no/such"],
        &["convert", "good.ra", "directory.ra", "-f"],
    ] {
        let run = run(directory.path(), args);
        run.expect(2);
        assert!(run.err.lines().count() <= 3, "{run:#?}");
        assert_eq!(contents(directory.path()), before, "{args:?}");
    }
}

#[test]
fn conversion_gives_numpys_bytes() {
    let directory = files();
    let at = directory.path();
    run(at, &["convert", "good.ra", "new.npy", "--verify"]).expect(0);
    assert_eq!(std::fs::read(at.join("new.npy")).unwrap(), npy("<f4", true, "(3, 2)", &floats(6)));
    // Row-major and big-endian: transposed and swapped on the way.
    let big: Vec<u8> = [1_i16, -2, 3, 4, 5, 6].iter().flat_map(|number| number.to_be_bytes()).collect();
    std::fs::write(at.join("big.npy"), npy(">i2", false, "(2, 3)", &big)).unwrap();
    run(at, &["convert", "big.npy", "new.ra", "--verify"]).expect(0);
    let little: Vec<u8> = [1_i16, 4, -2, 5, 3, 6].iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(std::fs::read(at.join("new.ra")).unwrap(), rawarray(1, 2, &[2, 3], &little));
}

#[test]
fn target_extension_selects_the_format() {
    let directory = files();
    let at = directory.path();
    for (name, bytes) in [
        ("new.csv", b"0.0,3.0\n1.0,4.0\n2.0,5.0\n".to_vec()),
        ("new.txt", b"0.0 3.0\n1.0 4.0\n2.0 5.0\n".to_vec()),
        ("new.NPY", npy("<f4", true, "(3, 2)", &floats(6))),
        (
            "new.raw",
            [0_f32, 3.0, 1.0, 4.0, 2.0, 5.0].iter().flat_map(|number| number.to_le_bytes()).collect(),
        ),
    ] {
        run(at, &["cat", "good.ra", "-o", name]).expect(0);
        assert_eq!(std::fs::read(at.join(name)).unwrap(), bytes, "{name}");
    }
    run(at, &["cat", "good.ra", "-o", "new.xyz"]).expect(2);
    assert!(run(at, &["cat", "good.ra", "-o", "new.ra"]).err.contains("holdall convert"));
}

#[test]
fn every_sound_fixture_converts_there_and_back() {
    let directory = files();
    let at = directory.path();
    // numpy cannot have an axis as long as that file's.
    for path in fixtures("ok").into_iter().filter(|path| !path.ends_with("empty_2e63x0x5.ra")) {
        let args =
            [Path::new("convert"), &path, Path::new("new.npy"), Path::new("-f"), Path::new("--verify")];
        let there = run(at, &args);
        assert_eq!(there.code, Some(0), "{} {there:#?}", path.display());
        run(at, &["convert", "new.npy", "new.ra", "-f", "--verify"]).expect(0);
        run(at, &["verify", "new.ra"]).expect(0);
    }
}

#[test]
fn manual_pages_are_written_whole_and_not_over_others() {
    let directory = files();
    let at = directory.path();
    run(at, &["man", "-o", "directory.ra"]).expect(0);
    let pages = contents(&at.join("directory.ra"));
    assert_eq!(pages.len(), 27, "{:?}", pages.iter().map(|page| &page.0).collect::<Vec<_>>());
    std::fs::remove_file(at.join("directory.ra/holdall.1")).unwrap();
    std::fs::write(at.join("directory.ra/holdall-info.1"), b"precious").unwrap();
    let before = contents(&at.join("directory.ra"));
    run(at, &["man", "-o", "directory.ra"]).expect(2);
    assert_eq!(contents(&at.join("directory.ra")), before);
    run(at, &["man", "-o", "directory.ra", "-f"]).expect(0);
    assert_eq!(contents(&at.join("directory.ra")), pages);
}

/// Files that Python wrote of plain bytes: a super-chunk, and output of `blpk compress` for any file.
#[test]
fn elements_without_a_type_are_of_the_one_that_is_assumed() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for (from, dtype, shape) in [
        ("blosc2/ok/blosclz_shuffle.b2frame", "<i4", "(1250,)"),
        ("blosc2/ok/dict_lz4.b2frame", "<f8", "(3000,)"),
        ("bloscpack/ok/append_fits.blp", "<f4", "(575,)"),
        ("bloscpack/ok/append_fits.blp", "[('a', '<u2'), ('b', '|S2')]", "(575,)"),
        ("rawarray/ok/v16_ucs4.ra", "<c16", "(3,)"),
    ] {
        let from = testdata().join(from);
        let from = from.to_str().unwrap();
        let raw = |file: &str| holdall(at).args(["cat", "--format", "raw", file]).output().unwrap().stdout;
        let stored = raw(from);
        for target in ["a.npy", "a.b2nd", "a.asdf", "a.ra", "a.blp"] {
            run(at, &["convert", "--verify", "-f", "--assume-dtype", dtype, from, target]).expect(0);
            assert!(raw(target) == stored, "{from} {target}");
            // RawArray and Bloscpack lack records.
            let takes_records = ["a.b2nd", "a.asdf"].contains(&target);
            if target != "a.npy" && (takes_records || !dtype.starts_with('[')) {
                let listed = run(at, &["ls", target]);
                let listed: Vec<&str> = listed.expect(0).split('\t').collect();
                assert!(listed[1] != "|u1" && !listed[1].starts_with("|V"), "{from} {target} {listed:?}");
                assert_eq!(listed[2], shape, "{from} {target}");
            }
        }
        assert!(!stored.is_empty());
    }
    let odd = testdata().join("bloscpack/ok/append_fits.blp");
    let refused = run(at, &["stat", odd.to_str().unwrap(), "--assume-dtype", "<f8"]);
    refused.expect(2);
    assert!(refused.err.contains("2300") && refused.err.contains("--assume-dtype"), "{refused:#?}");
}

/// A directory cannot be without a name until it is whole, as a file can.
#[cfg(unix)]
#[test]
fn interrupted_directory_conversion_removes_its_files() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    use rustix::process::{Pid, Signal, kill_process};

    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let mut npy =
        b"\x93NUMPY\x01\0\x76\0{'descr': '<f8', 'fortran_order': False, 'shape': (200000000,), }".to_vec();
    npy.resize(127, b' ');
    npy.push(b'\n');
    std::fs::write(place.join("a.npy"), &npy).unwrap();
    std::fs::OpenOptions::new()
        .write(true)
        .open(place.join("a.npy"))
        .unwrap()
        .set_len(128 + 1_600_000_000)
        .unwrap();
    let names = || -> Vec<_> {
        let mut names: Vec<_> =
            std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    // Under `nohup` SIGHUP is ignored, and the command keeps it so.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    let is_held_up = ignored.map(|mask| u64::from_str_radix(mask, 16).unwrap() & 1 == 0);
    let signals = [(Signal::INT, true), (Signal::TERM, true)].into_iter();
    for (signal, ends) in signals.chain(is_held_up.map(|ends| (Signal::HUP, ends))) {
        let mut child = holdall(place)
            .args(["convert", "a.npy", "b.zarr", "--codec", "zlib", "--chunks", "100000"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while names().len() == 1 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let pid = Pid::from_child(&child);
        kill_process(pid, signal).unwrap();
        let status = child.wait().unwrap();
        let (by, left) =
            if ends { (Some(signal.as_raw()), vec!["a.npy"]) } else { (None, vec!["a.npy", "b.zarr"]) };
        assert_eq!((status.signal(), names()), (by, left.into_iter().map(Into::into).collect()));
    }
}

#[test]
fn metadata_of_the_user_are_given_changed_and_taken_out() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(at.join("raw"), [1, 0, 2, 0, 3, 0]).unwrap();
    std::fs::write(at.join("about.json"), r#"{"by": "me", "run": {"n": 1}}"#).unwrap();
    for (name, top) in [("a.blp", ""), ("a.b2nd", "/vlmeta"), ("a.ra", "/trailer")] {
        run(at, &["pack", "--dtype", "<u2", "raw", name, "--metadata", "about.json"]).expect(0);
        let values = run(at, &["cat", name]).expect(0).to_owned();
        let shown = |path: &str| run(at, &["meta", "--json", name, &format!("{top}{path}")]);
        assert_eq!(shown("/by").expect(0), "\"me\"\n", "{name}");
        let (set, more) = (format!("{top}/run/n=2"), format!("{top}/note=a text: with a colon"));
        run(at, &["meta", name, "--set", &set, "--set", &more, "--unset", &format!("{top}/by")]).expect(0);
        assert_eq!(shown("/run").expect(0), "{\"n\":2}\n", "{name}");
        assert_eq!(shown("/note").expect(0), "\"a text: with a colon\"\n", "{name}");
        shown("/by").expect(1);
        // Longer than the available room.
        let long = format!("{top}/long={}", "0123456789 ".repeat(400));
        run(at, &["meta", name, "--set", &long]).expect(0);
        run(at, &["verify", name]).expect(0);
        assert_eq!(run(at, &["cat", name]).expect(0), values);
        // A refused change leaves the file unchanged.
        let before = std::fs::read(at.join(name)).unwrap();
        for wrong in [format!("{top}/nothing/here=1"), format!("{top}/x={{a: 1}}"), "/dtype=<f8".to_owned()] {
            run(at, &["meta", name, "--set", &wrong]).expect(2);
        }
        run(at, &["meta", name, "--set", &format!("{top}/y=1"), "--unset", &format!("{top}/nothing")])
            .expect(2);
        assert!(std::fs::read(at.join(name)).unwrap() == before, "{name}");
    }
    for (name, top) in [("i.blp", ""), ("i.b2frame", "/vlmeta")] {
        run(at, &["pack", "--items", "files", "raw", name, "--metadata", "about.json"]).expect(0);
        assert_eq!(run(at, &["meta", "--json", name, &format!("{top}/by")]).expect(0), "\"me\"\n");
        run(at, &["meta", name, "--set", &format!("{top}/by=you")]).expect(0);
        run(at, &["verify", name]).expect(0);
        assert_eq!(run(at, &["meta", "--json", name, &format!("{top}/by")]).expect(0), "\"you\"\n");
    }
    std::fs::write(at.join("list.json"), "[1]").unwrap();
    run(at, &["pack", "--dtype", "<u2", "raw", "new.blp", "--metadata", "list.json"]).expect(2);
    assert!(!at.join("new.blp").exists());
}

#[test]
fn a_rawarray_file_grows_along_its_last_dimension() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(at.join("raw"), [1, 2, 3, 4]).unwrap();
    run(at, &["pack", "--dtype", "|u1", "--shape", "2,2", "--order", "F", "raw", "a.ra"]).expect(0);
    run(at, &["append", "a.ra", "a.ra::data[:, 0:1]"]).expect(2);
    run(at, &["convert", "a.ra::data[:, 0:1]", "b.npy"]).expect(0);
    run(at, &["append", "a.ra", "b.npy"]).expect(0);
    run(at, &["append", "a.ra", "raw", "--raw"]).expect(0);
    assert_eq!(run(at, &["cat", "a.ra"]).expect(0), "1 3 1 1 3\n2 4 2 2 4\n");
    run(at, &["verify", "a.ra"]).expect(0);
    std::fs::write(at.join("short"), [1]).unwrap();
    run(at, &["append", "a.ra", "short", "--raw"]).expect(2);
}
