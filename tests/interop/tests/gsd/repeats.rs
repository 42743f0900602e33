//! Trajectories in which an append failed and was repeated: frames have chunks twice, and gsd reads one of the two.

use std::ffi::OsStr;
use std::path::Path;

use container_core::Progress;
use container_core::container::{CheckDepth, OpenOptions, ReadOptions, all_datasets};
use container_core::write::{Durability, Overwrite};
use gsd::repair::repair;
use holdall::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, convert};
use holdall::open::{Accept, open_with};

use crate::peers::{Gsd, assert_same, files, gsd, listed};
use interop::json_peer::folder;

/// Of each file the chunks that gsd.fl reads.
fn list(folder: &Path) {
    gsd(Gsd::Newest, [OsStr::new("chunks"), folder.as_os_str()]);
}

#[test]
fn all_that_gsd_reads_of_such_files_comes_out_of_a_repair_and_a_conversion() {
    let (theirs, repaired, converted) = (folder(), folder(), folder());
    gsd(Gsd::Newest, [OsStr::new("repeated"), theirs.path().as_os_str(), OsStr::new("0"), OsStr::new("60")]);
    list(theirs.path());
    let mut twice = 0;
    for path in files(theirs.path(), "gsd") {
        let opened = open_with(&path, Accept::Containers, &OpenOptions::default()).unwrap();
        let container = &*opened.container;
        let report = container.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
        let codes: Vec<&str> = report.findings.iter().map(|finding| finding.code).collect();
        assert_eq!(report.verdict().name(), "sound", "{}: {codes:?}", path.display());
        twice += usize::from(codes.contains(&"entry_duplicate"));
        let mut paths: Vec<String> =
            all_datasets(container).map(|(_, dataset)| dataset.path.clone()).collect();
        paths.sort();
        assert!(paths.windows(2).all(|pair| pair[0] != pair[1]), "{}: {paths:?}", path.display());

        let name = path.file_name().unwrap();
        let report = repair(&path, repaired.path().join(name)).unwrap();
        assert!(report.lost.is_empty(), "{}: {report:?}", path.display());
        let options = ConvertOptions {
            overwrite: Overwrite::Refuse,
            durability: Durability::Cached,
            ..ConvertOptions::default()
        };
        let done = convert(&Address::file(&path), &converted.path().join(name), &options);
        assert!(matches!(done, Ok(ConvertOutcome::Done(_))), "{}: {done:?}", path.display());
    }
    assert!(twice > 20, "{twice}");
    for folder in [repaired.path(), converted.path()] {
        list(folder);
        for path in files(folder, "gsd") {
            let expected = listed(&theirs.path().join(path.file_name().unwrap()), "fl");
            assert_same(&listed(&path, "fl"), &expected, &path.display().to_string());
        }
    }
}
