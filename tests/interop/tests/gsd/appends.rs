//! One file, to which one after the other appends.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use container_core::dtype::DType;
use gsd::{ChunkType, Commit, CommitScheme, Durability};
use hoomd_gsd::file_layer::{GsdFile, Mode};
use interop::gsd_calls::{options, pattern, run};
use interop::json_peer::folder;

use crate::calls::{Random, expected, frames};
use crate::listing::{hoomd_gsd, ours};
use crate::peers::{Gsd, assert_chunks, assert_same, gsd};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Atomic,
    Reference,
    Newest,
    Old,
    HoomdGsd,
}

const EVERYONE: [Who; 5] = [Who::Atomic, Who::Reference, Who::Newest, Who::Old, Who::HoomdGsd];

fn write(who: Who, script: &str, path: &Path) {
    let options = options().with_commit(Commit::Every(2)).with_durability(Durability::Cached);
    let written = match who {
        Who::Atomic => run(script, path, &options),
        Who::Reference => run(script, path, &options.with_scheme(CommitScheme::Reference)),
        _ => by_hoomd_gsd(script, path),
    };
    written.unwrap_or_else(|error| panic!("{} by {who:?}: {error:#}\n{script}", path.display()));
}

fn by_hoomd_gsd(script: &str, path: &Path) -> anyhow::Result<()> {
    let mut file = if script.starts_with("open w") {
        GsdFile::create(path, "calls", "none", (1, 2))?
    } else {
        GsdFile::open(path, Mode::Write)?
    };
    for call in script.lines() {
        match call.split_whitespace().collect::<Vec<_>>()[..] {
            ["chunk", name, dtype, n, m, seed] => {
                let size = ChunkType::from_dtype(&DType::parse(dtype)?).unwrap().size() as usize;
                let bytes = pattern(seed.parse()?, n.parse::<usize>()? * m.parse::<usize>()? * size);
                chunk(&mut file, name, dtype, m, &bytes)?;
            }
            ["end"] => file.end_frame()?,
            ["flush"] => file.sync_all()?,
            _ => {}
        }
    }
    Ok(file.sync_all()?)
}

fn chunk(file: &mut GsdFile, name: &str, dtype: &str, m: &str, bytes: &[u8]) -> anyhow::Result<()> {
    macro_rules! numbers {
        ($type:ty) => {{
            let values: Vec<$type> = bytemuck::pod_collect_to_vec(bytes);
            match m {
                "1" => file.write_scalars(name, values)?,
                "2" => file.write_arrays(name, values.as_chunks::<2>().0.iter().copied())?,
                "3" => file.write_arrays(name, values.as_chunks::<3>().0.iter().copied())?,
                _ => file.write_arrays(name, values.as_chunks::<4>().0.iter().copied())?,
            }
        }};
    }
    match dtype {
        "u1" => numbers!(u8),
        "u2" => numbers!(u16),
        "u4" => numbers!(u32),
        "u8" => numbers!(u64),
        "i1" => numbers!(i8),
        "i2" => numbers!(i16),
        "i4" => numbers!(i32),
        "i8" => numbers!(i64),
        "f4" => numbers!(f32),
        _ => numbers!(f64),
    }
    Ok(())
}

#[test]
fn each_appends_to_what_the_others_wrote() {
    const FILES: usize = 10;
    const ROUNDS: usize = 5;
    let folder = folder();
    let paths: Vec<PathBuf> = (0..FILES).map(|at| folder.path().join(format!("{at}.gsd"))).collect();
    let mut whole = vec![String::new(); FILES];
    let mut names = vec![Vec::new(); FILES];
    let mut random = Random(2026);
    for round in 0..ROUNDS {
        let mut theirs: BTreeMap<Who, Vec<&OsStr>> = BTreeMap::new();
        let sessions: Vec<PathBuf> = paths.iter().map(|path| path.with_extension("calls")).collect();
        for at in 0..FILES {
            // Files 0 to 4 take turns one way, 5 to 9 the other, so that each follows each.
            let who = if at < 5 { (at + round) % 5 } else { (at + 2 * round) % 5 };
            let many = random.below(3) == 0;
            let count = if many { 40 } else { 1 + random.below(6) };
            let mode = if round == 0 { "w" } else { "r+" };
            let mut script = format!("open {mode}\n{}", frames(&mut random, count, &mut names[at]));
            script += "chunk last u1 3 1 5\nend\nclose\n";
            std::fs::write(&sessions[at], &script).unwrap();
            match EVERYONE[who] {
                who @ (Who::Newest | Who::Old) => {
                    theirs.entry(who).or_default().extend([sessions[at].as_os_str(), paths[at].as_os_str()]);
                }
                who => write(who, &script, &paths[at]),
            }
            whole[at] += &script;
        }
        for (who, args) in theirs {
            let release = if who == Who::Newest { Gsd::Newest } else { Gsd::Old };
            gsd(release, [OsStr::new("calls")].into_iter().chain(args));
        }
        for (path, script) in paths.iter().zip(&whole) {
            let expected = expected(script);
            assert_same(&ours(path), &expected, &format!("{} here, round {round}", path.display()));
            assert_same(&hoomd_gsd(path), &expected, &format!("{} hoomd-gsd, round {round}", path.display()));
        }
        let releases: &[Gsd] = if round + 1 == ROUNDS { &[Gsd::Newest, Gsd::Old] } else { &[Gsd::Newest] };
        for release in releases {
            assert_chunks(*release, folder.path(), |path| {
                let at: usize = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
                expected(&whole[at])
            });
        }
    }
}
