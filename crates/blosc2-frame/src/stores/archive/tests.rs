use std::sync::Arc;

use container_codecs::checksum::Algorithm;
use container_core::ErrorKind;

use super::*;

/// Two members that Python's `zipfile` wrote with the extra fields and the end records of zip64.
const ZIP64: &str = "504b03042d000000000000002100a0ccbfc5ffffffffffffffff08001400672f782e62326e64010010000c000000000000000c00\
0000000000007477656c7665206279746573504b03042d00000000000000210032c92306ffffffffffffffff09001400656d6265642e623265010010000c00\
0000000000000c00000000000000303132333435363738396162504b01022d032d000000000000002100a0ccbfc5ffffffffffffffff08001400000000000000\
0000800100000000672f782e62326e64010010000c000000000000000c00000000000000504b01022d032d00000000000000210032c92306ffffffffffffffff\
09001c0000000000000000008001ffffffff656d6265642e623265010018000c000000000000000c000000000000004600000000000000504b06062c00000000\
0000002d002d000000000000000000020000000000000002000000000000009d000000000000008d00000000000000504b0607000000002a01000000000000\
01000000504b050600000000020002009d0000008d0000000000";

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// A member as it is written: what differs from the usual is what a test is about.
#[derive(Clone)]
struct Put<'a> {
    name: &'a str,
    local_name: &'a str,
    data: &'a [u8],
    method: u16,
    flags: u16,
    /// Sizes in the central directory.
    sizes: Option<(u32, u32)>,
    /// Place of the local header in the central directory.
    at: Option<u32>,
}

fn put<'a>(name: &'a str, data: &'a [u8]) -> Put<'a> {
    Put { name, local_name: name, data, method: 0, flags: 0, sizes: None, at: None }
}

fn len32(len: usize) -> [u8; 4] {
    u32::try_from(len).unwrap().to_le_bytes()
}

fn len16(len: usize) -> [u8; 2] {
    u16::try_from(len).unwrap().to_le_bytes()
}

