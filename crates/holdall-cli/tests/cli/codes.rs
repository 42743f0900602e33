//! Exit codes: 0 yes, 1 no, 2 could not answer; the worst of many files; three lines of error at most.

use std::path::Path;

use crate::support::{contents, files, floats, rawarray, run};

/// Exit codes of every verb for every kind of file: good, cut, missing, a directory, another format, empty.
const ANSWERS: [(&[&str], [i32; 6]); 11] = [
    (&["info", "FILE"], [0, 0, 2, 2, 2, 2]),
    (&["ls", "FILE"], [0, 0, 2, 2, 2, 2]),
    (&["tree", "FILE"], [0, 0, 2, 2, 2, 2]),
    (&["meta", "FILE"], [0, 0, 2, 2, 2, 2]),
    (&["layout", "FILE"], [0, 0, 2, 2, 2, 2]),
    (&["cat", "FILE"], [0, 2, 2, 2, 2, 2]),
    (&["verify", "FILE"], [0, 1, 2, 2, 2, 2]),
    (&["repair", "--dry-run", "FILE"], [0, 1, 2, 2, 2, 2]),
    (&["repair", "FILE", "-o", "new.ra"], [0, 1, 2, 2, 2, 2]),
    (&["convert", "FILE", "new.npy"], [0, 2, 2, 2, 2, 2]),
    (&["diff", "good.ra", "FILE"], [0, 2, 2, 2, 2, 2]),
];

const KINDS: [&str; 6] = ["good.ra", "cut.ra", "missing.ra", "directory.ra", "other.txt", "empty.ra"];

#[test]
fn every_verb_answers_every_kind_of_file() {
    for (words, codes) in ANSWERS {
        for (file, code) in KINDS.into_iter().zip(codes) {
            let directory = files();
            let before = contents(directory.path());
            let args: Vec<&str> =
                words.iter().map(|word| if *word == "FILE" { file } else { *word }).collect();
            let run = run(directory.path(), &args);
            assert_eq!(run.code, Some(code), "{args:?} {run:#?}");
            if code == 2 {
                assert_error_names(&run.err, file, &args);
                assert_eq!(contents(directory.path()), before, "{args:?} left something behind");
                assert!(words[0] == "verify" || run.out.is_empty(), "{args:?} {run:#?}");
            } else {
                assert_eq!(run.err, "", "{args:?}");
            }
        }
    }
}

fn assert_error_names(err: &str, file: &str, args: &[&str]) {
    let lines: Vec<&str> = err.lines().collect();
    assert!((1..=3).contains(&lines.len()), "{args:?} {err}");
    assert!(lines[0].starts_with("holdall: ") && lines[0].contains(file), "{args:?} {err}");
    assert!(
        lines[1..].iter().all(|line| line.starts_with("  where: ") || line.starts_with("  try: ")),
        "{err}"
    );
}

#[test]
fn truncated_file_reports_its_range_and_a_repair_command() {
    let directory = files();
    let run = run(directory.path(), &["cat", "cut.ra"]);
    run.expect(2);
    let lines: Vec<&str> = run.err.lines().collect();
    assert!(lines[0].contains("need 24 bytes, 19 present"), "{}", run.err);
    assert_eq!(lines[1], "  where: bytes 64..88");
    assert!(lines[2].starts_with("  try: holdall repair cut.ra"), "{}", run.err);
}

#[test]
fn array_files_are_readable_but_refused_as_containers() {
    for (args, code) in [
        (&["cat", "good.npy"][..], 0),
        (&["diff", "good.npy", "good.ra"], 0),
        (&["convert", "good.npy", "new.ra"], 0),
        (&["info", "good.npy"], 2),
        (&["verify", "good.npy"], 2),
        (&["repair", "good.npy", "-o", "new.ra"], 2),
    ] {
        let directory = files();
        run(directory.path(), args).expect(code);
    }
    let directory = files();
    assert!(run(directory.path(), &["info", "good.npy"]).err.contains("try: holdall convert"));
}

