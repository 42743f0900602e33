#![allow(clippy::arithmetic_side_effects, reason = "lengths of vectors")]

use super::*;
use container_core::ErrorKind;

/// Streams of zfp 1.0 as C-Blosc2 3.3.5 has it, with the values that it reads from them: `x + 10 y + x y / 8` for 4 rows of 5,
/// and squares.
struct Vector {
    stream: &'static str,
    mode: Mode,
    shape: &'static [usize],
    scalar: Scalar,
    values: &'static [f64],
}

const SURFACE: &[f64] = &[
    0.0, 1.0, 2.0, 3.0, 4.0, 10.0, 11.125, 12.25, 13.375, 14.5, 20.0, 21.25, 22.5, 23.75, 25.0, 30.0, 31.375,
    32.75, 34.125, 35.5,
];
const SQUARES: &[f64] = &[0.0, 1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0, 81.0, 100.0, 121.0];

const VECTORS: &[Vector] = &[
    Vector {
        stream: "0b310536f7a11300000b3115041500000000000000000000",
        mode: Mode::Accuracy(0.1),
        shape: &[4, 5],
        scalar: Scalar::F32,
        values: SURFACE,
    },
    Vector {
        stream: "0b8829b0b90f9d000058404c054105000000000000000000",
        mode: Mode::Accuracy(0.1),
        shape: &[4, 5],
        scalar: Scalar::F64,
        values: SURFACE,
    },
    Vector {
        stream: "0b310536f72dc4541054000000000000",
        mode: Mode::Precision(10),
        shape: &[4, 5],
        scalar: Scalar::F32,
        values: &[
            0.0625, 0.9375, 1.8125, 2.6875, 4.0, 9.9375, 11.0625, 12.1875, 13.3125, 14.5, 19.8125, 21.1875,
            22.5625, 23.9375, 25.0, 29.6875, 31.3125, 32.9375, 34.5625, 35.5,
        ],
    },
    Vector {
        stream: "0b8829b0b90f9d0000000000c002622a082a0000000000000000000000000000",
        mode: Mode::Rate(6.4),
        shape: &[4, 5],
        scalar: Scalar::F64,
        values: SURFACE,
    },
    Vector {
        stream: "07a9310bc0423b41ccd2d0ca30bd0000",
        mode: Mode::Rate(9.6),
        shape: &[12],
        scalar: Scalar::F32,
        values: SQUARES,
    },
    Vector {
        stream: "07488d59000000002ca09d2066010000d0805686e90500000000000000000000",
        mode: Mode::Precision(15),
        shape: &[12],
        scalar: Scalar::F64,
        values: SQUARES,
    },
];

fn unhex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().map(|digit| u8::try_from(digit.to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

impl Vector {
    /// Decodes to memory `offset` bytes after an address that f64 can have.
    fn decode(&self, src: &[u8], offset: usize) -> Result<Vec<f64>> {
        let len = self.values.len() * self.scalar.size();
        let mut room = vec![f64::NAN; len / 8 + 2];
        let dst = &mut bytemuck::cast_slice_mut(&mut room)[offset..offset + len];
        decode(src, self.mode, self.shape, self.scalar, dst)?;
        Ok(match self.scalar {
            Scalar::F32 => dst.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes).into()).collect(),
            Scalar::F64 => dst.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
        })
    }
}

#[test]
fn streams_decode_to_what_c_reads_wherever_they_go() {
    for vector in VECTORS {
        let stream = unhex(vector.stream);
        for offset in [0, 4, 1] {
            let values = vector.decode(&stream, offset).unwrap();
            assert_eq!(values, vector.values, "{:?} {}", vector.mode, vector.stream);
        }
    }
}

#[test]
fn truncated_or_extended_streams_are_refused() {
    for vector in VECTORS {
        let stream = unhex(vector.stream);
        // Words are filled up with zeros, which may be absent.
        let cells = stream.len() - stream.iter().rev().take(7).take_while(|byte| **byte == 0).count();
        assert_eq!(vector.decode(&stream[..cells], 0).unwrap(), vector.values);
        let longer = [&stream[..], &[0; 1]].concat();
        for src in [&stream[..stream.len() - 8], &[], &longer] {
            let error = vector.decode(src, 0).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
        }
    }
}

#[test]
fn shapes_and_modes_that_cannot_be_are_refused() {
    let stream = [0; 64];
    let rate = Mode::Rate(8.0);
    for (mode, shape) in [
        (rate, &[][..]),
        (rate, &[0]),
        (rate, &[3]),
        (rate, &[usize::MAX, 2]),
        (rate, &[1, 1, 1, 2, 2]),
        (Mode::Rate(-1.0), &[4]),
        (Mode::Rate(f64::NAN), &[4]),
        (Mode::Rate(1e9), &[4]),
    ] {
        let error = decode(&stream, mode, shape, Scalar::F32, &mut [0; 16]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{mode:?} {shape:?}: {error}");
    }
    assert!(decode(&stream, rate, &[4, 0], Scalar::F32, &mut []).is_err());
}
