//! Every array of every sound ASDF file goes to `.npy` and back into ASDF, bit for bit.

use container_core::container::{Defaults, OpenOptions};
use container_core::dtype::{ByteOrder, Order};
use container_core::region::Region;
use container_core::{Limits, container::ReadOptions};
use holdall::address::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack, convert};

use crate::corpus::open;
use crate::manifest::{Fixture, Visibility, fixtures, sha256};

/// Types that `.npy` and ASDF both have, and shapes that numpy has.
fn goes_to_npy(fixture: &Fixture, array: &Visibility) -> bool {
    // Half complex numbers and those of 16 bytes are opaque, and no datatype of the standard is.
    !array.dtype.starts_with("|V") && fixture.path != "ok/array_shape_rank.asdf"
}

fn convert_one(source: &Address, target: &std::path::Path) {
    let mut options = ConvertOptions { verify: ReadBack::Yes, ..ConvertOptions::default() };
    // What masks hide, too.
    options.open.defaults = Defaults::StoredOnly;
    match convert(source, target, &options) {
        Ok(ConvertOutcome::Done(_)) => {}
        Ok(ConvertOutcome::Differs(differences)) => panic!("{source:?}: {differences:?}"),
        Err(error) => panic!("{source:?}: {error}"),
    }
}

/// Shape, dtype and values, as a manifest has them.
fn only_array(format: &str, path: &std::path::Path) -> (Vec<u64>, String, String) {
    let file = open(format, Box::new(std::fs::read(path).expect("a target"))).expect("a target opens");
    let dataset = file.require(0).expect("an array");
    let whole = Region::whole(&dataset.shape);
    let array = file.read(0, &whole, &ReadOptions::default()).expect("values");
    let mut bytes = array.bytes(Order::C, &Limits::default()).expect("bytes").into_owned();
    dataset.dtype.swap_to(ByteOrder::Little, &mut bytes).expect("little-endian");
    (dataset.shape.clone(), dataset.dtype.to_string(), sha256(&bytes))
}

#[test]
fn every_array_goes_to_npy_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let (npy, back) = (folder.path().join("a.npy"), folder.path().join("b.asdf"));
    let mut count = 0;
    for fixture in fixtures().iter().filter(|it| it.format == "asdf" && it.verdict == "sound") {
        let arrays = fixture.datasets.as_deref().unwrap_or_default();
        for array in arrays.iter().filter(|array| goes_to_npy(fixture, array)) {
            count += 1;
            let dataset = Some(array.path.clone());
            convert_one(&Address { file: fixture.full_path.clone(), dataset, selection: None }, &npy);
            let expected = (array.shape.clone(), array.dtype.clone(), array.values.clone());
            assert_eq!(only_array("npy", &npy), expected, "{} of {} as npy", array.path, fixture.path);
            convert_one(&Address { file: npy.clone(), dataset: None, selection: None }, &back);
            assert_eq!(only_array("asdf", &back), expected, "{} of {}", array.path, fixture.path);
            for target in [&npy, &back] {
                std::fs::remove_file(target).expect("the target");
            }
        }
    }
    assert!(count > 1000, "only {count} arrays");
}

#[test]
fn every_file_is_rewritten_with_all_its_arrays() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("a.asdf");
    let mut count = 0;
    for fixture in fixtures().iter().filter(|it| it.format == "asdf" && it.verdict == "sound") {
        let Some(expected) = fixture.datasets.as_ref().filter(|it| !it.is_empty()) else { continue };
        count += 1;
        convert_one(&Address { file: fixture.full_path.clone(), dataset: None, selection: None }, &target);
        let file = (crate::corpus::format("asdf").open)(
            container_core::format::Input::bytes(Box::new(std::fs::read(&target).expect("a target"))),
            &OpenOptions::default(),
        );
        let shown = crate::corpus::shown(&*file.expect("a target opens")).expect("a listing");
        assert_eq!(&crate::corpus::as_listed(shown), expected, "{}", fixture.path);
        std::fs::remove_file(&target).expect("the target");
    }
    assert!(count > 200, "only {count} files");
}

/// Keys that no other format has as they are, two paths that could be each other's spelling, and an alias whose array stays behind: verified there, and
/// back as they were.
#[test]
fn odd_trees_come_back_from_every_format() {
    let array = |values: &str| format!("!core/ndarray-1.1.0 {{data: {values}, datatype: int64}}");
    let (one, two) = (array("[1, 2, 3]"), array("[4, 5]"));
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let trees = [
        (
            None,
            format!(
                "data: {one}\n1: one\ntrue: {{x: 5}}\n~: none\n$holdall:name: foo/bar\n$holdall:new: 3\n"
            ),
        ),
        (Some("data"), format!("data: {one}\n2: two\n$holdall:anchor: a\n")),
        (Some("b"), format!("a: &a {one}\nb: *a\nv: 7\n")),
        (Some("c/d"), format!("a: &a {one}\nc: {{d: *a}}\n")),
        (None, format!("a/b: {one}\na: {{b: {two}}}\n")),
    ];
    for (dataset, tree) in trees {
        let file = format!(
            "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n{tree}...\n"
        );
        std::fs::write(at("a.asdf"), file).expect("a file");
        for format in ["asdf", "b2nd", "blp", "ra", "gsd"] {
            let several = dataset.is_none() && tree.contains("a/b");
            if several && !["asdf", "gsd"].contains(&format) {
                continue;
            }
            let (there, back) = (at(&format!("there.{format}")), at("back.asdf"));
            let dataset = dataset.map(str::to_owned);
            convert_one(&Address { file: at("a.asdf"), dataset: dataset.clone(), selection: None }, &there);
            convert_one(&Address { file: there.clone(), dataset: None, selection: None }, &back);
            let carried = |path: &std::path::Path, dataset: Option<String>| {
                let bytes = std::fs::read(path).expect("a file");
                let file = open("asdf", Box::new(bytes)).expect("a target opens");
                let address = Address { file: "-".into(), dataset, selection: None };
                let selection = address.select(&*file).expect("arrays");
                file.export_metadata(&selection).expect("metadata")
            };
            let (before, after) = (carried(&at("a.asdf"), dataset.clone()), carried(&back, dataset));
            assert!(
                container_core::interchange::is_equivalent(&before, &after),
                "{format}: {before:?}\n{after:?}"
            );
            [there, back].iter().for_each(|path| std::fs::remove_file(path).expect("it was written"));
        }
    }
}
