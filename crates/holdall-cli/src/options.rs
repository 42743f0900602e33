//! Arguments that several verbs share, and the words they are made of.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::builder::{FalseyValueParser, TypedValueParser};
use clap::{Args as _, ColorChoice};
use container_core::Limits;
use container_core::container::{Digests, ReadOptions};
use container_core::dtype::DType;
use container_core::source::Addresses;
use container_core::write::Overwrite;
use holdall::address::Address;
use holdall::remote::RemoteOptions;

use crate::output::Form;

mod opening;

pub use opening::{LenientArgs, OpenAnywhereArgs, OpenArgs, OpenFileArgs, OpenSourceArgs, Opening};

/// Heading of the options that every verb has.
const COMMON: &str = "Common options";

/// Heading of the options about how a file is read.
const READING: &str = "Reading";

/// Heading of the options for files at URLs.
const REMOTE: &str = "Files at URLs";

/// Options of every verb.
#[derive(Clone, Debug, clap::Args)]
pub struct GlobalArgs {
    /// Colours: auto, always or never
    ///
    /// `auto` means on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, help_heading = COMMON, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    pub color: ColorChoice,

    /// Print as on a terminal, though into a pipe or a file
    ///
    /// Tables with headings and human sizes, without colours, pager and progress. The environment variable HOLDALL_PRETTY=1 does the same. Forms for
    /// programs (--json, --format csv, json, raw and npy) stay as they are.
    #[arg(long, global = true, help_heading = COMMON, env = "HOLDALL_PRETTY", hide_env = true, value_parser = FalseyValueParser::new())]
    pub pretty: bool,

    /// Most memory that a file may make one operation take: 512M, 2G
    ///
    /// Bytes, or with K, M, G or T (powers of 1024). Default: three quarters of what the machine allows.
    #[arg(long, global = true, help_heading = COMMON, value_name = "BYTES", value_parser = parse_bytes)]
    pub limit_memory: Option<u64>,
}

impl GlobalArgs {
    /// The option of the limit for a verb's own arguments: it takes the place of the common one there, and no help shows it.
    pub fn hidden_limit() -> clap::Arg {
        let common = Self::augment_args(clap::Command::new("common"));
        let limit = common.get_arguments().find(|arg| arg.get_long() == Some("limit-memory"));
        limit.cloned().unwrap_or_else(|| clap::Arg::new("limit_memory")).hide(true)
    }

    /// The form of standard output.
    pub const fn form(&self) -> Form {
        if self.pretty { Form::Pretty } else { Form::Auto }
    }

    /// The limits that files are held to.
    pub fn limits(&self) -> Limits {
        let limits = Limits::default();
        self.limit_memory.map_or(limits, |bytes| limits.with_memory(bytes))
    }
}

/// Options for files at URLs.
#[derive(Clone, Debug, clap::Args)]
pub struct RemoteArgs {
    /// Header to send with each request, to its host alone
    ///
    /// May be given several times.
    #[arg(long, help_heading = REMOTE, value_name = "NAME: VALUE", value_parser = header)]
    pub header: Vec<(String, String)>,

    /// Read buckets without credentials
    #[arg(long, help_heading = REMOTE, visible_alias = "no-sign-request")]
    pub anon: bool,

    /// Object store other than the provider's own
    ///
    /// Such as http://localhost:9000.
    #[arg(long, help_heading = REMOTE, value_name = "URL")]
    pub endpoint_url: Option<String>,

    /// Region of S3
    ///
    /// By default that of the environment or the profile, or the one that the bucket names.
    #[arg(long, help_heading = REMOTE, value_name = "NAME")]
    pub region: Option<String>,

    /// Profile in the files of AWS
    #[arg(long, help_heading = REMOTE, value_name = "NAME")]
    pub profile: Option<String>,

    /// Refuse redirects to hosts with private addresses
    #[arg(long, help_heading = REMOTE)]
    pub no_private_redirects: bool,

    /// Most seconds for one range of bytes
    ///
    /// Retries included.
    #[arg(long, help_heading = REMOTE, value_name = "SECONDS", default_value = "180", value_parser = clap::value_parser!(u32).range(1..))]
    pub deadline: u32,

