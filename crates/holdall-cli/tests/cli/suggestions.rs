//! Common mistakes at the command line, and the next steps that answer them.

use std::fmt::Write as _;

use crate::support::{files, npy, run};

/// An ASDF tree of three inline arrays and some metadata.
const TREE: &str = "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
    roman:\n  meta: {exposure: 30.5, 'a/b': 1}\n  data: !core/ndarray-1.0.0 {data: [1, 2, 3]}\n  \
    dq: !core/ndarray-1.0.0 {data: [4]}\n  err: !core/ndarray-1.0.0 {data: [5]}\n...\n";

fn folder() -> tempfile::TempDir {
    let directory = files();
    std::fs::write(directory.path().join("image.asdf"), TREE).unwrap();
    let records = npy("[('alpha', '<f4'), ('beta', '<i2')]", false, "(2,)", &[0; 12]);
    std::fs::write(directory.path().join("rec.npy"), records).unwrap();
    directory
}

/// Asserts the exit code, a text within the message, and its length.
#[track_caller]
fn answers(words: &[&str], code: i32, wanted: &[&str]) {
    let directory = folder();
    let run = run(directory.path(), words);
    assert_eq!(run.code, Some(code), "{words:?} {run:#?}");
    for text in wanted {
        assert!(run.err.contains(text), "{words:?} lacks {text:?}: {}", run.err);
    }
    assert!(run.err.lines().count() <= 3, "{words:?} {}", run.err);
}

#[test]
fn the_nearest_paths_come_first() {
    for (path, wanted) in [
        ("dat", "  did you mean roman/data? (2 others)\n"),
        ("data", "  did you mean roman/data? (2 others)\n"),
        ("ROMAN/DATA", "  did you mean roman/data? (2 others)\n"),
        ("roman.data", "  did you mean roman/data? (2 others)\n"),
        ("roman/dta", "  did you mean roman/data? (2 others)\n"),
        ("science/err", "  did you mean roman/err? (2 others)\n"),
        ("quite/other", "  try: one of: roman/data, roman/dq, roman/err\n"),
        (
            "roman/meta",
            "  try: holdall meta image.asdf roman/meta: this is a mapping of the metadata, not an array\n",
        ),
    ] {
        answers(&["cat", &format!("image.asdf::{path}")], 2, &[&format!("no dataset {path:?}\n{wanted}")]);
    }
    answers(&["ls", "image.asdf::roman/x*"], 1, &["no dataset fits", "one of: roman/data"]);
    for field in ["data/alpha", "data.alpha", "alpha"] {
        answers(&["cat", &format!("rec.npy::{field}")], 2, &["alpha is a field of its records"]);
    }
    answers(&["cat", "rec.npy::data/alpa"], 2, &["did you mean the field alpha of rec.npy::data?"]);
    answers(&["plot", "rec.npy::data", "--field", "alpa"], 2, &["alpha"]);
}

#[test]
fn places_of_metadata_and_words_of_options_are_suggested() {
    answers(&["meta", "image.asdf", "/roman/mta"], 1, &["nothing at roman/mta\n  did you mean roman/meta?"]);
    answers(&["meta", "image.asdf", "exposure"], 1, &["did you mean roman/meta/exposure?"]);
    answers(&["meta", "image.asdf", "roman/meta/a/b"], 1, &["did you mean roman/meta/a~1b?"]);
    answers(&["convert", "good.ra", "x.b2nd", "--codec", "zsdt"], 2, &["x.b2nd: ", "did you mean zstd?"]);
    answers(&["convert", "good.ra", "x.blp", "--filter", "shufle"], 2, &["did you mean shuffle"]);
    answers(&["convert", "good.ra", "x.asdf", "--checksum", "mb5"], 2, &["did you mean md5?"]);
    answers(&["convert", "good.ra", "x.asdf", "-O", "streemed"], 2, &["did you mean streamed?"]);
    answers(&["convert", "good.ra", "x", "--to", "zar"], 2, &["did you mean zarr?"]);
    answers(&["find", "ndims == 2", "good.ra"], 1, &["note: no file has metadata ndims: did you mean ndim?"]);
    answers(&["cat", "good.ra", "image.asdf", "--format", "csv"], 2, &["holdall: cat: csv is one table"]);
    answers(&["cat", "good.ra[::2]"], 2, &["try: 'good.ra::[SEL]': datasets and selections"]);
    answers(&["cat", "imgae.asdf"], 2, &["did you mean image.asdf?"]);
}

#[test]
fn frames_are_named_as_far_as_there_are_any() {
    let directory = folder();
    let at = directory.path();
    run(at, &["convert", "--frames", "good.ra", "run.gsd"]).expect(0);
    for (path, wanted) in [
        ("frames/9/data", "frames/0 to frames/2: "),
        ("frames/7", "frames/0 to frames/2: "),
        ("frames/1/dta", "did you mean frames/1/data?"),
        ("frames/-1/data", "try: 'run.gsd::data[-1]': frames/N counts from 0"),
        ("dta", "did you mean data?"),
    ] {
        let run = run(at, &["cat", &format!("run.gsd::{path}")]);
        assert!(run.code == Some(1) && run.err.contains(wanted), "{path} {run:#?}");
    }
}

#[test]
fn selections_of_numpy_are_answered_with_ours() {
    for (selection, wanted) in [
        ("[[0,1,2]]", "good.ra::data[0:3]"),
        ("[[0,2]]", "an address for each: good.ra::data[0] good.ra::data[2]"),
        ("[x>3]", "holdall.open('good.ra')['data'][...]"),
        ("[100]", "index 100 is outside (0 to 2, or -3 to -1 from the end)"),
        ("[1.5]", "whole numbers"),
        ("[None]", "no new axes"),
        ("[0-3]", "good.ra::data[0:3]"),
        ("[alpha]", "--format csv"),
        ("[0:3", "good.ra::PATH[0, 1:]"),
    ] {
        answers(&["cat", &format!("good.ra::data{selection}")], 2, &[wanted]);
    }
}

