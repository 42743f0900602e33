use super::*;

/// Each sample and its test file, whose producer and SHA-256 testdata records.
const ORIGINALS: &[(&str, &str)] = &[
    ("image.asdf", "asdf/ok/image.asdf"),
    ("cut.asdf", "asdf/bad/cut_lz4.asdf"),
    ("run.gsd", "gsd/ok/hoomd_log.gsd"),
    ("killed.gsd", "gsd/odd/killed_hoomd.gsd"),
    ("cut.gsd", "gsd/bad/cut_in_frame_1.gsd"),
    ("table.b2nd", "blosc2/ok/meta_json.b2nd"),
    ("cube.b2nd", "blosc2/ok/shape_3d.b2nd"),
    ("tree.b2z", "blosc2/ok/tree_b2z.b2z"),
    ("cut.b2frame", "blosc2/bad/cut_in_last_chunk.b2frame"),
    ("field.blp", "bloscpack/ok/np_30x30.blp"),
    ("oldest.blp", "bloscpack/ok/p0_3.blp"),
    ("numbers.blp", "bloscpack/ok/v1.blp"),
    ("damaged.blp", "bloscpack/bad/digest_wrong.blp"),
    ("aborted.blp", "bloscpack/bad/offsets_all_minus_1.blp"),
    ("texture.blp", "bloscpack/bad/blizzard_2.blp"),
    ("old.bcolz/data/__0.blp", "bloscpack/ok/v1_bcolz.blp"),
    ("kspace.ra", "rawarray/ok/bart_16d.ra"),
    ("volume.ra", "rawarray/ok/i4_2x3x4.ra"),
    ("complex.ra", "rawarray/ok/test.ra"),
    ("cut.ra", "rawarray/bad/truncated_bart_16d.ra"),
    ("note.ra", "rawarray/odd/trailer_text.ra"),
];

#[test]
fn samples_are_test_files() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    for (sample, original) in ORIGINALS {
        let bytes = SAMPLES.iter().find(|known| known.path == *sample).map(|known| known.bytes);
        let original = fs::read(testdata.join(original)).expect("a test file");
        assert!(bytes == Some(&original[..]), "{sample}");
    }
    let others: Vec<&str> = SAMPLES
        .iter()
        .map(|sample| sample.path)
        .filter(|path| ORIGINALS.iter().all(|(known, _)| known != path))
        .collect();
    assert_eq!(others, ["old.bcolz/meta/sizes", "old.bcolz/meta/storage"]);
}

#[test]
fn every_sample_is_described() {
    for sample in SAMPLES {
        let further = sample.path.contains('/') && !sample.path.ends_with("__0.blp");
        assert_eq!(sample.about.is_empty(), further, "{}", sample.path);
    }
}
