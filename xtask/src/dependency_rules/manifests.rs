//! Rules over what a crate's users build with it. Dev-dependencies are free.

use super::{Kind, Violation, crate_of, kind};
use crate::repo::Package;

/// A dependency, by the beginning or the end of its name, and who may have it.
struct Rule {
    matches: fn(&str) -> bool,
    allowed: fn(Kind, &str) -> bool,
    why: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        matches: |name| {
            matches!(name, "flate2" | "bzip2" | "zstd" | "lz4_flex" | "snap" | "ruzstd" | "lz4" | "zfp-rs")
                || matches!(name, "lzma-rust2" | "md-5" | "sha1" | "sha2")
        },
        allowed: |kind, _| kind == Kind::Codecs,
        why: "libraries of codecs and digests belong to container-codecs",
    },
    Rule {
        matches: |name| matches!(name, "granit-parser" | "saphyr-parser" | "saphyr"),
        allowed: |kind, _| kind == Kind::Yaml,
        why: "parsers of YAML belong to yaml11",
    },
    Rule {
        matches: |name| name.contains("yaml"),
        allowed: |_, krate| krate == "asdf",
        why: "YAML belongs to asdf",
    },
    Rule {
        matches: |name| matches!(name, "rmp" | "rmpv" | "rmp-serde"),
        allowed: |_, krate| krate == "blosc2-frame",
        why: "msgpack belongs to blosc2-frame",
    },
    Rule {
        matches: |name| name == "serde_json",
        allowed: |kind, krate| {
            matches!(kind, Kind::Facade | Kind::Front) || matches!(krate, "bloscpack" | "gsd" | "rawarray")
        },
        why: "JSON belongs to the façade, the command, and the metadata of bloscpack, gsd and rawarray",
    },
    Rule {
        matches: |name| name == "nom",
        allowed: |kind, _| matches!(kind, Kind::Core | Kind::Chunks | Kind::Format),
        why: "nom belongs to the parsers of container-core and the formats",
    },
    Rule {
        matches: |name| name == "rayon" || name.starts_with("clap"),
        allowed: |kind, _| matches!(kind, Kind::Facade | Kind::Front),
        why: "threads and command lines belong to the façade and what stands on it",
    },
    Rule {
        matches: |name| matches!(name, "pyo3" | "wasm-bindgen" | "anyhow"),
        allowed: |kind, _| kind == Kind::Front,
        why: "bindings belong to what stands on the façade",
    },
    Rule {
        matches: |name| matches!(name, "ureq" | "url" | "rustls" | "object_store" | "reqwest"),
        allowed: |kind, _| kind == Kind::Remote,
        why: "the network belongs to holdall-remote",
    },
    Rule {
        matches: |name| matches!(name, "hyper" | "hyper-util" | "http-body" | "tokio"),
        allowed: |_, krate| krate == "holdall-serve",
        why: "servers and runtimes belong to holdall-serve",
    },
];

/// The breaches in the manifest of `package`, whose text is `text`; `members` are the crates of the workspace.
pub(super) fn check(package: &Package, text: &str, members: &[&str]) -> Vec<Violation> {
    let Some(krate) = crate_of(&package.manifest) else { return Vec::new() };
    let own = kind(krate);
    let mut violations = Vec::new();
    for dependency in &package.dependencies {
        let member = members.contains(&dependency.as_str());
        let why = member.then(|| wrong_member(own, krate, kind(dependency))).flatten().or_else(|| {
            let rule = RULES.iter().find(|rule| (rule.matches)(dependency) && !(rule.allowed)(own, krate));
            rule.map(|rule| rule.why)
        });
        if let Some(why) = why {
            violations.push(Violation {
                path: package.manifest.clone(),
                line: line_of(text, dependency),
                what: format!("{krate} depends on {dependency}: {why}"),
            });
        }
    }
    violations
}

