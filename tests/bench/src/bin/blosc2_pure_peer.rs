//! `blosc2-pure-rs` as a contender, in a process of its own: its LZ4 has the names of the C library's, which would take that one's place
//! in a program with both. Commands that `peers/blosc2_peer.c` has mean the same here.
#![forbid(unsafe_code)]

#[path = "blosc2/serve.rs"]
mod serve;

use std::fs;

use anyhow::{Error, Result, bail, ensure};
use blosc2_pure_rs::b2nd::{b2nd_get_slice_cbuffer, b2nd_open};
use blosc2_pure_rs::compress::{CParams, DParams};
use blosc2_pure_rs::constants::{BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_ZSTD};
use blosc2_pure_rs::schunk::Schunk;
use serve::{Answer, CHECKED, check, now, place, sizes};

fn open(path: &str, times: &str, kind: &str) -> Result<Answer> {
    let times: u32 = times.parse()?;
    let start = now(1);
    for _ in 0..times {
        if kind == "array" {
            b2nd_open(path).map_err(Error::msg)?;
        } else {
            Schunk::open(path).map_err(Error::msg)?;
        }
    }
    Ok(((now(1) - start) / f64::from(times), None))
}

fn write(raw: &str, target: &str, codec: &str, level: &str, threads: &str, chunk: &str) -> Result<Answer> {
    let bytes = fs::read(raw)?;
    let threads: usize = threads.parse()?;
    let compcode = match codec {
        "blosclz" => BLOSC_BLOSCLZ,
        "lz4" => BLOSC_LZ4,
        "zstd" => BLOSC_ZSTD,
        _ => bail!("no codec {codec}"),
    };
    let (clevel, nthreads) = (level.parse()?, threads.try_into()?);
    let params = CParams { compcode, clevel, nthreads, ..CParams::default() };
    let start = now(threads);
    let mut frame = Schunk::new(params, DParams::default());
    for piece in bytes.chunks(chunk.parse()?) {
        frame.append_buffer(piece).map_err(Error::msg)?;
    }
    frame.save(target)?;
    Ok((now(threads) - start, None))
}

fn read(path: &str, threads: &str) -> Result<Answer> {
    let threads: usize = threads.parse()?;
    let len = Schunk::open(path).map_err(Error::msg)?.nbytes;
    let mut out = vec![1; usize::try_from(len)?];
    let start = now(threads);
    let mut frame = Schunk::open(path).map_err(Error::msg)?;
    frame.dparams.nthreads = threads.try_into()?;
    let mut at = 0;
    for chunk in 0.. {
        if at == out.len() {
            break;
        }
        at += frame.decompress_chunk_into(chunk, &mut out[at..]).map_err(Error::msg)?;
    }
    Ok((now(threads) - start, Some(check(&out))))
}

fn slices(path: &str, threads: &str, widths: &str, order: &str, count: &str) -> Result<Answer> {
    let (threads, count): (usize, u64) = (threads.parse()?, count.parse()?);
    let widths = sizes(widths)?;
    let array = b2nd_open(path).map_err(Error::msg)?;
    let shape: Vec<u64> = array.meta.shape.iter().map(|size| size.cast_unsigned()).collect();
    let signed = |sizes: &[u64]| sizes.iter().map(|size| size.cast_signed()).collect::<Vec<i64>>();
    let mut out = vec![1; usize::try_from(widths.iter().product::<u64>() * 4)?];
    let mut slice = |at: u64| {
        let first = place(if order == "random" { at } else { 0 }, &shape, &widths);
        let end: Vec<u64> = first.iter().zip(&widths).map(|(first, width)| first + width).collect();
        let made = b2nd_get_slice_cbuffer(&array, &signed(&first), &signed(&end), &mut out, &signed(&widths));
        ensure!(made == 0, "b2nd_get_slice_cbuffer: {made}");
        Ok(check(&out[..if at < CHECKED { out.len() } else { 0 }]))
    };
    // Looked at inside of the time, which is nothing beside the reading.
    let start = now(threads);
    let mut sum = 0_u64;
    for at in 0..count {
        let one = slice(at)?;
        if at < if order == "random" { CHECKED } else { 1 } {
            sum = sum.wrapping_add(one);
        }
    }
    Ok(((now(threads) - start) / count as f64, Some(sum)))
}

fn answer(fields: &[&str]) -> Result<Answer> {
    match *fields {
        ["open", path, times, kind, _] => open(path, times, kind),
        ["write", raw, target, codec, level, threads, chunk] => {
            write(raw, target, codec, level, threads, chunk)
        }
        ["read", path, threads, _] => read(path, threads),
        ["slices", path, threads, widths, order, count, _] => slices(path, threads, widths, order, count),
        _ => bail!("not understood: {fields:?}"),
    }
}

fn main() -> Result<()> {
    serve::serve("blosc2-pure-rs 0.2.4", answer)
}
