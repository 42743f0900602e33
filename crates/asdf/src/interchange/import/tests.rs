use super::*;
use container_core::container::{Container, OpenOptions, ReadOptions};
use container_core::format::Input;
use container_core::{Progress, npy};

/// A `.npy` file of version 1.0, by numpy's format description.
fn array(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Box<dyn Container> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    (npy::FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default()).unwrap()
}

fn imported(container: &dyn Container, options: &TargetOptions) -> Result<(crate::File, Vec<Loss>)> {
    let shape = container.require(0)?.shape.clone();
    let selection = [(0, Region::whole(&shape))];
    let read = ReadOptions::default();
    let job = WriteRequest { container, selection: &selection, options, read, progress: Progress::none() };
    let mut out = Vec::new();
    let losses = import(&job, &mut out)?;
    Ok((crate::File::from_bytes(out, crate::OpenOptions::default())?, losses))
}

fn words(words: &[(&str, &str)]) -> TargetOptions {
    let mut options = TargetOptions::default();
    options.extra = words.iter().map(|(word, value)| ((*word).to_owned(), (*value).to_owned())).collect();
    options
}

#[test]
fn a_column_major_array_has_strides_and_its_bytes_stay() {
    let data = [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6];
    let (file, losses) =
        imported(&*array(">u2", "True", "(2, 3)", &data), &TargetOptions::default()).unwrap();
    assert!(losses.is_empty());
    let text = file.tree().document().text();
    let node = "data: !core/ndarray-1.1.0\n  source: 0\n  datatype: uint16\n  byteorder: big\n  shape: [2, 3]\n  strides: [2, 4]\n";
    assert!(text.contains(node), "{text}");
    assert_eq!(*file.read_block(0, &ReadOptions::default()).unwrap(), data);
    assert!(file.blocks()[0].header.digest().is_some());
}

#[test]
fn import_options_set_standard_alignment_and_checksum() {
    let source = array("|u1", "False", "(3,)", &[1, 2, 3]);
    let options = words(&[("standard", "1.5.0"), ("align", "4096"), ("checksum", "none")]);
    let (file, _) = imported(&*source, &options).unwrap();
    assert_eq!(file.layout().header.standard.map(|standard| standard.minor), Some(5));
    assert!(file.tree().document().text().contains("!core/ndarray-1.0.0"));
    assert_eq!(file.blocks()[0].data.start % 4096, 0);
    assert!(file.blocks()[0].header.digest().is_none());
    for bad in
        [("standard", "2.0.0"), ("standard", "one"), ("align", "48"), ("checksum", "crc32"), ("chunks", "5")]
    {
        let error = imported(&*source, &words(&[bad])).err();
        assert!(matches!(error.map(Error::into_kind), Some(ErrorKind::Usage(_))), "{bad:?}");
    }
}

#[test]
fn types_without_a_name_are_refused_or_become_bytes() {
    let source = array("<M8[D]", "True", "(2, 1)", &[7; 16]);
    let error = imported(&*source, &TargetOptions::default()).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)) && error.hint().is_some(), "{error}");
    let (file, losses) = imported(&*source, &words(&[("as-bytes", "")])).unwrap();
    assert_eq!(losses.len(), 1);
    assert_eq!(file.geometry(0).unwrap().shape, [2, 1, 8]);
}

/// The file does not store their byte order, so that the result does not depend on it.
#[test]
fn elements_become_little_endian_bytes() {
    let data: Vec<u8> = (0..32).collect();
    let limits = container_core::Limits::default();
    for (descr, loss) in [
        ("<M8[D]", "8 bytes an element, little-endian"),
        (">M8[D]", "8 bytes an element, little-endian"),
        ("|V8", ""),
    ] {
        let source = array(descr, "False", "(2, 2)", &data);
        let (file, losses) = imported(&*source, &words(&[("as-bytes", "")])).unwrap();
        if descr != "|V8" {
            assert!(losses[0].what.ends_with(loss), "{losses:?}");
        }
        let array = file.read("data", &file.whole(0).unwrap(), &ReadOptions::default()).unwrap();
        let expected: Vec<u8> = if descr.starts_with('>') {
            data.chunks(8).flat_map(|item| item.iter().rev()).copied().collect()
        } else {
            data.clone()
        };
        assert_eq!(*array.bytes(Order::C, &limits).unwrap(), expected, "{descr}");
    }
}

