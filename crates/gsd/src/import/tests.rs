use container_core::container::{Container, OpenOptions, ReadOptions};
use container_core::format::{Input, TargetOptions};
use container_core::npy;
use container_core::region::Region;
use container_core::{ErrorKind, Progress};

use super::*;
use crate::{OpenOptions as GsdOptions, Strictness};

/// A `.npy` file, version 1.0.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Box<dyn Container> {
    let order = if fortran { "True" } else { "False" };
    let mut head =
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}").into_bytes();
    while (head.len() + 11) % 64 != 0 {
        head.push(b' ');
    }
    head.push(b'\n');
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend(u16::try_from(head.len()).unwrap().to_le_bytes());
    bytes.extend(head);
    bytes.extend(data);
    (npy::FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default()).unwrap()
}

fn options(words: &[(&str, &str)]) -> TargetOptions {
    let mut options = TargetOptions::default();
    options.extra = words.iter().map(|(word, value)| ((*word).to_owned(), (*value).to_owned())).collect();
    options
}

fn written(
    container: &dyn Container,
    region: Region,
    options: &TargetOptions,
) -> Result<(Vec<u8>, Vec<Loss>)> {
    let job = WriteRequest {
        container,
        selection: &[(0, region)],
        options,
        read: ReadOptions::default(),
        progress: Progress::none(),
    };
    let mut out = Vec::new();
    let losses = import(&job, &mut out)?;
    Ok((out, losses))
}

fn open(bytes: Vec<u8>) -> File {
    File::from_source(Box::new(bytes), &GsdOptions::default().with_strictness(Strictness::Strict)).unwrap()
}

/// Frame, name, type, N, M and bytes of every chunk.
fn chunks(file: &File) -> Vec<(u64, String, ChunkType, u64, u32, Vec<u8>)> {
    let index = file.index();
    let entries = index.iter().map(|entry| {
        let name = file.names().get(entry.id).unwrap().into_owned();
        let bytes = file.read_chunk(&entry).unwrap().into_owned();
        (entry.frame, name, entry.chunk_type().unwrap(), entry.n, entry.m, bytes)
    });
    entries.collect()
}

fn all(
    container: &dyn Container,
    words: &[(&str, &str)],
) -> Vec<(u64, String, ChunkType, u64, u32, Vec<u8>)> {
    let region = Region::whole(&container.require(0).unwrap().shape);
    chunks(&open(written(container, region, &options(words)).unwrap().0))
}

#[test]
fn an_array_becomes_a_chunk_of_frame_0_little_endian_and_row_by_row() {
    // Column by column 1 to 6: rows 1 3 5 and 2 4 6.
    let data: Vec<u8> = (1..=6_u16).flat_map(u16::to_be_bytes).collect();
    let array = npy(">u2", true, "(2, 3)", &data);
    let expected: Vec<u8> = [1_u16, 3, 5, 2, 4, 6].into_iter().flat_map(u16::to_le_bytes).collect();
    assert_eq!(all(&*array, &[]), [(0, "data".into(), ChunkType::Uint16, 2, 3, expected)]);
    let region = Region::whole(&[2, 3]);
    let file = open(written(&*array, region, &options(&[])).unwrap().0);
    assert_eq!(
        (file.header().schema_name().as_str(), file.header().schema_version),
        ("none", Version::new(1, 0))
    );
    assert!(file.header().application_name().starts_with("holdall "));
    let vector = npy("<f8", false, "(2,)", &[1_f64, 2.0].map(f64::to_le_bytes).concat());
    let found = &all(&*vector, &[])[0];
    assert_eq!((found.2, found.3, found.4), (ChunkType::Double, 2, 1));
}

