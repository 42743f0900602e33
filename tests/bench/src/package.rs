//! The Python package against asdf, blosc2, bloscpack, gsd, h5py and numpy: all in one Python process.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use interop::peer::Peer;

use crate::harness::{Claim, Contender, Group, Run, Unit};
use crate::scratch::Scratch;

/// Places and peers of all groups.
pub struct Job<'a> {
    /// The folder of the files.
    pub scratch: &'a Scratch,
    /// The Python that has all of them.
    pub python: RefCell<Peer>,
    /// MiB of an array.
    pub mib: usize,
}

/// Makes groups that belong together.
pub type Groups = for<'a> fn(&'a Job<'a>) -> Result<Vec<Group<'a>>>;

/// All groups, by the word that selects them.
pub const GROUPS: &[(&str, Groups)] = &[
    ("import", import),
    ("read", read),
    ("cutout", cutout),
    ("view", view),
    ("call", call),
    ("open", open),
    ("frames", frames),
    ("log", log),
];

const OURS: &str = "holdall";
const OURS_TWO: &str = "holdall, 2 threads";
const COMPARED: &str = "holdall, 2 threads, digest compared";
const NUMPY: &str = "numpy";
const H5PY: &str = "h5py";

/// Rows and columns of an array are as in the script: this many columns.
const SIDE: usize = 4096;

fn import<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let names = [
        (OURS, "holdall"),
        ("holdall, numpy", "holdall, numpy"),
        (NUMPY, "numpy"),
        ("asdf", "asdf"),
        ("blosc2", "blosc2"),
        ("gsd.hoomd", "gsd.hoomd"),
        (H5PY, "h5py"),
    ];
    let contenders = names.map(|(name, module)| job.contender(name, &["import", module]));
    Ok(vec![Group {
        title: "Import in a new interpreter".into(),
        unit: Unit::Time,
        contenders: contenders.into(),
        claims: vec![
            Claim::AtMost(OURS, 100_000.0),
            Claim::Speed(OURS, "asdf", None),
            Claim::Speed(OURS, "blosc2", None),
            Claim::Speed(OURS, "gsd.hoomd", None),
        ],
    }])
}

/// A format and codec whose array is read whole.
struct Whole {
    kind: &'static str,
    title: &'static str,
    peer: &'static str,
    /// The peer uses a second thread where it is given one.
    has_threads: bool,
    /// The file of the peer holds digests, or the peer compares what there is.
    has_digest: bool,
}

const WHOLE_READS: &[Whole] = &[
    Whole { kind: "asdf:none", title: "ASDF, plain", peer: "asdf", has_threads: false, has_digest: true },
    Whole { kind: "asdf:zlib", title: "ASDF, zlib", peer: "asdf", has_threads: false, has_digest: true },
    Whole { kind: "asdf:bzp2", title: "ASDF, bzp2", peer: "asdf", has_threads: false, has_digest: true },
    Whole { kind: "asdf:lz4", title: "ASDF, lz4", peer: "asdf", has_threads: false, has_digest: true },
    Whole { kind: "b2nd:lz4", title: "b2nd, lz4", peer: "blosc2", has_threads: true, has_digest: false },
    Whole { kind: "b2nd:zstd", title: "b2nd, zstd", peer: "blosc2", has_threads: true, has_digest: false },
    Whole {
        kind: "blp:blosclz",
        title: "Bloscpack, blosclz",
        peer: "bloscpack",
        has_threads: true,
        has_digest: true,
    },
    Whole { kind: "ra", title: "RawArray", peer: NUMPY, has_threads: false, has_digest: false },
];

fn read<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    WHOLE_READS.iter().map(|whole| read_one(job, whole)).collect()
}

