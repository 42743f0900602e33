//! Codecs and filters of the caller's own, by the numbers that Blosc2 leaves to users.
//!
//! A [`Plugins`] value is passed to a decoder or an encoder. There is no registry for the process, and no code is loaded
//! because a file names it: a chunk whose plugin is missing is refused.

use std::fmt;
use std::sync::Arc;

use container_core::{Error, ErrorKind, Result};

use crate::filters::BlockContext;

/// The first of the numbers for users; those below are built in, or registered with Blosc2.
const FIRST_ID: u8 = 160;

/// A missing codec or filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingPlugin {
    /// The codec of this number.
    Codec(u8),
    /// The filter of this number.
    Filter(u8),
}

impl MissingPlugin {
    /// The first number of codecs and filters that are not built into C-Blosc2.
    const FIRST_PLUGIN_ID: u8 = 32;

    /// Snappy, which no current library has.
    const SNAPPY: u8 = 3;

    /// Returns the plugin that an `Unsupported` error of a decoder misses; `None` for other errors, and for unassigned numbers.
    #[must_use]
    pub fn of(kind: &ErrorKind) -> Option<Self> {
        let ErrorKind::Unsupported(problem) = kind else { return None };
        let number = |prefix: &str| -> Option<u8> {
            let rest = problem.strip_prefix(prefix)?;
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let codec = number("codec ").filter(|id| *id >= Self::FIRST_PLUGIN_ID || *id == Self::SNAPPY);
        let filter = number("filter number ").filter(|id| *id >= Self::FIRST_PLUGIN_ID && *id != 34);
        codec.map(Self::Codec).or(filter.map(Self::Filter))
    }
}

/// Input of a plugin in addition to the bytes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PluginContext<'a> {
    /// Its own byte: `codec_meta` of the chunk, or that of the filter's slot.
    pub meta: u8,
    /// Bytes of an element: by the frame if the decoder has a [`Geometry`](crate::Geometry), else by the chunk (1 where they
    /// are over 255). When encoding, those of the [`Params`](crate::Params).
    pub typesize: usize,
    /// Shape of a block in elements, outermost axis first; empty for a chunk without one.
    pub blockshape: &'a [usize],
}

/// A codec: streams of bytes from and to shorter ones.
///
/// Chunks that repeat one value, streams of one byte over and over, and streams that the codec does not make shorter are stored
/// without it, as Blosc2 has it for all codecs.
pub trait CodecPlugin: Send + Sync {
    /// Its number in chunks, 160 to 255.
    fn id(&self) -> u8;

    /// Its name, for errors.
    fn name(&self) -> &str;

    /// Returns the version of its streams, `versionlz` of the chunk. Chunks of another version are refused (C-Blosc2 3.3.5
    /// passes any to the codec).
    fn version(&self) -> u8 {
        1
    }

