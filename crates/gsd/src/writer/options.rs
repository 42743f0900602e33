//! Options of writing a file.

use container_core::dtype::ByteOrder;
use container_core::write::Durability;
use container_core::{Error, Limits, Result};

use super::{CURRENT_VERSION, empty_file};
use crate::header::{Header, Version, name_field};

/// Layout of commits in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CommitScheme {
    /// The header contains the number of index entries and is written last, so that a commit is complete or absent. Every
    /// reader of GSD reads such files, and the reference appends to them.
    #[default]
    Atomic,
    /// As gsd 5.0.1 writes, byte for byte.
    Reference,
}

/// The time at which ended frames are committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Commit {
    /// At the end of each frame.
    #[default]
    EveryFrame,
    /// When this many have ended since the last commit; 0 counts as 1.
    Every(u64),
    /// By [`Writer::flush`](super::Writer::flush) and [`Writer::close`](super::Writer::close), and only then.
    Manual,
}

/// Alignment of chunks in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChunkAlignment {
    /// No alignment, as the reference writes. The only one in [`CommitScheme::Reference`].
    Packed,
    /// 8 bytes: mapped chunks of every type can be borrowed.
    #[default]
    Eight,
    /// 64 bytes, a cache line.
    SixtyFour,
}

impl ChunkAlignment {
    /// In bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Packed => 1,
            Self::Eight => 8,
            Self::SixtyFour => 64,
        }
    }
}

/// The reference's modes of opening for writing. Its `r` is [`crate::File`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteMode {
    /// `r+`: an existing file.
    ReadWrite,
    /// `w`: a new file, replacing an existing one.
    Write,
    /// `x`: a new file at an unused path.
    Exclusive,
    /// `a`: an existing file, or else a new one.
    Append,
}

impl WriteMode {
    /// Returns the mode with this name in the reference.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "r+" => Some(Self::ReadWrite),
            "w" => Some(Self::Write),
            "x" => Some(Self::Exclusive),
            "a" => Some(Self::Append),
            _ => None,
        }
    }
}

/// Options of writing a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WriterOptions {
    /// Name of the program, up to 63 bytes. For new files.
    pub application: String,
    /// Name of the schema, up to 63 bytes. For new files.
    pub schema: String,
    /// Version of the schema. For new files.
    pub schema_version: Version,
    /// Layout of commits.
    pub scheme: CommitScheme,
    /// The time at which frames are committed.
    pub commit: Commit,
    /// Whether commits wait for the disk, each of them twice. Frames committed without waiting survive the end of the process, but
    /// not a power cut.
    pub durability: Durability,
    /// Alignment of chunks.
    pub alignment: ChunkAlignment,
    /// Maximum number of bytes of chunks that are buffered in memory. Larger chunks are not buffered.
    pub maximum_write_buffer_size: usize,
    /// Bounds on what an existing file may ask for.
    pub limits: Limits,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self {
            application: concat!("holdall ", env!("CARGO_PKG_VERSION")).into(),
            schema: "none".into(),
            schema_version: Version::new(1, 0),
            scheme: CommitScheme::Atomic,
            commit: Commit::EveryFrame,
            durability: Durability::Synced,
            alignment: ChunkAlignment::Eight,
            maximum_write_buffer_size: 1 << 20,
            limits: Limits::default(),
        }
    }
}

impl WriterOptions {
    /// The same with another scheme.
    #[must_use]
    pub const fn with_scheme(mut self, scheme: CommitScheme) -> Self {
        self.scheme = scheme;
        self
    }

    /// The same with commits at another time.
    #[must_use]
    pub const fn with_commit(mut self, commit: Commit) -> Self {
        self.commit = commit;
        self
    }

    /// The same, waiting for the disk or not.
    #[must_use]
    pub const fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The same for another application, schema and version of the schema.
    #[must_use]
    pub fn with_schema(mut self, application: &str, schema: &str, version: Version) -> Self {
        (self.application, self.schema) = (application.into(), schema.into());
        self.schema_version = version;
        self
    }

    pub(super) fn check(&self) -> Result<()> {
        check_buffer_size(self.maximum_write_buffer_size)
    }

    /// Returns the alignment of chunks, in bytes.
    pub(super) const fn chunk_alignment(&self) -> u64 {
        match self.scheme {
            CommitScheme::Atomic => self.alignment.bytes(),
            CommitScheme::Reference => 1,
        }
    }

    /// The header of a new file without chunks.
    pub(super) fn header(&self) -> Result<Header> {
        self.check()?;
        Ok(empty_file::header_of(
            self.scheme,
            &Header {
                byte_order: ByteOrder::Little,
                index_location: 0,
                index_allocated_entries: 0,
                namelist_location: 0,
                namelist_allocated_entries: 0,
                schema_version: self.schema_version,
                gsd_version: CURRENT_VERSION,
                application: name_field("application", &self.application)?,
                schema: name_field("schema", &self.schema)?,
                reserved: [0; 80],
            },
        ))
    }
}

pub(super) fn check_buffer_size(bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Err(Error::usage("the write buffer cannot be of 0 bytes"));
    }
    Ok(())
}
