//! Next steps for files that do not exist: a dataset or selection after one colon or none, a pattern, a misspelt name.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use container_core::{Error, ErrorKind};

use crate::nearest::{MAX_SUGGESTED, nearest};

/// Maximum number of entries of a directory that are compared with a name.
const MAX_ENTRIES: usize = 10_000;

/// The error of opening `path`, with the next step where the file does not exist.
pub(crate) fn explain(error: Error, path: &Path) -> Error {
    let is_missing = |kind| matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    match error.kind() {
        ErrorKind::Io(io) if is_missing(io.kind()) => {}
        _ => return error,
    }
    // Verbs that take no dataset have a next step of their own.
    if path.as_os_str().as_encoded_bytes().windows(2).any(|two| two == b"::") {
        return error;
    }
    let hint = path.to_str().and_then(address);
    let hint = hint.or_else(|| pattern(path)).or_else(|| directory(path)).or_else(|| similar(path));
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// The address that is meant by the name of an existing file with a dataset or a selection after it.
fn address(text: &str) -> Option<String> {
    let is_file = |at: usize| text.get(..at).is_some_and(|file| Path::new(file).is_file());
    let cuts = text.match_indices([':', '/', '[', '#']);
    let (at, separator) = cuts.into_iter().find(|(at, _)| is_file(*at))?;
    let (file, rest) = text.split_at_checked(at)?;
    let rest = match separator {
        // The colons of a slice, `[::2]`, were taken for those before a dataset.
        "[" if rest == "[" => "[SEL]",
        "[" => rest,
        _ => rest.get(1..)?.trim_start_matches('/'),
    };
    let address = format!("{file}::{rest}");
    let is_plain = address.chars().all(|c| c.is_alphanumeric() || "-_./:,+@%=".contains(c));
    let address = if is_plain { address } else { format!("'{}'", address.replace('\'', r"'\''")) };
    Some(format!("{address}: datasets and selections follow two colons"))
}

/// The hint for a pattern that the shell has not replaced, and for a tilde.
fn pattern(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    if text.starts_with("~/") {
        return Some("the name without quotes: shells replace ~ only there".to_owned());
    }
    text.contains(['*', '?']).then(|| "another pattern, without quotes: no file fits this one".to_owned())
}

/// The hint for a directory that does not exist.
fn directory(path: &Path) -> Option<String> {
    let missing = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    let missing = missing.take_while(|above| above.symlink_metadata().is_err()).last()?;
    Some(format!("another directory: {} does not exist", missing.display()))
}

/// The question whether a file of a similar name in the same directory is meant.
fn similar(path: &Path) -> Option<String> {
    let wanted = path.file_name().and_then(OsStr::to_str)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let entries = std::fs::read_dir(directory.unwrap_or(Path::new("."))).ok()?.take(MAX_ENTRIES);
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    // Directories list their entries in any order.
    names.sort_unstable();
    // A common extension makes no two names alike.
    let stem = |name: &str| Path::new(name).file_stem().and_then(OsStr::to_str).unwrap_or(name).to_owned();
    let stems = nearest(&stem(wanted), names.iter().map(|name| stem(name)));
    let near = stems.iter().flat_map(|near| names.iter().filter(|name| stem(name) == *near));
    let near = near.take(MAX_SUGGESTED).map(|name| match directory {
        Some(directory) => directory.join(name).display().to_string(),
        None => name.clone(),
    });
    let near: Vec<String> = near.collect();
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(path: &Path) -> Option<String> {
        let error = explain(io::Error::from(io::ErrorKind::NotFound).into(), path);
        error.hint().map(|hint| hint.replace(path.parent().and_then(Path::to_str).unwrap_or("/none"), "D"))
    }

    #[test]
    fn names_of_missing_files_are_answered_with_what_is_meant() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for name in ["image.asdf", "image.fits", "other.asdf"] {
            std::fs::write(at(name), b"x").unwrap();
        }
        for (typed, wanted) in [
            ("image.asdf:roman/data", "image.asdf::roman/data: "),
            ("image.asdf[0:3]", "image.asdf::[0:3]': "),
            ("image.asdf[", "image.asdf::[SEL]': "),
            ("image.asdf#roman/data", "image.asdf::roman/data: "),
            ("*.gsd", "another pattern"),
            ("imge.asdf", "did you mean D/image.asdf, D/image.fits?"),
            ("IMAGE.ASDF", "did you mean D/image.asdf"),
        ] {
            let hint = hint(&at(typed));
            assert!(hint.as_deref().is_some_and(|hint| hint.contains(wanted)), "{typed}: {hint:?}");
        }
        let within = hint(&at("image.asdf/roman/data"));
        assert!(within.is_some_and(|hint| hint.contains("image.asdf::roman/data: ")));
        assert!(hint(&at("no/such/x.asdf")).is_some_and(|hint| hint.contains("does not exist")));
        assert!(hint(Path::new("~/x.asdf")).is_some_and(|hint| hint.contains("without quotes")));
        // A common extension makes no two names alike.
        assert_eq!(hint(&at("quite.asdf")), None);
        assert_eq!(hint(&at("image.asdf::roman")), None);
    }
}
