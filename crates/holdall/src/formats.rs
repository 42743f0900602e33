//! The table of formats, for programs that open any of them.

use std::path::Path;

use container_core::format::{Format, Formats};
use container_core::{Error, Result};

use crate::nearest::did_you_mean;
use crate::open::is_stream;
use crate::other_targets::step;

/// The container formats of this build. A new format is one line here and one in the manifest.
pub static FORMATS: &[&Format] = &[
    #[cfg(feature = "asdf")]
    &crate::asdf_blosc2::ASDF,
    #[cfg(feature = "bloscpack")]
    &bloscpack::FORMAT,
    #[cfg(feature = "blosc2")]
    &blosc2_frame::FORMAT,
    #[cfg(feature = "gsd")]
    &gsd::FORMAT,
    #[cfg(feature = "rawarray")]
    &rawarray::FORMAT,
    // Without a signature, and so after those that have one.
    #[cfg(feature = "chunks")]
    &blosc_chunk::FORMAT,
];

/// Files of single arrays that are not containers: they are only read and written (`convert`, `cat` and `diff` take them, `verify` and
/// `repair` do not).
pub static ARRAY_FILES: &[&Format] = &[&container_core::npy::FORMAT];

/// Formats that are only written: targets of `convert` for other programs.
pub static TARGETS: &[&Format] = &[
    #[cfg(feature = "fits")]
    &crate::fits::FORMAT,
    #[cfg(feature = "zarr")]
    &crate::zarr::FORMAT,
];

/// The container formats: those of this build, after `further`, which a caller adds (see [`OpenOptions::formats`](container_core::OpenOptions)).
pub fn containers(further: Formats) -> impl Iterator<Item = &'static Format> {
    further.iter().chain(FORMATS).copied()
}

/// The format that machine output calls `name`, array files included.
///
/// # Errors
/// `Usage`, listing the valid names.
pub fn by_name(name: &str) -> Result<&'static Format> {
    everything(&[]).find(|format| format.name == name).ok_or_else(|| {
        let names: Vec<&str> = everything(&[]).map(|format| format.name).collect();
        Error::usage(format!("unknown format {name:?} (expected one of: {})", names.join(", ")))
    })
}

/// The format in which a target is written: the one called `to` or with that extension, else the one whose extension `path` has, in any case of
/// letters. The path `-` (standard output) is without extension.
///
/// # Errors
/// `Usage` when no format fits or the one that does cannot be written, listing those that can.
pub fn target_format(path: &Path, to: Option<&str>, further: Formats) -> Result<&'static Format> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let fits = |format: &&Format| match to {
        Some(name) => format.name == name || format.extensions.contains(&name),
        None => format.extensions.iter().any(|own| own.eq_ignore_ascii_case(extension)),
    };
    targets(further).find(fits).ok_or_else(|| no_target_format(path, extension, to, further))
}

/// The next step for a file of this name, where its extension is that of a format which `convert` does not write: another verb or program.
#[must_use]
pub fn step_for_other(path: &Path) -> Option<String> {
    step(path)
}

/// The error for a directory in the place of a new file, such as `example`.
#[must_use]
pub fn directory_as_target(path: &Path, example: &str) -> Error {
    let step = format!("the name of a new file, with its extension: {}", path.join(example).display());
    Error::usage("is a directory, and the name of a new file is needed").with_hint(step)
}

/// The error for a target whose format is unknown, or not written.
fn no_target_format(path: &Path, extension: &str, to: Option<&str>, further: Formats) -> Error {
    let words = || targets(further).flat_map(|format| format.extensions.iter().copied().chain([format.name]));
    let list = || {
        let choice = targets(further).map(|format| match format.extensions {
            [] => format.name.to_owned(),
            own => format!("{} (.{})", format.name, own.join(", .")),
        });
        format!("name one with --to: {}", choice.collect::<Vec<_>>().join(", "))
    };
    let (problem, step) = match to {
        Some(word) => {
            let problem = format!("{word:?} is not a format that can be written");
            (problem, step(Path::new(&format!("NEW.{word}"))).or_else(|| did_you_mean(word, words(), 0)))
        }
        None if is_stream(path) => ("standard output does not show the format".to_owned(), None),
        None if path.is_dir() => {
            return directory_as_target(path, "NEW.asdf").with_subject(path.display().to_string());
        }
        None if extension.is_empty() => {
            ("the name has no extension, which shows the format".to_owned(), None)
        }
        None => {
            let problem = format!("no format that can be written has the extension .{extension}");
            let step = step(path).or_else(|| did_you_mean(extension, words(), 0));
            (problem, step)
        }
    };
    let error = Error::usage(problem).with_hint(step.unwrap_or_else(list));
    match is_stream(path) {
        true => error,
        false => error.with_subject(path.display().to_string()),
    }
}

