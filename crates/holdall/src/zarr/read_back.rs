//! Comparison of the directory that was just written with its source.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use container_core::container::{Container, ReadOptions};
use container_core::report::Loss;
use container_core::{Progress, Result};

use super::{ArrayPlan, Job, METADATA, grid};

impl Job {
    /// Reads every file below `root` and reports differences: metadata by their bytes, chunks by their decoded values. The expected values
    /// are read from the source once more.
    ///
    /// # Errors
    /// Those of reading the source, and of reading existing files.
    pub(super) fn read_back(
        &self,
        container: &dyn Container,
        read: &ReadOptions,
        root: &Path,
        progress: Progress<'_>,
    ) -> Result<Vec<Loss>> {
        let mut found = Vec::new();
        for (place, text) in self.nodes()? {
            if fs::read(root.join(&place).join(METADATA))? != text {
                let what = format!("{METADATA} of {place:?} differs from the written bytes");
                found.push(Loss { dataset: None, what });
            }
        }
        let work = |plan: &ArrayPlan, chunk: &[u64], read: &ReadOptions| {
            let key = grid::key(chunk);
            let stored = match fs::read(root.join(&plan.place).join(&key)) {
                Ok(stored) => Some(stored),
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                Err(error) => return Err(error.into()),
            };
            let (plain, taken) = plan.plain(container, chunk, read)?;
            let is_same = match (&stored, &plain) {
                (Some(stored), Some(plain)) => plan.holds(stored, plain, read)?,
                (None, None) => true,
                _ => false,
            };
            Ok(((!is_same).then_some(key), taken))
        };
        self.each_chunk(read, progress, work, |plan, other| {
            if let Some(key) = other {
                let what = format!("chunk {} holds other values", key.display());
                found.push(Loss { dataset: Some(plan.path.clone()), what });
            }
        })?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::{ConvertOptions, ConvertOutcome, ReadBack, write};
    use crate::raw_bytes::Plain;
    use container_core::dtype::{DType, Order};
    use container_core::format::TargetOptions;
    use container_core::write::Durability;

    /// 6 × 5 numbers, of which only those of the last chunk are 0.
    fn source() -> Plain {
        let numbers = (0..30_u16).map(|number| if number < 20 { number + 1 } else { 0 });
        let bytes: Vec<u8> = numbers.flat_map(u16::to_be_bytes).collect();
        Plain::new(Box::new(bytes), DType::parse(">u2").unwrap(), vec![6, 5], Order::C).unwrap()
    }

    #[test]
    fn every_codec_is_read_back_and_a_changed_chunk_is_found() {
        let source = source();
        for (codec, filter) in [
            ("none", None),
            ("zstd", None),
            ("zlib", None),
            ("lz4", Some("bitshuffle")),
            ("zstd", Some("shuffle")),
        ] {
            let mut import = TargetOptions::default();
            import.codec = Some((codec.into(), None));
            import.extra.push(("chunks".into(), "4,5".into()));
            import.extra.extend(filter.map(|filter| ("filter".to_owned(), filter.to_owned())));
            let dir = tempfile::tempdir().unwrap();
            let target = dir.path().join("a.zarr");
            let options = ConvertOptions {
                import: import.clone(),
                durability: Durability::Cached,
                verify: ReadBack::Yes,
                ..ConvertOptions::default()
            };
            let outcome = write(&source, &source.whole(), &crate::zarr::FORMAT, &target, &options).unwrap();
            assert!(matches!(outcome, ConvertOutcome::Done(_)), "{codec}");
            let job = Job::plan(&source, &source.whole(), &import).unwrap();
            let look =
                || job.read_back(&source, &ReadOptions::default(), &target, Progress::none()).unwrap().len();
            assert_eq!(look(), 0);
            let chunk = target.join("c/0/0");
            let bytes = fs::read(&chunk).unwrap();
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= 0x10;
                fs::write(&chunk, other).unwrap();
                // Codecs have bytes that no reader uses: the time and the system of gzip, among others.
                let is_free = codec != "none" && at < 24;
                assert!(look() == 1 || is_free, "{codec}: byte {at}");
            }
            fs::write(&chunk, [&bytes[..], &[0]].concat()).unwrap();
            assert_eq!(look(), 1, "{codec}");
            fs::remove_file(&chunk).unwrap();
            assert_eq!(look(), 1, "{codec}");
            fs::write(&chunk, &bytes).unwrap();
            fs::write(target.join(METADATA), "{}").unwrap();
            assert_eq!(look(), 1, "{codec}");
        }
    }
}
