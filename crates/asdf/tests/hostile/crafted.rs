//! Files made byte by byte, and the results of all readers.

use std::time::{Duration, Instant};

use asdf::container_core::Progress;
use asdf::container_core::container::{self, CheckDepth, ReadOptions, StaleChecksums, Tolerance};
use asdf::container_core::dtype::Order;
use asdf::container_core::format::Input;
use asdf::container_core::report::Severity;
use asdf::container_core::{Error, ErrorKind, Limits, Result};
use asdf::{BlockHeader, FORMAT, File, OpenOptions, Strictness};

/// Limit of the memory that a file may ask for, in bytes.
pub const MEMORY: u64 = 4 << 20;

/// Maximum time that a file may take, on a busy machine and without optimisation.
pub const LONGEST: Duration = Duration::from_secs(20);

/// The time that this thread has worked, if the system reports it, because the machine may be busy with others.
pub struct Clock(Instant, Option<Duration>);

impl Clock {
    pub fn start() -> Self {
        Self(Instant::now(), worked())
    }

    pub fn elapsed(&self) -> Duration {
        let elapsed = self.1.zip(worked()).map_or_else(|| self.0.elapsed(), |(before, now)| now - before);
        // An emulator takes a multiple.
        if std::env::var_os("HOLDALL_RUNNER").is_some() { elapsed / 10 } else { elapsed }
    }
}

fn worked() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Places spread evenly over `0..len`: about `usual` of them, or all where there are no more. `HOLDALL_CASES` multiplies `usual`.
pub fn places(len: usize, usual: usize) -> impl Iterator<Item = usize> {
    let more =
        std::env::var("HOLDALL_CASES").map_or(1, |text| text.parse().expect("HOLDALL_CASES is a number"));
    // An odd step falls on other bytes of each field.
    (0..len).step_by(len.div_ceil(usual * more) | 1)
}

pub const HEAD: &str = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n";

pub const ALL: [Strictness; 3] = [Strictness::Compatible, Strictness::Strict, Strictness::Lenient];

/// A tree of these lines, with the handle `!` for tags of the standard.
pub fn tree(lines: &str) -> String {
    format!("{HEAD}%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n{lines}\n...\n")
}

pub fn header(label: &[u8], allocated: u64, used: u64, data: u64) -> BlockHeader {
    let mut compression = [0; 4];
    compression[..label.len()].copy_from_slice(label);
    BlockHeader {
        header_size: 48,
        flags: 0,
        compression,
        allocated_size: allocated,
        used_size: used,
        data_size: data,
        checksum: [0; 16],
    }
}

/// A block that stores `stored` under a label, for `data` decoded bytes.
pub fn block(label: &[u8], stored: &[u8], data: u64) -> Vec<u8> {
    let len = stored.len() as u64;
    [&header(label, len, len, data).to_bytes()[..], stored].concat()
}

pub fn plain(data: &[u8]) -> Vec<u8> {
    block(b"", data, data.len() as u64)
}

pub fn index(offsets: &[u64]) -> Vec<u8> {
    let lines: String = offsets.iter().map(|offset| format!("- {offset}\n")).collect();
    format!("#ASDF BLOCK INDEX\n%YAML 1.1\n---\n{lines}...\n").into_bytes()
}

/// A file of a tree and blocks, with its index.
pub fn file(lines: &str, blocks: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = tree(lines).into_bytes();
    let mut offsets = Vec::new();
    for block in blocks {
        offsets.push(bytes.len() as u64);
        bytes.extend_from_slice(block);
    }
    if !offsets.is_empty() {
        bytes.extend(index(&offsets));
    }
    bytes
}

/// A file of one array, which the rest of its mapping describes, in a plain block of these bytes.
pub fn array(rest: &str, data: &[u8]) -> Vec<u8> {
    file(&format!("a: !core/ndarray-1.1.0 {{{rest}}}"), &[plain(data)])
}

pub fn options(strictness: Strictness) -> OpenOptions {
    OpenOptions::default().with_strictness(strictness).with_limits(Limits::default().with_memory(MEMORY))
}

pub fn open(bytes: &[u8], strictness: Strictness) -> Result<File> {
    File::from_bytes(bytes.to_vec(), options(strictness))
}

/// Results of opening, checking and reading a file.
#[derive(Debug, PartialEq)]
pub struct Said {
    /// Whether the policies open it: compatible, strict, lenient.
    pub opens: [bool; 3],
    /// The codes of a full check, without notes.
    pub codes: Vec<&'static str>,
    /// Whether every array and block is read by those that open it.
    pub reads: [bool; 3],
}

