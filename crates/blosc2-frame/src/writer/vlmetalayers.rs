//! User metadata in the trailer of a frame that is being written.

use container_core::{Error, Result};

use super::stored_chunk;
use crate::metalayer::{MAX_METALAYERS, MAX_NAME};

/// Sets a value, in its place or after the others. Released versions of C-Blosc2 refuse a 17th, and longer names.
///
/// # Errors
/// `Usage` for a name of no or over 31 bytes and for a 17th one.
pub(crate) fn set_vlmetalayer(all: &mut Vec<(String, Vec<u8>)>, name: &str, value: &[u8]) -> Result<()> {
    let own = all.iter().position(|(own, _)| own == name);
    // Existing names can always be changed, even invalid ones.
    if own.is_none() && (name.is_empty() || name.len() > MAX_NAME) {
        let problem = format!("a name of user metadata has {} bytes (expected 1 to {MAX_NAME})", name.len());
        return Err(Error::usage(problem));
    }
    if own.is_none() && all.len() >= MAX_METALAYERS {
        return Err(Error::usage(format!("a frame has at most {MAX_METALAYERS} entries of user metadata")));
    }
    let chunk = stored_chunk::vlmetalayer(value)?;
    match own.and_then(|at| all.get_mut(at)) {
        Some((_, own)) => *own = chunk,
        None => all.push((name.to_owned(), chunk)),
    }
    Ok(())
}

/// Removes a value; false where there was none.
pub(crate) fn remove_vlmetalayer(all: &mut Vec<(String, Vec<u8>)>, name: &str) -> bool {
    let before = all.len();
    all.retain(|(own, _)| own != name);
    all.len() < before
}
