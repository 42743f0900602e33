//! `plot` and `stat`: pictures that are the same every time, by their recipes too, and numbers as numpy has them.

use std::fs;
use std::path::Path;

use crate::support::{npy, run};

/// The `.npy` files that are drawn.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(directory.path().join(name), bytes).unwrap();
    let singles =
        |values: &mut dyn Iterator<Item = f32>| -> Vec<u8> { values.flat_map(f32::to_le_bytes).collect() };
    let mut ramp = (0..24_u8).map(|at| if at == 7 { f32::NAN } else { f32::from(at) * f32::from(at) - 40.0 });
    write("ramp.npy", &npy("<f4", false, "(4, 6)", &singles(&mut ramp)));
    let mut wave = (0..60_u16).map(|at| f32::from((at * 7) % 23));
    write("wave.npy", &npy("<f4", false, "(60,)", &singles(&mut wave)));
    let mut wave = (0..60_u16).map(|at| f32::from((at * 7) % 23));
    let record = |at: i64| {
        let time = if at == 3 { i64::MIN } else { 1_700_000_000 + at * at };
        [wave.next().unwrap().to_le_bytes().to_vec(), time.to_be_bytes().to_vec()].concat()
    };
    let records: Vec<u8> = (0..60).flat_map(record).collect();
    let fields = "[('data', '<f4'), ('inner', [('t', '>M8[s]')])]";
    write("records.npy", &npy(fields, false, "(60,)", &records));
    let mut pairs = (0..32_u8).map(|at| f32::from(at % 7) - 3.0);
    write("complex.npy", &npy("<c8", true, "(4, 4)", &singles(&mut pairs)));
    let steps = |base: i64| -> Vec<u8> {
        (0..96).flat_map(|at: i64| (base + (at % 12 + at / 12) % 11).to_le_bytes()).collect()
    };
    write("steps.npy", &npy("<i8", false, "(8, 12)", &steps(0)));
    write("long.npy", &npy("<i8", false, "(8, 12)", &steps(1 << 60)));
    let mut long = steps(1 << 60);
    long.splice(..8, [0; 8]);
    write("filled.npy", &npy("<i8", false, "(8, 12)", &long));
    let rows: Vec<u8> = (0..8).flat_map(|_| steps(-1 << 62)).collect();
    write("rows.npy", &npy("<i8", false, "(2, 384)", &rows));
    write("text.npy", &npy("|S2", false, "(2,)", b"abcd"));
    write("none.npy", &npy("<f4", false, "(0, 3)", b""));
    write("nan.npy", &npy("<f4", false, "(2, 2)", &singles(&mut [f32::NAN; 4].into_iter())));
    let gsd = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd/ok/hoomd_1_2.gsd");
    fs::copy(gsd, directory.path().join("two.gsd")).unwrap();
    directory
}

/// FNV-1a of size and decoded pixels.
fn pixels_hash(file: &Path) -> u64 {
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(file).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let size = [info.width.to_le_bytes(), info.height.to_le_bytes()].concat();
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    size.iter().chain(&pixels).fold(0xcbf2_9ce4_8422_2325, fold)
}

/// Each picture was inspected when its number was recorded. Text included, so that no label moves unseen.
const PICTURES: [(&[&str], u64); 11] = [
    (&["ramp.npy", "--range", "p5,95", "--cmap", "inferno_r"], 0x8ca0_772f_421f_c7e5),
    (
        &["ramp.npy", "--stretch", "asinh", "--origin", "lower", "--size", "500x400", "--dpi", "150"],
        0x9ab4_4438_d1f4_c53b,
    ),
    (&["complex.npy", "--part", "phase"], 0x0fe0_757a_2dca_1c81),
    (&["ramp.npy::[:, :3]", "--lines", "--size", "400x300"], 0x8c9c_5d02_e257_9a7e),
    (&["wave.npy", "--hist", "--bins", "12", "--stretch", "sqrt"], 0xeb7d_fce4_1b15_002d),
    (&["two.gsd::frames/1", "--size", "300x300"], 0xbb18_13db_6a6b_b03d),
    (&["rows.npy", "--size", "300x250"], 0xf819_58d9_fd41_23e8),
    (&["rows.npy::[0]", "--hist", "--size", "400x250"], 0x2867_99ce_0001_7d96),
    (&["long.npy", "--size", "350x300", "--stretch", "asinh"], 0xc088_f04e_0e63_b49d),
    (&["ramp.npy", "--size", "200x200"], 0x0ad4_7248_cf84_21c1),
    (&["ramp.npy", "--size", "100x100"], 0x7a04_57d0_8a7d_9f05),
];

