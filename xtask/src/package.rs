//! `package`: every crate that may be published can be, and has in it what its users need.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, flags};

/// Files that every package holds, beside its source.
const NEEDED: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Files outside of the workspace that have its version, and the line.
const VERSIONS: &[(&str, &str)] = &[
    ("CITATION.cff", "version: VERSION"),
    (".ci/conda/recipe.yaml", "version: VERSION"),
    ("crates/holdall-py/Cargo.toml", "version = \"VERSION\""),
];

/// Beginning of every name in the registry.
const PREFIX: &str = "holdall";

/// Limits of the registry.
const MAX_WORDS: usize = 5;
const MAX_LETTERS: usize = 20;

pub(crate) fn package(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [build] = flags(args, ["--build"])?;
    let metadata = repo.metadata("Cargo.toml")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    // An empty list of registries is `publish = false`.
    let (kept, published): (Vec<_>, Vec<_>) =
        packages.iter().partition(|package| package["publish"].as_array().is_some_and(Vec::is_empty));
    let mut problems = Vec::new();
    for package in &published {
        let name = package["name"].as_str().context("a package has a name")?;
        let files =
            Step::cargo(repo).args(["package", "--list", "--allow-dirty", "--package", name]).stdout()?;
        let told = manifest_problems(package).into_iter().chain(file_problems(&files));
        problems.extend(told.map(|problem| format!("{name}: {problem}")));
    }
    let version = repo.version("holdall")?;
    for (file, line) in VERSIONS {
        let text = std::fs::read_to_string(repo.path(file)).context(*file)?;
        let wanted = line.replace("VERSION", &version);
        if !text.lines().any(|line| line.trim() == wanted) {
            problems.push(format!("{file}: has no line {wanted:?}"));
        }
    }
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        bail!("packages that are not ready for the registry: {} faults", problems.len());
    }
    // There is no address yet that could be given as home or repository, which cargo would warn of.
    Step::cargo(repo)
        .args(["package", "--workspace", "--quiet", "--allow-dirty", "--no-metadata"])
        .args((!build).then_some("--no-verify"))
        .args(kept.iter().filter_map(|package| package["name"].as_str()).flat_map(|name| ["--exclude", name]))
        .run()?;
    println!("{} packages are ready", published.len());
    Ok(Outcome::Done)
}

/// Lists the fields that the manifest, in the output of `cargo metadata`, lacks.
fn manifest_problems(package: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    if package["name"].as_str().is_none_or(|name| name != PREFIX && !name.starts_with(&format!("{PREFIX}-")))
    {
        problems
            .push(format!("its name does not begin with {PREFIX}: the registry has others of such names"));
    }
    for field in ["description", "license", "readme", "rust_version"] {
        if package[field].as_str().is_none_or(str::is_empty) {
            problems.push(format!("no {field} in its manifest"));
        }
    }
    for field in ["keywords", "categories"] {
        let words: Vec<&str> =
            package[field].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if words.is_empty() || words.len() > MAX_WORDS {
            problems.push(format!("{} {field}, there should be 1 to {MAX_WORDS}", words.len()));
        }
        if let Some(long) = words.iter().find(|word| word.len() > MAX_LETTERS && field == "keywords") {
            problems.push(format!("keyword {long}: more than {MAX_LETTERS} letters"));
        }
    }
    // A dependency by path alone is nothing to users. Those of tests may be: cargo leaves them out.
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let local = dependency["path"].is_string() && dependency["kind"].as_str() != Some("dev");
        if local && dependency["req"].as_str() == Some("*") {
            problems.push(format!("dependency {} without a version", dependency["name"]));
        }
    }
    problems
}

/// Lists the files that the package lacks, or should not have.
fn file_problems(files: &str) -> Vec<String> {
    let files: Vec<String> = files.lines().map(|file| file.replace('\\', "/")).collect();
    let missing = NEEDED.iter().filter(|needed| !files.iter().any(|file| file == *needed));
    let mut problems: Vec<String> = missing.map(|name| format!("{name} is not in the package")).collect();
    // They read fixtures, which are not there.
    let tests = files.iter().filter(|file| file.starts_with("tests/") && file.ends_with(".rs"));
    problems.extend(tests.map(|file| format!("{file} is in the package and cannot run there")));
    problems
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn complete_manifest_passes_and_each_missing_field_is_reported() {
        let whole = json!({
            "name": "holdall-a", "description": "d", "license": "MIT", "readme": "README.md", "rust_version": "1.89",
            "keywords": ["a"], "categories": ["science"],
            "dependencies": [{"name": "core", "path": "../core", "req": "^0.1.0", "kind": null}],
        });
        assert_eq!(manifest_problems(&whole), Vec::<String>::new());
        for field in ["name", "description", "license", "readme", "rust_version", "keywords", "categories"] {
            let mut lacking = whole.clone();
            lacking[field] = Value::Null;
            assert_eq!(manifest_problems(&lacking).len(), 1, "{field}");
        }
        let mut lacking = whole.clone();
        lacking["name"] = json!("holdalls");
        assert_eq!(manifest_problems(&lacking).len(), 1);
        let mut lacking = whole.clone();
        lacking["dependencies"][0]["req"] = json!("*");
        assert_eq!(manifest_problems(&lacking).len(), 1);
        lacking["dependencies"][0]["kind"] = json!("dev");
        assert!(manifest_problems(&lacking).is_empty());
        lacking["keywords"] = json!(["a word of more than twenty letters"]);
        assert_eq!(manifest_problems(&lacking).len(), 1);
    }

    #[test]
    fn a_package_holds_its_licences_and_no_tests() {
        assert!(
            file_problems(
                "Cargo.toml\nLICENSE-APACHE\nLICENSE-MIT\nREADME.md\nsrc/lib.rs\ntests/data/a.txt\n"
            )
            .is_empty()
        );
        let told = file_problems("Cargo.toml\nREADME.md\nLICENSE-MIT\ntests/a.rs\n");
        assert_eq!(
            told,
            ["LICENSE-APACHE is not in the package", "tests/a.rs is in the package and cannot run there"]
        );
    }
}
