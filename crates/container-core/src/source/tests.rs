use super::*;
use crate::ErrorKind;

#[test]
fn slices_are_borrowed_and_report_missing_bytes() {
    let bytes = [1_u8, 2, 3];
    let source: &dyn Source = &&bytes[..];
    assert!(matches!(source.read(1..3).unwrap(), Cow::Borrowed([2, 3])));
    let error = source.read(1..9).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { need: 8, have: 2 }));
    assert_eq!(error.range(), Some(1..9));
    assert!(matches!(source.read(Range { start: 3, end: 1 }).unwrap_err().kind(), ErrorKind::Usage(_)));
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn parallel_reads_give_the_bytes_of_a_plain_read() {
    let bytes: Vec<u8> = (0..(20_usize << 20) + 7).map(|at| (at * 31 / 8 % 251) as u8).collect();
    for threads in [1, 2, 3, 8] {
        let mut copy = vec![0; bytes.len() - 5];
        read_parallel(&bytes, 5, &mut copy, threads, Stop::never()).unwrap();
        assert!(copy == bytes[5..], "{threads} threads");
        assert!(read_parallel(&bytes, 6, &mut copy, threads, Stop::never()).is_err());
    }
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn zeroed_memory_is_bounded_and_zero() {
    let limits = Limits::default().with_memory(64 << 20);
    let memory: Vec<u64> = try_zeroed_vec(4 << 20, &limits).unwrap();
    assert!(memory.len() == 4 << 20 && memory.iter().all(|word| *word == 0));
    assert!(try_zeroed_vec::<u64>(u64::MAX / 4, &limits).is_err());
    assert!(try_zeroed_vec::<u8>((64 << 20) + 1, &limits).is_err());
}

/// Answers each question otherwise than by default, and counts reads.
struct Answering(Mutex<Vec<usize>>);

impl Source for Answering {
    fn len(&self) -> u64 {
        4
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.lock().unwrap().push(dst.len());
        dst.fill(at as u8);
        Ok(())
    }

    fn read_until(&self, _at: u64, dst: &mut [u8], stop: Stop) -> Result<()> {
        dst.fill(77);
        stop.check()
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        (range == (1..3)).then_some(&[8, 9])
    }

    fn read(&self, _range: Range<u64>) -> Result<Cow<'_, [u8]>> {
        Ok(Cow::Borrowed(&[5]))
    }
}

#[test]
fn a_reference_answers_as_its_source() {
    fn answers(source: &dyn Source) {
        let mut two = [0; 2];
        source.read_into(3, &mut two).unwrap();
        assert_eq!((source.len(), source.is_empty(), two), (4, false, [3, 3]));
        source.read_until(3, &mut two, Stop::never()).unwrap();
        assert_eq!((two, source.lend(1..3), source.lend(0..1)), ([77, 77], Some(&[8, 9][..]), None));
        assert_eq!(*source.read(0..9).unwrap(), [5]);
    }
    let source = || Answering(Mutex::default());
    answers(&source());
    answers(&&source());
    answers(&Box::new(source()));
    answers(&Arc::new(source()));
    let boxed: Box<dyn Source> = Box::new(source());
    answers(&boxed);
}

/// A source without memory of its own: bytes are their offsets.
struct Offsets(u64, Mutex<Vec<(u64, usize)>>);

impl Source for Offsets {
    fn len(&self) -> u64 {
        self.0
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at + dst.len() as u64), self.0)?;
        self.1.lock().unwrap().push((at, dst.len()));
        dst.fill((at >> 20) as u8);
        Ok(())
    }
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn long_reads_are_done_in_pieces_until_they_are_to_stop() {
    static ASKED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
    let source = Offsets(1 << 40, Mutex::default());
    let reads = |len: usize| {
        let mut dst = vec![0; len];
        source.read_until(5, &mut dst, Stop::never()).unwrap();
        std::mem::take(&mut *source.1.lock().unwrap())
    };
    assert_eq!(reads(STOP_LEN), [(5, STOP_LEN)]);
    let second = 5 + STOP_LEN as u64;
    assert_eq!(reads(2 * STOP_LEN + 1), [(5, STOP_LEN), (second, STOP_LEN), (second + STOP_LEN as u64, 1)]);
    let stopped = source.read_until(0, &mut [0], Stop::when(&ASKED)).unwrap_err();
    assert!(matches!(stopped.kind(), ErrorKind::Cancelled));
    let bytes: &dyn Source = &source;
    assert!(matches!(bytes.read(3..6).unwrap(), Cow::Owned(bytes) if bytes == [0; 3]));
    assert!(bytes.lend(3..6).is_none() && bytes.read(3..(1 << 40) + 1).is_err());
    source.1.lock().unwrap().clear();
    // Shares of 8 MiB at least, each taken once.
    let mut dst = vec![9; 20 << 20];
    read_parallel(&source, 1 << 20, &mut dst, 16, Stop::never()).unwrap();
    let mut shares = std::mem::take(&mut *source.1.lock().unwrap());
    shares.sort_unstable();
    assert_eq!(shares, [(1 << 20, 8 << 20), (9 << 20, 8 << 20), (17 << 20, 4 << 20)]);
    assert_eq!((dst[0], dst[8 << 20], dst[16 << 20]), (1, 9, 17));
    read_parallel(&source, 0, &mut dst[..8 << 20], 16, Stop::never()).unwrap();
    assert_eq!(source.1.lock().unwrap().len(), 1);
}

