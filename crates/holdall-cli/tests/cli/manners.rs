//! Manners of the command line: files without a verb, brief help, several files, and values for people.

use serde_json::{Value, json};

use crate::support::{Run, files, floats, holdall, npy, run};

#[test]
fn a_file_without_a_verb_is_shown_by_info() {
    let directory = files();
    let at = directory.path();
    for (args, same) in [
        (&["good.ra"][..], &["info", "good.ra"][..]),
        (&["good.ra", "cut.ra"], &["info", "good.ra", "cut.ra"]),
        (&["good.ra", "--json"], &["info", "good.ra", "--json"]),
        (&["--json", "good.ra"], &["info", "good.ra", "--json"]),
        (&["--color", "never", "good.ra"], &["info", "good.ra"]),
        (&["good.ra::data"], &["info", "good.ra::data"]),
        (&["--", "good.ra"], &["info", "good.ra"]),
        (&["missing.ra"], &["info", "missing.ra"]),
    ] {
        let (short, long) = (run(at, args), run(at, same));
        assert_eq!((short.code, &short.out, &short.err), (long.code, &long.out, &long.err), "{args:?}");
        assert!(!long.out.is_empty() || !long.err.is_empty());
    }
    // A verb wins over a file of that name.
    std::fs::copy(at.join("good.ra"), at.join("formats")).unwrap();
    assert_eq!(run(at, &["formats"]).expect(0), run(at, &["formats"]).expect(0));
    assert!(!run(at, &["formats"]).out.contains("complete"));
    assert!(run(at, &["./formats"]).expect(0).contains("complete\tyes"));
}

#[test]
fn a_mistyped_verb_is_not_taken_for_a_file() {
    let directory = files();
    let wrong = run(directory.path(), &["inof", "good.ra"]);
    wrong.expect(2);
    assert!(wrong.err.contains("'info'") && wrong.err.contains("no file is called 'inof'"), "{wrong:#?}");
}

