//! The entries of `testdata/asdf/MANIFEST.toml`; the README next to it explains the fields.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Entry of one file or folder.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Fixture {
    pub(crate) path: String,
    pub(crate) files: Option<Vec<Part>>,
    pub(crate) main: Option<String>,
    pub(crate) verdict: String,
    pub(crate) codes: Vec<String>,
    pub(crate) datasets: Option<Vec<Listed>>,
    pub(crate) version: Option<String>,
    pub(crate) standard: Option<String>,
    pub(crate) tree: Option<[u64; 2]>,
    pub(crate) index: Option<[u64; 2]>,
    pub(crate) stored_blocks: Option<Vec<StoredBlock>>,
    pub(crate) repaired_datasets: Option<Vec<Listed>>,
}

/// A file of a folder.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Part {}

/// One dataset of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Listed {
    pub(crate) path: String,
    pub(crate) dtype: String,
    pub(crate) shape: Vec<u64>,
    /// SHA-256 of the elements in C order, numbers little-endian.
    pub(crate) values: String,
}

/// A block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct StoredBlock {
    pub(crate) start: u64,
    pub(crate) header_size: u16,
    pub(crate) flags: u32,
    pub(crate) label: String,
    pub(crate) allocated: u64,
    pub(crate) used: u64,
    pub(crate) size: u64,
    pub(crate) checksum: Option<String>,
    /// SHA-256 of the decoded data.
    pub(crate) decoded: Option<String>,
}

#[derive(Deserialize)]
struct Manifest {
    file: Vec<Fixture>,
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/asdf")
}

/// All fixtures but those with Blosc2 frames, which are read with the codec of another crate.
pub(crate) fn fixtures() -> impl Iterator<Item = Fixture> {
    let text = std::fs::read_to_string(testdata().join("MANIFEST.toml")).unwrap();
    let manifest: Manifest = toml::from_str(&text).unwrap();
    manifest.file.into_iter().filter(|fixture| !fixture.needs_another_codec())
}

impl Fixture {
    /// The file to open.
    pub(crate) fn main_file(&self) -> PathBuf {
        let path = testdata().join(&self.path);
        self.main.as_ref().map_or_else(|| path.clone(), |main| path.join(main))
    }

    fn needs_another_codec(&self) -> bool {
        let bytes = std::fs::read(self.main_file()).unwrap();
        bytes.windows(7).any(|bytes| bytes == b"b2frame" || bytes.starts_with(b"bsc2"))
    }

    /// The entries of a plain listing: the datasets, and of a file without a tree the decoded bytes of its blocks.
    pub(crate) fn listed(&self) -> Option<Vec<Listed>> {
        let listed = self.datasets.clone()?;
        if !listed.is_empty() || self.tree.is_some() {
            return Some(listed);
        }
        let blocks = self.stored_blocks.iter().flatten().enumerate();
        let of_block = |(number, block): (usize, &StoredBlock)| Listed {
            path: format!("blocks/{number}"),
            dtype: "|u1".to_owned(),
            shape: vec![block.size],
            values: block.decoded.clone().unwrap(),
        };
        Some(blocks.map(of_block).collect())
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    container_codecs::checksum::Algorithm::Sha256.digest(bytes).to_string()
}
