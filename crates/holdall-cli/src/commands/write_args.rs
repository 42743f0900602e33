//! Common parts of the verbs that write containers: options, and the answer.

use std::path::Path;

use container_core::format::{Formats, TargetOptions};
use container_core::report::Loss;
use container_core::write::Durability;
use container_core::{Error, Limits, Progress};
use holdall::convert::{Conversion, ConvertOptions, ConvertOutcome, Losses, ReadBack};
use holdall::diff::Difference;
use holdall::json;
use holdall::open::is_stream;

use super::shown;
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::options::{ForceArgs, JobsArgs, OpenArgs, Opening as _};
use crate::output::{Console, printable, to_stderr};
use crate::progress::ShowProgress;

/// Options for a new file.
#[derive(Clone, Debug, clap::Args)]
pub struct NewFileArgs {
    #[command(flatten)]
    pub write: WriteArgs,

    /// Read the target back and compare before it appears
    ///
    /// Exit code 1 and no target if anything differs.
    #[arg(long)]
    verify: bool,

    /// Do not wait until the target is on the disk
    #[arg(long)]
    no_sync: bool,

    /// One JSON line (holdall.convert/1)
    ///
    /// holdall.pack/1 for items.
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    force: ForceArgs,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    pub open: OpenArgs,
}

impl NewFileArgs {
    /// The library's options.
    pub fn options<'a>(
        &'a self,
        to: Option<&'a str>,
        import: TargetOptions,
        limits: Limits,
        formats: Formats,
        progress: Progress<'a>,
    ) -> ConvertOptions<'a> {
        ConvertOptions {
            to,
            overwrite: self.force.overwrite(),
            durability: if self.no_sync { Durability::Cached } else { Durability::Synced },
            import,
            open: self.open.options(limits, formats),
            read: self.jobs.read_options(limits),
            fill: self.write.fill(),
            verify: if self.verify { ReadBack::Yes } else { ReadBack::No },
            losses: Losses::default(),
            progress,
        }
    }

    /// Refuses what cannot go to standard output, where `target` is that, and tells whether a bar may be shown.
    pub fn check_target(&self, verb: &str, target: &Path, console: &Console) -> Result<ShowProgress> {
        if !is_stream(target) {
            return Ok(ShowProgress::OnTerminal);
        }
        if self.json {
            let problem = "standard output takes the target or the JSON line, not both";
            return Err(Failure::usage(format!("{verb}: {problem}")));
        }
        if self.verify {
            let problem = "standard output cannot be read back";
            return Err(Failure::usage(format!("{verb}: {problem}")));
        }
        if console.out.is_terminal() {
            let problem = Error::usage("binary output is not written to a terminal");
            return Err(problem.with_hint("a file name, or a pipe")).on(shown(target));
        }
        Ok(ShowProgress::Never)
    }

    /// Shows how a conversion ended. `format` is the target's, as far as it is known.
    pub fn show(
        &self,
        outcome: ConvertOutcome,
        source: &str,
        target: &str,
        format: &'static str,
        console: &mut Console,
    ) -> Result<Outcome> {
        match outcome {
            ConvertOutcome::Done(conversion) => {
                tell_losses(target, &conversion.losses);
                tell_warning(target, conversion.warning.as_deref());
                if self.json {
                    console.out.json(&json::convert_json(source, target, &conversion))?;
                }
                Ok(Outcome::Yes)
            }
            ConvertOutcome::Differs(differences) => {
                tell_differences(target, &differences);
                if self.json {
                    let (datasets, losses) = (Vec::new(), Vec::new());
                    let nothing = Conversion { target_format: format, datasets, losses, warning: None };
                    let mut line = json::convert_json(source, target, &nothing);
                    line["differences"] = json::diff_json("", "", &differences, &[])["differences"].take();
                    console.out.json(&line)?;
                }
                Ok(Outcome::No)
            }
        }
    }
}

/// Options for writing a new container.
#[derive(Clone, Debug, clap::Args)]
pub struct WriteArgs {
    #[command(flatten)]
    encode: EncodeArgs,

    #[command(flatten)]
    file: FileArgs,

    #[command(flatten)]
    source: SourceArgs,
}

impl WriteArgs {
    /// The value for missing elements, as text.
    pub fn fill(&self) -> Option<&str> {
        self.source.fill.as_deref()
    }

    /// The library's options.
    pub fn import_options(&self) -> TargetOptions {
        import_options(&self.encode, Some(&self.file), &self.source)
    }
}

/// Options for data that are added to a container: what the file has for all of its data is not asked again.
#[derive(Clone, Debug, clap::Args)]
pub struct AppendArgs {
    #[command(flatten)]
    encode: EncodeArgs,

    #[command(flatten)]
    source: SourceArgs,
}

impl AppendArgs {
    /// The value for missing elements, as text.
    pub fn fill(&self) -> Option<&str> {
        self.source.fill.as_deref()
    }

