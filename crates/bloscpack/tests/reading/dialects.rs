//! Every layout that starts with the magic, made by hand.

use bloscpack::container_core::Value;
use bloscpack::{Dialect, Error, ErrorKind, FORMAT};
use container_core::block::{read_block, verify_block};
use container_core::container::ReadOptions;
use container_core::dtype::Order;
use container_core::format::Probe;
use container_core::region::Region;
use container_core::{Limits, Progress};

use crate::support::{check, chunk, codes, contents, lenient, lens, minimal, open, version_3};

#[test]
fn the_minimal_file_reads() {
    let bytes = minimal();
    let file = open(&bytes).unwrap();
    assert_eq!(contents(&file).unwrap(), b"hello bloscpack");
    let report = check(&bytes);
    assert_eq!((report.findings.len(), report.blocks.total, report.blocks.checked), (0, 1, 1));
    let lens = lens(&bytes).unwrap();
    let data = &lens.datasets()[0];
    // 15 bytes are not whole items of 8.
    assert_eq!((data.dtype.to_string(), &data.shape[..]), ("|u1".into(), &[15][..]));
    assert_eq!((data.chunks.as_deref(), data.codec.as_str(), data.stored), (Some(&[15][..]), "none", 31));
    let map: Vec<(u64, String)> =
        lens.byte_map().into_iter().map(|part| (part.range.start, part.role)).collect();
    let expected = [(32, "offsets"), (40, "spare offsets"), (120, "chunk"), (151, "digest")];
    assert!(map.ends_with(&expected.map(|(at, role)| (at, role.to_owned()))), "{map:?}");
    assert_eq!(lens.blocks().len(), 1);
}

#[test]
fn the_layouts_of_2012_read() {
    let (one, two) = (chunk(b"abcd"), chunk(b"ef"));
    let p0 = [&b"blpk\x02\0\0\0"[..], &one, &two].concat();
    let v1 = [&b"blpk\x01\0\0\0\x02\0\0\0\0\0\0\0"[..], &one, &two].concat();
    let stream = [&b"blpk\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"[..], &one, &two].concat();
    for (bytes, dialect) in [(&p0, Dialect::P0), (&v1, Dialect::V1)] {
        let file = open(bytes).unwrap();
        assert_eq!((file.header().dialect, contents(&file).unwrap()), (dialect, b"abcdef".to_vec()));
        assert_eq!(check(bytes).findings, []);
    }
    assert_eq!(contents(&open(&stream).unwrap()).unwrap(), b"abcdef");
    assert_eq!(codes(&stream), ["unfinished"]);
    assert!(!lens(&stream).unwrap().about().complete);
    // What is reserved is not taken for options or a checksum.
    let mut reserved = v1.clone();
    reserved[5..8].copy_from_slice(&[1, 1, 9]);
    assert_eq!(
        (contents(&open(&reserved).unwrap()).unwrap(), codes(&reserved)),
        (b"abcdef".to_vec(), vec!["reserved_not_zero"])
    );
    reserved[5] = 4;
    assert_eq!(codes(&reserved), ["undefined_options", "reserved_not_zero"]);
    // bcolz: one chunk a file. Neither has a typesize: the chunk's is taken.
    let mut eight = chunk(b"0123456789abcdef");
    eight[3] = 8;
    let bcolz = [&b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0"[..], &eight].concat();
    let data = &lens(&bcolz).unwrap().datasets()[0].clone();
    assert_eq!((data.dtype.to_string(), &data.shape[..]), ("|V8".into(), &[2][..]));
    assert_eq!(open(b"blpk\0\0\0\0").unwrap().len().unwrap(), 0);
}

/// The quirks of 0.2: a single chunk has chunk-size 0, and the last chunk may be the largest.
#[test]
fn version_2_reads_with_its_quirks() {
    let file = |options: u8, sizes: [u32; 2], chunks: &[&[u8]], reserved: u8| {
        let mut file = b"blpk\x02".to_vec();
        file.extend([options, 1, 4]);
        file.extend(sizes.into_iter().flat_map(u32::to_le_bytes));
        file.extend((chunks.len() as u64).to_le_bytes());
        file.extend([reserved, 0, 0, 0, 0, 0, 0, 0]);
        let mut at = 32 + 8 * chunks.len() as u64;
        let mut stored = Vec::new();
        for data in chunks {
            file.extend(at.to_le_bytes());
            let before = stored.len();
            stored.extend(chunk(data));
            let digest = container_codecs::checksum::Algorithm::Adler32.digest(&stored[before..]);
            stored.extend(digest.as_bytes().iter().rev());
            at += (stored.len() - before) as u64;
        }
        file.extend(stored);
        file
    };
    for (sizes, chunks) in [
        ([0, 4], &[&b"abcd"[..]][..]),
        ([2, 3], &[b"ab", b"cde"]),
        ([3, 0], &[b"abc", b""]),
        ([3, 1], &[b"abc", b"d"]),
    ] {
        let bytes = file(1, sizes, chunks, 0);
        assert_eq!(contents(&open(&bytes).unwrap()).unwrap(), chunks.concat());
        assert_eq!(check(&bytes).findings, [], "{sizes:?}");
    }
    let bytes = file(9, [2, 2], &[b"ab"], 1);
    assert_eq!(codes(&bytes), ["reserved_not_zero", "reserved_not_zero"]);
    assert_eq!(contents(&open(&bytes).unwrap()).unwrap(), b"ab");
    let bytes = file(5, [2, 2], &[b"ab"], 0);
    assert_eq!(codes(&bytes), ["undefined_options"]);
    assert!(matches!(contents(&open(&bytes).unwrap()).unwrap_err().kind(), ErrorKind::Unsupported(_)));
}

/// Metadata by zlib at level 6, as snapshots of December 2012 wrote them.
#[test]
fn interim_version_is_read_only_on_request() {
    let metadata = b"\x78\x9c\xab\x56\x4a\x54\xb2\x32\xd4\x51\x4a\x52\xb2\x8a\x36\xd2\x31\x8e\xd5\x51\x4a\x56\xb2\x52\xca\
        \xcc\x2b\x49\x2d\xca\xcc\x55\xaa\x05\x00\x7d\x54\x08\xa7";
    let mut bytes = b"blpk\x03\x06\0\x01\x03\0\0\0\x03\0\0\0\x01\0\0\0\0\0\0\0\x27\0\0\0\0\0\0\0".to_vec();
    bytes.extend(metadata);
    bytes.extend(chunk(b"abc"));
    let file = open(&bytes).unwrap();
    assert_eq!(file.header().dialect, Dialect::V3Interim);
    let error = contents(&file).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)) && error.hint().is_some());
    assert_eq!(codes(&bytes), ["interim_version"]);
    let file = lenient(&bytes).unwrap();
    assert_eq!(contents(&file).unwrap(), b"abc");
    assert_eq!(file.metadata().unwrap().get("c"), Some(&Value::from("interim")));
}

