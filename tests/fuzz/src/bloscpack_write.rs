//! Bloscpack files that are written, added to, and read again.

use std::fs;
use std::io::Cursor;

use blosc_chunk::Compressor;
use bloscpack::{
    AppendOptions, ChecksumCode, ChunkOptions, File, InPlace, ItemType, Offsets, Shuffle, VarOptions,
    VarReader, VarWriter, WriteOptions, Writer, append_bytes, append_items, replace,
};
use container_core::dtype::DType;
use container_core::write::Durability;
use container_core::{ErrorKind, Value};
use tempfile::NamedTempFile;

use crate::bloscpack_file::is_sound;
use crate::feed::Feed;
use crate::options::{read_options, small_options};

/// Writes files in any codec, with any digest, at once or in pieces, and reads them back; rarely also after something was added, which takes files.
pub fn bloscpack_roundtrip(data: &[u8]) {
    let mut feed = Feed::new(data);
    if feed.flag() { fixed(&mut feed) } else { variable(&mut feed) }
}

fn chunk_options(feed: &mut Feed<'_>) -> ChunkOptions {
    let codecs =
        [Compressor::BLOSCLZ, Compressor::LZ4, Compressor::LZ4HC, Compressor::ZLIB, Compressor::ZSTD];
    let shuffle = feed.one_of(&[Shuffle::Bytes, Shuffle::None, Shuffle::Bits]);
    ChunkOptions::default()
        .with_codec(feed.one_of(&codecs), feed.byte() % 8)
        .with_shuffle(shuffle)
        .with_typesize(feed.one_of(&[1, 2, 4, 7, 8, 16, 24, 255, 300]))
        .with_checksum(ChecksumCode(feed.byte() % 9))
        .with_threads(feed.threads())
}

fn refused(error: &bloscpack::Error) {
    assert!(matches!(error.kind(), ErrorKind::Usage(_) | ErrorKind::Unsupported(_)), "{error}");
}

fn metadata(feed: &mut Feed<'_>) -> Option<Value> {
    let text = String::from_utf8_lossy(&feed.fill(9)).into_owned();
    match feed.below(4) {
        0 => Some(Value::Map(vec![(text.clone(), Value::from(text)), ("n".into(), Value::from(7_u64))])),
        1 => Some(Value::List(vec![Value::Null, Value::from(text)])),
        _ => None,
    }
}

fn fixed(feed: &mut Feed<'_>) {
    let mut options = WriteOptions::default();
    options.chunks = chunk_options(feed);
    options.chunk_size = if feed.flag() { None } else { Some(feed.below(3000)) };
    options.offsets = feed.one_of(&[Offsets::Table, Offsets::None]);
    options.max_app_chunks = if feed.flag() { None } else { Some(feed.below(20) as u64) };
    options.metadata = metadata(feed);
    options.metadata_options.checksum = ChecksumCode(feed.byte() % 9);
    options.metadata_options.level = if feed.flag() { None } else { Some(feed.byte() % 10) };
    let len = feed.below(1 << 13);
    let total = if feed.flag() { None } else { Some(len as u64) };
    let step = 1 + feed.below(4000);
    let values = feed.fill(len);
    let write = |options: &WriteOptions, total, step| -> bloscpack::Result<Vec<u8>> {
        let mut writer = Writer::new(Cursor::new(Vec::new()), total, options)?;
        values.chunks(step).try_for_each(|piece| writer.push(piece))?;
        Ok(writer.complete()?.0.into_inner())
    };
    let bytes = match write(&options, total, step) {
        Ok(bytes) => bytes,
        Err(error) => return refused(&error),
    };
    let mut single = options.clone();
    single.chunks.threads = 1;
    let at_once = write(&single, Some(len as u64), len.max(1)).expect("it was written before");
    assert!(at_once == bytes, "how the bytes came shows in the file");
    reads_back(&bytes, &values, &options);
    if !feed.rarely() {
        return;
    }
    let more = feed.below(3000);
    let more = feed.fill(more);
    let append = append_options(feed);
    let added = on_disk(&bytes, |file| append_bytes(file.path(), &more[..], more.len() as u64, &append));
    let added = added.expect("plain bytes are added to any file");
    reads_back(&added, &[values, more].concat(), &options);
}

fn reads_back(bytes: &[u8], values: &[u8], options: &WriteOptions) {
    assert!(is_sound(bytes), "what was written is damaged");
    let file = File::from_source(Box::new(bytes.to_vec()), &small_options()).expect("what was written");
    let len = values.len() as u64;
    assert_eq!(file.len().expect("it is known"), len);
    let read = file.read_range(0..len, &read_options()).expect("what was written");
    assert!(read == values);
    assert_eq!(file.metadata(), options.metadata.as_ref());
    let (start, end) = (len / 3, len - len / 5);
    let part = file.read_range(start..end, &read_options()).expect("a part of it");
    assert!(part == values[start as usize..end as usize]);
}

