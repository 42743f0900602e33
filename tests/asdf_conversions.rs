//! Every array of every sound ASDF file goes to `.npy` and back into ASDF, bit for bit.

use container_core::container::OpenOptions;
use container_core::dtype::{ByteOrder, Order};
use container_core::region::Region;
use container_core::{Limits, container::ReadOptions};
use holdall::address::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack, convert};

use crate::corpus::open;
use crate::manifest::{Fixture, Listed, fixtures, sha256};

/// Types that `.npy` and ASDF both have, and shapes that numpy has.
fn goes_to_npy(fixture: &Fixture, array: &Listed) -> bool {
    // Half complex numbers and those of 16 bytes are opaque, and no datatype of the standard is.
    !array.dtype.starts_with("|V") && fixture.path != "ok/array_shape_rank.asdf"
}

fn convert_one(source: &Address, target: &std::path::Path) {
    let options = ConvertOptions { verify: ReadBack::Yes, ..ConvertOptions::default() };
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
