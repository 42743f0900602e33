//! The program in a root directory that has nothing else but some files: no library, no shell, no `/proc`, no `/etc`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::repo::Repo;
use crate::step::Step;

/// Files to read, of each format, and what `info` says of them.
const FILES: &[(&str, &str)] = &[
    ("testdata/rawarray/ok/test.ra", "RawArray"),
    ("testdata/asdf/ok/codec_mixed.asdf", "ASDF"),
    ("testdata/blosc2/ok/array_patched.b2nd", "Blosc2"),
    ("testdata/bloscpack/ok/append_twice.blp", "Bloscpack"),
    ("testdata/gsd/ok/aligned_64.gsd", "GSD"),
];

/// Runs the program there, in a folder below `out`; the reason where this machine lets nobody change the root.
pub(super) fn check(repo: &Repo, program: &Path, version: &str, out: &Path) -> Result<Option<String>> {
    if !cfg!(target_os = "linux") {
        return Ok(Some("only Linux starts static programs".to_owned()));
    }
    if let Err(error) = Step::new(repo, "unshare").args(["--map-root-user", "true"]).stdout() {
        return Ok(Some(format!("{error:#}").lines().collect::<Vec<_>>().join(" ")));
    }
    let root = out.join("root");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    fs::create_dir_all(&root)?;
    fs::copy(program, root.join("holdall"))?;
    let run = |args: &[&str]| {
        let step = Step::new(repo, "unshare").args(["--map-root-user", "chroot"]).arg(&root);
        step.arg("/holdall").args(args).stdout()
    };
    let expect = |args: &[&str], wanted: &str| {
        let answer = run(args)?;
        if !answer.contains(wanted) {
            bail!("holdall {} in an empty root answers without {wanted:?}:\n{answer}", args.join(" "));
        }
        Ok(())
    };
    expect(&["--version"], version)?;
    for (file, format) in FILES {
        let name = Path::new(file).file_name().context("a file has a name")?;
        fs::copy(repo.path(file), root.join(name)).with_context(|| *file)?;
        let name = name.to_str().context("a name of a fixture is text")?;
        expect(&["info", name], format)?;
        for verb in ["ls", "verify"] {
            run(&[verb, name])?;
        }
    }
    fs::remove_dir_all(&root)?;
    println!("answers in an empty root: --version; info, ls and verify of {} files", FILES.len());
    Ok(None)
}
