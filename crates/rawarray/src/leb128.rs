//! Integers as LEB128 varints, the encoded form of RawArray.jl (flag bit 1).
//!
//! Unsigned: groups of seven bits, the lowest first, with the high bit set on all but the last. Signed: zig-zag first (0, −1, 1, −2 … become 0, 1, 2,
//! 3 …). Elements follow each other in storage order and continue to the end of the file.
//!
//! RawArray.jl shifts by 63 where Int128 needs 127, so 128-bit integers of large magnitude are wrong in files that it wrote; they decode to the
//! values in such a file.

use container_core::codec::Codec;
use container_core::dtype::{ByteOrder, DType, Kind};
use container_core::{Error, Result};

/// Name of the codec.
pub(crate) const NAME: &str = "leb128";

/// Varints of one integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leb128 {
    width: usize,
    signed: bool,
    order: ByteOrder,
}

/// Result of scanning a run of varints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scan {
    /// Whole values found, at most the wanted number.
    pub values: u64,
    /// Bytes they take.
    pub used: usize,
    /// Reason why it stopped.
    pub stop: Stop,
}

/// Reason why a scan stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// All wanted values are there.
    Done,
    /// The bytes end before the last value does.
    EndsEarly,
    /// A value does not fit the type.
    TooLarge,
}

impl Leb128 {
    /// The codec for `dtype`; `None` where it is not an integer of at most 128 bits or a bool, the only types that
    /// RawArray.jl encodes.
    pub(crate) fn new(dtype: &DType) -> Option<Self> {
        let scalar = dtype.as_scalar().filter(|scalar| (1..=16).contains(&scalar.size))?;
        let signed = match scalar.kind {
            Kind::Int => true,
            Kind::Uint | Kind::Bool => false,
            _ => return None,
        };
        Some(Self { width: scalar.size, signed, order: scalar.order })
    }

    /// The value at the start of `src` and the rest.
    fn value<'a>(&self, src: &'a [u8]) -> std::result::Result<(u128, &'a [u8]), Stop> {
        let bits = self.width * 8;
        let mut value = 0_u128;
        for (group, byte) in src.iter().enumerate() {
            let (low, shift) = (u128::from(byte & 0x7f), group * 7);
            // At most ceil(bits / 7) groups, and no bits in the last one beyond the type.
            if shift >= bits || (shift + 7 > bits && low >> (bits - shift) != 0) {
                return Err(Stop::TooLarge);
            }
            value |= low << shift;
            if byte & 0x80 == 0 {
                return Ok((value, &src[group + 1..]));
            }
        }
        Err(Stop::EndsEarly)
    }

    /// Counts values, up to `most`, without decoding them anywhere.
    pub(crate) fn scan(&self, src: &[u8], most: u64) -> Scan {
        let mut rest = src;
        let mut values = 0;
        while values < most {
            match self.value(rest) {
                Ok((_, after)) => rest = after,
                Err(stop) => return Scan { values, used: src.len() - rest.len(), stop },
            }
            values += 1;
        }
        Scan { values, used: src.len() - rest.len(), stop: Stop::Done }
    }

    fn put(&self, raw: u128, dst: &mut [u8]) {
        // Zig-zag: the lowest bit is the sign.
        let value = if self.signed { (raw >> 1) ^ (raw & 1).wrapping_neg() } else { raw };
        dst.copy_from_slice(&value.to_le_bytes()[..self.width]);
        if self.order == ByteOrder::Big {
            dst.reverse();
        }
    }

    fn get(&self, src: &[u8]) -> u128 {
        let mut bytes = [0; 16];
        bytes[..self.width].copy_from_slice(src);
        if self.order == ByteOrder::Big {
            bytes[..self.width].reverse();
        }
        let value = u128::from_le_bytes(bytes);
        if !self.signed {
            return value;
        }
        let spare = 128 - self.width * 8;
        let value = (value << spare).cast_signed() >> spare;
        ((value << 1) ^ (value >> 127)).cast_unsigned()
    }
}

/// Values that are decoded between two checks of a request to stop: a fraction of a millisecond.
const VALUES_BETWEEN_STOPS: usize = 1 << 16;

