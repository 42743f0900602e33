//! A request to stop and a failing disk, at reads of each fixture: the outcome is their error or that of an undisturbed run, and never a
//! finding or a dataset that is gone.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use container_core::container::{CheckDepth, OpenOptions, ReadOptions, all_datasets};
use container_core::dtype::Order;
use container_core::format::Input;
use container_core::region::Region;
use container_core::report::{Report, Verdict};
use container_core::source::{Access, Source, open_path};
use container_core::{Error, ErrorKind, Limits, Progress, Result, Stop};

use holdall::open::{Accept, open_source};

use crate::corpus;
use crate::manifest::{Fixture, all_fixtures, sha256};

/// The event at a read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// A stop is requested; the read succeeds.
    Stop,
    /// This read fails, and no other.
    FailOnce,
    /// This read and all later ones fail.
    FailFrom,
}

/// Bytes whose reads are counted, with an event at one of them.
struct Eventful {
    bytes: Vec<u8>,
    reads: Arc<AtomicU64>,
    at: u64,
    event: Event,
    flag: &'static AtomicBool,
}

impl Eventful {
    fn count(&self) -> Result<()> {
        let read = self.reads.fetch_add(1, Ordering::Relaxed);
        match self.event {
            Event::Stop if read == self.at => self.flag.store(true, Ordering::Relaxed),
            Event::FailOnce if read == self.at => return Err(failure()),
            Event::FailFrom if read >= self.at => return Err(failure()),
            _ => {}
        }
        Ok(())
    }
}

fn failure() -> Error {
    Error::from(io::Error::other("the disk failed"))
}

impl Source for Eventful {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.count()?;
        self.bytes.read_into(at, dst)
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        (self.event == Event::Stop).then(|| self.count().ok())??;
        self.bytes.lend(range)
    }

    fn read(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
        self.count()?;
        self.bytes.read(range)
    }
}

/// A dataset: its path, type and shape, and the digest of its values or the error of reading them.
type Seen = (String, String, Vec<u64>, std::result::Result<String, String>);

/// A run: the datasets of the opened file, and the report of a full check.
#[derive(Debug, PartialEq)]
struct Run {
    datasets: Vec<Seen>,
    report: Report,
}

fn run(fixture: &Fixture, source: Eventful) -> Result<Run> {
    let flag = source.flag;
    run_on(fixture, Input::bytes(Box::new(source)), flag)
}

fn run_on(fixture: &Fixture, input: Input, flag: &'static AtomicBool) -> Result<Run> {
    let limits = Limits::default().with_memory(64 << 20).with_stop(Stop::when(flag));
    let mut options = OpenOptions::default();
    options.limits = limits;
    let container = (corpus::format(&fixture.format).open)(input, &options)?;
    let read = ReadOptions::default().with_threads(1).with_limits(limits);
    let mut datasets = Vec::new();
    for (index, dataset) in all_datasets(&*container) {
        let array = container.read(index, &Region::whole(&dataset.shape), &read);
        let values = match array.and_then(|array| Ok(sha256(&array.bytes(Order::C, &limits)?))) {
            Err(error) if matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::Io(_)) => {
                return Err(error);
            }
            values => values.map_err(|error| error.to_string()),
        };
        datasets.push((dataset.path.clone(), dataset.dtype.to_string(), dataset.shape.clone(), values));
    }
    let report = container.check(CheckDepth::Full, &read, Progress::none())?;
    Ok(Run { datasets, report })
}

/// True for equal runs, and for two that find damage: what explains a fault may be what could not be read. Listings have no errors: a dataset whose
/// only failing read is that of its length is listed as empty, and of one on a failed disk each later read is an error.
fn is_alike(event: Event, outcome: &Run, plain: &Run) -> bool {
    let are_damaged = [outcome, plain].iter().all(|run| run.report.verdict() == Verdict::Damaged);
    let mut both = outcome.datasets.iter().zip(&plain.datasets);
    let is_listed_alike = |(a, b): (&Seen, &Seen)| match (&a.3, &b.3) {
        (Err(_), Err(_)) if a.2 == b.2 => a.0 == b.0,
        _ => a == b || event == Event::FailOnce && a.2 != b.2,
    };
    outcome.datasets.len() == plain.datasets.len()
        && both.all(is_listed_alike)
        && (are_damaged || outcome.report == plain.report)
}

/// The outcome of an operation, and its number of reads.
type Outcome<T> = (Result<T>, u64);

