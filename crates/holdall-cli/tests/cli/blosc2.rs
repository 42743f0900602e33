//! Blosc2 files by the command, with python-blosc2 and numpy on the other side: converted, cut, encoded again, grown, checked.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::{run, testdata};

/// Runs Python with python-blosc2; gives what it prints.
#[track_caller]
pub fn python(at: &Path, code: &str) -> String {
    let python = std::env::var_os("HOLDALL_PYTHON").map(PathBuf::from);
    let python = python.expect("HOLDALL_PYTHON names no Python with blosc2 (cargo xtask setup makes one)");
    let code = format!("import blosc2, numpy as np\n{code}");
    let output = Command::new(python).current_dir(at).args(["-B", "-c", &code]).output().unwrap();
    assert!(output.status.success(), "{code}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// `a.npy`: 60×17×4 doubles.
pub fn start() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    python(
        directory.path(),
        "np.save('a.npy', np.cos(np.arange(60 * 17 * 4.0)).round(3).reshape(60, 17, 4))",
    );
    directory
}

#[test]
fn python_reads_converted_files_with_the_requested_parameters() {
    let directory = start();
    let at = directory.path();
    for (number, (codec, name, filter, filters)) in [
        ("zstd:3", "ZSTD", "bitshuffle", "BITSHUFFLE"),
        ("lz4", "LZ4", "shuffle", "SHUFFLE"),
        ("lz4hc:9", "LZ4HC", "none", ""),
        ("zlib:1", "ZLIB", "shuffle,bytedelta", "SHUFFLE BYTEDELTA"),
        ("blosclz:7", "BLOSCLZ", "delta,shuffle", "DELTA SHUFFLE"),
    ]
    .into_iter()
    .enumerate()
    {
        let target = format!("{number}.b2nd");
        let filter: Vec<&str> = filter.split(',').flat_map(|word| ["--filter", word]).collect();
        let args = ["convert", "--codec", codec, "--chunks", "20,9,4", "--blocks", "5,3,2", "a.npy"];
        run(at, &[&args[..], &filter, &[&target]].concat()).expect(0);
        let code = format!(
            "a, b = np.load('a.npy'), blosc2.open('{target}')\n\
             assert b.dtype == a.dtype and b.shape == a.shape\n\
             c = np.concatenate([np.frombuffer(b.schunk.decompress_chunk(n), a.dtype) for n in range(b.schunk.nchunks)])\n\
             assert '{filters}'.startswith('DELTA') or (b[...] == a).all()\n\
             print(b.chunks, b.blocks, b.schunk.cparams.codec.name, \
             *[it.name for it in b.schunk.cparams.filters if it.value], c.size)"
        );
        let expected = format!("(20, 9, 4) (5, 3, 2) {name} {filters} {}", 3 * 2 * 20 * 9 * 4);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&python(at, &code)), words(&expected));
        run(at, &["verify", &target]).expect(0);
        let back = format!("{number}.npy");
        run(at, &["convert", &target, &back]).expect(0);
        python(at, &format!("assert np.load('a.npy').tobytes() == np.load('{back}').tobytes()"));
    }
}

#[test]
fn slices_of_python_s_arrays_are_numpy_s() {
    let directory = start();
    let at = directory.path();
    python(at, "blosc2.asarray(np.load('a.npy'), chunks=(16, 5, 4), blocks=(4, 5, 3), urlpath='p.b2nd')");
    for selection in ["0", "3:50:7, ::-2", "..., -1", "::-1, 4, 1:3", "10:10", "-5:, -3:, ::3"] {
        let out = std::fs::File::create(at.join("cut")).unwrap();
        let mut command = crate::support::holdall(at);
        let source = format!("p.b2nd::[{selection}]");
        assert!(command.args(["cat", "--format", "raw", &source]).stdout(out).status().unwrap().success());
        python(at, &format!("assert np.load('a.npy')[{selection}].tobytes() == open('cut', 'rb').read()"));
    }
}

#[test]
fn other_formats_become_arrays_and_come_back() {
    let directory = start();
    let at = directory.path();
    for extension in ["ra", "blp", "gsd"] {
        let (there, array, back) =
            (format!("x.{extension}"), format!("{extension}.b2nd"), format!("{extension}.npy"));
        python(at, "np.save('b.npy', np.load('a.npy')[:, :, 0].copy())");
        run(at, &["convert", "b.npy", &there]).expect(0);
        run(at, &["convert", &there, &array]).expect(0);
        run(at, &["convert", &array, &back]).expect(0);
        let code = format!(
            "a, b = np.load('b.npy'), blosc2.open('{array}')\n\
             assert b[...].tobytes() == a.tobytes() and np.load('{back}').tobytes() == a.tobytes()\n\
             print(b.shape)"
        );
        python(at, &code);
    }
}

#[test]
fn arrays_of_python_are_encoded_again_and_grow_in_place() {
    let directory = start();
    let at = directory.path();
    python(
        at,
        "b = blosc2.asarray(np.load('a.npy'), chunks=(16, 17, 4), blocks=(4, 17, 3), urlpath='p.b2nd')\n\
         b.schunk.vlmeta['who'] = {'name': 'Vent', 'n': [1, 2.5]}",
    );
    run(at, &["recode", "--codec", "lz4", "p.b2nd", "q.b2nd"]).expect(0);
    python(
        at,
        "b = blosc2.open('q.b2nd')\n\
         assert b[...].tobytes() == np.load('a.npy').tobytes() and b.chunks == (16, 17, 4)\n\
         assert b.schunk.vlmeta['who'] == {'name': 'Vent', 'n': [1, 2.5]}\n\
         assert b.schunk.cparams.codec.name == 'LZ4'",
    );
    for file in ["p.b2nd", "q.b2nd"] {
        run(at, &["append", file, "a.npy"]).expect(0);
        let code = format!(
            "a, b = np.load('a.npy'), blosc2.open('{file}')\n\
             assert b.shape == (120, 17, 4) and (b[...] == np.concatenate([a, a])).all()"
        );
        python(at, &code);
        run(at, &["verify", file]).expect(0);
    }
    assert!(run(at, &["verify", "--json", "p.b2nd"]).expect(0).contains("\"sound\""));
}

