//! Data that are written and read: a field of f64 in a frame, and a field of f32 in an array, each made once.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use super::{BLOCKS, CHUNK, CHUNKS, Job, made, sizes, text};
use crate::blosc::field;
use crate::harness::Run;

/// Nothing was measured.
const NOTHING: Run = Run { seconds: 0.0, check: None };

impl Job<'_> {
    /// The values of the frame, and where others find them.
    pub(super) fn values(&self) -> Result<(Vec<u8>, PathBuf)> {
        let values = field(self.bytes / 8);
        let path = made(self, "values.f64", |path| {
            fs::write(path, &values)?;
            Ok(NOTHING)
        })?;
        Ok((values, path))
    }

    /// A frame of them, by C-Blosc2.
    pub(super) fn frame(&self, codec: &str, level: u8) -> Result<PathBuf> {
        made(self, &format!("{codec}-{level}.b2frame"), |path| {
            let (_, values) = self.values()?;
            let words = [text(&values)?, text(path)?, codec, &level.to_string(), "1", &CHUNK.to_string()];
            Ok(self.c.borrow_mut().measure("write", &words)?.into())
        })
    }

    /// A slab of 1 MiB for each of the first axis.
    pub(super) fn shape(&self) -> [u64; 3] {
        [(self.bytes as u64 >> 21).max(u64::from(CHUNKS[0])), 512, 512]
    }

    /// The elements of the array, and where others find them: waves, in steps of 2^-12, which is where the noise of an instrument
    /// might hide them.
    pub(super) fn elements(&self) -> Result<(Vec<u8>, PathBuf)> {
        let [deep, high, wide] = self.shape();
        let wave = |at: u64, length: f64| (at as f64 / length).sin();
        let mut elements = Vec::with_capacity((deep * high * wide * 4) as usize);
        let across: Vec<f64> = (0..wide).map(|x| wave(x, 23.0)).collect();
        for z in 0..deep {
            for y in 0..high {
                let (base, factor) = (wave(z, 19.0), wave(y + 49, 31.0));
                for x in &across {
                    let value = ((base + factor * x) * 4096.0).round() / 4096.0;
                    elements.extend((value as f32).to_le_bytes());
                }
            }
        }
        let path = made(self, "elements.f32", |path| {
            fs::write(path, &elements)?;
            Ok(NOTHING)
        })?;
        Ok((elements, path))
    }

    /// The words that make an array of `codec`, of `raw` and into `target`.
    pub(super) fn array_words(&self, raw: &str, target: &str, codec: &str, threads: usize) -> [String; 9] {
        let shapes = [sizes(&self.shape()), sizes(&CHUNKS), sizes(&BLOCKS)];
        let [shape, chunks, blocks] = shapes;
        let words = ["array", raw, target, codec, LEVEL].map(str::to_owned);
        let [command, raw, target, codec, level] = words;
        [command, raw, target, codec, level, threads.to_string(), shape, chunks, blocks]
    }

    /// The array, by C-Blosc2.
    pub(super) fn array(&self, codec: &str) -> Result<PathBuf> {
        made(self, &format!("{codec}.b2nd"), |path| {
            let (_, raw) = self.elements()?;
            let words = self.array_words(text(&raw)?, text(path)?, codec, 1);
            let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            Ok(self.c.borrow_mut().measure("array", &words)?.into())
        })
    }

    /// The same in Zarr.
    pub(super) fn zarr(&self, codec: &str) -> Result<PathBuf> {
        made(self, &format!("{codec}.zarr"), |path| {
            let (_, raw) = self.elements()?;
            let words = self.array_words(text(&raw)?, text(path)?, codec, 1);
            let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            Ok(self.zarrs.borrow_mut().measure("array", &words)?.into())
        })
    }
}

/// Of the codecs.
const LEVEL: &str = "5";
