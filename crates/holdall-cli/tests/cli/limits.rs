//! Memory: the demands of a file, and the limits of the machine.

use std::path::Path;

use crate::support::{files, rawarray_with_flags, run};

/// An LZ4 block of `len` zeros, at most 255 times smaller: one literal, a match of offset 1, five literals.
fn lz4_zeros(len: usize) -> Vec<u8> {
    let mut block = vec![0x1f, 0, 1, 0];
    // One literal before and five after the match, whose length counts from 4 and is 19 before the first extra byte.
    let mut left = len - 6 - 19;
    while left >= 255 {
        block.push(255);
        left -= 255;
    }
    block.push(u8::try_from(left).unwrap());
    block.extend([0x50, 0, 0, 0, 0, 0]);
    block
}

fn with_lz4(len: usize) -> tempfile::TempDir {
    let directory = files();
    let bytes = rawarray_with_flags(2, 2, 1, &[len as u64], &lz4_zeros(len));
    std::fs::write(directory.path().join("zeros.ra"), bytes).unwrap();
    directory
}

#[test]
fn a_block_within_the_limit_is_read_and_one_over_it_is_refused() {
    let directory = with_lz4(1 << 20);
    let at = directory.path();
    let zeros = run(at, &["cat", "zeros.ra::data[0:3]"]);
    assert_eq!(zeros.expect(0), "0\n0\n0\n");
    run(at, &["--limit-memory", "8M", "verify", "zeros.ra"]).expect(0);
    for args in [
        &["cat", "zeros.ra", "--limit-memory", "64K"][..],
        &["convert", "zeros.ra", "new.npy", "--limit-memory", "64K"],
        &["diff", "zeros.ra", "zeros.ra", "--limit-memory", "64K"],
    ] {
        let run = run(at, args);
        run.expect(2);
        assert!(run.err.contains("limit is 65536") && run.err.contains("--limit-memory"), "{run:#?}");
    }
    // The header is still readable.
    run(at, &["info", "--limit-memory", "64K", "zeros.ra"]).expect(0);
}

#[test]
fn the_limit_is_the_same_for_one_file_and_for_many() {
    let directory = with_lz4(1 << 20);
    let args = |jobs: &'static str, limit| {
        ["verify", "-j", jobs, "--limit-memory", limit, "zeros.ra", "good.ra", "zeros.ra", "zeros.ra"]
    };
    for limit in ["2M", "64K"] {
        let alone = run(directory.path(), &args("1", limit));
        let together = run(directory.path(), &args("4", limit));
        assert_eq!((alone.code, &alone.out), (together.code, &together.out), "{limit}");
    }
}

#[test]
fn size_claims_beyond_the_file_are_reported_as_truncation() {
    let directory = files();
    for claim in ["claims_4_tib.ra", "claims_8_eib.ra", "leb128_claims_2e40.ra"] {
        let claim = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rawarray/bad").join(claim);
        let claim = claim.to_str().unwrap();
        for args in
            [&["cat", claim][..], &["convert", claim, "-", "--to", "npy"], &["convert", claim, "new.npy"]]
        {
            let run = run(directory.path(), args);
            run.expect(2);
            assert!(run.err.contains("file ends early"), "{run:#?}");
        }
    }
}

