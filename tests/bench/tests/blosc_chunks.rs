//! python-blosc2 and python-blosc read the chunks that are written here, and theirs are read here: whole, on two threads,
//! block by block and in parts.

use std::ops::Range;
use std::path::Path;
use std::process::Command;

use bench::peer::{python, script};
use blosc_chunk::{Chunk, Decoder};
use tempfile::tempdir;

/// Runs the Python script; gives what it prints.
fn peer(command: &str, file: &Path) -> String {
    let output = Command::new(python().unwrap())
        .args(["-W", "error::RuntimeWarning"])
        .arg(script("blosc_cases.py"))
        .arg(command)
        .arg(file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A chunk and what it holds.
struct Case<'a> {
    name: &'a str,
    chunk: &'a [u8],
    plain: &'a [u8],
}

/// The cases of a file, as the script describes it.
fn cases(mut bytes: &[u8]) -> Vec<Case<'_>> {
    let mut next = || {
        let (len, rest) = bytes.split_first_chunk::<4>()?;
        let (field, rest) = rest.split_at(u32::from_le_bytes(*len) as usize);
        bytes = rest;
        Some(field)
    };
    let mut all = Vec::new();
    while let Some(name) = next() {
        let (chunk, plain) = (next().unwrap(), next().unwrap());
        all.push(Case { name: std::str::from_utf8(name).unwrap(), chunk, plain });
    }
    all
}

/// Ranges that begin and end inside elements, streams and blocks.
fn parts(len: usize, number: usize) -> Vec<Range<usize>> {
    if len == 0 {
        return vec![0..0];
    }
    let mut seed = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |limit: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % limit
    };
    let (start, item, long) = (below(len), below(len), below(len));
    let end = start + below(len - start + 1);
    vec![0..1, len - 1..len, start..end, item..(item + 8).min(len), long..len]
}

/// What is wrong with the reading of `case`, if anything.
fn read(decoder: &mut Decoder, case: &Case<'_>, number: usize) -> Result<(), String> {
    let fail = |what: &str, error: container_core::Error| format!("{}: {what}: {error}", case.name);
    let chunk = Chunk::parse(case.chunk).map_err(|error| fail("parse", error))?;
    if chunk.nbytes() != case.plain.len() || chunk.bytes().len() != case.chunk.len() {
        return Err(format!("{}: lengths {} and {}", case.name, chunk.nbytes(), chunk.bytes().len()));
    }
    let mut whole = vec![0xa5; case.plain.len()];
    decoder.decode(&chunk, &mut whole).map_err(|error| fail("whole", error))?;
    if whole != case.plain {
        let at = whole.iter().zip(case.plain).position(|(a, b)| a != b);
        return Err(format!("{}: other bytes, from {at:?}", case.name));
    }
    whole.fill(0xa5);
    decoder.decode_parallel(&chunk, &mut whole, 2).map_err(|error| fail("two threads", error))?;
    if whole != case.plain {
        return Err(format!("{}: other bytes on two threads", case.name));
    }
    for range in parts(case.plain.len(), number) {
        let mut part = vec![0xa5; range.len()];
        decoder.decode_range(&chunk, range.clone(), &mut part).map_err(|error| fail("part", error))?;
        if part != case.plain[range.clone()] {
            return Err(format!("{}: other bytes in {range:?}", case.name));
        }
    }
    for (index, range) in chunk.blocks().enumerate() {
        let mut block = vec![0xa5; range.len()];
        decoder.decode_block(&chunk, index, &mut block).map_err(|error| fail("block", error))?;
        if block != case.plain[range.clone()] {
            return Err(format!("{}: other bytes in block {index}, {range:?}", case.name));
        }
    }
    Ok(())
}

#[test]
fn every_chunk_of_theirs_is_read_whole_and_in_parts() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("theirs.bin");
    let counts = peer("write", &file);
    let bytes = std::fs::read(&file).unwrap();
    let cases = cases(&bytes);
    assert!(cases.len() > 7000, "only {} chunks:\n{counts}", cases.len());
    let mut decoder = Decoder::new();
    let problems: Vec<String> = cases
        .iter()
        .enumerate()
        .filter_map(|(number, case)| read(&mut decoder, case, number).err())
        .collect();
    let shown = problems.iter().take(30).cloned().collect::<Vec<_>>().join("\n");
    assert!(problems.is_empty(), "{} of {} chunks:\n{shown}", problems.len(), cases.len());
}
