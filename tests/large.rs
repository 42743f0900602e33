//! Files over 4 GiB, which take no room: what is not written is a hole.

use std::io::{Seek, SeekFrom, Write};

use container_core::container::{CheckDepth, Container, OpenOptions, ReadOptions};
use container_core::dtype::Order;
use container_core::format::Input;
use container_core::region::Region;
use container_core::source::{Access, open_path};
use container_core::{Limits, Progress};
use rawarray::header::{Flags, Header};
use rawarray::{Eltype, RawArray};

const DIMS: [u64; 2] = [1 << 20, 1281];

/// Five gibibytes and a bit of f32, zeros but for the last three.
fn large_file(folder: &std::path::Path) -> std::path::PathBuf {
    let path = folder.join("large.ra");
    let mut file = std::fs::File::create(&path).expect("a file");
    let size = DIMS[0] * DIMS[1] * 4;
    let header = Header {
        byte_order: container_core::dtype::ByteOrder::Little,
        flags: Flags::default(),
        eltype: Eltype::FLOAT,
        elbyte: 4,
        size,
        ndims: 2,
    };
    file.write_all(&header.to_bytes(&DIMS)).expect("a header");
    file.seek(SeekFrom::Start(64 + size - 12)).expect("a hole");
    for value in [1.5_f32, -2.5, 3.5] {
        file.write_all(&value.to_le_bytes()).expect("values");
    }
    path
}

#[test]
fn the_end_of_a_file_over_4_gib_is_read_through_every_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = large_file(folder.path());
    assert_eq!(
        RawArray::<f32>::open(&path).expect("it opens").get(&[DIMS[0] - 1, DIMS[1] - 1]).expect("a value"),
        3.5
    );
    for access in [Access::Auto, Access::Positioned] {
        // Far less memory than the file has.
        let mut options = OpenOptions::default();
        options.limits = Limits::default().with_memory(1 << 20);
        let source = open_path(&path, access, &options.limits).expect("a source");
        let file: Box<dyn Container> =
            (rawarray::FORMAT.open)(Input::bytes(source), &options).expect("it opens");
        assert!(file.about().complete);
        let last = Region::parse("-4:, -1", &DIMS).expect("a region");
        let array = file.read(0, &last, &ReadOptions::default()).expect("values");
        let values = array.elements::<f32>(Order::F, &options.limits).expect("values");
        assert_eq!(*values, [0.0, 1.5, -2.5, 3.5], "{access:?}");
        let report =
            file.check(CheckDepth::Quick, &ReadOptions::default(), Progress::none()).expect("a check");
        assert!(report.findings.is_empty());
    }
}

#[test]
fn truncated_file_over_4_gib_reports_its_range() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = large_file(folder.path());
    let len = path.metadata().expect("a length").len();
    std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_len(len - 1))
        .expect("a cut");
    let error = RawArray::<f32>::open(&path).expect_err("a cut file");
    assert_eq!(error.range(), Some(64..len));
    assert!(error.is_damage());
}
