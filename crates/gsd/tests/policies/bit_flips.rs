//! Every cut, and every byte of header, index and names changed: reading does not panic, and the policies agree.

use container_core::dtype::ByteOrder;
use gsd::{FaultKind, File, IndexEntry, OpenOptions, Strictness, Version};

use crate::small::small;

fn open(bytes: &[u8], strictness: Strictness) -> gsd::Result<File> {
    File::from_source(Box::new(bytes.to_vec()), &OpenOptions::default().with_strictness(strictness))
}

/// Frame, name, and values or the error of reading them.
type Chunk = (u64, String, Result<Vec<u8>, String>);

/// Every chunk of the file; those that a search finds, and all that are listed.
fn chunks(file: &File) -> [Vec<Chunk>; 2] {
    let (mut found, mut listed) = (Vec::new(), Vec::new());
    // What a damaged index announces may be far.
    for frame in 0..file.nframes().min(10) {
        for (name, entry) in file.frame_chunks(frame) {
            let read = |entry: &IndexEntry| {
                let bytes = file.read_chunk(entry).map(std::borrow::Cow::into_owned);
                (frame, name.to_string(), bytes.map_err(|error| error.to_string()))
            };
            listed.push(read(&entry));
            found.extend(file.find_chunk(frame, &name).as_ref().map(read));
        }
    }
    [found, listed]
}

fn check(bytes: &[u8], what: &str) {
    let compatible = open(bytes, Strictness::Compatible);
    let strict = open(bytes, Strictness::Strict);
    let lenient = open(bytes, Strictness::Lenient);
    let read = [&compatible, &strict, &lenient].map(|file| file.as_ref().ok().map(chunks));
    let [compatible_read, strict_read, lenient_read] = &read;
    if let Ok(strict) = &strict {
        assert!(compatible.is_ok(), "{what}: strict accepts what the reference does not");
        assert_eq!(strict_read, compatible_read, "{what}");
        assert_eq!(strict_read, lenient_read, "{what}");
        // What every entry was checked for can be read.
        assert!(strict_read.iter().flatten().flatten().all(|(.., bytes)| bytes.is_ok()), "{what}");
        assert_eq!(strict.nframes(), lenient.as_ref().unwrap().nframes(), "{what}");
    }
    if let Ok(lenient) = &lenient {
        let listed = lenient_read.iter().flat_map(|[_, listed]| listed);
        let failed = listed.filter(|(.., bytes)| bytes.is_err()).count();
        let unreadable = |kind: FaultKind| matches!(kind, FaultKind::EntryType | FaultKind::EntryRange);
        let faults = lenient.layout().faults();
        // In a truncated file the faults of entries are a consequence of the cut, and not reported.
        let torn = faults.iter().any(|fault| {
            matches!(
                fault.kind(),
                FaultKind::IndexPastEnd | FaultKind::NamelistPastEnd | FaultKind::BlocksOverlap
            )
        });
        let told = faults.iter().filter(|fault| unreadable(fault.kind())).map(gsd::Fault::count);
        let told = told.sum::<u64>();
        assert!(torn || failed as u64 <= told, "{what}: {failed} chunks fail, and of {told} it is said");
        assert_eq!(strict.is_ok(), !faults.iter().any(is_refused), "{what}: {faults:?}");
    }
    assert!(lenient.is_ok() || compatible.is_err(), "{what}: {:?}", lenient.err());
}

fn is_refused(fault: &gsd::Fault) -> bool {
    fault.severity() == container_core::report::Severity::Error || fault.kind() == FaultKind::EntryDuplicate
}

fn files() -> [(&'static str, Vec<u8>); 3] {
    [
        ("2.1", small(ByteOrder::Little, Version::new(2, 1))),
        ("1.0", small(ByteOrder::Little, Version::new(1, 0))),
        ("big-endian", small(ByteOrder::Big, Version::new(2, 0))),
    ]
}

#[test]
fn the_files_themselves_are_read_alike() {
    for (name, bytes) in files() {
        for strictness in [Strictness::Compatible, Strictness::Strict, Strictness::Lenient] {
            let file = open(&bytes, strictness).unwrap();
            assert!(file.layout().faults().is_empty(), "{name}");
            let data = if name == "1.0" { 640 } else { 576 };
            let [mut read, listed] = chunks(&file);
            assert_eq!(read, listed, "{name}");
            read.sort();
            let of = |frame: u64, name: &str, range: std::ops::Range<usize>| {
                (frame, name.to_owned(), Ok(bytes[data + range.start..data + range.end].to_vec()))
            };
            let expected = [of(0, "a", 0..4), of(0, "bb", 4..16), of(1, "a", 16..20), of(1, "bb", 20..32)];
            assert_eq!(read, expected, "{name}, {strictness:?}");
        }
    }
}

#[test]
fn every_cut_is_survived() {
    for (name, bytes) in files() {
        for len in 0..bytes.len() {
            check(&bytes[..len], &format!("{name} cut at {len}"));
            assert!(open(&bytes[..len], Strictness::Strict).is_err(), "{name} cut at {len}");
        }
    }
}

#[test]
fn every_changed_byte_is_survived() {
    for (name, bytes) in files() {
        for at in 0..bytes.len() - 32 {
            for value in [0, 1, 0x7F, 0x80, 0xFF, bytes[at] ^ 1, bytes[at] ^ 0x10] {
                let mut changed = bytes.clone();
                changed[at] = value;
                check(&changed, &format!("{name} with {value} at {at}"));
            }
        }
    }
}

#[test]
fn entries_of_any_values_are_survived() {
    let ends = [0, 1, 8, 576, 1 << 32, 1 << 59, 1 << 62, u64::MAX / 2, u64::MAX];
    for (name, bytes) in files() {
        let order = gsd::header::byte_order(&bytes).unwrap();
        for (at, frame, n, location) in
            (0..5).flat_map(|at| ends.map(move |frame| (at, frame))).flat_map(|(at, frame)| {
                ends.into_iter().flat_map(move |n| ends.map(move |location| (at, frame, n, location)))
            })
        {
            let location = location.cast_signed();
            let entry = IndexEntry { frame, n, location, m: 3, id: 1, type_code: 10, flags: 0 };
            let mut changed = bytes.clone();
            changed[256 + 32 * at..288 + 32 * at].copy_from_slice(&entry.to_bytes(order));
            check(&changed, &format!("{name} with {entry:?} at {at}"));
        }
    }
}
