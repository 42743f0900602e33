//! Three releases of Python asdf, which do what `testdata/asdf/peer.py` is told.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

pub use interop::json_peer::folder;
use interop::json_peer::{JsonPeer, interpreter_of, script_of};
use interop::peer::python;
use serde_json::{Value, json};

/// A release of Python asdf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// 6.0.0.
    Newest,
    /// 5.2.0, the last series that hashes what a block decodes to.
    Mid,
    /// 2.15.2, the last asdf 2.
    Old,
}

impl Release {
    /// The versions of the standard that it knows the types of: asdf 2.15 has 1.6.0 by its number alone.
    pub const fn standards(self) -> &'static [&'static str] {
        let all = &["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0"];
        if matches!(self, Self::Old) { all.split_at(6).0 } else { all }
    }
}

pub const RELEASES: [Release; 3] = [Release::Newest, Release::Mid, Release::Old];

/// A Python with a release.
pub struct Peer(JsonPeer);

impl Deref for Peer {
    type Target = JsonPeer;

    fn deref(&self) -> &JsonPeer {
        &self.0
    }
}

impl DerefMut for Peer {
    fn deref_mut(&mut self) -> &mut JsonPeer {
        &mut self.0
    }
}

static NEWEST: LazyLock<Mutex<Peer>> = LazyLock::new(|| Mutex::new(Peer::start(Release::Newest)));
static MID: LazyLock<Mutex<Peer>> = LazyLock::new(|| Mutex::new(Peer::start(Release::Mid)));
static OLD: LazyLock<Mutex<Peer>> = LazyLock::new(|| Mutex::new(Peer::start(Release::Old)));

/// The Python with that release. Every test of this program asks the same one: to start it takes longer than most tests.
pub fn peer(release: Release) -> MutexGuard<'static, Peer> {
    let peer = match release {
        Release::Newest => &NEWEST,
        Release::Mid => &MID,
        Release::Old => &OLD,
    };
    // A test that failed has had its answer.
    peer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The interpreter that has that release.
pub fn interpreter(release: Release) -> PathBuf {
    match release {
        Release::Newest => python().unwrap(),
        Release::Mid => interpreter_of("mid-asdf"),
        Release::Old => interpreter_of("old-asdf"),
    }
}

impl Peer {
    fn start(release: Release) -> Self {
        let mut peer = Self::run(release, &script_of("asdf/peer.py"));
        let expected = match release {
            Release::Newest => "6.0.0",
            Release::Mid => "5.2.0",
            Release::Old => "2.15.2",
        };
        assert_eq!(peer.ask("version", json!({}))["asdf"], expected);
        peer
    }

    /// A script that speaks as `peer.py` does.
    pub fn run(release: Release, script: &Path) -> Self {
        Self(JsonPeer::start(format!("{release:?}"), &interpreter(release), script))
    }

    /// The tree of the file at `path`, without what names software and history.
    #[track_caller]
    pub fn tree(&mut self, path: &Path) -> Value {
        let mut answer = self.ask("read", json!({ "path": path }));
        let mut tree = answer.remove("tree").unwrap();
        let root = tree.as_object_mut().unwrap();
        root.remove("asdf_library");
        root.remove("history");
        tree
    }
}
