//! Reads chunks of a source into memory: whole chunks directly to their place, on several threads. Of a part of a chunk only the necessary
//! blocks are decoded, unless the same chunk is read again.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use blosc_chunk::{Chunk, Decoder, Header};
use container_core::container::{Digests, ReadOptions};
use container_core::source::try_zeroed_vec;
use container_core::threads::{Pool, on_threads};
use container_core::{Error, ErrorKind, Limits, Result};

use crate::chunk_table::ChunkEntry;
use crate::file::File;
use crate::outline::{Outline, fits};

/// Maximum decoded length of a chunk that is kept in memory.
const MAX_CACHED_LEN: u64 = 64 << 20;

/// A thread takes neighbouring chunks up to this many bytes. Two threads that touch a new huge page at once would both have the
/// kernel fill one with zeros, and one of them is thrown away.
const MAX_RUN_LEN: usize = 8 << 20;

/// State that reads of one file share.
pub(crate) struct Reader {
    /// One bit for each chunk, set once its digest has been compared.
    compared: Vec<AtomicU64>,
    /// Unused decoders and buffers.
    workers: Pool<Worker>,
    /// The chunk that was last read in part.
    last: Mutex<Last>,
    limits: Limits,
}

/// A decoder with its buffer.
struct Worker {
    decoder: Decoder,
    stored: Vec<u8>,
}

/// The chunk that was last read in part; its bytes when that happened twice.
#[derive(Default)]
struct Last {
    index: Option<usize>,
    bytes: Vec<u8>,
    /// Whether its digest was compared when `bytes` were decoded.
    digests: Digests,
}

/// Bytes of one chunk, and their place in the output.
struct Piece<'d> {
    index: usize,
    range: Range<usize>,
    dst: &'d mut [u8],
}

/// Places of chunks.
#[derive(Clone, Copy)]
enum Places<'f> {
    Outline(&'f Outline),
    All(&'f [ChunkEntry]),
}

impl Places<'_> {
    fn entry(self, index: usize) -> Option<ChunkEntry> {
        match self {
            Self::Outline(outline) => outline.entry(index as u64),
            Self::All(chunks) => chunks.get(index).copied(),
        }
    }

    /// The number of the chunk that holds the decoded byte `at`.
    fn find(self, at: u64) -> usize {
        match self {
            Self::Outline(outline) => usize::try_from(outline.find(at)).unwrap_or(usize::MAX),
            Self::All(chunks) => chunks.partition_point(|chunk| chunk.data().end <= at),
        }
    }
}

impl Reader {
    pub(crate) fn new(chunks: usize, limits: &Limits) -> Result<Self> {
        let words: Vec<u64> = try_zeroed_vec(chunks.div_ceil(64) as u64, limits)?;
        Ok(Self {
            compared: words.into_iter().map(AtomicU64::new).collect(),
            workers: Pool::default(),
            last: Mutex::default(),
            limits: *limits,
        })
    }

    /// Fills `dst` with the decoded bytes from `at` on, which are within the data.
    pub(crate) fn read(&self, file: &File, at: u64, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
        if let Some(outline) = file.outline() {
            let read = self.read_by(file, Places::Outline(outline), at, dst, options);
            if read.is_ok() || !file.is_misled() {
                return read;
            }
            // Compared digests and kept bytes may belong to other offsets.
            self.compared.iter().for_each(|word| word.store(0, Ordering::Relaxed));
            *lock(&self.last) = Last::default();
        }
        self.read_by(file, Places::All(file.full_layout()?.chunks()), at, dst, options)
    }

    fn read_by(
        &self,
        file: &File,
        places: Places<'_>,
        at: u64,
        dst: &mut [u8],
        options: &ReadOptions,
    ) -> Result<()> {
        let mut pieces = Vec::new();
        let mut rest = dst;
        let mut at = at;
        let mut index = places.find(at);
        while let Some(chunk) = places.entry(index).filter(|_| !rest.is_empty()) {
            let data = chunk.data();
            let start = index_in(at.saturating_sub(data.start))?;
            let len = rest.len().min(index_in(data.end.saturating_sub(at))?);
            let (piece, next) = std::mem::take(&mut rest).split_at_mut(len);
            if len > 0 {
                pieces.push(Piece { index, range: start..start + len, dst: piece });
            }
            rest = next;
            at += len as u64;
            index += 1;
        }
        if !rest.is_empty() {
            // The header announces chunks that are not there.
            return Err(file.worst());
        }
        self.read_pieces(file, places, pieces, options)
    }

