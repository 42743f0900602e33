//! Cache of decoded blocks for later reads.
//!
//! A block that is requested once is not kept: most are never requested again, and decoding the needed part is cheaper than decoding all.
//! The second request decodes and keeps all of it, if it comes soon: so soon that the cache would still hold the block if it had been
//! kept the first time. First requests are recorded in a small table that forgets by overwriting, so that a walk over a large array
//! leaves no blocks.
//!
//! All frames of a store share one cache, and the idle decoders and buffers: memory does not grow with the number of frames.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use container_core::threads::Pool;

use crate::b2nd::Scratch;
use crate::decoder_pool::Worker;
use crate::options::OpenOptions;

/// A block: the number of its array in this cache, of its chunk, and its own in there.
pub(crate) type Key = (u64, u64, u64);

/// Entries of the table of first requests. A power of two.
const SEEN_SLOTS: usize = 4096;

/// Part of the limit on memory that decoded blocks may take.
const MEMORY_SHARE: u64 = 4;

/// Memory that the frames of one file share between reads.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) blocks: BlockCache,
    /// Decoders and buffers that no read is using.
    pub(crate) workers: Pool<Worker>,
    pub(crate) scratches: Pool<Scratch>,
}

impl Shared {
    /// Creates memory within the limits of `options`.
    pub(crate) fn new(options: &OpenOptions) -> Self {
        let room = options.cache.min(options.limits.memory / MEMORY_SHARE);
        Self { blocks: BlockCache::new(room), ..Self::default() }
    }