#[test]
fn other_ranks_have_their_shape_beside_them() {
    let shape = |lens: &[u64]| lens.iter().flat_map(|len| len.to_le_bytes()).collect::<Vec<u8>>();
    for (text, lens, count) in [
        ("(2, 1, 3)", &[2, 1, 3][..], 6_u8),
        ("(4, 1)", &[4, 1], 4),
        ("()", &[], 1),
        ("(3, 0)", &[3, 0], 0),
        ("(1, 1, 1, 2)", &[1, 1, 1, 2], 2),
    ] {
        let data: Vec<u8> = (0..count).collect();
        let found = all(&*npy("|u1", false, text, &data), &[]);
        let expected = [
            (0, "data".to_owned(), ChunkType::Uint8, u64::from(count), 1, data),
            (0, "data/shape".to_owned(), ChunkType::Uint64, lens.len() as u64, 1, shape(lens)),
        ];
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn the_first_axis_becomes_the_frames() {
    let data: Vec<u8> = (0..24).collect();
    let array = npy("|i1", false, "(4, 2, 3)", &data);
    let chunk = |frame: u64, from: u8| {
        (frame, "data".to_owned(), ChunkType::Int8, 2, 3, (from..from + 6).collect::<Vec<u8>>())
    };
    assert_eq!(all(&*array, &[("frames", "")]), [chunk(0, 0), chunk(1, 6), chunk(2, 12), chunk(3, 18)]);
    assert_eq!(all(&*array, &[("frames", "::-2")]), [chunk(0, 18), chunk(1, 6)]);
    assert_eq!(all(&*array, &[("frames", "-1:")]), [chunk(0, 18)]);
    // The first axis that is left.
    let region = Region::parse("1, :, ::2", &[4, 2, 3]).unwrap();
    let (bytes, _) = written(&*array, region, &options(&[("frames", "")])).unwrap();
    let row = |frame, bytes: &[u8]| (frame, "data".to_owned(), ChunkType::Int8, 2, 1, bytes.to_vec());
    assert_eq!(chunks(&open(bytes)), [row(0, &[6, 8]), row(1, &[9, 11])]);
    // Shapes that an entry cannot express are in each frame.
    let found = all(&*npy("|i1", false, "(2, 2, 1, 3)", &data[..12]), &[("frames", "")]);
    assert_eq!(found.len(), 4);
    assert_eq!((found[3].0, found[3].1.as_str(), found[2].5.as_slice()), (1, "data/shape", &data[6..12]));
    let scalars = all(&*npy("|i1", false, "(3,)", &data[..3]), &[("frames", "")]);
    assert_eq!((scalars.len(), scalars[2].0, scalars[2].5.as_slice()), (6, 1, &data[1..2]));
}

#[test]
fn types_that_gsd_lacks_are_refused_or_written_as_bytes() {
    for (descr, size) in
        [("|b1", 1), ("<f2", 2), ("<c8", 8), ("|S3", 3), ("<U1", 4), ("<M8[s]", 8), ("|V2", 2)]
    {
        let data: Vec<u8> = (0..2 * size).collect();
        let array = npy(descr, false, "(2,)", &data);
        let error = written(&*array, Region::whole(&[2]), &options(&[])).unwrap_err();
        assert!(error.hint().unwrap().contains("--as-bytes"), "{descr}: {error}");
        let (bytes, losses) = written(&*array, Region::whole(&[2]), &options(&[("as-bytes", "")])).unwrap();
        let columns = if size == 1 { 1 } else { u32::from(size) };
        assert_eq!(chunks(&open(bytes)), [(0, "data".into(), ChunkType::Uint8, 2, columns, data)], "{descr}");
        let kept = if size == 1 {
            "kept as 1 byte an element".to_owned()
        } else {
            format!("kept as {size} bytes an element")
        };
        let kept = if descr.starts_with('<') { kept + ", little-endian" } else { kept };
        assert!(losses.iter().any(|loss| loss.what.ends_with(&kept)), "{descr}: {losses:?}");
    }
}

#[test]
fn text_of_single_bytes_becomes_characters() {
    let found = all(&*npy("|S1", false, "(3,)", b"abc"), &[]);
    assert_eq!(found, [(0, "data".into(), ChunkType::Character, 3, 1, b"abc".to_vec())]);
}

#[test]
fn unsupported_options_are_usage_errors() {
    let array = npy("|u1", false, "(2,)", &[1, 2]);
    let mut coded = options(&[]);
    coded.codec = Some(("zstd".into(), None));
    let wrong = [
        coded,
        options(&[("filter", "shuffle")]),
        options(&[("repeats", "often")]),
        options(&[("frames", "0:1, 2")]),
        options(&[("frames", "x")]),
    ];
    for options in wrong {
        let error = written(&*array, Region::whole(&[2]), &options).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    }
    let error = written(&*array, Region::parse("0", &[2]).unwrap(), &options(&[("frames", "")])).unwrap_err();
    assert!(error.to_string().contains("axis of frames"), "{error}");
    let harmless = options(&[("filter", "none"), ("checksum", "none"), ("frames", "none")]);
    written(&*array, Region::whole(&[2]), &harmless).unwrap();
}

#[test]
fn arrays_of_no_frames_are_a_loss() {
    let array = npy("|u1", false, "(0, 2)", &[]);
    let (bytes, losses) = written(&*array, Region::whole(&[0, 2]), &options(&[("frames", "")])).unwrap();
    assert_eq!(open(bytes).nframes(), 0);
    assert!(losses.iter().any(|loss| loss.what.contains("without frames")));
    // Without it, a chunk of no rows.
    let (bytes, _) = written(&*array, Region::whole(&[0, 2]), &options(&[])).unwrap();
    assert_eq!(chunks(&open(bytes)), [(0, "data".into(), ChunkType::Uint8, 0, 2, vec![])]);
}