/// Opens by every policy, reads all there is, checks, repairs; none of it panics or takes long, and a repaired file opens.
pub fn said(bytes: &[u8]) -> Said {
    let began = Clock::start();
    let mut reads = [false; 3];
    let mut opens = [false; 3];
    for (at, strictness) in ALL.into_iter().enumerate() {
        match open(bytes, strictness) {
            Ok(file) => (opens[at], reads[at]) = (true, read_all(&file)),
            Err(error) => expected(&error),
        }
    }
    let codes = codes(bytes);
    repaired(bytes);
    assert!(began.elapsed() < LONGEST, "{:?}", began.elapsed());
    Said { opens, codes, reads }
}

/// Short for a table: the policies that open it, those that read all, and the findings.
pub fn short(bytes: &[u8]) -> (String, Vec<&'static str>) {
    let said = said(bytes);
    let word = |(opens, reads)| match (opens, reads) {
        (false, _) => '-',
        (true, false) => 'o',
        (true, true) => 'R',
    };
    (said.opens.into_iter().zip(said.reads).map(word).collect(), said.codes)
}

fn codes(bytes: &[u8]) -> Vec<&'static str> {
    let mut options = container::OpenOptions::default();
    options.limits = Limits::default().with_memory(MEMORY);
    let read = ReadOptions::default().with_limits(options.limits);
    let mut all = Vec::new();
    for tolerance in [Tolerance::Lenient, Tolerance::Strict] {
        options.tolerance = tolerance;
        let lens = match (FORMAT.open)(Input::bytes(Box::new(bytes.to_vec())), &options) {
            Ok(lens) => lens,
            Err(error) => {
                expected(&error);
                all = vec!["not opened"];
                continue;
            }
        };
        let mut end = 0;
        for segment in lens.byte_map() {
            assert_eq!(segment.range.start, end, "{}", segment.role);
            end = segment.range.end;
        }
        assert_eq!(end, bytes.len() as u64);
        if let Err(error) = lens.meta() {
            expected(&error);
        }
        let report = match lens.check(CheckDepth::Full, &read, Progress::none()) {
            Ok(report) => report,
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
                all = vec!["limit"];
                continue;
            }
        };
        let told = report.findings.iter().filter(|finding| finding.severity != Severity::Note);
        all = told.map(|finding| finding.code).collect();
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The file as a repair leaves it, if it does.
pub fn repaired(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut options = container::OpenOptions::default();
    options.limits = Limits::default().with_memory(MEMORY);
    options.stale_checksums = StaleChecksums::Keep;
    let repair = FORMAT.repair.unwrap();
    let mut out = Vec::new();
    match repair(Input::bytes(Box::new(bytes.to_vec())), &options, Some(&mut out), Progress::none()) {
        Ok(_) => {
            let file = open(&out, Strictness::Compatible);
            if let Err(error) = file {
                // A file beyond the limits stays so.
                assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "repaired, and not opened: {error}");
            }
            Some(out)
        }
        Err(error) => {
            expected(&error);
            None
        }
    }
}

/// Whether all of it can be read.
pub fn read_all(file: &File) -> bool {
    let limits = Limits::default().with_memory(MEMORY);
    let options = ReadOptions::default().with_limits(limits);
    // An invalid node with the tag of an array is not an entry.
    let mut all = !file.faults().any(|fault| fault.code() == "array");
    let mut look = |error: Option<Error>| {
        if let Some(error) = error {
            expected(&error);
            all = false;
        }
    };
    for (index, entry) in file.arrays().iter().enumerate().take(200) {
        let whole = match file.whole(index) {
            Ok(whole) => whole,
            Err(error) => {
                look(Some(error));
                continue;
            }
        };
        let read = file.read_index(index, &whole, &options);
        look(read.and_then(|array| array.bytes(Order::C, &limits).map(|_| ())).err());
        look(file.mask(&entry.path, &whole, &options).err());
        look(file.value(&entry.path).err());
    }
    for index in 0..file.blocks().len().min(200) {
        look(file.read_block(index, &options).err());
    }
    look(file.library().err());
    look(file.history().err());
    for reference in file.find_references().unwrap_or_default().iter().take(200) {
        let _ = file.find_reference(&reference.uri);
    }
    let _ = file.array_faults();
    all
}

/// Kinds that bytes can be the cause of.
pub fn expected(error: &Error) {
    use ErrorKind::{Checksum, Limit, Malformed, Truncated, Unsupported, WrongFormat};
    let kind = error.kind();
    assert!(
        matches!(
            kind,
            WrongFormat { .. }
                | Truncated { .. }
                | Malformed(_)
                | Unsupported(_)
                | Limit { .. }
                | Checksum { .. }
        ),
        "{error:?}"
    );
    assert!(!error.to_string().is_empty());
}
