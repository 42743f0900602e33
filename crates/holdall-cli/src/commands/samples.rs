//! `holdall samples`: small files of every format, to try the command on.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use container_core::Error;
use container_core::write::{AtomicFile, Durability};

use super::shown;
use crate::errors::{ErrorContext, Outcome, Result};
use crate::options::ForceArgs;
use crate::output::{Console, printable, to_stderr};

/// Write small files of every format, sound and damaged, to try the command on
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The files are those of the tutorials. Each was written by the program named in its line, or damaged afterwards as the line describes. Together they \
take 60 KiB.

Examples:
  holdall samples
  holdall samples -o ~/try
  holdall samples --list")]
pub struct Args {
    /// The folder for the files
    #[arg(short, long, value_name = "DIR", default_value = "samples")]
    output: PathBuf,

    /// List the files and write none
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    force: ForceArgs,
}

/// A file that the command contains.
struct Sample {
    /// Path in the folder, with slashes.
    path: &'static str,
    /// Its content and producer, for people. Empty for the further files of a directory.
    about: &'static str,
    bytes: &'static [u8],
}

macro_rules! samples {
    ($($path:literal: $about:literal,)*) => {
        &[$(Sample { path: $path, about: $about, bytes: include_bytes!(concat!("../../samples/", $path)) }),*]
    };
}

const SAMPLES: &[Sample] = samples! {
    "image.asdf": "ASDF: an image with its errors and flags, as Roman writes them (Python asdf, LZ4)",
    "cut.asdf": "ASDF: a transfer ended early",
    "run.gsd": "GSD: three frames of three particles, and a log (gsd)",
    "killed.gsd": "GSD: HOOMD-blue was killed between two commits",
    "cut.gsd": "GSD: a copy ended early",
    "table.b2nd": "Blosc2: a table with metadata (python-blosc2)",
    "cube.b2nd": "Blosc2: three dimensions in chunks (python-blosc2)",
    "tree.b2z": "Blosc2: a store of three arrays (python-blosc2)",
    "cut.b2frame": "Blosc2: a transfer ended early",
    "field.blp": "Bloscpack: a numpy array with checksums (bloscpack)",
    "oldest.blp": "Bloscpack: bytes of the dialect before the first release",
    "numbers.blp": "Bloscpack: bytes whose type the file does not record (bloscpack)",
    "damaged.blp": "Bloscpack: one chunk differs from its checksum",
    "aborted.blp": "Bloscpack: the writer ended before its table of chunks",
    "texture.blp": "a texture of a game: another format with the same extension",
    "old.bcolz/data/__0.blp": "bcolz: a column in a directory",
    "old.bcolz/meta/sizes": "",
    "old.bcolz/meta/storage": "",
    "kspace.ra": "RawArray: complex numbers in sixteen dimensions, as BART writes them",
    "volume.ra": "RawArray: integers in three dimensions",
    "complex.ra": "RawArray: the example of the format's own repository",
    "cut.ra": "RawArray: a scan ended early",
    "note.ra": "RawArray: a line of text after the data",
};

impl Sample {
    /// The file, or the directory that is one container.
    fn container(&self) -> &'static str {
        self.path.split('/').next().unwrap_or(self.path)
    }
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let described = SAMPLES.iter().filter(|sample| !sample.about.is_empty());
    if args.list {
        let rows = described.map(|sample| vec![sample.container().to_owned(), sample.about.to_owned()]);
        if console.out.is_terminal() {
            console.out.table(&["FILE", "CONTENT"], &[], rows)?;
        } else {
            rows.into_iter().try_for_each(|row| console.out.row(&row))?;
        }
        return Ok(Outcome::Yes);
    }
    let folder = &args.output;
    if folder.exists() && !args.force.force {
        let there = Error::usage("the folder exists");
        return Err(there.with_hint("-o DIR for another folder, or -f to write into this one"))
            .on(shown(folder));
    }
    SAMPLES.iter().try_for_each(|sample| write(sample, folder, args))?;
    let (count, folder) = (described.count(), shown(folder));
    to_stderr(&format!("{count} samples in {}; holdall samples --list describes them", printable(&folder)));
    Ok(Outcome::Yes)
}

fn write(sample: &Sample, folder: &Path, args: &Args) -> Result<()> {
    let path = folder.join(sample.path);
    let written = || -> container_core::Result<()> {
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        let mut file = AtomicFile::create(&path, args.force.overwrite())?;
        file.write_all(sample.bytes)?;
        file.commit(Durability::Cached)
    };
    written().on(shown(&path))
}

#[cfg(test)]
mod tests;
