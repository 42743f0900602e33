//! The Python that tests and benchmarks compare against, named by the environment variable `HOLDALL_PYTHON`
//! (`cargo xtask setup` makes one).

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

/// The interpreter.
///
/// # Errors
/// When the variable is not set. Nothing that needs a peer is passed over without one.
pub fn python() -> Result<PathBuf> {
    let python = std::env::var_os("HOLDALL_PYTHON")
        .context("HOLDALL_PYTHON names no Python with numpy (cargo xtask setup makes one)")?;
    Ok(PathBuf::from(python))
}

/// An older release, in the folder of this name that `cargo xtask setup` makes beside the newest.
///
/// # Panics
/// When it is missing.
#[must_use]
pub fn beside(release: &str) -> PathBuf {
    let folder = python().unwrap().parent().unwrap().parent().unwrap().join(release);
    assert!(folder.is_dir(), "{} is missing (cargo xtask setup makes it)", folder.display());
    folder
}

/// A script of this package's `peers` folder.
#[must_use]
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
}

/// Result of a peer's operation.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// Seconds that it took, without what came before and after.
    pub seconds: f64,
    /// A number made from the result.
    pub check: Option<u64>,
}

/// A process that does what it is told, line by line, and says how long each thing took.
pub struct Peer {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts the script `name` of the `peers` folder.
    ///
    /// # Errors
    /// When there is no Python, or it lacks what the script needs.
    pub fn start(name: &str) -> Result<Self> {
        let mut python = Command::new(python()?);
        python.arg(script(name));
        Self::spawn(python)
    }

    /// Starts a program that speaks as the scripts do.
    ///
    /// # Errors
    /// When it does not start, or does not say its version.
    pub fn spawn(mut program: Command) -> Result<Self> {
        let mut child = program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.get_program().display()))?;
        let to = child.stdin.take().context("a child without stdin")?;
        let from = BufReader::new(child.stdout.take().context("a child without stdout")?);
        let mut peer = Self { child, to, from };
        peer.version()?;
        Ok(peer)
    }

    /// "Python 3.13.0, numpy 2.5.5".
    ///
    /// # Errors
    /// When the process does not answer.
    pub fn version(&mut self) -> Result<String> {
        let version = self.ask("version", &[])?;
        version.first().cloned().context("no version")
    }

    /// Has it do `command` to `paths`.
    ///
    /// # Errors
    /// What it says went wrong.
    pub fn run(&mut self, command: &str, paths: &[&Path]) -> Result<Timed> {
        let paths = paths.iter().map(|path| path.to_str().context("a path that is no text"));
        self.measure(command, &paths.collect::<Result<Vec<_>>>()?)
    }

    /// Has it do `command`, with what `args` say.
    ///
    /// # Errors
    /// What it says went wrong.
    pub fn measure(&mut self, command: &str, args: &[&str]) -> Result<Timed> {
        let fields = self.ask(command, args)?;
        let [seconds, check] = fields.as_slice() else { bail!("{command}: {fields:?}") };
        let check = if check == "-" { None } else { Some(check.parse()?) };
        Ok(Timed { seconds: seconds.parse()?, check })
    }

    /// Has it do `command`; gives the fields of its answer.
    ///
    /// # Errors
    /// What it says went wrong.
    pub fn ask(&mut self, command: &str, args: &[&str]) -> Result<Vec<String>> {
        let line = [&[command], args].concat().join("\t");
        writeln!(self.to, "{line}")?;
        self.to.flush()?;
        let mut answer = String::new();
        self.from.read_line(&mut answer)?;
        ensure!(!answer.is_empty(), "the peer ended at {command:?}");
        let mut fields = answer.trim_end_matches('\n').split('\t').map(str::to_owned);
        match fields.next().as_deref() {
            Some("ok") => Ok(fields.collect()),
            _ => bail!("{command}: {answer}"),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It would end by itself once its stdin is closed, but not before the next group starts.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