#[test]
fn one_colon_or_none_is_answered_with_two() {
    answers(&["cat", "image.asdf:roman/data"], 2, &["  try: image.asdf::roman/data: "]);
    answers(&["cat", "image.asdf/roman/data"], 2, &["  try: image.asdf::roman/data: "]);
    answers(&["cat", "good.ra[0:3]"], 2, &["  try: 'good.ra::[0:3]': "]);
    answers(&["ls", "*.xyz"], 2, &["without quotes"]);
    let directory = folder();
    let two = run(directory.path(), &["ls", "image.asdf", "roman/data"]);
    assert!(two.code == Some(2) && two.err.contains("  try: image.asdf::roman/data, if "), "{two:#?}");
    let output = run(directory.path(), &["cat", "good.ra", "values.csv"]);
    assert!(output.code == Some(2) && output.err.contains("  try: -o values.csv, "), "{output:#?}");
}

#[test]
fn files_of_other_programs_are_named_with_the_program_that_opens_them() {
    let directory = folder();
    let at = directory.path();
    let cases: [(&[u8], &str, &str); 9] = [
        (b"\x89HDF\r\n\x1a\n\0\0\0\0", "an HDF5 file", "h5py"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG picture", "PIL"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "a JPEG picture", "PIL"),
        (b"PAR1\x15\x04\x15\0", "a Parquet table", "pyarrow"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\x03", "a gzip file", "gzip -dc"),
        (b"a,b\n1,2\n", "a text", "holdall pack --csv at.file"),
        (b"{\"a\": 1}\n", "a JSON text", "json.load"),
        (b"<!DOCTYPE html>\n<html>", "an HTML page", "browser"),
        (b"", "this file is empty", "again from its source"),
    ];
    for (bytes, what, step) in cases {
        std::fs::write(at.join("at.file"), bytes).unwrap();
        for verb in ["info", "cat", "verify"] {
            let run = run(at, &[verb, "at.file"]);
            assert!(run.code == Some(2) && run.err.contains(what), "{verb} {run:#?}");
            assert!(verb == "verify" || run.err.contains(step) && run.err.lines().count() == 2, "{run:#?}");
        }
    }
}

#[test]
fn targets_that_are_not_written_have_a_next_step() {
    for (target, step) in [
        ("x.csv", "holdall cat SOURCE -o x.csv"),
        ("x.json", "holdall cat SOURCE -o x.json"),
        ("x.h5", "h5py.File('x.h5', 'w')"),
        ("x.npz", "holdall extract SOURCE"),
        ("x.png", "holdall plot SOURCE -o x.png"),
        ("x.parquet", "holdall cat SOURCE -o NEW.csv"),
        ("x.asd", "did you mean asdf"),
        ("x", "name one with --to: asdf (.asdf)"),
        (".", "a new file, with its extension: ./NEW.asdf"),
    ] {
        answers(&["convert", "good.npy", target], 2, &[&format!("holdall: {target}: "), step]);
    }
    answers(&["cat", "good.ra", "-o", "x.asdf"], 2, &["holdall convert SOURCE x.asdf"]);
    answers(&["cat", "good.ra", "-o", "x.h5"], 2, &["h5py"]);
    answers(
        &["catalog", "good.ra", "-o", "x.csv"],
        2,
        &["x.csv: a catalogue is a Parquet table", "-o x.parquet"],
    );
}

#[test]
fn command_lines_that_the_parser_refuses_have_a_next_step() {
    let directory = folder();
    for (words, step) in [
        (&["convert", "--frames", "0:3", "good.ra", "x.gsd"][..], "  try: --frames=0:3, "),
        (&["cat", "good.ra", "--frames=0:3"], "  try: the frames in the address: "),
        (&["convert", "good.ra", "-o", "x.npy"], "  try: holdall convert SOURCE TARGET: "),
        (&["convert", "a.npy", "b.npy", "c.npy"], "  try: one SOURCE and one TARGET: for f in "),
    ] {
        let run = run(directory.path(), words);
        assert!(run.code == Some(2) && run.err.contains(step), "{words:?} {run:#?}");
    }
}

/// A file of 10^5 datasets with similar names: an answer in time.
#[test]
fn many_datasets_do_not_delay_the_answer() {
    let directory = tempfile::tempdir().unwrap();
    let mut tree =
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"
            .to_owned();
    for number in 0..100_000 {
        writeln!(tree, "detector_number_{number:06}_data: !core/ndarray-1.0.0 {{data: [1]}}").unwrap();
    }
    tree.push_str("...\n");
    std::fs::write(directory.path().join("many.asdf"), tree).unwrap();
    let listing = std::time::Instant::now();
    run(directory.path(), &["info", "many.asdf"]).expect(0);
    let listing = listing.elapsed();
    let asking = std::time::Instant::now();
    let run = run(directory.path(), &["cat", "many.asdf::detector_number_054321_dat"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.err.contains("did you mean detector_number_054321_data, "), "{run:#?}");
    assert!(run.err.contains("(99996 others)"), "{run:#?}");
    // Opening the file takes far longer than the search for names.
    assert!(
        asking.elapsed() < listing * 3 + std::time::Duration::from_secs(10),
        "{:?} {listing:?}",
        asking.elapsed()
    );
}
