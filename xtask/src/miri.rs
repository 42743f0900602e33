//! `miri`: tests under an interpreter that finds undefined behaviour, as this machine or as a big-endian one.

use anyhow::Result;

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, cross, flags};

pub(crate) fn miri(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [big_endian] = flags(args, ["--big-endian"])?;
    if Step::cargo_of(repo, "nightly").args(["miri", "--version"]).stdout().is_err() {
        let install = "rustup component add miri rust-src --toolchain nightly";
        return Ok(Outcome::NotRun(format!("Miri is not installed: {install}")));
    }
    let other = match big_endian.then(cross::big_endian).transpose() {
        Ok(other) => other,
        Err(lack) => return Ok(Outcome::NotRun(lack)),
    };
    for run in RUNS {
        let mut step = Step::cargo_of(repo, "nightly")
            .args(["miri", "test", "--package", run.package, "--lib"])
            .args(run.features)
            .env("MIRIFLAGS", FLAGS)
            .env("PROPTEST_CASES", "2");
        if let Some(other) = &other {
            step = step.args(["--target", other.target]).env(&other.variable, other.gcc);
        }
        step.arg("--").args(run.tests).args(run.not.iter().flat_map(|test| ["--skip", test])).run()?;
    }
    Ok(Outcome::Done)
}

/// The clock and the disk are those of this machine. And who may look through which pointer is not followed, which takes half of the time: only
/// code that is `unsafe` can be wrong about it, and of ours that is maps, vectors and one call for MD5, of which Miri runs next to nothing.
const FLAGS: &str = "-Zmiri-disable-isolation -Zmiri-disable-stacked-borrows";

/// Tests of one package. Those with long data, which take minutes, carry the reason in the code.
struct Run {
    package: &'static str,
    features: &'static [&'static str],
    /// Parts of the names of the tests, all where there are none, and of those that are left out.
    tests: &'static [&'static str],
    not: &'static [&'static str],
}

const RUNS: &[Run] = &[
    Run {
        package: "holdall-container-core",
        features: &["--features", "journal,serde"],
        tests: &[],
        // Files, of which Miri has the simplest alone.
        not: &["source::late::", "write::directory::", "write::storage::", "write::tests::"],
    },
    Run {
        package: "holdall-container-codecs",
        // Without the other codecs: they are the libraries of others, one of them in C.
        features: &["--no-default-features", "--features", "checksums,lz4,zlib"],
        tests: &[],
        not: &[],
    },
    Run {
        package: "holdall-blosc-chunk",
        features: &[],
        // The plain form of the kernels, which Miri takes for want of vectors. Not what decodes zstd, which is C.
        tests: &[
            "simd::",
            "filters::",
            "special::",
            "header::",
            "lz4::",
            "blosclz::",
            "ndlz::",
            "decode::tests::stored::",
            "encode::tests::every_length_and_typesize",
            "encode::tests::odd_tails",
            "encode::tests::differences_after_a_lossy_filter",
            "encode::tests::streams_of_one_byte",
            "encode::tests::vectors_of_c_blosc2",
            "encode::tests::blocks_of_any_length",
        ],
        not: &[],
    },
];