/// Neither an error's text in the place of a value nor a tree without them.
#[test]
fn metadata_that_cannot_be_read_are_an_error() {
    let bad = testdata().join("blosc2/bad");
    for file in ["vlmeta_chunk", "vlmeta_offset_max", "vlmeta_count_max", "vlmeta_length_max"] {
        let file = format!("{file}.b2frame");
        for args in
            [&["meta", &file, "/vlmeta/key"][..], &["meta", &file], &["tree", &file], &["diff", &file, &file]]
        {
            let refused = run(&bad, args);
            refused.expect(2);
            assert!(refused.out.is_empty() && refused.err.contains("holdall repair"), "{refused:#?}");
        }
        run(&bad, &["meta", "--lenient", &file]).expect(0);
        let directory = tempfile::tempdir().unwrap();
        let path = bad.join(&file);
        let converted = run(directory.path(), &["convert", path.to_str().unwrap(), "new.npy"]);
        converted.expect(0);
        assert!(converted.err.contains("metadata"), "{converted:#?}");
        run(directory.path(), &["convert", path.to_str().unwrap(), "new.asdf"]).expect(2);
    }
}

/// `save_tensor` and `save_array` keep type and shape as user metadata: they are those of the dataset, and no loss.
#[test]
fn packed_tensors_have_their_type_and_shape() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let code = "a = np.arange(60, dtype='>i2').reshape(10, 6)\n\
                blosc2.save_tensor(a, 't.b2frame', chunksize=64)\n\
                blosc2.save_array(a[:3], 'more.b2frame')\n\
                np.save('a.npy', a)\n\
                np.save('part.npy', a[::-3, 1])";
    python(at, code);
    assert!(run(at, &["ls", "t.b2frame"]).expect(0).starts_with("data\t>i2\t(10, 6)\t"));
    assert_eq!(run(at, &["cat", "t.b2frame::[4]"]).expect(0).trim(), "24\n25\n26\n27\n28\n29");
    let converted = run(at, &["convert", "t.b2frame", "b.npy"]);
    assert_eq!((converted.expect(0), converted.err.as_str()), ("", ""));
    run(at, &["convert", "t.b2frame::[::-3, 1]", "c.npy"]).expect(0);
    run(at, &["convert", "--chunks", "5,3", "t.b2frame", "d.b2nd"]).expect(0);
    run(at, &["convert", "t.b2frame::[2:]", "e.asdf"]).expect(0);
    assert!(!run(at, &["meta", "e.asdf"]).expect(0).contains("pack_tensor"));
    run(at, &["diff", "t.b2frame", "a.npy"]).expect(0);
    let digest = |file: &str| run(at, &["digest", file]).expect(0).split(' ').next().unwrap().to_owned();
    assert_eq!(digest("t.b2frame"), digest("a.npy"));
    run(at, &["recode", "t.b2frame", "f.b2frame", "--codec", "lz4"]).expect(0);
    run(at, &["append", "t.b2frame", "more.b2frame"]).expect(0);
    let code = "a = np.load('a.npy')\n\
                b, c, d = np.load('b.npy'), np.load('c.npy'), blosc2.open('d.b2nd')\n\
                assert b.dtype == a.dtype and (b == a).all() and (c == np.load('part.npy')).all()\n\
                assert d.dtype == a.dtype and d.chunks == (5, 3) and (d[...] == a).all() and not list(d.schunk.vlmeta)\n\
                f, t = blosc2.load_tensor('f.b2frame'), blosc2.load_array('t.b2frame')\n\
                assert f.dtype == a.dtype and (f == a).all() and (t == np.concatenate([a, a[:3]])).all()\n\
                blosc2.save_tensor(a[0], 'row.b2frame')";
    python(at, code);
    // Rows of another length, and elements in another order, do not fit.
    for other in ["row.b2frame", "t.b2frame::[:, :3]"] {
        run(at, &["append", "f.b2frame", other]).expect(2);
    }
    run(at, &["verify", "t.b2frame", "f.b2frame"]).expect(0);
}

/// A shape that is not that of the bytes hides them, and a repair gives them as plain elements.
#[test]
fn tensor_with_mismatched_size_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let file = testdata().join("blosc2/bad/tensor_type_other.b2frame");
    let file = file.to_str().unwrap();
    for args in [&["cat", file][..], &["convert", file, "a.npy"], &["ls", file], &["stat", file]] {
        let refused = run(at, args);
        assert!(refused.err.contains("the chunks contain 1600 bytes (expected 3200 bytes"), "{refused:?}");
    }
    assert!(!at.join("a.npy").exists());
    assert!(run(at, &["ls", "--lenient", file]).expect(0).starts_with("data\t|V4\t(400,)"));
    let repaired = run(at, &["repair", file, "-o", "b.b2frame"]);
    repaired.expect(1);
    assert!(
        repaired.err.contains("type and shape of the tensor")
            || repaired.out.contains("type and shape of the tensor")
    );
    run(at, &["verify", "b.b2frame"]).expect(0);
}
