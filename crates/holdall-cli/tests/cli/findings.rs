//! `verify` for people sums findings up that are alike; programs get each.

use crate::support::run;

/// An ASDF file with five blocks that no array uses.
pub fn folder() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut bytes = b"#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n--- {a: 1}\n...\n".to_vec();
    for number in 0..5_u8 {
        bytes.extend(b"\xd3BLK\0\x30\0\0\0\0\0\0\0\0");
        for _ in 0..3 {
            bytes.extend(2_u64.to_be_bytes());
        }
        bytes.extend([0; 16]);
        bytes.extend([number; 2]);
    }
    std::fs::write(directory.path().join("a.asdf"), bytes).unwrap();
    directory
}

#[test]
fn every_finding_is_a_row_and_an_entry_for_programs() {
    let directory = folder();
    let rows = run(directory.path(), &["verify", "a.asdf"]);
    assert_eq!(rows.expect(0).matches("\tnote\tunreferenced_block\t").count(), 5, "{rows:#?}");
    let json = run(directory.path(), &["verify", "--json", "a.asdf"]);
    assert_eq!(json.expect(0).matches("\"unreferenced_block\"").count(), 5, "{json:#?}");
    let all = run(directory.path(), &["verify", "--all", "a.asdf"]);
    assert_eq!(all.expect(0), rows.out);
}
