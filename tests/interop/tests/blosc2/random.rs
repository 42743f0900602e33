//! Random values of the tests: the same in each run.

use std::ops::{Deref, DerefMut};

use blosc2_frame::blosc_chunk::{Compressor, Params, Pipeline, SplitMode};
use blosc2_frame::default_params;
use container_core::dtype::DType;
pub use interop::random::cases;
use serde_json::{Value, json};

/// [`interop::random::Random`], and what these tests make of it.
pub struct Random(interop::random::Random);

impl Deref for Random {
    type Target = interop::random::Random;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Random {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(interop::random::Random::new(seed))
    }

    /// Bytes as data has them: few values, runs, ramps, and noise.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let style = self.below(5);
        let salt = self.below(200) as usize;
        (0..len)
            .map(|at| match style {
                0 => (at / 16 % 2) as u8,
                1 if at / 500 % 3 == 0 => 0,
                1 => at.wrapping_mul(at) as u8 & 1,
                2 => ((at + salt) / 8) as u8,
                3 => (((at + salt) % 8) * (at / 64)) as u8,
                _ => self.bits() as u8,
            })
            .collect()
    }

    /// Elements of a type: truth is 0 or 1, and characters are letters.
    pub fn elements(&mut self, dtype: &str, count: usize) -> Vec<u8> {
        let mut bytes = self.bytes(count * itemsize(dtype));
        match dtype {
            "|b1" => bytes.iter_mut().for_each(|byte| *byte &= 1),
            "<U7" => {
                bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|it| *it = [b'a' + it[0] % 20, 0, 0, 0]);
            }
            ">U2" => {
                bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|it| *it = [0, 0, 0, b'a' + it[0] % 20]);
            }
            _ => {}
        }
        bytes
    }

    pub fn shape(&mut self, dimensions: usize) -> Vec<u64> {
        let most = [1, 1500, 60, 17, 8, 5][dimensions];
        (0..dimensions).map(|_| if self.below(30) == 0 { 0 } else { 1 + self.below(most) }).collect()
    }

    /// A selection as `testdata/blosc2/peer.py` takes it, with numbers and slices.
    pub fn selection(&mut self, shape: &[u64], negative: bool) -> Vec<Value> {
        shape.iter().map(|len| self.part(*len, negative)).collect()
    }

    fn part(&mut self, len: u64, negative: bool) -> Value {
        if len > 0 && self.chance(2) {
            return self.below(len).into();
        }
        let (start, stop) = (self.below(len + 1), self.below(len + 2));
        let step = if self.chance(6) { 1 } else { 1 + self.below(4) as i64 };
        if negative && self.chance(4) {
            let bounds = [Value::Null, start.max(stop).into(), (-1 - self.below(len + 1) as i64).into()];
            let start = bounds[self.below(3) as usize].clone();
            return json!([
                start,
                if self.chance(5) { Value::Null } else { json!(self.below(len + 1)) },
                -step
            ]);
        }
        let stop = if self.chance(2) { Value::Null } else { json!(start.max(stop)) };
        json!([if self.chance(2) { json!(start.min(1)) } else { json!(start) }, stop, step])
    }

    /// Returns the encoding parameters of ours and of C-Blosc2, in the words of either.
    pub fn params(&mut self, itemsize: usize, pipelines: &[&str]) -> (Params, Value) {
        let codecs = [
            (Compressor::ZSTD, "zstd"),
            (Compressor::LZ4, "lz4"),
            (Compressor::LZ4HC, "lz4hc"),
            (Compressor::ZLIB, "zlib"),
            (Compressor::BLOSCLZ, "blosclz"),
        ];
        let (compressor, codec) = self.pick(&codecs);
        let words: Vec<&str> = self.pick(pipelines).split_whitespace().collect();
        let (split, number) = self.pick(&[
            (SplitMode::Always, 1),
            (SplitMode::Never, 2),
            (SplitMode::Auto, 3),
            (SplitMode::Auto, 4),
        ]);
        let mut params = default_params(itemsize);
        params.compressor = compressor;
        params.level = self.below(if compressor == Compressor::ZSTD { 6 } else { 10 }) as u8;
        params.filters = Pipeline::parse_words(&words).unwrap();
        params.split = split;
        params.threads = 1 + self.below(2) as usize;
        let filters = words.iter().map(|word| {
            let (name, meta) = word.split_once(':').unwrap_or((word, "0"));
            json!([name, meta.parse::<u8>().unwrap()])
        });
        let filters: Vec<Value> = filters.collect();
        let threads = params.threads;
        let theirs = json!({"codec": codec, "clevel": params.level, "filters": filters, "splitmode": number,
            "nthreads": threads});
        (params, theirs)
    }
}

/// Types of numpy; the last two are records.
pub const TYPES: [&str; 22] = [
    "<i4",
    "<f8",
    ">f8",
    ">i2",
    "|b1",
    "<f4",
    "|S3",
    "<U7",
    ">U2",
    "<M8[ns]",
    "<m8[s]",
    "|V10",
    "<c16",
    "<c8",
    "|S300",
    "<f2",
    "|i1",
    "|u1",
    "<u8",
    "<i2",
    "[('a', '<i4'), ('b', '<f8')]",
    "[('a', '<i2'), ('n', [('x', '|i1'), ('y', '<f4')]), ('s', '|S5', (2, 3))]",
];

/// The type as JSON: text, or the list that numpy makes of a record.
pub fn type_json(dtype: &str) -> Value {
    match dtype {
        "[('a', '<i4'), ('b', '<f8')]" => json!([["a", "<i4"], ["b", "<f8"]]),
        "[('a', '<i2'), ('n', [('x', '|i1'), ('y', '<f4')]), ('s', '|S5', (2, 3))]" => {
            json!([["a", "<i2"], ["n", [["x", "|i1"], ["y", "<f4"]]], ["s", "|S5", [2, 3]]])
        }
        text => text.into(),
    }
}

pub fn itemsize(dtype: &str) -> usize {
    DType::parse(dtype).unwrap().itemsize()
}

/// A selection in the notation of numpy.
pub fn text(selection: &[Value]) -> String {
    let part = |part: &Value| match part {
        Value::Array(bounds) => {
            let bound = |bound: &Value| if bound.is_null() { String::new() } else { bound.to_string() };
            bounds.iter().map(bound).collect::<Vec<_>>().join(":")
        }
        number => number.to_string(),
    };
    selection.iter().map(part).collect::<Vec<_>>().join(",")
}
