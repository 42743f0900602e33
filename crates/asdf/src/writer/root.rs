//! The root of the tree: its tag, the library that wrote it, and its history.

use container_core::{Error, Result};

use super::options::WriteOptions;
use crate::header::Version;
use crate::yaml::Yaml;

pub(crate) const PREFIX: &str = "tag:stsci.edu:asdf/";

/// The whole tag of a name of the core tags.
fn tag(name: &str) -> String {
    format!("{PREFIX}core/{name}")
}

/// The tag of arrays in a version of the standard.
pub(crate) fn ndarray_tag(standard: Version) -> String {
    tag(if standard.minor >= 6 { "ndarray-1.1.0" } else { "ndarray-1.0.0" })
}

pub(super) fn software(name: &str, version: &str) -> Yaml {
    Yaml::mapping([("name", Yaml::text(name)), ("version", Yaml::text(version))])
        .tagged(tag("software-1.0.0"))
}

/// Builds the root: the entries that the standard requires (`asdf_library` and `history`), then those of the caller. The caller's entries of these
/// names are replaced or extended.
///
/// # Errors
/// `Usage` for a tree that is not a mapping, or an unpublished version of the standard.
pub(super) fn root(tree: Yaml, options: &WriteOptions) -> Result<Yaml> {
    let standard = options.standard;
    if standard.major != 1 || standard.minor > 6 || standard.patch != 0 {
        return Err(Error::usage(format!(
            "unsupported version {standard} of the ASDF standard (expected 1.0.0 to 1.6.0)"
        )));
    }
    let mut tree = tree;
    let mut anchor = None;
    // The root gets its own tag in place of any other.
    let (mut pairs, style) = loop {
        tree = match tree {
            Yaml::Tagged(_, inner) => *inner,
            Yaml::Anchored(name, inner) => {
                anchor = Some(name);
                *inner
            }
            Yaml::Mapping(pairs, style) => break (pairs, style),
            _ => return Err(Error::usage("the root of the tree is not a mapping")),
        };
    };
    let mut head = Vec::new();
    if let Some((name, version)) = &options.software {
        take(&mut pairs, "asdf_library");
        head.push((Yaml::text("asdf_library"), software(name, version)));
    } else if let Some(own) = take(&mut pairs, "asdf_library") {
        head.push((Yaml::text("asdf_library"), own));
    }
    if let Some(history) = history(take(&mut pairs, "history"), options) {
        head.push((Yaml::text("history"), history));
    }
    head.append(&mut pairs);
    let name = if standard.minor >= 2 { "asdf-1.1.0" } else { "asdf-1.0.0" };
    let root = Yaml::Mapping(head, style).tagged(tag(name));
    Ok(match anchor {
        Some(name) => Yaml::Anchored(name, Box::new(root)),
        None => root,
    })
}

fn take(pairs: &mut Vec<(Yaml, Yaml)>, key: &str) -> Option<Yaml> {
    let at = pairs.iter().position(|(name, _)| matches!(name, Yaml::Text(name, _) if name == key))?;
    Some(pairs.remove(at).1)
}

/// The history: before 1.2.0 a list of entries, from then on a mapping of extensions and entries.
fn history(had: Option<Yaml>, options: &WriteOptions) -> Option<Yaml> {
    let mut entries: Vec<Yaml> = Vec::new();
    let mut extensions: Vec<Yaml> = Vec::new();
    let mut others = Vec::new();
    match had {
        None => {}
        Some(Yaml::Sequence(items, _)) => entries = items,
        Some(Yaml::Mapping(mut pairs, style)) => {
            for (key, into) in [("entries", &mut entries), ("extensions", &mut extensions)] {
                match take(&mut pairs, key) {
                    Some(Yaml::Sequence(items, _)) => *into = items,
                    Some(other) => others.push((Yaml::text(key), other)),
                    None => {}
                }
            }
            others.append(&mut pairs);
            let _ = style;
        }
        // Any other value is the caller's.
        Some(other) => return Some(other),
    }
    entries.extend(options.history.iter().map(super::options::NewHistoryEntry::to_yaml));
    if options.standard.minor < 2 {
        return (!entries.is_empty()).then_some(Yaml::Sequence(entries, None));
    }
    if let Some((name, version)) = options.software.as_ref().filter(|_| options.extensions) {
        let uri = format!("asdf://asdf-format.org/core/extensions/core-{}", options.standard);
        extensions.retain(|extension| !names(extension, &uri));
        extensions.insert(0, extension(&uri, name, version));
    }
    let mut pairs = Vec::new();
    if !extensions.is_empty() {
        pairs.push((Yaml::text("extensions"), Yaml::Sequence(extensions, None)));
    }
    if !entries.is_empty() {
        pairs.push((Yaml::text("entries"), Yaml::Sequence(entries, None)));
    }
    pairs.append(&mut others);
    (!pairs.is_empty()).then_some(Yaml::Mapping(pairs, None))
}

fn extension(uri: &str, name: &str, version: &str) -> Yaml {
    let pairs = [
        // The schema requires a class, which exists in Python only.
        ("extension_class", Yaml::text("holdall.asdf")),
        ("extension_uri", Yaml::text(uri)),
        ("software", software(name, version)),
    ];
    Yaml::mapping(pairs).tagged(tag("extension_metadata-1.0.0"))
}

/// Whether an entry of `extensions` is that of the extension with this URI.
fn names(extension: &Yaml, uri: &str) -> bool {
    match extension {
        Yaml::Tagged(_, inner) | Yaml::Anchored(_, inner) => names(inner, uri),
        Yaml::Mapping(pairs, _) => pairs.iter().any(|pair| {
            matches!(pair, (Yaml::Text(key, _), Yaml::Text(value, _)) if key == "extension_uri" && value == uri)
        }),
        _ => false,
    }
}
