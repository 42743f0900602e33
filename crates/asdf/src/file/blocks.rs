//! The decoded bytes of blocks: borrowed, copied or decoded, with their digests compared once.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use container_core::block::Block;
use container_core::codec::Encoded;
use container_core::container::{Digests, ReadOptions};
use container_core::source::{Source, check_range, try_zeroed_vec};
use container_core::{Error, Limits, Result, Stop};

use super::File;
use crate::compression::{self, lz4_chunks};
use crate::digest::{self, ChecksumStatus};
use crate::fault::{Fault, FaultKind, block_of};
use crate::file::open_options::Strictness;
use crate::layout::{IndexState, StoredBlock};
use crate::ndarray::{ByteSource, NdArray};
use crate::yaml::NodeId;

/// Maximum number of bytes of a plain block that are kept from comparing its digest: one piece of those in which data pass.
const MAX_HELD_PLAIN: u64 = 16 << 20;

/// Maximum number of bytes of a block of chunks that are kept from comparing its digest. Chunks are decoded one by one otherwise, in little memory.
const MAX_HELD_CHUNKS: u64 = 256 << 20;

/// Decoded values that a file keeps in memory: no more than one block, or one array of the tree, and one chunk or part of a block.
#[derive(Default)]
pub(super) struct Cache {
    held: Mutex<Option<(CacheKey, Arc<Vec<u8>>)>>,
    /// The chunk of a block that was decoded last, with its place in the data: the next row is often in it. Or the part of a block that is to be read
    /// next.
    chunk: Mutex<Option<Chunk>>,
    /// The blocks whose digests have been compared.
    verified: Mutex<HashSet<usize>>,
    /// The first digest that was not compared.
    skipped: Mutex<Option<SkippedDigest>>,
    /// Decoding work spent on the block that was last read in part.
    partial_work: Mutex<Option<Work>>,
}

/// A checksum that was not compared.
struct SkippedDigest {
    /// The array that was read.
    path: String,
    /// Maximum number of bytes of the block that one read took.
    read: u64,
    /// Bytes of the block.
    of: u64,
}

/// Decoding work spent on parts of a block.
#[derive(Clone, Copy)]
struct Work {
    block: usize,
    /// Bytes that were decoded, including those before the wanted ones.
    bytes: u64,
    /// End of the last part, in decoded bytes.
    end: u64,
}

/// A decoded chunk.
#[derive(Clone)]
struct Chunk {
    block: usize,
    /// Range of the chunk in the data of the block.
    place: Range<u64>,
    bytes: Arc<Vec<u8>>,
}

/// Key of the cached bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CacheKey {
    Block(usize),
    Inline(NodeId),
}

impl Cache {
    fn lock(&self) -> MutexGuard<'_, Option<(CacheKey, Arc<Vec<u8>>)>> {
        // A value that was being made when a thread panicked has not been stored.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that are held; 0 while some are being made.
    pub(super) fn held_len(&self) -> u64 {
        let held = self.held.try_lock().map_or(0, |held| held.as_ref().map_or(0, |(_, bytes)| bytes.len()));
        let chunk = self.chunk.try_lock().map_or(0, |chunk| chunk.as_ref().map_or(0, |it| it.bytes.len()));
        held.saturating_add(chunk)
    }

    /// Drops the decoded bytes, unless they are being made.
    pub(super) fn forget(&self) {
        self.held.try_lock().into_iter().for_each(|mut held| *held = None);
        self.chunk.try_lock().into_iter().for_each(|mut chunk| *chunk = None);
    }

    /// Notes that a digest was not compared.
    pub(super) fn skip(&self, path: &str, read: u64, block: &StoredBlock) {
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *skipped {
            Some(known) if known.path == path => known.read = known.read.max(read),
            Some(_) => {}
            None => *skipped = Some(SkippedDigest { path: path.to_owned(), read, of: block.data_size() }),
        }
    }

