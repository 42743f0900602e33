//! `dist`: what a release gives of the command, one archive for a machine: the program, its manual pages and completions, licences.
//!
//! The workflow of a release runs exactly this on each system. `cargo binstall` finds the archives by their names, which
//! `[package.metadata.binstall]` of the command has as templates.

mod empty_root;
mod third_party;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, flags};

/// Profile of the workspace in which the program is built.
const PROFILE: &str = "dist";

/// Package of the command, and the name of its program.
const PACKAGE: &str = "holdall-cli";
const PROGRAM: &str = "holdall";

/// All that the command can do.
const FEATURES: &str = "full";

/// Files at the root of the repository that go with the program.
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Shells and the names under which they look for completions.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "holdall.bash"),
    ("zsh", "_holdall"),
    ("fish", "holdall.fish"),
    ("powershell", "_holdall.ps1"),
    ("elvish", "holdall.elv"),
];

pub(crate) fn dist(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let target = target(repo)?;
    let built = build(repo, &target)?;
    let version = repo.version(PACKAGE)?;
    let name = folder_name(&version, &target);
    let out = repo.target()?.join("archives");
    let folder = out.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    for part in ["completions", "man"] {
        fs::create_dir_all(folder.join(part))?;
    }
    let program = folder.join(format!("{PROGRAM}{}", env::consts::EXE_SUFFIX));
    fs::copy(&built, &program).with_context(|| repo.name_of(&built))?;
    for text in TEXTS {
        fs::copy(repo.path(text), folder.join(text)).with_context(|| text)?;
    }
    fs::write(folder.join("THIRD-PARTY.txt"), third_party::text(repo, PACKAGE, FEATURES, &target)?)?;
    Step::new(repo, &program).args(["man", "--output"]).arg(folder.join("man")).stdout()?;
    for (shell, file) in COMPLETIONS {
        let script = Step::new(repo, &program).args(["completions", shell]).stdout()?;
        fs::write(folder.join("completions").join(file), script)?;
    }
    if let Some(why) = empty_root::check(repo, &program, &version, &out)? {
        println!("not run in an empty root: {why}");
    }
    let archive = pack(repo, &out, &name, &target)?;
    println!("{}: {} MB", repo.name_of(&archive), fs::metadata(&archive)?.len() / 1_000_000);
    Ok(Outcome::Done)
}

/// The target of this machine; on Linux that of musl where it is installed, whose programs need no library of the machine they run on.
fn target(repo: &Repo) -> Result<String> {
    let about = Step::new(repo, "rustc").arg("-vV").stdout()?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc names no host")?.to_owned();
    let musl = host.replace("-gnu", "-musl");
    let installed = Step::new(repo, "rustup").args(["target", "list", "--installed"]).stdout();
    let installed = installed.is_ok_and(|list| list.lines().any(|line| line == musl));
    Ok(if cfg!(target_os = "linux") && installed { musl } else { host })
}

/// Whether programs for `target` have all libraries in them: those of the system of a Mac are only to be had shared.
fn is_static(target: &str) -> bool {
    !target.contains("-apple-")
}

fn build(repo: &Repo, target: &str) -> Result<PathBuf> {
    // A target that is named keeps the flags away from build scripts.
    let mut step = Step::cargo(repo).args([
        "build",
        "--locked",
        "--profile",
        PROFILE,
        "--package",
        PACKAGE,
        "--features",
        FEATURES,
        "--target",
        target,
    ]);
    if is_static(target) {
        step = step.env("RUSTFLAGS", "-C target-feature=+crt-static");
    }
    step.run()?;
    let folder = repo.target()?.join(target).join(PROFILE);
    let program = folder.join(format!("{PROGRAM}{}", env::consts::EXE_SUFFIX));
    if cfg!(target_os = "linux") {
        // ldd ends with 1 where there is nothing to list, and tells so.
        let linked = Step::new(repo, "ldd").arg(&program).stdout();
        if let Ok(text) = linked
            && !text.contains("statically linked")
        {
            bail!("{} still needs libraries:\n{text}", program.display());
        }
        if target.ends_with("-gnu") {
            println!(
                "linked with the GNU library, which looks up names of hosts by shared libraries of the machine: releases are built for {}",
                target.replace("-gnu", "-musl")
            );
        }
    }
    Ok(program)
}

