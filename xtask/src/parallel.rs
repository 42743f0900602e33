//! A task as a process of its own, beside others; what it says is kept together until its end.

use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};

use crate::repo::Repo;

/// A task that runs.
pub(crate) struct BackgroundTask {
    pub(crate) task: &'static str,
    pub(crate) args: &'static [&'static str],
    thread: JoinHandle<io::Result<End>>,
}

/// Result of a process.
pub(crate) struct End {
    pub(crate) success: bool,
    /// Why it could not run here, if that is how it ended.
    pub(crate) not_run: Option<String>,
    /// Its stdout and stderr, as they came.
    pub(crate) said: String,
    pub(crate) seconds: f64,
}

impl BackgroundTask {
    /// Starts `program`, which is this one, with another task.
    ///
    /// # Errors
    /// When that cannot be done.
    pub(crate) fn start(
        program: &Path,
        repo: &Repo,
        task: &'static str,
        args: &'static [&'static str],
    ) -> Result<Self> {
        let mut command = Command::new(program);
        command.arg(task).args(args).current_dir(&repo.root);
        let thread = collect(command).with_context(|| format!("cannot start {task}"))?;
        Ok(Self { task, args, thread })
    }

    /// Waits for it.
    ///
    /// # Errors
    /// When it cannot be waited for. That it failed is no error here.
    pub(crate) fn end(self) -> Result<End> {
        let task = self.task;
        let mut end = self.thread.join().map_err(|_| anyhow!("{task}: its thread panicked"))??;
        end.not_run = not_run(task, &end.said);
        Ok(end)
    }
}

/// Returns the reason that `main` printed for a task that could not run.
fn not_run(task: &str, said: &str) -> Option<String> {
    let start = format!("{task}: not run: ");
    said.lines().find_map(|line| line.strip_prefix(&start)).map(str::to_owned)
}

/// Starts the command, and a thread that reads what it says and waits for it.
fn collect(mut command: Command) -> io::Result<JoinHandle<io::Result<End>>> {
    let started = Instant::now();
    let (mut reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The end of what is said comes when nobody can say more: not while the ends for writing are kept here.
    drop(command);
    Ok(thread::spawn(move || {
        let mut said = Vec::new();
        reader.read_to_end(&mut said)?;
        let success = child.wait()?.success();
        let said = String::from_utf8_lossy(&said).into_owned();
        Ok(End { success, not_run: None, said, seconds: started.elapsed().as_secs_f64() })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_run_reports_the_reason_of_a_skipped_task() {
        let said = "== it\nmsrv: not run: rustup has no Rust 1.89 here\n";
        assert_eq!(not_run("msrv", said).as_deref(), Some("rustup has no Rust 1.89 here"));
        assert_eq!(not_run("test", said), None);
    }

    #[cfg(unix)]
    #[test]
    fn output_is_collected_in_order_and_failure_is_reported() {
        let run = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            collect(command).unwrap().join().unwrap().unwrap()
        };
        let end = run("echo one; echo two >&2; echo three; exit 3");
        assert_eq!((end.success, end.said.as_str()), (false, "one\ntwo\nthree\n"));
        assert!(run("true").success);
    }
}
