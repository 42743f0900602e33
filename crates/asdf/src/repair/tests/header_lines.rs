//! Lines before the tree's document that one byte has changed.

use super::*;

const LINES: [&str; 5] = ["#ASDF_STANDARD", "# kept", "%YAML", "%TAG", "---"];

fn at(bytes: &[u8], text: &str) -> usize {
    bytes.windows(text.len()).position(|part| part == text.as_bytes()).unwrap()
}

#[test]
fn a_tree_behind_a_line_with_a_wrong_bit_is_there() {
    let made = file();
    for line in LINES {
        for bit in 0..7 {
            let mut damaged = made.bytes.clone();
            damaged[at(&made.bytes, line)] ^= 1 << bit;
            let (out, report) = repaired(&damaged);
            assert!(out == made.bytes, "{line} {bit}: {report:?}");
            assert!(!report.guessed.is_empty(), "{line} {bit}: {report:?}");
            // A byte of the tree that is no text is told as such.
            let is_text = !damaged[at(&made.bytes, line)].is_ascii_control();
            assert!(report.lost.is_empty() || !is_text, "{line} {bit}: {report:?}");
        }
    }
}

#[test]
fn a_byte_before_a_comment_is_taken_out() {
    let made = file();
    let at = at(&made.bytes, "#ASDF_STANDARD");
    let damaged = [&made.bytes[..at], b"x", &made.bytes[at..]].concat();
    let (out, report) = repaired(&damaged);
    assert!(out.starts_with(b"#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0 \n# kept\n%YAML 1.1\n"), "{report:?}");
    let file = crate::File::from_bytes(out, crate::OpenOptions::default()).unwrap();
    assert_eq!(
        (file.arrays().len(), file.faults().filter(|fault| fault.kind() != FaultKind::IndexStale).count()),
        (3, 0)
    );
}

#[test]
fn a_line_that_is_no_comment_hides_no_tree() {
    let made = file();
    let mut damaged = made.bytes.clone();
    damaged[at(&made.bytes, "#ASDF_STANDARD")] ^= 1;
    let file = crate::File::from_bytes(damaged, crate::OpenOptions::default()).unwrap();
    assert_eq!(file.arrays().len(), 3);
    let kinds: Vec<FaultKind> = file.faults().map(crate::fault::Fault::kind).collect();
    assert_eq!(kinds, [FaultKind::JunkBeforeTree]);
    assert_eq!(FaultKind::JunkBeforeTree.severity(), container_core::report::Severity::Error);
}

#[test]
fn directives_are_mended_where_they_are_nearly_right() {
    let made = file();
    let tag = "%TAG ! tag:stsci.edu:asdf/";
    for wrong in ["%TAg ! tag:stsci.edu:asdf/", "%TAG !!tag:stsci.edu:asdf/", "%TAG   tag:stsci.edu:asdf/"] {
        let damaged = String::from_utf8_lossy(&made.bytes[..at(&made.bytes, "---")]).replace(tag, wrong);
        let damaged = [damaged.as_bytes(), &made.bytes[at(&made.bytes, "---")..]].concat();
        let (out, report) = repaired(&damaged);
        assert!(out == made.bytes && report.lost.is_empty(), "{wrong}: {report:?}");
    }
    // Others stay, and are sound.
    let other = String::from_utf8_lossy(&made.bytes[..made.blocks[0]])
        .replace(tag, "%TAG ! tag:stsci.edu:asdf/\n%TAG !e!  tag:example.org: # ours");
    let document = crate::yaml::Document::parse(
        other[at(other.as_bytes(), "%YAML")..].trim_end_matches('\0').as_bytes(),
        0,
        &Default::default(),
    )
    .unwrap();
    let findings = crate::check::tree::findings(&document, &Default::default()).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!(crate::yaml::wrong_directives("%YAML 1.1\n%TAg ! a\n---\n%TAG\n"), [(10..18, "%TAg ! a")]);
}

/// Unknown bytes between a tree without a final newline and the first block are removed: tree and block must not become one line.
#[test]
fn no_block_stands_on_the_last_line_of_a_tree() {
    let text = tree(&[("one", 0, "[10]")]);
    let text = text.trim_end();
    // A header of which the walk makes nothing leaves no padding before it.
    let sound = block(&numbers(10), 0);
    let mut wrong = sound.clone();
    wrong[4..6].fill(0xBF);
    let damaged = [HEAD.as_bytes(), text.as_bytes(), b"\0\0junk\0", &wrong].concat();
    let (mended, _) = repaired(&damaged);
    assert!(mended.starts_with(&[HEAD.as_bytes(), text.as_bytes(), b"\n", &sound].concat()));
}

/// The line of dots may be there, with blanks behind it that nothing ends; and a form feed is no blank behind a directive.
#[test]
fn lines_that_are_nearly_there_are_written_once() {
    let text = tree(&[("one", 0, "[10]")]);
    let sound = [HEAD, &text].concat();
    let blanks = sound.trim_end().to_owned() + "\r ";
    let (mended, _) = repaired(blanks.as_bytes());
    assert_eq!(String::from_utf8_lossy(&mended).matches("\n...").count(), 1);
    let (mended, _) = repaired(sound.replace("%YAML 1.1\n", "%YAML\x0c\x0cx\n").as_bytes());
    assert_eq!(String::from_utf8_lossy(&mended).matches("%YAML 1.1\n").count(), 1);
}