/// Why a crate may not depend on one of the workspace of the kind `other`.
fn wrong_member(own: Kind, krate: &str, other: Kind) -> Option<&'static str> {
    match (own, other) {
        (_, Kind::Core) | (Kind::Facade | Kind::Front, Kind::Format | Kind::Chunks | Kind::Facade) => None,
        (Kind::Front, Kind::Front) => None,
        (Kind::Facade | Kind::Front, Kind::Remote) => None,
        (Kind::Chunks | Kind::Format | Kind::Facade | Kind::Front, Kind::Codecs) => None,
        (Kind::Format, Kind::Yaml) if krate == "asdf" => None,
        (Kind::Format, Kind::Chunks) if matches!(krate, "bloscpack" | "blosc2-frame" | "asdf") => None,
        (Kind::Core, _) => Some("container-core knows no other crate of the workspace"),
        (_, Kind::Format) => Some("a format never imports a format"),
        (Kind::Codecs, _) => Some("container-codecs knows container-core alone"),
        (Kind::Yaml, _) => Some("yaml11 knows container-core alone"),
        (Kind::Remote, _) => Some("holdall-remote knows container-core alone"),
        (_, Kind::Remote) => Some("the network belongs to holdall-remote, and that to the façade"),
        (_, Kind::Yaml) => Some("YAML belongs to asdf"),
        (_, Kind::Chunks) => Some("only bloscpack, blosc2-frame and asdf hold Blosc chunks"),
        (_, Kind::Facade | Kind::Front) => Some("the façade imports the formats, never the reverse"),
    }
}