fn append_options(feed: &mut Feed<'_>) -> AppendOptions {
    let mut options = AppendOptions::default();
    options.durability = Durability::Cached;
    if feed.flag() {
        options.codec = Some((feed.one_of(&[Compressor::LZ4, Compressor::ZSTD]), feed.byte() % 6));
        options.shuffle = Some(Shuffle::None);
    }
    options
}

/// Does something to a file of these bytes; what it is then.
fn on_disk(
    bytes: &[u8],
    mut change: impl FnMut(&NamedTempFile) -> bloscpack::Result<()>,
) -> bloscpack::Result<Vec<u8>> {
    let file = NamedTempFile::new()?;
    fs::write(file.path(), bytes)?;
    let changed = change(&file);
    let after = fs::read(file.path())?;
    if let Err(error) = changed {
        assert!(after == bytes, "a file that could not be changed was changed");
        return Err(error);
    }
    Ok(after)
}

fn variable(feed: &mut Feed<'_>) {
    let mut options = match feed.below(3) {
        0 => VarOptions::text(),
        1 => VarOptions::rows(feed.one_of(&["<f8", ">i2", "|u1"]).parse_dtype()),
        _ => VarOptions::default(),
    };
    options.chunks = chunk_options(feed);
    options.reserve = feed.below(50) as u64;
    let items: Vec<Vec<u8>> = (0..feed.below(12)).map(|_| item(&options.items, feed)).collect();
    if feed.flag() {
        options.names = Some((0..items.len()).map(|at| format!("{at}\u{e9}")).collect());
    }
    let count = if feed.flag() { None } else { Some(items.len() as u64) };
    let write = |options: &VarOptions, count| -> bloscpack::Result<Vec<u8>> {
        let mut writer = VarWriter::new(Cursor::new(Vec::new()), count, options)?;
        items.iter().try_for_each(|item| writer.push(item))?;
        Ok(writer.complete()?.0.into_inner())
    };
    let bytes = write(&options, count).expect("options that make sense");
    let mut other = options.clone();
    other.chunks.threads = 1;
    assert!(write(&other, Some(items.len() as u64)).is_ok_and(|other| other == bytes));
    has_items(&bytes, &items, &options);
    if !feed.rarely() {
        return;
    }
    let mut changed = items.clone();
    let append = append_options(feed);
    let more: Vec<Vec<u8>> = (0..feed.below(4)).map(|_| item(&options.items, feed)).collect();
    let added = match on_disk(&bytes, |file| append_items(file.path(), &more, &append)) {
        Ok(added) => added,
        // Names for some of the items are no names.
        Err(error) => return refused(&error),
    };
    changed.extend(more);
    options.names = None;
    has_items(&added, &changed, &options);
    if changed.is_empty() {
        return;
    }
    let index = feed.below(changed.len());
    changed[index] = item(&options.items, feed);
    let how = feed.one_of(&[InPlace::Safe, InPlace::Over]);
    let replaced = on_disk(&added, |file| {
        replace(file.path(), index as u64, &changed[index], how, options.reserve, &append).map(|_| ())
    });
    has_items(&replaced.expect("any item is replaced"), &changed, &options);
}

/// A type by its word, which is known to be one.
trait ParseType {
    fn parse_dtype(self) -> DType;
}

impl ParseType for &str {
    fn parse_dtype(self) -> DType {
        DType::parse(self).expect("it is a type")
    }
}

fn item(items: &ItemType, feed: &mut Feed<'_>) -> Vec<u8> {
    let len = if feed.flag() { feed.below(20) } else { feed.below(2000) };
    match items {
        ItemType::Text => String::from_utf8_lossy(&feed.fill(len)).into_owned().into_bytes(),
        ItemType::Ragged(dtype) => feed.fill(len / dtype.itemsize() * dtype.itemsize()),
        _ => feed.fill(len),
    }
}

fn has_items(bytes: &[u8], items: &[Vec<u8>], options: &VarOptions) {
    assert!(is_sound(bytes), "what was written is damaged");
    let reader =
        VarReader::from_source(Box::new(bytes.to_vec()), &small_options()).expect("what was written");
    assert_eq!(reader.item_type(), Some(&options.items));
    assert_eq!(reader.len(), items.len() as u64);
    if options.names.is_some() {
        assert_eq!(reader.names(), options.names.as_deref());
    }
    for (read, item) in reader.iter().zip(items) {
        assert!(read.expect("what was written") == *item);
    }
}
