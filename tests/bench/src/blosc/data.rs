//! Three kinds of data that people have: a field, counters, positions. The same on every machine.

use std::fs;

use anyhow::{Context as _, Result};

use super::Job;

/// A data set, in memory and in a file.
pub(super) struct Set {
    pub(super) name: &'static str,
    pub(super) typesize: usize,
    pub(super) bytes: Vec<u8>,
    pub(super) path: String,
}

/// All three, of the job's length.
pub(super) fn make(job: &Job<'_>) -> Result<Vec<Set>> {
    let sets = [
        ("f64 field", 8, field(job.bytes / 8)),
        ("i32 deltas", 4, deltas(job.bytes / 4)),
        ("f32 positions", 4, positions(job.bytes / 4)),
    ];
    let sets = sets.into_iter().map(|(name, typesize, bytes)| {
        let path = job.scratch.file(&format!("{}.raw", name.replace(' ', "-")));
        fs::write(&path, &bytes)?;
        let path = path.to_str().context("a path that is no text")?.to_owned();
        Ok(Set { name, typesize, bytes, path })
    });
    sets.collect()
}

impl Set {
    /// Its first `len` bytes as a set of their own.
    pub(super) fn head(&self, job: &Job<'_>, len: usize) -> Result<Self> {
        let bytes = self.bytes[..len.min(self.bytes.len())].to_vec();
        let path = job.scratch.fresh("raw");
        fs::write(&path, &bytes)?;
        let path = path.to_str().context("a path that is no text")?.to_owned();
        Ok(Self { name: self.name, typesize: self.typesize, bytes, path })
    }
}

/// Numbers without a pattern (xorshift64*, Vigna 2016).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Between 0 and 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal: the sum of four even ones, with variance 1.
    fn normal(&mut self) -> f64 {
        ((0..4).map(|_| self.unit()).sum::<f64>() - 2.0) * 3_f64.sqrt()
    }
}

/// A smooth two-dimensional field with noise, of single precision, stored in double.
pub(crate) fn field(count: usize) -> Vec<u8> {
    let mut random = Random(42);
    let wide = 2048;
    let value = |at: usize, random: &mut Random| {
        let (x, y) = ((at % wide) as f64 / 163.0, (at / wide) as f64 / 97.0);
        let value = 1000.0 * (x.sin() * y.cos() + 0.5 * (0.3 * x + 0.7 * y).sin()) + random.normal();
        f64::from(value as f32)
    };
    (0..count).flat_map(|at| value(at, &mut random).to_le_bytes()).collect()
}

/// Sorted whole numbers that lie close together: event numbers, indices.
fn deltas(count: usize) -> Vec<u8> {
    let mut random = Random(43);
    let mut last = 0_i32;
    let next = |_| {
        last = last.wrapping_add((random.next() >> 60) as i32);
        last.to_le_bytes()
    };
    (0..count).flat_map(next).collect()
}

/// Positions of the beads of chains in a periodic box: random walks of 64 steps, x, y and z in turn.
fn positions(count: usize) -> Vec<u8> {
    const BOX: f64 = 60.0;
    let mut random = Random(44);
    let mut at = [0.0_f64; 3];
    let mut bytes = Vec::with_capacity(count * 4);
    for bead in 0..count.div_ceil(3) {
        for axis in &mut at {
            let step =
                if bead % 64 == 0 { BOX * random.unit() } else { 0.97 * random.normal() / 3_f64.sqrt() };
            *axis = (*axis + step + BOX / 2.0).rem_euclid(BOX) - BOX / 2.0;
            bytes.extend((*axis as f32).to_le_bytes());
        }
    }
    bytes.truncate(count * 4);
    bytes
}
