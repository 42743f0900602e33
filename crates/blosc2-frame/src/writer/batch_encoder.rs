//! Encoding, one chunk on several threads or several chunks at once. The bytes do not depend on how many threads there are.

use blosc_chunk::{Encoder, Geometry, Params, Plugins};
use container_core::threads::fill_in_order;
use container_core::{Error, ErrorKind, Result};

/// Raw bytes that wait to be encoded at once, or to be written.
const MAX_BATCH_LEN: usize = 64 << 20;

/// Below this many bytes a thread costs more than it encodes.
const MIN_THREAD_LEN: usize = 64 << 10;

/// Encoders for one way of encoding; made when there is something to encode, so that chunks which are only copied may be of codecs that
/// are not here.
#[derive(Debug)]
pub(crate) struct BatchEncoder {
    params: Params,
    geometry: Geometry,
    plugins: Plugins,
    /// One for each thread that was ever needed.
    encoders: Vec<Encoder>,
    /// Memory of chunks that have been passed on.
    buffers: Vec<Vec<u8>>,
}

impl BatchEncoder {
    /// # Errors
    /// `Usage` for parameters that make no sense together.
    pub(crate) fn new(params: Params, geometry: Geometry, plugins: Plugins) -> Result<Self> {
        let mut engine = Self::lazy(params, geometry, plugins);
        match engine.encoder() {
            // What cannot be encoded may still be copied.
            Err(error) if !matches!(error.kind(), ErrorKind::Unsupported(_)) => Err(error),
            _ => Ok(engine),
        }
    }

    /// As [`BatchEncoder::new`], where parameters show what is wrong with them when there is something to encode: those of a file.
    pub(crate) fn lazy(params: Params, geometry: Geometry, plugins: Plugins) -> Self {
        Self { params, geometry, plugins, encoders: Vec::new(), buffers: Vec::new() }
    }

    /// The engine, leaving one in its place that has no encoders yet.
    pub(crate) fn take(&mut self) -> Self {
        let rest = Self::lazy(self.params.clone(), self.geometry.clone(), self.plugins.clone());
        std::mem::replace(self, rest)
    }

    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub(crate) fn plugins(&self) -> &Plugins {
        &self.plugins
    }

    pub(crate) fn params(&self) -> &Params {
        &self.params
    }

    /// One for the same frame that encodes otherwise.
    ///
    /// # Errors
    /// As [`BatchEncoder::new`].
    pub(crate) fn with_params(&self, params: Params) -> Result<Self> {
        Self::new(params, self.geometry.clone(), self.plugins.clone())
    }

    /// An encoder on as many threads as the parameters say.
    ///
    /// # Errors
    /// Those of [`Encoder::new`].
    pub(crate) fn encoder(&mut self) -> Result<&mut Encoder> {
        self.grow(1)?;
        let threads = self.params.threads;
        let encoder = self.encoders.first_mut().ok_or_else(no_encoder)?;
        encoder.set_threads(threads);
        Ok(encoder)
    }

    fn grow(&mut self, count: usize) -> Result<()> {
        while self.encoders.len() < count {
            let encoder = Encoder::new_with_plugins(
                Params { threads: 1, ..self.params.clone() },
                self.plugins.clone(),
            )?;
            self.encoders.push(encoder.with_geometry(self.geometry.clone()));
        }
        Ok(())
    }

    /// Encodes each of `pieces` and passes the chunks to `sink` in order, on this thread, while others are being encoded.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`] and of `sink`.
    pub(crate) fn encode(
        &mut self,
        pieces: &[&[u8]],
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut rest = pieces;
        while let Some(first) = rest.first() {
            // As many as may wait at once, and at least one.
            let mut bytes = first.len();
            let more = rest.iter().skip(1).take_while(|piece| {
                bytes = bytes.saturating_add(piece.len());
                bytes <= MAX_BATCH_LEN
            });
            let (batch, after) = rest.split_at(1 + more.count());
            rest = after;
            let bytes: usize = batch.iter().map(|piece| piece.len()).sum();
            let threads = self.params.threads.min(batch.len()).min(bytes / MIN_THREAD_LEN);
            if threads > 1 {
                self.shared(batch, threads, sink)?;
                continue;
            }
            let mut out = self.buffers.pop().unwrap_or_default();
            for piece in batch {
                out.clear();
                self.encoder()?.encode(piece, &mut out)?;
                sink(&out)?;
            }
            self.buffers.push(out);
        }
        Ok(())
    }

    /// As [`BatchEncoder::encode`], an encoder for each thread.
    fn shared(
        &mut self,
        pieces: &[&[u8]],
        threads: usize,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.grow(threads)?;
        let tools = self.encoders.get_mut(..threads).ok_or_else(no_encoder)?;
        tools.iter_mut().for_each(|encoder| encoder.set_threads(1));
        fill_in_order(
            tools,
            &mut self.buffers,
            pieces,
            |encoder, piece, out| encoder.encode(piece, out).map(|_| ()),
            sink,
        )
    }
}

fn no_encoder() -> Error {
    Error::usage("no encoder")
}