#[test]
fn streams_read_as_far_as_they_go() {
    let bytes = version_3(-1, -1, -1, &[b"abcd", b"ef"]);
    assert_eq!(contents(&open(&bytes).unwrap()).unwrap(), b"abcdef");
    assert_eq!(codes(&bytes), ["size_unknown", "unfinished"]);
    // With offsets, of an unknown number, none of them set.
    let mut aborted = version_3(4, -1, -1, &[]);
    aborted[5] = 1;
    aborted.extend([0xff; 24]);
    aborted.extend(chunk(b"abcd"));
    assert_eq!(contents(&open(&aborted).unwrap()).unwrap(), b"abcd");
    assert_eq!(codes(&aborted), ["offsets_unset", "size_unknown", "unfinished"]);
    let none = version_3(0, 0, 0, &[]);
    assert_eq!((contents(&open(&none).unwrap()).unwrap(), codes(&none)), (Vec::new(), Vec::new()));
}

#[test]
fn a_chunk_of_blosc2_is_read_and_noted() {
    // A special chunk of Blosc2: 8 zeros.
    let zeros = b"\x05\x01\x05\x01\x08\0\0\0\x08\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10";
    let mut bytes = version_3(8, 8, 1, &[]);
    bytes.extend(zeros);
    assert_eq!(contents(&open(&bytes).unwrap()).unwrap(), [0; 8]);
    assert_eq!(codes(&bytes), ["blosc2_chunk"]);
}

/// `bloscpack.pack_ndarray_to_file(numpy.asfortranarray(numpy.arange(6, dtype='<i2').reshape(2, 3)))` in its bytes and order.
#[test]
fn column_major_arrays_keep_their_order_and_rows_are_found() {
    let json = br#"{"dtype":"'<i2'","shape":[2,3],"order":"F","container":"numpy"}"#;
    let mut options = bloscpack::MetadataOptions::default();
    options.max_meta_size = Some(100);
    let section = bloscpack::encode_section(json, &options).unwrap();
    let values: Vec<u8> = [0_i16, 3, 1, 4, 2, 5].iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut bytes = version_3(8, 4, 2, &[]);
    bytes[5] = 2;
    bytes.extend(section);
    bytes.extend(chunk(&values[..8]));
    bytes.extend(chunk(&values[8..]));
    assert_eq!(check(&bytes).findings, []);
    let file = open(&bytes).unwrap();
    let read = ReadOptions::default();
    let limits = Limits::default();
    let array = file.read_all(&read).unwrap();
    assert_eq!(*array.elements::<i16>(Order::C, &limits).unwrap(), [0, 1, 2, 3, 4, 5]);
    let row = file.rows(1..2, &read).unwrap();
    assert_eq!(
        (row.shape(), &row.elements::<i16>(Order::C, &limits).unwrap()[..]),
        (&[1, 3][..], &[3, 4, 5][..])
    );
    for text in ["1", ":,2", "::-1,1:", "1,1", "0:0"] {
        let region = Region::parse(text, &[2, 3]).unwrap();
        let part = file.read(&region, &read).unwrap();
        let whole = file.read_all(&read).unwrap().select(&region).unwrap();
        assert_eq!(part.shape(), whole.shape(), "{text}");
        assert_eq!(
            part.elements::<i16>(Order::C, &limits).unwrap(),
            whole.elements::<i16>(Order::C, &limits).unwrap()
        );
    }
    assert!(matches!(file.rows(1..3, &read).unwrap_err().kind(), ErrorKind::Usage(_)));
}

