//! `holdall digest`: a hash of dtype, shape and values, and whether those of a list still hold.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use container_core::checksum::Digest;
use container_core::container::{OpenOptions, ReadOptions};
use container_core::dtype::Order;
use container_core::format::Formats;
use container_core::source::read_stream;
use container_core::{Error, ErrorKind, Limits, Progress};
use holdall::address::{Address, is_url, typed};
use holdall::digest::{ArrayDigest, Line, digest, line, select};
use holdall::json;
use holdall::open::{Accept, open_for_streaming};
use holdall::verify::first_damage;

use super::{shown, tell};
use crate::errors::{ErrorContext, Failure, Outcome, Result};
use crate::many_files::{Folders, NamedAddress, OneFile, Share, expand_all, in_order};
use crate::options::{JobsArgs, OpenAnywhereArgs, address};
use crate::output::{Console, ERROR, OK, printable, to_stderr};
use crate::progress::{ProgressReporter, ShowProgress};

/// Print a digest of type, shape and values, the same in every format; or check a list
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A line is the SHA-256 of the array, two blanks and its address, as sha256sum has it. Of a file without a path, every listed \
dataset is digested; of a group or a path with stars (* within one name, ** across), those that it names; of a folder, every array of each container below it, whose path then begins with the folder's. The array is what counts, not how it is stored: byte order, order of the axes in storage, codec, chunks, \
padding of records and the format make no difference. The page docs/digest.md says what is hashed, and has a program of \
numpy's that gives the same. Files that cannot be read, and arrays that are damaged, are reported on standard error and hide no other; the exit code is the worst.

With --check, the files are such lists: each address is read again, and told OK or FAILED. Exit codes: 0 all are as they \
were, 1 some differ, 2 some could not be read.

Examples:
  holdall digest scan.ra run.gsd > arrays.sha256
  holdall digest /data/archive > archive.sha256
  holdall digest 'run.gsd::particles/position[-1]'
  holdall digest --check arrays.sha256
  holdall digest before.npy | sed s/before.npy/after.b2nd/ | holdall digest --check -")]
pub struct Args {
    /// Files, FILE::PATH[SEL] or folders; with --check lists; `-` is standard input
    ///
    /// FILE, FILE::PATH or FILE::PATH[SEL], or a folder, of which every container below is digested; with --check lists of digests.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<OsString>,

    /// Check the arrays of lists that this verb made
    #[arg(short, long)]
    check: bool,

    /// With --check, tell only of what is not as it was
    #[arg(short, long, requires = "check")]
    quiet: bool,

    /// One JSON line for each array (holdall.digest/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    jobs: JobsArgs,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let tasks = if args.check {
        args.read_lists(console)?
    } else {
        args.tasks(&args.open.options(console.limits, console.formats))
    };
    let work = Work { args, formats: console.formats };
    let mut counts = Counts::default();
    if tasks.len() < 2 || args.jobs.count() < 2 {
        // Each array is shown when it is read.
        for task in &tasks {
            let meter = ProgressReporter::new(printable(&task.name()), ShowProgress::OnTerminal);
            let limits = console.limits;
            let mut show = |answer: Answer| args.show(answer, &mut counts, console);
            work.run(task, args.jobs.count(), limits, &meter, &mut show)?;
        }
    } else {
        let over = |answer: &Answer| {
            answer.made.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::Limit { .. }))
        };
        in_order(
            &tasks,
            args.jobs.count(),
            console.limits,
            |task, share| work.answers(task, share),
            |answers| answers.iter().any(over),
            |answers| answers.into_iter().try_for_each(|answer| args.show(answer, &mut counts, console)),
        )?;
    }
    console.out.flush()?;
    if counts.differ > 0 {
        to_stderr(&format!("holdall: {} of {} arrays differ from the list", counts.differ, counts.all));
    }
    Ok(Outcome::Yes)
}

#[derive(Default)]
struct Counts {
    all: u64,
    differ: u64,
}

/// Work on one file.
struct Task {
    wanted: Vec<Wanted>,
    /// Why it cannot be read, where that is known without opening it: a folder that cannot be listed.
    unreadable: Option<String>,
}

impl Task {
    fn name(&self) -> String {
        self.wanted.first().map_or_else(String::new, |one| shown(&one.address.file))
    }
}

