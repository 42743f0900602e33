//! The fixtures and what independent scripts say of them; fails on a file that no manifest lists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Entry of a manifest for one file. `testdata/<format>/README.md` explains the fields.
#[derive(Clone, Debug, Deserialize)]
pub struct Fixture {
    #[serde(skip)]
    pub format: String,
    #[serde(skip)]
    pub full_path: PathBuf,
    pub path: String,
    /// Of a file.
    pub sha256: Option<String>,
    /// Of a folder.
    pub files: Option<Vec<Part>>,
    pub producer: String,
    pub licence: String,
    pub about: String,
    pub verdict: String,
    pub codes: Vec<String>,
    pub dtype: Option<String>,
    pub shape: Option<Vec<u64>>,
    pub encoding: Option<String>,
    pub values: Option<String>,
    pub order: Option<String>,
    /// Of each item, where a file holds items.
    pub items: Option<Vec<String>>,
    /// RawArray: bytes after the data, which are kept.
    pub trailer: Option<u64>,
    /// Bytes at the end that belong to nothing.
    pub trailing: Option<u64>,
    pub repaired_shape: Option<Vec<u64>>,
    pub repaired_values: Option<String>,
    pub repaired_items: Option<Vec<String>>,
    /// GSD: committed frames.
    pub frames: Option<u64>,
    /// GSD: what a plain listing shows, by path.
    pub datasets: Option<Vec<Visibility>>,
    /// Blosc2: of each chunk, where they differ in size.
    pub chunk_values: Option<Vec<String>>,
    /// Blosc2: bytes of each block of each chunk, where those differ.
    pub block_sizes: Option<Vec<Vec<usize>>>,
    /// Blosc2: fields of the header, and the number of offsets.
    pub frame_version: Option<u8>,
    pub nchunks: Option<u64>,
    pub typesize: Option<u32>,
    pub chunksize: Option<i64>,
    pub nbytes: Option<u64>,
    pub cbytes: Option<u64>,
    /// Blosc2: the partitions of an array.
    pub chunks: Option<Vec<u32>>,
    pub blocks: Option<Vec<u32>>,
    /// Blosc2: metalayers and user metadata, as stored.
    pub meta: Option<Vec<Metalayer>>,
    pub vlmeta: Option<Vec<Metalayer>>,
    /// Blosc2: where the frame begins.
    pub offset: Option<u64>,
    /// ASDF: which file of a folder to open.
    pub main: Option<String>,
    /// ASDF: of the header lines.
    pub version: Option<String>,
    pub standard: Option<String>,
    /// ASDF: first byte and end of the tree, and of the index.
    pub tree: Option<[u64; 2]>,
    pub index: Option<[u64; 2]>,
    pub stored_blocks: Option<Vec<StoredBlock>>,
    /// ASDF: the nodes of the tree.
    pub nodes: Option<Vec<Node>>,
    pub repaired_frames: Option<u64>,
    pub repaired_datasets: Option<Vec<Visibility>>,
}

/// A metalayer: its name, and its bytes in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Metalayer {
    pub name: String,
    pub hex: String,
}

/// A block of ASDF.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StoredBlock {
    /// Offset of its magic.
    pub start: u64,
    pub header_size: u16,
    pub flags: u32,
    pub label: String,
    pub allocated: u64,
    pub used: u64,
    pub size: u64,
    /// Bytes that the checksum covers: `stored`, `decoded`, `absent`, `wrong`. `None` where the block cannot be decoded.
    pub checksum: Option<String>,
    /// SHA-256 of the decoded data.
    pub decoded: Option<String>,
}

/// A node of a tree of ASDF.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Node {
    pub path: String,
    /// Description of the node, as `testdata/asdf/peer.py` spells it.
    pub is: String,
}

/// A file of a folder.
#[derive(Clone, Debug, Deserialize)]
pub struct Part {
    pub name: String,
    pub sha256: String,
}

/// One dataset of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Visibility {
    pub path: String,
    pub dtype: String,
    pub shape: Vec<u64>,
    /// SHA-256 of the elements in C order, numbers little-endian.
    pub values: String,
}

impl Fixture {
    /// Returns the entries of a plain listing: the datasets, and of an ASDF file without a tree the decoded bytes of its blocks.
    pub fn listed(&self) -> Option<Vec<Visibility>> {
        let listed = self.datasets.clone()?;
        if !listed.is_empty() || self.tree.is_some() || self.format != "asdf" {
            return Some(listed);
        }
        let blocks = self.stored_blocks.iter().flatten().enumerate();
        let of_block = |(number, block): (usize, &StoredBlock)| Visibility {
            path: format!("blocks/{number}"),
            dtype: "|u1".to_owned(),
            shape: vec![block.size],
            values: block.decoded.clone().expect("the bytes of a block without a codec"),
        };
        Some(blocks.map(of_block).collect())
    }
}