    /// Returns the cached bytes of `key`.
    fn get(&self, key: CacheKey) -> Option<Arc<Vec<u8>>> {
        self.lock().as_ref().filter(|(held, _)| *held == key).map(|(_, bytes)| Arc::clone(bytes))
    }

    /// The decoded part of a block that holds all of `range`, where there is one.
    fn part(&self, block: &StoredBlock, range: &Range<u64>) -> Option<Chunk> {
        let chunk = self.chunk.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |chunk: &&Chunk| {
            chunk.block == block.index && chunk.place.start <= range.start && range.end <= chunk.place.end
        };
        chunk.as_ref().filter(holds).cloned()
    }

    /// Returns the cached bytes of `key`, and computes them on first use. Other callers that need them meanwhile wait.
    pub(super) fn get_or_make(
        &self,
        key: CacheKey,
        make: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Arc<Vec<u8>>> {
        let mut held = self.lock();
        if let Some((_, bytes)) = held.as_ref().filter(|(held, _)| *held == key) {
            return Ok(Arc::clone(bytes));
        }
        // Two values at once may exceed the memory.
        *held = None;
        let bytes = Arc::new(make()?);
        *held = Some((key, Arc::clone(&bytes)));
        Ok(bytes)
    }
}

impl File {
    /// The decoded bytes of a block: borrowed where they are stored plainly and the source can lend them. The digest is compared on the first read,
    /// unless the options disable that; that of a compressed block may be one of the decoded bytes, as Python asdf wrote it before 5.3.
    ///
    /// # Errors
    /// `Usage` for a block that there is not; `Truncated`, `Malformed`, `Checksum`, `Unsupported`, `Limit`, and those of the source.
    pub fn read_block(&self, index: usize, options: &ReadOptions) -> Result<Cow<'_, [u8]>> {
        let block = self.block_at(index)?;
        let absent = || Error::usage(format!("no block {index} (there are {})", self.block_count()));
        let block = block.ok_or_else(absent)?;
        let len = self.available(block)?;
        self.with_verified_checksum(block, options, || {
            if !block.header.is_compressed()
                && let Some(bytes) = self.source.lend(plain_range(block, 0..len)?)
            {
                return Ok(Cow::Borrowed(bytes));
            }
            compression::require(&self.source, block, &self.options.codecs)?;
            let mut bytes =
                try_zeroed_vec(len, &options.limits).map_err(|error| error.with_range(block.range()))?;
            self.decode_into(block, 0, &mut bytes, options)?;
            Ok(Cow::Owned(bytes))
        })
    }

    /// The block that holds an array's bytes.
    ///
    /// # Errors
    /// `Malformed` for an absent block, or where damage leaves the block uncertain; `Usage` for inline data and other files.
    pub fn block_of(&self, array: &NdArray) -> Result<&StoredBlock> {
        match &array.source {
            ByteSource::Block(number) => self.block(*number),
            ByteSource::External(uri) if is_same_file(uri) => self.block(0),
            _ => Err(Error::usage("the array is not in a block of this file")),
        }
    }

    /// The block with a number from the tree.
    pub(super) fn block(&self, number: i64) -> Result<&StoredBlock> {
        if let Some(block) = self.listed_block(number)? {
            return Ok(block);
        }
        let blocks = &self.read_layout()?.blocks;
        let known = if number < 0 {
            let back = usize::try_from(number.unsigned_abs()).ok();
            back.and_then(|back| blocks.len().checked_sub(back))
        } else {
            usize::try_from(number).ok()
        };
        let block = known.and_then(|index| blocks.get(index));
        if let Some(error) = self.lost_before(known, number < 0) {
            return Err(error);
        }
        let there_are = blocks.len();
        block.ok_or_else(|| {
            Error::malformed(format!("source {number} is not a block of the file (there are {there_are})"))
        })
    }