fn read_one<'a>(job: &'a Job<'a>, whole: &Whole) -> Result<Group<'a>> {
    let path = job.made(whole.kind)?;
    // No other package reads RawArray as fast as numpy its own format.
    let other = if whole.peer == NUMPY { job.made("npy")? } else { path.clone() };
    let (path, other) = (text(&path)?, text(&other)?);
    // What the peer does by default: asdf compares no digest, bloscpack every one.
    let digests = if whole.peer == "bloscpack" { "compare" } else { "ignore" };
    let ours = format!("holdall:{digests}");
    let mut contenders = vec![
        job.contender(OURS, &["load", "cpu", &ours, "1", path]),
        job.contender(OURS_TWO, &["load", "wall", &ours, "2", path]),
    ];
    let mut claims = vec![Claim::Speed(OURS, whole.peer, Some(1.0))];
    if whole.has_digest && digests == "ignore" {
        contenders.push(job.contender(COMPARED, &["load", "wall", "holdall:whole", "2", path]));
        // A digest may cost a tenth of the time where a block is decoded, next to the hashing; a plain block is copied in less time than hashing takes.
        claims.push(Claim::Speed(COMPARED, OURS_TWO, (whole.kind != "asdf:none").then_some(0.91)));
        claims.push(Claim::Speed(COMPARED, whole.peer, None));
    }
    contenders.push(job.contender(whole.peer, &["load", "cpu", whole.peer, "1", other]));
    if whole.has_threads {
        let two: &'static str =
            if whole.peer == "blosc2" { "blosc2, 2 threads" } else { "bloscpack, 2 threads" };
        contenders.push(job.contender(two, &["load", "wall", whole.peer, "2", other]));
        claims.push(Claim::Speed(OURS_TWO, two, Some(1.3)));
    } else {
        claims.push(Claim::Speed(OURS_TWO, whole.peer, Some(1.3)));
    }
    let hdf5 = match whole.kind {
        "asdf:none" | "ra" => Some("h5"),
        "asdf:zlib" => Some("h5:gzip"),
        _ => None,
    };
    if let Some(kind) = hdf5 {
        let file = job.made(kind)?;
        contenders.push(job.contender(H5PY, &["load", "cpu", "h5py", "1", text(&file)?]));
        claims.push(Claim::Speed(OURS, H5PY, None));
    }
    let title = format!("Open a file, and read its array into new memory: {}", whole.title);
    Ok(Group { title, unit: Unit::Rate((job.mib as u64) << 20), contenders, claims })
}

fn cutout<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let rows = job.mib * (1 << 17) / SIDE;
    let middle = (rows / 2).to_string();
    let cases = [
        ("asdf:none", "asdf", "10 × 10 elements in the middle: ASDF, plain", middle.as_str(), "10", "10"),
        ("asdf:zlib", "asdf", "10 × 10 elements at the top: ASDF, zlib", "0", "10", "10"),
        ("asdf:zlib", "asdf", "10 × 10 elements in the middle: ASDF, zlib", middle.as_str(), "10", "10"),
        (
            "b2nd:zstd",
            "blosc2",
            "100 × 100 elements in the middle: b2nd, zstd",
            middle.as_str(),
            "100",
            "100",
        ),
        ("b2nd:zstd", "blosc2", "A row in the middle: b2nd, zstd", middle.as_str(), "1", "4096"),
        ("npy", NUMPY, "10 × 10 elements in the middle: .npy", middle.as_str(), "10", "10"),
    ];
    cases
        .into_iter()
        .map(|(kind, peer, title, row, rows, columns)| {
            let path = job.made(kind)?;
            let words =
                |who| ["cutout", "wall", who, text(&path).unwrap_or_default(), row, "7", rows, columns];
            let contenders = vec![job.contender(OURS, &words("holdall")), job.contender(peer, &words(peer))];
            let claims = vec![Claim::Speed(OURS, peer, None)];
            Ok(Group {
                title: format!("Open a file, and read {title}"),
                unit: Unit::Time,
                contenders,
                claims,
            })
        })
        .collect()
}

fn view<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    [1, 64]
        .into_iter()
        .map(|gib: u64| {
            let make = |kind: &str| -> Result<PathBuf> {
                let path = job.scratch.file(&format!("hole-{gib}.{kind}"));
                job.python(&["hole", text(&path)?, kind, &gib.to_string()])?;
                Ok(path)
            };
            let (ours, numpy) = (make("ra")?, make("npy")?);
            Ok(Group {
                title: format!("Open a plain file of {gib} GiB, and view its array"),
                unit: Unit::Time,
                contenders: vec![
                    job.contender(OURS, &["view", text(&ours)?]),
                    job.contender("numpy memmap", &["memmap", text(&numpy)?]),
                ],
                claims: vec![Claim::AtMost(OURS, 1000.0), Claim::Speed(OURS, "numpy memmap", None)],
            })
        })
        .collect()
}

fn call<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let file = |kind: &str| job.small(kind);
    let (ra, npy, h5, asdf, b2nd) = (file("ra")?, file("npy")?, file("h5")?, file("asdf")?, file("b2nd")?);
    let words = |who, times, path| -> Result<[&str; 4]> { Ok(["call", who, times, text(path)?]) };
    let plain = "holdall, RawArray";
    let encoded = "holdall, b2nd";
    Ok(vec![Group {
        title: "Ten elements of an open array, `data[0:10]`".into(),
        unit: Unit::Time,
        contenders: vec![
            job.contender(plain, &words("holdall", "20000", &ra)?),
            job.contender("holdall, ASDF", &words("holdall", "20000", &asdf)?),
            job.contender(encoded, &words("holdall", "5000", &b2nd)?),
            job.contender("numpy memmap, copied", &words(NUMPY, "20000", &npy)?),
            job.contender("asdf, copied", &words("asdf", "20000", &asdf)?),
            job.contender("blosc2", &words("blosc2", "2000", &b2nd)?),
            job.contender(H5PY, &words(H5PY, "5000", &h5)?),
        ],
        claims: vec![
            Claim::AtMost(plain, 5.0),
            Claim::AtMost("holdall, ASDF", 5.0),
            Claim::Speed(encoded, "blosc2", None),
            Claim::Speed(plain, H5PY, None),
        ],
    }])
}

