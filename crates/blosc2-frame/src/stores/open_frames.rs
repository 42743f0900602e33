//! Cache of open frames of a store, bounded because a store may have more leaves than memory holds.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use container_core::Result;
use container_core::container::{self, Container};

use super::slice_source::{Shared, SliceSource};
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
    /// A range of a source.
    Within(Shared, Range<u64>),
    /// A file, or the directory of a sparse frame.
    At(PathBuf),
}

impl Bytes {
    fn open(&self, options: &OpenOptions) -> Result<Frame> {
        match self {
            Self::Within(source, range) => {
                let slice = SliceSource { source: Arc::clone(source), end: range.end };
                Frame::from_source(Box::new(slice), range.start, options)
            }
            Self::At(path) => Frame::open_with(path, options),
        }
    }
}

/// Opens a frame with other options than those it was found with.
pub(crate) type Opener = Arc<dyn Fn(&OpenOptions) -> Result<Frame> + Send + Sync>;

/// Opens the container of a single frame.
pub(crate) type OpenContainer = fn(Opener, &container::OpenOptions) -> Result<Box<dyn Container>>;

/// The open frames of one store, least recently used first.
pub(crate) struct OpenFrames {
    open_container: OpenContainer,
    options: container::OpenOptions,
    /// Decoded blocks and decoders of all of them.
    shared: Arc<cache::Shared>,
    /// The number of the next leaf.
    next: AtomicU64,
    /// The one that was used last is the last.
    open: Mutex<VecDeque<OpenFrame>>,
}

struct OpenFrame {
    /// The number of its leaf.
    number: u64,
    container: Arc<dyn Container>,
    /// Bytes that it takes, about.
    weight: u64,
}

impl OpenFrames {
    /// Creates an empty set.
    pub(crate) fn new(options: &container::OpenOptions, open_container: OpenContainer) -> Self {
        let shared = Arc::new(cache::Shared::new(&OpenOptions::from(options)));
        Self {
            open_container,
            options: options.clone(),
            shared,
            next: AtomicU64::new(0),
            open: Mutex::default(),
        }
    }

    /// Returns the frame of the leaf `number`, if it is open.
    fn get(&self, number: u64) -> Option<Arc<dyn Container>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let at = open.iter().rposition(|own| own.number == number)?;
        let found = open.remove(at)?;
        let container = Arc::clone(&found.container);
        open.push_back(found);
        Some(container)
    }

    fn keep(&self, number: u64, container: &Arc<dyn Container>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first.
        open.retain(|own| own.number != number);
        open.push_back(OpenFrame { number, container: Arc::clone(container), weight: weight(&**container) });
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
fn weight(container: &dyn Container) -> u64 {
    let Some(frame) = container.as_any().and_then(|native| native.downcast_ref::<Frame>()) else { return 0 };
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
pub(crate) struct LazyFrame {
    bytes: Bytes,
    number: u64,
    open_frames: Arc<OpenFrames>,
}

impl LazyFrame {
    pub(crate) fn new(bytes: Bytes, open_frames: &Arc<OpenFrames>) -> Self {
        let number = open_frames.next.fetch_add(1, Ordering::Relaxed);
        Self { bytes, number, open_frames: Arc::clone(open_frames) }
    }

    /// Returns the container of the frame, opened if it is not yet.
    ///
    /// # Errors
    /// Those of opening it.
    pub(crate) fn open(&self) -> Result<Arc<dyn Container>> {
        if let Some(container) = self.open_frames.get(self.number) {
            return Ok(container);
        }
        let (bytes, shared) = (self.bytes.clone(), Arc::clone(&self.open_frames.shared));
        let open = move |options: &OpenOptions| {
            bytes.open(&OpenOptions { shared: Some(Arc::clone(&shared)), ..options.clone() })
        };
        let container: Arc<dyn Container> =
            Arc::from((self.open_frames.open_container)(Arc::new(open), &self.open_frames.options)?);
        self.open_frames.keep(self.number, &container);
        Ok(container)
    }

    /// Returns the frame for itself, with the options of the store.
    ///
    /// # Errors
    /// Those of opening it.
    pub(crate) fn frame(&self) -> Result<Frame> {
        let shared = Some(Arc::clone(&self.open_frames.shared));
        self.bytes.open(&OpenOptions { shared, ..OpenOptions::from(&self.open_frames.options) })
    }
}
