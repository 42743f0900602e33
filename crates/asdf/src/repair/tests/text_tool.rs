//! Damage by text tools to binary files, after pre-commit's `trailing-whitespace`, `end-of-file-fixer` and `mixed-line-ending`, git's
//! `autocrlf` and the text mode of Windows.

#![allow(clippy::cast_possible_truncation)]

use super::*;

/// Bytes with ends of lines of all kinds, in no order of their own.
fn lines(count: usize, crlf: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0..count {
        bytes.extend((0..17 + number % 7).map(|at| b'a' + ((number * 31 + at * 7) % 26) as u8));
        let end: &[u8] = match number % 4 {
            1 if crlf => b"\r\n",
            2 => b" \t\n",
            _ => b"\n",
        };
        bytes.extend_from_slice(end);
    }
    bytes
}

fn deflated(data: &[u8], is_legacy: bool) -> Vec<u8> {
    let mut stored = Vec::new();
    compression::encode("zlib", data, &Default::default(), &mut stored).unwrap();
    let mut block = block(&stored, 0);
    block[10..14].copy_from_slice(b"zlib");
    block[30..38].copy_from_slice(&(data.len() as u64).to_be_bytes());
    if is_legacy {
        block[38..54].copy_from_slice(Algorithm::Md5.digest(data).as_bytes());
    }
    block
}

/// A file of blocks of bytes.
fn of(blocks: &[Vec<u8>], has_index: bool) -> Vec<u8> {
    let mut text = "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n".to_owned();
    for (number, block) in blocks.iter().enumerate() {
        let len = u64::from_be_bytes(block[30..38].try_into().unwrap());
        text.push_str(&format!("a{number}: !core/ndarray-1.1.0 {{source: {number}, datatype: uint8, byteorder: big, shape: [{len}]}}\n"));
    }
    text.push_str("...\n");
    let mut bytes = [HEAD.as_bytes(), text.as_bytes()].concat();
    let mut offsets = Vec::new();
    for block in blocks {
        offsets.push(bytes.len());
        bytes.extend_from_slice(block);
    }
    if has_index {
        bytes.extend(index(&offsets));
    }
    bytes
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut made = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let is_here = bytes[at..].starts_with(from);
        made.extend_from_slice(if is_here { to } else { &bytes[at..=at] });
        at += if is_here { from.len() } else { 1 };
    }
    made
}

/// Blanks at ends of lines gone, and at the end of the file.
fn stripped(bytes: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    for line in &mut lines {
        while let [rest @ .., b' ' | b'\t' | b'\r' | 0x0b | 0x0c] = *line {
            *line = rest;
        }
    }
    lines.join(&b'\n')
}

/// The blocks of a file, each with all that is set aside for it.
fn blocks_of(bytes: &[u8]) -> Vec<Vec<u8>> {
    let layout = Layout::parse(&bytes.to_vec(), &container_core::Limits::default()).unwrap();
    layout.blocks.iter().map(|it| bytes[it.at as usize..it.end as usize].to_vec()).collect()
}

#[track_caller]
fn comes_back(original: &[u8], spoiled: &[u8]) {
    assert_ne!(original, spoiled);
    let (out, report) = repaired(spoiled);
    assert!(report.lost.is_empty(), "{report:?}");
    assert!(report.guessed.iter().any(|item| item.what.contains("text tool")), "{report:?}");
    assert!(blocks_of(&out) == blocks_of(original), "{report:?}");
    let ends = |item: &RepairItem| item.range.as_ref().map_or(0, |range| range.end);
    let items = report.kept.iter().chain(&report.guessed);
    assert!(items.map(ends).all(|end| end <= spoiled.len() as u64), "{report:?}");
}

#[test]
fn white_space_that_a_text_tool_took_is_put_back() {
    let numbers = numbers(40);
    for has_index in [true, false] {
        let plain =
            of(&[block(&lines(6, true), 0), block(&numbers, 24), block(&lines(4, false), 0)], has_index);
        comes_back(&plain, &replaced(&plain, b"\r\n", b"\n"));
        comes_back(&plain, &replaced(&plain, b"\n", b"\r\n"));
        comes_back(&plain, &stripped(&plain));
        let few = of(&[block(b"a\r\nb\nc", 0), block(&lines(3, true), 0)], has_index);
        comes_back(&few, &stripped(&few));
        comes_back(&few, &replaced(&replaced(&few, b"\r\n", b"\n"), b"\n", b"\r\n"));
    }
    // The last block ends the file: newlines at its end become one, and blanks go.
    for end in [&b"end\n\n\n"[..], b"end \t"] {
        let last = of(&[block(&numbers, 0), block(end, 0)], false);
        let len = last.len();
        comes_back(&last, &[&last[..len - end.len()], &b"end"[..]].concat());
    }
}

