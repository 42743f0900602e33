//! The frames of a store that are open: a few of them, opened again when they are needed. A store may have more leaves than there is memory
//! for open frames.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use container_core::Result;
use container_core::container::{self, Container};

use super::slice_source::{Shared, Until};
use crate::cache;
use crate::frame::Frame;
use crate::offsets::Offsets;
use crate::options::OpenOptions;

/// Frames that stay open. An open frame takes about 4 KiB, and its offsets 8 bytes a chunk.
pub(crate) const MAX_OPEN: usize = 64;

/// Part of the limit on memory that open frames may take. The last one stays open in any case.
const MEMORY_SHARE: u64 = 4;

/// The place of the bytes of a frame.
#[derive(Clone)]
pub(crate) enum Bytes {
    /// From here to there in a source.
    Within(Shared, Range<u64>),
    /// In a file, or in a directory for a sparse frame.
    At(PathBuf),
}

impl Bytes {
    fn open(&self, options: &OpenOptions) -> Result<Frame> {
        match self {
            Self::Within(source, range) => {
                let until = Until { source: Arc::clone(source), end: range.end };
                Frame::from_source(Box::new(until), range.start, options)
            }
            Self::At(path) => Frame::open_with(path, options),
        }
    }
}

/// Opens a frame with other options than those it was found with.
pub(crate) type Opener = Arc<dyn Fn(&OpenOptions) -> Result<Frame> + Send + Sync>;

/// Makes the lens of a frame by itself.
pub(crate) type LensOf = fn(Opener, &container::OpenOptions) -> Result<Box<dyn Container>>;

/// The frames of one store that are open.
pub(crate) struct Opened {
    lens_of: LensOf,
    options: container::OpenOptions,
    /// Decoded blocks and decoders of all of them.
    shared: Arc<cache::Shared>,
    /// The number of the next leaf.
    next: AtomicU64,
    /// The one that was used last is the last.
    open: Mutex<VecDeque<Open>>,
}

struct Open {
    /// The number of its leaf.
    number: u64,
    lens: Arc<dyn Container>,
    /// Bytes that it takes, about.
    weight: u64,
}

impl Opened {
    /// None yet.
    pub(crate) fn new(options: &container::OpenOptions, lens_of: LensOf) -> Self {
        let shared = Arc::new(cache::Shared::new(&OpenOptions::from(options)));
        Self { lens_of, options: options.clone(), shared, next: AtomicU64::new(0), open: Mutex::default() }
    }

    /// The frame of the leaf `number`, if it is open.
    fn get(&self, number: u64) -> Option<Arc<dyn Container>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let at = open.iter().rposition(|own| own.number == number)?;
        let found = open.remove(at)?;
        let lens = Arc::clone(&found.lens);
        open.push_back(found);
        Some(lens)
    }

    fn keep(&self, number: u64, lens: &Arc<dyn Container>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first.
        open.retain(|own| own.number != number);
        open.push_back(Open { number, lens: Arc::clone(lens), weight: weight(&**lens) });
        let room = self.options.limits.memory / MEMORY_SHARE;
        let mut total = open.iter().map(|own| own.weight).fold(0, u64::saturating_add);
        while open.len() > MAX_OPEN || (total > room && open.len() > 1) {
            total = total.saturating_sub(open.pop_front().map_or(0, |own| own.weight));
        }
    }

    /// Numbers of frames that are open, and of idle decoders.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> [usize; 2] {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).len();
        let mut workers = Vec::new();
        while let Some(worker) = self.shared.workers.take() {
            workers.push(worker);
        }
        let idle = workers.len();
        workers.into_iter().for_each(|worker| self.shared.workers.put(worker));
        [open, idle]
    }
}

/// Bytes that an open frame takes, about.
fn weight(lens: &dyn Container) -> u64 {
    let Some(frame) = lens.native().and_then(|native| native.downcast_ref::<Frame>()) else { return 0 };
    let layout = frame.layout();
    let trailer = layout.trailer_range();
    let offsets = match layout.offsets() {
        Offsets::Same(..) => 0,
        Offsets::Each(each) => 8 * each.len() as u64,
    };
    let metadata = u64::from(frame.header().header_len) + trailer.end.saturating_sub(trailer.start);
    offsets.saturating_add(metadata).saturating_add(4 << 10)
}

/// A frame of a store, which may be open.
pub(crate) struct Closed {
    bytes: Bytes,
    number: u64,
    opened: Arc<Opened>,
}

impl Closed {
    pub(crate) fn new(bytes: Bytes, opened: &Arc<Opened>) -> Self {
        let number = opened.next.fetch_add(1, Ordering::Relaxed);
        Self { bytes, number, opened: Arc::clone(opened) }
    }

    /// The frame seen by itself, opened if it is not.
    ///
    /// # Errors
    /// Those of opening it.
    pub(crate) fn open(&self) -> Result<Arc<dyn Container>> {
        if let Some(lens) = self.opened.get(self.number) {
            return Ok(lens);
        }
        let (bytes, shared) = (self.bytes.clone(), Arc::clone(&self.opened.shared));
        let open = move |options: &OpenOptions| {
            bytes.open(&OpenOptions { shared: Some(Arc::clone(&shared)), ..options.clone() })
        };
        let lens: Arc<dyn Container> =
            Arc::from((self.opened.lens_of)(Arc::new(open), &self.opened.options)?);
        self.opened.keep(self.number, &lens);
        Ok(lens)
    }

    /// The frame for itself, with the options of the store.
    ///
    /// # Errors
    /// Those of opening it.
    pub(crate) fn frame(&self) -> Result<Frame> {
        let shared = Some(Arc::clone(&self.opened.shared));
        self.bytes.open(&OpenOptions { shared, ..OpenOptions::from(&self.opened.options) })
    }
}
