//! Finding chunks in a large index.

use anyhow::{Context as _, Result};
use hoomd_gsd::file_layer::{GsdFile, Mode};

use super::{C, CRATE, Job, OURS, Visit, text, words};
use crate::harness::{Claim, Contender, Group, Unit, timed};

/// Names of each frame, as in the peer.
pub(super) const NAMES: u64 = 10;

pub(super) fn find<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let frames = job.frames(100_000);
    let path = job.scalars(frames)?;
    let mut groups = Vec::new();
    for visit in Visit::BOTH {
        let count = frames * NAMES;
        let names: Vec<String> = (0..NAMES).map(|at| format!("log/{at}")).collect();
        let (file, ours) = (gsd::File::open(&path)?, names.clone());
        let ours = Contender::new(OURS, move || {
            let work = || {
                let mut locations = 0_u64;
                for at in 0..count {
                    let which = visit.index(at, count);
                    let name = &ours[(which % NAMES) as usize];
                    let entry = file.find_chunk(which / NAMES, name).context("no chunk")?;
                    locations = locations.wrapping_add(entry.location as u64);
                }
                Ok(locations)
            };
            timed(work, |locations| Ok(Some(*locations)))
        });
        let theirs = GsdFile::open(&path, Mode::Read)?;
        let theirs = Contender::new(CRATE, move || {
            let work = || {
                let mut rows = 0;
                for at in 0..count {
                    let which = visit.index(at, count);
                    let name = &names[(which % NAMES) as usize];
                    rows += theirs.find_chunk(which / NAMES, name).context("no chunk")?.rows();
                }
                Ok(rows)
            };
            timed(work, |rows| Ok((*rows != count).then_some(0)))
        });
        let mut group = Group {
            title: format!("Find chunks among {count}, {}", visit.name()),
            unit: Unit::Each(count, "chunk"),
            contenders: vec![ours, theirs],
            claims: vec![Claim::Speed(OURS, C, Some(1.0)), Claim::Speed(OURS, CRATE, None)],
        };
        if visit == Visit::Sequential {
            group.claims.push(Claim::AtMost(OURS, 0.05));
        }
        job.with_c(&mut group, C, words(&["find", text(&path)?, &count.to_string(), visit.name()]));
        groups.push(group);
    }
    Ok(groups)
}