    /// Returns an error if a block may be lost before this one. Where the walk from block to block met a gap, a block may be lost there, and those
    /// after it have other numbers than in the tree. An index that lists exactly the blocks that were found proves them.
    fn lost_before(&self, index: Option<usize>, from_end: bool) -> Option<Error> {
        if self.layout().index_state == IndexState::Valid {
            return None;
        }
        let before = |fault: &&Fault| {
            from_end || index.is_none_or(|index| block_of(fault).is_none_or(|at| at <= index))
        };
        let loss = self.first_loss().filter(before);
        loss.map(|fault| {
            let problem = format!("the block cannot be identified: {}", fault.message());
            Error::malformed(problem).with_range(fault.range()).with_context("asdf block")
        })
    }

    /// The first place at which a block may be lost; for [`Strictness::Lenient`], the first at which one is certainly lost. A read past it might
    /// return another block's values. Found once: there may be as many arrays as faults.
    fn first_loss(&self) -> Option<&Fault> {
        let is_loss = |fault: &Fault| match fault.kind() {
            FaultKind::BlockHeaderSize | FaultKind::BlockHeaderTruncated | FaultKind::BlockMissing => true,
            FaultKind::Gap => self.options.strictness != Strictness::Lenient,
            _ => false,
        };
        let faults = &self.layout().faults;
        let first = self.first_loss.get_or_init(|| {
            let losses = faults.iter().enumerate().filter(|(_, fault)| is_loss(fault));
            losses.min_by_key(|(_, fault)| block_of(fault)).map(|(at, _)| at)
        });
        first.and_then(|first| faults.get(first))
    }

    /// Decoded bytes of a block that arrays may use. For a plain block that the file cuts, the stated number; under [`Strictness::Lenient`] the
    /// present one.
    pub(crate) fn available(&self, block: &StoredBlock) -> Result<u64> {
        let header = &block.header;
        let lenient = self.options.strictness == Strictness::Lenient;
        if header.is_streamed() {
            return match header.is_compressed() {
                true => Err(self.fault_of(block, FaultKind::StreamedCompressed)),
                false => Ok(block.data_size()),
            };
        }
        if lenient && !header.is_compressed() {
            return Ok(block.data.end.saturating_sub(block.data.start));
        }
        if !lenient && header.used_size > header.allocated_size {
            return Err(self.fault_of(block, FaultKind::UsedOverAllocated));
        }
        if !header.is_compressed() && header.used_size != header.data_size {
            return Err(self.fault_of(block, FaultKind::PlainSizes));
        }
        Ok(header.data_size)
    }

    fn fault_of(&self, block: &StoredBlock, kind: FaultKind) -> Error {
        let mut faults = self.layout().faults.iter();
        let fault = faults.find(|fault| fault.kind() == kind && block_of(fault) == Some(block.index));
        let unnamed =
            || Error::malformed(format!("block {} is damaged", block.index)).with_range(block.range());
        fault.map_or_else(unnamed, Fault::error)
    }

    /// A note on the first digest that reads under [`Digests::Whole`] have not compared.
    #[must_use]
    pub fn uncompared(&self) -> Option<String> {
        let skipped = self.cache.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        skipped.as_ref().map(|SkippedDigest { path, read, of }| {
            format!(
                "digest of {path} not compared ({read} of {of} bytes were read): --digests compare reads all"
            )
        })
    }

    /// Whether a block has a digest that has not been compared.
    pub(super) fn is_unverified(&self, block: &StoredBlock) -> bool {
        let verified = self.cache.verified.lock().unwrap_or_else(PoisonError::into_inner);
        block.checksum().is_some() && block.is_whole() && !verified.contains(&block.index)
    }

    /// Compares the digest of a block, once.
    pub(super) fn verify_checksum(&self, block: &StoredBlock, options: &ReadOptions) -> Result<()> {
        // A block that the end of the file cuts cannot be compared; reading it reports the missing bytes.
        if !self.needs_comparison(block, options) {
            return Ok(());
        }
        let codecs = &self.options.codecs;
        let state = digest::checksum_status(&self.source, block, codecs, &options.limits, options.threads)?;
        self.mark_verified(block, state)
    }

