//! Opening files with a large index: by the reference's probes, or every entry checked.

use anyhow::{Result, ensure};
use gsd::{OpenOptions, Policy};
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

/// Every entry of the index is checked; a sum of its words is the least that reading it costs.
fn strict<'a>(job: &'a Job<'a>) -> Result<Group<'a>> {
    let frames = job.frames(1_000_000);
    let path = job.scalars(frames)?;
    let bytes = frames * 10 * 32;
    let map = gsd::File::open(&path)?;
    let plain = move || {
        let range = map.layout().used_index();
        let work = || {
            let index = map.source().read(range)?;
            let (words, _) = index.as_chunks::<8>();
            Ok(words.iter().fold(0_u64, |sum, word| sum.wrapping_add(u64::from_ne_bytes(*word))))
        };
        timed(work, |sum| Ok((*sum == 0).then_some(0)))
    };
    let opened = |policy: Policy| {
        let path = path.clone();
        let options = OpenOptions::default().with_policy(policy);
        move || {
            timed(
                || Ok(gsd::File::open_with(&path, &options)?),
                |file| Ok((file.nframes() != frames).then_some(0)),
            )
        }
    };
    Ok(Group {
        title: format!("Open a file, and check all of its {} index entries", frames * 10),
        unit: Unit::Rate(bytes),
        contenders: vec![
            Contender::new("holdall, strict", opened(Policy::Strict)),
            Contender::new("holdall, lenient", opened(Policy::Lenient)),
            Contender::new("a sum of the index's words", plain),
        ],
        claims: vec![Claim::Speed("holdall, strict", "a sum of the index's words", Some(0.5))],
    })
}
