//! Settings of a server.

use std::path::Path;
use std::time::Duration;

use container_core::container::OpenOptions;

/// Settings of a server.
#[derive(Clone)]
pub struct Options {
    /// Port; 0 for one that is free.
    pub port: u16,
    /// Time without a request after which [`Server::run`](crate::Server::run) ends; `None` for never.
    pub idle: Option<Duration>,
    /// Options for opening the files.
    pub open: OpenOptions,
    /// Threads of one read.
    pub threads: usize,
    /// A name as a word of the user's shell, for the commands that are shown.
    pub shell_word: fn(&Path) -> String,
    /// Sources of pages that may show this one within them, as a policy names them: `http://localhost:*`.
    pub frames: Vec<String>,
    /// Names of this machine in addition to those of the loopback interface: that of a proxy in front.
    pub hosts: Vec<String>,
    /// The token, of 32 letters or more; `None` for a random one of 128 bits.
    pub token: Option<String>,
}

impl Default for Options {
    /// A free port, no end, the default limits, one thread, names in single quotes, no page around this one.
    fn default() -> Self {
        Self {
            port: 0,
            idle: None,
            open: OpenOptions::default(),
            threads: 1,
            shell_word: in_quotes,
            frames: Vec::new(),
            hosts: Vec::new(),
            token: None,
        }
    }
}

fn in_quotes(name: &Path) -> String {
    format!("'{}'", holdall::address::shown(name).replace('\'', r"'\''"))
}
