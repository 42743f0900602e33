//! Seeds of the targets: the fixtures of the repository, and a few inputs made here.

use std::fs;
use std::path::{Path, PathBuf};

use container_codecs::built_in;
use container_core::codec::Codec;

use crate::mutate::XorShift;

/// Every `.ra` file of the fixtures.
pub(crate) fn rawarray_files() -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    gather(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rawarray"), "ra", &mut paths);
    paths.sort();
    let mut files: Vec<Vec<u8>> =
        paths.iter().map(|path| fs::read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))).collect();
    assert!(files.len() > 100, "the fixtures are not where they should be");
    files.extend(bare_files());
    files
}

/// Small files of each element code: less to change than in a fixture, so that more of the changes meet the header.
fn bare_files() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for (flags, eltype, elbyte, data) in [
        (0_u64, 0_u64, 3_u64, &b"abcdef"[..]),
        (0, 1, 2, b"\x01\0\xff\xff"),
        (1, 3, 4, b"\x3f\x80\0\0\0\0\0\0"),
        (0, 4, 8, &[0; 16]),
        (0, 5, 1, b"\0\x01"),
        (2, 2, 1, b"\x20ab"),
        (2, 1, 4, b"\x01\x80\x01"),
        (6, 5, 8, b"\x02\0\0\0\0\0\0\0"),
    ] {
        let size = if flags == 2 && eltype == 2 { 3 } else { data.len() as u64 };
        let size = if flags == 2 && eltype == 1 { 8 } else { size };
        let words = [u64::from_le_bytes(*b"rawarray"), flags, eltype, elbyte, size, 1, 2];
        let header = words.iter().flat_map(|word| word.to_le_bytes());
        files.push(header.chain(data.iter().copied()).collect());
    }
    files
}

/// Files with this extension below a folder.
pub(crate) fn gather(folder: &Path, wanted: &str, paths: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries.map_while(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, wanted, paths);
        } else if path.extension().is_some_and(|extension| extension == wanted) {
            paths.push(path);
        }
    }
}

const NPY_DICTS: &[&str] = &[
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
    "{'descr': '>i8', 'fortran_order': True, 'shape': (3, 2), }",
    "{'descr': '|b1', 'fortran_order': False, 'shape': (9,), }",
    "{'descr': '|u1', 'fortran_order': False, 'shape': (), }",
    "{'descr': '<c16', 'fortran_order': False, 'shape': (1, 2), }",
    "{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }",
    "{'descr': '|S5', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (2,), }",
    "{'descr': '<m8', 'fortran_order': False, 'shape': (2,), }",
    "{'descr': [('a', [('b', [('c', [], (65535,))], (65535,))], (65535,))], 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f2', 'fortran_order': True, 'shape': (2, 2, 2), }",
    "{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': 'bfloat16', 'fortran_order': False, 'shape': (4,), }",
    "{'descr': '>u2', 'fortran_order': False, 'shape': (3L,), }",
    "{'descr': [('a', '<i2'), ('', '|V2'), ('b', '>f4', (2,))], 'fortran_order': False, 'shape': (2,), }",
    "{'descr': [(('t', 'x'), '|u1'), ('r', [('y', '<U1'), ('z', '|S2')])], 'fortran_order': False, 'shape': (2, 2)}",
    "{'descr': {'names': ['a', 'b'], 'formats': ['<u4', '<u2'], 'offsets': [0, 2], 'itemsize': 4}, \
     'fortran_order': False, 'shape': (2,)}",
    "{'descr': '|V0', 'fortran_order': False, 'shape': (4611686018427387904,), }",
    "{'descr': '|S0', 'fortran_order': True, 'shape': (2147483648, 2147483648), }",
    "{'descr': [('a', '|S0', (2147483647,))], 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 0, 9), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
];

/// `.npy` files, each header in a version that may hold it, with enough data for it or too little.
pub(crate) fn npy_files() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for (at, dict) in NPY_DICTS.iter().enumerate() {
        let version = [1, 2, 3][at % 3];
        let mut file = b"\x93NUMPY".to_vec();
        file.extend([version, 0]);
        let text = format!("{dict:<116}\n");
        match version {
            1 => file.extend((text.len() as u16).to_le_bytes()),
            _ => file.extend((text.len() as u32).to_le_bytes()),
        }
        file.extend(text.bytes());
        file.extend((0..48).map(|at| at * 5));
        files.push(file);
    }
    files
}

