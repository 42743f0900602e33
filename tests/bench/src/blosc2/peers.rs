//! The others' programs.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::scratch::Scratch;
use interop::peer::{Peer, script};

/// Compiles `peers/blosc2_peer.c`, links it with the library that python-blosc2 brings along, and starts it.
///
/// # Errors
/// Without a C compiler.
pub(super) fn c(scratch: &Scratch, python: &mut Peer) -> Result<Peer> {
    let about = python.ask("version", &[])?;
    let package = Path::new(about.get(1).context("python-blosc2 does not say where it is")?);
    let (include, library) = (package.join("include"), package.join("lib"));
    let program = scratch.file("blosc2_peer");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O3", "-DNDEBUG", "-I"])
        .arg(include)
        .arg(script("blosc2_peer.c"))
        .arg("-o")
        .arg(&program);
    compiler.arg("-L").arg(&library).args(["-lblosc2", "-Wl,-rpath"]).arg(&library);
    let output = compiler.output().context("cc")?;
    ensure!(output.status.success(), "cc: {}", String::from_utf8_lossy(&output.stderr).trim());
    let mut command = Command::new(program);
    // They override parameters.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"BLOSC_")) {
        command.env_remove(name);
    }
    Peer::spawn(command)
}

/// Starts a program of this package, which is beside the one that runs.
///
/// # Errors
/// Where it is not there.
pub(super) fn program(name: &str) -> Result<Peer> {
    let path = std::env::current_exe()?.with_file_name(name);
    ensure!(path.exists(), "no {}: cargo xtask bench builds it", path.display());
    Peer::spawn(Command::new(path))
}
