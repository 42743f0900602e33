//! Conversions report their losses; with these reported, the rest is verified.

use std::path::Path;

use container_core::container::{OpenOptions, visible_datasets};
use container_core::report::Loss;
use container_core::write::{Durability, Overwrite};
use holdall::address::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack, convert};
use holdall::open::{Accept, open_with};

use crate::manifest::testdata;

/// The losses of a conversion that is read back.
fn told(source: &Path, dataset: Option<&str>, target: &Path) -> Vec<Loss> {
    let source =
        Address { file: source.to_owned(), dataset: dataset.map(ToOwned::to_owned), selection: None };
    let (verify, overwrite) = (ReadBack::Yes, Overwrite::Replace);
    let options =
        ConvertOptions { verify, overwrite, durability: Durability::Cached, ..ConvertOptions::default() };
    match convert(&source, target, &options) {
        Ok(ConvertOutcome::Done(done)) => done.losses,
        other => panic!("{source:?}: {other:?}"),
    }
}

#[test]
fn lost_record_padding_and_titles_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let (npy, asdf) = (folder.path().join("a.npy"), folder.path().join("a.asdf"));
    for name in ["np_record_aligned.blp", "np_record_title.blp"] {
        let fixture = testdata().join("bloscpack/ok").join(name);
        assert!(told(&fixture, None, &npy).iter().all(|loss| !loss.what.starts_with("padding")));
        for source in [&fixture, &npy] {
            let losses = told(source, None, &asdf);
            let of_records: Vec<_> = losses.iter().filter(|loss| loss.what.starts_with("padding")).collect();
            assert!(matches!(of_records.as_slice(), [Loss { dataset: Some(_), .. }]), "{name}: {losses:?}");
        }
    }
}

#[test]
fn names_that_begin_others_are_verified() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["fl_names.gsd", "fl_names_full.gsd"] {
        let source = testdata().join("gsd/ok").join(name);
        assert_eq!(told(&source, None, &folder.path().join("a.asdf")), [], "{name}");
    }
}

#[test]
fn mask_is_kept_or_reported_as_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = testdata().join("asdf/ok/mask_array.asdf");
    assert_eq!(told(&source, Some("a"), &folder.path().join("a.asdf")), []);
    for target in ["a.b2nd", "a.blp", "a.gsd", "a.ra"] {
        let losses = told(&source, Some("a"), &folder.path().join(target));
        let masks: Vec<_> = losses.iter().filter(|loss| loss.what.contains("mask")).collect();
        let [Loss { dataset: Some(path), what }] = masks.as_slice() else { panic!("{target}: {losses:?}") };
        assert!(path == "a" && what.contains("4 of 12 elements are missing"), "{target}: {what}");
    }
    assert_eq!(told(&source, None, &folder.path().join("all.asdf")), []);
}

#[test]
fn newly_stored_default_chunks_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let (b2nd, back) = (folder.path().join("a.b2nd"), folder.path().join("a.gsd"));
    let (mut more, mut same) = (0, 0);
    for name in ["hoomd_n_returns.gsd", "hoomd_late.gsd", "hoomd_log_gaps.gsd", "hoomd_box_changes.gsd"] {
        let path = testdata().join("gsd/ok").join(name);
        let source = gsd::File::open(&path).expect("a fixture");
        let opened = open_with(&path, Accept::Containers, &OpenOptions::default()).expect("a fixture");
        for (_, dataset) in visible_datasets(&*opened.container) {
            if !told(&path, Some(&dataset.path), &b2nd).is_empty() || dataset.path.starts_with("frames/") {
                continue;
            }
            let losses = told(&b2nd, None, &back);
            let copy = gsd::File::open(&back).expect("a target");
            let count = |file: &gsd::File| {
                (0..file.nframes()).filter(|frame| file.find_chunk(*frame, &dataset.path).is_some()).count()
            };
            assert_eq!(source.nframes(), copy.nframes(), "{name}::{}", dataset.path);
            let is_more = count(&copy) != count(&source);
            let is_told = losses.iter().any(|loss| {
                loss.dataset.as_deref() == Some(&*dataset.path)
                    && loss.what.starts_with("the frames that stored")
            });
            assert_eq!(is_more, is_told, "{name}::{}: {losses:?}", dataset.path);
            *(if is_more { &mut more } else { &mut same }) += 1;
        }
    }
    assert!(more > 0 && same > 0, "{more} with more chunks, {same} with as many");
}
