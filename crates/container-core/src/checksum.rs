//! Running checksums and finished digests. The algorithms are in the crate `container-codecs`.

use std::fmt;

use crate::{Error, Result};

/// A running digest.
pub trait Checksum: Send {
    /// Takes the next bytes.
    fn update(&mut self, bytes: &[u8]);

    /// A second stream that has taken the same bytes.
    fn fork(&self) -> Box<dyn Checksum>;

    /// Ends the stream.
    fn finish(self: Box<Self>) -> Digest;
}

/// A finished digest: up to 64 bytes, in the order in which it is printed (the 32-bit sums most significant first).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    bytes: [u8; 64],
    len: u8,
}

impl Digest {
    /// Wraps the printed-order bytes of a digest.
    ///
    /// # Errors
    /// `Usage` when there are more than 64.
    pub fn new(digest: &[u8]) -> Result<Self> {
        let mut bytes = [0; 64];
        let len = u8::try_from(digest.len()).ok().filter(|len| *len <= 64);
        match (len, bytes.get_mut(..digest.len())) {
            (Some(len), Some(head)) => {
                head.copy_from_slice(digest);
                Ok(Self { bytes, len })
            }
            _ => Err(Error::usage("a digest has at most 64 bytes")),
        }
    }

    /// The bytes, in printed order.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_digest_prints_its_bytes_and_has_at_most_64() {
        let digest = Digest::new(&[0, 255, 16]).unwrap();
        assert_eq!((digest.to_string().as_str(), digest.as_bytes()), ("00ff10", &[0, 255, 16][..]));
        assert_eq!(format!("{digest:?}"), "Digest(00ff10)");
        assert_ne!(digest, Digest::new(&[0, 255, 16, 0]).unwrap());
        let most: Vec<u8> = (0..64).collect();
        assert_eq!(Digest::new(&most).unwrap().as_bytes(), most);
        assert!(matches!(Digest::new(&[0; 65]).unwrap_err().kind(), ErrorKind::Usage(_)));
        assert!(Digest::new(&[0; 256]).is_err());
        assert_eq!(Digest::new(&[]).unwrap().as_bytes(), [0_u8; 0]);
    }
}
