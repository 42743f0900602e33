//! The C library of gsd, compiled from its released source; nothing of it is kept.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::scratch::Scratch;
use interop::peer::{Peer, python, script};

const RELEASE: &str = "5.0.1";

/// Names a source archive of the release that is there already.
const SOURCE: &str = "HOLDALL_GSD_SOURCE";

/// Fetches the source, unless the environment names it, compiles it, and starts it.
///
/// # Errors
/// Without the package index, without a C compiler.
pub fn start(scratch: &Scratch) -> Result<Peer> {
    let folder = scratch.file("c-library");
    std::fs::create_dir_all(&folder)?;
    let archive = match std::env::var_os(SOURCE) {
        Some(path) => PathBuf::from(path),
        None => fetch(&folder)?,
    };
    run(Command::new(python()?).args(["-m", "tarfile", "-e"]).arg(&archive).arg(&folder))?;
    let source = folder.join(format!("gsd-{RELEASE}/gsd"));
    let program = folder.join("gsd_peer");
    let mut compiler = Command::new("cc");
    compiler.args(["-O3", "-DNDEBUG", "-I"]).arg(&source);
    compiler.arg(script("gsd_peer.c")).arg(source.join("gsd.c")).arg("-o").arg(&program);
    run(&mut compiler)?;
    Peer::spawn(Command::new(program))
}

fn fetch(folder: &Path) -> Result<PathBuf> {
    let mut pip = Command::new(python()?);
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--no-binary", "gsd", "--dest"]).arg(folder).arg(format!("gsd=={RELEASE}"));
    run(&mut pip)?;
    Ok(folder.join(format!("gsd-{RELEASE}.tar.gz")))
}

fn run(command: &mut Command) -> Result<()> {
    let shown = format!("{command:?}");
    let output = command.output().with_context(|| shown.clone())?;
    ensure!(output.status.success(), "{shown}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}
