//! Blocks of any bytes by every label, geometries of any numbers, journals of any places.

use asdf::compression::{EncodeOptions, WRITABLE, codecs, encode, read_range};
use asdf::container_core::write::journal::JournalStore;
use asdf::container_core::write::storage::Storage;
use asdf::update::{UpdateOptions, Updater};
use asdf::yaml::Yaml;
use asdf::{BlockHeader, Layout, StoredBlock, Strictness};
use container_codecs::checksum::Algorithm;
use container_core::Result;
use crash_test::RecordingStorage;

use crate::asdf_file::{native, open};
use crate::feed::Feed;
use crate::lens::look_at_error;
use crate::options::small_options;

const LABELS: [&[u8; 4]; 9] =
    [b"zlib", b"bzp2", b"lz4\0", b"lz4f", b"blsc", b"bls2", b"zstd", b"xz\0\0", b"\0\0\0\0"];

/// A header without a checksum.
fn header(label: [u8; 4], used: u64, decoded: u64) -> BlockHeader {
    BlockHeader {
        header_size: 48,
        flags: 0,
        compression: label,
        allocated_size: used,
        used_size: used,
        data_size: decoded,
        checksum: [0; 16],
    }
}

/// Decodes a payload: a label, eight bytes of the decoded size, the payload.
pub fn asdf_decode(data: &[u8]) {
    let mut feed = Feed::new(data);
    let label = *LABELS[feed.below(LABELS.len())];
    let len = feed.word();
    let payload = feed.rest().to_vec();
    let used = payload.len() as u64;
    let limits = small_options().limits;
    let block =
        |len| StoredBlock { index: 0, at: 0, header: header(label, used, len), data: 0..used, end: used };
    let decode = |len: u64, threads, range: std::ops::Range<u64>| -> Result<Vec<u8>> {
        limits.allocate(range.end - range.start)?;
        let mut bytes = vec![0; (range.end - range.start) as usize];
        read_range(&payload, &block(len), &codecs(), &limits, threads, range, &mut bytes)?;
        Ok(bytes)
    };
    let whole = match decode(len, 1, 0..len) {
        Ok(whole) => whole,
        Err(error) => return look_at_error(&error),
    };
    assert!(decode(len, 3, 0..len).expect("on more threads") == whole);
    let mut choice = Feed::derived(data);
    for _ in 0..3 {
        let start = choice.word() % (len + 1);
        let end = start + choice.word() % (len - start + 1);
        let part = decode(len, 2, start..end).expect("a part of what can be decoded");
        assert!(part == whole[start as usize..end as usize]);
    }
    if label == [0; 4] {
        // What a plain block stores and what it says are compared by the layout; here are the bytes that there are.
        return assert_eq!(decode(len + 1, 1, 0..len + 1).is_ok(), len < used);
    }
    assert!(decode(len + 1, 1, 0..len + 1).is_err(), "one byte more is decoded");
    assert!(len == 0 || decode(len - 1, 1, 0..len - 1).is_err(), "one byte is left out");
}

