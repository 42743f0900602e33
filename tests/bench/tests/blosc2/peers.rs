//! Two releases of python-blosc2, which do what `testdata/blosc2/peer.py` is told.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use bench::peer::python;
use serde_json::{Map, Value, json};
use tempfile::{TempDir, tempdir, tempdir_in};

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
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Peer {
    pub fn start(release: Release) -> Self {
        let newest = python().unwrap();
        let python = match release {
            Release::Newest => newest,
            Release::Old => newest.parent().unwrap().parent().unwrap().join("old-blosc2/bin/python"),
        };
        assert!(python.is_file(), "{} is missing (cargo xtask setup makes it)", python.display());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/blosc2/peer.py");
        let mut command = Command::new(python);
        command.arg("-B").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        let mut peer = Self { release, child, to, from };
        let version = peer.ask("version", json!({}));
        let expected = if release == Release::Newest { "4.14.1" } else { "3.1.1" };
        assert_eq!(version["blosc2"], expected);
        peer
    }

    pub fn both() -> [Self; 2] {
        [Self::start(Release::Newest), Self::start(Release::Old)]
    }

    /// What it answers, or what blosc2 raised.
    pub fn try_ask(&mut self, what: &str, request: Value) -> Result<Map<String, Value>, String> {
        let Value::Object(mut request) = request else { panic!("a request is an object") };
        request.insert("do".to_owned(), what.into());
        writeln!(self.to, "{}", Value::Object(request)).unwrap();
        self.to.flush().unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "{:?} ended at {what}", self.release);
        let Value::Object(answer) = serde_json::from_str(&line).unwrap() else { panic!("{line}") };
        if answer["ok"] == true { Ok(answer) } else { Err(answer["error"].as_str().unwrap().to_owned()) }
    }

    #[track_caller]
    pub fn ask(&mut self, what: &str, request: Value) -> Map<String, Value> {
        let shown: String = request.to_string().chars().take(600).collect();
        self.try_ask(what, request)
            .unwrap_or_else(|error| panic!("{:?}: {what} {shown}: {error}", self.release))
    }

    /// What it says of the frame at `path`, and the values.
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

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder for small files that are written often: in memory where there is such a place.
pub fn folder() -> TempDir {
    tempdir_in("/dev/shm").or_else(|_| tempdir()).unwrap()
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