struct Wanted {
    /// In the bytes of the name, which may be no text.
    typed: Vec<u8>,
    address: Address,
    /// Digest in the list; `None` where there is no list.
    expected: Option<Digest>,
}

/// Result for one array, or for one that could not be read.
struct Answer {
    address: Vec<u8>,
    file: String,
    dataset: Option<String>,
    expected: Option<Digest>,
    made: container_core::Result<ArrayDigest>,
}

impl OneFile for Task {
    fn path(&self) -> &Path {
        self.wanted.first().map_or(Path::new(""), |first| &first.address.file)
    }
}

impl Args {
    fn tasks(&self, options: &OpenOptions) -> Vec<Task> {
        let mut tasks = Vec::with_capacity(self.files.len());
        for typed in &self.files {
            let file = address(typed).file;
            let within = typed.as_encoded_bytes().get(file.as_os_str().len()..).unwrap_or_default();
            let named = expand_all(std::slice::from_ref(typed), options, Folders::Searched).all;
            tasks.extend(named.into_iter().map(|NamedAddress { address, unreadable }| {
                let typed = [address.file.as_os_str().as_encoded_bytes(), within].concat();
                let wanted = vec![Wanted { typed, address, expected: None }];
                Task { wanted, unreadable: unreadable.map(|failure| failure.error.to_string()) }
            }));
        }
        tasks
    }

    /// The lines of the lists, those of one file together as long as they follow each other.
    fn read_lists(&self, console: &mut Console) -> Result<Vec<Task>> {
        let mut tasks: Vec<Task> = Vec::new();
        for name in &self.files {
            let list = PathBuf::from(name);
            let bytes = if name == "-" {
                read_stream(&mut std::io::stdin().lock(), &console.limits)
            } else {
                std::fs::File::open(&list)
                    .map_err(Error::from)
                    .and_then(|file| read_stream(&mut file.take(console.limits.memory), &console.limits))
            };
            let bytes = bytes.on(shown(&list))?;
            let before = tasks.len();
            for (number, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                let parsed = Line::parse(text).and_then(|line| {
                    let Some(Line { digest, address: typed }) = line else { return Ok(None) };
                    let none = || Error::unsupported("this name is not possible on this machine");
                    let address = Address::parse_bytes(&typed).ok_or_else(none)?;
                    Ok(Some(Wanted { address, typed, expected: Some(digest) }))
                });
                match parsed {
                    Ok(None) => {}
                    Ok(Some(wanted)) => {
                        let same = tasks.last().and_then(|task| task.wanted.last());
                        let same = same.is_some_and(|one| one.address.file == wanted.address.file);
                        match tasks.last_mut().filter(|_| same) {
                            Some(task) => task.wanted.push(wanted),
                            None => tasks.push(Task { wanted: vec![wanted], unreadable: None }),
                        }
                    }
                    Err(error) => {
                        let error = error.with_context(format!("line {number}"));
                        console.fail(&Failure { subject: Some(shown(&list)), error });
                    }
                }
            }
            if tasks.len() == before {
                return Err(
                    Error::usage("no digest in this list").with_hint("a list that holdall digest made")
                )
                .on(shown(&list));
            }
        }
        Ok(tasks)
    }

    fn show(&self, answer: Answer, counts: &mut Counts, console: &mut Console) -> Result<()> {
        counts.all += 1;
        let Answer { address: bytes, file, dataset, expected, made } = answer;
        let address = String::from_utf8_lossy(&bytes).into_owned();
        let status = match (&made, &expected) {
            (Err(_), _) => Status::Unreadable,
            (Ok(made), Some(expected)) if made.digest != *expected => Status::Failed,
            _ => Status::Ok,
        };
        if status == Status::Failed {
            counts.differ += 1;
            console.note(Outcome::No);
        }
        let array = made.as_ref().ok();
        if self.quiet && status == Status::Ok {
            return Ok(());
        }
        if self.json {
            let named = (address.as_str(), file.as_str(), dataset.as_deref());
            let mut line = json::digest_json(named, array);
            if let Some(expected) = expected {
                line["expected"] = expected.to_string().into();
                line["status"] = status.word().to_lowercase().into();
            }
            console.out.json(&line)?;
        } else if expected.is_some() {
            let style = if status == Status::Ok { OK } else { ERROR };
            let word = console.out.paint.with(style, status.word()).into_owned();
            writeln!(console.out, "{}: {word}", printable(&address))?;
        } else if let Some(array) = array {
            let mut line = line(&array.digest, &bytes);
            if console.out.is_for_people() {
                line = printable(&String::from_utf8_lossy(&line)).into_owned().into_bytes();
            }
            line.push(b'\n');
            console.out.write_all(&line)?;
        }
        if let Err(error) = made {
            console.fail(&Failure { subject: Some(address), error });
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Ok,
    Failed,
    Unreadable,
}

impl Status {
    const fn word(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Failed => "FAILED",
            Self::Unreadable => "UNREADABLE",
        }
    }
}

struct Work<'a> {
    args: &'a Args,
    formats: Formats,
}

