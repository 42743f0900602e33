//! The package's words for how files are opened, read and written.

use std::sync::Arc;

use container_core::container::{Axes, Defaults, Digests, OpenOptions, ReadOptions, Tolerance};
use container_core::dtype::DType;
use container_core::format::TargetOptions;
use container_core::source::Access;
use container_core::write::{Durability, Overwrite};
use holdall::convert::Losses;
use holdall::{Error, Limits};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::urls::Urls;

/// The manner in which a file is opened: `open`'s keywords as a dict.
#[derive(Default, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct OpenWords {
    max_memory: Option<u64>,
    lenient: bool,
    mmap: Option<bool>,
    c_order: bool,
    stored: bool,
    assume_dtype: Option<String>,
    assume_codec: Option<String>,
    /// Settings for URLs.
    storage: Option<Vec<(String, String)>>,
}

impl OpenWords {
    pub(crate) fn limits(&self) -> Limits {
        let limits = Limits::default();
        self.max_memory.map_or(limits, |bytes| limits.with_memory(bytes))
    }

    /// # Errors
    /// Those of a type that is none.
    pub(crate) fn options(&self) -> PyResult<OpenOptions> {
        let mut options = OpenOptions::default();
        options.limits = self.limits();
        options.tolerance = if self.lenient { Tolerance::Lenient } else { Tolerance::Strict };
        options.access = match self.mmap {
            Some(false) => Access::Positioned,
            Some(true) | None => Access::Auto,
        };
        options.axes = if self.c_order { Axes::Reversed } else { Axes::AsStored };
        options.defaults = if self.stored { Defaults::StoredOnly } else { Defaults::Apply };
        let parsed = self.assume_dtype.as_deref().map(DType::parse).transpose();
        options.assume_dtype =
            parsed.map_err(|error| raise(Error::usage(format!("assume_dtype: {error}"))))?;
        options.assume_codec.clone_from(&self.assume_codec);
        options.addresses = Some(Arc::new(Urls(self.storage.clone().unwrap_or_default())));
        Ok(options)
    }
}

/// `whole`, `compare` or `ignore`.
///
/// # Errors
/// `ValueError` for another word.
pub(crate) fn digests(word: &str) -> PyResult<Digests> {
    match word {
        "whole" => Ok(Digests::Whole),
        "compare" => Ok(Digests::Compare),
        "ignore" => Ok(Digests::Ignore),
        _ => Err(PyValueError::new_err(format!(
            "unknown digests {word:?} (expected 'whole', 'compare' or 'ignore')"
        ))),
    }
}

/// Options for reading on so many threads.
pub(crate) fn read(threads: usize, digests: Digests, limits: Limits) -> ReadOptions {
    let mut options = ReadOptions::default().with_threads(threads.clamp(1, 1024)).with_limits(limits);
    options.digests = digests;
    options
}

/// Options for a new file: the keywords of `save` and `convert`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct WriteWords {
    pub(crate) format: Option<String>,
    pub(crate) overwrite: bool,
    pub(crate) durable: bool,
    pub(crate) verify: bool,
    refuse_losses: bool,
    pub(crate) fill: Option<String>,
    c_order: bool,
    codec: Option<(String, Option<i32>)>,
    /// Everything else by its word: `("filter", "shuffle")`.
    words: Vec<(String, String)>,
}

impl WriteWords {
    pub(crate) const fn overwrites(&self) -> Overwrite {
        if self.overwrite { Overwrite::Replace } else { Overwrite::Refuse }
    }

    pub(crate) const fn durability(&self) -> Durability {
        if self.durable { Durability::Synced } else { Durability::Cached }
    }

    pub(crate) const fn losses(&self) -> Losses {
        if self.refuse_losses { Losses::Refuse } else { Losses::Report }
    }

    pub(crate) fn import(&self) -> TargetOptions {
        let mut options = TargetOptions::default();
        options.codec.clone_from(&self.codec);
        options.extra.clone_from(&self.words);
        options.axes = if self.c_order { Axes::Reversed } else { Axes::AsStored };
        options
    }
}