#[test]
fn ranges_are_within_a_length_or_refused() {
    check_range(&(3..3), 3).unwrap();
    check_range(&(0..3), 3).unwrap();
    let error = check_range(&(2..4), 3).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { need: 2, have: 1 }));
    assert_eq!(error.range(), Some(2..4));
    let error = check_range(&(8..9), 3).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { need: 1, have: 0 }));
    let error = check_range(&Range { start: 2, end: 1 }, 3).unwrap_err();
    assert_eq!(error.to_string(), "byte range 2..1 runs backwards");
    assert!(Source::is_empty(&Vec::new()) && !Source::is_empty(&vec![0]));
    assert!(vec![1].read_into(u64::MAX, &mut [0]).is_err());
}

#[test]
fn bytes_are_copied_only_where_they_are_borrowed() {
    let limits = Limits::default().with_memory(2);
    assert_eq!(try_copy(&[1, 2], &limits).unwrap(), [1, 2]);
    let error = try_copy(&[1, 2, 3], &limits).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { asked: 3, allowed: 2, .. }));
    assert_eq!(into_vec(Cow::Borrowed(&[1, 2]), &limits).unwrap(), [1, 2]);
    assert!(into_vec(Cow::Borrowed(&[1, 2, 3]), &limits).is_err());
    assert_eq!(into_vec(Cow::Owned(vec![1, 2, 3]), &limits).unwrap(), [1, 2, 3]);
    let error = try_zeroed_vec::<u32>(u64::MAX, &Limits::default().with_memory(u64::MAX)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
}

#[cfg(unix)]
mod files {
    use std::fs::{self, File};
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_is_an_error_with_its_range() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"0123456789").unwrap();
        let source = FileSource::new(file).unwrap();
        let error = source.read_into(3, &mut [0; 2]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error}");
        assert_eq!(error.range(), Some(3..5));
        let source = FileSource::open(&path).unwrap();
        let mut three = [0; 3];
        source.read_into(7, &mut three).unwrap();
        assert_eq!((source.len(), &three, source.lend(0..1)), (10, b"789", None));
        assert!(matches!(
            source.read_into(8, &mut three).unwrap_err().kind(),
            ErrorKind::Truncated { need: 3, have: 2 }
        ));
        File::options().write(true).open(&path).unwrap().set_len(8).unwrap();
        let error = source.read_into(7, &mut three).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { need: 3, have: 1 }));
        assert_eq!(error.range(), Some(7..10));
        assert!(FileSource::open(folder.path().join("b")).is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn a_path_is_opened_as_it_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let bytes: Vec<u8> = (0..=250).cycle().take(40_000).collect();
        fs::write(&path, &bytes).unwrap();
        let limits = Limits::default();
        type Open = fn(&std::path::Path, Access, &Limits) -> Result<Box<dyn Source>>;
        for open in [open_path as Open, open_path_lazy_mmap, open_path_probed_mmap] {
            for access in [Access::Auto, Access::Positioned, Access::Memory] {
                let source = open(&path, access, &limits).unwrap();
                assert!(
                    source.len() == 40_000 && *source.read(0..40_000).unwrap() == bytes[..],
                    "{access:?}"
                );
                assert_eq!(source.lend(1..39_000).is_some(), access != Access::Positioned, "{access:?}");
            }
            let error = open(folder.path(), Access::Auto, &limits).err().unwrap();
            assert!(
                matches!(error.kind(), ErrorKind::Usage(what) if what == "this is a directory, not a file")
            );
            let small = limits.with_memory(39_999);
            let error = open(&path, Access::Memory, &small).err().unwrap();
            assert!(
                matches!(error.kind(), ErrorKind::Limit { asked: 40_000, allowed: 39_999, .. }),
                "{error}"
            );
            open(&path, Access::Memory, &limits.with_memory(40_000)).unwrap();
            assert!(open(&folder.path().join("none"), Access::Auto, &limits).is_err());
            // Files of /proc are empty by their length alone.
            if cfg!(target_os = "linux") {
                assert!(!open("/proc/self/status".as_ref(), Access::Positioned, &limits).unwrap().is_empty());
            }
        }
    }

    #[test]
    fn a_stream_is_read_up_to_the_limit() {
        let read = |memory| read_stream(&mut &b"12345"[..], &Limits::default().with_memory(memory));
        assert_eq!((read(5).unwrap(), read(u64::MAX).unwrap()), (b"12345".to_vec(), b"12345".to_vec()));
        let error = read(4).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit { asked: 5, allowed: 4, .. }), "{error}");
    }
}
