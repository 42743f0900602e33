//! `plot`: ranges, units, steps, colours and particles, against what numpy, asdf, blosc2 and gsd wrote.

use std::fs;
use std::path::Path;

use crate::blosc2::python;
use crate::support::{Run, npy, run};

fn testdata() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").canonicalize().unwrap()
}

/// The picture as SVG, and what was said.
#[track_caller]
fn svg(at: &Path, args: &[&str]) -> (String, Run) {
    let drawn = run(at, &[&["plot", "-f", "-o", "a.svg"], args].concat());
    drawn.expect(0);
    (fs::read_to_string(at.join("a.svg")).unwrap(), drawn)
}

/// Width, and the pixels as red, green, blue.
fn png(path: &Path) -> (usize, Vec<[u8; 3]>) {
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    (info.width as usize, bytes.as_chunks::<3>().0.to_vec())
}

/// The ends of `--range=` in what was said.
#[track_caller]
fn range(drawn: &Run) -> (f64, f64) {
    let recipe = drawn.err.lines().last().unwrap();
    let text = recipe.split("--range=").nth(1).unwrap().split(' ').next().unwrap();
    let (low, high) = text.split_once(',').unwrap();
    (low.parse().unwrap(), high.parse().unwrap())
}

#[test]
fn default_range_is_numpys_middle_where_outliers_would_take_the_colours() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let told = python(
        at,
        "import asdf\n\
         a = np.random.default_rng(1).normal(100, 5, (120, 90)).astype('f4')\n\
         np.save('even.npy', a)\n\
         a[3, 4] = 1e6; np.save('hot.npy', a)\n\
         a[5, 6], a[7, 8], a[9, 9] = np.nan, np.inf, -np.inf; np.save('nan.npy', a)\n\
         np.save('int.npy', np.nan_to_num(a, posinf=0, neginf=0).astype('i4'))\n\
         np.save('same.npy', np.full((40, 40), 2.5)); np.save('none.npy', np.full((40, 40), np.nan))\n\
         b = np.load('hot.npy'); asdf.AsdfFile({'m': np.ma.masked_array(b, b > 1e5)}).write_to('masked.asdf')\n\
         c = np.load('nan.npy'); c = c[np.isfinite(c)]\n\
         print(*[float(x) for x in np.percentile(c.astype('f8'), [0.5, 99.5])], float(c.min()))",
    );
    let [low, high, least] =
        told.split(' ').map(|word| word.parse::<f64>().unwrap()).collect::<Vec<f64>>()[..]
    else {
        panic!("{told}")
    };
    const NOTE: &str = "range of the middle 99 % of the values";
    let (_, hot) = svg(at, &["nan.npy"]);
    assert!(
        hot.err.contains(&format!("note: {NOTE}; --range={least:?},1000000.0 shows all\n")),
        "{}",
        hot.err
    );
    let found = range(&hot);
    assert!((found.0 - low).abs() < 1e-9 && (found.1 - high).abs() < 1e-9, "{found:?} {told}");
    for (args, whole) in [
        (&["even.npy"][..], false),
        (&["hot.npy", "--range", "minmax"], true),
        (&["hot.npy", "--stretch", "log"], true),
        (&["int.npy"], true),
        (&["same.npy"], false),
        (&["masked.asdf::m"], false),
    ] {
        let (_, drawn) = svg(at, args);
        assert!(!drawn.err.contains(NOTE), "{args:?}: {}", drawn.err);
        assert_eq!(range(&drawn).1 > 9e5, whole, "{args:?}: {}", drawn.err);
    }
    let (_, none) = svg(at, &["none.npy"]);
    assert!(none.err.contains("1600 of 1600 points have no finite value"), "{}", none.err);
    // Hints for what the rule does not touch.
    let (_, whole) = svg(at, &["int.npy"]);
    assert!(whole.err.contains("of the points have nearly one colour; --range=p0.5,99.5"), "{}", whole.err);
    let (_, bars) = svg(at, &["hot.npy", "--hist"]);
    assert!(bars.err.contains("99.9 % of the values are in one bar; --stretch log"), "{}", bars.err);
}

