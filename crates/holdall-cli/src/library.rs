//! Parts of verbs for programs of which the command is a part: the Python package.

use std::ffi::OsString;

use clap::Parser;
use container_core::container::{Container, ReadOptions};
use container_core::{Error, Progress, Result};
use holdall::Address;

use crate::commands::plot;
pub use crate::commands::plot::Drawing;
pub use crate::commands::tree::Node;

/// The nodes of what `holdall tree` shows of a container, each before those below it, down to `depth` levels.
///
/// # Errors
/// Those of its metadata.
pub fn tree(container: &dyn Container, depth: Option<usize>) -> Result<Vec<Node>> {
    crate::commands::tree::nodes(container, depth)
}

/// The picture that `holdall plot` draws of `address` in a container. `words` are options of that verb: `--cmap`, `gray`.
///
/// # Errors
/// `Usage` for words that it does not have and for what cannot be drawn; those of reading.
pub fn draw(
    container: &dyn Container,
    address: &Address,
    words: &[OsString],
    read: ReadOptions,
    progress: Progress<'_>,
) -> Result<Drawing> {
    #[derive(Parser)]
    #[command(no_binary_name = true, disable_help_flag = true)]
    struct Words {
        #[command(flatten)]
        plot: plot::Args,
    }
    // The address is that of an open file, so the verb's own argument is a placeholder.
    let words = words.iter().cloned().chain(["--".into(), "FILE".into()]);
    let parsed = Words::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        Error::usage(first.trim_start_matches("error: ").to_owned())
    })?;
    parsed.plot.drawing(container, address, read, progress)
}
