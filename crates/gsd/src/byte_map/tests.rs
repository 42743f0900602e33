use container_core::container::Segment;
use container_core::dtype::ByteOrder;

use super::*;
use crate::header::{Header, Version, name_field};
use crate::{OpenOptions, Strictness};

/// A file with names `a` and `b`, and entries of one-byte elements, at the places that a test chooses.
struct Places {
    version: Version,
    order: ByteOrder,
    index_at: u64,
    slots: u64,
    names_at: u64,
    /// Location and length of each chunk; the first is of `a`, the second of `b`.
    chunks: [(i64, u64); 2],
}

impl Places {
    fn entry(&self, id: u16) -> IndexEntry {
        let (location, n) = self.chunks[usize::from(id)];
        IndexEntry { frame: 0, n, location, m: 1, id, type_code: 1, flags: 0 }
    }

    /// The file of `len` bytes: zeros, but for header, index and names.
    fn file(&self, len: usize) -> Vec<u8> {
        let header = Header {
            byte_order: self.order,
            index_location: self.index_at,
            index_allocated_entries: self.slots,
            namelist_location: self.names_at,
            namelist_allocated_entries: if self.version < Version::new(2, 0) { 2 } else { 1 },
            schema_version: Version::new(1, 0),
            gsd_version: self.version,
            application: name_field("application", "test").unwrap(),
            schema: name_field("schema", "none").unwrap(),
            reserved: [0; 80],
        };
        let mut file = vec![0; len];
        put(&mut file, 0, &header.to_bytes());
        for id in 0..2 {
            put(&mut file, self.index_at + 32 * u64::from(id), &self.entry(id).to_bytes(self.order));
        }
        let distance = if header.is_v1() { 64 } else { 2 };
        put(&mut file, self.names_at, b"a");
        put(&mut file, self.names_at + distance, b"b");
        file
    }
}

fn put(file: &mut [u8], at: u64, bytes: &[u8]) {
    let at = usize::try_from(at).unwrap();
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

fn open(bytes: Vec<u8>) -> File {
    let options = OpenOptions::default().with_strictness(Strictness::Lenient);
    File::from_source(Box::new(bytes), &options).unwrap()
}

/// Role and range of each segment.
fn roles(file: &File) -> Vec<(&'static str, Range<u64>)> {
    let mut all = Vec::new();
    let visit = |range, part: SegmentKind| {
        all.push((part.role(), range));
        Ok(())
    };
    walk(file, &Limits::default(), visit, |_, _, _, _| {}).unwrap();
    all
}

/// A file with the remains of growth: the first blocks of gsd, which were never written, and copies of index and names.
fn grown(order: ByteOrder) -> Vec<u8> {
    let places = Places {
        version: Version::new(2, 1),
        order,
        index_at: 5530,
        slots: 3,
        names_at: 5626,
        chunks: [(5376, 4), (5520, 7)],
    };
    let mut file = places.file(5690);
    put(&mut file, 5376, &[1, 2, 3, 4]);
    // A copy of the index from when it had one entry, and room for another.
    put(&mut file, 5380, &places.entry(0).to_bytes(order));
    // A copy of the names from when there was one, in 64 bytes.
    put(&mut file, 5444, b"a\0");
    put(&mut file, 5508, &[9; 12]);
    put(&mut file, 5520, &[8; 7]);
    file
}

#[test]
fn every_byte_of_a_grown_file_has_its_role() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let file = open(grown(order));
        let expected = [
            ("header", 0..256),
            ("dead index", 256..4352),
            ("dead namelist", 4352..5376),
            ("chunk", 5376..5380),
            ("dead index", 5380..5444),
            ("dead namelist", 5444..5508),
            ("orphan", 5508..5520),
            ("chunk", 5520..5527),
            ("padding", 5527..5530),
            ("index", 5530..5594),
            ("index room", 5594..5626),
            ("namelist", 5626..5630),
            ("namelist room", 5630..5690),
        ];
        assert_eq!(roles(&file), expected, "{order:?}");
        let Waste { dead, orphan } = waste(&file, &Limits::default()).unwrap();
        assert_eq!((dead, orphan), (4096 + 1024 + 64 + 64, 12));
    }
}