#[test]
fn units_of_the_tree_and_of_vlmeta_are_in_the_label() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    python(
        at,
        "import asdf\n\
         a = np.arange(48.0).reshape(6, 8)\n\
         asdf.AsdfFile({'roman': {'data': a, 'unit': 'DN / s'}, 'sci': a + 1, 'meta': {'bunit_sci': 'MJy/sr'}}).write_to('u.asdf')\n\
         b = blosc2.asarray(a, urlpath='k.b2nd', mode='w'); b.schunk.vlmeta['units'] = 'K'\n\
         blosc2.asarray(a, urlpath='no.b2nd', mode='w')",
    );
    for name in ["image.asdf", "node_unit.asdf"] {
        fs::copy(testdata().join("asdf/ok").join(name), at.join(name)).unwrap();
    }
    for (file, label) in [
        ("u.asdf::roman/data", "data (DN / s)"),
        ("u.asdf::sci", "sci (MJy/sr)"),
        ("image.asdf::roman/data", "data (DN)"),
        ("image.asdf::roman/dq", "dq"),
        ("node_unit.asdf::c/value", "c (deg)"),
        ("k.b2nd", "data (K)"),
        ("no.b2nd", "data"),
    ] {
        let (text, _) = svg(at, &[file]);
        let is_turned = text
            .lines()
            .any(|line| line.contains("rotate(-90") && line.contains(&format!(">{label}</text>")));
        assert!(is_turned, "{file}: {text}");
    }
}

#[test]
fn frames_are_at_the_steps_that_gsd_has() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    python(
        at,
        "import gsd.hoomd\n\
         def write(name, steps):\n\
        \x20   with gsd.hoomd.open(name, 'w') as t:\n\
        \x20       for n, step in enumerate(steps):\n\
        \x20           f = gsd.hoomd.Frame(); f.configuration.step = step\n\
        \x20           f.log['md/energy'] = np.array([1.0 * n]); f.log['tensor'] = np.arange(3.0); t.append(f)\n\
         write('log.gsd', [5, 10, 30, 85]); write('again.gsd', [0, 10, 20, 10]); write('even.gsd', range(0, 4000, 100))",
    );
    let (text, _) = svg(at, &["log.gsd::log/md/energy", "--size", "600x400"]);
    assert!(text.contains(">step</text>"), "{text}");
    let line =
        text.lines().find(|line| line.starts_with("<polyline") && line.matches(',').count() == 4).unwrap();
    let points = line.split('"').nth(1).unwrap().split(' ');
    let places: Vec<f64> = points.map(|point| point.split_once(',').unwrap().0.parse().unwrap()).collect();
    let part = |at: usize| (places[at] - places[0]) / (places[3] - places[0]);
    for (place, wanted) in [(1, 5.0 / 80.0), (2, 25.0 / 80.0)] {
        assert!((part(place) - wanted).abs() < 1e-3, "{line}");
    }
    for (args, label) in [
        (&["again.gsd::log/md/energy"][..], "frame"),
        (&["even.gsd::log/md/energy"], "step"),
        (&["even.gsd::log/md/energy[10:20:3]"], "step"),
        (&["even.gsd::log/tensor", "--lines"], "step"),
        (&["log.gsd::log/tensor"], "frame"),
        (&["even.gsd::log/md/energy", "--hist"], "energy"),
    ] {
        let (text, drawn) = svg(at, args);
        assert!(text.contains(&format!(">{label}</text>")), "{args:?}: {text} {}", drawn.err);
        assert!(!text.contains(">axis 0</text>"), "{args:?}");
    }
    let (text, _) = svg(at, &["even.gsd::log/md/energy[10:20:3]"]);
    assert!(text.contains(">1000</text>") && text.contains(">1900</text>"), "{text}");
}

