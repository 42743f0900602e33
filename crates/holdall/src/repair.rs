//! Repairing a file of any format: into a new file, never in place.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use container_core::container::{CheckDepth, OpenOptions, ReadOptions};
use container_core::format::{Format, Input, Pipe, Probe};
use container_core::report::{Evidence, RepairItem, RepairReport, Severity};
use container_core::source::{FileSource, Source, open_path};
use container_core::write::{Durability, Overwrite};
use container_core::{Error, ErrorKind, Progress, Result};

use crate::address::shown;
use crate::foreign::Foreign;
use crate::formats::{everything, target_format};
use crate::open::{Accept, Damaged, OpenFile, open_source, open_with, opens_again, recognise_damaged};
use crate::output_file::{Target, refuse_source};

/// Result of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The format of the file, and of the repaired one.
    pub format: &'static str,
    /// Items that were kept, guessed and lost.
    pub report: RepairReport,
    /// Why the target may not survive a power cut, where the disk did not confirm it; without a target, why the new file was not checked.
    pub warning: Option<String>,
}

/// Writes the provable part of the damaged container at `path` to the new file `target`, with the default options.
///
/// # Errors
/// As [`repair_with`].
pub fn repair(path: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<Repaired> {
    let options = OpenOptions::default();
    repair_with(path.as_ref(), Some(target.as_ref()), Overwrite::Refuse, &options, Progress::none())
}

/// Writes the provable part of the container at `path` to `target`. Without a target it only reports, by way of an unnamed file in the
/// folder for temporary files. A failure removes new files. A file may begin after up to 64 KiB of foreign bytes.
///
/// # Errors
/// `WrongFormat`; `Unsupported` where the format lacks repair; `Usage` when the target exists and may not be replaced, is the damaged file
/// itself, or has the extension of another format; `Io`; and those of the format where no part can be restored.
pub fn repair_with(
    path: &Path,
    target: Option<&Path>,
    overwrite: Overwrite,
    options: &OpenOptions,
    progress: Progress<'_>,
) -> Result<Repaired> {
    if let Some(target) = target {
        refuse_source(path, target)?;
    }
    let Damaged { format, input, unknown, prefix } = recognise_damaged(path, options)?;
    let repair = format
        .repair
        .ok_or_else(|| Error::unsupported(format!("{} files cannot be repaired", format.title)))?;
    if let Some(target) = target {
        refuse_other_name(path, target, format, options)?;
    }
    let refused = |error: &Error| error.is_damage() || is_foreign(error);
    let named = |report: Result<RepairReport>| match (report, unknown) {
        // A file that only begins nearly as one of the format, and has no other part of one, is not of the format.
        (Err(error), Some(unknown)) if refused(&error) => Err(unknown),
        (report, _) => report,
    };
    let (mut report, warning) = match target {
        Some(path) => {
            let mut target = Target::create(path, overwrite)?;
            let mut report = named(repair(input, options, Some(&mut target), progress))?;
            let warning = target.commit_or_warn(Durability::Synced)?;
            // With reported losses, the new file is already not taken for the old one.
            if path.as_os_str() != "-" && report.lost.is_empty() {
                let opened = open_with(path, Accept::Containers, options);
                let opened = opened.map_err(|error| error.without_file(&shown(path)));
                report.lost = still_wrong(opened, options, progress)?;
            }
            (report, warning)
        }
        None => {
            let unchecked = |error: &Error| Some(format!("the new file was not checked: {error}"));
            match tempfile::tempfile() {
                Err(error) => {
                    (named(repair(input, options, None, progress))?, unchecked(&Error::from(error)))
                }
                Ok(file) => match tried(format, input, file, path, options, progress) {
                    Err(error) if is_no_room(&error) && opens_again(path) => {
                        let input = recognise_damaged(path, options)?.input;
                        (named(repair(input, options, None, progress))?, unchecked(&error))
                    }
                    report => (named(report)?, None),
                },
            }
        }
    };
    if prefix > 0 {
        behind(&mut report, prefix);
    }
    if opens_again(path) && path.is_file() {
        lose_other_files(&mut report, &*open_path(path, options.access, &options.limits)?, options)?;
    }
    Ok(Repaired { format: format.name, report, warning })
}

/// Repairs into the unnamed `file`, and checks it as [`repair`] checks a target.
fn tried(
    format: &Format,
    input: Input,
    file: File,
    path: &Path,
    options: &OpenOptions,
    progress: Progress<'_>,
) -> Result<RepairReport> {
    let run = format.repair.ok_or_else(|| Error::unsupported("no repair"))?;
    let mut spool = Pipe(BufWriter::new(file));
    let mut report = run(input, options, Some(&mut spool), progress)?;
    let file = spool.0.into_inner().map_err(|error| Error::from(error.into_error()))?;
    if report.lost.is_empty() {
        let source: Box<dyn Source> = Box::new(FileSource::new(file)?);
        // External files are resolved relative to the old path, but under an unused name: sidecars of the old file do not belong to the new
        // one.
        let name = file_name_of_none(path);
        let opened = open_source(source, name, Accept::Containers, options);
        report.lost = still_wrong(opened, options, progress)?;
    }
    Ok(report)
}

/// An unused name next to `path`.
fn file_name_of_none(path: &Path) -> Option<PathBuf> {
    let mut name = OsString::from(".holdall-dry-run-");
    name.push(path.file_name()?);
    Some(path.with_file_name(name))
}

fn is_no_room(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io(error) if error.kind() == io::ErrorKind::StorageFull)
}

