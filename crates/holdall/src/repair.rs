//! Repairing a file of any format: into a new file, never in place.

use std::path::Path;

use container_core::container::OpenOptions;
use container_core::format::Output;
use container_core::report::RepairReport;
use container_core::write::{Durability, Overwrite};
use container_core::{Error, Progress, Result};

use crate::open::{Accept, recognise};
use crate::target::{Target, refuse_source};

/// What a repair did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The format of the file, and of what was written.
    pub format: &'static str,
    /// What was kept, guessed and lost.
    pub report: RepairReport,
}

/// Writes what can be proved of the container at `path` to `target`; without a target it only reports what it would do.
/// Nothing is left behind where it fails.
///
/// # Errors
/// `WrongFormat`; `Unsupported` where the format has no repair; `Usage` when the target exists and may not be replaced, or
/// is the damaged file itself; `Io`; and those of the format where there is nothing to bring back.
pub fn repair(
    path: &Path,
    target: Option<&Path>,
    overwrite: Overwrite,
    open: &OpenOptions,
    progress: Progress<'_>,
) -> Result<Repaired> {
    if let Some(target) = target {
        refuse_source(path, target)?;
    }
    let (format, input) = recognise(path, Accept::Containers, open)?;
    let repair = format
        .repair
        .ok_or_else(|| Error::unsupported(format!("{} files cannot be repaired", format.title)))?;
    let mut target = target.map(|target| Target::create(target, overwrite)).transpose()?;
    let out = target.as_mut().map(|target| target as &mut dyn Output);
    let report = repair(input, open, out, progress)?;
    if let Some(target) = target {
        target.commit(Durability::Synced)?;
    }
    Ok(Repaired { format: format.name, report })
}

#[cfg(test)]
mod tests {
    use super::*;
    use container_core::ErrorKind;

    #[test]
    fn nothing_is_left_where_there_is_nothing_to_repair() {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join("a"), directory.path().join("b"));
        std::fs::write(&path, b"hello").unwrap();
        let run = |target: &Path| {
            repair(&path, Some(target), Overwrite::Replace, &OpenOptions::default(), Progress::none())
                .unwrap_err()
        };
        assert!(matches!(run(&target).kind(), ErrorKind::WrongFormat { .. }));
        assert!(!target.exists());
        assert!(matches!(run(&path).kind(), ErrorKind::Usage(_)));
        assert_eq!(std::fs::read(&path).unwrap(), b"hello");
    }

    #[cfg(feature = "rawarray")]
    #[test]
    fn a_cut_file_is_brought_back_as_far_as_it_goes() {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join("a"), directory.path().join("b"));
        // Two of the three columns are there, and half of the last.
        let file = crate::testing::ra_bytes();
        std::fs::write(&path, &file[..74]).unwrap();
        let options = OpenOptions::default();
        let dry = repair(&path, None, Overwrite::Refuse, &options, Progress::none()).unwrap();
        assert!(!target.exists());
        let wet = repair(&path, Some(&target), Overwrite::Refuse, &options, Progress::none()).unwrap();
        assert_eq!(dry, wet);
        assert_eq!(wet.format, "rawarray");
        assert!(!wet.report.lost.is_empty());
        let repaired = std::fs::read(&target).unwrap();
        assert_eq!((&repaired[56..64], &repaired[64..]), (&2_u64.to_le_bytes()[..], &file[64..72]));
        let again = repair(&path, Some(&target), Overwrite::Refuse, &options, Progress::none());
        assert!(matches!(again.unwrap_err().kind(), ErrorKind::Usage(_)));
    }
}
