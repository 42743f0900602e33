//! The command that makes a picture again.

use std::ffi::OsString;
use std::path::Path;

use holdall::address::{is_url, shown};

use crate::errors::{shell_word, shell_word_of};
use crate::options::OpenArgs;

/// A command line in the making, for a POSIX shell.
#[derive(Clone, Debug)]
pub struct Recipe(String);

impl Recipe {
    /// `holdall plot FILE::PLACE` with what matters of how the file is read. A URL is without what may be secret.
    pub fn new(file: &Path, place: &str, open: &OpenArgs) -> Self {
        let mut address = if is_url(file) { OsString::from(shown(file)) } else { OsString::from(file) };
        address.push("::");
        address.push(place);
        let mut recipe = Self(format!("holdall plot {}", shell_word_of(&address)));
        let flags = [
            (open.file.lenient.lenient, "--lenient"),
            (open.reversed_dims, "--reversed-dims"),
            (open.stored, "--stored"),
        ];
        flags.iter().filter(|(is_set, _)| *is_set).for_each(|(_, flag)| recipe.flag(flag));
        if let Some(codec) = &open.file.source.assume_codec {
            recipe.add("--assume-codec", codec);
        }
        if let Some(dtype) = &open.file.source.assume_dtype {
            recipe.add("--assume-dtype", &dtype.to_string());
        }
        recipe
    }

    pub fn flag(&mut self, flag: &str) {
        self.0.push(' ');
        self.0.push_str(flag);
    }

    /// An option with its value.
    pub fn add(&mut self, option: &str, value: &str) {
        // Values that begin with a hyphen would be taken for options, and ends of a range may.
        let glue = if value.starts_with('-') || option == "--range" { '=' } else { ' ' };
        self.flag(option);
        self.0.push(glue);
        self.0.push_str(&shell_word(value));
    }

    /// The whole line.
    pub fn with_end(&self, end: &str) -> String {
        format!("{} {end}", self.0)
    }
}
