//! The pager of the user, for output that is longer than the screen.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Output that goes through the pager once it is longer than the screen, and to standard output if it is not.
pub struct Pager {
    command: OsString,
    /// Lines of the screen, with one for the prompt of the shell.
    lines: usize,
    state: State,
}

enum State {
    /// Output so far.
    Held(Vec<u8>),
    Running(Child, ChildStdin),
    /// The pager cannot be started, or has ended.
    Ended,
}

/// The pager's command: HOLDALL_PAGER or PAGER; `None` where neither is set, or the value is empty or `cat`.
pub fn command() -> Option<OsString> {
    let set = std::env::var_os("HOLDALL_PAGER").or_else(|| std::env::var_os("PAGER"))?;
    let is_none = set.is_empty() || set == "cat";
    (cfg!(unix) && !is_none).then_some(set)
}

impl Pager {
    /// A pager for a screen of so many lines. It starts when more are written.
    pub const fn new(command: OsString, lines: usize) -> Self {
        Self { command, lines, state: State::Held(Vec::new()) }
    }

    /// Writes, to `out` where there is no pager to write to.
    pub fn write(&mut self, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
        match &mut self.state {
            State::Held(held) => {
                held.extend_from_slice(bytes);
                if held.iter().filter(|byte| **byte == b'\n').count() < self.lines {
                    return Ok(());
                }
                let held = std::mem::take(held);
                match start(&self.command) {
                    Some((child, mut stdin)) => {
                        let written = stdin.write_all(&held);
                        self.state = State::Running(child, stdin);
                        written
                    }
                    None => {
                        self.state = State::Ended;
                        out.write_all(&held)
                    }
                }
            }
            State::Running(_, stdin) => stdin.write_all(bytes),
            State::Ended => out.write_all(bytes),
        }
    }

    /// Writes what is held, or waits until the user leaves the pager.
    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Held(held) => out.write_all(&held),
            State::Running(mut child, stdin) => {
                drop(stdin);
                child.wait().map(drop)
            }
            State::Ended => Ok(()),
        }
    }
}

/// Starts the pager by the shell, as git does: the value may have options and quotes. No name of a file is in it.
fn start(command: &OsString) -> Option<(Child, ChildStdin)> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::piped());
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            shell.env(name, value);
        }
    }
    let mut child = shell.spawn().ok()?;
    crate::interrupt::leave_to_pager();
    let stdin = child.stdin.take()?;
    Some((child, stdin))
}
