//! Rewriting of a file with other storage: codec, filters, chunks or digests.

use std::path::Path;

use container_core::{Error, Result};

use crate::address::{Address, shown};
use crate::convert::{ConvertOptions, ConvertOutcome, ReadBack, convert, write};
use crate::formats::target_format;
use crate::open::{Accept, is_stream, open_with, opens_again};
use crate::output_file::refuse_source;
use crate::views::named_source::NamedSource;

/// Writes a file again in its own format, with other options. Unused space is dropped. [`ConvertOptions::to`] is ignored.
///
/// # Errors
/// As [`convert()`], and `Usage` for a target whose name has the extension of another format.
pub fn recode(source: &Path, target: &Path, options: &ConvertOptions<'_>) -> Result<ConvertOutcome> {
    refuse_source(source, target)?;
    let opened = open_with(source, Accept::Containers, &options.open)?;
    let format = opened.format;
    if let Ok(named) = target_format(target, None, options.open.formats)
        && named.name != format.name
    {
        let problem =
            format!("the name has the extension of a {} file (expected {})", named.title, format.title);
        let error = Error::usage(problem).with_hint("holdall convert, for another format");
        return Err(error.with_subject(target.display().to_string()));
    }
    if options.verify == ReadBack::Yes && is_stream(target) {
        return Err(
            Error::usage("standard output cannot be read back").with_hint("recode to a file to verify it")
        );
    }
    let address = Address::file(source);
    if !opens_again(source) {
        let selection = address.select(&*opened.container)?;
        let named = NamedSource::new(&*opened.container, shown(source));
        return write(&named, &selection, format, target, options);
    }
    drop(opened);
    convert(&address, target, &ConvertOptions { to: Some(format.name), ..options.clone() })
}

#[cfg(all(test, feature = "rawarray"))]
mod tests {
    use super::*;
    use container_core::ErrorKind;

    #[test]
    fn a_file_is_stored_in_another_way_under_any_name_but_another_formats() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("a"), crate::testing::ra_bytes()).unwrap();
        let mut options = ConvertOptions { verify: ReadBack::Yes, ..ConvertOptions::default() };
        options.import.codec = Some(("lz4".into(), None));
        for name in ["b", "b.ra"] {
            let ConvertOutcome::Done(done) = recode(&at("a"), &at(name), &options).unwrap() else {
                panic!("{name}")
            };
            assert_eq!((done.target_format, done.datasets), ("rawarray", vec!["data".to_owned()]));
            // Flag bit 1, and no more.
            assert_eq!(std::fs::read(at(name)).unwrap()[8], 2);
        }
        for name in ["b.npy", "a"] {
            let error = recode(&at("a"), &at(name), &options).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        }
    }
}