fn open<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let cases = [
        ("asdf", "ASDF", "holdall", "asdf", "200", Some(5.0)),
        ("b2nd", "b2nd", "holdall", "blosc2", "2000", Some(5.0)),
        ("blp", "Bloscpack", "holdall", "bloscpack", "2000", None),
        ("gsd", "GSD", "holdall.gsd", "gsd.hoomd", "2000", Some(5.0)),
        ("npy", ".npy", "holdall", NUMPY, "2000", None),
    ];
    let mut groups = Vec::new();
    for (kind, title, ours, peer, times, goal) in cases {
        let path = job.small(kind)?;
        let mut contenders = vec![
            job.contender(OURS, &["opens", ours, "10000", text(&path)?]),
            job.contender(peer, &["opens", peer, times, text(&path)?]),
        ];
        let mut claims = vec![Claim::Speed(OURS, peer, goal)];
        if kind == "asdf" {
            let file = job.small("h5")?;
            contenders.push(job.contender(H5PY, &["opens", H5PY, "2000", text(&file)?]));
            claims.push(Claim::Speed(OURS, H5PY, None));
        }
        groups.push(Group {
            title: format!("Open small files 10,000 times, µs for each: {title}"),
            unit: Unit::Time,
            contenders,
            claims,
        });
    }
    Ok(groups)
}

fn frames<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let path = job.made("gsd")?;
    let path = text(&path)?;
    let words = |clock, who, threads| ["trajectory", clock, who, threads, path];
    let stack = "holdall.gsd, stack";
    let single = "holdall.gsd, frame by frame";
    let frames = (job.mib as u64 * (1 << 20) / 1_200_000).max(1);
    Ok(vec![Group {
        title: "Open a trajectory of 100,000 particles, and read the positions of all frames".into(),
        unit: Unit::Rate(frames * 1_200_000),
        contenders: vec![
            job.contender(stack, &words("cpu", "holdall.gsd", "1")),
            job.contender(OURS, &words("cpu", "holdall", "1")),
            job.contender(OURS_TWO, &words("wall", "holdall", "2")),
            job.contender(single, &words("cpu", "holdall.gsd frames", "1")),
            job.contender("gsd.hoomd", &words("cpu", "gsd.hoomd", "1")),
            job.contender("gsd.fl", &words("cpu", "gsd.fl", "1")),
        ],
        claims: vec![
            Claim::Speed(stack, "gsd.hoomd", Some(1.0)),
            Claim::Speed(OURS, "gsd.fl", Some(1.0)),
            Claim::Speed(OURS_TWO, "gsd.fl", Some(1.3)),
            Claim::Speed(single, "gsd.hoomd", Some(1.0)),
        ],
    }])
}

fn log<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let path = job.made("log")?;
    let words = |who| -> Result<[&str; 4]> { Ok(["logs", "wall", who, text(&path)?]) };
    Ok(vec![Group {
        title: "Read the table of 10 quantities of 10,000 frames".into(),
        unit: Unit::Time,
        contenders: vec![
            job.contender(OURS, &words("holdall")?),
            job.contender("gsd.hoomd", &words("gsd")?).at_most(3),
        ],
        claims: vec![Claim::Speed(OURS, "gsd.hoomd", Some(20.0))],
    }])
}

impl Job<'_> {
    fn python(&self, words: &[&str]) -> Result<Run> {
        Ok(self.python.borrow_mut().measure(words[0], &words[1..])?.into())
    }

    fn contender(&self, name: &'static str, words: &[&str]) -> Contender<'_> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Contender::new(name, move || {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            self.python(&words)
        })
    }

    /// A file of `kind`, made by the peer now if it is not there.
    fn made(&self, kind: &str) -> Result<PathBuf> {
        let extension = kind.split(':').next().unwrap_or(kind);
        let extension = if extension == "log" { "gsd" } else { extension };
        let path = self.scratch.file(&format!("{}.{extension}", kind.replace(':', "-")));
        if !path.exists() {
            self.python(&["make", kind, &self.mib.to_string(), text(&path)?])?;
            self.scratch.settle()?;
        }
        Ok(path)
    }

    fn small(&self, kind: &str) -> Result<PathBuf> {
        let path = self.scratch.file(&format!("small.{kind}"));
        if !path.exists() {
            self.python(&["make", &format!("small:{kind}"), "0", text(&path)?])?;
        }
        Ok(path)
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is no text")
}