    /// Decodes all of one chunk.
    pub(crate) fn read_chunk(
        &self,
        file: &File,
        index: usize,
        dst: &mut [u8],
        options: &ReadOptions,
    ) -> Result<()> {
        let range = 0..dst.len();
        let places = Places::All(file.full_layout()?.chunks());
        self.read_pieces(file, places, vec![Piece { index, range, dst }], options)
    }

    fn read_pieces(
        &self,
        file: &File,
        places: Places<'_>,
        mut pieces: Vec<Piece<'_>>,
        options: &ReadOptions,
    ) -> Result<()> {
        if let [piece] = pieces.as_mut_slice() {
            return self.with_worker(options, |worker| {
                self.read_piece(file, places, worker, piece, options, options.threads)
            });
        }
        let threads = options.threads.min(pieces.len()).max(1);
        let longest = pieces.iter().map(|piece| piece.dst.len()).max().unwrap_or(0).max(1);
        let run = (MAX_RUN_LEN / longest).min(pieces.len() / (4 * threads)).max(1);
        let tasks = Mutex::new(pieces.chunks_mut(run));
        let work = || {
            self.with_worker(options, |worker| {
                loop {
                    let Some(run) = lock(&tasks).next() else { return Ok(()) };
                    for piece in run {
                        self.read_piece(file, places, worker, piece, options, 1)?;
                    }
                }
            })
        };
        on_threads(threads, &work)
    }

    fn with_worker<T>(
        &self,
        options: &ReadOptions,
        work: impl FnOnce(&mut Worker) -> Result<T>,
    ) -> Result<T> {
        let new = || Worker { decoder: Decoder::new().with_limits(self.limits), stored: Vec::new() };
        self.workers.with(new, |worker| {
            worker.decoder.set_stop(options.limits.stop);
            work(worker)
        })
    }

    fn read_piece(
        &self,
        file: &File,
        places: Places<'_>,
        worker: &mut Worker,
        piece: &mut Piece<'_>,
        options: &ReadOptions,
        threads: usize,
    ) -> Result<()> {
        options.limits.stop.check()?;
        let chunk = &places.entry(piece.index).ok_or_else(|| Error::usage("no such chunk"))?;
        if let Some(error) = file.chunk_fault(piece.index, chunk) {
            return Err(error);
        }
        if piece.range.len() == chunk.nbytes() as usize {
            return self.decode(file, (piece.index, chunk), worker, piece.dst, options, threads);
        }
        let limit = file.options().limits.memory / 4;
        if u64::from(chunk.nbytes()) <= MAX_CACHED_LEN.min(limit)
            && self.serve_from_last(file, chunk, worker, piece, options, threads)?
        {
            return Ok(());
        }
        let Worker { decoder, stored } = worker;
        let bytes = self.stored(file, piece.index, chunk, stored, options)?;
        let decoded = Chunk::parse(&bytes).and_then(|parsed| {
            check_nbytes(&parsed, chunk)?;
            decoder.decode_range(&parsed, piece.range.clone(), piece.dst)
        });
        decoded.map_err(|error| in_chunk(error, piece.index, chunk))
    }

    /// Copies a part of a kept chunk; decodes and keeps the chunk when a part of it is read again, or a large one.
    fn serve_from_last(
        &self,
        file: &File,
        chunk: &ChunkEntry,
        worker: &mut Worker,
        piece: &mut Piece<'_>,
        options: &ReadOptions,
        threads: usize,
    ) -> Result<bool> {
        let len = chunk.nbytes() as usize;
        let mut last = lock(&self.last);
        let same = last.index == Some(piece.index);
        let compared = last.digests != Digests::Ignore || options.digests == Digests::Ignore;
        if same && compared && last.bytes.len() == len {
            piece.dst.copy_from_slice(&last.bytes[piece.range.clone()]);
            return Ok(true);
        }
        let large = piece.range.len() >= len / 4;
        if !same && !large {
            last.index = Some(piece.index);
            last.bytes.clear();
            return Ok(false);
        }
        // Taken out of the lock, so that other threads need not wait while it is filled.
        let mut bytes = std::mem::take(&mut last.bytes);
        last.index = None;
        drop(last);
        bytes.clear();
        bytes
            .try_reserve_exact(len)
            .map_err(|_| Error::out_of_memory(len as u64, file.options().limits.memory))?;
        bytes.resize(len, 0);
        self.decode(file, (piece.index, chunk), worker, &mut bytes, options, threads)?;
        piece.dst.copy_from_slice(&bytes[piece.range.clone()]);
        let mut last = lock(&self.last);
        *last = Last { index: Some(piece.index), bytes, digests: options.digests };
        Ok(true)
    }

