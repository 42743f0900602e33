//! Bloscpack files of any bytes: opening and repairing.

use bloscpack::{ChunkState, FORMAT, File, VarReader};
use container_core::Value;
use container_core::container::{Digests, OpenOptions, Tolerance};
use container_core::format::Input;
use container_core::report::RepairReport;

use crate::feed::Feed;
use crate::lens::{look_at_error, look_through};
use crate::options::{read_options, small_options};
use crate::repaired::{self, repaired};

/// Most bytes that all chunks of a file may say that they hold, for all of them to be decoded many times.
const MAX_CHUNK_BYTES: u64 = 1 << 17;

fn options(tolerance: Tolerance) -> OpenOptions {
    let mut options = small_options();
    options.tolerance = tolerance;
    options
}

/// Opens the bytes in every way and looks at all there is.
pub fn bloscpack_open(data: &[u8]) {
    let mut feed = Feed::derived(data);
    for tolerance in [Tolerance::Strict, Tolerance::Lenient] {
        let mut options = options(tolerance);
        if feed.flag() {
            options.axes = container_core::container::Axes::Reversed;
        }
        let file = match File::from_source(Box::new(data.to_vec()), &options) {
            Ok(file) => file,
            Err(error) => {
                look_at_error(&error);
                continue;
            }
        };
        native(&file, data, &mut feed);
        if claimed(&file) > MAX_CHUNK_BYTES {
            continue;
        }
        let opened = (FORMAT.open)(Input::bytes(Box::new(data.to_vec())), &options);
        look_through(&*opened.expect("it was opened before"), data.len() as u64, tolerance, &mut feed);
        items(file, &mut feed);
    }
}

fn claimed(file: &File) -> u64 {
    file.chunks().iter().map(|chunk| u64::from(chunk.nbytes())).sum()
}

/// The format's own interface.
fn native(file: &File, data: &[u8], feed: &mut Feed<'_>) {
    let layout = file.layout();
    assert_eq!(layout.file_len(), data.len() as u64);
    assert!(layout.faults().is_sorted_by_key(|fault| std::cmp::Reverse(fault.severity())));
    // The least that there is of one is its offset.
    assert!(file.chunks().len() <= data.len() / 8);
    for chunk in file.chunks() {
        assert!(chunk.range().start <= data.len() as u64, "{chunk:?}");
    }
    let Ok(len) = file.len() else { return };
    let mut ignoring = read_options();
    ignoring.digests = Digests::Ignore;
    for _ in 0..6 {
        let start = feed.word() % len.saturating_add(1);
        let end = start + (feed.below(1 << 10) as u64).min(len - start);
        let compared = file.read_range(start..end, &read_options());
        let ignored = file.read_range(start..end, &ignoring);
        match (&compared, &ignored) {
            (Ok(compared), Ok(ignored)) => assert!(compared == ignored),
            // Reading it again may look at all of a damaged chunk.
            (Ok(_), Err(error)) => {
                let mut chunks = 0..file.chunks().len() as u64;
                assert!(chunks.any(|index| file.read_chunk(index, &ignoring).is_err()), "only once: {error}");
            }
            (Err(error), _) => look_at_error(error),
        }
        if let Ok(compared) = compared {
            assert_eq!(compared.len() as u64, end - start);
        }
    }
    assert!(file.read_range(len..len.saturating_add(1), &read_options()).is_err());
    if claimed(file) > MAX_CHUNK_BYTES || len > MAX_CHUNK_BYTES {
        return;
    }
    // Parts of the whole are the whole.
    let Ok(whole) = file.read_range(0..len, &read_options()) else { return };
    let mut joined = Vec::new();
    // Of what holds nothing, nothing is read, and headers may announce less than chunks hold.
    if file.chunks().iter().any(|chunk| chunk.state() != ChunkState::Whole) {
        return;
    }
    let held = |index: &u64| file.chunks()[*index as usize].nbytes() > 0;
    for index in (0..file.chunks().len() as u64).filter(held) {
        joined.extend(file.read_chunk(index, &read_options()).expect("a chunk of what was read"));
    }
    assert!(joined == whole, "the chunks are not the whole");
    let start = feed.word() % (len + 1);
    let end = start + feed.word() % (len - start + 1);
    let part = file.read_range(start..end, &read_options()).expect("a part of what was read");
    assert!(part == whole[start as usize..end as usize], "{start}..{end}");
}

fn items(file: File, feed: &mut Feed<'_>) {
    let Ok(reader) = VarReader::new(file) else { return };
    for (index, item) in reader.iter().enumerate() {
        let index = index as u64;
        match item {
            Ok(item) => {
                assert_eq!(Some(item.len() as u64), reader.item_len(index));
                assert_eq!(reader.text(index).is_ok(), std::str::from_utf8(&item).is_ok());
            }
            Err(error) => look_at_error(&error),
        }
        if feed.below(8) == 0 {
            let _ = (reader.elements::<f64>(index), reader.elements::<u16>(index));
        }
    }
    assert!(reader.item(reader.len()).is_err());
}