/// Errors that a check finds in the new file, which repair cannot fix: leaves of stores, contradictory shapes of an array.
fn still_wrong(
    opened: Result<OpenFile>,
    options: &OpenOptions,
    progress: Progress<'_>,
) -> Result<Vec<RepairItem>> {
    let item = |what: String| RepairItem::of_file(format!("in the new file: {what}"));
    let opened = match opened {
        Ok(opened) => opened,
        Err(error) if error.is_interruption() => return Err(error),
        Err(error) => return Ok(vec![item(error.to_string())]),
    };
    let read = ReadOptions::default().with_limits(options.limits);
    let report = opened.container.check(CheckDepth::Full, &read, progress)?;
    let errors = report.findings.into_iter().filter(|finding| finding.severity == Severity::Error);
    Ok(errors.map(|finding| item(finding.message)).collect())
}

/// Refuses a target whose extension is that of another format, since a repair keeps the format. An extension that the file has as well is
/// the user's choice.
fn refuse_other_name(path: &Path, target: &Path, format: &Format, options: &OpenOptions) -> Result<()> {
    let extension = |path: &Path| path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let Ok(told) = target_format(target, None, options.formats) else { return Ok(()) };
    if told.name == format.name || extension(path) == extension(target) {
        return Ok(());
    }
    let problem =
        format!("repair keeps the format, {}: the name has the extension of {}", format.title, told.title);
    let own = format.extensions.first().map(|own| format!("-o NEW.{own}, and then holdall convert"));
    Err(Error::usage(problem)
        .with_subject(target.display().to_string())
        .with_hint(own.unwrap_or_else(|| "another name, and then holdall convert".into())))
}

/// The report on a file that begins at `prefix`, with places of the whole.
fn behind(report: &mut RepairReport, prefix: u64) {
    for item in [&mut report.kept, &mut report.guessed, &mut report.lost].into_iter().flatten() {
        if let Some(range) = &mut item.range {
            *range = range.start.saturating_add(prefix)..range.end.saturating_add(prefix);
        }
    }
    let what = "the start of the file: bytes before it are left out, and offsets in sentences count from it";
    report.guessed.insert(0, RepairItem::new(0..prefix, what).with_evidence(Evidence::Walk));
}

/// Reports left-out bytes at the end of the file that begin as another file does as lost: they are data for which the new file has no
/// place.
fn lose_other_files(report: &mut RepairReport, source: &dyn Source, options: &OpenOptions) -> Result<()> {
    let mut kept = Vec::with_capacity(report.guessed.len());
    for item in std::mem::take(&mut report.guessed) {
        let tail = item.range.clone().filter(|range| range.start > 0 && range.end == source.len());
        let Some(range) = tail.filter(|range| range.start < range.end && item.what.contains(LEFT_OUT)) else {
            kept.push(item);
            continue;
        };
        let head = source.read(range.start..range.end.min(range.start + Probe::LEN as u64))?;
        match name_of(&Probe { head: &head, directory: None, len: None }, options) {
            Some(name) => {
                let what = format!("bytes after the end of the file, which begin like {name}");
                report.lost.push(RepairItem::new(range, what));
            }
            None => kept.push(item),
        }
    }
    report.guessed = kept;
    Ok(())
}

/// The words of reports for bytes that are not in the new file.
const LEFT_OUT: &str = "left out";

/// The kind of file that begins so, with its article.
fn name_of(probe: &Probe<'_>, options: &OpenOptions) -> Option<String> {
    let known = everything(options.formats).find(|format| (format.sniff)(probe));
    let known = known.map(|format| format!("a file of {}", format.title));
    known.or_else(|| Foreign::of_probe(probe).map(|foreign| foreign.what.to_owned()))
}