    /// Decodes all of a complete chunk.
    fn decode(
        &self,
        file: &File,
        (index, chunk): (usize, &ChunkEntry),
        worker: &mut Worker,
        dst: &mut [u8],
        options: &ReadOptions,
        threads: usize,
    ) -> Result<()> {
        if let Some(error) = file.chunk_fault(index, chunk) {
            return Err(error);
        }
        let Worker { decoder, stored } = worker;
        let bytes = self.stored(file, index, chunk, stored, options)?;
        let decoded = Chunk::parse(&bytes).and_then(|parsed| {
            check_nbytes(&parsed, chunk)?;
            decoder.decode_parallel(&parsed, dst, threads)
        });
        decoded.map_err(|error| in_chunk(error, index, chunk))
    }

    /// Compares a chunk with its digest, even if that has been done, and decodes it into `room`.
    pub(crate) fn check_chunk(
        &self,
        file: &File,
        index: usize,
        room: &mut Vec<u8>,
        options: &ReadOptions,
    ) -> Result<()> {
        if let Some(word) = self.compared.get(index / 64) {
            word.fetch_and(!(1 << (index % 64)), Ordering::Relaxed);
        }
        let chunk = file.chunks().get(index).ok_or_else(|| Error::usage("no such chunk"))?;
        let len = chunk.nbytes();
        let limits = &file.options().limits;
        // The buffer grows for larger chunks, and serves smaller ones.
        if room.len() < len as usize {
            *room = try_zeroed_vec(len.into(), limits)?;
        }
        let mut options = *options;
        options.digests = Digests::Compare;
        let room = room.get_mut(..len as usize).unwrap_or_default();
        self.with_worker(&options, |worker| self.decode(file, (index, chunk), worker, room, &options, 1))
    }

    /// The stored bytes of a chunk, compared with their digest on the first read.
    fn stored<'b>(
        &self,
        file: &'b File,
        index: usize,
        chunk: &ChunkEntry,
        buffer: &'b mut Vec<u8>,
        options: &ReadOptions,
    ) -> Result<Cow<'b, [u8]>> {
        let checksum = file.header().checksum;
        let algorithm = checksum.algorithm()?.filter(|_| file.header().digest_len() > 0);
        let range = chunk.range().start..chunk.end().saturating_add(file.header().digest_len());
        let len = index_in(range.end - range.start)?;
        let bytes = if let Some(bytes) = file.source().lend(range.clone()) {
            bytes
        } else {
            file.options().limits.allocate(len as u64)?;
            buffer.clear();
            buffer
                .try_reserve_exact(len)
                .map_err(|_| Error::out_of_memory(len as u64, file.options().limits.memory))?;
            buffer.resize(len, 0);
            file.source().read_until(range.start, buffer, options.limits.stop)?;
            &buffer[..]
        };
        // The digest follows the actual chunk, whose length may differ from the announced one.
        if !Header::parse_prefix(bytes).is_some_and(|header| fits(chunk, &header)) {
            file.mislead();
            let error = Error::malformed("the chunk differs from its entry");
            return Err(error.with_range(chunk.range()).with_context(format!("bloscpack chunk {index}")));
        }
        let (stored, digest) = bytes.split_at(len - index_in(file.header().digest_len())?);
        if let Some(algorithm) =
            algorithm.filter(|_| options.digests != Digests::Ignore && !self.is_compared(index))
        {
            let computed = algorithm.digest_until(stored, options.limits.stop)?;
            let wanted = checksum.parse_digest(digest)?;
            if wanted != Some(computed) {
                let wanted = wanted.map(|digest| digest.to_string()).unwrap_or_default();
                let kind = ErrorKind::Checksum { stored: wanted, computed: computed.to_string() };
                return Err(Error::new(kind)
                    .with_range(range)
                    .with_context(format!("bloscpack chunk {index}")));
            }
            self.set_compared(index);
        }
        Ok(Cow::Borrowed(stored))
    }

    fn is_compared(&self, index: usize) -> bool {
        let word = self.compared.get(index / 64);
        word.is_some_and(|word| word.load(Ordering::Relaxed) >> (index % 64) & 1 == 1)
    }

    fn set_compared(&self, index: usize) {
        if let Some(word) = self.compared.get(index / 64) {
            word.fetch_or(1 << (index % 64), Ordering::Relaxed);
        }
    }
}

