//! `holdall man`: manual pages.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap_mangen::Man;
use container_core::format::Formats;
use container_core::write::{AtomicFile, Durability, Overwrite};

use super::{command, shown};
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::options::ForceArgs;
use crate::output::Console;

mod sections;

/// Write manual pages: one to standard output, or all into a directory
#[derive(Debug, clap::Args)]
#[command(mut_arg("force", |force| force.requires("output").conflicts_with("verb")))]
#[command(after_help = "\
Examples:
  holdall man | man -l -
  holdall man verify | man -l -
  holdall man -o ~/.local/share/man/man1")]
pub struct Args {
    /// The verb whose page to write; without it, the command's own
    #[arg(value_name = "VERB", conflicts_with = "output")]
    verb: Option<String>,

    /// Write every page into this directory, which must exist
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let pages = pages(console.formats);
    if let Some(directory) = &args.output {
        write_all(&pages, directory, args.force.overwrite())?;
        return Ok(Outcome::Yes);
    }
    let wanted =
        args.verb.as_ref().map_or_else(|| "holdall.1".to_owned(), |verb| format!("holdall-{verb}.1"));
    let Some(page) = pages.iter().find(|page| page.name == wanted) else {
        let verbs = pages.iter().filter_map(|page| page.name.strip_prefix("holdall-")?.strip_suffix(".1"));
        let verbs: Vec<&str> = verbs.collect();
        return Err(Failure::usage(format!("man: no such verb (expected one of: {})", verbs.join(", "))));
    };
    console.out.write_all(&page.text)?;
    Ok(Outcome::Yes)
}

struct Page {
    name: String,
    text: Vec<u8>,
}

/// The command's page, then the verbs'.
fn pages(formats: Formats) -> Vec<Page> {
    let mut command = command(formats).disable_help_subcommand(true);
    command.build();
    let verbs: Vec<_> = command.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned().collect();
    std::iter::once(command).chain(verbs).map(page).collect()
}

fn page(mut command: clap::Command) -> Page {
    let synopsis = synopsis(&command.render_usage().to_string());
    let source = format!("holdall {}", env!("CARGO_PKG_VERSION"));
    let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let verbs: Vec<String> = verbs.map(|verb| verb.get_name().to_owned()).collect();
    let verb = command.get_name().strip_prefix("holdall-").unwrap_or_else(|| command.get_name()).to_owned();
    let man = Man::new(command.after_long_help(Resettable::Reset)).source(source.clone()).manual("holdall");
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = man.render(&mut text);
    let text = String::from_utf8_lossy(&text);
    // The generator leaves out the empty date, which makes the source one.
    let title = format!("1  {source:?} ");
    let text = text.replacen(&title, &format!("1 \"\" {source:?} "), 1);
    let mut text = with_synopsis(&text, &synopsis).into_bytes();
    text.extend_from_slice(sections::after_options(&verb, &verbs, &help).as_bytes());
    Page { name: man.get_filename(), text }
}

/// The usage line of the help as a line of a page, the program's name and the verb in bold.
fn synopsis(usage: &str) -> String {
    let usage = usage.trim_start_matches("Usage: ").trim().replace('-', "\\-");
    let end = usage.find(" [").into_iter().chain(usage.find(" <")).min().unwrap_or(usage.len());
    let (name, rest) = usage.split_at(end);
    format!("\\fB{name}\\fR{rest}\n")
}

/// A page with another synopsis: the generator lists every option there, without its value.
fn with_synopsis(page: &str, synopsis: &str) -> String {
    const HEADING: &str = ".SH SYNOPSIS\n";
    let Some((before, rest)) = page.split_once(HEADING) else { return page.to_owned() };
    let after = rest.find(".SH ").and_then(|at| rest.get(at..)).unwrap_or_default();
    [before, HEADING, synopsis, after].concat()
}

/// All pages or none that is not whole. Refuses before writing where one is in the way.
fn write_all(pages: &[Page], directory: &Path, overwrite: Overwrite) -> Result<()> {
    let mut files = Vec::new();
    for page in pages {
        let path = directory.join(&page.name);
        let mut file = AtomicFile::create(&path, overwrite).on(shown(&path))?;
        file.write_all(&page.text).map_err(container_core::Error::from).on(shown(&path))?;
        files.push((path, file));
    }
    files.into_iter().try_for_each(|(path, file)| file.commit(Durability::Cached).on(shown(&path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_and_flag_is_in_its_page() {
        let pages = pages(&[]);
        let mut command = command(&[]).disable_help_subcommand(true);
        command.build();
        for verb in command.get_subcommands() {
            let name = format!("holdall-{}.1", verb.get_name());
            let page = pages.iter().find(|page| page.name == name).unwrap();
            let text = String::from_utf8(page.text.clone()).unwrap().replace("\\-", "-");
            for flag in verb.get_arguments().filter(|arg| !arg.is_hide_set()) {
                if let Some(long) = flag.get_long() {
                    assert!(text.contains(&format!("--{long}")), "{name}: {long}");
                }
            }
            for section in [".SH EXAMPLES\n", ".SH \"SEE ALSO\"\n"] {
                assert!(text.contains(section), "{name}: {section}");
            }
            let help = verb.get_after_long_help().unwrap().to_string();
            let example = help.lines().last().unwrap().trim();
            let text = [("\\(aq", "'"), ("\\(dq", "\""), ("\\(ti", "~")]
                .iter()
                .fold(text, |text, (escape, c)| text.replace(escape, c));
            assert!(text.contains(example), "{name}: {example}");
        }
        let synopsis = ".SH SYNOPSIS\n\\fBholdall ls\\fR [OPTIONS] <FILE>...\n.SH DESCRIPTION\n";
        let ls = pages.iter().find(|page| page.name == "holdall-ls.1").unwrap();
        assert!(String::from_utf8_lossy(&ls.text).contains(synopsis));
        let front = String::from_utf8(pages[0].text.clone()).unwrap().replace("\\-", "-");
        for verb in command.get_subcommands() {
            assert!(front.contains(&format!("holdall-{}(1)", verb.get_name())), "{}", verb.get_name());
        }
    }
}
