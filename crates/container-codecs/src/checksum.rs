//! Checksum algorithms, by name, behind one small factory.

use container_core::block::{Covers, StoredChecksum};
use container_core::checksum::{Checksum, Digest};
use container_core::source::PIECE_LEN;
use container_core::{Error, Result, Stop};

mod algorithms;
mod md5;
mod md5_lanes;

pub use md5_lanes::Md5Lanes;

/// The algorithms that the formats use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// Adler-32 (RFC 1950), 4 bytes.
    Adler32,
    /// CRC-32 (ISO-HDLC, as zlib), 4 bytes.
    Crc32,
    /// MD5 (RFC 1321), 16 bytes.
    Md5,
    /// SHA-1 (FIPS 180-4), 20 bytes.
    Sha1,
    /// SHA-224, 28 bytes.
    Sha224,
    /// SHA-256, 32 bytes.
    Sha256,
    /// SHA-384, 48 bytes.
    Sha384,
    /// SHA-512, 64 bytes.
    Sha512,
}

impl Algorithm {
    /// All of them, weakest first.
    pub const ALL: [Self; 8] = [
        Self::Adler32,
        Self::Crc32,
        Self::Md5,
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
    ];

    /// The name as hashlib spells it: `md5`, `sha256`, `adler32`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adler32 => "adler32",
            Self::Crc32 => "crc32",
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha224 => "sha224",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    /// The algorithm called `name`, in any case.
    ///
    /// # Errors
    /// `Usage`, listing the names.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
            Error::usage(format!("unknown checksum {name:?} (expected one of: {})", known.join(", ")))
        })
    }

    /// Length of the digest in bytes.
    #[must_use]
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Adler32 | Self::Crc32 => 4,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// A fresh running digest.
    #[must_use]
    pub fn start(self) -> Box<dyn Checksum> {
        algorithms::start(self)
    }

    /// The digest of one piece.
    #[must_use]
    pub fn digest(self, bytes: &[u8]) -> Digest {
        let mut running = self.start();
        running.update(bytes);
        running.finish()
    }

    /// The digest of one piece, until `stop` is requested.
    ///
    /// # Errors
    /// `Cancelled`.
    pub fn digest_until(self, bytes: &[u8], stop: Stop) -> Result<Digest> {
        let mut running = self.start();
        for piece in bytes.chunks(PIECE_LEN) {
            stop.check()?;
            running.update(piece);
        }
        Ok(running.finish())
    }

    /// A digest of this algorithm that a file stores for a block.
    #[must_use]
    pub fn stored(self, digest: Digest, covers: Covers) -> StoredChecksum {
        StoredChecksum { algorithm: self.name(), running: self.start(), digest, covers }
    }
}

#[cfg(test)]
mod tests;
