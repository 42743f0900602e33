//! The fixtures, and their contents by scripts that are independent of this crate.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Entry of `testdata/blosc2/MANIFEST.toml` for one file or folder; the README next to it explains the fields.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Fixture {
    pub(crate) path: String,
    pub(crate) verdict: String,
    pub(crate) codes: Vec<String>,
    pub(crate) dtype: Option<String>,
    pub(crate) shape: Option<Vec<u64>>,
    pub(crate) values: Option<String>,
    pub(crate) chunk_values: Option<Vec<String>>,
    pub(crate) block_sizes: Option<Vec<Vec<u64>>>,
    pub(crate) frame_version: Option<u8>,
    pub(crate) nchunks: Option<u64>,
    pub(crate) typesize: Option<u32>,
    pub(crate) chunksize: Option<i64>,
    pub(crate) nbytes: Option<u64>,
    pub(crate) cbytes: Option<u64>,
    /// Shapes of chunks: of arrays alone.
    pub(crate) chunks: Option<Vec<u64>>,
    /// Shapes of blocks, likewise.
    pub(crate) blocks: Option<Vec<u64>>,
    /// Bytes after the frame.
    pub(crate) trailing: Option<u64>,
    pub(crate) meta: Option<Vec<Named>>,
    pub(crate) vlmeta: Option<Vec<Named>>,
    pub(crate) offset: Option<u64>,
    /// The one dataset of a repair, where it is clear.
    pub(crate) repaired_shape: Option<Vec<u64>>,
    pub(crate) repaired_values: Option<String>,
    /// Datasets of a store.
    pub(crate) datasets: Option<Vec<Listed>>,
}

/// A dataset of a store.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Listed {
    pub(crate) path: String,
    pub(crate) dtype: String,
    pub(crate) shape: Vec<u64>,
    pub(crate) values: String,
}

/// A metalayer.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) hex: String,
}

#[derive(Deserialize)]
struct Manifest {
    file: Vec<Fixture>,
}

pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/blosc2")
}

pub(crate) fn fixtures() -> Vec<Fixture> {
    let text = std::fs::read_to_string(testdata().join("MANIFEST.toml")).unwrap();
    let manifest: Manifest = toml::from_str(&text).unwrap();
    assert!(manifest.file.len() > 200, "the corpus is there");
    manifest.file
}

impl Fixture {
    pub(crate) fn full_path(&self) -> PathBuf {
        testdata().join(&self.path)
    }

    /// Whether it is a single frame, not a store, and small enough for a test to decode.
    pub(crate) fn is_small_frame(&self) -> bool {
        self.nchunks.is_some() && self.nbytes.is_some_and(|nbytes| nbytes < 1 << 30)
    }

    /// Whether it is an array, whose chunks are padded.
    pub(crate) fn is_array(&self) -> bool {
        self.chunks.is_some()
    }

    /// Whether its elements are big-endian, of which the digest of values is of the other order.
    pub(crate) fn is_big_endian(&self) -> bool {
        self.dtype.as_ref().is_some_and(|dtype| dtype.starts_with('>'))
    }
}
