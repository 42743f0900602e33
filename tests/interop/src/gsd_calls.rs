//! Calls of the file layer as lines of text, which the peers are driven by as well.
//!
//! ```text
//! open r+|w|x|a              with the application `calls` and version 1.2 of the schema `none`
//! buffer BYTES               maximum_write_buffer_size
//! chunk NAME TYPE N M SEED   of the bytes that `pattern` makes; the type is a NumPy code, S1 for characters
//! end | discard | flush | truncate | upgrade | close
//! ```

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use container_core::dtype::DType;
use gsd::{ChunkType, Version, WriteMode, Writer, WriterOptions};

/// The bytes of a chunk.
#[must_use]
pub fn pattern(seed: u64, len: usize) -> Vec<u8> {
    (0..len as u64)
        .map(|at| ((at.wrapping_mul(7) ^ (at >> 8)).wrapping_add(seed * 31) & 0xff) as u8)
        .collect()
}

/// The options of new files; the caller may change how they are written.
#[must_use]
pub fn options() -> WriterOptions {
    WriterOptions::default().with_schema("calls", "none", Version::new(1, 2))
}

/// Does what `script` says to the file at `path`.
///
/// # Errors
/// Those of the calls, with the line that failed, and lines that are not understood.
pub fn run(script: &str, path: &Path, options: &WriterOptions) -> Result<()> {
    let mut writer = None;
    for (number, line) in script.lines().enumerate() {
        call(line, path, options, &mut writer).with_context(|| format!("line {}: {line}", number + 1))?;
    }
    Ok(())
}

fn call(line: &str, path: &Path, options: &WriterOptions, open: &mut Option<Writer>) -> Result<()> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let ["open", mode] = words[..] {
        let mode = WriteMode::from_name(mode).context("no such mode")?;
        *open = Some(Writer::open_mode(path, mode, options)?);
        return Ok(());
    }
    if words == ["close"] {
        return Ok(open.take().context("nothing is open")?.close()?);
    }
    let writer = open.as_mut().context("nothing is open")?;
    match words[..] {
        ["chunk", name, dtype, n, m, seed] => {
            let chunk_type = ChunkType::from_dtype(&DType::parse(dtype)?).context("no such type")?;
            let (n, m, seed): (u64, u32, u64) = (n.parse()?, m.parse()?, seed.parse()?);
            let bytes = pattern(seed, usize::try_from(n * u64::from(m) * chunk_type.size())?);
            writer.write_chunk_bytes(name, chunk_type, n, m, &bytes)?;
        }
        ["buffer", bytes] => writer.set_maximum_write_buffer_size(bytes.parse()?)?,
        ["end"] => writer.end_frame()?,
        ["discard"] => writer.discard_frame()?,
        ["flush"] => writer.flush()?,
        ["truncate"] => writer.truncate()?,
        ["upgrade"] => writer.upgrade()?,
        _ => bail!("not understood"),
    }
    Ok(())
}
