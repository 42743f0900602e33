use super::*;

fn change() -> Change {
    let old = (0..=250).cycle().take(1500).collect();
    let new = (1..=241).cycle().take(1500).collect();
    Change { at: 300, old, new, least: 0 }
}

#[test]
fn a_change_is_what_differs() {
    assert_eq!(Change::between(7, b"abcdef", b"abcdef"), None);
    let change = Change::between(7, b"abcdef", b"abXdYf").unwrap();
    assert_eq!(change, Change { at: 9, old: b"cde".to_vec(), new: b"XdY".to_vec(), least: 0 });
    assert!(!change.crosses_sectors());
    assert!(Change::between(510, b"abcd", b"bcde").unwrap().crosses_sectors());
    assert!(!Change::between(509, b"abcd", b"bcdd").unwrap().crosses_sectors());
}

#[test]
fn a_journal_is_whole_or_nothing() {
    let change = change();
    let bytes = change.encode();
    assert_eq!(bytes.len(), 32 + 3000 + 4);
    assert_eq!(Change::parse(&bytes), Some(change));
    for cut in 0..bytes.len() {
        assert_eq!(Change::parse(&bytes[..cut]), None, "cut at {cut}");
        let mut flipped = bytes.clone();
        flipped[cut] ^= 0x10;
        assert_eq!(Change::parse(&flipped), None, "flipped at {cut}");
    }
}

/// What zlib.crc32 gives, made by hand: b"b2journ2", 1, 1, 7, b"a", b"b".
#[test]
fn the_sum_is_that_of_zlib() {
    let bytes = Change { at: 1, old: b"a".to_vec(), new: b"b".to_vec(), least: 7 }.encode();
    assert_eq!(bytes[34..], SUM.to_le_bytes());
}

const SUM: u32 = 0x370d47c6;

#[test]
fn what_a_crash_leaves_is_told_from_what_others_wrote() {
    let change = change();
    // Sectors end at 512, 1024 and 1536: after 212, 724 and 1236 bytes.
    let ends = [0, 212, 724, 1236, 1500];
    for sectors in 0..15_u32 {
        let mut now = change.old.clone();
        for (number, pair) in ends.windows(2).enumerate() {
            if sectors >> number & 1 == 1 {
                now[pair[0]..pair[1]].copy_from_slice(&change.new[pair[0]..pair[1]]);
            }
        }
        assert!(change.explains(&now), "{sectors:04b}");
        now[800] ^= 0x80;
        assert!(!change.explains(&now));
    }
    for cut in 0..1500 {
        let now = [&change.new[..cut], &change.old[cut..]].concat();
        assert!(change.explains(&now), "{cut}");
    }
    assert!(!change.explains(&change.new));
    assert!(!change.explains(&change.new[1..]));
}

#[test]
fn a_torn_header_reads_as_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2nd");
    let change = change();
    let file = [&[1; 300][..], &change.new[..724], &change.old[724..], &[2; 100]].concat();
    let want = [&[1; 300][..], &change.new, &[2; 100]].concat();
    let mut sidecar = FileSidecar::beside(&path);
    assert!(sidecar.read().unwrap().is_none());
    sidecar.put(&change.encode()).unwrap();
    assert!(folder.path().join("a.b2nd.b2journal").exists());
    let source = recovered(&path, Box::new(file.clone())).unwrap();
    assert_eq!(source.read(0..1900).unwrap(), want);
    for (start, end) in [(0, 300), (250, 350), (700, 1200), (1799, 1801), (1850, 1900)] {
        let read = source.read(start as u64..end as u64).unwrap();
        assert_eq!(*read, want[start..end]);
    }
    assert!(
        source.lend(0..300).is_some() && source.lend(0..301).is_none() && source.lend(1800..1900).is_some()
    );
    // One that leads behind the end means nothing: the file is an older one that somebody has put back.
    let longer = Change { least: 1901, ..change.clone() };
    sidecar.put(&longer.encode()).unwrap();
    assert_eq!(recovered(&path, Box::new(file.clone())).unwrap().read(0..1900).unwrap(), file);
    let mut storage = file.clone();
    recover(&mut storage, &mut sidecar).unwrap();
    assert!(storage == file && sidecar.read().unwrap().is_none());
    sidecar.put(&Change { least: 1900, ..change.clone() }.encode()).unwrap();
    assert_eq!(recovered(&path, Box::new(file.clone())).unwrap().read(0..1900).unwrap(), want);
    // One that was left behind, or broken, means nothing.
    let other = vec![9; 1900];
    assert_eq!(recovered(&path, Box::new(other.clone())).unwrap().read(0..1900).unwrap(), other);
    sidecar.put(&change.encode()[1..]).unwrap();
    assert_eq!(recovered(&path, Box::new(file.clone())).unwrap().read(0..1900).unwrap(), file);
    sidecar.remove().unwrap();
    sidecar.remove().unwrap();
    assert_eq!(recovered(&path, Box::new(file.clone())).unwrap().read(0..1900).unwrap(), file);
}
