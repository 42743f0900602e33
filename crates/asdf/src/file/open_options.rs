//! Options for opening a file.

use std::path::PathBuf;

use container_core::Limits;
use container_core::codec::Codecs;
use container_core::container::Tolerance;
use container_core::source::Access;

use crate::yaml::{DuplicateKeys, YamlLimits};

/// Strictness towards files that break the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// A warning or an error of [check](crate::File::faults) keeps the file from being opened.
    Strict,
    /// The file opens; reading a damaged part is an error, and the rest is read.
    #[default]
    Compatible,
    /// All readable data are read: the rows of a block that is cut, the used bytes of a plain block with two sizes, the blocks of a file without a
    /// readable tree.
    Lenient,
}

/// External files that an array or a reference may name. The network is never used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ExternalFiles {
    /// Files in the folder of the file or below it, by relative names. A file without a path has none.
    #[default]
    SameFolder,
    /// Files in that folder or below it. Names are relative to the folder of the file, or to that one for a file without a path.
    Under(PathBuf),
    /// None.
    Deny,
}

/// Options for opening a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Strictness towards faults of the file.
    pub strictness: Strictness,
    /// Bounds on the resources that a file may take.
    pub limits: Limits,
    /// Bounds on its tree.
    pub yaml: YamlLimits,
    /// Access to the bytes of the file.
    pub access: Access,
    /// The codecs of blocks, by their labels on disk.
    pub codecs: Codecs,
    /// Treatment of mappings with duplicate keys.
    pub duplicate_keys: DuplicateKeys,
    /// External files that may be opened.
    pub external: ExternalFiles,
    /// Maximum number of other files that are opened.
    pub max_external_files: usize,
    /// Maximum number of files in a chain in which each names the next.
    pub max_external_depth: usize,
}

impl Default for OpenOptions {
    /// Compatible, the default limits, files next to this one: up to 16,384 of them, 8 in a row.
    fn default() -> Self {
        Self {
            strictness: Strictness::default(),
            limits: Limits::default(),
            yaml: YamlLimits::default(),
            access: Access::default(),
            codecs: crate::compression::codecs(),
            duplicate_keys: DuplicateKeys::default(),
            external: ExternalFiles::default(),
            max_external_files: 16_384,
            max_external_depth: 8,
        }
    }
}

impl OpenOptions {
    /// The same with another strictness.
    #[must_use]
    pub fn with_strictness(self, strictness: Strictness) -> Self {
        Self { strictness, ..self }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same with other codecs.
    #[must_use]
    pub fn with_codecs(self, codecs: Codecs) -> Self {
        Self { codecs, ..self }
    }
}

impl From<&Self> for OpenOptions {
    fn from(options: &Self) -> Self {
        options.clone()
    }
}

impl From<&container_core::container::OpenOptions> for OpenOptions {
    /// Maps [`Tolerance::Strict`], which accepts files that keep to the specification and known dialects, to [`Strictness::Compatible`].
    fn from(options: &container_core::container::OpenOptions) -> Self {
        let strictness = match options.tolerance {
            Tolerance::Strict => Strictness::Compatible,
            Tolerance::Lenient => Strictness::Lenient,
        };
        Self { strictness, limits: options.limits, access: options.access, ..Self::default() }
    }
}