/// The file may have changed since it was opened.
fn check_nbytes(parsed: &Chunk<'_>, chunk: &ChunkEntry) -> Result<()> {
    if parsed.nbytes() == chunk.nbytes() as usize {
        return Ok(());
    }
    Err(Error::malformed(format!(
        "wrong decoded size of {} bytes (expected {})",
        parsed.nbytes(),
        chunk.nbytes()
    )))
}

/// An error of the engine, whose range counts from the start of the chunk.
fn in_chunk(error: Error, index: usize, chunk: &ChunkEntry) -> Error {
    if error.is_interruption() {
        return error;
    }
    let start = chunk.range().start;
    let range = error
        .range()
        .map_or(chunk.range(), |range| start.saturating_add(range.start)..start.saturating_add(range.end));
    Error::new(error.into_kind()).with_range(range).with_context(format!("bloscpack chunk {index}"))
}

fn index_in(len: u64) -> Result<usize> {
    usize::try_from(len).map_err(|_| Error::limit("memory in bytes", len, usize::MAX as u64))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use container_core::container::OpenOptions;

    use super::*;
    use crate::write::{ChunkOptions, WriteOptions};
    use crate::{ChecksumCode, Writer};

    /// Chunks of 1000 bytes, on a limit of memory.
    fn file(chunks: usize, memory: u64) -> File {
        let bytes: Vec<u8> = (0..1000 * chunks).map(|at| u8::try_from(at / 3 % 251).unwrap()).collect();
        let own = ChunkOptions::default().with_typesize(1).with_checksum(ChecksumCode(2));
        let options = WriteOptions { chunks: own, chunk_size: Some(1000), ..WriteOptions::default() };
        let mut writer =
            Writer::new(std::io::Cursor::new(Vec::new()), Some(bytes.len() as u64), &options).unwrap();
        writer.push(&bytes).unwrap();
        let mut open = OpenOptions::default();
        open.limits = Limits::default().with_memory(memory);
        File::from_source(Box::new(writer.complete().unwrap().0.into_inner()), &open).unwrap()
    }

    /// The chunk that was last read in part, and the number of its bytes that are kept.
    fn last(file: &File) -> (Option<usize>, usize) {
        let last = lock(&file.reader().last);
        (last.index, last.bytes.len())
    }

    #[test]
    fn chunks_are_kept_when_a_quarter_is_read_or_a_part_again() {
        let read = |file: &File, range: Range<u64>| {
            let bytes = file.read_range(range.clone(), &ReadOptions::default()).unwrap();
            let expected: Vec<u8> = range.map(|at| u8::try_from(at / 3 % 251).unwrap()).collect();
            assert_eq!(bytes, expected);
            last(file)
        };
        let whole = file(3, 1 << 20);
        assert_eq!(read(&whole, 0..249), (Some(0), 0));
        assert_eq!(read(&whole, 700..701), (Some(0), 1000));
        assert_eq!(read(&whole, 5..9), (Some(0), 1000));
        assert_eq!(read(&whole, 1000..1001), (Some(1), 0));
        assert_eq!(read(&whole, 0..250), (Some(0), 1000));
        // A whole chunk needs no copy.
        assert_eq!(read(&whole, 1000..2000), (Some(0), 1000));
        // A quarter of the memory has no room.
        for (memory, kept) in [(4000, (Some(0), 1000)), (3999, (None, 0))] {
            assert_eq!(read(&file(1, memory), 0..500), kept, "{memory}");
        }
    }

    #[test]
    fn digests_are_compared_once_unless_they_are_ignored() {
        let file = file(130, 1 << 20);
        let compared =
            || -> Vec<usize> { (0..130).filter(|index| file.reader().is_compared(*index)).collect() };
        assert!(compared().is_empty());
        let mut ignore = ReadOptions::default();
        ignore.digests = Digests::Ignore;
        file.read_range(0..130_000, &ignore).unwrap();
        assert!(compared().is_empty());
        for (at, expected) in [(64_000, &[64][..]), (1000, &[1, 64]), (129_500, &[1, 64, 129])] {
            file.read_range(at..at + 1, &ReadOptions::default()).unwrap();
            assert_eq!(compared(), expected);
        }
        assert!(!file.reader().is_compared(1000));
        file.reader().set_compared(1000);
        assert_eq!(compared(), [1, 64, 129]);
    }
}
