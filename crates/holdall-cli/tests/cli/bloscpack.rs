//! Bloscpack files: converted, grown, shown.

use crate::support::{contents, files, floats, npy, run};

/// Version 3 by the Python tool: one chunk of `hello bloscpack`, stored plainly, adler32, ten spare offsets.
pub fn hello() -> Vec<u8> {
    let mut bytes =
        b"blpk\x03\x01\x01\x08\x0f\0\0\0\x0f\0\0\0\x01\0\0\0\0\0\0\0\x0a\0\0\0\0\0\0\0\x78\0\0\0\0\0\0\0"
            .to_vec();
    bytes.extend([0xff; 80]);
    bytes.extend(b"\x02\x01\x13\x08\x0f\0\0\0\x08\0\0\0\x1f\0\0\0hello bloscpack\x3b\x06\xdb\x36");
    bytes
}

pub fn with_blp() -> tempfile::TempDir {
    let directory = files();
    std::fs::write(directory.path().join("hello.blp"), hello()).unwrap();
    run(directory.path(), &["convert", "good.npy", "good.blp"]).expect(0);
    directory
}

#[test]
fn a_file_of_the_python_tool_is_read() {
    let directory = with_blp();
    let at = directory.path();
    assert_eq!(run(at, &["cat", "--format", "raw", "hello.blp"]).expect(0), "hello bloscpack");
    assert_eq!(run(at, &["cat", "hello.blp::[0:2]"]).expect(0), "104\n101\n");
    assert!(run(at, &["verify", "hello.blp"]).expect(0).starts_with("hello.blp\tsound\t"));
    assert!(run(at, &["ls", "hello.blp"]).expect(0).starts_with("data\t|u1\t(15,)\tC\t"));
    let info = run(at, &["info", "hello.blp"]).expect(0).to_owned();
    for row in [
        "format\tBloscpack\n",
        "version\t3\n",
        "complete\tyes\n",
        "checksums\tadler32\n",
        "datasets\t1: data |u1 (15,)\n",
    ] {
        assert!(info.contains(row), "{row} {info}");
    }
}