/// Repairs the bytes, and holds the result against them.
pub fn bloscpack_repair(data: &[u8]) {
    for tolerance in [Tolerance::Strict, Tolerance::Lenient] {
        let options = options(tolerance);
        let Ok(file) = File::from_source(Box::new(data.to_vec()), &options) else {
            // A version that there is not is read as the one with which the file makes sense, a magic as the one that is near.
            if let Ok((mended, report)) = repaired(&FORMAT, data, &options) {
                assert!(is_mended_header(&report), "repaired what cannot be opened: {report:?}");
                assert!(is_sound(&mended));
            }
            continue;
        };
        if claimed(&file) > MAX_CHUNK_BYTES {
            continue;
        }
        let was_sound = is_sound(data);
        let (mended, report) = match repaired(&FORMAT, data, &options) {
            Ok(done) => done,
            Err(error) => {
                // A stream before its first chunk is sound, but holds nothing to bring back.
                assert!(!was_sound || file.chunks().is_empty(), "sound, but not repaired: {error}");
                continue;
            }
        };
        let fixed =
            File::from_source(Box::new(mended.clone()), &small_options()).expect("a repaired file opens");
        if claimed(&fixed) > MAX_CHUNK_BYTES {
            continue;
        }
        assert!(is_sound(&mended), "repaired, but {:?}", fixed.layout().faults());
        for item in report.kept.iter().chain(&report.guessed).chain(&report.lost) {
            let range = item.range.clone().expect("every item of a repair has a place");
            assert!(range.start <= range.end, "{item:?}");
        }
        assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{report:?}");
        for item in &report.kept {
            assert!(item.range.as_ref().is_some_and(|range| range.end <= data.len() as u64), "{item:?}");
        }
        let (again, second) = repaired(&FORMAT, &mended, &small_options()).expect("a sound file");
        assert!(again == mended, "repairing a repaired file changes it");
        assert!(second.guessed.is_empty() && second.lost.is_empty(), "{second:?}");
        keeps(&file, &fixed, &report, was_sound);
    }
}

/// Chunks were found that the file does not lead to, or its header was read as another.
fn is_more(report: &RepairReport) -> bool {
    let is_found = report.guessed.iter().any(|item| item.what.contains("found by header and content"));
    is_found || is_mended_header(report)
}

fn is_mended_header(report: &RepairReport) -> bool {
    let signs = ["as no other value fits the file", "the magic, which was"];
    report.guessed.iter().any(|item| signs.iter().any(|sign| item.what.contains(sign)))
}

/// Checks that the chunks that the repair did not lose are the same.
fn keeps(file: &File, fixed: &File, report: &RepairReport, was_sound: bool) {
    let all = |file: &File| -> Vec<Option<Vec<u8>>> {
        (0..file.chunks().len() as u64).map(|index| file.read_chunk(index, &read_options()).ok()).collect()
    };
    let (before, after) = (all(file), all(fixed));
    let dialects = [file, fixed].map(|file| file.header().dialect.is_variable_length());
    if dialects == [true, true] {
        for (index, (old, new)) in before.iter().zip(&after).enumerate() {
            // With the checksum that the header must have had, an item that was read without one may not fit its digest.
            let told = format!("item {index} is damaged");
            let is_lost =
                is_mended_header(report) && report.lost.iter().any(|item| item.what.starts_with(&told));
            assert!(old.is_none() || old == new || is_lost, "item {index} changed");
        }
    } else if report.lost.is_empty() && !is_more(report) && before.iter().all(Option::is_some) {
        let join = |parts: Vec<Option<Vec<u8>>>| parts.into_iter().flatten().collect::<Vec<_>>().concat();
        assert!(join(before) == join(after), "the bytes changed");
    }
    if was_sound {
        // What stands behind a header that says that there is no chunk may have been chunks, though the file is sound without.
        assert!(report.lost.is_empty() || file.chunks().is_empty(), "{report:?}");
        // JSON has no bytes: those of a Python literal come as text, and are told; as text they may describe an array.
        let is_spelt = report.guessed.iter().any(|item| item.what.starts_with("metadata: bytes, which JSON"));
        let metadata = |file: &File| file.metadata().map(as_text);
        assert_eq!(is_spelt, file.metadata().is_some_and(has_bytes), "{report:?}");
        let is_unclaimed = report.guessed.iter().any(|item| item.what.contains("without the claim"));
        if !is_unclaimed {
            // As text: NaN is not itself.
            assert_eq!(format!("{:?}", metadata(file)), format!("{:?}", metadata(fixed)));
        }
        assert!(file.numpy() == fixed.numpy() || is_spelt && file.numpy().is_none(), "{report:?}");
    }
}

fn has_bytes(value: &Value) -> bool {
    match value {
        Value::Bytes(_) => true,
        Value::List(items) => items.iter().any(has_bytes),
        Value::Map(entries) => entries.iter().any(|(_, item)| has_bytes(item)),
        _ => false,
    }
}

/// With each byte as the code point of that number.
fn as_text(value: &Value) -> Value {
    match value {
        Value::Bytes(bytes) => Value::Text(bytes.iter().copied().map(char::from).collect()),
        Value::List(items) => Value::List(items.iter().map(as_text).collect()),
        Value::Map(entries) => {
            Value::Map(entries.iter().map(|(key, item)| (key.clone(), as_text(item))).collect())
        }
        other => other.clone(),
    }
}

/// Nothing is wrong with the bytes.
pub(crate) fn is_sound(data: &[u8]) -> bool {
    repaired::is_sound(&FORMAT, data, &small_options())
}