impl Work<'_> {
    /// Answers for all that is wanted of one file, which is opened once.
    fn run(
        &self,
        task: &Task,
        threads: usize,
        limits: Limits,
        meter: &ProgressReporter,
        show: &mut dyn FnMut(Answer) -> Result<()>,
    ) -> Result<()> {
        let Some(first) = task.wanted.first() else { return Ok(()) };
        if let Some(error) = &task.unreadable {
            return show(first.answer(None, true, Err(std::io::Error::other(error.clone()).into())));
        }
        let read = ReadOptions::default().with_threads(threads).with_limits(limits);
        let options = self.args.open.options(limits, self.formats);
        let opened = open_for_streaming(&first.address.file, Accept::ContainersAndArrays, &options, |_| {
            Some(Order::C)
        });
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => {
                let mut error = Some(error);
                for one in &task.wanted {
                    let error = error.take().unwrap_or_else(|| Error::usage("the file cannot be opened"));
                    show(one.answer(None, true, Err(error)))?;
                }
                return Ok(());
            }
        };
        let container = &*opened.container;
        tell(&first.address.file, &container.notices());
        for one in &task.wanted {
            let chosen = select(&one.address, container).and_then(|chosen| {
                match first_damage_of(&chosen, container) {
                    Some(error) => Err(error),
                    None => Ok(chosen),
                }
            });
            let chosen = match chosen {
                Ok(chosen) => chosen,
                Err(error) => {
                    show(one.answer(None, true, Err(error)))?;
                    continue;
                }
            };
            let is_exact = one.address.is_exact(container);
            for (index, region) in chosen {
                let path = container.dataset(index).map(|dataset| dataset.path.clone());
                let made =
                    meter.watch(|progress: Progress<'_>| digest(container, index, &region, &read, progress));
                show(one.answer(path, is_exact, made))?;
            }
        }
        Ok(())
    }

    /// As [`Work::run`], with all answers at once.
    fn answers(&self, task: &Task, share: &Share<'_>) -> Vec<Answer> {
        let mut answers = Vec::new();
        let mut keep = |answer| {
            answers.push(answer);
            Ok(())
        };
        // Only showing an answer fails.
        let _ = self.run(task, share.threads, share.limits, share.meter, &mut keep);
        answers
    }
}

/// Why nothing is chosen of a file, where that is damage.
fn first_damage_of<T>(chosen: &[T], container: &dyn container_core::container::Container) -> Option<Error> {
    if chosen.is_empty() { first_damage(container) } else { None }
}

impl Wanted {
    /// `path`: the dataset's, where one was found. `is_exact`: whether it is the one that is typed.
    fn answer(
        &self,
        path: Option<String>,
        is_exact: bool,
        made: container_core::Result<ArrayDigest>,
    ) -> Answer {
        let file = &self.address.file;
        let whole = self.address.dataset.is_none() && self.address.selection.is_none();
        // Names are the bytes as typed, which a list is checked by again; those of a URL are without what may be secret.
        let bytes = file.as_os_str().as_encoded_bytes();
        let name: Cow<'_, [u8]> =
            if is_url(file) { shown(file).into_bytes().into() } else { Cow::Borrowed(bytes) };
        let address = match &path {
            Some(path) if whole || !is_exact => {
                let selection = self.address.selection_of(path).map(|text| format!("[{text}]"));
                let path = [typed(path), selection.as_deref().unwrap_or_default()].concat();
                [&name, b"::".as_slice(), path.as_bytes()].concat()
            }
            _ => match self.typed.strip_prefix(bytes) {
                Some(rest) => [&name, rest].concat(),
                None => self.typed.clone(),
            },
        };
        Answer { address, file: shown(file), dataset: path, expected: self.expected, made }
    }
}