#[test]
fn arrays_of_colours_are_drawn_byte_for_byte() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let bytes: Vec<u8> = (0..=255).cycle().step_by(31).take(200 * 150 * 3).collect();
    fs::write(at.join("rgb.npy"), npy("|u1", false, "(150, 200, 3)", &bytes)).unwrap();
    let floats: Vec<u8> = bytes.iter().flat_map(|byte| (f32::from(*byte) / 255.0).to_le_bytes()).collect();
    fs::write(at.join("floats.npy"), npy("<f4", false, "(150, 200, 3)", &floats)).unwrap();
    let wide: Vec<u8> = bytes.iter().flat_map(|byte| (f32::from(*byte) / 25.0).to_le_bytes()).collect();
    fs::write(at.join("wide.npy"), npy("<f4", false, "(150, 200, 3)", &wide)).unwrap();
    let other: Vec<u8> = bytes.iter().map(|byte| 255 - byte).collect();
    let stack = [&other[..], &bytes, &other].concat();
    fs::write(at.join("stack.npy"), npy("|u1", false, "(3, 150, 200, 3)", &stack)).unwrap();
    for file in ["rgb.npy", "floats.npy", "stack.npy"] {
        // Without room to enlarge it; the margins are 78, 24, 44 and 54.
        let drawn = run(at, &["plot", "-f", file, "-o", "a.png", "--size", "302x248"]);
        drawn.expect(0);
        assert!(drawn.err.contains("--as rgb"), "{}", drawn.err);
        let (width, pixels) = png(&at.join("a.png"));
        for row in 0..150 {
            let found = pixels[(row + 44) * width + 78..][..200].as_flattened();
            assert!(found == &bytes[row * 600..][..600], "{file}: row {row}");
        }
    }
    // Values outside 0 to 1, choices of colours of values, and refusals.
    for (args, what) in [
        (&["wide.npy"][..], "'wide.npy::data[75, :, :]' --lines"),
        (&["rgb.npy", "--as", "heatmap"], "'rgb.npy::data[:, :, 1]' --as heatmap --cmap viridis"),
        (&["rgb.npy::[:, :, 2]"], "'rgb.npy::data[:, :, 2]' --cmap viridis"),
        (&["wide.npy", "--as", "rgb"], "note: values from 0.0 to 10.19"),
    ] {
        let (_, drawn) = svg(at, args);
        assert!(drawn.err.contains(what), "{args:?}: {}", drawn.err);
    }
    for (args, what) in [
        (
            &["rgb.npy::[0]", "--as", "rgb"][..],
            "a colour picture has the shape (H, W, 3) or (H, W, 4), not [200, 3]",
        ),
        (&["rgb.npy", "--as", "rgb", "--range", "0,1"], "for values, not for a colour picture"),
        (&["rgb.npy", "--cmap", "gray"], "--cmap has no effect on lines\n  try: --as heatmap"),
        (&["rgb.npy::[:, :, 2]", "--hist", "--nan", "#000000"], "--nan has no effect on a histogram"),
        (&["rgb.npy", "--lines", "--origin", "lower"], "--origin has no effect on lines"),
        (&["rgb.npy", "--as", "rgb", "--hist"], "cannot be used with"),
    ] {
        let refused = run(at, &[&["plot", "-o", "b.png"], args].concat());
        refused.expect(2);
        assert!(refused.err.contains(what), "{args:?}: {}", refused.err);
    }
}

