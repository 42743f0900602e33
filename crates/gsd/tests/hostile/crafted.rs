//! Files made byte by byte, and the results of everything that reads them.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use container_core::Progress;
use container_core::container::{self, CheckDepth, ReadOptions};
use container_core::dtype::ByteOrder;
use container_core::format::Input;
use container_core::source::{Source, check_range};
use gsd::repair::{RepairOptions, repair_source};
use gsd::{ErrorKind, FORMAT, File, Header, IndexEntry, Limits, OpenOptions, Strictness, Version};

/// Memory limit of reading a file, in bytes.
pub const MEMORY: u64 = 4 << 20;

/// A chunk: frame, id, type, N, M, bytes.
pub type Chunk<'a> = (u64, u16, u8, u64, u32, &'a [u8]);

pub fn text(text: &[u8]) -> [u8; 64] {
    let mut field = [0; 64];
    field[..text.len()].copy_from_slice(text);
    field
}

/// Returns the offset of the entry at `at`.
pub fn slot(at: usize) -> usize {
    256 + 32 * at
}

/// A file of one schema with room for `slots` entries, names as given, and the entries in the order given.
pub fn file(version: Version, schema: &[u8], slots: usize, names: &[u8], chunks: &[Chunk<'_>]) -> Vec<u8> {
    let units = names.len().div_ceil(64) + 1;
    let header = Header {
        byte_order: ByteOrder::Little,
        index_location: 256,
        index_allocated_entries: slots as u64,
        namelist_location: slot(slots) as u64,
        namelist_allocated_entries: units as u64,
        schema_version: Version::new(1, 4),
        gsd_version: version,
        application: text(b"by hand"),
        schema: text(schema),
        reserved: [0; 80],
    };
    let mut file = header.to_bytes().to_vec();
    file.resize(slot(slots), 0);
    file.extend_from_slice(names);
    file.resize(slot(slots) + 64 * units, 0);
    for (at, (frame, id, type_code, n, m, bytes)) in chunks.iter().enumerate() {
        let location = i64::try_from(file.len()).unwrap();
        let entry =
            IndexEntry { frame: *frame, n: *n, location, m: *m, id: *id, type_code: *type_code, flags: 0 };
        put(&mut file, at, &entry);
        file.extend_from_slice(bytes);
    }
    file
}

pub fn put(file: &mut [u8], at: usize, entry: &IndexEntry) {
    file[slot(at)..slot(at + 1)].copy_from_slice(&entry.to_bytes(ByteOrder::Little));
}

pub fn entry(file: &[u8], at: usize) -> IndexEntry {
    IndexEntry::from_bytes(file[slot(at)..].first_chunk().unwrap(), ByteOrder::Little)
}

pub fn change(mut file: Vec<u8>, at: usize, change: impl FnOnce(&mut IndexEntry)) -> Vec<u8> {
    let mut entry = entry(&file, at);
    change(&mut entry);
    put(&mut file, at, &entry);
    file
}

/// `file` with `value` in the word of the header at `at`.
pub fn word(mut file: Vec<u8>, at: usize, value: u64) -> Vec<u8> {
    file[at..at + 8].copy_from_slice(&value.to_le_bytes());
    file
}

pub fn open(bytes: &[u8], strictness: Strictness) -> gsd::Result<File> {
    let mut options = OpenOptions::default().with_strictness(strictness);
    options.limits = Limits::default().with_memory(MEMORY);
    File::from_source(Box::new(bytes.to_vec()), &options)
}

/// Returns the results of the three policies (compatible, strict, lenient: true where they open), and the codes of a full check. It also checks that
/// each file that opens can be read or gives an error, that repair makes a strict file or gives an error, and that none of these takes long.
pub fn said(bytes: &[u8]) -> ([bool; 3], Vec<&'static str>) {
    let began = Instant::now();
    let opens =
        [Strictness::Compatible, Strictness::Strict, Strictness::Lenient].map(|strictness| {
            match open(bytes, strictness) {
                Ok(file) => {
                    read_all(&file);
                    true
                }
                Err(error) => {
                    expected(error.kind());
                    false
                }
            }
        });
    let limits = Limits::default().with_memory(MEMORY);
    let mut options = container::OpenOptions::default();
    options.limits = limits;
    let lens = (FORMAT.open)(Input::bytes(Box::new(bytes.to_vec())), &options);
    let mut codes = match lens {
        Ok(lens) => {
            let mut read = ReadOptions::default();
            read.limits = limits;
            let report = lens.check(CheckDepth::Full, &read, Progress::none()).unwrap();
            report.findings.iter().map(|finding| finding.code).collect()
        }
        Err(error) => {
            expected(error.kind());
            vec!["not opened"]
        }
    };
    codes.sort_unstable();
    codes.dedup();
    let mut options = RepairOptions::default();
    options.limits = limits;
    let mut repaired = Vec::new();
    match repair_source(&bytes, &options, Some(&mut repaired), Progress::none()) {
        Ok(_) => assert!(open(&repaired, Strictness::Strict).is_ok(), "repaired, and not strict"),
        Err(error) => expected(error.kind()),
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    (opens, codes)
}

fn read_all(file: &File) {
    for frame in 0..file.nframes().min(100) {
        for (name, chunk) in file.frame_chunks(frame) {
            let found = file.find_chunk(frame, &name);
            for chunk in found.iter().chain([&chunk]) {
                if let Err(error) = file.read_chunk(chunk) {
                    expected(error.kind());
                }
            }
        }
    }
}

/// Kinds that bytes can be the cause of.
fn expected(kind: &ErrorKind) {
    use ErrorKind::{Limit, Malformed, Truncated, Unsupported, WrongFormat};
    assert!(
        matches!(kind, WrongFormat { .. } | Truncated { .. } | Malformed(_) | Unsupported(_) | Limit { .. }),
        "{kind:?}"
    );
}

/// Bytes that are never lent, and how many were read.
pub struct Counted(pub Vec<u8>, pub std::sync::Arc<std::sync::atomic::AtomicU64>);

impl Source for Counted {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> gsd::Result<()> {
        check_range(&(at..at + dst.len() as u64), Source::len(self))?;
        self.1.fetch_add(dst.len() as u64, std::sync::atomic::Ordering::Relaxed);
        self.0.read_into(at, dst)
    }

    fn read(&self, range: std::ops::Range<u64>) -> gsd::Result<Cow<'_, [u8]>> {
        check_range(&range, Source::len(self))?;
        let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap()];
        self.read_into(range.start, &mut bytes)?;
        Ok(bytes.into())
    }
}