impl Codec for Leb128 {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.decode_until(src, dst, container_core::Stop::never())
    }

    fn decode_until(&self, src: &[u8], dst: &mut [u8], stop: container_core::Stop) -> Result<()> {
        let mut rest = src;
        for (index, item) in dst.chunks_mut(self.width).enumerate() {
            if index % VALUES_BETWEEN_STOPS == 0 {
                stop.check()?;
            }
            let (raw, after) = self.value(rest).map_err(|stop| {
                let at = src.len() - rest.len();
                let problem = match stop {
                    Stop::TooLarge => format!("does not fit {} bytes", self.width),
                    _ => "is cut short".into(),
                };
                Error::malformed(format!("LEB128 value {index}, {at} bytes into the data, {problem}"))
            })?;
            self.put(raw, item);
            rest = after;
        }
        if rest.is_empty() {
            return Ok(());
        }
        Err(Error::malformed(format!("{} bytes follow the last LEB128 value", rest.len())))
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        if level.is_some() {
            return Err(Error::usage("leb128 has no levels"));
        }
        if !src.len().is_multiple_of(self.width) {
            return Err(Error::usage(format!("{} bytes are not whole numbers of {}", src.len(), self.width)));
        }
        for item in src.chunks_exact(self.width) {
            let mut value = self.get(item);
            loop {
                let [low, ..] = value.to_le_bytes();
                value >>= 7;
                if value == 0 {
                    out.push(low);
                    break;
                }
                out.push(low | 0x80);
            }
        }
        Ok(())
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        (len / self.width).saturating_mul((self.width * 8).div_ceil(7))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn codec(kind: Kind, width: usize) -> Leb128 {
        Leb128::new(&DType::new(kind, width, ByteOrder::Little)).unwrap()
    }

    /// The vectors of the dialect, worked out by hand: value, encoded bytes.
    #[test]
    fn signed_vectors_are_zigzag() {
        let cases: [(i32, &[u8]); 7] = [
            (0, &[0x00]),
            (-1, &[0x01]),
            (1, &[0x02]),
            (63, &[0x7e]),
            (64, &[0x80, 0x01]),
            (-65, &[0x81, 0x01]),
            (300, &[0xd8, 0x04]),
        ];
        for (value, want) in cases {
            let mut encoded = Vec::new();
            codec(Kind::Int, 4).encode(&value.to_le_bytes(), None, &mut encoded).unwrap();
            assert_eq!(encoded, want, "{value}");
            let mut decoded = [0; 4];
            codec(Kind::Int, 4).decode(want, &mut decoded).unwrap();
            assert_eq!(i32::from_le_bytes(decoded), value);
        }
    }

    #[test]
    fn values_too_large_for_the_type_are_refused() {
        let byte = codec(Kind::Uint, 1);
        let mut dst = [0];
        byte.decode(&[0xff, 0x01], &mut dst).unwrap();
        assert_eq!(dst, [255]);
        for bad in [&[0x80, 0x02][..], &[0x80, 0x80, 0x00], &[0x80], &[], &[0, 0]] {
            assert!(byte.decode(bad, &mut dst).is_err(), "{bad:x?}");
        }
        assert_eq!(byte.scan(&[1, 2, 0x80], 5), Scan { values: 2, used: 2, stop: Stop::EndsEarly });
        assert_eq!(byte.scan(&[1, 0xff, 0x7f], 5), Scan { values: 1, used: 1, stop: Stop::TooLarge });
    }

    proptest! {
        #[test]
        fn every_width_round_trips_at_its_extremes(
            bytes in prop::collection::vec(prop::sample::select(vec![0_u8, 1, 0x7f, 0x80, 0xff]), 48),
            signed in any::<bool>(), big in any::<bool>(), width in 1_usize..=16,
        ) {
            let order = if big { ByteOrder::Big } else { ByteOrder::Little };
            let kind = if signed { Kind::Int } else { Kind::Uint };
            let codec = Leb128::new(&DType::new(kind, width, order)).unwrap();
            let src = &bytes[..48 / width * width];
            let mut encoded = Vec::new();
            codec.encode(src, None, &mut encoded).unwrap();
            prop_assert!(encoded.len() <= codec.max_encoded_len(src.len()));
            let mut decoded = vec![0; src.len()];
            codec.decode(&encoded, &mut decoded).unwrap();
            prop_assert_eq!(decoded, src);
            let scan = codec.scan(&encoded, (src.len() / width) as u64);
            prop_assert_eq!((scan.used, scan.stop), (encoded.len(), Stop::Done));
        }
    }
}
