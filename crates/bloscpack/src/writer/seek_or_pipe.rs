//! Writes to a pipe what has to be patched at the end.

use std::io::{self, Seek};

use container_core::Result;
use container_core::format::{Output, WriteSeek};
use tempfile::SpooledTempFile;

/// Maximum number of bytes held in memory before they go to a temporary file.
const MAX_SPOOL_IN_MEMORY: usize = 8 << 20;

/// Runs `write` on `out`, which it may seek and patch. For a pipe it writes to a temporary file without a name (in memory, up to
/// 8 MiB), which is sent when it is complete.
///
/// # Errors
/// Those of `write`, and `Io`.
pub(crate) fn with_seek<T>(
    out: &mut dyn Output,
    write: impl FnOnce(&mut dyn WriteSeek) -> Result<T>,
) -> Result<T> {
    if let Some(out) = out.as_seek() {
        return write(out);
    }
    let mut spool = SpooledTempFile::new(MAX_SPOOL_IN_MEMORY);
    let result = write(&mut spool)?;
    spool.rewind()?;
    io::copy(&mut spool, out)?;
    Ok(result)
}