    /// Returns the memory that a frame opened with `options` uses: that of its store, else its own.
    pub(crate) fn of(options: &OpenOptions) -> Arc<Self> {
        options.shared.as_ref().map_or_else(|| Arc::new(Self::new(options)), Arc::clone)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// Blocks over this part of the room are not kept: one alone would push out all others.
const MAX_BLOCK_SHARE: u64 = 4;

/// Buffers of blocks that were pushed out, for the next ones: fresh memory costs more than to fill it.
const MAX_SPARE_BUFFERS: usize = 4;

/// Result of looking up a block.
pub(crate) enum Lookup {
    /// Its bytes.
    Cached(Arc<Vec<u8>>),
    /// It was requested before, so it should be cached.
    SeenBefore,
    /// It is new.
    New,
}

/// Decoded blocks, up to a number of bytes. Shared by all that read one file.
#[derive(Default)]
pub(crate) struct BlockCache {
    room: u64,
    arrays: AtomicU64,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    blocks: HashMap<Key, CachedBlock>,
    /// Keys in the order in which they are inspected when room is needed.
    ring: VecDeque<Key>,
    bytes: u64,
    /// Keys by the low bits of their hash, each with the count of blocks requested until then. Empty until the first request.
    seen: Vec<Option<(Key, u64)>>,
    asked: u64,
    spares: Vec<Vec<u8>>,
}

struct CachedBlock {
    bytes: Arc<Vec<u8>>,
    /// Whether it was requested since it was last inspected for eviction.
    is_used: bool,
}

impl BlockCache {
    /// Creates a cache of up to `room` bytes; with 0 it stays empty.
    pub(crate) fn new(room: u64) -> Self {
        Self { room, ..Self::default() }
    }

    /// Returns a unique number for an array.
    pub(crate) fn new_array(&self) -> u64 {
        self.arrays.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether blocks of so many bytes are kept at all, when a read touches `count` of them. A read that would evict its own
    /// blocks is faster without the cache.
    pub(crate) fn keeps(&self, block_bytes: u64, count: u64) -> bool {
        block_bytes <= self.room / MAX_BLOCK_SHARE && block_bytes.saturating_mul(count) <= self.room / 2
    }

    /// Looks up the block `key` of `block_bytes` bytes, and records the request.
    pub(crate) fn look_up(&self, key: Key, block_bytes: u64) -> Lookup {
        let room_for = self.room / block_bytes.max(1);
        let mut inner = self.lock();
        if let Some(kept) = inner.blocks.get_mut(&key) {
            kept.is_used = true;
            return Lookup::Cached(Arc::clone(&kept.bytes));
        }
        if inner.seen.is_empty() {
            inner.seen.resize(SEEN_SLOTS, None);
        }
        inner.asked = inner.asked.wrapping_add(1);
        let asked = inner.asked;
        let place = hash(key) % SEEN_SLOTS;
        match inner.seen.get_mut(place).map(|seen| seen.replace((key, asked))) {
            Some(Some((before, at))) if before == key && asked.wrapping_sub(at) <= room_for => {
                Lookup::SeenBefore
            }
            _ => Lookup::New,
        }
    }

    /// Returns a buffer to fill with a block; its length and contents are unspecified.
    pub(crate) fn spare(&self) -> Vec<u8> {
        self.lock().spares.pop().unwrap_or_default()
    }

    /// Keeps a block, and as many others as there is room for.
    pub(crate) fn keep(&self, key: Key, bytes: Vec<u8>) -> Arc<Vec<u8>> {
        let len = bytes.capacity() as u64;
        let bytes = Arc::new(bytes);
        let mut inner = self.lock();
        // Another thread may have been first.
        if len > self.room || inner.blocks.contains_key(&key) {
            return bytes;
        }
        while inner.bytes.saturating_add(len) > self.room && inner.push_out() {}
        inner.bytes = inner.bytes.saturating_add(len);
        inner.blocks.insert(key, CachedBlock { bytes: Arc::clone(&bytes), is_used: false });
        inner.ring.push_back(key);
        bytes
    }

    /// Locks the cache. No code that holds the lock panics, so a poisoned one still holds valid data.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Evicts the next block that was not requested since it was last inspected; false for an empty cache.
    fn push_out(&mut self) -> bool {
        while let Some(key) = self.ring.pop_front() {
            match self.blocks.get_mut(&key) {
                Some(kept) if kept.is_used => {
                    kept.is_used = false;
                    self.ring.push_back(key);
                }
                _ => {
                    if let Some(kept) = self.blocks.remove(&key) {
                        self.bytes = self.bytes.saturating_sub(kept.bytes.capacity() as u64);
                        if let Some(buffer) = Arc::into_inner(kept.bytes)
                            && self.spares.len() < MAX_SPARE_BUFFERS
                        {
                            self.spares.push(buffer);
                        }
                    }
                    return true;
                }
            }
        }
        false
    }
}

/// Spreads neighbouring blocks over the table. Nobody gains from making them meet: a block is then kept later, or never.
fn hash((array, chunk, block): Key) -> usize {
    let mixed = (array.rotate_left(48) ^ chunk.rotate_left(32) ^ block).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(mixed >> 40).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_kept(cache: &BlockCache, key: Key) -> bool {
        cache.lock().blocks.contains_key(&key)
    }

    #[test]
    fn second_lookup_marks_a_block_as_seen_before() {
        let cache = BlockCache::new(100);
        assert!(matches!(cache.look_up((0, 3, 4), 25), Lookup::New));
        assert!(matches!(cache.look_up((0, 3, 5), 25), Lookup::New));
        assert!(matches!(cache.look_up((0, 3, 4), 25), Lookup::SeenBefore));
        cache.keep((0, 3, 4), vec![7; 10]);
        assert!(matches!(cache.look_up((0, 3, 4), 25), Lookup::Cached(bytes) if *bytes == [7; 10]));
    }

    #[test]
    fn a_block_that_would_have_been_pushed_out_by_now_is_new() {
        let cache = BlockCache::new(100);
        for block in 0..5 {
            assert!(matches!(cache.look_up((0, 0, block), 25), Lookup::New));
        }
        // Four others came in between, and then three.
        assert!(matches!(cache.look_up((0, 0, 0), 25), Lookup::New));
        assert!(matches!(cache.look_up((0, 0, 2), 25), Lookup::SeenBefore));
    }

    #[test]
    fn recently_used_blocks_outlive_others_within_the_capacity() {
        let cache = BlockCache::new(100);
        for block in 0..4 {
            cache.keep((0, 0, block), vec![0; 25]);
        }
        assert!(matches!(cache.look_up((0, 0, 0), 25), Lookup::Cached(_)));
        cache.keep((0, 0, 4), vec![0; 25]);
        assert!(is_kept(&cache, (0, 0, 0)) && !is_kept(&cache, (0, 0, 1)) && is_kept(&cache, (0, 0, 4)));
        assert_eq!(cache.lock().bytes, 100);
        // The buffer of the one that had to go serves the next.
        assert_eq!(cache.spare().len(), 25);
        // A block larger than the cache evicts no other.
        cache.keep((0, 0, 5), vec![0; 101]);
        assert_eq!(cache.lock().bytes, 100);
        assert!(!is_kept(&cache, (0, 0, 5)));
    }

    #[test]
    fn large_blocks_and_large_reads_are_passed_by() {
        let cache = BlockCache::new(1000);
        assert!(cache.keeps(250, 2) && !cache.keeps(251, 1) && !cache.keeps(250, 3));
        assert!(!BlockCache::new(0).keeps(1, 1));
    }
}