    /// Decodes `src` and fills `dst` with it; what `dst` holds before is unspecified.
    ///
    /// # Errors
    /// `Malformed` when `src` does not decode to exactly as many bytes. Ranges count from the start of `src`.
    fn decode(&self, src: &[u8], cx: &PluginContext<'_>, dst: &mut [u8]) -> Result<()>;

    /// Encodes `src` to the front of `dst`, which is shorter than it, and returns the length; `None` when it does not fit.
    ///
    /// `level` is 1 to 9. The same input must give the same output.
    ///
    /// # Errors
    /// Those of the codec; they end the encoding of the chunk.
    fn encode(&self, src: &[u8], cx: &PluginContext<'_>, level: u8, dst: &mut [u8]) -> Result<Option<usize>>;
}

/// A filter: maps a block to another of the same length. `src` and `dst` are equally long. The contents of `dst` are unspecified
/// at first, and the filter has to fill all of it.
///
/// Chunks that repeat one value, and chunks that the codec does not shrink, are stored without it.
pub trait FilterPlugin: Send + Sync {
    /// Its number in chunks, 160 to 255.
    fn id(&self) -> u8;

    /// Its name, for errors.
    fn name(&self) -> &str;

    /// Filters a block, before the codec.
    ///
    /// # Errors
    /// Those of the filter; they end the encoding of the chunk.
    fn forward(&self, src: &[u8], cx: &PluginContext<'_>, dst: &mut [u8]) -> Result<()>;

    /// Undoes it, after the codec.
    ///
    /// # Errors
    /// `Malformed` for blocks that [`forward`](FilterPlugin::forward) does not make.
    fn backward(&self, src: &[u8], cx: &PluginContext<'_>, dst: &mut [u8]) -> Result<()>;
}

/// The plugins that a [`Decoder`](crate::Decoder) or an [`Encoder`](crate::Encoder) has. Clones share them.
#[derive(Clone, Default)]
pub struct Plugins {
    codecs: Vec<Arc<dyn CodecPlugin>>,
    filters: Vec<Arc<dyn FilterPlugin>>,
}

impl Plugins {
    /// Creates an empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { codecs: Vec::new(), filters: Vec::new() }
    }

    /// Adds a codec.
    ///
    /// # Errors
    /// `Usage` for numbers below 160, and for one that another codec has.
    pub fn register_codec(&mut self, codec: impl CodecPlugin + 'static) -> Result<()> {
        let before = self.codec(codec.id()).map(CodecPlugin::name);
        check("codec", codec.id(), codec.name(), before)?;
        self.codecs.push(Arc::new(codec));
        Ok(())
    }

    /// Adds a filter.
    ///
    /// # Errors
    /// `Usage` for numbers below 160, and for one that another filter has.
    pub fn register_filter(&mut self, filter: impl FilterPlugin + 'static) -> Result<()> {
        let before = self.filter(filter.id()).map(FilterPlugin::name);
        check("filter", filter.id(), filter.name(), before)?;
        self.filters.push(Arc::new(filter));
        Ok(())
    }

    /// Returns the codec of this number, borrowed.
    #[must_use]
    pub fn codec(&self, id: u8) -> Option<&dyn CodecPlugin> {
        self.codecs.iter().find(|codec| codec.id() == id).map(|codec| &**codec)
    }

    /// Returns the filter of this number, borrowed.
    #[must_use]
    pub fn filter(&self, id: u8) -> Option<&dyn FilterPlugin> {
        self.filters.iter().find(|filter| filter.id() == id).map(|filter| &**filter)
    }

    /// Returns the codec of this number, shared.
    pub(crate) fn shared_codec(&self, id: u8) -> Option<Arc<dyn CodecPlugin>> {
        self.codecs.iter().find(|codec| codec.id() == id).cloned()
    }
}

impl fmt::Debug for dyn CodecPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "codec {} ({})", self.id(), self.name())
    }
}

impl fmt::Debug for Plugins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codecs: Vec<_> = self.codecs.iter().map(|codec| (codec.id(), codec.name())).collect();
        let filters: Vec<_> = self.filters.iter().map(|filter| (filter.id(), filter.name())).collect();
        f.debug_struct("Plugins").field("codecs", &codecs).field("filters", &filters).finish()
    }
}

impl<'a> BlockContext<'a> {
    /// Returns the context of the block for a plugin with the byte `meta`.
    pub(crate) fn plugin(&self, meta: u8) -> PluginContext<'a> {
        PluginContext { meta, typesize: self.schunk_typesize, blockshape: self.blockshape }
    }
}

fn check(kind: &str, id: u8, name: &str, before: Option<&str>) -> Result<()> {
    if id < FIRST_ID {
        let problem = format!("{kind} `{name}` has the number {id} (expected {FIRST_ID} to 255)");
        return Err(Error::usage(problem));
    }
    match before {
        Some(before) => Err(Error::usage(format!("{kind} `{name}` has the number {id} of `{before}`"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
