use super::*;

#[cfg(unix)]
mod files;

const KIND: JournalKind = JournalKind { suffix: ".journal", magic: *b"testjrn1" };

fn patch(at: u64, old: &[u8], new: &[u8]) -> Patch {
    Patch { at, old: old.to_vec(), new: new.to_vec() }
}

/// Two patches within a file of 700 bytes, the first across two sectors.
fn within() -> Journal {
    Journal::new(700, 700, vec![patch(600, b"1", b"2"), patch(510, b"abcd", b"wxyz")]).unwrap()
}

/// A patch within, and bytes 690..700 replaced by 40.
fn growing() -> Journal {
    Journal::new(700, 730, vec![patch(510, b"abcd", b"wxyz"), patch(690, &[b'.'; 10], &[b'n'; 40])]).unwrap()
}

/// A patch within, and the last ten bytes replaced by two.
fn shrinking() -> Journal {
    Journal::new(700, 692, vec![patch(510, b"abcd", b"wxyz"), patch(690, &[b'.'; 10], b"ny")]).unwrap()
}

/// The file of 700 bytes before any of these.
fn old() -> Vec<u8> {
    let mut file = vec![b'.'; 700];
    file[510..514].copy_from_slice(b"abcd");
    file[600] = b'1';
    file
}

fn with(mut file: Vec<u8>, places: &[(usize, &[u8])]) -> Vec<u8> {
    for (at, bytes) in places {
        let end = at + <[u8]>::len(bytes);
        file.resize(end.max(<[u8]>::len(&file)), 0);
        file[*at..end].copy_from_slice(bytes);
    }
    file
}

#[test]
fn bytes_and_journals_are_inverse() {
    for journal in [within(), growing(), shrinking()] {
        let bytes = journal.encode(&KIND);
        assert_eq!(Journal::parse(&bytes, &KIND), Some(journal));
        assert_eq!(Journal::parse(&bytes, &JournalKind { magic: *b"testjrn2", ..KIND }), None);
        for cut in 0..bytes.len() {
            assert_eq!(Journal::parse(&bytes[..cut], &KIND), None, "cut at {cut}");
            let mut other = bytes.clone();
            other[cut] ^= 0x10;
            assert_eq!(Journal::parse(&other, &KIND), None, "flipped at {cut}");
        }
        assert_eq!(Journal::parse(&[&bytes[..], b"more"].concat(), &KIND), None);
    }
}

/// The sum is that of Python's zlib.crc32 for the 66 bytes before it.
#[test]
fn a_journal_is_as_documented() {
    let bytes = Journal::new(9, 9, vec![patch(7, b"a", b"b")]).unwrap().encode(&KIND);
    let numbers = [70_u64, 9, 9, 1, 7, 1, 1].map(u64::to_le_bytes).concat();
    let expected = [&b"testjrn1"[..], &numbers, b"ab", &SUM.to_le_bytes()].concat();
    assert_eq!(bytes, expected);
}

const SUM: u32 = 0x9713d735;

/// Patches that a writer never makes, with a length and a sum that fit.
#[test]
fn journals_with_invalid_patches_are_refused() {
    let forged = |old_len, new_len, patches: Vec<Patch>| {
        let bytes = Journal { old_len, new_len, patches }.encode(&KIND);
        Journal::parse(&bytes, &KIND)
    };
    let fits = forged(100, 100, vec![patch(0, b"ab", b"cd"), patch(2, b"e", b"f")]);
    assert!(fits.is_some());
    for (what, old_len, new_len, patches) in [
        ("none", 100, 100, vec![]),
        ("no change", 100, 100, vec![patch(0, b"ab", b"ab")]),
        ("no bytes", 100, 100, vec![patch(0, b"", b"")]),
        ("one over another", 100, 100, vec![patch(0, b"ab", b"cd"), patch(1, b"e", b"f")]),
        ("descending", 100, 100, vec![patch(2, b"e", b"f"), patch(0, b"ab", b"cd")]),
        ("behind the end", 100, 100, vec![patch(99, b"ab", b"cd")]),
        ("past 2^64", 100, 100, vec![patch(u64::MAX, b"ab", b"cd")]),
        ("longer within", 100, 100, vec![patch(0, b"ab", b"cde")]),
        ("longer, not to the end", 100, 101, vec![patch(0, b"ab", b"cde")]),
        ("an end without its bytes", 100, 50, vec![patch(0, b"ab", b"cd")]),
        ("an end of 0", 100, 0, vec![patch(0, b"ab", b"")]),
        ("a length past all", 100, u64::MAX, vec![patch(98, b"ab", b"cd")]),
    ] {
        assert_eq!(forged(old_len, new_len, patches), None, "{what}");
    }
    // Counts and lengths that the bytes do not have.
    let bytes = within().encode(&KIND);
    for (at, number) in [(32, u64::MAX), (32, 1), (48, u64::MAX), (48, 5), (56, 1 << 40)] {
        let mut forged = bytes[..bytes.len() - 4].to_vec();
        forged[at..at + 8].copy_from_slice(&number.to_le_bytes());
        forged.extend(crc32fast::hash(&forged).to_le_bytes());
        assert_eq!(Journal::parse(&forged, &KIND), None, "{number} at {at}");
    }
}

