//! Opening a file, and closing it.

use anyhow::Result;
use blosc2_frame::b2nd::NdArray;
use blosc2_frame::{Frame, OpenOptions};
use container_core::source::Access;

use super::{C, C_MAPPED, Job, OURS, PURE, PYTHON, ZARRS, clocked, other, text};
use crate::harness::{Claim, Contender, Group, Run, Unit};

/// Times in a round.
const TIMES: u32 = 500;

const POSITIONED: &str = "holdall, not mapped";

pub(super) fn open<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let (frame, array, zarr) = (job.frame("lz4", 5)?, job.array("lz4")?, job.zarr("lz4")?);
    let mut groups = Vec::new();
    for (kind, path) in [("frame", &frame), ("array", &array)] {
        let ours = |name: &'static str, access: Access| {
            let path = path.clone();
            let mut options = OpenOptions::default();
            options.access = access;
            Contender::new(name, move || {
                let work = || {
                    for _ in 0..TIMES {
                        let frame = Frame::open_with(&path, &options)?;
                        if kind == "array" {
                            NdArray::from_frame(frame)?;
                        }
                    }
                    Ok(())
                };
                Ok(Run { seconds: clocked(1, work)? / f64::from(TIMES), check: None })
            })
        };
        let (path_word, times) = (text(path)?, TIMES.to_string());
        let words = |access| ["open", path_word, &times, kind, access];
        let mut contenders = vec![
            ours(OURS, Access::Auto),
            ours(POSITIONED, Access::Positioned),
            other(C, &job.c, &words("file")),
            other(C_MAPPED, &job.c, &words("mapped")),
            other(PYTHON, &job.python, &words("file")),
            other(PURE, &job.pure, &["open", path_word, "3", kind, "file"]).at_most(1),
        ];
        if kind == "array" {
            contenders.push(other(ZARRS, &job.zarrs, &["open", text(&zarr)?, &times, kind, "file"]));
        }
        groups.push(Group {
            title: format!("Open {} {kind}, and close it", if kind == "array" { "an" } else { "a" }),
            unit: Unit::Time,
            contenders,
            claims: vec![
                Claim::Speed(OURS, C, Some(1.0)),
                Claim::AtMost(OURS, 70.0),
                Claim::Speed(POSITIONED, C, None),
            ],
        });
    }
    Ok(groups)
}
