//! Data that are written and read, each made once.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use super::{Job, text};
use crate::blosc::field;
use crate::scratch::numbers;

/// Arrays that are compressed: what a detector counts, and what a simulation gives, of single precision but stored in double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noisy {
    Uint16,
    Float64,
}

impl Noisy {
    pub(super) const BOTH: [Self; 2] = [Self::Uint16, Self::Float64];

    /// As numpy calls the type.
    pub(super) const fn dtype(self) -> &'static str {
        match self {
            Self::Uint16 => "<u2",
            Self::Float64 => "<f8",
        }
    }

    /// As the tables call it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Uint16 => "uint16",
            Self::Float64 => "float64",
        }
    }

    pub(super) const fn size(self) -> usize {
        match self {
            Self::Uint16 => 2,
            Self::Float64 => 8,
        }
    }
}

impl Job<'_> {
    /// The values of the plain array: float64, whole numbers, so that sums are exact.
    pub(super) fn values(&self) -> Vec<f64> {
        numbers(self.bytes / 8)
    }

    /// Their bytes alone.
    pub(super) fn raw(&self) -> Result<PathBuf> {
        self.made("values.f64", |path| Ok(fs::write(path, bytemuck::cast_slice(&self.values()))?))
    }

    /// They as Python asdf writes them.
    pub(super) fn plain(&self) -> Result<PathBuf> {
        let raw = self.raw()?;
        self.made("values.asdf", |path| {
            self.python(&["make", text(&raw)?, "<f8", text(path)?, "none"]).map(drop)
        })
    }

    /// The same in several blocks.
    pub(super) fn blocks(&self, count: usize) -> Result<PathBuf> {
        let raw = self.raw()?;
        self.made(&format!("blocks-{count}.asdf"), |path| {
            self.python(&["make_blocks", text(&raw)?, "<f8", text(path)?, &count.to_string()]).map(drop)
        })
    }

    /// Bytes of an array that is compressed.
    pub(super) const fn noisy_len(&self) -> usize {
        self.bytes / 4
    }

    /// A smooth field with noise, as bytes.
    pub(super) fn noisy(&self, kind: Noisy) -> Result<(Vec<u8>, PathBuf)> {
        let path = self.made(&format!("noisy.{}", kind.name()), |path| {
            let field = field(self.noisy_len() / kind.size());
            let bytes = match kind {
                Noisy::Uint16 => {
                    let (values, _) = field.as_chunks::<8>();
                    let count = |value: &[u8; 8]| (4.0 * f64::from_le_bytes(*value) + 8000.0).round() as u16;
                    values.iter().flat_map(|value| count(value).to_le_bytes()).collect()
                }
                Noisy::Float64 => field,
            };
            Ok(fs::write(path, bytes)?)
        })?;
        Ok((fs::read(&path)?, path))
    }

    /// It as Python asdf compresses it.
    pub(super) fn compressed(&self, kind: Noisy, codec: &str) -> Result<PathBuf> {
        let (_, raw) = self.noisy(kind)?;
        self.made(&format!("{}-{codec}.asdf", kind.name()), |path| {
            self.python(&["make", text(&raw)?, kind.dtype(), text(path)?, codec]).map(drop)
        })
    }
}
