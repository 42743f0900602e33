//! `plot -o NEW.pdf`: pages that PDFium draws as the PNG has them, with texts that can be found.

use std::fs;
use std::path::Path;

use crate::support::{npy, run};

/// Prints, for each pair of pictures: size of the page, mean and greatest difference of the pixels, subject and text.
const COMPARE: &str = "
import sys, json, zlib, struct
import pypdfium2 as pdfium
def pixels(path):
    data, at, idat, text = open(path, 'rb').read(), 8, b'', {}
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b'IHDR': width, height, depth, color = struct.unpack('>IIBB', body[:10])
        if kind == b'IDAT': idat += body
        at += size + 12
    assert (depth, color) == (8, 2)
    raw, rows, stride = zlib.decompress(idat), [], width * 3
    above = np.zeros(stride, int)
    for row in range(height):
        line = raw[row * (stride + 1):(row + 1) * (stride + 1)]
        kind, line = line[0], np.frombuffer(line[1:], 'u1').astype(int)
        if kind == 2: line = (line + above) % 256
        elif kind:
            new = np.zeros(stride, int)
            for i in range(stride):
                a = new[i - 3] if i > 2 else 0
                b = above[i]
                c = above[i - 3] if i > 2 else 0
                p = a + b - c
                paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
                new[i] = (line[i] + {1: a, 3: (a + b) // 2, 4: paeth}[kind]) % 256
            line = new
        rows.append(line)
        above = line
    return np.array(rows).reshape(height, width, 3)
for name in sys.argv[1:]:
    png = pixels(name + '.png')
    pdf = pdfium.PdfDocument(name + '.pdf')
    assert len(pdf) == 1
    page = pdf[0]
    drawn = page.render(scale=DPI / 72 * (1 - 1e-6), rev_byteorder=True).to_numpy()[:, :, :3].astype(int)
    assert drawn.shape == png.shape, (drawn.shape, png.shape)
    off = abs(drawn - png)
    print(json.dumps([off.mean(), float((off.max(2) > 64).mean()), pdf.get_metadata_dict()['Subject'],
                      page.get_textpage().get_text_bounded()]))
";

fn compare(at: &Path, dpi: u32, names: &[&str]) -> Vec<(f64, f64, String, String)> {
    let words: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let code = format!("import sys; sys.argv[1:] = [{}]; DPI = {dpi}{COMPARE}", words.join(", "));
    let told = crate::blosc2::python(at, &code);
    told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn pages_are_drawn_by_pdfium_as_the_png_is() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let write = |name: &str, bytes: &[u8]| fs::write(at.join(name), bytes).unwrap();
    let values: Vec<u8> = (0..24_u8).flat_map(|at| (f32::from(at) * 1.5 - 3.0).to_le_bytes()).collect();
    write("ramp.npy", &npy("<f4", false, "(4, 6)", &values));
    let waves: Vec<u8> = (0..60_u16).flat_map(|at| (f32::from(at) / 7.0).sin().to_le_bytes()).collect();
    write("wave.npy", &npy("<f4", false, "(60,)", &waves));
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    fs::copy(testdata.join("gsd/ok/hoomd_1_2.gsd"), at.join("two.gsd")).unwrap();
    fs::copy(testdata.join("asdf/ok/image.asdf"), at.join("image.asdf")).unwrap();
    let cases: [(&str, &[&str], &[&str]); 5] = [
        ("ramp", &["ramp.npy"], &["ramp.npy::data", "axis 1", "30"]),
        ("wave", &["wave.npy", "--title", "Ångström µ → 日"], &["Ångström µ", "axis 0", "−1.0"]),
        ("hist", &["wave.npy", "--hist"], &["count"]),
        ("two", &["two.gsd::frames/1"], &["frame 1 of 2"]),
        ("image", &["image.asdf::roman/data", "--origin", "lower"], &["axis 1", "2500"]),
    ];
    for dpi in ["100", "150"] {
        let mut names = Vec::new();
        for (name, args, _) in &cases {
            for end in ["png", "pdf"] {
                let target = format!("{name}.{end}");
                run(at, &[&["plot", "-f", "--dpi", dpi, "-o", &target], *args].concat()).expect(0);
            }
            names.push(*name);
        }
        let found = compare(at, dpi.parse().unwrap(), &names);
        assert_eq!(found.len(), cases.len());
        for ((name, _, texts), (mean, far, subject, text)) in cases.iter().zip(&found) {
            // Edges of letters and lines are smoothed in another way.
            assert!(*mean < 0.8 && *far < 0.003, "{name} at {dpi}: {mean} {far}");
            assert!(subject.starts_with("holdall plot ") && subject.ends_with(&format!("-o {name}.pdf")));
            for wanted in *texts {
                assert!(text.contains(wanted), "{name}: no {wanted:?} in {text:?}");
            }
        }
    }
    // The same bytes again.
    let before = fs::read(at.join("image.pdf")).unwrap();
    run(
        at,
        &["plot", "-f", "--dpi", "150", "-o", "image.pdf", "image.asdf::roman/data", "--origin", "lower"],
    )
    .expect(0);
    assert!(fs::read(at.join("image.pdf")).unwrap() == before);
}