#[test]
fn encoded_blocks_and_headers_are_put_right_too() {
    // Of noise, so that there are ends of lines among the stored bytes.
    let mut seed = 1_u32;
    let mut noise = |len: usize| -> Vec<u8> {
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b"\r\n ab\ncdefghijk"[(seed >> 24) as usize % 15]
        };
        (0..len).map(|_| next()).collect()
    };
    let mut tried = 0;
    for is_legacy in [false, true] {
        for len in 2000..2400 {
            let made = deflated(&noise(len), is_legacy);
            // In the header another rule holds: it is looked at below.
            let spoiled = replaced(&made[54..], b"\r\n", b"\n");
            if (1..3).contains(&(made.len() - 54 - spoiled.len())) && made.len() < 3000 && tried < 8 {
                tried += 1;
                let original = of(&[made.clone(), block(b"next", 0)], true);
                comes_back(&original, &replaced(&original, &made[54..], &spoiled));
            }
        }
    }
    assert!(tried > 1, "{tried}");
    // A size with a newline in it, and a digest with CRLF.
    let ten = block(&[7; 10], 0);
    let original = of(&[ten, block(b"next", 0)], true);
    comes_back(&original, &replaced(&original, b"\n", b"\r\n"));
    let with_crlf = (0_u32..).map(|number| block(&number.to_le_bytes().repeat(9), 0));
    let with_crlf = with_crlf.into_iter().find(|block| block[38..54].windows(2).any(|pair| pair == b"\r\n"));
    let original = of(&[with_crlf.unwrap(), block(b"next", 0)], true);
    comes_back(&original, &replaced(&original, b"\r\n", b"\n"));
}

#[test]
fn text_tool_damage_without_a_digest_is_reported_as_lost() {
    let mut none = block(b"a\r\nb\r\nc", 0);
    none[38..54].fill(0);
    let original = of(&[none, block(b"next", 0)], true);
    let (_, report) = repaired(&replaced(&original, b"\r\n", b"\n"));
    assert!(!report.lost.is_empty(), "{report:?}");
    assert!(!report.guessed.iter().any(|item| item.what.contains("text tool")), "{report:?}");
}

/// The number of bytes that were put back or left out.
#[test]
fn restored_white_space_is_counted() {
    let told = |data: &[u8], spoil: &dyn Fn(&[u8]) -> Vec<u8>| {
        let first = block(data, 0);
        let original = of(&[first.clone(), block(b"next", 0)], false);
        let at = original.windows(4).position(|part| part == b"\xd3BLK").unwrap();
        let spoiled = spoil(&first);
        let bytes = [&original[..at], &spoiled, &original[at + first.len()..]].concat();
        let (out, report) = repaired(&bytes);
        assert!(blocks_of(&out) == blocks_of(&original), "{report:?}");
        let item = report.guessed.into_iter().find(|item| item.what.contains("text tool")).unwrap();
        assert_eq!(item.range, Some(at as u64..(at + spoiled.len()) as u64));
        assert_eq!(item.evidence, Some(Evidence::Digest));
        item.what
    };
    let to_lf = |block: &[u8]| [&block[..54], &replaced(&block[54..], b"\r\n", b"\n")].concat();
    let to_crlf = |block: &[u8]| [&block[..54], &replaced(&block[54..], b"\n", b"\r\n")].concat();
    let restored = "of white space at line ends restored, which a text tool had removed: its digest matches";
    assert_eq!(told(b"a\r\nb", &to_lf), format!("block 0: a byte {restored}"));
    assert_eq!(told(b"a\r\nb\r\nc", &to_lf), format!("block 0: 2 bytes {restored}"));
    let left_out = "of white space at line ends left out, which a text tool had added: its digest matches";
    assert_eq!(told(b"a\nb", &to_crlf), format!("block 0: a byte {left_out}"));
    assert_eq!(told(b"a\nb\nc", &to_crlf), format!("block 0: 2 bytes {left_out}"));
    // Each of the three sizes, ten, is a newline.
    let both = |block: &[u8]| {
        [&replaced(&block[..38], b"\n", b"\r\n")[..], &block[38..54], &replaced(&block[54..], b"\r\n", b"\n")]
            .concat()
    };
    let changed = "white space at line ends, which a text tool had changed: 1 bytes restored, 3 left out";
    assert_eq!(told(b"a\r\nb\nc-de-", &both), format!("block 0: {changed}: its digest matches"));
}