    /// Runs a read of all of a block, and compares the digest if the read has not done so. A digest mismatch is reported before damage that the read
    /// has met.
    pub(super) fn with_verified_checksum<T>(
        &self,
        block: &StoredBlock,
        options: &ReadOptions,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        match read() {
            Err(error) if !error.is_damage() => Err(error),
            read => self.verify_checksum(block, options).and(read),
        }
    }

    /// Whether the digest of a block is to be compared, and was not.
    fn needs_comparison(&self, block: &StoredBlock, options: &ReadOptions) -> bool {
        options.digests != Digests::Ignore && self.is_unverified(block)
    }

    /// Records the result of comparing a block's digest.
    fn mark_verified(&self, block: &StoredBlock, state: ChecksumStatus) -> Result<()> {
        state.into_result(block)?;
        self.cache.verified.lock().unwrap_or_else(PoisonError::into_inner).insert(block.index);
        Ok(())
    }

    /// Copies all of a plain block, comparing its digest.
    fn copy_comparing(&self, block: &StoredBlock, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
        let Some(stored) = digest::expected(block) else { return Ok(()) };
        let computed =
            digest::copy_hashing(&self.source, block.data.start, options.threads, options.limits.stop, dst)?;
        let fits = stored == computed;
        self.mark_verified(
            block,
            if fits { ChecksumStatus::Stored } else { ChecksumStatus::Bad { stored, computed } },
        )
    }

    /// Makes sure that the bytes `span` of a block can be read, by decoding as far as they reach, and keeps them for the reads that follow. False
    /// where no bytes are kept: where parts are read as fast, unless there is a digest to compare, and where memory has no room.
    ///
    /// # Errors
    /// As [`File::read_block`].
    pub(super) fn hold(&self, block: &StoredBlock, span: &Range<u64>, options: &ReadOptions) -> Result<bool> {
        let limits = &options.limits;
        let (is_all, len) = (*span == (0..block.data_size()), span.end.saturating_sub(span.start));
        let compares = is_all && self.needs_comparison(block, options);
        let most = match block.label() {
            None if compares && self.source.lend(block.data.clone()).is_none() => MAX_HELD_PLAIN,
            Some("lz4") if compares => MAX_HELD_CHUNKS,
            None | Some("lz4") => 0,
            Some(_) => u64::MAX,
        };
        if len > most.min(limits.memory / 4) {
            return Ok(false);
        }
        let make = || {
            let mut bytes = try_zeroed_vec(len, limits).map_err(|error| error.with_range(block.range()))?;
            match block.label() {
                None => self.copy_comparing(block, &mut bytes, options)?,
                Some(_) if is_all => self.decode_all(block, &mut bytes, options)?,
                Some(_) => self.decode_range(block, span.clone(), &mut bytes, options)?,
            }
            Ok(bytes)
        };
        if is_all && block.header.is_compressed() {
            self.cache.get_or_make(CacheKey::Block(block.index), make)?;
        } else if self.cache.get(CacheKey::Block(block.index)).is_none()
            && self.cache.part(block, span).is_none()
        {
            let chunk = Chunk { block: block.index, place: span.clone(), bytes: Arc::new(make()?) };
            *self.cache.chunk.lock().unwrap_or_else(PoisonError::into_inner) = Some(chunk);
        }
        Ok(true)
    }