#[test]
fn a_journal_is_about_old_new_and_torn_bytes() {
    let state = |file: Vec<u8>| within().state(&file).unwrap();
    for (four, one, expected) in [
        (b"abcd", b"1", State::Old),
        (b"wxcd", b"1", State::Torn),
        (b"abyz", b"2", State::Torn),
        (b"wbcd", b"1", State::Torn),
        (b"abyd", b"1", State::Torn),
        (b"wxyz", b"1", State::Torn),
        (b"wxyz", b"2", State::New),
        // The second byte of a sector without the first.
        (b"axcd", b"1", State::Other),
        (b"abcz", b"1", State::Other),
        (b"abcd", b"3", State::Other),
    ] {
        assert_eq!(state(with(old(), &[(510, four), (600, one)])), expected, "{four:?} {one:?}");
    }
    // A byte more or less is another file, whatever the others are.
    for file in [old()[..699].to_vec(), with(old(), &[(700, b"+")])] {
        assert_eq!(state(file), State::Other);
    }
}

#[test]
fn bytes_that_come_at_the_end_count_when_all_are_there() {
    let state = |places: &[(usize, &[u8])]| growing().state(&with(old(), places)).unwrap();
    let all: (usize, &[u8]) = (700, &[b'n'; 30]);
    assert_eq!(state(&[]), State::Old);
    assert_eq!(state(&[(700, b"nnn")]), State::Cut);
    // A sector that did not come about.
    assert_eq!(state(&[(700, &[0; 30])]), State::Cut);
    assert_eq!(state(&[all]), State::Cut);
    assert_eq!(state(&[all, (510, b"wx")]), State::Torn);
    assert_eq!(state(&[all, (510, b"wxyz"), (690, &[b'n'; 10])]), State::New);
    // Another program has added bytes, or the change before them is not explained.
    assert_eq!(state(&[(700, b"nnx")]), State::Other);
    assert_eq!(state(&[(700, &[b'n'; 31])]), State::Other);
    assert_eq!(state(&[(700, b"nnn"), (510, b"wx")]), State::Other);
}

#[test]
fn bytes_that_go_at_the_end_are_compared_as_well() {
    let file = |places: &[(usize, &[u8])], len: usize| {
        let mut file = with(old(), places);
        file.truncate(len);
        shrinking().state(&file).unwrap()
    };
    let new: &[(usize, &[u8])] = &[(510, b"wxyz"), (690, b"ny")];
    assert_eq!(file(&[], 700), State::Old);
    assert_eq!(file(new, 700), State::Torn);
    assert_eq!(file(&[], 692), State::Torn);
    assert_eq!(file(new, 692), State::New);
    assert_eq!(file(&[(699, b"x")], 700), State::Other);
    assert_eq!(file(new, 696), State::Other);
}

/// A place in memory, which may refuse.
#[derive(Default)]
struct Kept(Option<Vec<u8>>);

impl JournalStore for Kept {
    fn read(&self, _limits: &Limits) -> Result<Found> {
        Ok(self.0.clone().map_or(Found::Absent, Found::Journal))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.0 = Some(bytes.to_vec());
        Ok(())
    }

    fn remove(&mut self) -> Result<()> {
        self.0 = None;
        Ok(())
    }
}

