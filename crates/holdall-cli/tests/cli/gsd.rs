//! GSD files: arrays that go there and come back, frames that are chosen and added.

use std::path::Path;

use holdall::gsd::sequential::{Plan, to_vec};
use holdall::gsd::{ChunkType, Version};

use crate::support::{contents, files, npy, run};

type Chunk<'a> = (u64, &'a str, ChunkType, u64, u32, &'a [u8]);

fn write(path: &Path, schema: &str, chunks: &[Chunk<'_>]) {
    let plan = Plan::new("a test", schema, Version::new(1, 4)).unwrap();
    std::fs::write(path, to_vec(plan, chunks).unwrap()).unwrap();
}

fn u8s(count: u8) -> Vec<u8> {
    (0..count).collect()
}

#[test]
fn arrays_of_every_rank_go_there_and_back() {
    let directory = files();
    let at = directory.path();
    for (shape, count, frames) in [
        ("(6,)", 6, true),
        ("(2, 3)", 6, true),
        ("(6, 1)", 6, true),
        ("(1, 6)", 6, true),
        ("(2, 1, 3)", 6, true),
        ("(1, 2, 3)", 6, true),
        ("()", 1, false),
        ("(0,)", 0, false),
        ("(2, 0)", 0, true),
    ] {
        let array = npy("|u1", false, shape, &u8s(count));
        std::fs::write(at.join("a.npy"), &array).unwrap();
        run(at, &["convert", "a.npy", "a.gsd", "-f", "--verify"]).expect(0);
        run(at, &["convert", "a.gsd", "b.npy", "-f", "--verify"]).expect(0);
        assert_eq!(std::fs::read(at.join("b.npy")).unwrap(), array, "{shape}");
        assert_eq!(run(at, &["diff", "a.npy", "a.gsd"]).expect(0), "");
        assert!(run(at, &["verify", "a.gsd"]).expect(0).starts_with("a.gsd\tsound\t"));
        assert_eq!(run(at, &["ls", "a.gsd"]).expect(0).lines().count(), 1);
        if frames {
            run(at, &["convert", "--frames", "a.npy", "a.gsd", "-f", "--verify"]).expect(0);
            run(at, &["convert", "a.gsd", "b.npy", "-f", "--verify"]).expect(0);
            // One frame is an array, not an array of one.
            let expected = if shape == "(1, 6)" { "(6,)" } else { shape };
            let expected = if shape == "(1, 2, 3)" { "(2, 3)" } else { expected };
            let expected = npy("|u1", false, expected, &u8s(count));
            assert_eq!(std::fs::read(at.join("b.npy")).unwrap(), expected, "{shape}");
        }
    }
}

#[test]
fn column_major_and_big_endian_arrays_are_written_as_gsd_has_them() {
    let directory = files();
    let at = directory.path();
    run(at, &["convert", "good.npy", "good.gsd", "--verify"]).expect(0);
    run(at, &["convert", "good.ra", "other.gsd", "--verify"]).expect(0);
    assert_eq!(std::fs::read(at.join("good.gsd")).unwrap(), std::fs::read(at.join("other.gsd")).unwrap());
    run(at, &["convert", "good.gsd", "back.ra", "--verify"]).expect(0);
    assert_eq!(std::fs::read(at.join("back.ra")).unwrap(), std::fs::read(at.join("good.ra")).unwrap());
    let big: Vec<u8> = (0..6_u16).flat_map(u16::to_be_bytes).collect();
    let little: Vec<u8> = (0..6_u16).flat_map(u16::to_le_bytes).collect();
    std::fs::write(at.join("big.npy"), npy(">u2", false, "(2, 3)", &big)).unwrap();
    run(at, &["convert", "big.npy", "big.gsd", "--verify"]).expect(0);
    run(at, &["convert", "big.gsd", "little.npy"]).expect(0);
    assert_eq!(std::fs::read(at.join("little.npy")).unwrap(), npy("<u2", false, "(2, 3)", &little));
}

#[test]
fn types_missing_in_gsd_need_as_bytes() {
    let directory = files();
    let at = directory.path();
    let data = u8s(48);
    for (descr, size) in [("<c16", 16_usize), ("|b1", 1), ("<f2", 2), ("|S3", 3), ("<M8[s]", 8)] {
        std::fs::write(at.join("a.npy"), npy(descr, false, "(3,)", &data[..3 * size])).unwrap();
        let before = contents(at);
        let refused = run(at, &["convert", "a.npy", "a.gsd"]);
        refused.expect(2);
        assert!(refused.err.contains("--as-bytes"), "{refused:#?}");
        assert_eq!(contents(at), before);
        let done = run(at, &["convert", "a.npy", "a.gsd", "--as-bytes", "--verify", "-f"]);
        done.expect(0);
        assert!(done.err.contains("not carried over"), "{done:#?}");
        let shape = if size == 1 { "(1, 3)".to_owned() } else { format!("(1, 3, {size})") };
        let listed = run(at, &["ls", "a.gsd"]);
        assert!(listed.expect(0).starts_with(&format!("data\t|u1\t{shape}\t")), "{listed:#?}");
        std::fs::remove_file(at.join("a.gsd")).unwrap();
    }
}

#[test]
fn frames_are_chosen_and_added() {
    let directory = files();
    let at = directory.path();
    std::fs::write(at.join("a.npy"), npy("|u1", false, "(5, 2)", &u8s(10))).unwrap();
    run(at, &["convert", "--frames=1:4:2", "a.npy", "a.gsd", "--verify"]).expect(2);
    run(at, &["convert", "--frames=1:4:2", "a.npy", "a.gsd"]).expect(0);
    assert_eq!(run(at, &["cat", "a.gsd"]).expect(0), "2 3\n6 7\n");
    run(at, &["append", "a.gsd", "a.npy"]).expect(0);
    assert_eq!(run(at, &["cat", "a.gsd::[1:3]"]).expect(0), "6 7\n0 1\n");
    run(at, &["convert", "a.gsd", "b.gsd", "--frames=-2:", "--no-sync"]).expect(0);
    assert_eq!(run(at, &["cat", "b.gsd::data"]).expect(0), "6 7\n8 9\n");
    run(at, &["append", "b.gsd", "a.gsd"]).expect(0);
    assert!(run(at, &["ls", "b.gsd"]).expect(0).starts_with("data\t|u1\t(9, 2)\t"));
    run(at, &["append", "--raw", "b.gsd", "other.txt"]).expect(2);
    std::fs::write(at.join("four.bin"), [9, 9, 8, 8]).unwrap();
    run(at, &["append", "--raw", "b.gsd", "four.bin"]).expect(0);
    assert_eq!(run(at, &["cat", "b.gsd::[-3:]"]).expect(0), "8 9\n9 9\n8 8\n");
    let before = contents(at);
    for (source, why) in [("good.npy", "float"), ("a.gsd::frames/0/data", "append")] {
        let _ = why;
        let refused = run(at, &["append", "b.gsd", source, "--codec", "zstd"]);
        refused.expect(2);
        assert_eq!(contents(at), before);
    }
    run(at, &["append", "b.gsd", "a.gsd::frames/0/data"]).expect(0);
    assert_eq!(run(at, &["cat", "b.gsd::data[-1]"]).expect(0), "2\n3\n");
}

#[test]
fn a_file_is_copied_chunk_by_chunk() {
    let directory = files();
    let at = directory.path();
    let chunks: [Chunk<'_>; 5] = [
        (0, "b", ChunkType::Uint16, 2, 1, &[1, 0, 2, 0]),
        (0, "a", ChunkType::Character, 3, 1, b"abc"),
        (1, "b", ChunkType::Uint16, 1, 2, &[3, 0, 4, 0]),
        (3, "a", ChunkType::Int8, 0, 5, b""),
        (
            3,
            "an/unusually/long/name/of/more/than/sixty-three/bytes/in/all/of/it",
            ChunkType::Double,
            1,
            1,
            &[0; 8],
        ),
    ];
    write(&at.join("a.gsd"), "of my own", &chunks);
    run(at, &["convert", "a.gsd", "b.gsd", "--verify"]).expect(0);
    assert_eq!(std::fs::read(at.join("b.gsd")).unwrap(), std::fs::read(at.join("a.gsd")).unwrap());
    // Data without an entry are dropped.
    let mut fat = std::fs::read(at.join("a.gsd")).unwrap();
    fat.extend([7; 1000]);
    std::fs::write(at.join("fat.gsd"), fat).unwrap();
    run(at, &["recode", "fat.gsd", "thin.gsd", "--compact"]).expect(0);
    assert_eq!(std::fs::read(at.join("thin.gsd")).unwrap(), std::fs::read(at.join("a.gsd")).unwrap());
    run(at, &["recode", "a.gsd", "c.gsd", "--codec", "zstd"]).expect(2);
}

#[test]
fn texts_are_text() {
    let directory = files();
    let at = directory.path();
    let text = "né ok".as_bytes();
    write(&at.join("a.gsd"), "none", &[(0, "s", ChunkType::Character, text.len() as u64, 1, text)]);
    assert!(run(at, &["ls", "a.gsd"]).expect(0).starts_with("s\t|S1\t(1, 6)\t"));
    assert_eq!(run(at, &["cat", "a.gsd", "--format", "text"]).expect(0), "né ok\n");
    assert_eq!(run(at, &["cat", "a.gsd", "--format", "raw"]).expect(0), "né ok");
}

#[test]
fn the_log_is_a_table() {
    let directory = files();
    let at = directory.path();
    let f = |value: f64| value.to_le_bytes();
    let u = |value: u64| value.to_le_bytes();
    let vector: Vec<u8> = [1_u32, 2].iter().flat_map(|one| one.to_le_bytes()).collect();
    write(
        &at.join("a.gsd"),
        "hoomd",
        &[
            (0, "log/e", ChunkType::Double, 1, 1, &f(0.5)),
            (0, "log/v", ChunkType::Uint32, 1, 2, &vector),
            (0, "log/s", ChunkType::Character, 1, 1, b"a"),
            (1, "configuration/step", ChunkType::Uint64, 1, 1, &u(10)),
            (1, "log/e", ChunkType::Double, 1, 1, &f(-2.0)),
            (1, "log/s", ChunkType::Character, 2, 1, b"bc"),
        ],
    );
    let table = run(at, &["cat", "a.gsd::log", "--format", "csv"]).expect(0).to_owned();
    assert_eq!(table, "frame,step,e,v[0],v[1],s\n0,0,0.5,1,2,a\n1,10,-2.0,1,2,bc\n");
    assert_eq!(run(at, &["cat", "a.gsd::log[1:]", "--format", "csv"]).expect(0).lines().count(), 2);
    assert_eq!(run(at, &["cat", "a.gsd::log/e", "--format", "csv"]).expect(0), "0.5\n-2.0\n");
    run(at, &["convert", "a.gsd::log", "log.npy", "--verify"]).expect(0);
    write(&at.join("b.gsd"), "none", &[(0, "x", ChunkType::Uint8, 1, 1, &[1])]);
    // An absent chunk is an answer.
    run(at, &["cat", "b.gsd::log"]).expect(1);
}

#[test]
fn ls_stored_lists_chunks_without_schema_defaults() {
    let directory = files();
    let at = directory.path();
    let n = 1_u32.to_le_bytes();
    write(
        &at.join("a.gsd"),
        "hoomd",
        &[
            (0, "particles/N", ChunkType::Uint32, 1, 1, &n),
            (0, "particles/mass", ChunkType::Float, 1, 1, &2_f32.to_le_bytes()),
            (1, "particles/charge", ChunkType::Float, 1, 1, &3_f32.to_le_bytes()),
        ],
    );
    assert_eq!(run(at, &["cat", "a.gsd::particles/mass"]).expect(0), "2.0\n2.0\n");
    assert_eq!(run(at, &["cat", "a.gsd::particles/charge"]).expect(0), "0.0\n3.0\n");
    let stored = run(at, &["ls", "--stored", "a.gsd"]).expect(0).to_owned();
    let paths: Vec<&str> = stored.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(paths, ["frames/0/particles/N", "frames/0/particles/mass", "frames/1/particles/charge"]);
}

#[test]
fn damaged_file_is_refused_by_convert_recode_and_append() {
    let directory = files();
    let at = directory.path();
    let chunks: [Chunk<'_>; 2] =
        [(0, "x", ChunkType::Uint8, 1, 1, &[1]), (1, "x", ChunkType::Uint8, 1, 1, &[2])];
    write(&at.join("a.gsd"), "none", &chunks);
    let mut bytes = std::fs::read(at.join("a.gsd")).unwrap();
    // Header, a unit of names, an entry; byte 30 of the second one is its type.
    bytes[256 + 64 + 32 + 30] = 12;
    std::fs::write(at.join("bad.gsd"), bytes).unwrap();
    let report = run(at, &["verify", "bad.gsd"]);
    assert!(report.expect(1).contains("entry_type"), "{report:#?}");
    let before = contents(at);
    for args in [
        &["convert", "bad.gsd", "b.gsd"][..],
        &["recode", "bad.gsd", "b.gsd"],
        &["append", "a.gsd", "bad.gsd"],
        &["append", "bad.gsd", "a.gsd"],
    ] {
        let refused = run(at, args);
        refused.expect(2);
        assert!(refused.err.contains("type"), "{refused:#?}");
        assert_eq!(contents(at), before);
    }
    run(at, &["repair", "bad.gsd", "-o", "b.gsd"]).expect(1);
    assert_eq!(run(at, &["cat", "b.gsd"]).expect(0), "1\n");
}

#[test]
fn a_chunk_that_is_not_there_is_an_answer() {
    let directory = files();
    let at = directory.path();
    let (step, mass) = (5_u64.to_le_bytes(), 2.0_f32.to_le_bytes());
    write(
        &at.join("a.gsd"),
        "hoomd",
        &[
            (0, "particles/N", ChunkType::Uint32, 1, 1, &1_u32.to_le_bytes()),
            (0, "particles/mass", ChunkType::Float, 1, 1, &mass),
            (1, "configuration/step", ChunkType::Uint64, 1, 1, &step),
        ],
    );
    for path in ["log/none", "frames/1/log/none", "frames/9/particles/mass", "nothing"] {
        let said = run(at, &["cat", &format!("a.gsd::{path}")]);
        assert!(said.err.contains("no chunk"), "{path}: {}", said.err);
        said.expect(1);
        run(at, &["ls", &format!("a.gsd::{path}")]).expect(1);
    }
    // Values from frame 0 exist, but are not stored.
    run(at, &["cat", "a.gsd::frames/1/particles/mass"]).expect(0);
    run(at, &["cat", "--stored", "a.gsd::frames/1/particles/mass"]).expect(1);
    // Elsewhere a name that is not there is a mistake.
    run(at, &["cat", "good.npy::none"]).expect(2);
}

#[test]
fn requested_application_and_schema_are_written() {
    let directory = files();
    let at = directory.path();
    let options = ["-O", "application=mine 1", "-O", "schema=own", "-O", "schema-version=2.3"];
    run(at, &[&["convert", "good.npy", "a.gsd"][..], &options].concat()).expect(0);
    let meta = run(at, &["meta", "--json", "a.gsd"]).expect(0).to_owned();
    for told in ["\"application\":\"mine 1\"", "\"schema\":\"own\"", "\"schema_version\":\"2.3\""] {
        assert!(meta.replace(": ", ":").contains(told), "{meta}");
    }
    // A copy keeps them, except those given.
    run(at, &["convert", "a.gsd", "b.gsd", "-O", "application=other"]).expect(0);
    let meta = run(at, &["meta", "--json", "b.gsd"]).expect(0).replace(": ", ":");
    assert!(meta.contains("\"application\":\"other\"") && meta.contains("\"schema\":\"own\""), "{meta}");
    for bad in ["application=", "schema-version=x", &format!("schema={}", "x".repeat(64))] {
        run(at, &["convert", "good.npy", "c.gsd", "-O", bad]).expect(2);
    }
}

#[test]
fn entries_omitted_from_the_log_table_are_named() {
    let directory = files();
    let at = directory.path();
    let pair = [1.0_f64.to_le_bytes(), 2.0_f64.to_le_bytes()].concat();
    write(
        &at.join("a.gsd"),
        "hoomd",
        &[
            (0, "log/e", ChunkType::Double, 1, 1, &pair[..8]),
            (0, "log/f", ChunkType::Double, 1, 1, &pair[..8]),
            (0, "log/particles/x", ChunkType::Double, 2, 1, &pair),
            (1, "log/e", ChunkType::Double, 2, 1, &pair),
        ],
    );
    for verb in [&["cat", "a.gsd::log"][..], &["stat", "a.gsd::log"], &["convert", "a.gsd::log", "a.asdf"]] {
        let said = run(at, verb);
        let told = said.err.clone();
        assert!(told.contains("e: frame 1 has 2 by 1") && told.contains("particles/x"), "{verb:?}: {told}");
        said.expect(0);
    }
}

#[test]
fn application_and_schema_of_a_file_are_changed_where_they_are() {
    let directory = files();
    let at = directory.path();
    write(&at.join("a.gsd"), "hoomd", &[(0, "log/e", ChunkType::Uint8, 1, 1, &[7])]);
    let before = std::fs::read(at.join("a.gsd")).unwrap();
    run(at, &["meta", "a.gsd", "--set", "application=mine 1.0", "--set", "/schema_version=2.0"]).expect(0);
    let shown = run(at, &["meta", "a.gsd"]);
    let shown = shown.expect(0);
    assert!(shown.contains("application: mine 1.0") && shown.contains("schema_version: 2.0"), "{shown}");
    let after = std::fs::read(at.join("a.gsd")).unwrap();
    assert!(before[176..] == after[176..] && before[..40] == after[..40] && before.len() == after.len());
    let long = format!("application={}", "x".repeat(64));
    for (change, word) in [
        (["--set", &long], "63 bytes"),
        (["--set", "/frames=5"], "application, schema"),
        (["--set", "schema_version=new"], "version"),
        (["--unset", "/schema"], "a GSD file cannot lack it"),
    ] {
        // All take effect or none.
        let refused = run(at, &["meta", "a.gsd", "--set", "application=other", change[0], change[1]]);
        refused.expect(2);
        assert!(refused.err.contains(word), "{}", refused.err);
        assert!(std::fs::read(at.join("a.gsd")).unwrap() == after);
    }
}

#[test]
fn invalid_selections_are_usage_errors_even_for_missing_chunks() {
    let directory = files();
    let at = directory.path();
    write(&at.join("a.gsd"), "hoomd", &[(0, "log/e", ChunkType::Uint8, 4, 1, &[1, 2, 3, 4])]);
    for text in ["[0][e==1]", "[e>1]", "[[0, 1]]", "[-1][mask]", "[0][1]", "[e>1].sum()", "[0", "]"] {
        for name in ["log/e", "log/missing", "frames/0/log/e", "frames/9/log/e"] {
            for verb in ["cat", "stat", "digest"] {
                let refused = run(at, &[verb, &format!("a.gsd::{name}{text}")]);
                refused.expect(2);
                assert!(refused.err.contains("selection"), "{verb} {name}{text}: {}", refused.err);
            }
        }
    }
    run(at, &["cat", "a.gsd::log/missing"]).expect(1);
    run(at, &["cat", "a.gsd::log/missing[0]"]).expect(1);
}