#[test]
fn over_many_files_the_worst_code_wins_and_every_file_is_reported() {
    let directory = files();
    let at = directory.path();
    assert_eq!(run(at, &["verify", "good.ra", "cut.ra"]).expect(1).matches("damaged").count(), 1);
    let run_all = run(at, &["verify", "missing.ra", "cut.ra", "good.ra"]);
    let out = run_all.expect(2);
    for (file, verdict) in [("missing.ra", "unreadable"), ("cut.ra", "damaged"), ("good.ra", "sound")] {
        assert!(out.contains(&format!("{file}\t{verdict}\t")), "{out}");
    }
    let info = run(at, &["info", "good.ra", "missing.ra", "cut.ra", "other.txt"]);
    let out = info.expect(2);
    assert!(out.contains("path\tgood.ra\n") && out.contains("path\tcut.ra\n"), "{out}");
    assert!(info.err.contains("missing.ra") && info.err.contains("other.txt"), "{}", info.err);
}

#[test]
fn verdicts_come_in_the_order_of_the_files_on_any_number_of_threads() {
    let directory = files();
    let mut names = vec!["verify".to_owned(), "-j".to_owned(), String::new()];
    for number in 0..60_u16 {
        let mut bytes = rawarray(3, 4, &[u64::from(number) * 50], &floats(number * 50));
        bytes.truncate(bytes.len() - usize::from(number % 7 == 3));
        std::fs::write(directory.path().join(format!("{number}.ra")), bytes).unwrap();
        names.push(if number % 11 == 5 { format!("missing-{number}") } else { format!("{number}.ra") });
    }
    let verdicts = ["1", "2", "7", "64"].map(|threads| {
        names[2] = threads.to_owned();
        run(directory.path(), &names).expect(2).to_owned()
    });
    assert!(verdicts.iter().all(|verdict| *verdict == verdicts[0]), "{verdicts:#?}");
    let files: Vec<&str> = verdicts[0]
        .lines()
        .filter(|line| !line.contains("\terror\t"))
        .map(|line| line.split('\t').next().unwrap())
        .collect();
    assert_eq!(files, names[3..]);
}

#[test]
fn a_truncated_file_is_shown_as_truncated() {
    let directory = files();
    assert!(run(directory.path(), &["info", "good.ra"]).expect(0).contains("complete\tyes\n"));
    assert!(run(directory.path(), &["info", "cut.ra"]).expect(0).contains("complete\tno"));
}

#[test]
fn no_verb_breaks_on_a_file_cut_anywhere() {
    let directory = files();
    let whole = std::fs::read(directory.path().join("good.ra")).unwrap();
    for len in 0..whole.len() {
        std::fs::write(directory.path().join("at.ra"), &whole[..len]).unwrap();
        assert_no_verb_breaks(directory.path(), &format!("cut at {len}"));
    }
}

#[test]
fn no_verb_breaks_on_a_header_with_a_byte_changed() {
    let directory = files();
    let whole = std::fs::read(directory.path().join("good.ra")).unwrap();
    for at in 0..64 {
        for byte in [0, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            std::fs::write(directory.path().join("at.ra"), &bytes).unwrap();
            assert_no_verb_breaks(directory.path(), &format!("byte {at} is {byte}"));
        }
    }
}

/// An array of the Python tool's, and two items with their metadata.
#[test]
fn no_verb_breaks_on_a_bloscpack_file_cut_or_changed_anywhere() {
    let directory = files();
    let at = directory.path();
    std::fs::write(at.join("lines.txt"), "one\ntwo").unwrap();
    run(at, &["pack", "--items", "lines", "lines.txt", "items.blp"]).expect(0);
    for whole in [crate::bloscpack::hello(), std::fs::read(at.join("items.blp")).unwrap()] {
        for len in (0..whole.len()).step_by(3) {
            std::fs::write(at.join("at.ra"), &whole[..len]).unwrap();
            assert_no_verb_breaks(at, &format!("cut at {len}"));
        }
        for place in (0..whole.len()).step_by(2) {
            let mut bytes = whole.clone();
            bytes[place] ^= if place % 4 == 0 { 0xff } else { 1 };
            std::fs::write(at.join("at.ra"), &bytes).unwrap();
            assert_no_verb_breaks(at, &format!("byte {place} changed"));
        }
    }
}

