use super::*;

fn journal() -> Journal {
    let patch = |at: u64, old: &[u8], new: &[u8]| Patch { at, old: old.to_vec(), new: new.to_vec() };
    let patches = vec![patch(510, b"abcd", b"wxyz"), patch(600, b"1", b"2")];
    Journal { intent: Intent::Change, old_len: 700, new_len: 700, patches }
}

#[test]
fn bytes_and_journals_are_inverse() {
    let bytes = journal().encode();
    assert_eq!(Journal::parse(&bytes), Some(journal()));
    for cut in 0..bytes.len() {
        assert_eq!(Journal::parse(&bytes[..cut]), None);
        let mut other = bytes.clone();
        other[cut] ^= 1;
        assert_eq!(Journal::parse(&other), None);
    }
}

#[test]
fn a_journal_is_about_old_new_and_torn_bytes() {
    let mut file = vec![b'.'; 700];
    let place =
        |file: &mut Vec<u8>, at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    let pending = |file: &Vec<u8>| journal().pending(file).unwrap();
    for (four, one, is_pending) in [
        (b"abcd", b"1", true),
        (b"wxcd", b"1", true),
        (b"abyz", b"2", true),
        (b"wbcd", b"1", true),
        (b"abyd", b"1", true),
        (b"wxyz", b"1", true),
        (b"wxyz", b"2", false),
        // The second byte of a sector without the first.
        (b"axcd", b"1", false),
        (b"abcz", b"1", false),
        (b"abcd", b"3", false),
    ] {
        place(&mut file, 510, four);
        place(&mut file, 600, one);
        assert_eq!(pending(&file).is_some(), is_pending, "{four:?} {one:?}");
    }
    place(&mut file, 510, b"abcd");
    place(&mut file, 600, b"1");
    file.push(0);
    assert_eq!(pending(&file), None);
}

#[test]
fn a_patch_is_what_differs() {
    assert_eq!(Patch::between(7, b"abc", b"abc"), None);
    let patch = Patch::between(7, b"abcdef", b"abXdYf").unwrap();
    assert_eq!((patch.at, &patch.old[..], &patch.new[..]), (9, &b"cde"[..], &b"XdY"[..]));
    let crosses = |at, len| Patch { at, old: vec![0; len], new: vec![1; len] }.crosses_sectors();
    assert!(!crosses(0, 512) && crosses(0, 513) && crosses(511, 2) && !crosses(512, 512));
}