#[test]
fn recovery_finishes_or_rolls_back_the_change() {
    let run = |journal: &Journal, file: &[u8]| {
        let (mut storage, mut sidecar) = (file.to_vec(), Kept(Some(journal.encode(&KIND))));
        let place = recover(&mut storage, &mut sidecar, &KIND, &Limits::default()).unwrap();
        assert_eq!(sidecar.0.is_none(), place == Place::Free);
        (storage, place)
    };
    let ends: &[(usize, &[u8])] = &[(510, b"wxyz"), (690, &[b'n'; 40])];
    let new = with(old(), ends);
    assert_eq!(run(&growing(), &old()), (old(), Place::Free));
    assert_eq!(run(&growing(), &with(old(), &[(700, b"nn")])), (old(), Place::Free));
    assert_eq!(run(&growing(), &with(new.clone(), &[(510, b"ab")])), (new.clone(), Place::Free));
    assert_eq!(run(&growing(), &new), (new, Place::Free));
    let mut short = with(old(), &[(510, b"wxyz"), (690, b"ny")]);
    short.truncate(692);
    assert_eq!(run(&shrinking(), &old()[..692]), (short, Place::Free));
    // A copy that was put over the file, and one that was appended to.
    for other in [b"another file".to_vec(), with(old(), &[(510, b"wx"), (700, b"more")])] {
        assert_eq!(run(&within(), &other), (other, Place::Taken(NOT_ABOUT.to_owned())));
    }
}

/// A storage that refuses the writes from one on, some of them once.
struct Faulty {
    file: Vec<u8>,
    /// Writes, changes of the length and syncs still done.
    left: usize,
    /// Number of calls that are refused then.
    refused: usize,
}

impl Faulty {
    fn step(&mut self) -> Result<()> {
        if self.left == 0 && self.refused > 0 {
            self.refused -= 1;
            return Err(std::io::Error::from(std::io::ErrorKind::StorageFull).into());
        }
        self.left = self.left.saturating_sub(1);
        Ok(())
    }
}

impl Storage for Faulty {
    fn len(&self) -> Result<u64> {
        Ok(self.file.len() as u64)
    }

    fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.file.read_at(at, dst)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.step()?;
        self.file.write_at(at, bytes)
    }

    fn set_len(&mut self, len: u64) -> Result<()> {
        self.step()?;
        Storage::set_len(&mut self.file, len)
    }

    fn sync(&mut self) -> Result<()> {
        self.step()
    }
}

#[test]
fn failed_change_rolls_back_or_keeps_a_valid_journal() {
    for journal in [within(), growing(), shrinking()] {
        let mut done = 0;
        for (refused, left) in
            [1, 2, usize::MAX].into_iter().flat_map(|refused| (0..9).map(move |left| (refused, left)))
        {
            let mut storage = Faulty { file: old(), left, refused };
            let mut sidecar = Kept::default();
            match carry_out(&journal, &KIND, &mut storage, &mut sidecar) {
                Ok(()) => {
                    done += 1;
                    assert!(sidecar.0.is_none() && journal.state(&storage.file).unwrap() == State::New);
                }
                Err(Failed { is_undone: true, .. }) => {
                    assert!(sidecar.0.is_none() && storage.file == old(), "{refused} refused after {left}");
                }
                Err(Failed { error, .. }) => {
                    assert!(error.hint().unwrap().contains("takes effect"), "{error}");
                    assert!(sidecar.0.is_some() && journal.state(&storage.file).unwrap() != State::Other);
                }
            }
        }
        assert!(done > 0, "no change is made");
    }
}

#[test]
fn a_notice_is_a_finding_a_detail_and_a_part_of_the_map() {
    let notice = |is_pending| Notice { name: "a.journal".into(), len: 9, is_pending, message: "so".into() };
    for (is_pending, code, role) in
        [(true, "pending_journal", "pending journal"), (false, "foreign_journal", "foreign journal")]
    {
        let notice = notice(is_pending);
        let finding = notice.finding();
        assert_eq!((finding.code, finding.severity), (code, crate::report::Severity::Warning));
        assert_eq!((finding.message.as_str(), finding.part.as_deref()), ("so", Some("a.journal")));
        assert_eq!(notice.detail(), ("journal".to_owned(), "so".into()));
        let segment = notice.segment();
        assert_eq!(
            (segment.range, segment.role.as_str(), segment.part.as_deref()),
            (0..9, role, Some("a.journal"))
        );
    }
}

#[test]
fn a_patch_is_the_bytes_that_differ() {
    assert_eq!(Patch::between(500, b"abcdef", b"abXdYf"), Some(patch(502, b"cde", b"XdY")));
    assert_eq!(Patch::between(500, b"abc", b"abc"), None);
    for (at, len, spans) in
        [(0, 512, false), (0, 513, true), (511, 1, false), (511, 2, true), (512, 512, false)]
    {
        assert_eq!(patch(at, &vec![0; len], &vec![1; len]).spans_sectors(), spans, "{at} {len}");
    }
    assert!(Journal::new(9, 9, vec![patch(8, b"ab", b"cd")]).is_err());
    let (mut none, limits) = (NoJournal, Limits::default());
    none.put(b"journal").unwrap();
    none.remove().unwrap();
    assert_eq!(none.read(&limits).unwrap(), Found::Absent);
}
