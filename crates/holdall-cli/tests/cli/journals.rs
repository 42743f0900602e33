//! Journals next to files: reports, reads, and the files that stay.

use crate::asdf::{MD5_OF_123, TREE, block, by_hand};
use crate::support::{files, run};

fn write(path: &std::path::Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

/// A file with a tree of 600 bytes, which crosses a sector, with room after it.
fn with_long_tree() -> Vec<u8> {
    let tree = format!("{}{}", TREE.replace("# by hand", &format!("# {}", "x".repeat(600))), " ".repeat(400));
    [tree.as_bytes(), &block(&[1, 2, 3], MD5_OF_123)].concat()
}

/// Bytes as a journal of this version has them, by hand: see the page of the format.
fn journal(old_len: u64, new_len: u64, patches: &[(u64, &[u8], &[u8])]) -> Vec<u8> {
    let bytes: usize = patches.iter().map(|(_, old, new)| 24 + old.len() + new.len()).sum();
    let mut journal = b"asdfjrn2".to_vec();
    for number in [44 + bytes as u64, old_len, new_len, patches.len() as u64] {
        journal.extend_from_slice(&number.to_le_bytes());
    }
    for (at, old, new) in patches {
        for number in [*at, old.len() as u64, new.len() as u64] {
            journal.extend_from_slice(&number.to_le_bytes());
        }
        journal.extend_from_slice(&[*old, *new].concat());
    }
    let mut crc = !0_u32;
    for byte in &journal {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ 0xedb8_8320 & (crc & 1).wrapping_neg();
        }
    }
    journal.extend_from_slice(&(!crc).to_le_bytes());
    journal
}

#[test]
fn reading_reports_a_journal_and_leaves_both_files_unchanged() {
    let directory = files();
    let at = directory.path();
    let old = with_long_tree();
    let (image, len) = (old.len() - 3, old.len() as u64);
    write(&at.join("a.asdf"), &old);
    // A whole journal of a change that has not begun, one that cuts the file, and no journal at all.
    let forged = journal(len, len, &[(image as u64, &[1, 2, 3], &[6, 6, 6])]);
    let cutting = journal(len, len - 3, &[(image as u64, &[1, 2, 3], &[])]);
    let grown = journal(100, 100, &[(0, &old[..12], b"#ASDF 9.9.9\n")]);
    for (bytes, word) in
        [(&forged, "pending"), (&cutting, "pending"), (&grown, "foreign"), (&b"mine".to_vec(), "foreign")]
    {
        write(&at.join("a.asdf.asdfjournal"), bytes);
        assert_eq!(run(at, &["cat", "a.asdf::image", "--format", "json"]).expect(0).trim(), "[1,2,3]");
        for verb in ["verify", "info", "layout"] {
            let told = run(at, &[verb, "--json", "a.asdf"]);
            told.expect(0);
            assert!(told.out.contains("asdfjournal"), "{verb}: {}", told.out);
        }
        let told = run(at, &["verify", "--json", "a.asdf"]);
        assert!(told.out.contains(&format!("{word}_journal")), "{}", told.out);
        assert!(run(at, &["ls", "a.asdf"]).err.contains("a.asdf.asdfjournal"));
        // Both reads left both files alone.
        assert_eq!(std::fs::read(at.join("a.asdf")).unwrap(), old);
        assert_eq!(&std::fs::read(at.join("a.asdf.asdfjournal")).unwrap(), bytes);
    }
}

#[test]
fn change_leaves_a_foreign_journal_file_in_place() {
    let directory = files();
    let at = directory.path();
    let old = with_long_tree();
    let forged = journal(100, 100, &[(0, &old[..12], b"#ASDF 9.9.9\n")]);
    for bytes in [&forged[..], b"mine", b""] {
        write(&at.join("a.asdf"), &old);
        write(&at.join("a.asdf.asdfjournal"), bytes);
        let changed =
            run(at, &["meta", "a.asdf", "--set", "/flags/0=another and longer one", "--set", "/meta/name=y"]);
        changed.expect(0);
        assert!(changed.err.contains("asdfjournal"), "{}", changed.err);
        assert_eq!(std::fs::read(at.join("a.asdf.asdfjournal")).unwrap(), bytes);
        assert_eq!(run(at, &["meta", "a.asdf", "/meta/name"]).expect(0).trim(), "y");
        assert_eq!(run(at, &["cat", "a.asdf::image", "--format", "json"]).expect(0).trim(), "[1,2,3]");
    }
}

#[test]
fn a_copy_put_over_a_torn_file_is_read_as_it_is() {
    let directory = files();
    let at = directory.path();
    let old = with_long_tree();
    let (image, len) = (old.len() - 3, old.len() as u64);
    let journal = journal(len, len, &[(40, &old[40..42], b"yy"), (image as u64, &[1, 2, 3], &[6, 6, 6])]);
    write(&at.join("a.asdf.asdfjournal"), &journal);
    let mut torn = old.clone();
    torn[40..42].copy_from_slice(b"yy");
    let with = |bytes: &[u8]| {
        write(&at.join("a.asdf"), bytes);
        run(at, &["cat", "a.asdf::image", "--format", "json", "--no-verify"]).expect(0).trim().to_owned()
    };
    assert_eq!(with(&torn), "[6,6,6]");
    assert_eq!(with(&old), "[1,2,3]");
    assert_eq!(with(&[&torn[..], b"\n"].concat()), "[1,2,3]");
    assert_eq!(with(&by_hand()), "[1,2,3]");
}
