//! The crate that computes each checksum.

use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::md5::Md5;
use container_core::checksum::{Checksum, Digest};

use super::Algorithm;

pub(super) fn start(kind: Algorithm) -> Box<dyn Checksum> {
    match kind {
        Algorithm::Adler32 => Box::new(Adler32(simd_adler32::Adler32::new())),
        Algorithm::Crc32 => Box::new(Crc32(crc32fast::Hasher::new())),
        Algorithm::Md5 => Box::new(Md5::new()),
        Algorithm::Sha1 => Box::new(Hash(Sha1::default())),
        Algorithm::Sha224 => Box::new(Hash(Sha224::default())),
        Algorithm::Sha256 => Box::new(Hash(Sha256::default())),
        Algorithm::Sha384 => Box::new(Hash(Sha384::default())),
        Algorithm::Sha512 => Box::new(Hash(Sha512::default())),
    }
}

struct Adler32(simd_adler32::Adler32);

impl Checksum for Adler32 {
    fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn fork(&self) -> Box<dyn Checksum> {
        Box::new(Self(self.0.clone()))
    }

    fn finish(self: Box<Self>) -> Digest {
        digest(&self.0.finish().to_be_bytes())
    }
}

struct Crc32(crc32fast::Hasher);

impl Checksum for Crc32 {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn fork(&self) -> Box<dyn Checksum> {
        Box::new(Self(self.0.clone()))
    }

    fn finish(self: Box<Self>) -> Digest {
        digest(&self.0.finalize().to_be_bytes())
    }
}

/// Any hash of the RustCrypto family.
struct Hash<D>(D);

impl<D: sha2::Digest + Clone + Send + 'static> Checksum for Hash<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn fork(&self) -> Box<dyn Checksum> {
        Box::new(Self(self.0.clone()))
    }

    fn finish(self: Box<Self>) -> Digest {
        digest(&self.0.finalize())
    }
}

#[expect(clippy::expect_used, reason = "no digest here is longer than 64 bytes")]
pub(super) fn digest(bytes: &[u8]) -> Digest {
    Digest::new(bytes).expect("no algorithm here has a digest of more than 64 bytes")
}