/// Column-major `a` of shape (2, 3) with a mask, and row-major `b` of that shape.
fn column_major(mask: &str) -> Vec<u8> {
    let tag = "!<tag:stsci.edu:asdf/core/ndarray-1.0.0>";
    let mut bytes = format!(
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n--- !<tag:stsci.edu:asdf/core/asdf-1.1.0>\n\
         a: {tag} {{source: 0, datatype: uint8, byteorder: big, shape: [2, 3], strides: [1, 2], mask: {tag} {{source: 1, \
         datatype: bool8, byteorder: big, shape: {mask}}}}}\n\
         b: {tag} {{source: 0, datatype: uint8, byteorder: big, shape: [2, 3]}}\n...\n"
    )
    .into_bytes();
    for data in [[0, 3, 1, 4, 2, 5], [1, 1, 0, 0, 0, 0]] {
        bytes.extend_from_slice(b"\xd3BLK\0\x30\0\0\0\0\0\0\0\0");
        (0..3).for_each(|_| bytes.extend_from_slice(&6_u64.to_be_bytes()));
        bytes.extend_from_slice(&[0; 16]);
        bytes.extend_from_slice(&data);
    }
    bytes
}

fn seen(bytes: Vec<u8>, axes: Axes) -> Box<dyn Container> {
    let mut options = OpenOptions::default();
    options.axes = axes;
    (crate::FORMAT.open)(Input::bytes(Box::new(bytes)), &options).unwrap()
}

/// Paths, shapes, orders, elements and masks.
type Shown = Vec<(String, Vec<u64>, Order, Vec<u8>, Option<Vec<u8>>)>;

fn shown(container: &dyn Container) -> Shown {
    let (read, limits) = (ReadOptions::default(), container_core::Limits::default());
    let one = |(index, dataset): (usize, &Dataset)| {
        let region = Region::whole(&dataset.shape);
        let array = container.read(index, &region, &read).unwrap();
        let mask = container.mask(index, &region, &read).unwrap();
        assert_eq!(array.shape(), dataset.shape);
        let bytes =
            |array: &container_core::array::Array<'_>| array.bytes(Order::C, &limits).unwrap().into_owned();
        let (elements, mask) = (bytes(&array), mask.as_ref().map(bytes));
        (dataset.path.clone(), dataset.shape.clone(), dataset.order, elements, mask)
    };
    container.datasets().iter().enumerate().map(one).collect()
}

#[test]
fn axes_of_column_major_arrays_are_shown_in_reverse() {
    let bytes = column_major("[2, 3]");
    let row = |path: &str, shape: [u64; 2], order, elements: [u8; 6], mask: Option<[u8; 6]>| {
        (path.to_owned(), shape.to_vec(), order, elements.to_vec(), mask.map(|mask| mask.to_vec()))
    };
    let plain = [0, 3, 1, 4, 2, 5];
    let b = row("b", [2, 3], Order::C, plain, None);
    let stored = [
        row("a", [2, 3], Order::F, [0, 1, 2, 3, 4, 5], Some([1, 1, 0, 0, 0, 0])),
        row("a/mask", [2, 3], Order::C, [1, 1, 0, 0, 0, 0], None),
        b.clone(),
    ];
    let container = seen(bytes.clone(), Axes::AsStored);
    assert_eq!(shown(&*container), stored);
    let turned = [
        row("a", [3, 2], Order::C, plain, Some([1, 0, 1, 0, 0, 0])),
        row("a/mask", [3, 2], Order::F, [1, 0, 1, 0, 0, 0], None),
        b,
    ];
    let container = seen(bytes, Axes::Reversed);
    assert_eq!(shown(&*container), turned);
    // A part of it.
    let axes = [(1, 2), (0, 1)].map(|(start, count)| container_core::region::AxisSelection {
        start,
        step: 1,
        count,
        kept: container_core::region::Kept::Yes,
    });
    let region = Region::new(axes.to_vec(), &[3, 2]).unwrap();
    let part = container.read(0, &region, &ReadOptions::default()).unwrap();
    let elements = part.bytes(Order::C, &container_core::Limits::default()).unwrap();
    assert_eq!((part.shape(), &*elements), (&[2, 1][..], &[1, 2][..]));
    // Another ASDF file has the reversed array, and its mask fits.
    let selection: Vec<_> = container
        .datasets()
        .iter()
        .enumerate()
        .map(|(index, it)| (index, Region::whole(&it.shape)))
        .collect();
    let (options, read) = (TargetOptions::default(), ReadOptions::default());
    let write = |container: &dyn Container| {
        let job = WriteRequest {
            container,
            selection: &selection,
            options: &options,
            read,
            progress: Progress::none(),
        };
        let mut out = Vec::new();
        import(&job, &mut out).map(|_| out)
    };
    assert_eq!(shown(&*seen(write(&*container).unwrap(), Axes::AsStored)), turned);
    // A mask of fewer axes fits the last ones alone.
    let error = write(&*seen(column_major("[3]"), Axes::Reversed)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
}

/// The bytes 0 and 1 are the values of a bool8, and the numbers of characters those of a ucs4; `verify` calls others damaged.
#[test]
fn invalid_bool8_and_ucs4_values_are_refused() {
    let options = TargetOptions::default();
    let bools = |data: &[u8]| imported(&*array("|b1", "False", "(4,)", data), &options);
    assert!(bools(&[0, 1, 1, 0]).is_ok());
    let error = bools(&[0, 1, 4, 0]).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Malformed(_)) && error.to_string().contains("the byte 4"),
        "{error}"
    );
    for (descr, data) in [("<U1", 0x11_0000_u32.to_le_bytes()), (">U1", 0xD800_u32.to_be_bytes())] {
        let error = imported(&*array(descr, "False", "(1,)", &data), &options).unwrap_err();
        assert!(error.to_string().contains("is not a character"), "{error}");
    }
    assert!(imported(&*array("<U1", "False", "(1,)", &0x10_FFFF_u32.to_le_bytes()), &options).is_ok());
}