/// All files of arrays.
pub(crate) fn array_files() -> Vec<Vec<u8>> {
    let mut files = rawarray_files();
    files.extend(npy_files());
    files.extend(crate::gsd_seeds::small_files());
    files
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn literals() -> Vec<Vec<u8>> {
    let mut all = texts(NPY_DICTS);
    all.extend(texts(&[
        "None",
        "[True, False, ]",
        "(1,)",
        "((1))",
        "()",
        "{}",
        "{'a': {1: [2.5e-7, -0.0, 1e16]}, b'\\x00\\xff': ()}",
        "-0x_ff",
        "0o17",
        "0b1_0",
        "1_000.5",
        "1e999",
        ".5",
        "- 170141183460469231731687303715884105728",
        "'it\\'s' ",
        "\"\\u00e9\\U0001f600\\n\\x7f\\101\"",
        "r'\\d' ",
        "rb'\\''",
        "u'\u{e9}\u{2028}\u{301}'",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    ]));
    all
}

pub(crate) fn dtypes() -> Vec<Vec<u8>> {
    texts(&[
        "<f4",
        ">c16",
        "|b1",
        "=u8",
        "bfloat16",
        ">bfloat16",
        "float32",
        "M8[25s]",
        "<m8[generic]",
        "datetime64[\u{b5}s]",
        "U7",
        "S",
        "|V80",
        "[['a', '<i2'], ['b', '>f4', [2, 3]]]",
        "[('a', '<i2'), ('', '|V6'), ('b', 'U2', 4)]",
        "[(('title', 'name'), 'i1')]",
        "[('r', [('x', 'f8'), ('y', [('z', '?')], (2,))])]",
        "('<f4', (2,))",
        "{'names': ['a', 'b'], 'formats': ['<u4', '<u2'], 'offsets': [0, 2], 'itemsize': 8}",
        "{'names': ['a'], 'formats': [('>f8', (2,))], 'titles': ['t']}",
        "{'names': ['a', 'b'], 'formats': ['<u4', '>u2'], 'offsets': [0, 2], 'titles': ['t', None], 'itemsize': 8}",
        "[]",
    ])
}

/// The lengths of the axes, then text, as `region_parse` takes them apart.
pub(crate) fn selections() -> Vec<Vec<u8>> {
    let text = ["0", "-1, 2:, ::-1", "...", "1,...,::3", "-9:9:-2", ":, :, :,", "+1:-1", "0:0", ""];
    let mut all: Vec<Vec<u8>> =
        text.iter().map(|text| [b"\x03\x01\x04\x01\x05\x01\x06\x01", text.as_bytes()].concat()).collect();
    all.extend(choices());
    all
}

/// Noise, for targets that make choices from it.
pub(crate) fn choices() -> Vec<Vec<u8>> {
    let mut numbers = XorShift::new(1);
    let noise = |len: usize| {
        (0..len)
            .map(|_| {
                let number = numbers.next();
                // Small numbers are choices more often than large ones.
                number.to_le_bytes()[2] >> (number >> 40 & 7)
            })
            .collect()
    };
    (0..96).map(|at| at * 3).map(noise).collect()
}

fn samples() -> Vec<Vec<u8>> {
    let far: Vec<u8> = (0..63_u32).map(|at| (at * at % 7) as u8).collect();
    vec![
        Vec::new(),
        vec![9],
        vec![0; 63],
        (0..60).collect(),
        b"abcabcabcabcabcabcabcabcabcabc-".to_vec(),
        far,
    ]
}

/// Streams of every codec, behind the choices that `codecs_decode` makes: codec, level, way to give the length, length.
pub(crate) fn encoded() -> Vec<Vec<u8>> {
    let codecs = built_in();
    let names: Vec<&str> = codecs.names().collect();
    let mut all = Vec::new();
    for (index, name) in names.iter().enumerate() {
        for sample in samples() {
            let mut seed = vec![index as u8, 0, 4, sample.len() as u8];
            let codec = codecs.get(name).expect("it is listed");
            codec.encode(&sample, None, &mut seed).expect("memory");
            all.push(seed);
        }
    }
    all
}

/// LZ4 blocks: of the encoder, and by hand.
pub(crate) fn lz4_blocks() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = samples()
        .iter()
        .map(|sample| {
            let mut block = Vec::new();
            container_codecs::lz4::Lz4.encode(sample, None, &mut block).expect("memory");
            block
        })
        .collect();
    // A match that overlaps itself; lengths of more than one byte; offsets outside and of 0; no end.
    all.extend([
        vec![0x14, b'a', 1, 0, 0x50, b'v', b'w', b'x', b'y', b'z'],
        [&[0xf0, 0][..], &[7; 15], &[1, 0, 0x10, 8]].concat(),
        vec![0x1f, b'a', 1, 0, 255, 255, 0, 0x10, b'b'],
        vec![0x10, b'a', 2, 0, 0x10, b'b'],
        vec![0x10, b'a', 0, 0, 0x10, b'b'],
        vec![0xf0, 255, 255, 255],
        vec![0],
    ]);
    all
}