#[test]
fn other_formats_are_not_ours() {
    let sniff = |head: &[u8]| (FORMAT.sniff)(&Probe { head, directory: None, len: None });
    assert!(sniff(&minimal()) && !sniff(b"BLP2\x01\0\0\0") && !sniff(b"BLP1") && !sniff(b""));
    assert!(matches!(open(b"BLP2\x01\0\0\0").map_err(Error::into_kind), Err(ErrorKind::WrongFormat { .. })));
}

/// The chunk of the minimal file with each checksum, by Python's zlib and hashlib; bloscpack 0.16 reads all nine files.
#[test]
fn all_nine_checksums_are_compared() {
    let digests = [
        "",
        "3b06db36",
        "4076c2fb",
        "42f0368bdad56905773d59bf0800c5f8",
        "15120604e93b389c0ab48a332d8ce956ff5d9b5d",
        "5fc3d64fce7dcce8976eaad67e10b6690e8acedb370e5ab6dd64c9ee",
        "6b9ad5e579cb2e74e35074805e62aa90e380d73263c888a508947c51cb41d28d",
        "4863e2217d335a0b0cbb00b80ff263ea683959e2641f97c0edd96f0c39d00934819c6c51d74cabbd95947b416a033f65",
        "2e5deff09d87f07a0df99e1bd62ce815c9effd8e040484ea66c82af93bec3dbc5bb1086389ba1788c6a11a5859e170da88221a028492c5a4\
         f72d44ef61951c53",
    ];
    for (code, hex) in (0_u8..).zip(digests) {
        let digest: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        let mut file = version_3(15, 15, 1, &[]);
        file[6] = code;
        file.extend(&minimal()[120..151]);
        file.extend(&digest);
        assert_eq!(contents(&open(&file).unwrap()).unwrap(), b"hello bloscpack");
        assert_eq!(check(&file).findings, []);
        if let Some(last) = file.last_mut().filter(|_| code > 0) {
            *last ^= 1;
            let report = check(&file);
            assert_eq!(
                (report.findings[0].code, report.findings[0].range.clone()),
                ("checksum", Some(32..file.len() as u64))
            );
            assert!(matches!(
                contents(&open(&file).unwrap()).unwrap_err().kind(),
                ErrorKind::Checksum { .. }
            ));
        }
    }
}

/// Chunks of several sizes, with threads and without, by any range.
#[test]
fn ranges_come_out_the_same_however_they_are_read() {
    let data: Vec<u8> = (0..5000_u32).map(|at| ((at * at) >> 5).to_le_bytes()[0]).collect();
    let chunks: Vec<&[u8]> = data.chunks(700).collect();
    let bytes = version_3(700, 100, 8, &chunks);
    let file = open(&bytes).unwrap();
    let mut at = 1_u64;
    for _ in 0..300 {
        at = at * 7919 % 4999;
        let end = (at + at % 1800).min(5000);
        let want = &data[usize::try_from(at).unwrap()..usize::try_from(end).unwrap()];
        for threads in [1, 3] {
            let options = ReadOptions::default().with_threads(threads);
            assert_eq!(file.read_range(at..end, &options).unwrap(), want, "{at}..{end}");
        }
    }
    assert!(matches!(
        file.read_range(0..5001, &ReadOptions::default()).unwrap_err().kind(),
        ErrorKind::Usage(_)
    ));
    // The shared code of blocks reads and compares the same chunks.
    let block = file.block(7).unwrap();
    let decoded = read_block(file.source(), &block, file.codecs(), &Limits::default(), 1).unwrap();
    assert_eq!(*decoded, data[4900..]);
    let mut minimal = minimal();
    let verify = |bytes: &[u8]| {
        let file = open(bytes).unwrap();
        let (block, limits) = (file.block(0).unwrap(), Limits::default());
        verify_block(file.source(), &block, file.codecs(), &limits, Progress::none())
    };
    verify(&minimal).unwrap();
    minimal[150] ^= 1;
    assert!(matches!(verify(&minimal).unwrap_err().kind(), ErrorKind::Checksum { .. }));
}