/// The line of the manifest that names `dependency`, 1 when none does.
fn line_of(text: &str, dependency: &str) -> usize {
    let names = |line: &str| {
        let key = line.trim().trim_start_matches('[').trim_end_matches(']');
        let key = key.split(['=', ' ']).next().unwrap_or_default().trim_end_matches(".workspace");
        key == dependency || key.ends_with(&format!("dependencies.{dependency}"))
    };
    (1..).zip(text.lines()).find(|(_, line)| names(line)).map_or(1, |(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMBERS: [&str; 12] = [
        "container-core",
        "container-codecs",
        "yaml11",
        "blosc-chunk",
        "rawarray",
        "bloscpack",
        "gsd",
        "blosc2-frame",
        "asdf",
        "holdall",
        "holdall-cli",
        "holdall-remote",
    ];

    fn breaches(krate: &str, dependencies: &[&str]) -> Vec<String> {
        let package = Package {
            name: krate.to_owned(),
            manifest: format!("crates/{krate}/Cargo.toml"),
            features: Vec::new(),
            dependencies: dependencies.iter().map(|&name| name.to_owned()).collect(),
            binaries: Vec::new(),
        };
        let violations = check(&package, "[dependencies]\nnom.workspace = true\n", &MEMBERS);
        violations.iter().map(|violation| violation.what.clone()).collect()
    }

    #[test]
    fn core_depends_on_no_codec_format_runtime_or_text_format() {
        assert!(breaches("container-core", &["nom", "thiserror", "crc32fast", "memmap2"]).is_empty());
        for name in [
            "container-codecs",
            "flate2",
            "zstd",
            "sha2",
            "rawarray",
            "holdall",
            "blosc-chunk",
            "serde_json",
            "serde_yaml",
            "rmp-serde",
            "tokio",
            "clap",
            "clap_complete",
            "rayon",
            "object_store",
            "pyo3",
        ] {
            assert_eq!(breaches("container-core", &[name]).len(), 1, "{name}");
        }
    }

    #[test]
    fn codecs_depend_on_core_and_libraries_alone() {
        assert!(breaches("container-codecs", &["container-core", "zstd", "lzma-rust2", "sha2"]).is_empty());
        assert_eq!(breaches("container-codecs", &["blosc-chunk", "gsd", "holdall", "nom"]).len(), 4);
        for krate in ["blosc-chunk", "rawarray", "asdf", "holdall", "holdall-cli"] {
            assert!(breaches(krate, &["container-codecs"]).is_empty(), "{krate}");
        }
    }

    #[test]
    fn a_format_depends_on_no_other_format_nor_on_the_facade() {
        assert!(breaches("rawarray", &["container-core", "nom", "bytemuck", "ndarray"]).is_empty());
        for name in ["gsd", "holdall", "holdall-cli", "blosc-chunk", "serde_yaml", "zstd", "anyhow"] {
            assert_eq!(breaches("rawarray", &[name]).len(), 1, "{name}");
        }
        for krate in ["bloscpack", "blosc2-frame", "asdf"] {
            assert!(breaches(krate, &["blosc-chunk"]).is_empty(), "{krate}");
        }
        assert_eq!(breaches("blosc-chunk", &["asdf", "lz4_flex"]).len(), 2);
    }

    #[test]
    fn the_network_belongs_to_one_crate() {
        assert!(breaches("holdall-remote", &["container-core", "ureq", "url", "object_store"]).is_empty());
        assert_eq!(breaches("holdall-remote", &["holdall", "gsd", "container-codecs", "nom"]).len(), 4);
        for krate in ["container-core", "gsd", "holdall", "holdall-cli"] {
            assert_eq!(breaches(krate, &["ureq"]).len(), 1, "{krate}");
        }
        assert!(breaches("holdall-serve", &["holdall", "holdall-plot", "hyper", "tokio"]).is_empty());
        for krate in ["holdall", "holdall-cli", "holdall-remote", "container-core"] {
            assert_eq!(breaches(krate, &["tokio"]).len(), 1, "{krate}");
        }
        assert!(breaches("holdall", &["holdall-remote"]).is_empty());
        assert!(breaches("holdall-cli", &["holdall-remote"]).is_empty());
        for krate in ["container-core", "blosc-chunk", "asdf"] {
            assert_eq!(breaches(krate, &["holdall-remote"]).len(), 1, "{krate}");
        }
    }

    #[test]
    fn each_text_format_has_its_home() {
        assert!(breaches("asdf", &["serde_yaml", "yaml11"]).is_empty());
        assert_eq!(breaches("asdf", &["granit-parser"]).len(), 1);
        assert!(breaches("yaml11", &["container-core", "granit-parser", "serde"]).is_empty());
        assert_eq!(
            breaches("yaml11", &["asdf", "container-codecs", "serde_yaml", "nom", "holdall"]).len(),
            5
        );
        for krate in ["container-core", "blosc-chunk", "gsd", "holdall", "holdall-cli"] {
            assert_eq!(breaches(krate, &["yaml11"]).len(), 1, "{krate}");
        }
        assert!(breaches("blosc2-frame", &["rmp", "rmpv"]).is_empty());
        assert!(breaches("bloscpack", &["serde_json"]).is_empty());
        assert_eq!(breaches("holdall", &["serde_yaml", "rmp-serde", "zstd", "nom"]).len(), 4);
        assert!(breaches("holdall-cli", &["holdall", "serde_json", "clap", "rawarray"]).is_empty());
    }

    #[test]
    fn a_violation_names_the_line_of_the_manifest() {
        assert_eq!(line_of("[dependencies]\nnom.workspace = true\n", "nom"), 2);
        assert_eq!(line_of("[package]\n\n[target.'cfg(unix)'.dependencies.nom]\n", "nom"), 3);
        assert_eq!(line_of("[dependencies]\nnominal = \"1\"\nnom = \"8\"\n", "nom"), 3);
    }

    #[test]
    fn packages_outside_crates_are_free() {
        let package = Package {
            name: "conformance".to_owned(),
            manifest: "tests/Cargo.toml".to_owned(),
            features: Vec::new(),
            dependencies: vec!["holdall".to_owned(), "zstd".to_owned()],
            binaries: Vec::new(),
        };
        assert!(check(&package, "", &MEMBERS).is_empty());
    }
}
