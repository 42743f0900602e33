//! `holdall convert`: the same array in another format.

use std::ffi::OsString;
use std::path::PathBuf;

use container_core::Error;
use container_core::container::Axes;
use container_core::dtype::Order;
use container_core::format::ImportOptions;
use container_core::write::Durability;
use holdall::convert::{Conversion, ConvertOptions, ConvertOutcome, ReadBack};
use holdall::json;

use super::shown;
use super::writing::{WriteArgs, tell_differences, tell_losses};
use crate::errors::{Failure, On, Outcome, Result};
use crate::options::{ForceArgs, JobsArgs, OpenArgs, address};
use crate::output::{Console, printable};
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

    #[command(flatten)]
    write: WriteArgs,

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
        let mut import = self.write.import_options();
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
