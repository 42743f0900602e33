//! `holdall convert`: the same array in another format.

use std::ffi::OsString;
use std::path::PathBuf;

use container_core::Error;
use container_core::container::Axes;
use container_core::dtype::Order;
use container_core::format::ImportOptions;
use container_core::report::Loss;
use container_core::write::Durability;
use holdall::convert::{Conversion, ConvertOptions, ConvertOutcome, ReadBack};
use holdall::diff::Difference;
use holdall::json;

use super::shown;
use crate::errors::{Failure, On, Outcome, Result};
use crate::options::{ForceArgs, JobsArgs, OpenArgs, address};
use crate::output::{Console, printable, to_stderr};
use crate::progress::{Meter, Shown};

/// Write the values of a file in another format, and tell what that format could not take
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The target's format is told by --to or by its extension; `holdall formats` lists them. Shape, values and dtype stay; what \
the target cannot hold is listed on standard error. Words that a format does not have are refused with those it has.

Codecs: none blosclz lz4 lz4hc zlib zstd bzp2 blosc, with a level as in zstd:5; RawArray has none, lz4, leb128 and bits. \
Filters: none shuffle bitshuffle delta bytedelta trunc_prec:N. Options of RawArray: bool=eltype5|uint8, \
byte-order=little|big, trailer=keep|drop.

Examples:
  holdall convert scan.ra scan.npy
  holdall convert --verify scan.npy scan.ra
  holdall convert 'scan.ra::data[:, 0]' column.npy
  holdall convert scan.ra - --to npy | ssh host 'cat > scan.npy'")]
pub struct Args {
    /// The file, FILE::PATH or FILE::PATH[SEL]; `-` is standard input
    #[arg(value_name = "SOURCE")]
    source: OsString,

    /// The new file; `-` is standard output
    #[arg(value_name = "TARGET")]
    target: PathBuf,

    /// The target's format, where its name does not tell
    #[arg(long, value_name = "FORMAT")]
    to: Option<String>,

    /// Codec, with a level or without
    #[arg(long, value_name = "WORD[:LEVEL]", value_parser = codec)]
    codec: Option<(String, Option<i32>)>,

    #[command(flatten)]
    words: Words,

    /// Read the target back and compare before it appears; exit code 1 and no target if anything differs
    #[arg(long)]
    verify: bool,

    /// Do not wait until the target is on the disk
    #[arg(long)]
    no_sync: bool,

    /// One JSON line (holdall.convert/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenArgs,
}

/// What formats may be asked for, each by a word of its own.
#[derive(Clone, Debug, clap::Args)]
struct Words {
    /// Filter before the codec; may be given several times
    #[arg(long, value_name = "WORD")]
    filter: Vec<String>,

    /// Chunk shape, such as 100,100
    #[arg(long, value_name = "SHAPE")]
    chunks: Option<String>,

    /// Block shape within a chunk, such as 10,10
    #[arg(long, value_name = "SHAPE")]
    blocks: Option<String>,

    /// Digest to store, or none
    #[arg(long, value_name = "WORD")]
    checksum: Option<String>,

    /// Take axis 0 as the frames
    #[arg(long)]
    frames: bool,

    /// Write element types that the format lacks as bytes
    #[arg(long)]
    as_bytes: bool,

    /// Something that only the target's format has, such as trailer=drop or bool=uint8 for RawArray; may be given several times
    #[arg(short = 'O', long = "option", value_name = "KEY=VALUE", value_parser = option)]
    options: Vec<(String, String)>,
}

impl Words {
    fn list(&self) -> Vec<(String, String)> {
        let valued = [("chunks", &self.chunks), ("blocks", &self.blocks), ("checksum", &self.checksum)];
        let flags = [("frames", self.frames), ("as-bytes", self.as_bytes)];
        let filters = self.filter.iter().map(|filter| ("filter", filter.clone()));
        let valued = valued.into_iter().filter_map(|(word, value)| Some((word, value.clone()?)));
        let flags = flags.into_iter().filter(|(_, given)| *given).map(|(word, _)| (word, String::new()));
        let named = filters.chain(valued).chain(flags).map(|(word, value)| (word.to_owned(), value));
        named.chain(self.options.iter().cloned()).collect()
    }
}

fn option(text: &str) -> std::result::Result<(String, String), String> {
    let split = text.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty());
    split.map(|(key, value)| (key.to_owned(), value.to_owned())).ok_or_else(|| "write KEY=VALUE".into())
}

