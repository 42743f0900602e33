//! Evidence of every change, and what is reported because there is none.

use std::path::{Path, PathBuf};

use container_core::Limits;
use container_core::report::Evidence;

use super::moved::whats;
use super::{repair_bytes, values};
use crate::layout::Layout;
use crate::repair::*;

pub(super) const DOUBTFUL_METADATA: &str = "metadata: kept as read, although they do not match their digest";

fn fixtures(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/bloscpack").join(folder);
    let paths = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

fn fixture(name: &str) -> Vec<u8> {
    let all = fixtures("bad");
    all.into_iter().find(|(path, _)| path.ends_with(name)).unwrap().1
}

#[test]
fn every_change_of_a_fixture_names_its_evidence() {
    let mut changed = 0;
    for (path, bytes) in ["bad", "odd", "ok"].into_iter().flat_map(fixtures) {
        let input = Input::bytes(Box::new(bytes));
        let repaired = repair_to(input, &OpenOptions::default(), None, Progress::none());
        let Ok(report) = repaired else { continue };
        assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{}: {report:?}", path.display());
        let mut others = report.kept.iter().chain(&report.lost);
        assert!(others.all(|item| item.evidence.is_none()), "{}: {report:?}", path.display());
        changed += report.guessed.len();
    }
    assert!(changed > 50, "{changed}");
}

#[test]
fn a_shape_that_contradicts_whole_data_is_lost_and_no_byte_of_them() {
    for name in ["np_overflow.blp", "np_overflow_0.blp"] {
        let (repaired, report) = repair_bytes(fixture(name));
        assert_eq!(values(&repaired).len(), 2000, "{name}");
        assert!(Layout::parse(&repaired, &Limits::default()).unwrap().numpy().is_none(), "{name}");
        let [what] = whats(&report.lost)[..] else { panic!("{name}: {report:?}") };
        assert!(what.starts_with("shape [") && report.guessed.is_empty(), "{name}: {report:?}");
    }
    for name in ["np_axes_70.blp", "np_dtype_unknown.blp", "np_negative.blp", "np_order.blp"] {
        let (repaired, report) = repair_bytes(fixture(name));
        assert_eq!(values(&repaired).len(), 2000, "{name}");
        assert_eq!(
            whats(&report.lost),
            ["type and shape: not those of an array, the data become plain bytes"],
            "{name}"
        );
    }
    let (_, report) = repair_bytes(fixture("vl_shape_wrong.blp"));
    assert_eq!(whats(&report.lost), ["shape in the metadata: not one of 3 items"]);
}

/// The shape of a file that was appended to, and the end that bloscpack 0.11 lost, are damage of known kinds.
#[test]
fn shapes_left_by_known_writers_are_fitted_to_the_data() {
    for (name, lost) in [("np_too_short.blp", 0), ("np_bytes_lost.blp", 1), ("np_too_long.blp", 1)] {
        let (repaired, report) = repair_bytes(fixture(name));
        assert!(Layout::parse(&repaired, &Limits::default()).unwrap().numpy().is_some(), "{name}");
        let [item] = &report.guessed[..] else { panic!("{name}: {report:?}") };
        assert_eq!(
            (item.evidence, report.lost.len()),
            (Some(Evidence::KnownDamage), lost),
            "{name}: {report:?}"
        );
    }
}

#[test]
fn metadata_that_do_not_fit_their_digest_are_doubtful() {
    let (repaired, report) = repair_bytes(fixture("meta_digest.blp"));
    assert_eq!(values(&repaired).len(), 2000);
    assert_eq!(whats(&report.lost), [DOUBTFUL_METADATA]);
    assert!(whats(&report.kept).iter().all(|what| *what != "metadata"), "{report:?}");
}
