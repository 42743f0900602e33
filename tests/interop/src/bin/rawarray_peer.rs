//! The released crate `rawarray` 0.1.4 as a reader of files: its elements go to standard output, as they lie in memory.
//!
//! The crate has to be told the type; here it is the one that the header names, where the crate has such a type.
#![forbid(unsafe_code)]

use std::io::{Write as _, stdout};
use std::process::exit;

use anyhow::{Context as _, Result, bail};
use half::{bf16, f16};
use num_complex::Complex;
use reference_rawarray::{RawArray, RawArrayFile, RawArrayType};

/// 8-byte fields of the header: where the type of the elements stands, and their size.
const ELTYPE: u64 = 2 * 8;
const ELBYTE: u64 = 3 * 8;

/// An element as bytes, numbers little-endian.
type Bytes<T> = fn(T, &mut Vec<u8>);

fn read<T: RawArrayType>(path: &str, bytes: Bytes<T>) -> Result<Vec<u8>> {
    let array = RawArray::<T>::read(path)?;
    let mut all = Vec::new();
    for value in array.data_as_ref() {
        bytes(*value, &mut all);
    }
    Ok(all)
}

macro_rules! of {
    ($path:expr, $type:ty) => {
        read::<$type>($path, |value, all| all.extend(value.to_le_bytes()))
    };
    ($path:expr, complex $type:ty) => {
        read::<Complex<$type>>($path, |value, all| {
            all.extend(value.re.to_le_bytes());
            all.extend(value.im.to_le_bytes());
        })
    };
}

fn elements(path: &str) -> Result<Vec<u8>> {
    let mut file = RawArrayFile::valid_open(path)?;
    match (file.u64_at(ELTYPE)?, file.u64_at(ELBYTE)?) {
        (1, 1) => of!(path, i8),
        (1, 2) => of!(path, i16),
        (1, 4) => of!(path, i32),
        (1, 8) => of!(path, i64),
        (1, 16) => of!(path, i128),
        (2, 1) => of!(path, u8),
        (2, 2) => of!(path, u16),
        (2, 4) => of!(path, u32),
        (2, 8) => of!(path, u64),
        (2, 16) => of!(path, u128),
        (3, 2) => of!(path, f16),
        (3, 4) => of!(path, f32),
        (3, 8) => of!(path, f64),
        (4, 8) => of!(path, complex f32),
        (4, 16) => of!(path, complex f64),
        (5, 2) => of!(path, bf16),
        (eltype, elbyte) => bail!("no type {eltype} of {elbyte} bytes"),
    }
}

fn run() -> Result<()> {
    let path = std::env::args().nth(1).context("usage: rawarray_peer FILE")?;
    stdout().write_all(&elements(&path)?)?;
    Ok(())
}

fn main() {
    if let Err(error) = run() {
        eprintln!("{error:#}");
        exit(2);
    }
}
