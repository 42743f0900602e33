//! Two releases of python-blosc2, which do what `testdata/blosc2/peer.py` is told.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

pub use interop::json_peer::folder;
use interop::json_peer::{JsonPeer, interpreter_of, script_of};
use interop::peer::python;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A release of python-blosc2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// 4.14.1, with C-Blosc2 3.3.5.
    Newest,
    /// 3.1.1, with C-Blosc2 2.16.0.
    Old,
}

/// A Python with that release. It ends with the test.
pub struct Peer {
    pub release: Release,
    peer: JsonPeer,
}

impl Deref for Peer {
    type Target = JsonPeer;

    fn deref(&self) -> &JsonPeer {
        &self.peer
    }
}

impl DerefMut for Peer {
    fn deref_mut(&mut self) -> &mut JsonPeer {
        &mut self.peer
    }
}

impl Peer {
    pub fn start(release: Release) -> Self {
        let (interpreter, expected) = match release {
            Release::Newest => (python().unwrap(), "4.14.1"),
            Release::Old => (interpreter_of("old-blosc2"), "3.1.1"),
        };
        let mut peer = JsonPeer::start(format!("{release:?}"), &interpreter, &script_of("blosc2/peer.py"));
        assert_eq!(peer.ask("version", json!({}))["blosc2"], expected);
        Self { release, peer }
    }

    pub fn both() -> [Self; 2] {
        [Self::start(Release::Newest), Self::start(Release::Old)]
    }

    /// Returns its description of the frame at `path`, and the values.
    #[track_caller]
    pub fn read(&mut self, path: &Path) -> (Map<String, Value>, Vec<u8>) {
        let raw = path.with_extension("read");
        let answer = self.ask("read", json!({"path": path, "raw": raw}));
        (answer, std::fs::read(raw).unwrap())
    }

    #[track_caller]
    pub fn info(&mut self, path: &Path) -> Map<String, Value> {
        self.ask("info", json!({ "path": path }))
    }
}

/// Writes bytes to a file of the folder.
pub fn put(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The numbers of a list.
pub fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}
