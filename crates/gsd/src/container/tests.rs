use container_core::format::Probe;
use container_core::report::Verdict;

use super::*;
use crate::ChunkType;
use crate::writer::sequential::{NewChunk, Plan, to_vec};

fn file(schema: &str, chunks: &[NewChunk<'_>]) -> Vec<u8> {
    to_vec(Plan::new("a program", schema, crate::Version::new(1, 4)).unwrap(), chunks).unwrap()
}

fn open(bytes: Vec<u8>) -> Box<dyn Container> {
    (FORMAT.open)(Input::bytes(Box::new(bytes)), &container::OpenOptions::default()).unwrap()
}

fn bytes_of(array: &Array<'_>) -> (Vec<u64>, Vec<u8>) {
    (array.shape().to_vec(), array.bytes(Order::C, &Limits::default()).unwrap().into_owned())
}

/// Shape and bytes.
type Part = (Vec<u64>, Vec<u8>);

/// A region, and its mask.
fn read(container: &dyn Container, path: &str, region: &str) -> (Part, Option<Part>) {
    let index = container.find(path).unwrap();
    let dataset = container.require(index).unwrap();
    assert_eq!(dataset.path, path);
    let region = Region::parse(region, &dataset.shape).unwrap();
    let options = ReadOptions::default();
    let mask = container.mask(index, &region, &options).unwrap();
    (bytes_of(&container.read(index, &region, &options).unwrap()), mask.as_ref().map(bytes_of))
}

#[test]
fn files_are_known_by_the_magic_of_either_byte_order() {
    let sniff = |head: &[u8]| (FORMAT.sniff)(&Probe { head, directory: None, len: None });
    let magic = [0xDF, 0x65, 0xDF, 0x65, 0xDF, 0x65, 0xDF, 0x65];
    let mut reversed = magic;
    reversed.reverse();
    assert!(sniff(&magic) && sniff(&reversed) && sniff(&file("none", &[])));
    assert!(!sniff(&magic[..7]) && !sniff(b"") && !sniff(b"no magic"));
}

#[test]
fn a_file_is_complete_where_all_that_it_announces_is_there() {
    let two: [NewChunk<'_>; 2] =
        [(0, "a", ChunkType::Uint8, 2, 1, &[1, 2]), (1, "a", ChunkType::Uint8, 2, 1, &[3, 4])];
    let whole = file("none", &two);
    let about = open(whole.clone()).about();
    assert_eq!((about.format, about.version.as_deref()), ("gsd", Some("2.1")));
    assert_eq!((about.size, about.complete), (whole.len() as u64, true));
    let cut = whole[..whole.len() - 1].to_vec();
    assert!(!open(cut).about().complete);
    // Data without a single entry.
    let start = usize::try_from(
        File::from_source(Box::new(whole.clone()), &OpenOptions::default()).unwrap().header().index_location,
    )
    .unwrap();
    let mut lost = whole;
    lost[start..start + 64].fill(0);
    let lost = open(lost);
    assert!(!lost.about().complete);
    let report = lost.check(CheckDepth::Quick, &ReadOptions::default(), Progress::none()).unwrap();
    assert_eq!(report.verdict(), Verdict::Damaged);
    assert!(open(file("none", &[])).about().complete);
}

#[test]
fn chunks_that_some_frames_lack_are_one_masked_array_on_request() {
    let chunks: [NewChunk<'_>; 5] = [
        (0, "a", ChunkType::Uint8, 2, 2, &[1, 2, 3, 4]),
        (0, "b", ChunkType::Uint8, 1, 1, &[9]),
        (1, "b", ChunkType::Uint8, 1, 1, &[9]),
        (2, "a", ChunkType::Uint8, 2, 2, &[5, 6, 7, 8]),
        (3, "b", ChunkType::Uint8, 1, 1, &[9]),
    ];
    let container = open(file("none", &chunks));
    // In no frame of all are both; each chunk is listed by its frame.
    assert_eq!((container.listed_count(), container.dataset_count(), container.datasets().len()), (5, 5, 0));
    let shape = |frames: u64| vec![frames, 2, 2];
    let gap = [0; 4];
    let all = [&[1, 2, 3, 4][..], &gap, &[5, 6, 7, 8], &gap].concat();
    let mask = [&[0; 4][..], &[1; 4], &[0; 4], &[1; 4]].concat();
    assert_eq!(read(&*container, "a", ":"), ((shape(4), all), Some((shape(4), mask))));
    let back = (shape(2), [&gap[..], &[5, 6, 7, 8]].concat());
    assert_eq!(read(&*container, "a", "3:1:-1"), (back, Some((shape(2), [[1; 4], [0; 4]].concat()))));
    let every = (shape(2), vec![1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(read(&*container, "a", "::2"), (every, Some((shape(2), vec![0; 8]))));
    assert_eq!(read(&*container, "a", "2, 1"), ((vec![2], vec![7, 8]), Some((vec![2], vec![0; 2]))));
    assert_eq!(read(&*container, "a", "1, :, 1"), ((vec![2], vec![0, 0]), Some((vec![2], vec![1; 2]))));
    assert_eq!(
        read(&*container, "a", "1::2, ::-1, 0"),
        ((vec![2, 2], vec![0; 4]), Some((vec![2, 2], vec![1; 4])))
    );
    assert_eq!(read(&*container, "a", ":0").0, (vec![0, 2, 2], vec![]));
    assert_eq!(read(&*container, "frames/2/a", "1"), ((vec![2], vec![7, 8]), None));
    let dataset = container.require(container.find("a").unwrap()).unwrap().into_owned();
    assert!(container.has_frame_axis(&dataset) && dataset.logical == 16);
    let frame = container.require(container.find("frames/2/a").unwrap()).unwrap().into_owned();
    assert!(!container.has_frame_axis(&frame) && (frame.stored, frame.logical) == (4, 4));
    assert_eq!(
        (container.find("c"), container.find("frames/1/a"), container.find("log")),
        (None, None, None)
    );
    let error = container.read(5, &Region::whole(&[]), &ReadOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), container_core::ErrorKind::Usage(_)), "{error}");
}

#[test]
fn a_stacked_array_is_read_with_steps_along_every_axis() {
    let data: Vec<Vec<u8>> = (0..4_u8).map(|frame| (0..6).map(|at| 10 * frame + at).collect()).collect();
    let chunks: Vec<NewChunk<'_>> = (0..)
        .zip(&data)
        .map(|(frame, bytes)| -> NewChunk<'_> { (frame, "a", ChunkType::Uint8, 3, 2, bytes) })
        .collect();
    let container = open(file("none", &chunks));
    for (region, shape, bytes) in [
        (":, ::2", &[4, 2, 2][..], vec![0, 1, 4, 5, 10, 11, 14, 15, 20, 21, 24, 25, 30, 31, 34, 35]),
        ("3::-2, ::-1, 1", &[2, 3], vec![35, 33, 31, 15, 13, 11]),
        ("1, 1:, ::-1", &[2, 2], vec![13, 12, 15, 14]),
        ("2", &[3, 2], vec![20, 21, 22, 23, 24, 25]),
        ("::3, 1, 0", &[2], vec![2, 32]),
        ("0:1", &[1, 3, 2], vec![0, 1, 2, 3, 4, 5]),
        ("2, 2, 1", &[], vec![25]),
        ("1:1", &[0, 3, 2], vec![]),
    ] {
        assert_eq!(read(&*container, "a", region), ((shape.to_vec(), bytes), None), "{region}");
    }
    let dataset = container.require(0).unwrap().into_owned();
    assert!(container.has_frame_axis(&dataset) && dataset.chunks == Some(vec![1, 3, 2]));
    assert_eq!((dataset.stored, dataset.logical), (24, 24));
}

#[test]
fn the_log_is_a_table_with_a_mask_of_what_frames_lack() {
    let (half, two) = (0.5_f64.to_le_bytes(), 2.0_f64.to_le_bytes());
    let step = 10_u64.to_le_bytes();
    let chunks: [NewChunk<'_>; 5] = [
        (0, "log/e", ChunkType::Double, 1, 1, &half),
        (1, "configuration/step", ChunkType::Uint64, 1, 1, &step),
        (1, "log/e", ChunkType::Double, 1, 1, &two),
        (1, "log/f", ChunkType::Uint8, 1, 1, &[7]),
        (1, "log/particles/x", ChunkType::Uint8, 2, 1, &[1, 2]),
    ];
    let container = open(file("hoomd", &chunks));
    let log = container.find("log").unwrap();
    assert_eq!(log, container.dataset_count());
    let ((shape, bytes), mask) = read(&*container, "log", "1");
    // Frame, step, e and f.
    let row = [1_u64.to_le_bytes(), step, two].concat();
    assert_eq!((shape, bytes), (vec![], [&row[..], &[7]].concat()));
    assert_eq!(mask, Some((vec![], vec![0, 0, 0, 0])));
    assert_eq!(read(&*container, "log", "0").1, Some((vec![], vec![0, 0, 0, 1])));
    let left: Vec<_> = container.left_out(log).into_iter().map(|loss| loss.what).collect();
    assert!(matches!(&left[..], [one] if one.starts_with("particles/x: ")), "{left:?}");
    assert_eq!(container.left_out(0), []);
    let whole = Region::whole(&container.require(log).unwrap().shape);
    assert_eq!(container.unexported_metadata(&[(log, whole)]).len(), 1);
    assert!(!container.has_frame_axis(&container.require(log).unwrap()));
    // With such a name, a chunk wins; and files of another schema have no log.
    let named: [NewChunk<'_>; 2] =
        [(0, "log", ChunkType::Uint8, 1, 1, &[3]), (0, "log/e", ChunkType::Double, 1, 1, &half)];
    assert_eq!(read(&*open(file("hoomd", &named)), "log", ":").0, (vec![1, 1], vec![3]));
    assert_eq!(open(file("none", &chunks)).find("log"), None);
    assert_eq!(open(file("hoomd", &[])).find("log"), None);
}

#[test]
fn what_arrays_cannot_carry_is_told() {
    let chunk: NewChunk<'_> = (0, "a", ChunkType::Uint8, 1, 1, &[1]);
    let container = open(file("of \"mine\"", &[chunk]));
    let losses: Vec<String> = container.losses().into_iter().map(|loss| loss.what).collect();
    assert_eq!(losses, ["application \"a program\", schema \"of \\\"mine\\\"\" 1.4"]);
    assert_eq!(container.unexported_metadata(&[]), []);
    assert!(container.may_lack_datasets() && container.checksums().is_empty());
    // Names that are not UTF-8.
    let mut odd = file("none", &[chunk]);
    odd[256] = 0xFF;
    let told = open(odd).unexported_metadata(&[]);
    assert!(
        matches!(&told[..], [one] if one.what.starts_with("names of chunks that are not UTF-8")),
        "{told:?}"
    );
    // Metadata with a key of the format's own name.
    let json: NewChunk<'_> = (0, metadata::METADATA, ChunkType::Uint8, 9, 1, b"{\"gsd\":1}");
    let told = open(file("none", &[chunk, json])).unexported_metadata(&[]);
    assert!(
        matches!(&told[..], [one] if one.what.starts_with("application, schema and frames: ")),
        "{told:?}"
    );
}
