//! GSD files of any bytes: opening by every policy, and looking at all there is.

use container_core::Progress;
use container_core::container::{CheckDepth, Defaults, Tolerance, all_datasets};
use container_core::format::Input;
use container_core::report::Severity;
use gsd::{FORMAT, File, IndexEntry, OpenOptions, Strictness};

use crate::feed::Feed;
use crate::lens::{look_at_error, look_through};
use crate::options::{read_options, small_options};

/// Most bytes that all datasets of a file may hold, for all of them to be read many times.
pub(crate) const MAX_DATASET_BYTES: u64 = 1 << 17;

pub(crate) const POLICIES: [Strictness; 3] =
    [Strictness::Compatible, Strictness::Strict, Strictness::Lenient];

pub(crate) fn own_options(strictness: Strictness) -> OpenOptions {
    let mut options = OpenOptions::default().with_strictness(strictness);
    options.limits = small_options().limits;
    options
}

pub(crate) fn open(data: &[u8], strictness: Strictness) -> gsd::Result<File> {
    File::from_source(Box::new(data.to_vec()), &own_options(strictness))
}

/// Opens the bytes in every way and looks at all there is.
pub fn gsd_open(data: &[u8]) {
    let mut feed = Feed::derived(data);
    let files = POLICIES.map(|policy| open(data, policy));
    for file in &files {
        match file {
            Ok(file) => native(file, data, &mut feed),
            Err(error) => look_at_error(error),
        }
    }
    if let [compatible, Ok(strict), lenient] = &files {
        for other in [compatible, lenient] {
            same(strict, other.as_ref().expect("strict opens no more than the others"));
        }
        assert!(strict.layout().faults().iter().all(|fault| fault.severity() < Severity::Error));
    }
    through(data, files[1].is_ok(), &mut feed);
}

/// The lens, and that it calls sound what the strict policy opens, as far as entries go.
fn through(data: &[u8], strict: bool, feed: &mut Feed<'_>) {
    for defaults in [Defaults::Apply, Defaults::StoredOnly] {
        let mut options = small_options();
        options.defaults = defaults;
        let lens = match (FORMAT.open)(Input::bytes(Box::new(data.to_vec())), &options) {
            Ok(lens) => lens,
            Err(error) => {
                assert!(!strict, "strict opens it, the lens does not: {error}");
                look_at_error(&error);
                continue;
            }
        };
        let report = lens.check(CheckDepth::Quick, &read_options(), Progress::none()).expect("a quick check");
        let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
        // Entries that may be missing are no fault of those that are there.
        let beyond = ["chunks_overlap", "chunk_in_block", "entries_missing"];
        if strict {
            let wrong = errors.clone().find(|error| !beyond.contains(&error.code));
            assert!(wrong.is_none(), "strict opens it: {wrong:?}");
        } else {
            let told = errors.count() > 0 || report.findings.iter().any(|one| one.code == "entry_duplicate");
            assert!(told, "strict does not open it: {report:?}");
        }
        for (index, dataset) in all_datasets(&*lens) {
            assert_eq!(
                lens.find(&dataset.path)
                    .and_then(|found| lens.dataset(found))
                    .map(|found| found.path.clone()),
                Some(dataset.path.clone()),
                "{index}"
            );
        }
        let held = all_datasets(&*lens).map(|(_, dataset)| dataset.logical).fold(0, u64::saturating_add);
        if held <= MAX_DATASET_BYTES {
            look_through(&*lens, data.len() as u64, Tolerance::Lenient, feed);
        }
    }
}

/// Two ways to open a sound file give the same file.
fn same(one: &File, other: &File) {
    assert_eq!((one.header(), one.nframes()), (other.header(), other.nframes()));
    assert!(one.index().iter().eq(other.index().iter()));
    assert!(one.names().iter().eq(other.names().iter()));
    for entry in one.index().iter() {
        assert_eq!(
            one.read_chunk(&entry).expect("a sound file"),
            other.read_chunk(&entry).expect("the same")
        );
    }
}

/// The format's own interface.
fn native(file: &File, data: &[u8], feed: &mut Feed<'_>) {
    assert_eq!(file.layout().file_len(), data.len() as u64);
    let index = file.index();
    assert_eq!(index.len() as u64, file.layout().entries());
    assert!(index.len() <= data.len() / 32);
    for (at, entry) in index.iter().enumerate() {
        let whole = chunk(file, &entry, feed);
        let policy = file.options().strictness;
        if policy == Strictness::Strict {
            assert!(whole, "strict opened a file with an unreadable chunk: {entry:?}");
        }
        if policy != Strictness::Compatible {
            assert!(entry.frame < file.nframes());
            let range = file.frame_entries(entry.frame);
            assert!(range.contains(&at), "{at} not in {range:?}");
            let found = file.find_id(entry.frame, entry.id).expect("it is listed");
            assert_eq!((found.frame, found.id), (entry.frame, entry.id));
        }
    }
    for _ in 0..8 {
        let (frame, id) = (feed.word(), feed.below(9) as u16);
        let frame = if feed.flag() { frame % file.nframes().saturating_add(2) } else { frame };
        let found = file.find_id(frame, id);
        assert!(found.is_none_or(|entry| (entry.frame, entry.id) == (frame, id)));
        assert!(file.frame_entries(frame).end <= index.len());
        let Some(name) = file.names().get(id) else { continue };
        let first = file.names().id(&name);
        let by_name = file.find_chunk(frame, &name);
        assert_eq!(by_name, first.and_then(|id| file.find_id(frame, id)));
        let prefix: String = name.chars().take(feed.below(4)).collect();
        let mut previous: Option<String> = None;
        for _ in 0..20 {
            let Some(next) = file.find_matching_chunk_name(&prefix, previous.as_deref()) else { break };
            previous = Some(next.into_owned());
        }
    }
}

/// Reads a chunk in every way; whether that can be done.
fn chunk(file: &File, entry: &IndexEntry, feed: &mut Feed<'_>) -> bool {
    let whole = match file.read_chunk(entry) {
        Ok(whole) => whole,
        Err(error) => {
            look_at_error(&error);
            assert!(file.read_array(entry).is_err() && file.stored_array(entry).is_err());
            return false;
        }
    };
    assert_eq!(Some(whole.len() as u64), entry.size());
    let start = feed.word() % entry.n.saturating_add(1);
    let end = start + feed.word() % (entry.n - start).saturating_add(1);
    let rows = file.read_rows(entry, start..end).expect("rows of what can be read");
    if let Some(row) = (whole.len() as u64).checked_div(entry.n) {
        assert!(*rows == whole[(start * row) as usize..(end * row) as usize]);
    }
    assert!(file.read_rows(entry, entry.n..entry.n.saturating_add(1)).is_err() || entry.n == u64::MAX);
    let array = file.read_array(entry).expect("it can be read");
    assert_eq!(array.shape(), entry.shape());
    let doubles = file.read_elements::<f64>(entry);
    assert_eq!(doubles.is_ok(), entry.type_code == 10, "{doubles:?}");
    if let Ok(bytes) = file.read_elements::<u8>(entry) {
        assert!(*bytes == *whole);
    }
    true
}