    /// Decoded bytes of a block, from `at` on.
    /// A part comes from the cache, if it is there. Plain blocks are read directly. Parts of `lz4` blocks are decoded by chunk, whole blocks on all
    /// threads.
    pub(super) fn decode_into(
        &self,
        block: &StoredBlock,
        at: u64,
        dst: &mut [u8],
        options: &ReadOptions,
    ) -> Result<()> {
        let range = at..at.saturating_add(dst.len() as u64);
        if let Some(Chunk { place, bytes, .. }) = self.cache.part(block, &range) {
            let part = range.start.saturating_sub(place.start)..range.end.saturating_sub(place.start);
            return copy_part(&bytes, part, dst, options);
        }
        let Some(label) = block.label() else {
            let range = plain_range(block, range)?;
            if range == block.data
                && dst.len() as u64 == block.data_size()
                && self.needs_comparison(block, options)
            {
                return self.copy_comparing(block, dst, options);
            }
            return container_core::source::read_parallel(
                &self.source,
                range.start,
                dst,
                options.threads,
                options.limits.stop,
            );
        };
        let size = block.data_size();
        check_range(&range, size)?;
        let key = CacheKey::Block(block.index);
        if let Some(bytes) = self.cache.get(key) {
            return copy_part(&bytes, range, dst, options);
        }
        // Other blocks are decoded from their start. Their bytes are kept if parts are read one after the other, or once the decoding of parts has
        // taken as long as that of the whole.
        let whole = range.start == 0 && range.end == size;
        if label == "lz4" && !whole && self.read_chunks(block, &range, dst, options)? {
            return Ok(());
        }
        if whole {
            return self.decode_all(block, dst, options);
        }
        if label == "lz4" || !is_cacheable(block, &options.limits) || !self.is_worth_caching(block, &range) {
            return self.decode_range(block, range, dst, options);
        }
        let bytes = self.cache.get_or_make(key, || {
            let mut bytes =
                try_zeroed_vec(size, &options.limits).map_err(|error| error.with_range(block.range()))?;
            self.decode_range(block, 0..size, &mut bytes, options)?;
            Ok(bytes)
        });
        match bytes {
            Ok(bytes) => copy_part(&bytes, range, dst, options),
            // Damage after the part does not affect the part, however often others were read before.
            Err(error) if error.is_damage() => self.decode_range(block, range, dst, options),
            Err(error) => Err(error),
        }
    }

    /// Whether decoding and keeping all of a block is cheaper than reading one more part of it.
    fn is_worth_caching(&self, block: &StoredBlock, range: &Range<u64>) -> bool {
        let mut partial_work = self.cache.partial_work.lock().unwrap_or_else(PoisonError::into_inner);
        let before = partial_work.filter(|work| work.block == block.index);
        let bytes = before.map_or(0, |work| work.bytes).saturating_add(range.end);
        let goes_on = before.is_some_and(|work| work.end == range.start);
        *partial_work = Some(Work { block: block.index, bytes, end: range.end });
        before.is_some() && (goes_on || bytes > block.data_size())
    }

    /// Whether the decoded bytes of a block are in memory.
    pub(super) fn is_held(&self, block: &StoredBlock) -> bool {
        self.cache.get(CacheKey::Block(block.index)).is_some()
    }

    /// As [`File::decode_into`], without the cache.
    fn decode_range(
        &self,
        block: &StoredBlock,
        range: Range<u64>,
        dst: &mut [u8],
        options: &ReadOptions,
    ) -> Result<()> {
        let (codecs, limits) = (&self.options.codecs, &options.limits);
        compression::read_range(&self.source, block, codecs, limits, options.threads, range, dst)
    }

    /// Decodes all of an encoded block, comparing its digest where that is due.
    fn decode_all(&self, block: &StoredBlock, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
        if !self.needs_comparison(block, options) {
            return self.decode_range(block, 0..block.data_size(), dst, options);
        }
        let (codecs, limits, threads) = (&self.options.codecs, &options.limits, options.threads);
        let state = digest::decode_comparing(&self.source, block, codecs, limits, threads, dst)?;
        self.mark_verified(block, state)
    }

