//! The files that are measured, and the numbers that show whether a result is right.

use std::cell::Cell;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

/// As in the Python peer.
const STRIDE: usize = 4099;

/// A folder for one run; gone at its end.
pub struct Scratch {
    folder: tempfile::TempDir,
    next: Cell<u32>,
}

impl Scratch {
    /// A new folder inside `place`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(place: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("holdall-bench-").tempdir_in(place)?;
        Ok(Self { folder, next: Cell::new(0) })
    }

    /// The path of a file that stays.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A path that nothing has had before: truncating a file that exists costs time of its own.
    #[must_use]
    pub fn fresh(&self, extension: &str) -> PathBuf {
        let number = self.next.get();
        self.next.set(number + 1);
        self.folder.path().join(format!("new-{number}.{extension}"))
    }

    /// Waits until nothing is on its way to the disk, so that a contender pays for its own writing only.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn settle(&self) -> Result<()> {
        Ok(rustix::fs::syncfs(File::open(self.folder.path())?)?)
    }
}

/// `count` whole numbers below 2^20, so that any order of adding them is exact.
#[must_use]
pub fn numbers(count: usize) -> Vec<f64> {
    let numbers = (0..count as u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44);
    numbers.map(|number| number as f64).collect()
}

/// The length in bytes plus every so many-th word.
#[must_use]
pub fn check(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    let sample = words.iter().step_by(STRIDE).map(|word| u64::from_le_bytes(*word));
    sample.fold(bytes.len() as u64, u64::wrapping_add)
}

/// [`check`] of values.
#[must_use]
pub fn check_values(values: &[f64]) -> u64 {
    let words = values.iter().step_by(STRIDE).map(|value| value.to_bits());
    words.fold(size_of_val(values) as u64, u64::wrapping_add)
}

/// [`check`] of the last `len` bytes of a file.
///
/// # Errors
/// When it has not so many, or cannot be read.
pub fn check_end(path: &Path, len: u64) -> Result<u64> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().checked_sub(len).context("the file is too short")?;
    ensure!(start < 4096, "the file is too long");
    let mut check = len;
    for at in (0..len / 8).step_by(STRIDE) {
        let mut word = [0; 8];
        file.seek(SeekFrom::Start(start + 8 * at))?;
        file.read_exact(&mut word)?;
        check = check.wrapping_add(u64::from_le_bytes(word));
    }
    Ok(check)
}

/// The sum, in 16 lanes, which any compiler puts into vector registers.
#[must_use]
pub fn sum(values: &[f64]) -> f64 {
    let (blocks, rest) = values.as_chunks::<16>();
    let mut lanes = [0.0; 16];
    for block in blocks {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane += value;
        }
    }
    lanes.iter().chain(rest).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_of_values_is_that_of_their_bytes() {
        let values = numbers(3 * STRIDE);
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(check(&bytes), check_values(&values));
        assert_ne!(check(&bytes[8..]), check(&bytes));
        let scratch = Scratch::new(&std::env::temp_dir()).unwrap();
        let path = scratch.file("end");
        std::fs::write(&path, [b"header".as_slice(), &bytes].concat()).unwrap();
        assert_eq!(check_end(&path, bytes.len() as u64).unwrap(), check(&bytes));
    }

    #[test]
    fn the_sum_of_numbers_is_exact() {
        let values = numbers(1000);
        assert!(values.iter().all(|value| value.fract() == 0.0 && *value < f64::from(1 << 20)));
        let exact: u64 = (0..1000_u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44).sum();
        assert_eq!(sum(&values), exact as f64);
    }

    #[test]
    fn fresh_names_are_never_the_same() {
        let scratch = Scratch::new(&std::env::temp_dir()).unwrap();
        assert_ne!(scratch.fresh("ra"), scratch.fresh("ra"));
        scratch.settle().unwrap();
    }
}