    /// The library's options.
    pub fn import_options(&self) -> TargetOptions {
        import_options(&self.encode, None, &self.source)
    }
}

/// Options for encoding data.
#[derive(Clone, Debug, clap::Args)]
struct EncodeArgs {
    /// Codec, with a level or without
    #[arg(long, value_name = "WORD[:LEVEL]", value_parser = codec)]
    codec: Option<(String, Option<i32>)>,

    /// Filter before the codec
    ///
    /// May be given several times.
    #[arg(long, value_name = "WORD")]
    filter: Vec<String>,
}

/// Options that hold for all data of a file.
#[derive(Clone, Debug, clap::Args)]
struct FileArgs {
    /// Chunk shape, such as 100,100
    ///
    /// One number counts indices along the first axis (Bloscpack: the slowest) and takes the others whole.
    #[arg(long, value_name = "SHAPE")]
    chunks: Option<String>,

    /// Block shape within a chunk, such as 10,10
    #[arg(long, value_name = "SHAPE")]
    blocks: Option<String>,

    /// Digest to store, or none
    #[arg(long, value_name = "WORD")]
    checksum: Option<String>,
}

/// Options about the source, and those of one format.
#[derive(Clone, Debug, clap::Args)]
struct SourceArgs {
    /// Take axis 0 as the frames, all or =10:20 or =::5
    #[arg(long, value_name = "RANGE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    frames: Option<String>,

    /// Write element types that the format lacks as bytes
    #[arg(long)]
    as_bytes: bool,

    /// Value for missing elements, as in a cell of CSV
    ///
    /// For targets without masks; default: NaN, NaT, for other types what is stored.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    fill: Option<String>,

    /// Setting of the target's format: trailer=drop
    ///
    /// Settings that only that format has, such as trailer=drop or bool=uint8 for RawArray. May be given several times.
    #[arg(short = 'O', long = "option", value_name = "KEY=VALUE", value_parser = option)]
    options: Vec<(String, String)>,
}

/// Options of the formats, each by a word of its own.
fn import_options(encode: &EncodeArgs, file: Option<&FileArgs>, source: &SourceArgs) -> TargetOptions {
    let valued =
        file.map(|file| [("chunks", &file.chunks), ("blocks", &file.blocks), ("checksum", &file.checksum)]);
    let valued = valued.into_iter().flatten().filter_map(|(word, value)| Some((word, value.clone()?)));
    let filters = encode.filter.iter().map(|filter| ("filter", filter.clone()));
    let frames = source.frames.iter().map(|range| ("frames", range.clone()));
    let flags = source.as_bytes.then(|| (TargetOptions::AS_BYTES, String::new()));
    let named = filters.chain(valued).chain(frames).chain(flags);
    let named = named.map(|(word, value)| (word.to_owned(), value));
    let mut import = TargetOptions::default();
    import.codec.clone_from(&encode.codec);
    import.extra = named.chain(source.options.iter().cloned()).collect();
    import
}

fn option(text: &str) -> Result<(String, String), String> {
    // A boolean option is given by its word alone: `-O streamed`.
    if !text.is_empty() && !text.contains('=') {
        return Ok((text.to_owned(), "yes".to_owned()));
    }
    let split = text.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty());
    split.map(|(key, value)| (key.to_owned(), value.to_owned())).ok_or_else(|| "write KEY=VALUE".into())
}

fn codec(text: &str) -> Result<(String, Option<i32>), String> {
    match text.split_once(':') {
        None if !text.is_empty() => Ok((text.to_owned(), None)),
        Some((word, level)) if !word.is_empty() => {
            let level = level.parse().map_err(|_| format!("{level:?} is not a level: write zstd:5"))?;
            Ok((word.to_owned(), Some(level)))
        }
        _ => Err("a codec is a word, such as zstd, or zstd:5".into()),
    }
}

/// Lists on standard error what a target does not hold.
pub fn tell_losses(target: &str, losses: &[Loss]) {
    for (number, Loss { what, .. }) in losses.iter().enumerate() {
        if losses.iter().take(number).any(|before| before.what == *what) {
            continue;
        }
        let same = losses.iter().filter(|loss| loss.what == *what);
        let names: Vec<&str> = same.filter_map(|loss| loss.dataset.as_deref()).collect();
        let of = if names.is_empty() { String::new() } else { format!("{}: ", names.join(", ")) };
        to_stderr(&format!(
            "holdall: {}: not carried over: {}",
            printable(target),
            printable(&format!("{of}{what}"))
        ));
    }
}

/// Says on standard error that a target is there, and may not survive a power cut.
pub fn tell_warning(target: &str, warning: Option<&str>) {
    if let Some(warning) = warning {
        to_stderr(&format!("holdall: {}: warning: {}", printable(target), printable(warning)));
    }
}

/// Says on standard error why a target that was read back is not there.
pub fn tell_differences(target: &str, differences: &[Difference]) {
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