    /// Fills `dst` from whole chunks, and keeps the last one, for a range within one or two chunks. Longer ranges are decoded on all threads,
    /// straight into their place. Returns false if it has not filled `dst`.
    fn read_chunks(
        &self,
        block: &StoredBlock,
        range: &Range<u64>,
        dst: &mut [u8],
        options: &ReadOptions,
    ) -> Result<bool> {
        let limits = &options.limits;
        let lock = || self.cache.chunk.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |chunk: &&Chunk, at: u64| chunk.block == block.index && chunk.place.contains(&at);
        let (mut at, mut rest) = (range.start, dst);
        while !rest.is_empty() {
            let known = lock().as_ref().filter(|chunk| holds(chunk, at)).cloned();
            let chunk = match known {
                Some(chunk) => chunk,
                None => {
                    let encoded = Encoded {
                        source: &self.source,
                        range: block.range(),
                        decoded_len: block.data_size(),
                        limits,
                        threads: 1,
                    };
                    let Ok(Some(place)) = lz4_chunks::chunk_of(&encoded, at) else { return Ok(false) };
                    let len = place.end.saturating_sub(place.start);
                    // Ranges much longer than the chunk gain nothing from the cache, and neither do chunks of which memory holds few.
                    if range.end > place.end.saturating_add(len) || len > limits.memory / 4 {
                        return Ok(false);
                    }
                    if at == place.start && range.end >= place.end {
                        let (all, tail) = std::mem::take(&mut rest)
                            .split_at_mut_checked(usize::try_from(len).unwrap_or(usize::MAX))
                            .unwrap_or_default();
                        self.decode_range(block, place.clone(), all, options)?;
                        (at, rest) = (place.end, tail);
                        continue;
                    }
                    let mut bytes =
                        try_zeroed_vec(len, limits).map_err(|error| error.with_range(block.range()))?;
                    self.decode_range(block, place.clone(), &mut bytes, options)?;
                    let chunk = Chunk { block: block.index, place, bytes: Arc::new(bytes) };
                    *lock() = Some(chunk.clone());
                    chunk
                }
            };
            let end = range.end.min(chunk.place.end);
            let part = at.saturating_sub(chunk.place.start)..end.saturating_sub(chunk.place.start);
            let len = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
            let Some((head, tail)) = std::mem::take(&mut rest).split_at_mut_checked(len) else {
                return Ok(false);
            };
            copy_part(&chunk.bytes, part, head, options)?;
            (at, rest) = (end, tail);
        }
        Ok(true)
    }

    pub(super) const fn cache(&self) -> &Cache {
        &self.cache
    }
}

/// Whether the decoded bytes of a block may stay in memory. Parts of other blocks are decoded anew for each read.
pub(crate) fn is_cacheable(block: &StoredBlock, limits: &Limits) -> bool {
    block.data_size() <= limits.memory / 2
}

/// True where a URI names the file that contains it.
pub(crate) fn is_same_file(uri: &str) -> bool {
    uri.is_empty() || uri.starts_with('#')
}

/// Computes the range in the file of decoded bytes of a plain block.
pub(super) fn plain_range(block: &StoredBlock, range: Range<u64>) -> Result<Range<u64>> {
    let start = block.data.start.saturating_add(range.start);
    let range = start..block.data.start.saturating_add(range.end);
    if range.end > block.data.end {
        let have = block.data.end.saturating_sub(range.start);
        let error = Error::truncated(range, have).with_context("asdf block");
        return Err(error.with_hint("holdall repair FILE -o NEW recovers the intact data"));
    }
    Ok(range)
}

fn copy_part(bytes: &[u8], range: Range<u64>, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
    bytes.read_until(range.start, dst, options.limits.stop)
}

/// The decoded bytes of a block as a source of their own, so that regions are found as in any other.
pub(super) struct Decoded<'f> {
    pub file: &'f File,
    pub block: &'f StoredBlock,
    pub len: u64,
    pub options: &'f ReadOptions,
}

impl Source for Decoded<'_> {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at.saturating_add(dst.len() as u64)), self.len)?;
        self.file.decode_into(self.block, at, dst, self.options)
    }

    /// Decodes in one go, which checks the options for a request to stop.
    fn read_until(&self, at: u64, dst: &mut [u8], _stop: Stop) -> Result<()> {
        self.read_into(at, dst)
    }
}