fn codec(text: &str) -> std::result::Result<(String, Option<i32>), String> {
    match text.split_once(':') {
        None if !text.is_empty() => Ok((text.to_owned(), None)),
        Some((word, level)) if !word.is_empty() => {
            let level = level.parse().map_err(|_| format!("{level:?} is not a level: write zstd:5"))?;
            Ok((word.to_owned(), Some(level)))
        }
        _ => Err("a codec is a word, such as zstd, or zstd:5".into()),
    }
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let source = address(&args.source);
    let (source_name, target_name) = (args.source.to_string_lossy(), shown(&args.target));
    let to_stdout = args.target.as_os_str() == "-";
    if to_stdout && args.json {
        return Err(Failure::usage("convert: standard output takes the target or the JSON line, not both"));
    }
    if to_stdout && args.verify {
        return Err(Failure::usage("convert: what is written to standard output cannot be read back"));
    }
    if to_stdout && console.out.is_terminal() {
        let problem = Error::usage("these bytes are not for a terminal");
        return Err(problem.hint("a file name, or a pipe")).on(target_name);
    }
    let import = args.import_options();
    let open = args.open.options(console.limits);
    let bar = if to_stdout { Shown::Never } else { Shown::OnTerminal };
    let outcome = Meter::new(printable(&target_name), bar).watch(|progress| {
        let options = ConvertOptions {
            to: args.to.as_deref(),
            overwrite: args.force.overwrite(),
            durability: if args.no_sync { Durability::Cached } else { Durability::Synced },
            import,
            open,
            read: args.jobs.read_options(console.limits),
            verify: if args.verify { ReadBack::Yes } else { ReadBack::No },
            progress,
        };
        holdall::convert::convert(&source, &args.target, &options)
    });
    match outcome.on(shown(&source.file))? {
        ConvertOutcome::Done(conversion) => {
            tell_losses(&target_name, &conversion.losses);
            if args.json {
                console.out.json(&json::convert_json(&source_name, &target_name, &conversion))?;
            }
            Ok(Outcome::Yes)
        }
        ConvertOutcome::Differs(differences) => {
            tell_differences(&target_name, &differences);
            if args.json {
                let nothing = Conversion {
                    target_format: args.format_name(),
                    datasets: Vec::new(),
                    losses: Vec::new(),
                };
                let mut line = json::convert_json(&source_name, &target_name, &nothing);
                line["differences"] = json::diff_json("", "", &differences)["differences"].take();
                console.out.json(&line)?;
            }
            Ok(Outcome::No)
        }
    }
}

impl Args {
    fn import_options(&self) -> ImportOptions {
        let mut import = ImportOptions::default();
        import.codec.clone_from(&self.codec);
        import.words = self.words.list();
        // Opening reverses what is column-major. A format that is always so has to be written in reverse as well, for
        // source and target to look alike under the same option; the others keep the order that they are shown.
        let target = holdall::formats::target_format(&self.target, self.to.as_deref());
        if self.open.reversed_dims && target.is_ok_and(|format| format.order == Some(Order::F)) {
            import.axes = Axes::Reversed;
        }
        import
    }

    /// The target's format; nothing where it is not known, which the library explains.
    fn format_name(&self) -> &'static str {
        holdall::formats::target_format(&self.target, self.to.as_deref()).map_or("", |format| format.name)
    }
}

fn tell_losses(target: &str, losses: &[Loss]) {
    for Loss { dataset, what } in losses {
        let of = dataset.as_ref().map(|dataset| format!("{dataset}: ")).unwrap_or_default();
        to_stderr(&format!(
            "holdall: {}: not carried over: {}",
            printable(target),
            printable(&format!("{of}{what}"))
        ));
    }
}

fn tell_differences(target: &str, differences: &[Difference]) {
    for Difference { dataset, what } in differences {
        let of = dataset.as_ref().map(|dataset| format!("{dataset}: ")).unwrap_or_default();
        to_stderr(&format!(
            "holdall: {}: reads back wrong: {}",
            printable(target),
            printable(&format!("{of}{what}"))
        ));
    }
    to_stderr("  the target was not written");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_codec_takes_a_level() {
        assert_eq!(codec("zstd"), Ok(("zstd".into(), None)));
        assert_eq!(codec("zstd:5"), Ok(("zstd".into(), Some(5))));
        assert_eq!(codec("zstd:-1"), Ok(("zstd".into(), Some(-1))));
        for bad in ["", ":5", "zstd:", "zstd:x"] {
            assert!(codec(bad).is_err(), "{bad}");
        }
    }
}
