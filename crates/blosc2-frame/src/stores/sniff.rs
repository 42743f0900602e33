//! Telling a store by its first bytes, or by what is in its directory.

use container_core::format::Probe;

use super::archive::is_key_path;
use super::directory::{has_leaf_extension, is_plain_file};
use super::leaf::EMBED;
use crate::header::MAGIC;

/// Signature of a local header, which a zip file begins with.
pub(crate) const LOCAL: [u8; 4] = *b"PK\x03\x04";

/// Extension of directories that are stores.
const DIRECTORY: &str = "b2d";

/// Whether an input is a zip file of frames, or the directory of a python-blosc2 store.
pub(crate) fn sniff(probe: &Probe<'_>) -> bool {
    match probe.directory {
        Some(directory) => is_store(directory),
        None => is_zip_of_frames(probe.head),
    }
}

fn is_store(directory: &std::path::Path) -> bool {
    if is_plain_file(&directory.join(EMBED)) {
        return true;
    }
    // One that lost its EmbedStore still has its leaves.
    directory.extension().is_some_and(|extension| extension == DIRECTORY)
        && std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some())
}

/// Looks for a frame among the members whose local headers are in `head`, by name or by what they begin with.
fn is_zip_of_frames(head: &[u8]) -> bool {
    let mut rest = head;
    while rest.starts_with(&LOCAL) {
        let Some((name, data, size)) = local(rest) else { return false };
        let name = String::from_utf8_lossy(name);
        if data.starts_with(&MAGIC) || (is_key_path(&name) && (has_leaf_extension(&name) || name == EMBED)) {
            return true;
        }
        let next = usize::try_from(size).ok().and_then(|size| data.get(size..));
        match next {
            Some(next) => rest = next,
            None => return false,
        }
    }
    false
}

/// Returns name, bytes after the header, and size of the member whose local header `bytes` begin with.
fn local(bytes: &[u8]) -> Option<(&[u8], &[u8], u32)> {
    let word = |at: usize| bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes));
    let size = u32::from_le_bytes(*bytes.get(18..)?.first_chunk()?);
    let (name, extra) = (usize::from(word(26)?), usize::from(word(28)?));
    let rest = bytes.get(30..)?;
    // A name that continues after the probed bytes shows only its beginning, which is not enough.
    let (name, rest) = rest.split_at_checked(name)?;
    Some((name, rest.get(extra..).unwrap_or_default(), size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = LOCAL.to_vec();
        bytes.extend_from_slice(&[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(&u32::try_from(data.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(&u32::try_from(data.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(&u16::try_from(name.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(&[0, 0]);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn is(head: &[u8]) -> bool {
        sniff(&Probe { head, directory: None, len: None })
    }

    #[test]
    fn a_zip_file_is_a_store_by_its_members() {
        assert!(is(&header("a.b2nd", b"deflated")));
        assert!(is(&header("a", &MAGIC)));
        assert!(is(&header("embed.b2e", b"")));
        assert!(is(&[header("g/", b""), header("g/x.b2f", b"")].concat()));
        for other in [
            header("word/document.xml", b"<xml>"),
            header("../x.b2nd", b""),
            b"PK\x05\x06".to_vec(),
            LOCAL.to_vec(),
            header("a.b2nd", b"")[..31].to_vec(),
        ] {
            assert!(!is(&other));
        }
    }

    #[test]
    fn a_directory_is_a_store_by_its_embed_store_or_its_name() {
        let root = tempfile::tempdir().unwrap();
        let is =
            |name: &str| sniff(&Probe { head: &[], directory: Some(&root.path().join(name)), len: None });
        for name in ["a", "b.b2d", "c.b2d", "d.b2d"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        std::fs::write(root.path().join("a/embed.b2e"), b"").unwrap();
        std::fs::write(root.path().join("b.b2d/x.b2nd"), b"").unwrap();
        assert!(is("a") && is("b.b2d"));
        assert!(!is("c.b2d") && !is("nowhere"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../a/embed.b2e", root.path().join("c.b2d/embed.b2e")).unwrap();
            std::fs::create_dir(root.path().join("e")).unwrap();
            std::os::unix::fs::symlink("../a/embed.b2e", root.path().join("e/embed.b2e")).unwrap();
            assert!(!is("e"));
        }
    }
}