/// Payloads of every label, each decoded to a few hundred bytes.
pub(crate) fn payloads() -> Vec<Vec<u8>> {
    let plain: Vec<u8> = (0..600_u32).map(|at| (at * at / 7 % 40) as u8).collect();
    let mut all = Vec::new();
    for label in WRITABLE {
        let mut stored = Vec::new();
        encode(label, &plain, &EncodeOptions::default(), &mut stored).expect("a label that is written");
        let at = LABELS.iter().position(|one| one.starts_with(label.as_bytes())).unwrap_or(8);
        all.push([&[at as u8][..], &(plain.len() as u64).to_le_bytes(), &stored].concat());
    }
    all.push([&[8][..], &5_u64.to_le_bytes(), b"plain"].concat());
    // Those of the fixtures, which others have encoded in ways that this library reads alone.
    for file in crate::asdf_seeds::fixtures() {
        let Ok(layout) = Layout::parse(&file, &small_options().limits) else { continue };
        for block in layout.blocks.iter().filter(|block| block.header.is_compressed() && block.is_whole()) {
            let Some(at) = LABELS.iter().position(|label| **label == block.header.compression) else {
                continue;
            };
            let stored = &file[block.data.start as usize..block.data.end as usize];
            if stored.len() < 2000 {
                all.push([&[at as u8][..], &block.header.data_size.to_le_bytes(), stored].concat());
            }
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Arrays of chosen numbers in a block of chosen size.
pub fn asdf_ndarray(data: &[u8]) {
    const NUMBERS: &[&str] = &[
        "0",
        "1",
        "2",
        "3",
        "4",
        "8",
        "-1",
        "-2",
        "-8",
        "16",
        "255",
        "65536",
        "4294967296",
        "4611686018427387904",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "'*'",
        "null",
        "1.5",
    ];
    const TYPES: &[&str] = &[
        "int8",
        "uint16",
        "float64",
        "complex128",
        "[ascii, 3]",
        "[ucs4, 2]",
        "bool8",
        "[int8, {name: a, datatype: int16, shape: [2]}]",
        "[ascii, 0]",
        "[ascii, 18446744073709551615]",
        "[[int8, int16], float32]",
    ];
    let mut feed = Feed::new(data);
    // Most numbers are small: a geometry that means something has to be met now and then.
    let number = |feed: &mut Feed<'_>| {
        let few = if feed.byte() < 224 { 10 } else { NUMBERS.len() };
        NUMBERS[feed.below(few)]
    };
    let axes = feed.below(5);
    let list = |feed: &mut Feed<'_>, len: usize, star: bool| {
        let mut items: Vec<&str> = (0..len).map(|_| number(feed)).collect();
        if star && let Some(first) = items.first_mut() {
            *first = "'*'";
        }
        format!("[{}]", items.join(", "))
    };
    let star = feed.below(4) == 0;
    let mut node = format!("source: {}, shape: {}", ["0", "-1"][feed.below(2)], list(&mut feed, axes, star));
    node += &format!(", datatype: {}, byteorder: {}", feed.one_of(TYPES), feed.one_of(&["little", "big"]));
    if feed.flag() {
        node += &format!(", strides: {}", list(&mut feed, axes, false));
    }
    if feed.flag() {
        node += &format!(", offset: {}", list(&mut feed, 1, false).trim_matches(['[', ']']));
    }
    if feed.flag() {
        node += &format!(", mask: {}", list(&mut feed, 1, false).trim_matches(['[', ']']));
    }
    let len = feed.below(300);
    let streamed = feed.below(4) == 0;
    let block = feed.fill(len);
    let tree = format!(
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\na: !core/ndarray-1.1.0 {{{node}}}\n...\n"
    );
    let mut head = header([0; 4], len as u64, len as u64);
    if streamed {
        head.flags = 1;
    }
    let file = [tree.as_bytes(), &head.to_bytes(), &block].concat();
    for strictness in [Strictness::Strict, Strictness::Compatible, Strictness::Lenient] {
        match open(&file, strictness) {
            Ok(file) => native(&file, &mut Feed::derived(data)),
            Err(error) => look_at_error(&error),
        }
    }
}

/// A file with a journal: two bytes of the length of the journal, the journal without its length and sum, the file.
pub fn asdf_journal(data: &[u8]) {
    let Some((len, rest)) = data.split_first_chunk::<2>() else { return };
    let (journal, file) = rest.split_at((u16::from_le_bytes(*len) as usize).min(rest.len()));
    let (magic, journal) = journal.split_at(journal.len().min(8));
    let mut journal =
        [magic, &(magic.len() as u64 + journal.len() as u64 + 12).to_le_bytes(), journal].concat();
    let sum = Algorithm::Crc32.digest(&journal);
    journal.extend(sum.as_bytes().iter().rev());
    // Also for the journal of the change below.
    let room = journal.len() + 4 * file.len() + (8 << 10);
    let mut storage = RecordingStorage::with_journal_room(file, room as u64);
    storage.put(&journal).expect("room for the journal");
    let mut options = UpdateOptions::default();
    options.limits = small_options().limits;
    let updater =
        Updater::open_storage(Box::new(storage.clone()), Box::new(storage.clone()), options.clone());
    let image = storage.file();
    assert!(
        image.len() <= file.len().max(image.len().min(file.len() + data.len())),
        "the file grew out of nothing"
    );
    match updater {
        Err(error) => look_at_error(&error),
        Ok(mut updater) => {
            let left = storage.journal();
            let is_ignored = image == file && left.as_ref() == Some(&journal);
            assert!(left.is_none() || is_ignored, "a journal is neither finished nor ignored");
            storage.remove().expect("memory that can be written");
            if updater.set("fuzzed", &Yaml::int(5)).is_err() {
                return;
            }
            match updater.commit() {
                Err(error) => {
                    look_at_error(&error);
                    assert!(storage.file() == image, "a refused change is made: {error:?}");
                }
                Ok(_) => {
                    drop(updater);
                    let layout =
                        Layout::parse(&storage.file(), &small_options().limits).expect("a changed file");
                    assert!(storage.len().is_ok_and(|len| len == layout.size));
                    let file = open(&storage.file(), Strictness::Compatible).expect("a changed file");
                    assert_eq!(file.tree().find("fuzzed").map(|node| node.text()), Some("5"));
                }
            }
        }
    }
}

/// Files with journals that are about them, or nearly.
pub(crate) fn journals() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for file in crate::asdf_seeds::small_files() {
        let len = file.len() as u64;
        let end = &file[file.len() - 4..];
        // Bytes that change, come and go: of a file before the change, within it and after it.
        for (old_len, new_len, last) in [
            (len, len, (len - 4, end, &b"abcd"[..])),
            (len, len, (len - 4, b"abcd", end)),
            (len, len - 4, (len - 4, end, b"")),
            (len - 4, len, (len - 4, b"", end)),
            (len + 9, len, (len - 4, b"abcdefghijklm", end)),
        ] {
            let mut journal = b"asdfjrn2".to_vec();
            for number in [old_len, new_len, 2] {
                journal.extend_from_slice(&u64::to_le_bytes(number));
            }
            for (at, old, new) in [(40, &file[40..44], &file[40..44]), last] {
                for number in [at, old.len() as u64, new.len() as u64] {
                    journal.extend_from_slice(&u64::to_le_bytes(number));
                }
                journal.extend_from_slice(&[old, new].concat());
            }
            let len = (journal.len() as u16).to_le_bytes();
            all.push([&len[..], &journal, &file].concat());
        }
    }
    all
}
