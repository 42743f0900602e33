//! `arrows`: who may depend on whom, and where some things may stand in the source (docs/ARCHITECTURE.md says why).
//!
//! Rules over manifests are in `dependency_rules/manifests.rs`, rules over source in `dependency_rules/sources.rs`. To add one, give it a
//! line in the table there and a made-up violation in its tests. What a crate *is* follows from its folder's name
//! below `crates/`, so that a new format needs no change here.

mod manifests;
mod sources;

use std::fmt;

use anyhow::{Result, bail};

use crate::repo::Repo;
use crate::rust_source::RustSource;
use crate::{Outcome, flags};

/// One breach of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    path: String,
    line: usize,
    what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Role of a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Core,
    /// Codecs and checksums: `container-codecs`.
    Codecs,
    /// YAML, which a format writes its metadata in: `yaml11`.
    Yaml,
    /// The chunks that formats share: `blosc-chunk`.
    Chunks,
    Format,
    /// Objects on servers as sources: `holdall-remote`.
    Remote,
    Facade,
    /// The command and the bindings: what stands on the façade.
    Front,
}

/// The kind of the crate called `name` below `crates/`.
fn kind(name: &str) -> Kind {
    match name {
        "container-core" => Kind::Core,
        "container-codecs" => Kind::Codecs,
        "yaml11" => Kind::Yaml,
        "blosc-chunk" => Kind::Chunks,
        "holdall" => Kind::Facade,
        "holdall-remote" => Kind::Remote,
        _ if name.starts_with("holdall-") => Kind::Front,
        _ => Kind::Format,
    }
}

/// The crate below `crates/` that the file `path` belongs to.
fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

pub(crate) fn arrows(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let files = repo.text_files()?;
    let mut violations = Vec::new();
    let packages = repo.packages("Cargo.toml")?;
    let members: Vec<&str> = packages.iter().filter_map(|package| crate_of(&package.manifest)).collect();
    for package in &packages {
        let text = files.get(&package.manifest).map_or("", String::as_str);
        violations.extend(manifests::check(package, text, &members));
    }
    let mut count = 0;
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        count += 1;
        violations.extend(sources::check(&RustSource::new(path, text)));
    }
    violations.sort();
    for violation in &violations {
        println!("{violation}");
    }
    if !violations.is_empty() {
        bail!("arrows that point the wrong way: {}", violations.len());
    }
    println!("{} packages and {count} Rust files, every arrow as drawn", packages.len());
    Ok(Outcome::Done)
}
