//! `licences`: what `deny.toml` says of licences, bans and sources, held against what cargo says of the dependencies.
//!
//! A second without any tool to install, so that every run of CI has it. `deny` asks cargo-deny the same, and more: texts of
//! licences, packages of several versions, advisories.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use spdx::{Expression, ParseMode};
use toml::Table;

use crate::repo::{PY, Repo};
use crate::step::Step;
use crate::{Outcome, flags};

/// Cargo's name of the default registry, wherever it really gets packages from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Rules of `deny.toml`: allowed licences and refused packages.
struct Rules {
    licences: Vec<String>,
    banned: Vec<String>,
}

pub(crate) fn licences(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let rules = Rules::parse(&std::fs::read_to_string(repo.path("deny.toml"))?)?;
    let mut packages: Vec<Value> = Vec::new();
    let mut versions: Vec<BTreeSet<(String, String)>> = Vec::new();
    for manifest in ["Cargo.toml", PY] {
        let metadata = ["metadata", "--all-features", "--format-version=1", "--manifest-path", manifest];
        let metadata: Value = serde_json::from_str(&Step::cargo(repo).args(metadata).stdout()?)?;
        let listed = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
        let text = |package: &Value, key: &str| package[key].as_str().unwrap_or_default().to_owned();
        versions
            .push(listed.iter().map(|package| (text(package, "name"), text(package, "version"))).collect());
        packages
            .extend(listed.iter().filter(|package| !packages.contains(package)).cloned().collect::<Vec<_>>());
    }
    let mut faults: Vec<String> = packages.iter().flat_map(|package| faults(package, &rules)).collect();
    if let [workspace, package] = versions.as_slice() {
        faults.extend(differing(workspace, package));
    }
    for fault in &faults {
        println!("{fault}");
    }
    if !faults.is_empty() {
        bail!("packages that deny.toml does not allow: {} faults", faults.len());
    }
    println!("{} packages, each as deny.toml allows", packages.len());
    Ok(Outcome::Done)
}

impl Rules {
    fn parse(text: &str) -> Result<Self> {
        let rules: Table = text.parse()?;
        let list = |table: &str, key: &str| {
            let list = rules.get(table).and_then(|table| table.get(key)).and_then(toml::Value::as_array);
            list.with_context(|| format!("deny.toml has no list {table}.{key}"))
        };
        let text = |value: Option<&toml::Value>| {
            let text = value.and_then(toml::Value::as_str).map(str::to_owned);
            text.context("an entry in deny.toml that is no text")
        };
        Ok(Self {
            licences: list("licenses", "allow")?
                .iter()
                .map(|name| text(Some(name)))
                .collect::<Result<_>>()?,
            // A ban with `wrappers` lets some packages have the crate: `deny` checks which.
            banned: list("bans", "deny")?
                .iter()
                .filter(|ban| ban.get("wrappers").is_none())
                .map(|ban| text(ban.get("crate")))
                .collect::<Result<_>>()?,
        })
    }
}

/// Lists packages that the second lock file has in another version than the first: what both need is then built and looked at twice.
fn differing(first: &BTreeSet<(String, String)>, second: &BTreeSet<(String, String)>) -> Vec<String> {
    let is_shared = |name: &String| first.iter().any(|(other, _)| other == name);
    let others = second.difference(first).filter(|(name, _)| is_shared(name));
    others.map(|(name, version)| format!("{name} {version} is locked in {PY} alone")).collect()
}

/// Lists the faults of a package in the output of `cargo metadata`.
fn faults(package: &Value, rules: &Rules) -> Vec<String> {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    let (name, version) = (text("name"), text("version"));
    let mut faults = Vec::new();
    match package["license"].as_str() {
        None => faults.push("names no licence".to_owned()),
        Some(licence) if is_allowed(licence, &rules.licences) => {}
        Some(licence) => faults.push(format!("is under {licence:?}")),
    }
    if rules.banned.iter().any(|banned| banned == name) {
        faults.push("is banned".to_owned());
    }
    // Our own packages, and only they, come from no source at all.
    if let Some(source) = package["source"].as_str().filter(|source| *source != REGISTRY) {
        faults.push(format!("comes from {source}"));
    }
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        if dependency["req"].as_str() == Some("*") && !dependency["path"].is_string() {
            faults.push(format!("takes any version of {}", dependency["name"]));
        }
    }
    faults.into_iter().map(|fault| format!("{name} {version} {fault}")).collect()
}