fn assert_no_verb_breaks(directory: &Path, what: &str) {
    for args in [
        &["info", "--json", "at.ra"][..],
        &["layout", "at.ra"],
        &["cat", "at.ra"],
        &["verify", "at.ra"],
        &["repair", "at.ra", "-o", "new.ra"],
        &["convert", "at.ra", "-", "--to", "npy"],
    ] {
        let run = run(directory, args);
        assert!(matches!(run.code, Some(0..=2)), "{what}: {args:?} {run:#?}");
        assert!(!run.err.contains("internal error"), "{what}: {args:?} {run:#?}");
        // A conversion reports its losses, too.
        let silent = run.err.lines().all(|line| line.contains("not carried over"));
        assert_eq!(run.code == Some(2), !silent, "{what}: {args:?} {run:#?}");
        let _ = std::fs::remove_file(directory.join("new.ra"));
    }
}

#[test]
fn usage_errors_are_2_and_help_is_0() {
    let directory = files();
    let at = directory.path();
    for args in [
        &[][..],
        &["nosuch"],
        &["info"],
        &["info", "--nosuch", "good.ra"],
        &["repair", "cut.ra"],
        &["cat", "good.ra", "--format", "nosuch"],
        &["verify", "-j", "0", "good.ra"],
        &["diff", "--rtol", "-1", "good.ra", "good.ra"],
        &["meta", "good.ra", "--yaml"],
        &["man", "nosuch"],
        &["convert", "good.ra", "new.xyz"],
        &["convert", "good.ra", "new.npy", "--codec", "zstd"],
        &["convert", "good.ra", "new.npy", "--filter", "shuffle"],
        &["info", "good.ra", "--limit-memory", "much"],
    ] {
        let run = run(at, args);
        run.expect(2);
        assert!(run.out.is_empty() && !run.err.is_empty(), "{args:?} {run:#?}");
    }
    assert_eq!(run(at, &["--version"]).expect(0), format!("holdall {}\n", env!("CARGO_PKG_VERSION")));
    assert!(run(at, &["--help"]).expect(0).contains("Usage: holdall"));
    assert!(run(at, &["help", "verify"]).expect(0).contains("Usage: holdall verify"));
}

#[test]
fn no_match_is_1() {
    let directory = files();
    let at = directory.path();
    run(at, &["meta", "good.ra", "/nosuch"]).expect(1);
    run(at, &["meta", "good.ra", "nosuch"]).expect(1);
    run(at, &["tree", "good.ra", "--grep", "nosuch"]).expect(1);
    assert_eq!(
        run(at, &["tree", "good.ra", "--type", "<f4"]).expect(0),
        "data\tdataset\t<f4 (3, 2) F none\n"
    );
}

#[test]
fn files_that_differ_are_1() {
    let directory = files();
    let at = directory.path();
    std::fs::write(
        at.join("b.ra"),
        rawarray(3, 4, &[3, 2], &[&floats(5)[..], &5.001_f32.to_le_bytes()].concat()),
    )
    .unwrap();
    let diff = run(at, &["diff", "good.ra", "b.ra"]);
    assert!(diff.expect(1).starts_with("data\t"), "{diff:#?}");
    assert_eq!(run(at, &["diff", "-q", "good.ra", "b.ra"]).expect(1), "");
    assert_eq!(run(at, &["diff", "--rtol", "0.01", "good.ra", "b.ra"]).expect(0), "");
    assert_eq!(run(at, &["diff", "good.ra::data[:, 0]", "b.ra::data[:, 0]"]).expect(0), "");
    assert_eq!(run(at, &["diff", "--ignore", "data", "good.ra", "b.ra"]).expect(0), "");
}

