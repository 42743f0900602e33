//! `zarrs` as a contender: Zarr 3 arrays with chunks of the same shape and codec, in a process of its own, so that its C library meets no
//! Rust one that has the same names. Commands that `peers/blosc2_peer.c` has mean the same here.
#![forbid(unsafe_code)]

#[path = "blosc2/serve.rs"]
mod serve;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use serve::{Answer, CHECKED, check, now, place, sizes};
use zarrs::array::codec::api::CodecOptions;
use zarrs::array::{Array, ArrayBytes, ArraySubset};
use zarrs::filesystem::FilesystemStore;

fn opened(path: &str) -> Result<Array<FilesystemStore>> {
    Ok(Array::open(Arc::new(FilesystemStore::new(path)?), "/")?)
}

fn array(
    raw: &str,
    target: &str,
    codec: &str,
    level: &str,
    threads: &str,
    shape: &str,
    chunks: &str,
) -> Result<Answer> {
    let values: Vec<f32> =
        fs::read(raw)?.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let threads: usize = threads.parse()?;
    let (shape, chunks) = (sizes(shape)?, sizes(chunks)?);
    let blosc = format!(
        r#"{{"name": "blosc", "configuration": {{"cname": "{codec}", "clevel": {level}, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}}}}"#
    );
    let metadata = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape:?}, "data_type": "float32", "fill_value": 0,
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {chunks:?}}}}},
            "chunk_key_encoding": {{"name": "default"}},
            "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}, {blosc}]}}"#
    );
    let start = now(threads);
    fs::create_dir_all(target)?;
    fs::write(Path::new(target).join("zarr.json"), metadata)?;
    let options = CodecOptions::default().with_concurrent_target(threads);
    opened(target)?.store_array_subset_opt(&ArraySubset::new_with_shape(shape), &values[..], &options)?;
    Ok((now(threads) - start, None))
}

fn open(path: &str, times: &str) -> Result<Answer> {
    let times: u32 = times.parse()?;
    let start = now(1);
    for _ in 0..times {
        opened(path)?;
    }
    Ok(((now(1) - start) / f64::from(times), None))
}

fn slices(path: &str, threads: &str, widths: &str, order: &str, count: &str) -> Result<Answer> {
    let (threads, count): (usize, u64) = (threads.parse()?, count.parse()?);
    let widths = sizes(widths)?;
    let array = opened(path)?;
    let options = CodecOptions::default().with_concurrent_target(threads);
    let slice = |at: u64| {
        let first = place(if order == "random" { at } else { 0 }, array.shape(), &widths);
        let subset = ArraySubset::new_with_start_shape(first, widths.clone())?;
        Ok::<_, anyhow::Error>(array.retrieve_array_subset_opt::<Vec<f32>>(&subset, &options)?)
    };
    let mut sum = 0_u64;
    for at in 0..if order == "random" { CHECKED } else { 1 } {
        let bytes: Vec<u8> = slice(at)?.iter().flat_map(|value| value.to_le_bytes()).collect();
        sum = sum.wrapping_add(check(&bytes));
    }
    let start = now(threads);
    for at in 0..count {
        slice(at)?;
    }
    Ok(((now(threads) - start) / count as f64, Some(sum)))
}

/// All values, as zarrs has them in memory, to a file.
fn bytes(path: &str, to: &str) -> Result<Answer> {
    let array = opened(path)?;
    let bytes: ArrayBytes<'static> = array.retrieve_array_subset(&array.subset_all())?;
    fs::write(to, bytes.into_fixed()?)?;
    Ok((0.0, None))
}

fn answer(fields: &[&str]) -> Result<Answer> {
    match *fields {
        ["open", path, times, _, _] => open(path, times),
        ["array", raw, target, codec, level, threads, shape, chunks, _] => {
            array(raw, target, codec, level, threads, shape, chunks)
        }
        ["slices", path, threads, widths, order, count, _] => slices(path, threads, widths, order, count),
        ["bytes", path, to] => bytes(path, to),
        _ => bail!("not understood: {fields:?}"),
    }
}

fn main() -> Result<()> {
    serve::serve("zarrs 0.23.14", answer)
}