    /// The client for these options: files share its connections.
    #[arg(skip)]
    client: OnceLock<Arc<dyn Addresses>>,
}

impl RemoteArgs {
    /// URLs as addresses of files.
    pub fn addresses(&self) -> Arc<dyn Addresses> {
        Arc::clone(self.client.get_or_init(|| holdall::remote::addresses(self.options())))
    }

    fn options(&self) -> RemoteOptions {
        let mut remote = RemoteOptions::default();
        remote.headers.clone_from(&self.header);
        remote.deadline = Duration::from_secs(self.deadline.into());
        remote.refuse_private_redirects = self.no_private_redirects;
        remote.anon = self.anon;
        remote.endpoint_url.clone_from(&self.endpoint_url);
        remote.region.clone_from(&self.region);
        remote.profile.clone_from(&self.profile);
        remote.add_environment(std::env::vars_os());
        remote
    }
}

/// A header. One without a colon is refused when a URL is opened, because a message of the parser would quote it, and it may be secret.
fn header(text: &str) -> Result<(String, String), std::convert::Infallible> {
    let (name, value) = text.split_once(':').unwrap_or(("", text));
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// A path of a file that is written or changed, which a URL is not.
pub fn local_path() -> impl TypedValueParser<Value = PathBuf> {
    clap::builder::PathBufValueParser::new().try_map(|path| match holdall::address::is_url(&path) {
        true => Err("files at URLs are read only: copy the file here first, or name a file here"),
        false => Ok(path),
    })
}

/// A type in numpy's words.
pub fn dtype() -> impl TypedValueParser<Value = DType> {
    clap::builder::NonEmptyStringValueParser::new().try_map(|text| DType::parse(&text))
}

/// One length of a shape.
pub fn axis_length(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "a shape is a number from 0 up for each axis, with commas between: 100,3".to_owned())
}

/// Number of threads.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct JobsArgs {
    /// Threads to use; default: one for each core
    #[arg(short, long, help_heading = COMMON, value_name = "N", value_parser = threads)]
    pub jobs: Option<NonZeroUsize>,
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a number of threads is 1 or more".to_owned())
}

impl JobsArgs {
    /// Their number.
    pub fn count(self) -> usize {
        // More than this only costs stacks.
        const MAX_THREADS: usize = 1024;
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.jobs.map_or_else(cores, NonZeroUsize::get).min(MAX_THREADS)
    }

    /// Values read on that many threads.
    pub fn read_options(self, limits: Limits) -> ReadOptions {
        ReadOptions::default().with_threads(self.count()).with_limits(limits)
    }
}

/// Whether digests are compared.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct DigestsArgs {
    /// Compare digests: compare, whole or ignore; default: whole
    ///
    /// `compare` is always, `whole` where all that they cover is read anyway, `ignore` never.
    #[arg(long, value_enum, help_heading = "Reading", value_name = "WHEN", hide_possible_values = true)]
    digests: Option<DigestsWord>,
}

/// A word for [`Digests`].
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum DigestsWord {
    Compare,
    Whole,
    Ignore,
}

impl DigestsArgs {
    /// The same options with these digests.
    pub fn apply(self, mut read: ReadOptions) -> ReadOptions {
        read.digests = match self.digests {
            Some(DigestsWord::Compare) => Digests::Compare,
            Some(DigestsWord::Whole) => Digests::Whole,
            Some(DigestsWord::Ignore) => Digests::Ignore,
            None => read.digests,
        };
        read
    }
}

/// Whether an existing file may be replaced.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ForceArgs {
    /// Replace the target if it exists
    ///
    /// In one step, and only when the new file is complete.
    #[arg(short, long)]
    pub force: bool,
}

impl ForceArgs {
    /// The library's word for it.
    pub const fn overwrite(self) -> Overwrite {
        if self.force { Overwrite::Replace } else { Overwrite::Refuse }
    }
}

/// An address as typed.
pub fn address(typed: &OsStr) -> Address {
    Address::parse_os(typed)
}

