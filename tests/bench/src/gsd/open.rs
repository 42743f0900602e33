//! Opening files with a large index: by the reference's probes, or every entry checked.

use anyhow::{Context as _, Result, ensure};
use container_core::Limits;
use container_core::source::{Access, open_path};
use gsd::{OpenOptions, Strictness};
use hoomd_gsd::file_layer::{GsdFile, Mode};

use super::{C, CRATE, Job, OURS, PYTHON, text, words};
use crate::harness::{Claim, Contender, Group, Unit, mean, timed};

/// Opens per round.
const TIMES: u32 = 50;

pub(super) fn open<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let mut groups = Vec::new();
    for full in [100_000, 1_000_000] {
        let frames = job.frames(full);
        let path = job.scalars(frames)?;
        let times = TIMES.to_string();
        let python = words(&["open", text(&path)?, &times]);
        let (ours, theirs) = (path.clone(), path.clone());
        let contenders = vec![
            Contender::new(OURS, move || {
                mean(TIMES, || {
                    ensure!(gsd::File::open(&ours)?.nframes() == frames);
                    Ok(())
                })
            }),
            Contender::new(CRATE, move || {
                mean(TIMES, || {
                    ensure!(GsdFile::open(&theirs, Mode::Read)?.n_frames() == frames);
                    Ok(())
                })
            }),
            Contender::new(PYTHON, move || {
                let words: Vec<&str> = python.iter().map(String::as_str).collect();
                job.python(&words)
            }),
        ];
        let mut group = Group {
            title: format!("Open a file with {} chunks, and close it", frames * 10),
            unit: Unit::Time,
            contenders,
            claims: vec![Claim::AtMost(OURS, 100.0), Claim::Speed(OURS, C, None)],
        };
        job.with_c(&mut group, C, words(&["open", text(&path)?, &times]));
        groups.push(group);
    }
    groups.push(strict(job)?);
    Ok(groups)
}

/// Every slot of the index is checked; a sum of its words is the least that reading it costs. All of them map the file anew.
fn strict<'a>(job: &'a Job<'a>) -> Result<Group<'a>> {
    let frames = job.frames(1_000_000);
    let path = job.scalars(frames)?;
    let range = gsd::File::open(&path)?.header().index_range().context("no index")?;
    let bytes = range.end - range.start;
    let opened = |strictness: Strictness| {
        let path = path.clone();
        let options = OpenOptions::default().with_strictness(strictness);
        move || {
            timed(
                || Ok(gsd::File::open_with(&path, &options)?),
                |file| {
                    ensure!(file.nframes() == frames);
                    Ok(None)
                },
            )
        }
    };
    let contenders = vec![
        Contender::new("holdall, strict", opened(Strictness::Strict)),
        Contender::new("holdall, lenient", opened(Strictness::Lenient)),
        Contender::new("a sum of the index's words", move || {
            let work = || {
                let map = open_path(&path, Access::Auto, &Limits::default())?;
                let (words, _) = map.lend(range.clone()).context("the map lends nothing")?.as_chunks::<8>();
                Ok(words.iter().fold(0_u64, |sum, word| sum.wrapping_add(u64::from_ne_bytes(*word))))
            };
            timed(work, |sum| {
                ensure!(*sum != 0);
                Ok(None)
            })
        }),
    ];
    Ok(Group {
        title: format!("Open a file, and check its {} index entries and {} slots", frames * 10, bytes / 32),
        unit: Unit::Rate(bytes),
        contenders,
        claims: vec![
            Claim::Speed("holdall, strict", "a sum of the index's words", Some(0.5)),
            Claim::Speed("holdall, lenient", "a sum of the index's words", None),
        ],
    })
}
