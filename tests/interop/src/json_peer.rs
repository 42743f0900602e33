//! Pythons of the tests that answer one line of JSON with another, as `testdata/*/peer.py` do.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Map, Value};
use tempfile::{TempDir, tempdir, tempdir_in};

use crate::peer::beside;

/// A process with a script that takes requests. It ends with this value, or once its input is closed.
pub struct JsonPeer {
    what: String,
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl JsonPeer {
    /// Starts `script`, which messages call `what`.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start(what: String, interpreter: &Path, script: &Path) -> Self {
        let mut command = Command::new(interpreter);
        command.arg("-B").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { what, child, to, from }
    }

    /// Returns its answer to `what`, or the text of the exception that it raised.
    ///
    /// # Errors
    /// The text of what was raised.
    ///
    /// # Panics
    /// When the request is no object, and when the process ends or does not speak JSON.
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

    /// Returns its answer to `what`.
    ///
    /// # Panics
    /// Where [`JsonPeer::try_ask`] does, and with what it raised.
    #[track_caller]
    pub fn ask(&mut self, what: &str, request: Value) -> Map<String, Value> {
        let shown: String = request.to_string().chars().take(1500).collect();
        self.try_ask(what, request).unwrap_or_else(|error| panic!("{}: {what} {shown}: {error}", self.what))
    }
}

impl Drop for JsonPeer {
    fn drop(&mut self) {
        // It would end by itself, but not before the next test starts.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The interpreter of an older release, which `cargo xtask setup` puts beside the newest.
///
/// # Panics
/// When it is missing.
#[must_use]
pub fn interpreter_of(release: &str) -> PathBuf {
    beside(release).join("bin/python")
}

/// A script below `testdata`.
#[must_use]
pub fn script_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

/// A folder for small files that are written often: in memory where there is such a place.
///
/// # Panics
/// When it cannot be made.
#[must_use]
pub fn folder() -> TempDir {
    tempdir_in("/dev/shm").or_else(|_| tempdir()).unwrap()
}