/// Name of the folder in an archive, and of the archive without its ending.
fn folder_name(version: &str, target: &str) -> String {
    format!("{PROGRAM}-{version}-{target}")
}

/// Ending of archives: what people of the system open without more.
fn ending(target: &str) -> &'static str {
    if target.contains("-windows-") { ".zip" } else { ".tar.gz" }
}

/// Packs the folder `name` in `out`, and writes the digest of the archive beside it.
fn pack(repo: &Repo, out: &Path, name: &str, target: &str) -> Result<PathBuf> {
    let file = format!("{name}{}", ending(target));
    let archive = out.join(&file);
    // The tar of Windows, which is that of BSD and writes zip, not one of Unix that may be before it on PATH.
    let tar = match env::var_os("SystemRoot") {
        Some(root) if cfg!(windows) => Path::new(&root).join("System32").join("tar.exe").into_os_string(),
        _ => "tar".into(),
    };
    let format: &[&str] = if ending(target) == ".zip" { &["-a", "-cf"] } else { &["-czf"] };
    Step::new(repo, tar).args(format).args([&file, name]).dir(out).run()?;
    let digest = Sha256::digest(fs::read(&archive)?);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    // The form that `sha256sum --check` reads.
    fs::write(out.join(format!("{file}.sha256")), format!("{digest}  {file}\n"))?;
    Ok(archive)
}

#[cfg(test)]
mod tests {
    use toml::{Table, Value};

    use super::*;

    /// Fills in a template of cargo-binstall.
    fn filled(template: &str, target: &str) -> String {
        let exe = if target.contains("-windows-") { ".exe" } else { "" };
        [("repo", "R"), ("version", "1.2.3"), ("target", target), ("bin", PROGRAM), ("binary-ext", exe)]
            .iter()
            .fold(template.to_owned(), |text, (name, value)| text.replace(&format!("{{ {name} }}"), value))
    }

    #[test]
    fn binstall_finds_the_archives_and_the_program_in_them() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/holdall-cli/Cargo.toml");
        let manifest: Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
        let binstall = &manifest["package"]["metadata"]["binstall"];
        for target in [
            "x86_64-unknown-linux-musl",
            "x86_64-unknown-linux-gnu",
            "aarch64-unknown-linux-musl",
            "aarch64-apple-darwin",
            "x86_64-apple-darwin",
            "x86_64-pc-windows-msvc",
        ] {
            let special = binstall.get("overrides").and_then(|overrides| overrides.get(target));
            let text = |key: &str| {
                let value = special.and_then(|special| special.get(key)).or_else(|| binstall.get(key));
                value.and_then(Value::as_str).unwrap_or_else(|| panic!("{target}: no {key}")).to_owned()
            };
            let folder = folder_name("1.2.3", target);
            let archive = format!("R/releases/download/v1.2.3/{folder}{}", ending(target));
            assert_eq!(filled(&text("pkg-url"), target), archive);
            let exe = if target.contains("-windows-") { ".exe" } else { "" };
            assert_eq!(filled(&text("bin-dir"), target), format!("{folder}/{PROGRAM}{exe}"));
            let format = if ending(target) == ".zip" { "zip" } else { "tgz" };
            assert_eq!(text("pkg-fmt"), format, "{target}");
        }
    }

    #[test]
    fn releases_are_optimised_throughout() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
        let manifest: Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
        let packages = |profile: &str| manifest["profile"][profile]["package"].as_table().unwrap();
        let lower = packages("release").iter().filter(|(_, package)| package.get("opt-level").is_some());
        for (name, _) in lower {
            let level = packages(PROFILE).get(name).and_then(|package| package["opt-level"].as_integer());
            assert_eq!(
                level,
                Some(3),
                "{name} has less in the profile {PROFILE}, which inherits from release"
            );
        }
    }

    #[test]
    fn only_macs_have_shared_libraries() {
        assert!(is_static("x86_64-unknown-linux-musl") && is_static("x86_64-pc-windows-msvc"));
        assert!(!is_static("aarch64-apple-darwin"));
    }
}
