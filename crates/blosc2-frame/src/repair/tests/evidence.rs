//! Evidence of every correction, and damage that is reported because there is none.

use super::*;

/// Frames of the folders `ok`, `odd` and `bad` of the test data, by name.
fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folders = ["ok", "odd", "bad"].map(corpus).into_iter();
    let paths =
        folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let mut files: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    files.sort();
    let read = |path: PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())
    };
    files.into_iter().map(read).collect()
}

#[test]
fn every_correction_of_a_fixture_names_its_evidence() {
    let mut corrected = 0;
    for (name, bytes) in fixtures() {
        let Ok((report, _)) = repaired(&bytes) else { continue };
        assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{name}: {report:?}");
        let mut others = report.kept.iter().chain(&report.lost);
        assert!(others.all(|item| item.evidence.is_none()), "{name}: {report:?}");
        corrected += report.guessed.len();
    }
    assert!(corrected > 50, "{corrected}");
}

/// Evidence of the corrections of a fixture, in the order of the report.
fn evidence_of(name: &str) -> Vec<Evidence> {
    let (report, _) = repaired(&std::fs::read(corpus("bad").join(name)).unwrap()).unwrap();
    report.guessed.iter().filter_map(|item| item.evidence).collect()
}

#[test]
fn each_kind_of_damage_has_its_evidence() {
    for (name, evidence) in [
        ("chunksize_wrong.b2frame", vec![Evidence::SecondCopy]),
        ("typesize_0.b2frame", vec![Evidence::SecondCopy]),
        ("nbytes_minus_1.b2frame", vec![Evidence::SecondCopy]),
        ("nbytes_long.b2frame", vec![Evidence::Index]),
        ("frame_len_short.b2frame", vec![Evidence::Walk]),
        ("header_len_long.b2frame", vec![Evidence::Walk, Evidence::Index]),
        ("cbytes_0.b2frame", vec![Evidence::Index]),
        ("offset_end.b2frame", vec![Evidence::Walk]),
        ("index_zero.b2frame", vec![Evidence::Walk]),
        ("cut_after_third_chunk.b2frame", vec![Evidence::Walk]),
        ("torn_index.b2frame", vec![Evidence::Index, Evidence::Index]),
        ("torn_chunk.b2frame", vec![Evidence::Walk, Evidence::Walk]),
    ] {
        assert_eq!(evidence_of(name), evidence, "{name}");
    }
}

/// One value of a field would fit, and so would others.
#[test]
fn ambiguous_damage_is_reported_and_left_unrepaired() {
    for (name, lost) in [
        ("array_shape_larger.b2nd", "shape of the array: it needs 26 chunks, and there are 4"),
        ("array_dtype_other.b2nd", "element type \"<f8\": not one of 4 bytes"),
        ("chunk_filter_31.b2frame", "chunk 1: zeros in the new frame"),
        ("chunk_instrumented.b2frame", "chunk 1: no codec or filter decodes it"),
    ] {
        let (report, _) = repaired(&std::fs::read(corpus("bad").join(name)).unwrap()).unwrap();
        let [item] = &report.lost[..] else { panic!("{name}: {report:?}") };
        assert!(item.what.starts_with(lost) && report.guessed.is_empty(), "{name}: {report:?}");
    }
    for field in ["blocksize", "cbytes", "chunksize", "filters", "flags", "frame_len", "nbytes", "typesize"] {
        let bytes = std::fs::read(corpus("bad").join(format!("marker_{field}.b2frame"))).unwrap();
        let (report, out) = repaired(&bytes).unwrap();
        assert_eq!(report.lost.len(), 1, "{field}: {report:?}");
        assert!(report.lost[0].what.starts_with("header: "), "{field}: {report:?}");
        assert_eq!(chunks(out, field).concat().len(), 4 * 404, "{field}");
    }
}