#[test]
fn arrays_go_there_and_back_with_every_codec_filter_and_checksum() {
    let directory = with_blp();
    let at = directory.path();
    let data: Vec<u8> = (0..60_000_u32).flat_map(|number| (number / 7 * 3).to_be_bytes()).collect();
    std::fs::write(at.join("a.npy"), npy(">i4", false, "(200, 300)", &data)).unwrap();
    for codec in ["none", "blosclz", "blosclz:1", "lz4", "lz4hc:9", "zlib:1", "zstd:0", "zstd:9"] {
        for filter in ["none", "shuffle", "bitshuffle"] {
            run(at, &["convert", "a.npy", "a.blp", "-f", "--verify", "--codec", codec, "--filter", filter])
                .expect(0);
            run(at, &["convert", "a.blp", "b.npy", "-f"]).expect(0);
            assert_eq!(std::fs::read(at.join("b.npy")).unwrap(), npy(">i4", false, "(200, 300)", &data));
        }
    }
    for (code, checksum) in
        ["none", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
            .into_iter()
            .enumerate()
    {
        run(at, &["convert", "a.npy", "a.blp", "-f", "--verify", "--checksum", checksum, "--chunks", "7"])
            .expect(0);
        let bytes = std::fs::read(at.join("a.blp")).unwrap();
        // 7 rows of 300 elements of 4 bytes.
        assert_eq!((usize::from(bytes[6]), &bytes[8..12]), (code, &8400_u32.to_le_bytes()[..]));
        assert_eq!(run(at, &["diff", "a.npy", "a.blp"]).expect(0), "");
        run(at, &["verify", "a.blp"]).expect(0);
    }
    assert_eq!(run(at, &["cat", "a.blp::[6:8, -1]"]).expect(0), "897\n1026\n");
}

#[test]
fn the_order_of_the_axes_is_kept() {
    let directory = with_blp();
    let at = directory.path();
    assert!(run(at, &["ls", "good.blp"]).expect(0).starts_with("data\t<f4\t(3, 2)\tF\t"));
    run(at, &["convert", "good.blp", "back.npy", "--verify"]).expect(0);
    assert_eq!(std::fs::read(at.join("back.npy")).unwrap(), std::fs::read(at.join("good.npy")).unwrap());
    run(at, &["convert", "good.blp", "back.ra", "--verify"]).expect(0);
    assert_eq!(std::fs::read(at.join("back.ra")).unwrap(), std::fs::read(at.join("good.ra")).unwrap());
    run(at, &["convert", "good.ra", "back.blp", "--verify"]).expect(0);
    assert_eq!(std::fs::read(at.join("back.blp")).unwrap(), std::fs::read(at.join("good.blp")).unwrap());
}

#[test]
fn unsupported_options_are_refused_with_supported_values() {
    let directory = with_blp();
    let at = directory.path();
    let before = contents(at);
    for (args, word) in [
        (&["--codec", "bzp2"][..], "none, blosclz, lz4, lz4hc, zlib, zstd"),
        (&["--codec", "zstd:10"], "0 to 9"),
        (&["--codec", "none:3"], "no levels"),
        (&["--filter", "delta"], "none, shuffle, bitshuffle"),
        (&["--checksum", "md4"], "sha512"),
        (&["--chunks", "0"], "chunks"),
        (&["--chunks", "2,3"], "chunks"),
        (&["--blocks", "2"], "blocks"),
        (&["--frames"], "frames"),
    ] {
        let refused = run(at, &[&["convert", "good.npy", "new.blp"], args].concat());
        refused.expect(2);
        assert!(refused.err.contains(word), "{args:?} {refused:#?}");
        assert_eq!(contents(at), before, "{args:?}");
    }
}

#[test]
fn raw_bytes_become_a_file_and_come_back() {
    let directory = with_blp();
    let at = directory.path();
    std::fs::write(at.join("a.dat"), floats(1000)).unwrap();
    run(at, &["pack", "--dtype", "<f4", "--shape", "10,100", "a.dat", "a.blp", "--verify"]).expect(0);
    assert!(run(at, &["ls", "a.blp"]).expect(0).starts_with("data\t<f4\t(10, 100)\tC\t"));
    run(at, &["cat", "--format", "raw", "a.blp", "-o", "b.dat"]).expect(0);
    assert_eq!(std::fs::read(at.join("b.dat")).unwrap(), floats(1000));
    run(at, &["pack", "--dtype", "|u1", "other.txt", "c.blp"]).expect(0);
    assert_eq!(run(at, &["cat", "--format", "raw", "c.blp"]).expect(0), "neither here nor there\n");
    for args in [
        &["pack", "--dtype", "<f4", "--shape", "10,101", "a.dat", "d.blp"][..],
        &["pack", "--dtype", "<f8", "other.txt", "d.blp"],
        &["pack", "--dtype", "nosuch", "a.dat", "d.blp"],
        &["pack", "--shape", "10", "a.dat", "d.blp"],
    ] {
        run(at, args).expect(2);
        assert!(!at.join("d.blp").exists());
    }
}

#[test]
fn bytes_without_a_type_take_any_number_of_bytes() {
    let directory = with_blp();
    let at = directory.path();
    // 16 bytes in elements of 8, as the Python tool calls them by default.
    let mut even = hello();
    for (place, byte) in [(8, 16), (12, 16), (124, 16), (132, 32)] {
        even[place] = byte;
    }
    even.truncate(151);
    even.extend(b"!");
    even.extend(adler32(&even[120..]));
    std::fs::write(at.join("even.blp"), even).unwrap();
    assert!(run(at, &["ls", "even.blp"]).expect(0).starts_with("data\t|V8\t(2,)\t"));
    run(at, &["append", "--raw", "even.blp", "other.txt"]).expect(0);
    run(at, &["verify", "even.blp"]).expect(0);
    let all = run(at, &["cat", "--format", "raw", "even.blp"]).expect(0).to_owned();
    assert_eq!(all, "hello bloscpack!neither here nor there\n");
}

/// As Bloscpack stores it.
fn adler32(bytes: &[u8]) -> [u8; 4] {
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    (b << 16 | a).to_le_bytes()
}

#[test]
fn recode_keeps_values_and_type() {
    let directory = with_blp();
    let at = directory.path();
    run(at, &["recode", "good.blp", "new.blp", "--codec", "zstd:9", "--checksum", "crc32", "--verify"])
        .expect(0);
    assert_eq!(run(at, &["diff", "good.blp", "new.blp"]).expect(0), "");
    assert_eq!(std::fs::read(at.join("new.blp")).unwrap()[6], 2);
    run(at, &["recode", "good.blp", "new.ra"]).expect(2);
    run(at, &["recode", "good.blp", "good.blp", "-f"]).expect(2);
    run(at, &["recode", "good.npy", "new.npy"]).expect(2);
    let (recoded, json) =
        (run(at, &["recode", "--json", "good.ra", "x.ra"]), "\"schema\":\"holdall.convert/1\"");
    assert!(recoded.expect(0).contains(json), "{recoded:#?}");
}

#[test]
fn datasets_are_extracted_as_npy() {
    let directory = with_blp();
    let at = directory.path();
    assert_eq!(run(at, &["extract", "good.blp", "-o", "out"]).expect(0), "data\tout/data.npy\t24\n");
    assert_eq!(std::fs::read(at.join("out/data.npy")).unwrap(), std::fs::read(at.join("good.npy")).unwrap());
    run(at, &["extract", "good.blp", "-o", "out"]).expect(2);
    run(at, &["extract", "good.blp"]).expect(2);
    run(at, &["extract", "--items", "good.blp", "-o", "new"]).expect(2);
    assert!(!at.join("new").exists());
}
