//! `holdall convert`: the same array in another format.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use container_core::ErrorKind;
use container_core::container::Axes;
use container_core::dtype::Order;
use container_core::format::{Formats, OptionSpec, TargetOptions};
use container_core::source::Access;

use holdall::formats::{target_format, targets};

use super::write_args::NewFileArgs;
use super::{shown, tell_before};
use crate::errors::{ErrorContext, Outcome, Result};
use crate::interrupt;
use crate::options::{Opening as _, RemoteArgs, address, local_path};
use crate::output::{Console, printable};
use crate::progress::ProgressReporter;

/// The format whose containers are directories.
const ZARR: &str = "zarr";

/// Help before the list of formats.
const BEFORE_FORMATS: &str = "\
The target's format is told by --to or by its extension; `holdall formats` lists them. Shape, values and dtype stay; what \
the target cannot hold is listed on standard error. Words that a format does not have are refused with those it has. A codec takes a \
level as in zstd:5, and --filter may be given several times. --frames takes axis 0 as the frames of a GSD file, --frames=0:100:10 some of \
them, of another GSD file too.

What each format has (--codec; --filter, --checksum, --chunks, --blocks, --frames; else -O NAME=VALUE):
";

/// Help after it.
const EXAMPLES: &str = "
Examples:
  holdall convert scan.ra scan.npy
  holdall convert --verify scan.npy scan.ra
  holdall convert 'scan.ra::data[:, 0]' column.npy
  holdall convert scan.npy scan.blp --codec zstd:5 --filter bitshuffle --checksum sha256
  holdall convert scan.npy scan.b2nd --codec lz4:9 --chunks 100,100 --blocks 10,50
  holdall convert image.asdf image.fits
  holdall convert run.gsd run.zarr --codec zstd
  holdall convert --frames=1000: run.gsd end.gsd
  holdall convert scan.ra - --to npy | ssh host 'cat > scan.npy'";

/// The help after the arguments, with codecs and options of each format that is written.
pub fn after_help(formats: Formats) -> String {
    let mut text = BEFORE_FORMATS.to_owned();
    for format in targets(formats) {
        text.push_str(&format!("  {} (.{}): ", format.title, format.extensions.join(", .")));
        let codecs = format.codecs.iter().map(|codec| codec.name);
        text.push_str(&codecs.collect::<Vec<_>>().join(" "));
        for OptionSpec { name, values } in format.options {
            text.push_str(&format!("; {name}={values}"));
        }
        text.push('\n');
    }
    text + EXAMPLES
}

/// Write the values of a file in another format, and list the losses
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file, FILE::PATH or FILE::PATH[SEL]; `-` is standard input
    #[arg(value_name = "SOURCE")]
    source: OsString,

    /// The new file; `-` is standard output
    #[arg(value_name = "TARGET", value_parser = local_path())]
    target: PathBuf,

    /// The target's format, where its name does not tell
    #[arg(long, value_name = "FORMAT")]
    to: Option<String>,

    #[command(flatten)]
    make: NewFileArgs,

    #[command(flatten)]
    remote: RemoteArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let bar = args.make.check_target("convert", &args.target, console)?;
    let source = address(&args.source);
    tell_before(&source.file, &args.make.open.options(console.limits, console.formats));
    let (source_name, target_name) = (shown(Path::new(&args.source)), shown(&args.target));
    if args.format_name(console.formats) == ZARR {
        interrupt::stop_at_ticks();
    }
    let outcome = ProgressReporter::new(printable(&target_name), bar).watch(|progress| {
        let mut options = args.make.options(
            args.to.as_deref(),
            args.import_options(console.formats),
            console.limits,
            console.formats,
            progress,
        );
        options.open.addresses = Some(args.remote.addresses());
        if args.format_name(console.formats) == ZARR {
            // An incomplete folder is removed after an error, but not after a signal.
            options.open.access = Access::Positioned;
        }
        holdall::convert::convert(&source, &args.target, &options)
    });
    if matches!(&outcome, Err(error) if matches!(error.kind(), ErrorKind::Cancelled)) {
        // Only a signal cancels it, and unfinished files have been removed.
        interrupt::end();
    }
    args.make.show(
        outcome.on(shown(&source.file))?,
        &source_name,
        &target_name,
        args.format_name(console.formats),
        console,
    )
}

impl Args {
    fn import_options(&self, formats: Formats) -> TargetOptions {
        let mut import = self.make.write.import_options();
        // Opening reverses column-major arrays. A format that is always so has to be written in reverse as well, for source and target to
        // look alike under the same option; the others keep the order that they are shown.
        let target = target_format(&self.target, self.to.as_deref(), formats);
        if self.make.open.reversed_dims && target.is_ok_and(|format| format.order == Some(Order::F)) {
            import.axes = Axes::Reversed;
        }
        import
    }

    /// The target's format; nothing where it is not known, which the library explains.
    fn format_name(&self, formats: Formats) -> &'static str {
        target_format(&self.target, self.to.as_deref(), formats).map_or("", |format| format.name)
    }
}
