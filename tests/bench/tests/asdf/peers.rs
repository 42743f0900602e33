//! Three releases of Python asdf, which do what `testdata/asdf/peer.py` is told.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use bench::peer::python;
use serde_json::{Map, Value, json};
use tempfile::{TempDir, tempdir, tempdir_in};

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

/// A Python that answers one line of JSON with another.
pub struct Peer {
    what: String,
    /// Ends once its input is closed, with the program of the tests.
    _child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
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
    let newest = python().unwrap();
    let beside = |name: &str| newest.parent().unwrap().parent().unwrap().join(name).join("bin/python");
    let python = match release {
        Release::Newest => newest,
        Release::Mid => beside("mid-asdf"),
        Release::Old => beside("old-asdf"),
    };
    assert!(python.is_file(), "{} is missing (cargo xtask setup makes it)", python.display());
    python
}

impl Peer {
    fn start(release: Release) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/asdf/peer.py");
        let mut peer = Self::run(release, &script);
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
        let mut command = Command::new(interpreter(release));
        command.arg("-B").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { what: format!("{release:?}"), _child: child, to, from }
    }

    /// What it answers, or what asdf raised.
    pub fn try_ask(&mut self, what: &str, request: Value) -> Result<Map<String, Value>, String> {
        let Value::Object(mut request) = request else { panic!("a request is an object") };
        request.insert("do".to_owned(), what.into());
        writeln!(self.to, "{}", Value::Object(request)).unwrap();
        self.to.flush().unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "{} ended at {what}", self.what);
        let Value::Object(answer) = serde_json::from_str(&line).unwrap() else { panic!("{line}") };
        if answer["ok"] == true { Ok(answer) } else { Err(answer["error"].as_str().unwrap().to_owned()) }
    }

    #[track_caller]
    pub fn ask(&mut self, what: &str, request: Value) -> Map<String, Value> {
        let shown: String = request.to_string().chars().take(1500).collect();
        self.try_ask(what, request).unwrap_or_else(|error| panic!("{}: {what} {shown}: {error}", self.what))
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

/// A folder for small files that are written often: in memory where there is such a place.
pub fn folder() -> TempDir {
    tempdir_in("/dev/shm").or_else(|_| tempdir()).unwrap()
}