#[test]
fn bonds_end_at_the_box_and_shapes_are_those_of_their_types() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    python(
        at,
        "import gsd.hoomd\n\
         f = gsd.hoomd.Frame(); f.configuration.box = [10, 10, 0, 0, 0, 0]; f.configuration.dimensions = 2\n\
         f.particles.N = 4; f.particles.position = [[-4, 0, 0], [4, 0, 0], [-2, 3, 0], [2, 3, 0]]\n\
         f.particles.types = ['A']; f.bonds.N = 3; f.bonds.group = [[0, 1], [2, 3], [3, 9]]\n\
         with gsd.hoomd.open('bonds.gsd', 'w') as t: t.append(f)\n\
         f = gsd.hoomd.Frame(); f.configuration.box = [10, 10, 0, 0, 0, 0]; f.configuration.dimensions = 2\n\
         f.particles.N = 2; f.particles.position = [[-2, 0, 0], [2, 0, 0]]; f.particles.typeid = [0, 1]; f.particles.types = ['E', 'P']\n\
         h = 0.5 ** 0.5; f.particles.orientation = [[1, 0, 0, 0], [h, 0, 0, h]]\n\
         f.particles.type_shapes = [{'type': 'Ellipsoid', 'a': 1.5, 'b': 0.5, 'c': 0.5}, {'type': 'Polygon', 'vertices': [[-1.5, -0.5], [1.5, -0.5], [1.5, 0.5], [-1.5, 0.5]], 'rounding_radius': 0}]\n\
         with gsd.hoomd.open('shapes.gsd', 'w') as t: t.append(f)",
    );
    // One pixel for 1/50 of a length; the box is 10 wide with 0.02 of that around.
    let drawn = |file: &str| {
        let done = run(at, &["plot", "-f", file, "-o", "a.png", "--size", "700x700"]);
        done.expect(0);
        let (width, pixels) = png(&at.join("a.png"));
        let ink: Vec<bool> = pixels.iter().map(|pixel| *pixel != [255; 3]).collect();
        // The box by its upper and lower edge: rows with the longest dark runs.
        (done.err, width, pixels, ink)
    };
    let (told, width, pixels, _) = drawn("bonds.gsd");
    assert!(told.contains("note: 1 bond has an end that is not there"), "{told}");
    // Coordinates of the box: the frame around the data is 78 to 676 of 700 across, 44 to 646 down, and as high as wide.
    let (left, side, middle) = (78.0, 598.0, 345.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the picture")]
    let pixel = |x: f64, y: f64| {
        let at = |value: f64| value / 10.4 * side;
        let (column, row) = (left + side / 2.0 + at(x), middle - at(y));
        pixels[row.round() as usize * width + column.round() as usize]
    };
    let is_grey = |[r, g, b]: [u8; 3]| r == g && g == b && r < 200;
    // Through the faces of the box, not across it.
    assert!(is_grey(pixel(-4.75, 0.0)) && is_grey(pixel(4.75, 0.0)), "{:?}", pixel(-4.75, 0.0));
    assert_eq!(pixel(0.0, 0.0), [255; 3]);
    assert!(is_grey(pixel(0.0, 3.0)));
    let (_, width, pixels, _) = drawn("shapes.gsd");
    // With a legend there is less room: by the particles themselves. The ellipse is wide, the turned rectangle high.
    let orange = |[r, _, b]: &[u8; 3]| *r > 120 && *b < 80;
    let blue = |[r, _, b]: &[u8; 3]| *b > 70 && i32::from(*b) - i32::from(*r) > 30;
    for (is_color, ratio) in [(&blue as &dyn Fn(&[u8; 3]) -> bool, 3.0), (&orange, 1.0 / 3.0)] {
        // Left of the legend.
        let found: Vec<(usize, usize)> = (0..pixels.len())
            .map(|at| (at % width, at / width))
            .filter(|(x, y)| *x < 570 && is_color(&pixels[y * width + x]))
            .collect();
        let span =
            |values: Vec<usize>| (values.iter().max().unwrap() - values.iter().min().unwrap() + 1) as f64;
        let (wide, high) =
            (span(found.iter().map(|at| at.0).collect()), span(found.iter().map(|at| at.1).collect()));
        assert!((wide / high / ratio - 1.0).abs() < 0.2, "{wide} {high}");
    }
    fs::copy(testdata().join("gsd/ok/hoomd_type_shapes.gsd"), at.join("all.gsd")).unwrap();
    let (_, drawn) = svg(at, &["all.gsd"]);
    assert!(
        drawn
            .err
            .contains("note: particles of type T5 are drawn as spheres: their shape, Mesh, is not drawn\n"),
        "{}",
        drawn.err
    );
    assert!(!drawn.err.contains("type T4"), "{}", drawn.err);
}
