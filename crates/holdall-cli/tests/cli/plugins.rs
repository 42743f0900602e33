//! Chunks whose codec or filter is a plugin that is not here: neither sound nor damaged.

use std::path::Path;

use crate::support::run;

/// An array of one chunk whose codec is number 180, one of those that users give out.
fn with_user_codec(at: &Path, name: &str) {
    let values: Vec<u8> = (0..4000_u16).flat_map(|number| (number % 90).to_le_bytes()).collect();
    std::fs::write(at.join("values.bin"), values).unwrap();
    run(at, &["pack", "--dtype", "<u2", "--shape", "4000", "values.bin", name, "--codec", "zlib"]).expect(0);
    let mut file = std::fs::read(at.join(name)).unwrap();
    // docs/formats/blosc2.md, "Header": codec flags and codec; then flags and codec of the chunk after it.
    file[27] = file[27] & 0xf0 | 6;
    file[77] = 180;
    let chunk = usize::try_from(u32::from_be_bytes(file[11..15].try_into().unwrap())).unwrap();
    assert_eq!(file[chunk + 2] & 2, 0, "not stored plainly");
    file[chunk + 2] = file[chunk + 2] & 0x1f | 6 << 5;
    file[chunk + 22] = 180;
    std::fs::write(at.join(name), file).unwrap();
}

#[test]
fn a_chunk_of_a_user_s_codec_could_not_be_checked() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    with_user_codec(at, "a.b2nd");
    let checked = run(at, &["verify", "a.b2nd"]);
    assert!(checked.expect(2).starts_with("a.b2nd\tunchecked\t"), "{checked:#?}");
    assert!(checked.out.contains("unsupported_chunk") && checked.err.contains("codec 180"), "{checked:#?}");
    assert!(
        !checked.out.contains("damaged") && checked.out.contains("1 of 1 blocks checked\n"),
        "{checked:#?}"
    );
    let json = run(at, &["verify", "--json", "a.b2nd"]);
    assert!(json.expect(2).contains(r#""verdict":"unchecked""#), "{json:#?}");
    run(at, &["cat", "a.b2nd"]).expect(2);
    // Damage is still reported.
    let mut file = std::fs::read(at.join("a.b2nd")).unwrap();
    file.truncate(file.len() - 1);
    std::fs::write(at.join("cut.b2nd"), file).unwrap();
    run(at, &["verify", "cut.b2nd"]).expect(1);
    // The chunk stays as it is.
    let repaired = run(at, &["repair", "a.b2nd", "-o", "b.b2nd"]);
    assert!(!repaired.out.contains("lost"), "{repaired:#?}");
    run(at, &["verify", "b.b2nd"]).expect(2);
}
