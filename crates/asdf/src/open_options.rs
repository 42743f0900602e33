//! How a file is opened.

use std::path::PathBuf;

use container_core::Limits;
use container_core::codec::Codecs;
use container_core::container::Tolerance;
use container_core::source::Access;

use crate::yaml::{DuplicateKeys, YamlLimits};

/// How far a reader goes along with a file that breaks the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Whatever [check](crate::File::faults) calls a warning or an error keeps the file from being opened.
    Strict,
    /// The file opens, and what is damaged is an error when it is read. What is whole is read.
    #[default]
    Compatible,
    /// What is there is read as far as it goes: the rows of a block that is cut, the used bytes of a plain block with two sizes, the blocks
    /// of a file without a readable tree.
    Lenient,
}

/// Which other files an array or a reference may name. The network is never asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum External {
    /// Files in the folder of the file or below it, by relative names. A file without a path has none.
    #[default]
    Beside,
    /// Files in that folder or below it. Names count from the folder of the file, or from that one for a file without a path.
    Below(PathBuf),
    /// None.
    Refuse,
}

/// How a file is opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// How far mistakes are gone along with.
    pub policy: Policy,
    /// Bounds on what the file may ask for.
    pub limits: Limits,
    /// Bounds on its tree.
    pub yaml: YamlLimits,
    /// How its bytes are reached.
    pub access: Access,
    /// The codecs of blocks, by their labels on disk.
    pub codecs: Codecs,
    /// What is done with a mapping that has a key twice.
    pub duplicate_keys: DuplicateKeys,
    /// Which other files may be opened.
    pub external: External,
    /// Most other files that are opened, and most that lead from one to the next.
    pub most_external: (usize, usize),
}

impl Default for OpenOptions {
    /// Compatible, the default limits, files beside this one: up to 16,384 of them, 8 in a row.
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            limits: Limits::default(),
            yaml: YamlLimits::default(),
            access: Access::default(),
            codecs: crate::compression::codecs(),
            duplicate_keys: DuplicateKeys::default(),
            external: External::default(),
            most_external: (16_384, 8),
        }
    }
}

impl OpenOptions {
    /// The same with another policy.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
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
    /// What [`Tolerance::Strict`] promises, files that keep to the specification and known dialects, is [`Policy::Compatible`].
    fn from(options: &container_core::container::OpenOptions) -> Self {
        let policy = match options.tolerance {
            Tolerance::Strict => Policy::Compatible,
            Tolerance::Lenient => Policy::Lenient,
        };
        Self { policy, limits: options.limits, access: options.access, ..Self::default() }
    }
}