#[derive(Deserialize)]
struct Manifest {
    file: Vec<Fixture>,
}

/// The folder of the fixtures.
pub fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
}

/// The formats that have fixtures: the folders of `testdata`.
pub fn formats() -> Vec<String> {
    let folders = std::fs::read_dir(testdata()).expect("testdata is there");
    let mut names: Vec<String> = folders
        .map(|entry| entry.expect("a folder"))
        .filter(|entry| entry.path().join("MANIFEST.toml").is_file())
        .map(|entry| entry.file_name().into_string().expect("a plain name"))
        .collect();
    names.sort();
    names
}

/// Every fixture of every format that is a file.
pub fn fixtures() -> Vec<Fixture> {
    all_fixtures().into_iter().filter(|fixture| fixture.files.is_none()).collect()
}

/// Every fixture of every format, files and folders.
pub fn all_fixtures() -> Vec<Fixture> {
    let mut all = Vec::new();
    for format in formats() {
        let folder = testdata().join(&format);
        let text = std::fs::read_to_string(folder.join("MANIFEST.toml")).expect("a manifest");
        let manifest: Manifest = toml::from_str(&text).expect("a manifest that parses");
        all.extend(manifest.file.into_iter().map(|fixture| Fixture {
            format: format.clone(),
            full_path: folder.join(&fixture.path),
            ..fixture
        }));
    }
    all
}

impl Fixture {
    /// Bytes that can be cut off without a loss of what is read.
    pub fn expendable(&self) -> u64 {
        self.trailer.unwrap_or(0) + self.trailing.unwrap_or(0)
    }

    /// Its files, each with its SHA-256.
    pub fn parts(&self) -> Vec<(PathBuf, String)> {
        match &self.files {
            None => vec![(self.full_path.clone(), self.sha256.clone().expect("a file has its sha256"))],
            Some(files) => {
                files.iter().map(|part| (self.full_path.join(&part.name), part.sha256.clone())).collect()
            }
        }
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.full_path).expect("a fixture")
    }
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    container_codecs::checksum::Algorithm::Sha256.digest(bytes).to_string()
}

#[test]
fn every_fixture_matches_the_manifest() {
    let fixtures = all_fixtures();
    assert!(fixtures.len() > 1400, "only {} fixtures", fixtures.len());
    let mut listed: BTreeSet<PathBuf> = BTreeSet::new();
    for fixture in &fixtures {
        for (path, sha) in fixture.parts() {
            let bytes = std::fs::read(&path).expect("a fixture");
            assert_eq!(sha256(&bytes), sha, "{}", path.display());
            assert!(bytes.len() < 64 << 10, "{} is {} bytes", path.display(), bytes.len());
            listed.insert(path);
        }
        assert!(!fixture.producer.is_empty() && !fixture.licence.is_empty() && !fixture.about.is_empty());
        let kind = if fixture.verdict != "sound" {
            "bad"
        } else if fixture.codes.is_empty() {
            "ok"
        } else {
            "odd"
        };
        assert!(fixture.path.starts_with(&format!("{kind}/")), "{} belongs into {kind}", fixture.path);
    }
    for fixture in &fixtures {
        let lists =
            [(&fixture.frames, &fixture.datasets), (&fixture.repaired_frames, &fixture.repaired_datasets)];
        for (frames, datasets) in lists.into_iter().filter(|_| fixture.format == "gsd") {
            assert_eq!(frames.is_some(), datasets.is_some(), "{}", fixture.path);
            let datasets = datasets.as_deref().unwrap_or_default();
            assert!(datasets.is_sorted_by(|a, b| a.path < b.path), "{}", fixture.path);
            for it in datasets {
                assert!(it.values.len() == 64 && !it.dtype.is_empty(), "{} of {}", it.path, fixture.path);
                // Stacked along the frames, or a chunk of one.
                assert!(it.shape.first() == frames.as_ref() || it.path.starts_with("frames/"), "{}", it.path);
            }
        }
    }
    for format in formats() {
        for kind in ["ok", "odd", "bad"] {
            for path in files_below(&testdata().join(&format).join(kind)) {
                assert!(listed.contains(&path), "{} is in no manifest", path.display());
            }
        }
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files
}