/// Runs an operation on each fixture in one file, with each event at every fourth read and at some later ones. Which of four it is depends on the
/// fixture: files of a kind make the same reads, and there are many of each kind.
fn at_each_read<T>(
    events: &[Event],
    operation: impl Fn(&Fixture, Eventful) -> Result<T>,
    is_alike: impl Fn(Event, &T, &T) -> bool,
    shown: impl Fn(&T) -> String,
    is_damage: impl Fn(&T) -> bool,
) {
    let flag: &'static AtomicBool = Box::leak(Box::default());
    let mut wrong = Vec::new();
    for (number, fixture) in
        (0_u64..).zip(all_fixtures().into_iter().filter(|fixture| fixture.files.is_none()))
    {
        let bytes = fixture.bytes();
        for event in events.iter().copied() {
            let run = |at: u64| -> Outcome<T> {
                flag.store(false, Ordering::Relaxed);
                let reads = Arc::new(AtomicU64::new(0));
                let source = Eventful { bytes: bytes.clone(), reads: reads.clone(), at, event, flag };
                (operation(&fixture, source), reads.load(Ordering::Relaxed))
            };
            let (plain, count) = run(u64::MAX);
            for at in (number % 4..count.min(48)).step_by(4).chain((48 + number % 31..count).step_by(31)) {
                let (outcome, _) = run(at);
                let is_right = match (&outcome, &plain) {
                    (Ok(outcome), Ok(plain)) => is_alike(event, outcome, plain),
                    (Err(error), plain) => match error.kind() {
                        ErrorKind::Cancelled => event == Event::Stop,
                        ErrorKind::Io(error) => {
                            event != Event::Stop && error.to_string() == "the disk failed"
                        }
                        // What is recovered of a damaged file, or the better of two explanations, could not be read.
                        _ => match plain {
                            Ok(plain) => error.is_damage() && is_damage(plain),
                            Err(plain) => plain.is_damage() == error.is_damage(),
                        },
                    },
                    (Ok(_), Err(_)) => false,
                };
                if !is_right {
                    let outcome = outcome.map_or_else(|error| error.to_string(), |outcome| shown(&outcome));
                    wrong.push(format!("{} {event:?} at {at} of {count}: {outcome:.300}", fixture.path));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn interruptions_are_not_findings() {
    at_each_read(
        &[Event::Stop, Event::FailOnce, Event::FailFrom],
        run,
        is_alike,
        |run| format!("{:?}, {:?}", run.datasets, run.report.findings),
        |run| run.report.verdict() == Verdict::Damaged,
    );
}

/// A repair that is stopped fails, instead of listing what it has not looked at as lost. Bytes that a disk does not give are lost.
#[test]
fn stopped_repairs_lose_nothing() {
    at_each_read(
        &[Event::Stop],
        |fixture, source| {
            let mut options = OpenOptions::default();
            options.limits = options.limits.with_memory(64 << 20).with_stop(Stop::when(source.flag));
            let repair = corpus::format(&fixture.format).repair.expect("the format repairs");
            let mut repaired = Vec::new();
            let input = Input::bytes(Box::new(source));
            let report = repair(input, &options, Some(&mut repaired), Progress::none())?;
            Ok((repaired, report))
        },
        |_, outcome, plain| outcome == plain,
        |(repaired, report)| format!("{} bytes, {report:?}", repaired.len()),
        |_| false,
    );
}

/// Bytes before a file, which are looked through for its start.
#[test]
fn interruptions_do_not_hide_the_start_of_a_file() {
    let flag: &'static AtomicBool = Box::leak(Box::default());
    for name in ["rawarray/ok/be_c8_6.ra", "gsd/ok/shape_scalar.gsd", "asdf/ok/codec_zlib.asdf"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata").join(name);
        let bytes = [b"12345".to_vec(), std::fs::read(&path).unwrap()].concat();
        for event in [Event::Stop, Event::FailOnce, Event::FailFrom] {
            let open = |at: u64| {
                flag.store(false, Ordering::Relaxed);
                let reads = Arc::new(AtomicU64::new(0));
                let source = Eventful { bytes: bytes.clone(), reads: reads.clone(), at, event, flag };
                let mut options = OpenOptions::default();
                options.limits = options.limits.with_stop(Stop::when(flag));
                let opened = open_source(Box::new(source), None, Accept::Containers, &options);
                (opened.unwrap_err(), reads.load(Ordering::Relaxed))
            };
            let (plain, count) = open(u64::MAX);
            assert!(plain.to_string().contains("begins at byte 5"), "{name}: {plain}");
            for at in 0..count {
                let (error, _) = open(at);
                let is_right = error.is_transient() || error.to_string() == plain.to_string();
                assert!(is_right, "{name} {event:?} at {at} of {count}: {error}");
            }
        }
    }
}

/// Folders, whose files the format opens: a stop that was requested before.
#[test]
fn stopped_folders_are_cancelled() {
    let flag: &'static AtomicBool = Box::leak(Box::default());
    let mut cancelled = 0;
    for fixture in all_fixtures().into_iter().filter(|fixture| fixture.files.is_some()) {
        let run = |is_stopped| {
            flag.store(is_stopped, Ordering::Relaxed);
            let path = fixture.main.as_ref().map(|main| fixture.full_path.join(main));
            let source = path.as_ref().map(|path| open_path(path, Access::Auto, &Limits::default()));
            let path = Some(path.unwrap_or_else(|| fixture.full_path.clone()));
            run_on(&fixture, Input { source: source.transpose()?, path }, flag)
        };
        match (run(true), run(false)) {
            (Err(error), _) if matches!(error.kind(), ErrorKind::Cancelled) => cancelled += 1,
            (Err(error), Err(plain)) if error.to_string() == plain.to_string() => {}
            (Ok(stopped), Ok(plain)) if stopped == plain => {}
            (stopped, plain) => panic!("{}: {stopped:?}, without a stop {plain:?}", fixture.path),
        }
    }
    assert!(cancelled > 20, "{cancelled}");
}
