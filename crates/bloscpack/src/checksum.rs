//! The checksums by their codes, and their digests as stored in files.

use std::fmt;

use container_codecs::checksum::Algorithm;
use container_core::checksum::Digest;
use container_core::{Error, Result};

/// Code of a checksum: 0 means none, 1 to 8 are the algorithms. Other codes are kept, but chunks with one cannot be read: the
/// length of their digests is unknown.
///
/// Spec: "checksum" in the header description of the Bloscpack README.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChecksumCode(pub u8);

impl ChecksumCode {
    /// No checksum.
    pub const NONE: Self = Self(0);
    /// Adler-32, the default of the reference.
    pub const ADLER32: Self = Self(1);

    /// The code of an algorithm.
    #[must_use]
    pub fn from_algorithm(algorithm: Option<Algorithm>) -> Self {
        let place = Algorithm::ALL.iter().position(|known| Some(*known) == algorithm);
        Self(place.map_or(0, |place| u8::try_from(place + 1).unwrap_or(0)))
    }

    /// The code with a name: `none`, or the name of an algorithm.
    ///
    /// # Errors
    /// `Usage`, listing the names.
    pub fn from_name(name: &str) -> Result<Self> {
        if name.eq_ignore_ascii_case("none") {
            return Ok(Self::NONE);
        }
        let algorithm = Algorithm::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name));
        algorithm.map(|algorithm| Self::from_algorithm(Some(algorithm))).ok_or_else(|| {
            let known: Vec<&str> = Algorithm::ALL.iter().map(|kind| kind.name()).collect();
            Error::usage(format!("unknown checksum {name:?} (expected one of: none, {})", known.join(", ")))
        })
    }

    /// True for a code from 0 to 8.
    #[must_use]
    pub const fn is_known(self) -> bool {
        (self.0 as usize) <= Algorithm::ALL.len()
    }

    /// The algorithm; `None` for code 0.
    ///
    /// # Errors
    /// `Unsupported` for codes over 8.
    pub fn algorithm(self) -> Result<Option<Algorithm>> {
        match usize::from(self.0).checked_sub(1) {
            None => Ok(None),
            Some(place) => Algorithm::ALL
                .get(place)
                .map(|algorithm| Some(*algorithm))
                .ok_or_else(|| Error::unsupported(format!("unknown checksum {} (expected 0 to 8)", self.0))),
        }
    }

    /// Bytes of a digest in the file; 0 for code 0 and for unknown ones.
    #[must_use]
    pub fn digest_len(self) -> usize {
        self.algorithm().ok().flatten().map_or(0, Algorithm::digest_len)
    }

    /// The name: `none`, `adler32` … `sha512`, or `unknown`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.algorithm().map_or("unknown", |algorithm| algorithm.map_or("none", Algorithm::name))
    }

    /// Appends the digest of `bytes` to `out` as files store it: the 32-bit sums least significant byte first (unlike
    /// zlib's own), the hashes as they are. Code 0 and unknown ones append no bytes.
    pub fn append_digest(self, bytes: &[u8], out: &mut Vec<u8>) {
        if let Ok(Some(algorithm)) = self.algorithm() {
            out.extend(stored(algorithm, algorithm.digest(bytes).as_bytes()));
        }
    }

    /// Appends the digest of `chunk` to it.
    pub(crate) fn complete(self, chunk: &mut Vec<u8>) {
        let mut digest = Vec::new();
        self.append_digest(chunk, &mut digest);
        chunk.append(&mut digest);
    }

    /// The digest that `stored` holds, [`ChecksumCode::digest_len`] bytes of a file.
    ///
    /// # Errors
    /// `Usage` when there are more than 64 bytes, `Unsupported` for unknown codes.
    pub fn parse_digest(self, bytes: &[u8]) -> Result<Option<Digest>> {
        let Some(algorithm) = self.algorithm()? else { return Ok(None) };
        Digest::new(&stored(algorithm, bytes)).map(Some)
    }
}

impl fmt::Display for ChecksumCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Converts from printed order to the file's, and back.
fn stored(algorithm: Algorithm, digest: &[u8]) -> Vec<u8> {
    let mut bytes = digest.to_vec();
    if matches!(algorithm, Algorithm::Adler32 | Algorithm::Crc32) {
        bytes.reverse();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_names_and_lengths_are_those_of_the_specification() {
        let table = [
            ("none", 0),
            ("adler32", 4),
            ("crc32", 4),
            ("md5", 16),
            ("sha1", 20),
            ("sha224", 28),
            ("sha256", 32),
            ("sha384", 48),
            ("sha512", 64),
        ];
        for (code, (name, len)) in (0_u8..).zip(table) {
            let code = ChecksumCode(code);
            assert_eq!((code.name(), code.digest_len()), (name, len));
            assert_eq!((code.to_string().as_str(), code.is_known()), (name, true));
            assert_eq!(ChecksumCode::from_name(name).unwrap(), code);
            assert_eq!(ChecksumCode::from_algorithm(code.algorithm().unwrap()), code);
        }
        assert!(ChecksumCode(9).algorithm().is_err() && ChecksumCode(255).digest_len() == 0);
        assert_eq!((ChecksumCode(9).to_string(), ChecksumCode(9).is_known()), ("unknown".to_owned(), false));
        assert_eq!(ChecksumCode::from_name("NONE").unwrap(), ChecksumCode::NONE);
        assert!(ChecksumCode::from_name("md4").is_err());
    }

    #[test]
    fn sums_are_stored_least_significant_byte_first() {
        // The last chunk and digest of the 155-byte file in the format's description: adler32 0x36db063b.
        let chunk = b"\x02\x01\x13\x08\x0f\0\0\0\x08\0\0\0\x1f\0\0\0hello bloscpack";
        let mut out = Vec::new();
        ChecksumCode::ADLER32.append_digest(chunk, &mut out);
        assert_eq!(out, [0x3b, 0x06, 0xdb, 0x36]);
        let digest = ChecksumCode::ADLER32.parse_digest(&out).unwrap().unwrap();
        assert_eq!(digest.to_string(), "36db063b");
        assert_eq!(digest, Algorithm::Adler32.digest(chunk));
        // md5 of no bytes, RFC 1321.
        let mut out = Vec::new();
        ChecksumCode(3).append_digest(b"", &mut out);
        assert_eq!(out[..4], [0xd4, 0x1d, 0x8c, 0xd9]);
    }
}
