//! `holdall serve`: files in the browser.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use container_core::Error;
use holdall::folder::is_plain_folder;
use holdall_serve::{MAX_FILES, NamedFile, Options, Server};

use super::shown;
use crate::errors::{ErrorContext, Outcome, Result, shell_word_of};
use crate::many_files::expand;
use crate::options::{JobsArgs, OpenAnywhereArgs};
use crate::output::{Console, printable, to_stderr};

/// Show files in the browser: values, pictures, particles, trees, bytes, damage
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The page is served on 127.0.0.1 alone, to whoever has the address with its token, and nothing is written. The files are those that are there at the start. Ctrl-C ends it. \
From another machine: ssh -L 8000:127.0.0.1:PORT, and then the same address with port 8000. The token is random, or that of the environment variable HOLDALL_SERVE_TOKEN.

Examples:
  holdall serve image.asdf
  holdall serve --idle 1h /data/runs
  holdall serve --no-open --port 8000 's3://bucket/run/*.gsd'")]
pub struct Args {
    /// Files, URLs, or folders with all containers below; default: this folder
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Port; default: one that is free
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Print the address without opening a browser
    #[arg(long)]
    no_open: bool,

    /// Time without a request after which it ends: 90s, 30m, never
    #[arg(long, value_name = "TIME", default_value = "8h", value_parser = idle)]
    idle: Idle,

    /// Origin of pages that may embed this one
    ///
    /// Such as http://localhost:8888; may be given several times.
    #[arg(long, value_name = "SOURCE")]
    frame: Vec<String>,

    /// Name under which a proxy is asked
    ///
    /// In addition to 127.0.0.1 and localhost; may be given several times.
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,

    /// End where standard input ends, with the program that has started it
    #[arg(long)]
    until_stdin_ends: bool,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

/// A time, or none.
#[derive(Clone, Copy, Debug)]
struct Idle(Option<Duration>);

fn idle(text: &str) -> std::result::Result<Idle, String> {
    if text == "never" {
        return Ok(Idle(None));
    }
    let bad = || "write 90s, 30m, 8h or never".to_owned();
    let digits = text.trim_end_matches(['s', 'm', 'h']);
    let unit = match text.get(digits.len()..) {
        Some("s") => 1,
        Some("m") => 60,
        Some("h") => 3600,
        _ => return Err(bad()),
    };
    let number: u64 = digits.parse().map_err(|_| bad())?;
    let seconds = number.checked_mul(unit).filter(|seconds| *seconds > 0).ok_or_else(bad)?;
    Ok(Idle(Some(Duration::from_secs(seconds))))
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let open = args.open.options(console.limits, console.formats);
    let here = [PathBuf::from(".")];
    let arguments = if args.files.is_empty() { &here } else { args.files.as_slice() };
    let mut files = Vec::new();
    for argument in arguments {
        for named in expand(std::slice::from_ref(argument), &open) {
            match named.unreadable {
                Some(failure) => console.fail(&failure),
                // A folder without any file is listed as itself.
                None if is_plain_folder(&named.path, console.formats) => {}
                None => files.push(NamedFile { argument: argument.clone(), path: named.path }),
            }
        }
    }
    // Below a folder a broken link is shown with its error.
    let is_missing = |file: &&NamedFile| {
        file.path == file.argument && !holdall::address::is_url(&file.path) && !file.path.exists()
    };
    if let Some(missing) = files.iter().find(is_missing) {
        let gone = Error::from(std::io::Error::from(std::io::ErrorKind::NotFound));
        return Err(gone).on(shown(&missing.path));
    }
    if files.is_empty() {
        let none = Error::usage("no file to show").with_hint("holdall serve FILE");
        return Err(none).on(shown(arguments.first().map_or("".as_ref(), PathBuf::as_path)));
    }
    let options = Options {
        port: args.port,
        idle: args.idle.0,
        open,
        threads: args.jobs.count(),
        shell_word: |name| shell_word_of(name.as_os_str()).into_owned(),
        frames: args.frame.clone(),
        hosts: args.host.clone(),
        token: std::env::var("HOLDALL_SERVE_TOKEN").ok().filter(|token| !token.is_empty()),
    };
    let (count, mut redirect) = (files.len(), RedirectPage::default());
    let server = Server::bind(files, options).on("serve")?;
    let address = server.address();
    writeln!(console.out, "{address}")?;
    console.out.flush()?;
    to_stderr(&format!("{count} {}; Ctrl-C ends it", if count == 1 { "file" } else { "files" }));
    if count > MAX_FILES {
        to_stderr(&format!("the first {MAX_FILES} are shown: name folders below"));
    }
    if args.until_stdin_ends {
        std::thread::spawn(|| {
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            // Nothing is written that could be cut short.
            std::process::exit(0);
        });
    }
    if console.out.is_terminal()
        && !args.no_open
        && let Err(error) = redirect.open(&address)
    {
        to_stderr(&format!("no browser could be opened: {}", printable(&error.to_string())));
    }
    server.run().on("serve")?;
    to_stderr("stopped: the idle time has passed without a request");
    Ok(Outcome::Yes)
}

/// A page in a folder of this user alone that leads to the address. A browser that is started with the address itself shows the token to every user of the
/// machine, in its arguments.
#[derive(Default)]
struct RedirectPage(Option<tempfile::TempDir>);

impl RedirectPage {
    /// Opens the page in the browser. It is there until the server ends.
    fn open(&mut self, address: &str) -> std::io::Result<()> {
        let folder = tempfile::Builder::new().prefix("holdall-").tempdir()?;
        let page = folder.path().join("open.html");
        // Address and token have no letters that HTML or a script would change.
        let text = format!(
            "<!doctype html><meta charset=\"utf-8\"><title>holdall</title><script>location.replace(\"{address}\")</script>"
        );
        std::fs::write(&page, text)?;
        self.0 = Some(folder);
        open::that_detached(page)
    }
}
