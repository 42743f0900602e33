//! `docs` and `dist`: what is generated from the command: sessions, pictures and reference in docs/, and a program that runs anywhere.

use std::env;

use anyhow::{Result, bail};

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, flags};

/// Runs every session of the README and of docs/, and writes what it answered; draws the pictures of the gallery; and writes the reference of the command. `--check` compares.
pub(crate) fn docs(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [check] = flags(args, ["--check"])?;
    let step = Step::cargo(repo).args([
        "test",
        "--workspace",
        "--all-features",
        "--test",
        "docs",
        "--test",
        "pictures",
    ]);
    if check {
        step.run()?;
        return Ok(Outcome::Done);
    }
    step.env("HOLDALL_GOLDENS", "write").run()?;
    Ok(Outcome::Done)
}

/// The command as one file that needs no library of the machine it runs on.
pub(crate) fn dist(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok(Outcome::NotRun("it is known for Linux on x86_64 alone".to_owned()));
    }
    // Musl where it is installed; else the GNU library, linked in. A target of its own keeps build scripts apart.
    let installed = Step::new(repo, "rustup").args(["target", "list", "--installed"]).stdout();
    let musl = installed.is_ok_and(|list| list.lines().any(|line| line == "x86_64-unknown-linux-musl"));
    let target = if musl { "x86_64-unknown-linux-musl" } else { "x86_64-unknown-linux-gnu" };
    Step::cargo(repo)
        .args(["build", "--release", "--package", "holdall-cli", "--target", target])
        .env("RUSTFLAGS", "-C target-feature=+crt-static")
        .run()?;
    let program = repo.target()?.join(target).join("release/holdall");
    let linked = Step::new(repo, "ldd").arg(&program).stdout();
    // ldd ends with 1 where there is nothing to list, and tells so.
    if let Ok(text) = linked
        && !text.contains("statically linked")
    {
        bail!("{} still needs libraries:\n{text}", program.display());
    }
    let answer = Step::new(repo, &program).args(["info", "testdata/rawarray/ok/test.ra"]).stdout()?;
    if !answer.contains("RawArray") {
        bail!("{} does not answer", program.display());
    }
    println!("{}: static, for {} {}", repo.name_of(&program), env::consts::OS, env::consts::ARCH);
    Ok(Outcome::Done)
}