#[test]
fn padding_leaves_room_for_edits_in_place() {
    let source = array("<i2", "False", "(2, 3)", &[0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
    let (file, _) = imported(&*source, &words(&[("padding", "1.1")])).unwrap();
    // As Python asdf: to the next page, and one more.
    let block = &file.blocks()[0];
    assert_eq!((block.at, block.header.allocated_size, block.header.used_size), (8192, 8192, 12));
    assert_eq!(file.layout().padding.end, 8192);
    for wrong in ["0.5", "yes", "-1", "1000", "nan"] {
        assert!(imported(&*source, &words(&[("padding", wrong)])).is_err(), "{wrong}");
    }
}

#[test]
fn one_array_can_be_streamed() {
    for order in ["False", "True"] {
        let source = array("<i2", order, "(2, 3)", &[0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
        for name in ["yes", "data"] {
            let (file, _) = imported(&*source, &words(&[("streamed", name)])).unwrap();
            let header = file.blocks()[0].header;
            assert_eq!((header.flags, header.used_size, header.checksum), (1, 0, [0; 16]));
            assert_eq!(
                (file.layout().index.clone(), &*file.arrays()[0].array.shape),
                (None, &[None, Some(3)][..])
            );
            let elements = |file: &dyn Container| {
                let whole = Region::whole(&[2, 3]);
                let read = file.read(0, &whole, &ReadOptions::default()).unwrap();
                read.bytes(Order::C, &container_core::Limits::default()).unwrap().into_owned()
            };
            let whole = file.source().read(0..file.source().len()).unwrap().into_owned();
            assert_eq!(elements(&*seen(whole, Axes::AsStored)), elements(&*source));
        }
        assert!(imported(&*source, &words(&[("streamed", "other")])).is_err());
    }
}

/// Writes all of an ASDF file again.
fn rewritten(bytes: Vec<u8>, options: &TargetOptions) -> Result<(Vec<u8>, Vec<Loss>)> {
    let container = seen(bytes, Axes::AsStored);
    let selection: Vec<_> = container
        .datasets()
        .iter()
        .enumerate()
        .map(|(index, it)| (index, Region::whole(&it.shape)))
        .collect();
    let read = ReadOptions::default();
    let job = WriteRequest {
        container: &*container,
        selection: &selection,
        options,
        read,
        progress: Progress::none(),
    };
    let mut out = Vec::new();
    let losses = import(&job, &mut out)?;
    Ok((out, losses))
}

/// Blocks of a byte each, with other bytes between.
fn with_gaps(lines: &str, blocks: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!(
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n{lines}...\n"
    )
    .into_bytes();
    for block in blocks {
        let data = &block[..1];
        bytes.extend_from_slice(b"\xd3BLK\0\x30\0\0\0\0\0\0\0\0");
        (0..3).for_each(|_| bytes.extend_from_slice(&1_u64.to_be_bytes()));
        bytes.extend_from_slice(container_codecs::checksum::Algorithm::Md5.digest(data).as_bytes());
        bytes.extend_from_slice(block);
    }
    bytes
}

const ONE: &str = "a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: big, shape: [1]} # kept\n";

#[test]
fn blocks_and_bytes_that_a_copy_leaves_out_are_losses() {
    let options = TargetOptions::default();
    let (same, losses) = rewritten(with_gaps(ONE, &[b"x"]), &options).unwrap();
    assert_eq!(losses, []);
    assert!(same.starts_with(&with_gaps(ONE, &[b"x"])));
    let lose = |what: &str| Loss { dataset: None, what: what.to_owned() };
    let (out, losses) = rewritten(with_gaps(ONE, &[b"x", b"y", b"z"]), &options).unwrap();
    assert_eq!(losses, [lose("2 blocks that no array names")]);
    assert!(out.starts_with(&with_gaps(ONE, &[b"x"])) && String::from_utf8_lossy(&out).contains("# kept"));
    // Where a gap leaves open which block an array is in, its file is damaged; behind the blocks it is not.
    let two =
        format!("{ONE}b: !core/ndarray-1.1.0 {{source: 1, datatype: uint8, byteorder: big, shape: [1]}}\n");
    assert!(rewritten(with_gaps(&two, &[b"xgap", b"y"]), &options).is_err());
    let mut behind = with_gaps(ONE, &[b"x"]);
    behind.extend_from_slice(b"junk#ASDF BLOCK INDEX\n%YAML 1.1\n---\n- 168\n...\n");
    let (_, losses) = rewritten(behind, &options).unwrap();
    assert_eq!(losses, [lose("4 bytes outside every known structure")]);
}

#[test]
fn damage_and_other_standards_are_not_copied() {
    let mut damaged = with_gaps(ONE, &[b"x"]);
    *damaged.last_mut().unwrap() = b'y';
    for codec in [None, Some("zlib"), Some("none")] {
        let mut options = TargetOptions::default();
        options.codec = codec.map(|codec| (codec.to_owned(), None));
        let error = rewritten(damaged.clone(), &options).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{codec:?}: {error}");
    }
    let sound = with_gaps(ONE, &[b"x"]);
    let error = rewritten(sound.clone(), &words(&[("standard", "1.5.0")])).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.hint().is_some(), "{error}");
    // A value that its type does not have is damage of every copy.
    let bools = ONE.replace("uint8", "bool8");
    for codec in [None, Some("zlib")] {
        let mut options = TargetOptions::default();
        options.codec = codec.map(|codec| (codec.to_owned(), None));
        let error = rewritten(with_gaps(&bools, &[b"\x02"]), &options).unwrap_err();
        assert!(error.is_damage() && error.to_string().contains("the byte 2"), "{error}");
        assert!(rewritten(with_gaps(&bools, &[b"\x01"]), &options).is_ok());
    }
    let (out, _) = rewritten(sound, &words(&[("checksum", "none")])).unwrap();
    let file = crate::File::from_bytes(out, crate::OpenOptions::default()).unwrap();
    assert_eq!(file.blocks()[0].header.checksum, [0; 16]);
}

#[test]
fn streamed_names_one_array() {
    let source = array("<i2", "False", "(1,)", &[0; 2]);
    let error = imported(&*source, &words(&[("streamed", "other")])).unwrap_err();
    assert!(
        error.to_string().contains("streamed \"other\": no array of the new file has this path"),
        "{error}"
    );
    assert!(error.hint().is_some());
    let two = format!("{ONE}{}", ONE.replacen('a', "b", 1));
    let error = rewritten(with_gaps(&two, &[b"x"]), &words(&[("streamed", "yes")])).unwrap_err();
    assert!(error.to_string().contains("cannot stream 2 arrays (expected one)"), "{error}");
    // Rows of the named array come last, in a file whose other arrays stay.
    let (out, _) = rewritten(with_gaps(&two, &[b"x"]), &words(&[("streamed", "a")])).unwrap();
    let file = crate::File::from_bytes(out, crate::OpenOptions::default()).unwrap();
    assert_eq!(file.array("a").unwrap().array.shape, [None]);
    assert_eq!(file.array("b").unwrap().array.shape, [Some(1)]);
    assert!(file.blocks().last().unwrap().header.is_streamed());
    // Rows would have no place in a mask.
    let masked = "a: !core/ndarray-1.1.0 {data: [1, null], datatype: uint8}\n";
    let error = rewritten(with_gaps(masked, &[]), &words(&[("streamed", "a")])).unwrap_err();
    assert!(error.to_string().contains("a: an array with a mask cannot be streamed"), "{error}");
    let mut options = words(&[("streamed", "yes")]);
    options.axes = Axes::Reversed;
    let error = imported(&*source, &options).unwrap_err();
    assert!(error.to_string().contains("the rows of reversed axes cannot be streamed"), "{error}");
}
