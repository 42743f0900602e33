//! The system's allocator with a count of what is allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes allocated now, and the most since the last [`start`].
static NOW: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);
static BASE: AtomicU64 = AtomicU64::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Starts to count anew.
pub(crate) fn start() {
    let now = NOW.load(Relaxed);
    BASE.store(now, Relaxed);
    PEAK.store(now, Relaxed);
}

/// Most bytes that were allocated at a time since [`start`], beyond those before it.
pub(crate) fn peak() -> u64 {
    PEAK.load(Relaxed).saturating_sub(BASE.load(Relaxed))
}

fn added(len: usize) {
    let now = NOW.fetch_add(len as u64, Relaxed) + len as u64;
    PEAK.fetch_max(now, Relaxed);
}

// SAFETY: every call goes to the system's allocator as it came; counting touches nothing but the counters, and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        added(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        added(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size() as u64, Relaxed);
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        // Both are held while the system copies from one to the other.
        added(len);
        NOW.fetch_sub(layout.size() as u64, Relaxed);
        unsafe { System.realloc(memory, layout, len) }
    }
}
