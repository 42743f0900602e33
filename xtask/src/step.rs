//! Running one command: show it, run it, say how long it took.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, BufReader};
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::repo::Repo;

/// A command in the making.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(String, OsString)>,
    tools: Option<PathBuf>,
    dir: PathBuf,
    root: PathBuf,
}

impl Step {
    pub(crate) fn new(repo: &Repo, program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            tools: None,
            dir: repo.root.clone(),
            root: repo.root.clone(),
        }
    }

    /// The cargo that runs this program, or the one on PATH.
    pub(crate) fn cargo(repo: &Repo) -> Self {
        Self::new(repo, env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    /// Cargo of another toolchain, through rustup.
    pub(crate) fn cargo_of(repo: &Repo, toolchain: &str) -> Self {
        Self::new(repo, "rustup").args(["run", toolchain, "cargo"])
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Puts the folder `tools` before all others on PATH.
    pub(crate) fn tools(mut self, tools: impl AsRef<Path>) -> Self {
        self.tools = Some(tools.as_ref().to_owned());
        self
    }

    pub(crate) fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.dir = dir.as_ref().to_owned();
        self
    }

    /// Runs it in view.
    ///
    /// # Errors
    /// When it cannot be started or does not end with 0.
    pub(crate) fn run(&self) -> Result<()> {
        self.run_with(Command::status)
    }

    /// Runs it in view, and shows each line of its stderr to `look`.
    ///
    /// # Errors
    /// As [`Step::run`].
    pub(crate) fn watch(&self, mut look: impl FnMut(&str)) -> Result<()> {
        self.run_with(|command| {
            let mut child = command.stderr(Stdio::piped()).spawn()?;
            if let Some(stderr) = child.stderr.take() {
                // Which need not be text.
                for line in BufReader::new(stderr).split(b'\n') {
                    let line = line?;
                    let line = String::from_utf8_lossy(&line);
                    eprintln!("{line}");
                    look(&line);
                }
            }
            child.wait()
        })
    }

    fn run_with(&self, run: impl FnOnce(&mut Command) -> io::Result<ExitStatus>) -> Result<()> {
        println!("$ {}", self.shown());
        let start = Instant::now();
        let status = run(&mut self.command()).with_context(|| format!("cannot start {}", self.shown()))?;
        let seconds = start.elapsed().as_secs_f64();
        if !status.success() {
            bail!("failed after {seconds:.1} s ({status}): {}", self.shown());
        }
        println!("  ok, {seconds:.1} s");
        Ok(())
    }

    /// Runs it unseen and gives its stdout.
    ///
    /// # Errors
    /// When it cannot be started or does not end with 0; then with its stderr.
    pub(crate) fn stdout(&self) -> Result<String> {
        let output = self
            .command()
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", self.shown()))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!("failed ({}): {}\n{}", output.status, self.shown(), stderr.trim_end());
        }
        String::from_utf8(output.stdout).with_context(|| format!("not text, from {}", self.shown()))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.dir);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(tools) = &self.tools {
            let path = env::var_os("PATH").unwrap_or_default();
            let places = iter::once(tools.clone()).chain(env::split_paths(&path));
            // Fails only for a folder whose name holds the separator, and then nothing on it could be found.
            command.env("PATH", env::join_paths(places).unwrap_or(path));
        }
        command
    }

    /// The line a person would type at the repository's root.
    fn shown(&self) -> String {
        let mut line = String::new();
        if self.dir != self.root {
            let dir = self.dir.strip_prefix(&self.root).unwrap_or(&self.dir);
            line = format!("cd {} && ", quoted(&dir.display().to_string()));
        }
        if let Some(tools) = &self.tools {
            line += &format!("PATH={}:$PATH ", quoted(&self.relative(tools.as_os_str())));
        }
        for (name, value) in &self.env {
            // Written out in full for the command, which may look at it from elsewhere.
            let value = match Path::new(value).strip_prefix(&self.root) {
                Ok(rest) if self.dir == self.root => {
                    format!("\"$PWD\"/{}", quoted(&rest.display().to_string()))
                }
                _ => quoted(&value.to_string_lossy()),
            };
            line += &format!("{name}={value} ");
        }
        let program = Path::new(&self.program);
        line += &match program.file_stem() {
            Some(stem) if stem == "cargo" => "cargo".to_owned(),
            _ => quoted(&self.relative(&self.program)),
        };
        for arg in &self.args {
            line.push(' ');
            line += &quoted(&self.relative(arg));
        }
        line
    }

    /// Paths below the root without it, as long as that is where the command runs.
    fn relative(&self, value: &OsStr) -> String {
        let path = Path::new(value);
        match path.strip_prefix(&self.root) {
            Ok(rest) if rest != Path::new("") && self.dir == self.root => rest.display().to_string(),
            _ => path.display().to_string(),
        }
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{word}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_shows_the_line_to_type_at_the_root() {
        let repo = Repo::at("/src/holdall");
        let step = Step::new(&repo, "/opt/rust/bin/cargo")
            .args(["doc", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings")
            .env("HOLDALL_PYTHON", "/src/holdall/.venv/bin/python");
        assert_eq!(
            step.shown(),
            "RUSTDOCFLAGS='-D warnings' HOLDALL_PYTHON=\"$PWD\"/.venv/bin/python cargo doc --no-deps"
        );
        assert!(
            step.clone().tools("/src/holdall/target/tools").shown().starts_with("PATH=target/tools:$PATH ")
        );
        let below =
            Step::new(&repo, "/src/holdall/.venv/bin/python").arg("make.py").dir("/src/holdall/testdata/gsd");
        assert_eq!(below.shown(), "cd testdata/gsd && /src/holdall/.venv/bin/python make.py");
    }

    #[cfg(unix)]
    #[test]
    fn a_failing_command_is_an_error_that_names_it() {
        let repo = Repo::at(".");
        let error = Step::new(&repo, "sh").args(["-c", "exit 3"]).run().unwrap_err().to_string();
        assert!(error.contains("sh -c 'exit 3'"), "{error}");
        let error = Step::new(&repo, "sh").args(["-c", "echo no >&2; false"]).stdout().unwrap_err();
        assert!(error.to_string().ends_with("no"), "{error}");
        let mut seen = Vec::new();
        let talk = Step::new(&repo, "sh").args(["-c", "echo one >&2; echo two >&2; exit 3"]);
        assert!(talk.watch(|line| seen.push(line.to_owned())).is_err());
        assert_eq!(seen, ["one", "two"]);
        assert_eq!(Step::new(&repo, "sh").args(["-c", "echo yes"]).stdout().unwrap(), "yes\n");
    }
}
