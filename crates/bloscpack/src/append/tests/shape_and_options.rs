//! Codec, chunk size, shape and checksum of what is appended, and what does not fit the file.

use super::*;

/// The flags of c-blosc: the codec in bits 5 to 7, shuffle in bit 0, bitshuffle in bit 2. Snappy is only read.
#[test]
fn codec_and_filter_are_those_of_the_flags() {
    let of = |flags: u8| {
        let head = [2, 1, flags, 1, 4, 0, 0, 0, 4, 0, 0, 0, 32, 0, 0, 0];
        let header = blosc_chunk::Header::parse_prefix(&head).unwrap();
        made_by(&crate::ChunkEntry::new(0, &header, crate::ChunkState::Whole))
    };
    for (flags, expected) in [
        (0x00, (Compressor::BLOSCLZ, Shuffle::None)),
        (0x13, (Compressor::BLOSCLZ, Shuffle::Bytes)),
        (0x36, (Compressor::LZ4, Shuffle::Bits)),
        (0x41, (Compressor::BLOSCLZ, Shuffle::Bytes)),
        (0x60, (Compressor::ZLIB, Shuffle::None)),
        (0x85, (Compressor::ZSTD, Shuffle::Bytes)),
    ] {
        assert_eq!(of(flags), expected, "{flags:#x}");
    }
}

#[test]
fn chunks_of_a_file_that_grows_are_a_mebibyte_of_whole_elements() {
    let of = |typesize| default_chunk_size(&ChunkOptions::default().with_typesize(typesize));
    assert_eq!([1, 8, 3, 0].map(of), [1 << 20, 1 << 20, (1 << 20) - 1, 1 << 20]);
    // Longer elements are chunks of their own.
    assert_eq!([1 << 20, (1 << 20) + 1, 3 << 20].map(of), [1 << 20, (1 << 20) + 1, 3 << 20]);
    assert_eq!(row_len(&DType::parse("<f8").unwrap(), &[3, 2]).unwrap(), 48);
    assert_eq!(row_len(&DType::parse("<f8").unwrap(), &[0]).unwrap(), 1);
    assert!(row_len(&DType::parse("<f8").unwrap(), &[u64::MAX]).is_err());
}

/// Only bytes in one dimension are the same without type and shape.
#[test]
fn type_and_shape_are_losses_in_a_file_of_plain_bytes() {
    let losses = |dtype: &str, shape: &[u64]| {
        let Place { path, _directory } = place();
        let source = place();
        let dtype = DType::parse(dtype).unwrap();
        let numpy = NumpyArray { dtype, shape: shape.to_vec(), order: Order::C };
        let len = byte_len(&numpy.dtype, shape).unwrap();
        write(&source.path, &vec![1; usize::try_from(len).unwrap()], &options(64).for_array(&numpy)).unwrap();
        write(&path, b"123456", &options(64)).unwrap();
        let losses = append_file(&path, &source.path).unwrap();
        assert_eq!(read(&path).len() as u64, 6 + len);
        losses.into_iter().map(|loss| (loss.dataset.unwrap(), loss.what)).collect::<Vec<_>>()
    };
    for (dtype, shape) in [("|u1", &[4_u64][..]), ("|i1", &[4]), ("|V3", &[4])] {
        assert_eq!(losses(dtype, shape), [], "{dtype}");
    }
    for (dtype, shape) in [("<u2", &[4_u64][..]), ("|u1", &[2, 2]), ("|V3", &[2, 2]), ("|u1", &[])] {
        let [(path, what)] = &losses(dtype, shape)[..] else { panic!("{dtype} {shape:?}") };
        assert!(path == "data" && what.contains(dtype), "{what}");
        assert!(what.contains(&format!("{shape:?}")), "{what}");
    }
}

/// Each reason has its own words: the numbers of a shape that does not fit, and the version that is too old.
#[test]
fn refused_appends_name_what_does_not_fit() {
    let error = |own: &[u64], order, other: &[u64]| {
        let (a, b) = (place(), place());
        write_numpy(&a.path, own, order);
        write_numpy(&b.path, other, Order::C);
        append_file(&a.path, &b.path).unwrap_err().to_string()
    };
    let found = error(&[5, 3], Order::C, &[5, 4]);
    assert!(found.contains("[5, 3]") && found.contains("[5, 4]"), "{found}");
    assert_ne!(error(&[], Order::C, &[1]), error(&[5], Order::C, &[]));
    assert!(error(&[5, 3], Order::F, &[5, 3]).contains("column-major"));
    // One axis has one order.
    let (a, b) = (place(), place());
    write_numpy(&a.path, &[5], Order::F);
    write_numpy(&b.path, &[4], Order::C);
    append_file(&a.path, &b.path).unwrap();
    assert_eq!(crate::File::open(&a.path).unwrap().numpy().unwrap().shape, [9]);

    let Place { path, _directory } = place();
    let chunk = b"\x02\x01\x02\x01\x01\0\0\0\x01\0\0\0\x11\0\0\0q";
    std::fs::write(&path, [&b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0"[..], chunk].concat()).unwrap();
    let error = append_bytes(&path, &b"r"[..], 1, &AppendOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.hint().is_some(), "{error}");
    VarWriter::create(path.with_extension("items"), Some(0), &VarOptions::default())
        .unwrap()
        .finish()
        .unwrap();
    let error =
        append_bytes(path.with_extension("items"), &b"r"[..], 1, &AppendOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.hint().is_none(), "{error}");
    let error = append_items(&path, &["r"], &AppendOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
}

#[test]
fn another_checksum_is_refused_by_name() {
    let (a, b) = (place(), place());
    write_numpy(&a.path, &[5], Order::C);
    write_numpy(&b.path, &[5], Order::C);
    let input = container_core::format::Input::bytes(Box::new(std::fs::read(&b.path).unwrap()));
    let container = (FORMAT.open)(input, &OpenOptions::default()).unwrap();
    let appended = |name: &str| {
        let mut target = TargetOptions::default();
        target.extra = vec![("checksum".to_owned(), name.to_owned())];
        let job = WriteRequest {
            container: &*container,
            selection: &[(0, Region::whole(&[5]))],
            options: &target,
            read: ReadOptions::default(),
            progress: Progress::none(),
        };
        append(&a.path, &OpenOptions::default(), &job, Durability::Cached)
    };
    let error = appended("crc32").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.to_string().contains("adler32"), "{error}");
    appended("adler32").unwrap();
    assert_eq!(crate::File::open(&a.path).unwrap().numpy().unwrap().shape, [10]);
}

/// Room and checksum of the section are those of the file.
#[test]
fn sections_keep_their_room_and_checksum() {
    let Place { path, _directory } = place();
    let (numpy, bytes) = array(&[4, 3], Order::C);
    let metadata_options =
        MetadataOptions { checksum: ChecksumCode(3), max_meta_size: Some(300), ..MetadataOptions::default() };
    write(&path, &bytes, &WriteOptions { metadata_options, ..options(1000).for_array(&numpy) }).unwrap();
    append_bytes(&path, &[0; 12][..], 12, &AppendOptions::default()).unwrap();
    let file = crate::File::open(&path).unwrap();
    let header = file.layout().metadata().unwrap().header.unwrap();
    assert_eq!((header.meta_checksum, header.max_meta_size), (ChecksumCode(3), 300));
    assert_eq!(file.numpy().unwrap().shape, [5, 3]);
    // Rows of no bytes add none, and the file stays as it is.
    let before = std::fs::read(&path).unwrap();
    append_bytes(&path, &[][..], 0, &AppendOptions::default()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