#[test]
fn pictures_are_the_same_every_time_and_by_their_recipes() {
    let directory = directory();
    let mut found = Vec::new();
    for (args, _) in PICTURES {
        let drawn = run(directory.path(), &[&["plot", "-o", "a.png", "-f"], args].concat());
        drawn.expect(0);
        let file = directory.path().join("a.png");
        let bytes = fs::read(&file).unwrap();
        let recipe = drawn.err.lines().last().unwrap();
        assert!(recipe.starts_with("holdall plot ") && recipe.ends_with(" -o a.png"), "{recipe}");
        let stored = recipe.as_bytes();
        assert!(bytes.windows(stored.len()).any(|part| part == stored), "{recipe} is not in the file");
        let words = words(recipe);
        let again: Vec<&str> = words.iter().skip(1).map(String::as_str).chain(["-f"]).collect();
        let again = run(directory.path(), &again);
        again.expect(0);
        assert!(fs::read(&file).unwrap() == bytes, "{recipe}\n{}", again.err);
        found.push(pixels_hash(&file));
    }
    let there = run(directory.path(), &["plot", "ramp.npy", "-o", "a.png"]);
    there.expect(2);
    assert!(there.err.contains("a.png: already exists\n  try: use -f to replace it"), "{there:#?}");
    assert_eq!(found, PICTURES.map(|(_, hash)| hash), "if a change was meant, look at the pictures");
}

/// A recipe as a shell takes it apart.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            letter => word.push(letter),
        }
    }
    words.push(word);
    words
}

/// The recipe had U+FFFD in place of the bytes, and could not draw the file.
#[cfg(target_os = "linux")]
#[test]
fn recipe_quotes_non_utf8_file_names() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let directory = directory();
    let name = OsStr::from_bytes(b"\xff\xfe7.npy");
    fs::copy(directory.path().join("wave.npy"), directory.path().join(name)).unwrap();
    let output = OsStr::from_bytes(b"\xfe.png");
    let drawn = run(directory.path(), &[OsStr::new("plot"), name, OsStr::new("-o"), output]);
    drawn.expect(0);
    let recipe = drawn.err.lines().last().unwrap();
    assert!(recipe.starts_with(r"holdall plot $'\377\3767.npy::data' ") && recipe.ends_with(r"$'\376.png'"));
}

#[test]
fn a_drawing_is_text() {
    let directory = directory();
    let drawn = run(
        directory.path(),
        &["plot", "wave.npy", "-o", "wave.svg", "--size", "320x240", "--title", "a <b> & c"],
    );
    drawn.expect(0);
    let golden = include_str!("wave.svg");
    assert_eq!(fs::read_to_string(directory.path().join("wave.svg")).unwrap(), golden);
    run(directory.path(), &["plot", "wave.npy", "-o", "wave.svg"]).expect(2);
}

