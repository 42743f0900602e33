//! Serves files to a browser until nobody has asked for anything in ten minutes: `cargo run --example serve_files -- image.asdf run.gsd`.
#![allow(clippy::print_stdout)]

use std::time::Duration;

use holdall::{Error, Result};
use holdall_serve::{NamedFile, Options, Server};

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        return Err(Error::usage("expected files"));
    }
    let server = bind(&files, Duration::from_secs(600))?;
    println!("{}", server.address());
    server.run()
}

fn bind(files: &[String], idle: Duration) -> Result<Server> {
    let files = files.iter().map(|file| NamedFile { argument: file.into(), path: file.into() }).collect();
    Server::bind(files, Options { idle: Some(idle), ..Options::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_an_address_with_a_token_and_ends_by_itself() {
        let server = bind(&["a.asdf".to_owned()], Duration::from_millis(1)).unwrap();
        let (port, token) = server.port_and_token();
        assert_eq!(server.address(), format!("http://127.0.0.1:{port}/#t={token}"));
        server.run().unwrap();
    }
}
