//! Lines before the tree's document that one byte has changed.

use super::*;

fn at(bytes: &[u8], text: &str) -> usize {
    bytes.windows(text.len()).position(|part| part == text.as_bytes()).unwrap()
}

/// The line itself is left out, which is a loss: what it was is not in the file.
#[test]
fn a_tree_behind_a_comment_with_a_wrong_mark_is_there() {
    let made = file();
    for line in ["#ASDF_STANDARD", "# kept"] {
        for bit in 0..7 {
            let mut damaged = made.bytes.clone();
            let place = at(&made.bytes, line);
            damaged[place] ^= 1 << bit;
            let (out, report) = repaired(&damaged);
            let file = crate::File::from_bytes(out, crate::OpenOptions::default()).unwrap();
            assert_eq!(file.arrays().len(), 3, "{line} {bit}: {report:?}");
            let is_told =
                report.lost.iter().any(|item| item.range.as_ref().is_some_and(|it| it.start == place as u64));
            assert!(is_told, "{line} {bit}: {report:?}");
        }
    }
}

/// No other line says what was meant.
#[test]
fn a_wrong_bit_in_a_directive_or_in_marks_is_reported() {
    let made = file();
    for line in ["%YAML", "%TAG", "---"] {
        for bit in 0..7 {
            let mut damaged = made.bytes.clone();
            damaged[at(&made.bytes, line)] ^= 1 << bit;
            let (_, report) = repaired(&damaged);
            assert!(!report.lost.is_empty(), "{line} {bit}: {report:?}");
        }
    }
}

#[test]
fn tree_is_found_after_an_invalid_comment_line() {
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
fn misspelt_directives_stay_and_others_are_sound() {
    let made = file();
    let tag = "%TAG ! tag:stsci.edu:asdf/";
    for wrong in ["%TAg ! tag:stsci.edu:asdf/", "%TAG !!tag:stsci.edu:asdf/", "%TAG   tag:stsci.edu:asdf/"] {
        let damaged = String::from_utf8_lossy(&made.bytes[..at(&made.bytes, "---")]).replace(tag, wrong);
        let damaged = [damaged.as_bytes(), &made.bytes[at(&made.bytes, "---")..]].concat();
        let (_, report) = repaired(&damaged);
        assert!(!report.lost.is_empty(), "{wrong}: {report:?}");
    }
    // Directives of other names, and a second handle.
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
    assert_eq!(crate::yaml::invalid_directives("%YAML 1.1\n%TAg ! a\n---\n%TAG\n"), [(10..18, "%TAg ! a")]);
}

/// Unknown bytes between a tree without a final newline and the first block are removed: tree and block must not become one line.
#[test]
fn block_after_an_unterminated_tree_starts_on_a_new_line() {
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