/// Whether somebody who accepts `allowed` alone may use what is under `licence`. A licence with an exception is allowed by that very text.
fn is_allowed(licence: &str, allowed: &[String]) -> bool {
    // Some manifests still have `/` for OR.
    let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else { return false };
    expression.evaluate(|needed| allowed.contains(&needed.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules() -> Rules {
        Rules::parse(
            "[licenses]\nallow = [\"MIT\", \"Zlib\"]\n[bans]\ndeny = [{ crate = \"ring\", reason = \"r\" }]\n",
        )
        .unwrap()
    }

    #[test]
    fn a_crate_that_some_packages_may_have_is_not_banned_here() {
        let text = "[licenses]\nallow = []\n[bans]\ndeny = [{ crate = \"a\" }, { crate = \"b\", wrappers = [\"c\"] }]\n";
        assert_eq!(Rules::parse(text).unwrap().banned, ["a"]);
    }

    #[test]
    fn expressions_are_allowed_by_what_they_need() {
        let allowed = ["MIT", "Zlib", "Apache-2.0"].map(str::to_owned);
        for licence in ["MIT", "MIT/BSL-1.0", "(GPL-3.0-only OR MIT) AND Zlib", "Apache-2.0 OR MIT"] {
            assert!(is_allowed(licence, &allowed), "{licence}");
        }
        for licence in ["GPL-3.0-only", "MIT AND BSL-1.0", "Apache-2.0 WITH LLVM-exception", "MIT,", ""] {
            assert!(!is_allowed(licence, &allowed), "{licence}");
        }
        let with = ["Apache-2.0 WITH LLVM-exception".to_owned()];
        assert!(is_allowed("Apache-2.0 WITH LLVM-exception", &with) && !is_allowed("Apache-2.0", &with));
    }

    #[test]
    fn faults_of_every_kind_are_reported() {
        let sound = json!({
            "name": "a", "version": "1.0.0", "license": "MIT", "source": REGISTRY,
            "dependencies": [{"name": "b", "req": "^1"}, {"name": "ours", "req": "*", "path": "../ours"}],
        });
        assert_eq!(faults(&sound, &rules()), Vec::<String>::new());
        let changes = [
            ("license", json!("GPL-3.0-only")),
            ("license", Value::Null),
            ("name", json!("ring")),
            ("source", json!("git+https://example.org/a")),
            ("source", json!("registry+https://example.org/index")),
            ("dependencies", json!([{"name": "b", "req": "*"}])),
        ];
        for (key, value) in changes {
            let mut package = sound.clone();
            package[key] = value;
            assert_eq!(faults(&package, &rules()).len(), 1, "{package}");
        }
    }

    #[test]
    fn versions_of_shared_packages_are_the_same() {
        let lock = |packages: &[(&str, &str)]| {
            packages.iter().map(|&(name, version)| (name.to_owned(), version.to_owned())).collect()
        };
        let workspace = lock(&[("a", "1.0.0"), ("b", "1.0.0"), ("b", "2.0.0")]);
        assert!(differing(&workspace, &lock(&[("a", "1.0.0"), ("b", "2.0.0"), ("c", "3.0.0")])).is_empty());
        let told = differing(&workspace, &lock(&[("a", "1.0.1")]));
        assert_eq!(told, [format!("a 1.0.1 is locked in {PY} alone")]);
    }

    #[test]
    fn rules_that_cannot_be_found_are_an_error() {
        assert!(Rules::parse("[licenses]\nallow = []\n").is_err());
        assert!(Rules::parse("[licenses]\nallow = [1]\n[bans]\ndeny = []\n").is_err());
        assert!(Rules::parse("[licenses]\nallow = []\n[bans]\ndeny = [{ reason = \"r\" }]\n").is_err());
    }
}