#[test]
fn brief_help_has_a_line_for_each_option() {
    let directory = files();
    let brief = |args: &[&str]| {
        let output = holdall(directory.path()).args(args).arg("-h").env("COLUMNS", "100").output().unwrap();
        Run::of(&output).expect(0).to_owned()
    };
    let front = brief(&[]);
    let verbs: Vec<&str> = front
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .map_while(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect();
    assert!(verbs.len() > 20, "{front}");
    for verb in [&[][..]].into_iter().chain(verbs.iter().map(std::slice::from_ref)) {
        let help = brief(verb);
        for line in help.lines() {
            // A continued line is indented deeper, and is not an option.
            let continued = line.starts_with("   ") && !line.trim_start().starts_with('-');
            assert!(line.chars().count() <= 100 && !continued, "{verb:?}: {line:?}");
        }
        assert!(!help.contains("Examples:"), "{verb:?}");
    }
}

#[test]
fn options_are_refused_where_they_do_nothing() {
    let directory = files();
    for args in [
        &["formats", "--limit-memory", "1G"][..],
        &["--limit-memory", "1G", "man"],
        &["completions", "bash", "--limit-memory", "1G"],
        &["cat", "good.ra", "--as-stored"],
        &["cat", "good.ra", "--as-stored", "--format", "raw"],
        &["cat", "good.ra", "--all", "--format", "csv"],
        &["cat", "good.ra", "--all", "-o", "new.txt"],
        &["cat", "good.ra", "--force"],
        &["man", "--force", "ls"],
        &["samples", "--list", "--limit-memory", "1G"],
        &["layout", "good.ra", "--reversed-dims"],
        &["meta", "good.ra", "--reversed-dims"],
        &["repair", "good.ra", "-o", "new.ra", "--lenient"],
        &["verify", "good.ra", "--stored"],
    ] {
        let refused = run(directory.path(), args);
        assert_eq!(refused.expect(2), "", "{args:?}");
        assert!(refused.err.contains(" --") || refused.err.contains("'--"), "{refused:#?}");
    }
    run(directory.path(), &["cat", "good.ra", "--as-stored", "--format", "npy"]).expect(0);
    let unknown = run(directory.path(), &["ls", "good.ra", "--nosuch"]);
    unknown.expect(2);
    assert!(!unknown.err.contains("as a value"), "{unknown:#?}");
    let turned_twice = run(directory.path(), &["convert", "--reversed-dims", "good.ra", "new.ra"]);
    turned_twice.expect(2);
    assert!(
        turned_twice.err.contains("reversed axes have no effect from RawArray to RawArray"),
        "{turned_twice:#?}"
    );
    for verb in ["formats", "samples", "completions", "man"] {
        assert!(!run(directory.path(), &[verb, "-h"]).expect(0).contains("--limit-memory"), "{verb}");
    }
}

#[test]
fn metadata_of_several_files_are_below_their_names() {
    let directory = files();
    let at = directory.path();
    assert_eq!(
        run(at, &["meta", "good.ra", "/dims"]).expect(0),
        run(at, &["meta", "good.ra", "-p", "/dims"]).expect(0)
    );
    assert_eq!(
        run(at, &["meta", "good.ra", "good.ra", "/dims/0"]).expect(0),
        "==> good.ra <==\n3\n\n==> good.ra <==\n3\n"
    );
    let path = at.join("good.ra");
    let path = path.to_str().unwrap();
    assert_eq!(run(at, &["meta", "good.ra", path, "-p", "/dims/0"]).expect(0).matches("==> ").count(), 2);
    // A file that is there is no pointer.
    assert_eq!(run(at, &["meta", "good.ra", path]).expect(0).matches("==> ").count(), 2);
    let lines = run(at, &["meta", "--json", "good.ra", "good.ra::data", "/eltype"]);
    let line: Value = serde_json::from_str(lines.out.lines().last().unwrap()).unwrap();
    assert_eq!(
        line,
        json!({"schema": "holdall.meta/1", "path": "good.ra", "dataset": "data", "pointer": "/eltype", "value": 3})
    );
    // One file alone is as it was.
    assert_eq!(run(at, &["meta", "--json", "good.ra", "/dims"]).expect(0), "[3,2]\n");
    // Each is reported, and the worst code counts.
    let mixed = run(at, &["meta", "good.ra", "other.txt", "good.ra", "/dims/0"]);
    assert_eq!(mixed.expect(2).matches("==> good.ra <==\n3\n").count(), 2);
    assert!(mixed.err.contains("other.txt"), "{mixed:#?}");
    run(at, &["meta", "good.ra", "good.ra", "/none"]).expect(1);
    for args in [
        &["meta", "--raw", "good.ra", "good.ra", "/element"][..],
        &["meta", "--inline", "good.ra", "good.ra"],
        &["meta", "--set", "/trailer/a=1", "good.ra", "good.ra"],
        &["meta", "--set", "/trailer/a=1", "good.ra", "/trailer"],
    ] {
        run(at, args).expect(2);
    }
    // A place without its slash; a name with a dot is that of a file.
    assert_eq!(run(at, &["meta", "--json", "good.ra", "dims"]).expect(0), "[3,2]\n");
    let missing = run(at, &["meta", "good.ra", "missing.ra"]);
    missing.expect(2);
    assert!(missing.err.contains("missing.ra: No such file"), "{missing:#?}");
}

/// numpy.set_printoptions(floatmode='unique'), less the brackets.
#[test]
fn people_get_aligned_and_shortened_values() {
    let directory = files();
    let at = directory.path();
    let write = |name: &str, shape: &str, count: u16| {
        std::fs::write(at.join(name), npy("<f4", false, shape, &floats(count))).unwrap();
    };
    write("square.npy", "(3, 4)", 12);
    write("long.npy", "(1200,)", 1200);
    let shown = |args: &[&str]| run(at, &[&["cat", "--pretty"], args].concat()).expect(0).to_owned();
    assert_eq!(shown(&["square.npy"]), " 0.  1.  2.  3.\n 4.  5.  6.  7.\n 8.  9. 10. 11.\n");
    assert_eq!(shown(&["long.npy"]), "0.000e+00 1.000e+00 2.000e+00 ... 1.197e+03 1.198e+03 1.199e+03\n");
    let all = shown(&["--all", "long.npy"]);
    assert_eq!(all.split_whitespace().count(), 1200);
    assert!(all.lines().all(|line| line.chars().count() <= 80) && !all.contains("..."));
    assert_eq!(
        shown(&["good.ra", "square.npy::[0]"]),
        "==> good.ra::data <==\n0. 3.\n1. 4.\n2. 5.\n\n==> square.npy::data[0] <==\n0. 1. 2. 3.\n"
    );
    // A pipe gets every value, one way.
    for args in [&["cat", "long.npy"][..], &["cat", "--all", "long.npy"]] {
        assert_eq!(run(at, args).expect(0).lines().count(), 1200, "{args:?}");
    }
    // And so does a file.
    run(at, &["cat", "--pretty", "square.npy", "-o", "square.txt"]).expect(0);
    assert!(std::fs::read_to_string(at.join("square.txt")).unwrap().starts_with("0.0 1.0 2.0 3.0\n"));
}