#[test]
fn standard_input_counts_against_the_limit() {
    use crate::support::{Run, holdall};
    use std::io::Write;
    use std::process::Stdio;
    let directory = files();
    let mut command = holdall(directory.path());
    command.args(["cat", "-", "--limit-memory", "1K"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    // It stops reading at the limit, so this pipe may close.
    let _ = child.stdin.take().unwrap().write_all(&vec![0; 1 << 20]);
    let run = Run::of(&child.wait_with_output().unwrap());
    run.expect(2);
    assert!(run.err.contains("limit is 1024"), "{run:#?}");
}

/// A sparse file of 1 GiB in an address space of 256 MiB: it cannot be mapped, and need not be.
#[cfg(target_os = "linux")]
#[test]
fn a_file_larger_than_the_address_space_is_read_in_pieces() {
    use crate::support::{Run, rawarray};
    use std::process::Command;

    let directory = files();
    let len = 1_u64 << 30;
    let mut header = rawarray(2, 1, &[1 << 10, 1 << 20], &[]);
    header[32..40].copy_from_slice(&len.to_le_bytes());
    let path = directory.path().join("large.ra");
    std::fs::write(&path, &header).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(64 + len).unwrap();

    let limited = |arguments: &str| {
        let script = format!("ulimit -v 262144; exec '{}' {arguments}", env!("CARGO_BIN_EXE_holdall"));
        Run::of(&Command::new("sh").args(["-c", &script]).current_dir(directory.path()).output().unwrap())
    };
    assert!(limited("info large.ra").expect(0).contains("complete\tyes"));
    assert!(limited("verify -j 2 large.ra good.ra").expect(0).contains("large.ra\tsound"));
    assert_eq!(limited("cat 'large.ra::data[0:2, -1]'").expect(0), "0\n0\n");
    // A file that declares a decoded size of 8 GiB.
    let block = lz4_zeros(1 << 20);
    let bomb = rawarray_with_flags(2, 2, 1, &[8 << 30], &block);
    std::fs::write(directory.path().join("bomb.ra"), bomb).unwrap();
    for verb in ["cat", "verify", "info", "layout"] {
        let run = limited(&format!("{verb} bomb.ra"));
        assert!(matches!(run.code, Some(0..=2)), "{verb} {run:#?}");
        assert!(!run.err.contains("internal error"), "{verb} {run:#?}");
    }
}

/// The first chunk has elements of every row. Rows of chunks would be the whole array.
#[test]
fn chunks_along_the_first_axis_are_made_within_the_limit() {
    let directory = files();
    let at = directory.path();
    let numbers: Vec<u8> =
        (0..1_u32 << 20).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    for (name, order) in [("c.npy", "False"), ("f.npy", "True")] {
        let mut npy =
            format!("{{'descr': '<u4', 'fortran_order': {order}, 'shape': (512, 2048), }}").into_bytes();
        npy.resize(117, b' ');
        npy.push(b'\n');
        let head = b"\x93NUMPY\x01\0\x76\0";
        std::fs::write(at.join(name), [&head[..], &npy, &numbers].concat()).unwrap();
    }
    let digest = |file: &str, more: &[&str]| {
        let args = [&["digest", file][..], more].concat();
        run(at, &args).expect(0).split_whitespace().next().unwrap().to_owned()
    };
    for (number, source) in ["c.npy", "f.npy", "c.npy::[::-1, 3:2000:5]"].into_iter().enumerate() {
        let want = digest(source, &[]);
        let frame = format!("{number}.b2nd");
        let limit = ["--limit-memory", "2M"];
        let args =
            [&["convert", source, &frame, "--chunks", "512,64", "--blocks", "64,32", "--verify"][..], &limit];
        run(at, &args.concat()).expect(0);
        assert_eq!(digest(&frame, &limit), want, "{source}");
        // Cut anew.
        let cut = format!("{number}-cut.b2nd");
        run(
            at,
            &[&["convert", &frame, &cut, "--chunks", "500,32", "--blocks", "64,32"][..], &limit].concat(),
        )
        .expect(0);
        assert_eq!(digest(&cut, &limit), want, "{source}");
    }
    let args =
        ["convert", "f.npy", "reversed.b2nd", "--reversed-dims", "--chunks", "2048,16", "--blocks", "64,16"];
    run(at, &[&args[..], &["--limit-memory", "2M"]].concat()).expect(0);
    assert_eq!(digest("reversed.b2nd", &[]), digest("f.npy", &["--reversed-dims"]));
    // Bloscpack's chunks are runs of rows: one of all is over the limit.
    for (chunks, code) in [("512", 2), ("64", 0)] {
        let refused = run(at, &["convert", "c.npy", "c.blp", "--chunks", chunks, "--limit-memory", "2M"]);
        refused.expect(code);
        assert!(code == 0 || refused.err.contains("--chunks"), "{refused:#?}");
    }
}