#[test]
fn faults_of_a_grown_file_say_how_many_bytes_are_left_over() {
    let file = open(grown(ByteOrder::Little));
    let told: Vec<_> = faults(&file, &Limits::default())
        .unwrap()
        .iter()
        .map(|fault| (fault.code(), fault.range(), fault.message()))
        .collect();
    let expected = [
        ("dead_index", 256..4352, "4096 bytes of an earlier copy of the index"),
        ("dead_bytes", 4352..5376, "1024 bytes of an earlier copy of the namelist"),
        ("dead_index", 5380..5444, "64 bytes of an earlier copy of the index"),
        ("dead_bytes", 5444..5508, "64 bytes of an earlier copy of the namelist"),
        ("orphan_bytes", 5508..5520, "12 bytes outside every chunk, where repair looks for frames"),
    ];
    assert_eq!(told, expected.map(|(code, range, what)| (code, range, what.to_owned())));
}

#[test]
fn a_copy_of_the_index_after_other_bytes_is_found() {
    let places = Places {
        version: Version::new(2, 1),
        order: ByteOrder::Little,
        index_at: 256,
        slots: 2,
        names_at: 320,
        chunks: [(384, 3), (387, 2)],
    };
    let mut file = places.file(500);
    put(&mut file, 384, &[5; 5]);
    put(&mut file, 389, &[7; 6]);
    // Both entries, and a slot of which the end of the file leaves 9 bytes.
    for id in 0..2 {
        put(&mut file, 395 + 32 * u64::from(id), &places.entry(id).to_bytes(ByteOrder::Little));
    }
    let found = roles(&open(file));
    let expected = [("orphan", 389..395), ("dead index", 395..491), ("padding", 491..500)];
    assert_eq!(found[found.len() - 3..], expected);
}

#[test]
fn first_blocks_of_older_files_are_as_large_as_gsd_1_made_them() {
    let places = |version| Places {
        version,
        order: ByteOrder::Little,
        index_at: 13_000,
        slots: 2,
        names_at: 13_100,
        chunks: [(12_544, 1), (12_545, 1)],
    };
    let blocks = |version| {
        let mut file = places(version).file(13_228);
        put(&mut file, 12_544, &[1, 1]);
        roles(&open(file))[1..4].to_vec()
    };
    let expected = [("dead index", 256..4352), ("dead namelist", 4352..12_544), ("chunk", 12_544..12_545)];
    assert_eq!(blocks(Version::new(1, 0)), expected);
    // Since 2.0 the first namelist has 1024 bytes; the rest is what nobody uses.
    let expected = [("dead index", 256..4352), ("dead namelist", 4352..5376), ("padding", 5376..12_544)];
    assert_eq!(blocks(Version::new(2, 0)), expected);
}

#[test]
fn segments_of_chunks_name_their_dataset_and_size() {
    let file = open(grown(ByteOrder::Little));
    let chunk = |range: Range<u64>, name: &str| Segment {
        role: "chunk".into(),
        codec: Some("none".into()),
        stored: Some(range.end - range.start),
        decoded: Some(range.end - range.start),
        dataset: Some(format!("frames/0/{name}")),
        range,
        ..Segment::default()
    };
    let mut found = Vec::new();
    walk(
        &file,
        &Limits::default(),
        |range, part| {
            found.push(segment(&file, range, &part));
            Ok(())
        },
        |_, _, _, _| {},
    )
    .unwrap();
    assert_eq!(found[0], Segment::plain(0..256, "header"));
    assert_eq!(found[3], chunk(5376..5380, "a"));
    assert_eq!(found[7], chunk(5520..5527, "b"));
}

#[test]
fn overlaps_are_told_by_what_lies_over_what() {
    let told = |chunks: [(i64, u64); 2]| {
        let places = Places {
            version: Version::new(2, 1),
            order: ByteOrder::Little,
            index_at: 256,
            slots: 2,
            names_at: 320,
            chunks,
        };
        let file = open(places.file(400));
        let all = faults(&file, &Limits::default()).unwrap();
        let all: Vec<_> = all.iter().map(|fault| (fault.code(), fault.range(), fault.message())).collect();
        all
    };
    let is = |code: &'static str, range: Range<u64>, what: &str| vec![(code, range, what.to_owned())];
    assert_eq!(
        told([(384, 16), (384, 16)]),
        is("shared_bytes", 384..400, "two entries point to the same bytes")
    );
    assert_eq!(told([(384, 16), (399, 1)]), is("chunks_overlap", 399..400, "two chunks overlap"));
    assert_eq!(told([(384, 15), (399, 1)]), []);
    let in_block = "a chunk overlaps header, index or namelist";
    assert_eq!(told([(384, 16), (250, 6)]), is("chunk_in_block", 250..256, in_block));
    assert_eq!(told([(384, 16), (380, 4)]), is("chunk_in_block", 380..384, in_block));
}
