//! Raw Snappy, as old Blosc chunks hold it, by snap. Only read.

use snap::raw::{Decoder, decompress_len};

use super::shared::wrong_length;
use container_core::codec::Codec;
use container_core::{Error, Result};

/// `snappy`: the raw format, a length and its tags, without frames. Decodes only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snappy;

impl Codec for Snappy {
    fn name(&self) -> &str {
        "snappy"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let said =
            decompress_len(src).map_err(|error| wrong_length("snappy", dst.len(), error.to_string()))?;
        if said != dst.len() {
            return Err(wrong_length("snappy", dst.len(), format!("the data declare {said}")));
        }
        match Decoder::new().decompress(src, dst) {
            Ok(made) if made == said => Ok(()),
            Ok(made) => Err(wrong_length("snappy", dst.len(), format!("only {made} found"))),
            Err(error) => Err(wrong_length("snappy", dst.len(), error.to_string())),
        }
    }

    fn encode(&self, _src: &[u8], _level: Option<i32>, _out: &mut Vec<u8>) -> Result<()> {
        Err(Error::unsupported("snappy is only read"))
    }

    fn max_encoded_len(&self, _len: usize) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use container_core::ErrorKind;

    /// Bytes by hand from the format's description: the length as a varint; a literal tag holds length - 1 above two bits; a copy tag of
    /// one byte has 01 below, length - 4, then the offset.
    #[test]
    fn literals_and_copies_fill_exactly() {
        let stream = [12, (4 - 1) << 2, b'a', b'b', b'c', b'd', (8 - 4) << 2 | 1, 4];
        let mut dst = [0; 12];
        Snappy.decode(&stream, &mut dst).unwrap();
        assert_eq!(&dst, b"abcdabcdabcd");
        for (stream, len) in [(&stream[..], 11), (&stream[..], 13), (&stream[..7], 12), (&stream[..0], 0)] {
            let error = Snappy.decode(stream, &mut vec![0; len]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{len}");
        }
    }

    #[test]
    fn it_does_not_write() {
        let error = Snappy.encode(b"abc", None, &mut Vec::new()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)));
    }
}