#[cfg(unix)]
#[test]
fn names_of_any_bytes_are_opened_and_shown_safely() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let directory = files();
    let name = OsStr::from_bytes(b"\xff\n\x1b[31m.ra");
    std::fs::copy(directory.path().join("good.ra"), directory.path().join(name)).unwrap();
    for verb in ["info", "cat", "verify"] {
        run(directory.path(), &[OsStr::new(verb), name]).expect(0);
    }
    let missing = run(directory.path(), &[OsStr::new("info"), OsStr::from_bytes(b"no\n\x1b[31m.ra")]);
    missing.expect(2);
    assert_eq!(missing.err.lines().count(), 1, "{missing:#?}");
    assert!(!missing.err.contains('\x1b'));
}

#[test]
fn of_a_folder_every_container_below_is_reported_in_order() {
    let directory = files();
    let at = directory.path();
    std::fs::create_dir_all(at.join("deep/er")).unwrap();
    std::fs::copy(at.join("good.ra"), at.join("deep/er/other.name")).unwrap();
    let verified = run(at, &["verify", "-j", "3", "good.ra", "."]);
    let of = |run: &crate::support::Run| -> Vec<String> {
        let verdicts =
            run.out.lines().filter(|line| line.contains("\tdamaged\t") || line.contains("sound\t"));
        verdicts.map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    verified.expect(2);
    let folder = Path::new(".");
    let below = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    assert_eq!(
        of(&verified),
        ["good.ra".to_owned(), below("cut.ra"), below("deep/er/other.name"), below("good.ra")]
    );
    // An empty file with the extension of a format is checked, other files are not.
    assert_eq!(verified.err.lines().last(), Some("5 files: 3 sound, 1 damaged, 1 unreadable"));
    assert!(!verified.out.contains("other.txt") && verified.out.contains("empty.ra"), "{}", verified.out);
    // JSON output lacks this line.
    let json = run(at, &["verify", "--json", "deep", "good.ra"]);
    assert_eq!((json.expect(0).lines().count(), json.err.as_str()), (2, ""));
    let info = run(at, &["info", "--json", "-j", "2", "good.ra", "deep", "cut.ra"]);
    let paths: Vec<_> = info.expect(0).lines().map(|line| line.split('"').nth(7).unwrap()).collect();
    assert_eq!(paths, ["good.ra", "deep/er/other.name", "cut.ra"]);
    let info = run(at, &["info", "good.ra", "missing.ra"]);
    assert_eq!(info.err.lines().last(), Some("2 files: 1 shown, 1 unreadable"));
}

/// Folders more than 128 levels deep are not searched.
#[test]
fn a_folder_that_cannot_be_listed_hides_no_file() {
    let directory = files();
    let at = directory.path();
    let deep = Path::new("tree").join(std::iter::repeat_n("d", 128).collect::<std::path::PathBuf>());
    std::fs::create_dir_all(at.join(&deep)).unwrap();
    for name in ["tree/a.ra", "tree/z.ra"] {
        std::fs::copy(at.join("good.ra"), at.join(name)).unwrap();
    }
    let (deep, why) = (deep.to_str().unwrap(), "folders within folders would be 129, the limit is 128");
    for jobs in ["1", "3"] {
        let verified = run(at, &["verify", "-j", jobs, "tree"]);
        let counted = "1 of 1 blocks checked";
        assert_eq!(
            verified.expect(2),
            format!(
                "tree/a.ra\tsound\t-\t-\t-\t{counted}\n{deep}\tunreadable\t-\t-\t-\t-\n\
                 {deep}\terror\tunreadable\t-\t-\t{why}\ntree/z.ra\tsound\t-\t-\t-\t{counted}\n"
            )
        );
        let all = "3 files: 2 sound, 1 unreadable";
        assert_eq!(verified.err, format!("holdall: {deep}: {why}\n{all}\n"));
        let told = run(at, &["info", "--json", "-j", jobs, "tree"]);
        assert_eq!((told.expect(2).lines().count(), told.err.lines().count()), (2, 1), "{told:#?}");
        assert_eq!(told.err, format!("holdall: {deep}: {why}\n"));
    }
    let json = run(at, &["verify", "--json", "tree"]);
    assert!(json.expect(2).lines().nth(1).unwrap().contains("\"verdict\":\"unreadable\""), "{json:#?}");
}
