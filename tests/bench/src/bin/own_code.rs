//! Code of our own where a library exists: the same work by both, side by side. What stays is decided in docs/decisions.md.
#![forbid(unsafe_code)]

use std::io::Read as _;

use anyhow::{Context as _, Result};
use bench::harness::{Claim, Contender, Group, Unit, measure, timed};
use bench::report;
use bench::scratch::check;
use container_codecs::{bzip2::Bzip2, zlib::Zlib};
use container_core::codec::Codec as _;
use yaml11::{Document, YamlLimits};

/// Rounds that count.
const ROUNDS: usize = 9;

/// Bytes of an array.
const LEN: usize = 8 << 20;

fn main() -> Result<()> {
    for group in deflate()?.into_iter().chain(bzip2()?).chain([yaml()?]) {
        println!("{}", report::markdown(&measure(group, ROUNDS)?));
    }
    Ok(())
}

/// Numbers from 0 to 1 without a pattern (an LCG of Knuth's, high bits).
fn noise() -> impl FnMut() -> f64 {
    let mut state = 1_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Arrays as instruments and simulations write them: a name and the bytes.
fn arrays() -> Vec<(&'static str, Vec<u8>)> {
    let mut next = noise();
    let mut normal = move || (0..12).map(|_| next()).sum::<f64>() - 6.0;
    let counts = (0..LEN / 2).flat_map(|_| ((1000.0 + 30.0 * normal()) as u16).to_le_bytes()).collect();
    let mut normal = {
        let mut next = noise();
        move || (0..12).map(|_| next()).sum::<f64>() - 6.0
    };
    let image =
        (0..LEN / 4).flat_map(|at| ((at % 4096) as f32 * 0.01 + normal() as f32).to_le_bytes()).collect();
    let ramp = (0..LEN / 4).flat_map(|at| (at as u32 / 7).to_le_bytes()).collect();
    vec![("u16 counts", counts), ("f32 image", image), ("u32 ramp", ramp)]
}

/// zlib without a level, which our encoder writes where the bytes are such, beside levels of zlib-rs.
fn deflate() -> Result<Vec<Group<'static>>> {
    let mut groups = Vec::new();
    for (name, bytes) in arrays() {
        let bytes: &'static [u8] = bytes.leak();
        let mut sizes = Vec::new();
        for level in [None, Some(4), Some(6)] {
            let mut out = Vec::new();
            Zlib.encode(bytes, level, &mut out)?;
            sizes.push(out.len());
        }
        let contender = |name, level| {
            Contender::new(name, move || {
                let encode = || {
                    let mut out = Vec::new();
                    Zlib.encode(bytes, level, &mut out)?;
                    Ok(out)
                };
                timed(encode, |_| Ok(None))
            })
        };
        groups.push(Group {
            title: format!(
                "zlib, write {name}: {} bytes, by level 4 {}, by 6 {}",
                sizes[0], sizes[1], sizes[2]
            ),
            unit: Unit::Rate(bytes.len() as u64),
            contenders: vec![
                contender("without a level", None),
                contender("zlib-rs 4", Some(4)),
                contender("zlib-rs 6", Some(6)),
            ],
            claims: vec![Claim::Speed("without a level", "zlib-rs 4", None)],
        });
    }
    Ok(groups)
}

/// Decoding of bzip2: blocks by our decoder, beside the library's.
fn bzip2() -> Result<Vec<Group<'static>>> {
    let mut groups = Vec::new();
    for (name, bytes) in arrays() {
        let mut stored = Vec::new();
        Bzip2.encode(&bytes, None, &mut stored)?;
        let (stored, len): (&'static [u8], usize) = (stored.leak(), bytes.len());
        let own = Contender::new("ours", move || {
            let decode = || {
                let mut out = vec![0; len];
                Bzip2.decode(stored, &mut out)?;
                Ok(out)
            };
            timed(decode, |out| Ok(Some(check(out))))
        });
        let library = Contender::new("libbz2-rs", move || {
            let decode = || {
                let mut out = Vec::with_capacity(len);
                bzip2::read::MultiBzDecoder::new(stored).read_to_end(&mut out)?;
                Ok(out)
            };
            timed(decode, |out| Ok(Some(check(out))))
        });
        groups.push(Group {
            title: format!("bzip2, read {name}"),
            unit: Unit::Rate(len as u64),
            contenders: vec![own, library],
            claims: vec![Claim::Speed("ours", "libbz2-rs", None)],
        });
    }
    Ok(groups)
}

/// A tree of nodes as ASDF has them, parsed by our parser, and by the library: a tab in a comment is syntax that ours leaves to it.
fn yaml() -> Result<Group<'static>> {
    let mut text = String::from("%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n");
    for at in 0..20_000 {
        text.push_str(&format!(
            "array_{at}: !core/ndarray-1.1.0\n  source: {at}\n  datatype: float32\n  byteorder: little\n  shape: [512, {at}]\nname_{at}: 'value {at}'\n"
        ));
    }
    let with_tab = text.replacen("--- ", "# \t\n--- ", 1);
    let contender = |name, text: String| {
        Contender::new(name, move || {
            let parse = || Document::parse(text.as_bytes(), 0, &YamlLimits::default()).context("a tree");
            timed(parse, |_| Ok(None))
        })
    };
    Ok(Group {
        title: "YAML, parse a tree of 20,000 arrays".into(),
        unit: Unit::Rate(text.len() as u64),
        contenders: vec![contender("ours", text), contender("granit-parser", with_tab)],
        claims: vec![Claim::Speed("ours", "granit-parser", None)],
    })
}