/// A dataset in standard input, `-::data[0]`, which the parser of the arguments would take for options.
pub fn stdin_address(arg: OsString) -> OsString {
    match arg.to_str().and_then(|text| text.strip_prefix("-::")) {
        Some(rest) if cfg!(unix) => format!("/dev/stdin::{rest}").into(),
        _ => arg,
    }
}

/// Bytes with an optional suffix: K, M, G, T and KiB… count in 1024, KB… in 1000.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let (number, suffix) = (digits.trim(), text[digits.len()..].trim().to_ascii_lowercase());
    let bad = || format!("{text:?} is not a number of bytes: write 1000000, 64K, 512M, 2GiB or 1.5G");
    let (letter, base) = match suffix.as_str() {
        "" | "b" => ("", 1024),
        "k" | "m" | "g" | "t" => (suffix.as_str(), 1024),
        "kib" | "mib" | "gib" | "tib" => (&suffix[..1], 1024),
        "kb" | "mb" | "gb" | "tb" => (&suffix[..1], 1000_u64),
        _ => return Err(bad()),
    };
    let power = ["", "k", "m", "g", "t"].iter().position(|known| *known == letter).unwrap_or(0);
    let unit = base.pow(u32::try_from(power).unwrap_or(0));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // Exact for up to six decimals; fractions of a byte are refused.
    if fraction.len() > 6 || (!fraction.is_empty() && unit == 1) || number.ends_with('.') {
        return Err(bad());
    }
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return Err(bad());
    }
    let whole: u64 = whole.parse().map_err(|_| bad())?;
    // As millionths, so that 0.5 and 0.50 are the same.
    let millionths: u32 = format!("{fraction:0<6}").parse().map_err(|_| bad())?;
    let fraction = u128::from(unit) * u128::from(millionths) / 1_000_000;
    let bytes = u128::from(whole) * u128::from(unit) + fraction;
    u64::try_from(bytes).map_err(|_| bad())
}

/// The value of `--color`, looked up before the arguments are parsed, so that help and usage errors obey it.
pub fn color_before_parsing(args: impl Iterator<Item = OsString>) -> ColorChoice {
    let mut choice = ColorChoice::Auto;
    let mut args = args.take_while(|arg| arg != "--").peekable();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        let word = match text.strip_prefix("--color") {
            Some("") => args.peek().map(|next| next.to_string_lossy().into_owned()),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        if let Some(parsed) = word.and_then(|word| word.parse().ok()) {
            choice = parsed;
        }
    }
    choice
}

/// Makes every stream of this process obey the choice.
pub fn apply_color(choice: ColorChoice) {
    let choice = match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_take_suffixes() {
        let cases = [
            ("0", 0),
            ("123", 123),
            ("64K", 65_536),
            ("64k", 65_536),
            ("2KiB", 2048),
            ("2KB", 2000),
            ("1.5G", 1_610_612_736),
            ("3 MiB", 3_145_728),
            ("1T", 1_099_511_627_776),
            ("0.5k", 512),
            ("10b", 10),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn threads_are_one_or_more() {
        assert_eq!(threads("3").map(NonZeroUsize::get), Ok(3));
        for text in ["0", "-1", "", "x"] {
            assert_eq!(threads(text).unwrap_err(), "a number of threads is 1 or more");
        }
    }

    #[test]
    fn invalid_byte_counts_are_refused() {
        for text in [
            "",
            "K",
            "-1",
            "+1",
            "1.+5K",
            "1.5",
            "1.",
            "1.2.3K",
            "10X",
            "99999999T",
            "0x10",
            "1e9",
            ".K",
            "é",
            "1é",
        ] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn color_option_is_found_at_any_position() {
        let choice = |args: &[&str]| color_before_parsing(args.iter().map(OsString::from));
        assert_eq!(choice(&["holdall", "info", "--color", "never", "x"]), ColorChoice::Never);
        assert_eq!(choice(&["holdall", "--color=always"]), ColorChoice::Always);
        assert_eq!(choice(&["holdall", "--", "--color=always"]), ColorChoice::Auto);
        assert_eq!(choice(&["holdall", "--colorful=always"]), ColorChoice::Auto);
    }
}