/// Doubles round these integers to multiples of 256.
#[test]
fn integers_beyond_f64_precision_are_drawn_exactly() {
    let directory = directory();
    let blocks = |args: &[&str]| {
        let shown = run(directory.path(), &[&["plot", "--term=blocks", "--size", "24x16"], args].concat());
        let lines: Vec<String> = shown.expect(0).lines().map(str::to_owned).collect();
        // Title, rows of points, range.
        (lines[1..lines.len() - 1].to_vec(), lines[lines.len() - 1].clone(), shown.err)
    };
    let (small, small_range, _) = blocks(&["steps.npy"]);
    let (long, range, recipe) = blocks(&["long.npy"]);
    assert_eq!(small_range, "0.0,10.0");
    assert_eq!(range, "1152921504606846976,1152921504606846986");
    assert!(recipe.contains("--range=1152921504606846976,1152921504606846986"), "{recipe}");
    assert!(long == small && long.iter().any(|row| *row != long[0]));
    // A fill value does not change the requested range.
    let (filled, ..) = blocks(&["filled.npy", "--range", &range]);
    assert_eq!(filled, small);
    let (_, range, _) = blocks(&["filled.npy"]);
    assert_eq!(range, "0.0,1152921504606846986");
    let lines = run(directory.path(), &["plot", "long.npy::[0]", "-o", "long.svg"]);
    lines.expect(0);
    assert!(lines.err.contains("--range=1152921504606846975.5,1152921504606846986.5"), "{lines:#?}");
    let text = fs::read_to_string(directory.path().join("long.svg")).unwrap();
    assert!(text.contains(">data  (+ 1152921504606846900)</text>") && text.contains(">84</text>"), "{text}");
}

#[test]
fn a_field_of_records_is_drawn_as_an_array_of_it_is() {
    let directory = directory();
    let drawn = |args: &[&str]| {
        let drawn =
            run(directory.path(), &[&["plot", "-o", "a.png", "-f", "--title", "wave"], args].concat());
        drawn.expect(0);
        (pixels_hash(&directory.path().join("a.png")), drawn.err)
    };
    let (alone, _) = drawn(&["wave.npy::[5:50:2]"]);
    let (field, recipe) = drawn(&["records.npy::[5:50:2]", "--field", "data"]);
    assert_eq!(alone, field);
    assert!(recipe.contains("'records.npy::data[5:51:2]' --field data"), "{recipe}");
    // Seconds since 1970; the fourth is NaT.
    let times = run(directory.path(), &["plot", "records.npy", "--field", "inner.t", "-o", "t.svg"]);
    times.expect(0);
    // NaT is ignored.
    assert!(times.err.contains("--range=1699999825.95,1700003655.05"), "{times:#?}");
    let text = fs::read_to_string(directory.path().join("t.svg")).unwrap();
    assert!(text.contains(">inner.t (s since 1970)  (+ 1700000000)</text>"), "{text}");
}

#[test]
fn undrawable_inputs_are_reported() {
    let directory = directory();
    for (args, what) in [
        (&["text.npy"][..], "its elements are |S2, not numbers"),
        (&["records.npy"], "its elements are records"),
        (&["records.npy", "--field", "t"], "no field \"t\""),
        (&["ramp.npy", "--field", "t"], "has no fields"),
        (&["none.npy"], "no values to draw"),
        (&["ramp.npy", "--cmap", "nosuch"], "unknown colour map"),
        (&["ramp.npy", "-o", "a.jpg"], ".png, .svg or .pdf"),
        (&["ramp.npy", "--slice", "5=0"], "no axis 5"),
        (&["ramp.npy", "--slice", "0=1,0=2"], "axis 0 is cut twice"),
        (&["two.gsd::frames/2"], "no frame 2"),
        (&["two.gsd::frames/0", "--color-by", "nosuch"], "no field"),
        (&["ramp.npy", "--view", "xy"], "for particles"),
        (&["ramp.npy", "--part", "im"], "for complex numbers"),
        (&["two.gsd::frames/0", "--part", "im"], "for complex numbers"),
        (&["two.gsd", "--cmap", "gray"], "--cmap has no effect on particles in the colours of their types"),
        (&["two.gsd", "--color-by", "position", "--origin", "lower"], "--origin has no effect on particles"),
    ] {
        let refused = run(directory.path(), &[&["plot"], args].concat());
        refused.expect(2);
        assert!(refused.err.contains(what), "{refused:#?}");
    }
    let drawn = run(directory.path(), &["plot", "nan.npy"]);
    drawn.expect(0);
    assert!(drawn.err.contains("4 of 4 points have no finite value"), "{drawn:#?}");
    let drawn = run(directory.path(), &["plot", "ramp.npy::[1]", "-o", "row.png"]);
    drawn.expect(0);
    assert!(drawn.err.contains("note: 1 of 6 values are not finite\n"), "{drawn:#?}");
}

