//! Whole arrays, written and read.

use std::fs;
use std::rc::Rc;

use anyhow::Result;
use blosc2_frame::b2nd::{NdArray, NdOptions, NdWriter};
use container_core::array::Array;
use container_core::container::ReadOptions;
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use container_core::write::{AtomicFile, Durability, Overwrite};

use super::{BLOCKS, C, C_TWO, CHUNKS, Job, OURS, OURS_TWO, PYTHON, PYTHON_TWO, ZARRS, ZARRS_TWO};
use super::{check, clocked, other, params, sizes, text, writing};
use crate::harness::{Claim, Contender, Group, Run, Unit};

const CODECS: [&str; 2] = ["lz4", "zstd"];

pub(super) fn write<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let (elements, raw) = job.elements()?;
    let elements = Rc::new(elements);
    let shape = job.shape();
    let mut groups = Vec::new();
    for codec in CODECS {
        let ours = |name: &'static str, threads: usize| {
            let elements = Rc::clone(&elements);
            Contender::new(name, move || {
                let mut options = NdOptions::default();
                options.params = params(codec, 5, 4, threads)?;
                options.chunkshape = Some(CHUNKS.to_vec());
                options.blockshape = Some(BLOCKS.to_vec());
                let target = job.scratch.fresh("b2nd");
                job.scratch.settle()?;
                let seconds = clocked(threads, || {
                    let mut file = AtomicFile::create(&target, Overwrite::Refuse)?;
                    let mut writer = NdWriter::new(&mut file, &DType::parse("<f4")?, &shape, &options)?;
                    writer.push(&elements)?;
                    writer.finish()?;
                    Ok(file.commit(Durability::Cached)?)
                })?;
                fs::remove_file(&target)?;
                Ok(Run { seconds, check: None })
            })
        };
        let theirs = |name, peer, threads| {
            let words = job.array_words(text(&raw)?, "{}", codec, threads);
            Ok::<_, anyhow::Error>(writing(job, name, peer, &words.each_ref().map(String::as_str)))
        };
        let mut contenders = vec![ours(OURS, 1), ours(OURS_TWO, 2)];
        for (name, peer, threads) in
            [(C, &job.c, 1), (C_TWO, &job.c, 2), (ZARRS, &job.zarrs, 1), (ZARRS_TWO, &job.zarrs, 2)]
        {
            contenders.push(theirs(name, peer, threads)?);
        }
        groups.push(Group {
            title: format!("Write an array: {codec} 5"),
            unit: Unit::Rate(elements.len() as u64),
            contenders,
            claims: vec![
                Claim::Speed(OURS, C, Some(1.0)),
                Claim::Speed(OURS_TWO, C_TWO, Some(1.0)),
                Claim::Speed(OURS, ZARRS, None),
            ],
        });
    }
    Ok(groups)
}

pub(super) fn read<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let mut groups = Vec::new();
    for codec in CODECS {
        groups.push(into_memory_in_use(job, codec)?);
        groups.push(into_new_memory(job, codec)?);
    }
    Ok(groups)
}

fn into_memory_in_use<'a>(job: &'a Job<'a>, codec: &str) -> Result<Group<'a>> {
    let (path, shape) = (job.array(codec)?, job.shape());
    let bytes = shape.iter().product::<u64>() * 4;
    let ours = |name: &'static str, threads: usize| {
        let path = path.clone();
        let mut out = vec![1; bytes as usize];
        Contender::new(name, move || {
            let options = ReadOptions::default().with_threads(threads);
            let array = NdArray::open(&path)?;
            let whole = Region::whole(array.shape());
            let seconds = clocked(threads, || Ok(array.read_into(&whole, &mut out, &options)?))?;
            Ok(Run { seconds, check: Some(check(&out)) })
        })
    };
    let (path_word, widths) = (text(&path)?, sizes(&shape));
    let words = |threads| ["slices", path_word, threads, &widths, "same", "1", "file"];
    Ok(Group {
        title: format!("Read a whole array into memory in use: {codec}"),
        unit: Unit::Rate(bytes),
        contenders: vec![
            ours(OURS, 1),
            ours(OURS_TWO, 2),
            other(C, &job.c, &words("1")),
            other(C_TWO, &job.c, &words("2")),
        ],
        claims: vec![Claim::Speed(OURS, C, None), Claim::Speed(OURS_TWO, C_TWO, Some(1.3))],
    })
}

fn into_new_memory<'a>(job: &'a Job<'a>, codec: &str) -> Result<Group<'a>> {
    let (path, zarr, shape) = (job.array(codec)?, job.zarr(codec)?, job.shape());
    let bytes = shape.iter().product::<u64>() * 4;
    let ours = |name: &'static str, threads: usize| {
        let path = path.clone();
        Contender::new(name, move || {
            let options = ReadOptions::default().with_threads(threads);
            let array = NdArray::open(&path)?;
            let whole = Region::whole(array.shape());
            let mut result: Option<Array<'static>> = None;
            let seconds = clocked(threads, || {
                result = Some(array.read(&whole, &options)?);
                Ok(())
            })?;
            let sum = match &result {
                Some(result) => Some(check(&result.bytes(Order::C, &options.limits)?)),
                None => None,
            };
            Ok(Run { seconds, check: sum })
        })
    };
    let (path_word, zarr_word, widths) = (text(&path)?, text(&zarr)?, sizes(&shape));
    let words = |path, threads| ["slices", path, threads, &widths, "same", "1", "file"];
    Ok(Group {
        title: format!("Read a whole array into new memory: {codec}"),
        unit: Unit::Rate(bytes),
        contenders: vec![
            ours(OURS, 1),
            ours(OURS_TWO, 2),
            other(PYTHON, &job.python, &words(path_word, "1")),
            other(PYTHON_TWO, &job.python, &words(path_word, "2")),
            other(ZARRS, &job.zarrs, &words(zarr_word, "1")),
            other(ZARRS_TWO, &job.zarrs, &words(zarr_word, "2")),
        ],
        claims: vec![
            Claim::Speed(OURS, PYTHON, None),
            Claim::Speed(OURS_TWO, PYTHON_TWO, Some(1.3)),
            Claim::Speed(OURS, ZARRS, None),
            Claim::Speed(OURS_TWO, ZARRS_TWO, None),
        ],
    })
}