fn is_foreign(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::WrongFormat { .. } | ErrorKind::Unsupported(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the bytes to `path`, and repairs them.
    #[cfg(any(feature = "rawarray", all(feature = "asdf", feature = "blosc2")))]
    fn mend(path: &Path, target: &Path, bytes: &[u8]) -> Result<Repaired> {
        std::fs::write(path, bytes).unwrap();
        repair_with(path, Some(target), Overwrite::Replace, &OpenOptions::default(), Progress::none())
    }

    #[test]
    fn repair_of_an_unrecognised_file_creates_no_target() {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join("a"), directory.path().join("b"));
        std::fs::write(&path, b"hello").unwrap();
        let run = |target: &Path| {
            repair_with(&path, Some(target), Overwrite::Replace, &OpenOptions::default(), Progress::none())
                .unwrap_err()
        };
        assert!(matches!(run(&target).kind(), ErrorKind::WrongFormat { .. }));
        assert!(!target.exists());
        assert!(matches!(run(&path).kind(), ErrorKind::Usage(_)));
        assert_eq!(std::fs::read(&path).unwrap(), b"hello");
    }

    #[cfg(feature = "rawarray")]
    #[test]
    fn format_is_recognised_despite_a_damaged_magic() {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join("a"), directory.path().join("b"));
        let file = crate::testing::ra_bytes();
        let run = |bytes: &[u8]| mend(&path, &target, bytes);
        let mut damaged = file.clone();
        (damaged[0], damaged[5]) = (0, b'R');
        let done = run(&damaged).unwrap();
        assert_eq!((done.format, done.report.guessed.len()), ("rawarray", 1));
        assert_eq!(std::fs::read(&target).unwrap(), file);
        // A file that merely begins like one is named as what it is.
        std::fs::remove_file(&target).unwrap();
        let error = run(b"rawarrow and text, which no header is").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WrongFormat { .. }), "{error}");
        assert!(error.hint().unwrap().starts_with("holdall repair FILE -o NEW.ra"), "{error:?}");
        assert!(!target.exists());
    }

    #[cfg(feature = "rawarray")]
    #[test]
    fn target_extension_of_another_format_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let file = crate::testing::ra_bytes();
        for (from, to, is_written) in [
            ("a.ra", "b.npy", false),
            ("a", "c.NPY", false),
            ("a.ra", "d.RA", true),
            ("a.ra", "e.dat", true),
            ("a.ra", "f", true),
            // A wrong name that the file has already.
            ("a.npy", "g.npy", true),
        ] {
            let done = mend(&at(from), &at(to), &file);
            assert_eq!((done.is_ok(), at(to).exists()), (is_written, is_written), "{from} {to}: {done:?}");
            if let Err(error) = done {
                assert!(error.hint().unwrap().starts_with("-o NEW.ra"), "{error:?}");
            }
        }
    }

    #[cfg(feature = "rawarray")]
    #[test]
    fn a_file_behind_other_bytes_is_taken_from_there() {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join("a"), directory.path().join("b"));
        let file = crate::testing::ra_bytes();
        let run = |bytes: &[u8]| mend(&path, &target, bytes);
        // The first place resembles a file, but is not one.
        let prefixes: [&[u8]; 3] =
            [b"HTTP/1.1 200 OK\r\n\r\n", &[0; 4096], b"a rawarray is one whose header"];
        for prefix in prefixes {
            let done = run(&[prefix, &file].concat()).unwrap();
            assert_eq!((done.format, std::fs::read(&target).unwrap()), ("rawarray", file.clone()));
            let at = prefix.len() as u64;
            assert_eq!(done.report.guessed[0].range, Some(0..at));
            assert!(
                done.report
                    .kept
                    .iter()
                    .all(|item| item.range.as_ref().is_some_and(|range| range.start >= at))
            );
            assert!(done.report.lost.is_empty());
            let error = open_with(&path, Accept::Containers, &OpenOptions::default()).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(&format!("begins at byte {at}")), "{message}");
        }
        for far in [64 << 10, (64 << 10) + 1] {
            let error = run(&[&vec![b' '; far][..], &file].concat()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::WrongFormat { .. }));
        }
        assert!(run(&[&vec![b' '; (64 << 10) - 1][..], &file].concat()).is_ok());
        // A store of several arrays whose first bytes are damaged: one of them is not the file.
        let comment = b"of 12 bytes.";
        let end = [b"PK\x05\x06", &[0; 16][..], &12_u16.to_le_bytes(), comment].concat();
        let archive = [&[b' '; 49][..], &file, &end].concat();
        assert!(matches!(run(&archive).unwrap_err().kind(), ErrorKind::WrongFormat { .. }));
        assert!(run(&[&archive, &b"and more"[..]].concat()).is_ok());
    }

    /// Its magic repeats itself, so that all of it but a byte or two are in the place of another.
    #[cfg(feature = "gsd")]
    #[test]
    fn a_gsd_file_behind_a_byte_or_two_is_taken_from_there() {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join("a"), directory.path().join("b"));
        let mut file = vec![0; 5376];
        file[..8].copy_from_slice(&[0xDF, 0x65, 0xDF, 0x65, 0xDF, 0x65, 0xDF, 0x65]);
        for (at, number) in [(8, 256_u64), (16, 128), (24, 4352), (32, 16), (40, 0x0002_0001_0001_0004)] {
            file[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        file[112..116].copy_from_slice(b"none");
        // A chunk `a` of one byte.
        file[264] = 1;
        file[272..274].copy_from_slice(&5376_u16.to_le_bytes());
        (file[280], file[286], file[4352]) = (1, 1, b'a');
        file.push(7);
        let run = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            repair_with(&path, Some(&target), Overwrite::Replace, &OpenOptions::default(), Progress::none())
        };
        run(&file).unwrap();
        let whole = std::fs::read(&target).unwrap();
        for prefix in [&b"\n"[..], b"\r\n", b"\xEF\xBB\xBF"] {
            let done = run(&[prefix, &file].concat()).unwrap();
            assert_eq!((done.format, done.report.guessed.len()), ("gsd", 1), "{:?}", done.report);
            assert_eq!(done.report.guessed[0].range, Some(0..prefix.len() as u64));
            assert!(done.report.lost.is_empty() && std::fs::read(&target).unwrap() == whole);
        }
        for at in 0..8 {
            let mut damaged = file.clone();
            damaged[at] ^= 0x10;
            assert_eq!(run(&damaged).unwrap().report.guessed.len(), 1);
            assert!(std::fs::read(&target).unwrap() == whole, "{at}");
        }
    }

    /// RawArray keeps the following bytes as its trailer.
    #[cfg(all(feature = "asdf", feature = "bloscpack", feature = "blosc2", feature = "gsd"))]
    #[test]
    fn another_file_after_the_end_is_lost() {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join("a"), directory.path().join("b"));
        for name in [
            "asdf/ok/label_bsc2.asdf",
            "bloscpack/ok/vl_text.blp",
            "blosc2/ok/shape_1d.b2nd",
            "gsd/ok/append3_v20.gsd",
        ] {
            let file = format!("{}/../../testdata/{name}", env!("CARGO_MANIFEST_DIR"));
            let bytes = std::fs::read(file).unwrap();
            assert!(mend(&path, &target, &bytes).unwrap().report.lost.is_empty(), "{name}");
            let done = mend(&path, &target, &[&bytes[..], &bytes].concat()).unwrap();
            let len = bytes.len() as u64;
            let lost: Vec<_> = done.report.lost.iter().filter_map(|item| item.range.clone()).collect();
            assert!(lost.len() == 1 && lost[0] == (len..2 * len), "{name}: {:?}", done.report);
        }
    }

    #[cfg(feature = "blosc2")]
    #[test]
    fn a_file_of_another_program_is_not_taken_apart() {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join("a"), directory.path().join("b"));
        let frame = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/blosc2/ok/shape_1d.b2nd");
        let frame = std::fs::read(frame).unwrap();
        let user_block = [&[b' '; 512][..], b"\x89HDF\r\n\x1a\n"].concat();
        for (head, name) in [
            (&b"\x89HDF\r\n\x1a\n\0\0\0\0"[..], "HDF5"),
            (&user_block, "HDF5"),
            (b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0a.txt", "zip"),
            (b"\x80\x04\x95\x00\x10\0\0\0\0\0\0B\x00\x10\0\0", "pickle"),
            (b"SIMPLE  =                    T", "FITS"),
            (b"\x1f\x8b\x08\0", "gzip"),
        ] {
            std::fs::write(&path, [head, &[b'x'; 20], &frame, &frame].concat()).unwrap();
            let options = OpenOptions::default();
            let done = repair_with(&path, Some(&target), Overwrite::Refuse, &options, Progress::none());
            for error in [done.unwrap_err(), open_with(&path, Accept::Containers, &options).unwrap_err()] {
                assert!(matches!(error.kind(), ErrorKind::WrongFormat { .. }), "{error}");
                assert!(error.to_string().contains(name), "{name}: {error}");
                assert!(!error.hint().unwrap().contains("holdall repair"), "{error:?}");
            }
            assert!(!target.exists());
        }
    }

    #[cfg(feature = "rawarray")]
    #[test]
    fn a_cut_file_is_brought_back_as_far_as_it_goes() {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join("a"), directory.path().join("b"));
        // Two of the three columns exist, and half of the last.
        let file = crate::testing::ra_bytes();
        std::fs::write(&path, &file[..74]).unwrap();
        let options = OpenOptions::default();
        let dry = repair_with(&path, None, Overwrite::Refuse, &options, Progress::none()).unwrap();
        assert!(!target.exists());
        let wet = repair_with(&path, Some(&target), Overwrite::Refuse, &options, Progress::none()).unwrap();
        assert_eq!(dry, wet);
        assert_eq!(wet.format, "rawarray");
        assert!(!wet.report.lost.is_empty());
        let repaired = std::fs::read(&target).unwrap();
        assert_eq!((&repaired[56..64], &repaired[64..]), (&2_u64.to_le_bytes()[..], &file[64..72]));
        let again = repair_with(&path, Some(&target), Overwrite::Refuse, &options, Progress::none());
        assert!(matches!(again.unwrap_err().kind(), ErrorKind::Usage(_)));
    }

    /// The key of one leaf refers to bytes that are not a frame: it cannot be restored, and the new file lacks it as well.
    #[cfg(feature = "blosc2")]
    #[test]
    fn unreadable_leaf_is_reported_as_lost() {
        use blosc2_frame::{FrameOptions, Writer, msgpack};
        use container_core::Value;
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let frame = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/blosc2/ok/dict_b2d.b2d/b.b2nd");
        let frame = std::fs::read(frame).unwrap();
        let store = |length: u64| {
            let place = |offset: u64, length: u64| {
                Value::Map(vec![("offset".into(), offset.into()), ("length".into(), length.into())])
            };
            let keys = vec![("/b".into(), place(0, frame.len() as u64)), ("/c".into(), place(0, length))];
            let map = Value::Map(vec![("embed_map".into(), Value::Map(keys))]);
            let mut options = FrameOptions::default();
            options.metalayers.set("b2embed", b"\x81\xa7version\x01".to_vec()).unwrap();
            let mut bytes = Vec::new();
            let mut writer = Writer::new(&mut bytes, options).unwrap();
            writer.append(&frame).unwrap();
            writer.set_vlmetalayer("estore_metadata", &msgpack::from_value(&map).unwrap()).unwrap();
            writer.finish().unwrap();
            bytes
        };
        let sound = mend(&at("a.b2e"), &at("b.b2e"), &store(frame.len() as u64)).unwrap();
        assert_eq!(sound.report.lost, []);
        let dry = |name: &str| {
            repair_with(&at(name), None, Overwrite::Refuse, &OpenOptions::default(), Progress::none())
                .unwrap()
        };
        assert_eq!(dry("a.b2e").report, sound.report);
        let lost = mend(&at("c.b2e"), &at("d.b2e"), &store(40)).unwrap().report.lost;
        assert!(
            !lost.is_empty() && lost.iter().all(|item| item.what.starts_with("in the new store: ")),
            "{lost:?}"
        );
        assert_eq!(dry("c.b2e").report.lost, lost);
    }

    /// A truth value of 4, which cannot be restored.
    #[cfg(feature = "asdf")]
    #[test]
    fn a_report_without_a_target_is_that_of_one_with_a_target() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/asdf/bad/array_bool_2.asdf");
        let wet = mend(&at("a"), &at("b"), &std::fs::read(file).unwrap()).unwrap();
        assert!(!wet.report.lost.is_empty());
        std::fs::remove_file(at("b")).unwrap();
        let dry = repair_with(&at("a"), None, Overwrite::Refuse, &OpenOptions::default(), Progress::none());
        assert_eq!(dry.unwrap(), wet);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    /// Repairs read frames as readers do: a byte within one is reported as a loss.
    #[cfg(all(feature = "asdf", feature = "blosc2"))]
    #[test]
    fn damaged_frame_in_an_asdf_block_is_reported_as_lost() {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join("a"), directory.path().join("b"));
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/asdf/ok/label_bsc2.asdf");
        let mut bytes = std::fs::read(file).unwrap();
        assert!(mend(&path, &target, &bytes).unwrap().report.lost.is_empty());
        assert_eq!(std::fs::read(&target).unwrap(), bytes);
        bytes[2084] ^= 1;
        let done = mend(&path, &target, &bytes).unwrap();
        assert!(!done.report.lost.is_empty(), "{:?}", done.report);
    }
}