/// Containers first, so that a format that also recognises an array file's bytes wins.
pub(crate) fn everything(further: Formats) -> impl Iterator<Item = &'static Format> {
    containers(further).chain(ARRAY_FILES.iter().copied())
}

/// The formats that are written, those that a caller adds included.
pub fn targets(further: Formats) -> impl Iterator<Item = &'static Format> {
    everything(further).chain(TARGETS.iter().copied()).filter(|format| format.import.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use container_core::ErrorKind;

    #[test]
    fn names_and_extensions_are_unique() {
        let all = || everything(&[]).chain(TARGETS.iter().copied());
        let names: Vec<&str> = all().map(|format| format.name).collect();
        let extensions: Vec<&str> = all().flat_map(|format| format.extensions).copied().collect();
        for list in [names, extensions] {
            let mut unique = list.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(unique.len(), list.len(), "{list:?}");
        }
    }

    #[test]
    fn target_format_is_found_by_extension_or_to_option() {
        assert_eq!(target_format(Path::new("a.NPY"), None, &[]).unwrap().name, "npy");
        assert_eq!(target_format(Path::new("a.txt"), Some("npy"), &[]).unwrap().name, "npy");
        assert_eq!(target_format(Path::new("-"), Some("npy"), &[]).unwrap().name, "npy");
        for (path, to) in [("a.txt", None), ("-", None), ("a.npy", Some("nosuch")), ("npy", None)] {
            let error = target_format(Path::new(path), to, &[]).err().unwrap();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{path}");
            let is_text = path == "a.txt";
            let wanted = if is_text { "holdall cat SOURCE -o a.txt" } else { "npy (.npy)" };
            assert!(error.hint().unwrap().contains(wanted), "{path}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_that_exist() {
        assert_eq!(by_name("npy").unwrap().title, container_core::npy::FORMAT.title);
        assert!(by_name("NPY").err().unwrap().to_string().contains("npy"));
    }

    #[cfg(feature = "asdf")]
    #[test]
    fn asdf_is_in_the_table() {
        assert_eq!(by_name("asdf").unwrap().title, "ASDF");
        assert_eq!(target_format(Path::new("x.asdf"), None, &[]).unwrap().name, "asdf");
    }

    #[cfg(feature = "bloscpack")]
    #[test]
    fn bloscpack_is_in_the_table() {
        assert_eq!(by_name("bloscpack").unwrap().title, "Bloscpack");
        assert_eq!(target_format(Path::new("x.blp"), None, &[]).unwrap().name, "bloscpack");
    }

    #[cfg(feature = "blosc2")]
    #[test]
    fn blosc2_is_in_the_table() {
        assert_eq!(by_name("blosc2").unwrap().title, "Blosc2");
        for path in ["x.b2nd", "x.b2frame", "x.B2F"] {
            assert_eq!(target_format(Path::new(path), None, &[]).unwrap().name, "blosc2", "{path}");
        }
    }

    #[cfg(feature = "gsd")]
    #[test]
    fn gsd_is_in_the_table() {
        assert_eq!(by_name("gsd").unwrap().title, "GSD");
        assert_eq!(target_format(Path::new("x.gsd"), None, &[]).unwrap().name, "gsd");
    }

    #[cfg(all(feature = "fits", feature = "zarr"))]
    #[test]
    fn targets_are_written_and_not_opened() {
        for (path, name) in [("x.zarr", "zarr"), ("x.fits", "fits"), ("x.FIT", "fits")] {
            let format = target_format(Path::new(path), None, &[]).unwrap();
            assert_eq!(format.name, name);
            assert!(TARGETS.iter().any(|target| target.name == name));
            assert!(by_name(name).is_err());
        }
    }

    #[cfg(feature = "rawarray")]
    #[test]
    fn rawarray_is_in_the_table() {
        assert_eq!(by_name("rawarray").unwrap().name, "rawarray");
        assert_eq!(target_format(Path::new("x.ra"), None, &[]).unwrap().name, "rawarray");
    }
}
