use std::io::{Cursor, SeekFrom};

use container_core::Limits;
use container_core::container::OpenOptions;

use super::*;
use crate::write::MAX_CHUNK_SIZE;
use crate::{ChecksumCode, ErrorKind, FaultKind, Layout, VarReader};

fn file(items: &[&[u8]], count: Option<u64>, options: &VarOptions) -> Vec<u8> {
    let mut writer = VarWriter::new(Cursor::new(Vec::new()), count, options).unwrap();
    items.iter().try_for_each(|item| writer.push(item)).unwrap();
    assert_eq!((writer.len(), writer.is_empty()), (items.len() as u64, items.is_empty()));
    writer.complete().unwrap().0.into_inner()
}

fn items(file: Vec<u8>) -> Vec<Vec<u8>> {
    let reader = VarReader::from_source(Box::new(file), &OpenOptions::default()).unwrap();
    reader.iter().map(Result::unwrap).collect()
}

/// The example of the format's page, by hand: header, metadata, offsets, `hello` and an empty item, each stored plainly, with
/// the Adler-32 sums that it gives.
#[test]
fn the_example_of_the_format_comes_out_byte_for_byte() {
    let mut expected = b"blpk\x04\x07\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff".to_vec();
    expected.extend(b"\x02\0\0\0\0\0\0\0\x2c\0\0\0\0\0\0\0");
    // Written without the blanks of the page's example.
    expected.extend(br#"{"dtype":"varchar","shape":[2],"others":[]}"#);
    expected[24] = 43;
    let table = expected.len();
    assert_eq!(table, 75);
    expected.extend(91_u64.to_le_bytes());
    expected.extend((91 + 25_u64).to_le_bytes());
    expected.extend(b"\x02\x01\x12\x01\x05\0\0\0\x05\0\0\0\x15\0\0\0hello\x4a\x02\x35\x09");
    expected.extend(b"\x02\x01\x12\x01\0\0\0\0\x01\0\0\0\x10\0\0\0\x28\0\x90\x01");
    let options = VarOptions::text();
    for count in [Some(2), None] {
        assert_eq!(file(&[b"hello", b""], count, &options), expected, "{count:?}");
    }
}

#[test]
fn no_items_are_a_header_and_metadata() {
    let file = file(&[], None, &VarOptions::default());
    assert_eq!(file[32..], *br#"{"dtype":"blob","shape":[0],"others":[]}"#);
    let layout = Layout::parse(&file, &Limits::default()).unwrap();
    assert!(layout.faults().is_empty() && layout.chunks().is_empty());
}

#[test]
fn items_of_every_size_come_back_for_any_number_of_threads() {
    let big: Vec<u8> = (0..3_000_000_u32).map(|at| u8::try_from(at / 7 % 251).unwrap()).collect();
    let mut all: Vec<&[u8]> = (0..5000).map(|len| &big[..len % 300]).collect();
    all.insert(1234, &big);
    all.push(&big[..1 << 20]);
    let options = |threads| {
        let mut options = VarOptions { reserve: 3, ..VarOptions::default() };
        options.chunks = options.chunks.with_threads(threads);
        options
    };
    let one = file(&all, None, &options(1));
    let layout = Layout::parse(&one, &Limits::default()).unwrap();
    assert!(layout.chunks().windows(2).all(|pair| pair[1].range().start == pair[0].range().end + 4 + 3));
    assert_eq!(items(one.clone()), all);
    for threads in [2, 5] {
        assert!(file(&all, Some(all.len() as u64), &options(threads)) == one, "{threads} threads");
    }
}

#[test]
fn rows_and_names_and_notes_are_in_the_metadata() {
    let dtype = DType::parse("<f8").unwrap();
    let options = VarOptions {
        names: Some(vec!["a".into(), "é/b".into()]),
        others: vec![Value::from("note")],
        ..VarOptions::rows(dtype)
    };
    let file = file(&[&[0; 16], &[]], None, &options);
    let reader = VarReader::from_source(Box::new(file), &OpenOptions::default()).unwrap();
    assert_eq!(reader.elements::<f64>(0).unwrap(), [0.0, 0.0]);
    assert_eq!(reader.names().unwrap(), ["a", "é/b"]);
    let json = to_json(reader.file().metadata().unwrap()).unwrap();
    assert_eq!(json, r#"{"dtype":"vlen:<f8","shape":[2],"others":["note"],"names":["a","\u00e9/b"]}"#);
    assert_eq!(reader.file().header().typesize, 8);
}

#[test]
fn all_nine_checksums_are_read_back() {
    for code in 0..=8 {
        let mut options = VarOptions::text();
        options.chunks.checksum = ChecksumCode(code);
        assert_eq!(items(file(&[b"one", b""], None, &options)), [b"one".to_vec(), vec![]]);
    }
}

#[test]
fn invalid_items_are_refused() {
    let refused = |result: Result<()>| {
        let error = result.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    };
    let text = VarOptions::text();
    let new = |count, options: &VarOptions| VarWriter::new(Cursor::new(Vec::new()), count, options);
    refused(new(None, &text).unwrap().push(b"\xff"));
    refused(new(None, &VarOptions::rows(DType::parse("<i4").unwrap())).unwrap().push([0; 5]));
    refused(new(Some(0), &text).unwrap().push("x"));
    refused(new(Some(1), &text).unwrap().complete().map(|_| ()));
    let named = VarOptions { names: Some(vec!["a".into()]), ..text };
    refused(new(Some(2), &named).map(|_| ()));
    refused(new(None, &named).unwrap().complete().map(|_| ()));
    assert_eq!(MAX_CHUNK_SIZE, 2_147_483_631);
}

/// An output that notes every write, so that each moment of it can be looked at.
#[derive(Default)]
struct Recording {
    file: Cursor<Vec<u8>>,
    moments: Vec<Vec<u8>>,
}

impl Write for Recording {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.moments.push(self.file.get_ref().clone());
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Recording {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}

#[test]
fn no_moment_of_writing_passes_for_a_complete_file_but_the_last() {
    // Larger than the buffer, so that there are many writes.
    let noise: Vec<u8> =
        (0..200_000_u32).flat_map(|at| (at.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
    let all: Vec<&[u8]> = noise.chunks(30_000).collect();
    let mut writer =
        VarWriter::new(Recording::default(), Some(all.len() as u64), &VarOptions::default()).unwrap();
    for item in &all {
        writer.push(item).unwrap();
    }
    let recorded = writer.complete().unwrap().0;
    assert!(recorded.moments.len() > 4, "{} writes", recorded.moments.len());
    let whole = recorded.file.into_inner();
    assert_eq!(items(whole.clone()), all);
    for moment in recorded.moments {
        if moment == whole {
            continue;
        }
        match Layout::parse(&moment, &Limits::default()) {
            Ok(layout) => assert!(!layout.is_complete()),
            Err(error) => assert!(matches!(error.kind(), ErrorKind::Truncated { .. })),
        }
    }
    // All written, but the table: the state that an abort leaves.
    let layout = Layout::parse(&whole, &Limits::default()).unwrap();
    let mut aborted = whole;
    let table = layout.offsets();
    aborted[usize::try_from(table.start).unwrap()..usize::try_from(table.end).unwrap()].fill(0xff);
    let layout = Layout::parse(&aborted, &Limits::default()).unwrap();
    assert!(layout.faults().iter().any(|fault| fault.kind() == FaultKind::OffsetsUnset));
}