#[test]
fn terminal_protocols_write_only_to_standard_output() {
    let directory = directory();
    for (how, start) in
        [("kitty", "\u{1b}_Ga=T,f=100"), ("sixel", "\u{1b}P0;1;0q"), ("blocks", "ramp.npy::data\n")]
    {
        let shown = run(directory.path(), &["plot", "ramp.npy", &format!("--term={how}")]);
        assert!(shown.expect(0).starts_with(start), "{shown:#?}");
    }
    assert!(!directory.path().join("ramp.png").exists());
}

/// numpy: `np.percentile` and the others of the finite values of the same file.
#[test]
fn stat_matches_numpy() {
    let directory = directory();
    let told = run(directory.path(), &["stat", "--json", "ramp.npy", "wave.npy::[10:20]", "text.npy"]);
    let lines: Vec<serde_json::Value> =
        told.expect(0).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [ramp, wave, text] = &lines[..] else { panic!("{told:#?}") };
    assert_eq!(
        (&ramp["schema"], &ramp["count"], &ramp["nan"]),
        (&"holdall.stat/1".into(), &24.into(), &1.into())
    );
    assert_eq!((&ramp["min"], &ramp["max"]), (&(-40.0).into(), &489.0.into()));
    assert_eq!((&ramp["percentiles"]["50"], &ramp["percentiles"]["99"]), (&104.0.into(), &479.1.into()));
    assert_eq!(
        (&wave["selection"], &wave["count"], &wave["sum"]),
        (&"10:20".into(), &10.into(), &118.0.into())
    );
    assert_eq!((&text["of"], &text["max"]), (&"length".into(), &2.into()));
    let row = run(directory.path(), &["stat", "wave.npy"]);
    assert_eq!(row.expect(0).split('\t').count(), 21);
    run(directory.path(), &["stat", "wave.npy::nosuch"]).expect(2);
}

/// As python-blosc2 makes them: 8 TiB of zeros in 240 bytes, and chunks of one value.
#[test]
fn large_arrays_of_one_value_are_drawn_without_reading_them() {
    let folder = crate::blosc2::start();
    let at = folder.path();
    crate::blosc2::python(
        at,
        "blosc2.zeros((2**20, 2**20), dtype='<f8', urlpath='plane.b2nd', mode='w')\n\
         blosc2.full((2**31,), 7, dtype='<i8', urlpath='line.b2nd', mode='w')\n\
         blosc2.full((2**31,), np.nan, dtype='<f4', urlpath='nan.b2nd', mode='w')",
    );
    for (args, note) in [
        (&["plot", "plane.b2nd", "-o", "a.png"][..], "--range=0.0,0.0"),
        (&["plot", "plane.b2nd", "--reversed-dims", "-o", "b.png"], "--range=0.0,0.0"),
        (&["plot", "plane.b2nd", "--hist", "-o", "c.png"], "--range=-0.5,0.5"),
        (&["plot", "line.b2nd", "-o", "d.png"], "--range=6.5,7.5"),
        (&["plot", "line.b2nd", "--hist", "-o", "e.png"], "--range=6.5,7.5"),
        (&["plot", "nan.b2nd", "-o", "f.png"], "2147483648"),
    ] {
        let done = run(at, args);
        done.expect(0);
        assert!(done.err.contains(note), "{args:?}: {}", done.err);
    }
}
