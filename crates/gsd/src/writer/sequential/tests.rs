use super::*;
use crate::{File, OpenOptions, Strictness};

fn open(bytes: Vec<u8>) -> File {
    File::from_source(Box::new(bytes), &OpenOptions::default().with_strictness(Strictness::Strict)).unwrap()
}

fn plan() -> Plan {
    Plan::new("app", "none", Version::new(1, 2)).unwrap()
}

#[test]
fn an_empty_file_has_room_for_one_entry_and_one_name() {
    let bytes = to_vec(plan(), &[]).unwrap();
    // Header, one unit of names, one entry.
    assert_eq!(bytes.len(), 256 + 64 + 32);
    assert_eq!(bytes[8..40], [320_u64, 1, 256, 1].map(u64::to_le_bytes).concat());
    assert!(bytes[256..].iter().all(|byte| *byte == 0));
    let file = open(bytes);
    assert_eq!((file.nframes(), file.names().len(), file.index().len()), (0, 0, 0));
    assert_eq!(file.header().gsd_version, Version::new(2, 1));
}

#[test]
fn entries_are_sorted_data_are_as_given_and_aligned() {
    let chunks: [NewChunk<'_>; 5] = [
        (0, "a", ChunkType::Uint8, 3, 1, b"xyz"),
        (0, "b", ChunkType::Uint16, 1, 2, b"1234"),
        (2, "c", ChunkType::Character, 0, 1, b""),
        (2, "b", ChunkType::Uint8, 1, 1, b"!"),
        (2, "a", ChunkType::Uint8, 1, 1, b"?"),
    ];
    let bytes = to_vec(plan(), &chunks).unwrap();
    // Header, names, five entries; chunks of 3, 4, 0, 1 and 1 bytes at multiples of 8.
    assert_eq!(bytes.len(), 320 + 5 * 32 + 8 + 8 + 8 + 1);
    assert_eq!(&bytes[256..262], b"a\0b\0c\0");
    assert_eq!(&bytes[480..], b"xyz\0\0\0\0\x001234\0\0\0\0!\0\0\0\0\0\0\0?");
    let file = open(bytes);
    assert_eq!(file.nframes(), 3);
    let order: Vec<_> = file.index().iter().map(|entry| (entry.frame, entry.id)).collect();
    assert_eq!(order, [(0, 0), (0, 1), (2, 0), (2, 1), (2, 2)]);
    for (frame, name, chunk_type, n, m, bytes) in chunks {
        let entry = file.find_chunk(frame, name).unwrap();
        assert_eq!((entry.chunk_type(), entry.n, entry.m), (Some(chunk_type), n, m));
        assert_eq!(&*file.read_chunk(&entry).unwrap(), bytes);
        assert_eq!(entry.location % 8, 0);
    }
}

#[test]
fn frames_without_chunks_leave_room_in_the_index() {
    let file = open(to_vec(plan(), &[(200, "a", ChunkType::Uint8, 1, 1, b"x")]).unwrap());
    assert_eq!((file.header().index_allocated_entries, file.nframes()), (201, 201));
    // Far more room than there may be memory.
    let mut far = plan();
    let id = far.name(b"a").unwrap();
    far.chunk(1 << 50, id, ChunkType::Uint8, 1, 1).unwrap();
    assert!(far.emit(Vec::new(), &Limits::default()).is_err());
}

#[test]
fn a_name_list_that_fills_its_block_ends_with_a_zero() {
    for len in [62, 63, 64] {
        let name = "n".repeat(len);
        let bytes = to_vec(plan(), &[(0, &name, ChunkType::Uint8, 1, 1, b"x")]).unwrap();
        let file = open(bytes.clone());
        let range = file.header().namelist_range().unwrap();
        assert_eq!(bytes[usize::try_from(range.end).unwrap() - 1], 0);
        assert_eq!(file.names().get(0).unwrap(), name);
    }
}

#[test]
fn chunks_that_deviate_from_the_plan_are_refused() {
    assert!(plan().name(b"").is_err() && plan().name(b"a\0b").is_err());
    assert!(plan().chunk(0, 0, ChunkType::Uint8, 1, 1).is_err());
    let mut two = plan();
    let id = two.name(b"a").unwrap();
    two.chunk(1, id, ChunkType::Uint8, 2, 1).unwrap();
    assert!(two.chunk(0, id, ChunkType::Uint8, 1, 1).is_err());
    assert!(two.chunk(1, id, ChunkType::Uint8, 1, 0).is_err());
    assert!(two.chunk(1, id, ChunkType::Double, u64::MAX / 4, 4).is_err());
    let limits = Limits::default();
    let mut short = two.clone().emit(Vec::new(), &limits).unwrap();
    short.write(b"x").unwrap();
    assert!(short.finish().is_err());
    let mut long = two.clone().emit(Vec::new(), &limits).unwrap();
    assert!(long.write(b"xyz").is_err());
    two.chunk(1, id, ChunkType::Uint8, 2, 1).unwrap();
    assert!(two.emit(Vec::new(), &limits).is_err());
}

#[test]
fn the_65536th_name_is_refused() {
    let mut plan = plan();
    for at in 0..65535 {
        plan.name(format!("{at}").as_bytes()).unwrap();
    }
    assert!(plan.name(b"x").is_err());
    assert_eq!(plan.name(b"7").unwrap(), 7);
}