fn zip(members: &[Put<'_>]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut directory = Vec::new();
    for member in members {
        let at = member.at.map_or_else(|| len32(file.len()), u32::to_le_bytes);
        let crc: Vec<u8> = Algorithm::Crc32.digest(member.data).as_bytes().iter().rev().copied().collect();
        let (size, decoded) =
            member.sizes.map_or((len32(member.data.len()), len32(member.data.len())), |(size, decoded)| {
                (size.to_le_bytes(), decoded.to_le_bytes())
            });
        let head = |name: &str| {
            let mut head = Vec::new();
            head.extend([20, 0]);
            head.extend(member.flags.to_le_bytes());
            head.extend(member.method.to_le_bytes());
            head.extend([0, 0, 0x21, 0]);
            head.extend(&crc);
            head.extend(size);
            head.extend(decoded);
            head.extend(len16(name.len()));
            head.extend([0, 0]);
            head
        };
        file.extend(b"PK\x03\x04");
        file.extend(head(member.local_name));
        file.extend(member.local_name.as_bytes());
        file.extend(member.data);
        directory.extend(b"PK\x01\x02\x14\x03");
        directory.extend(head(member.name));
        directory.extend([0; 10]);
        directory.extend(at);
        directory.extend(member.name.as_bytes());
    }
    let start = file.len();
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend(len16(members.len()).repeat(2));
    file.extend(len32(directory.len()));
    file.extend(len32(start));
    file.extend([0, 0]);
    file
}

fn read(bytes: Vec<u8>) -> Result<Archive> {
    let source: Shared = Arc::new(bytes);
    Archive::read(&source, &Limits::default())
}

fn codes(archive: &Archive) -> Vec<&'static str> {
    archive.findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn members_are_where_their_local_headers_end() {
    let bytes = zip(&[put("g/a.b2nd", b"first"), put("embed.b2e", b"second")]);
    let archive = read(bytes.clone()).unwrap();
    let found: Vec<_> = archive
        .members
        .iter()
        .map(|member| (member.name.as_str(), member.header.clone(), member.data.clone()))
        .collect();
    assert_eq!(found, [("g/a.b2nd", 0..38, 38..43), ("embed.b2e", 43..82, 82..88)]);
    assert_eq!(archive.directory, 88..bytes.len() as u64);
    assert_eq!(archive.findings, []);
    assert_eq!(archive.members[1].crc.to_be_bytes(), Algorithm::Crc32.digest(b"second").as_bytes());
}

#[test]
fn zip64_is_read() {
    let bytes = unhex(ZIP64);
    let archive = read(bytes.clone()).unwrap();
    let data = |at: usize| bytes.as_slice().lend(archive.members[at].data.clone()).unwrap();
    assert_eq!((data(0), data(1)), (&b"twelve bytes"[..], &b"0123456789ab"[..]));
    assert_eq!(
        (archive.members[0].name.as_str(), archive.members[1].name.as_str()),
        ("g/x.b2nd", "embed.b2e")
    );
    assert_eq!(archive.findings, []);
}

#[test]
fn unreadable_archive_members_report_the_reason() {
    let outside = u32::try_from(zip(&[put("a.b2nd", b"data")]).len()).unwrap();
    let cases: [(Put<'_>, &str); 11] = [
        (Put { method: 8, ..put("a.b2nd", b"data") }, "zip_deflated"),
        (Put { flags: 1, ..put("a.b2nd", b"data") }, "zip_encrypted"),
        (Put { sizes: Some((4, 400)), ..put("a.b2nd", b"data") }, "zip_size"),
        (Put { sizes: Some((400, 400)), ..put("a.b2nd", b"data") }, "zip_local"),
        (Put { sizes: Some((u32::MAX - 1, u32::MAX - 1)), ..put("a.b2nd", b"data") }, "zip_local"),
        (Put { at: Some(outside), ..put("a.b2nd", b"data") }, "zip_local"),
        (Put { at: Some(3), ..put("a.b2nd", b"data") }, "zip_local"),
        (Put { local_name: "b.b2nd", ..put("a.b2nd", b"data") }, "zip_local"),
        (put("../a.b2nd", b"data"), "zip_name"),
        (put("/etc/a.b2nd", b"data"), "zip_name"),
        (put("C:\\a.b2nd", b"data"), "zip_name"),
    ];
    for (member, code) in cases {
        let archive = read(zip(std::slice::from_ref(&member))).unwrap();
        assert_eq!(codes(&archive), [code], "{}", member.name);
        assert!(archive.members[0].refused.is_some());
        // Another member next to it is not affected.
        let archive = read(zip(&[put("sound.b2nd", b"sound"), member])).unwrap();
        assert_eq!(archive.members[0].refused, None, "{code}");
    }
}

#[test]
fn members_that_share_bytes_are_refused() {
    let bytes = zip(&[put("a.b2nd", b"data"), Put { at: Some(0), ..put("a.b2nd", b"data") }, put("b", b"x")]);
    let archive = read(bytes).unwrap();
    assert_eq!(codes(&archive), ["zip_overlap", "zip_overlap", "zip_double"]);
    let refused: Vec<bool> = archive.members.iter().map(|member| member.refused.is_some()).collect();
    assert_eq!(refused, [true, true, false]);
}

#[test]
fn later_of_two_members_with_one_name_is_used() {
    let archive = read(zip(&[put("a.b2nd", b"old"), put("a.b2nd", b"new")])).unwrap();
    assert_eq!(codes(&archive), ["zip_double"]);
    assert!(archive.members[0].refused.is_some() && archive.members[1].refused.is_none());
}

#[test]
fn directory_entries_are_excluded_from_members() {
    let archive = read(zip(&[put("g/", b""), put("g/a.b2nd", b"data")])).unwrap();
    assert_eq!(archive.members.len(), 1);
    assert_eq!(archive.findings, []);
}

#[test]
fn a_file_without_its_end_is_malformed() {
    let whole = zip(&[put("a.b2nd", b"data")]);
    for len in [0, 4, whole.len() - 23, whole.len() - 1] {
        let error = read(whole[..len].to_vec()).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{len}: {error}");
    }
}

#[test]
fn false_entry_counts_are_detected_without_allocating() {
    let mut bytes = unhex(ZIP64);
    // The number of entries, twice, in the end record of zip64: 2^60.
    let at = bytes.windows(4).position(|four| four == b"PK\x06\x06").unwrap();
    bytes[at + 24 + 7] = 0x10;
    bytes[at + 32 + 7] = 0x10;
    assert!(matches!(read(bytes).err().unwrap().kind(), ErrorKind::Malformed(_)));

    let mut bytes = zip(&[put("a.b2nd", b"data")]);
    let at = bytes.len() - 22;
    bytes[at + 8..at + 12].fill(0xfe);
    let archive = read(bytes).unwrap();
    assert_eq!(archive.members.len(), 1);
    assert_eq!(codes(&archive), ["zip_count"]);
}

#[test]
fn no_byte_makes_it_panic_or_reach_outside() {
    let zips = [zip(&[put("g/a.b2nd", b"first"), put("embed.b2e", b"second")]), unhex(ZIP64)];
    for whole in zips {
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff, whole[at] ^ 1] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                let Ok(archive) = read(bytes) else { continue };
                for member in archive.members.iter().filter(|member| member.refused.is_none()) {
                    assert!(member.data.start <= member.data.end && member.data.end <= whole.len() as u64);
                }
            }
            let _ = read(whole[..at].to_vec());
        }
    }
}
