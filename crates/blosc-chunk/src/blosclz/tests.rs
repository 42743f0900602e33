//! Streams of C-Blosc, streams of ours, and streams of nobody's.

use super::{Encoder, Fault, decode, decode_prefix};

/// Bytes from hexadecimal digits; blanks do not count.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

/// Streams that C-Blosc 1 and 2 wrote, and what they hold.
fn vectors() -> Vec<(Vec<u8>, Vec<u8>)> {
    let twice = [&b"abc".repeat(13)[..], b"defghijklmnop"].concat().repeat(2);
    vec![
        (hex("25 616263616263 e01705 0d 636465666768696a6b6c6d6e6f70 e0172d 804e e00233 02 6e6f70"), twice),
        (hex("25 616263616263 e0ffcf0502 616263"), b"abc".repeat(160)),
        (hex("23 51515151 e0ffe50302 515151"), b"Q".repeat(500)),
    ]
}

#[test]
fn streams_of_c_blosc_decode() {
    for (stream, data) in vectors() {
        let mut out = vec![0; data.len()];
        assert_eq!(decode(&stream, &mut out), Ok(()));
        assert_eq!(out, data);
        for len in 0..data.len() {
            let mut out = vec![0; len];
            assert_eq!(decode_prefix(&stream, &mut out), Ok(()), "{len} bytes");
            assert_eq!(out, data[..len]);
        }
    }
}

#[test]
fn a_cut_stream_is_at_fault() {
    for (stream, data) in vectors() {
        for cut in 0..stream.len() {
            let mut out = vec![0; data.len()];
            assert!(decode(&stream[..cut], &mut out).is_err(), "{cut} bytes");
        }
        let mut long = vec![0; data.len() + 1];
        assert!(decode(&stream, &mut long).is_err());
        assert!(decode_prefix(&stream, &mut long).is_err());
        let mut short = vec![0; data.len() - 1];
        assert!(decode(&stream, &mut short).is_err());
    }
}

#[test]
fn faults_say_what_and_where() {
    let fault = |text: &str, len: usize| decode(&hex(text), &mut vec![0; len]).unwrap_err();
    assert_eq!(fault("", 1), Fault::at(0, "the stream ends in a match"));
    assert_eq!(fault("20 61 20 00", 4), Fault::at(4, "the stream ends in a match"));
    assert_eq!(fault("20 61 20 01 00 61", 5), Fault::at(2, "a match reaches before the start"));
    // The nearest far distance is 8192.
    assert_eq!(fault("20 61 3f ff 00 00 00 61", 5), Fault::at(2, "a match reaches before the start"));
    assert_eq!(fault("20 61 20", 4), Fault::at(3, "the stream ends inside a match"));
    assert_eq!(fault("23 61 62", 4), Fault::at(3, "the stream ends inside literals"));
    let endless = [vec![0x20, 0x61], vec![0xe0], vec![0xff; 100_000]].concat();
    assert_eq!(
        decode(&endless, &mut [0; 9]),
        Err(Fault::at(endless.len(), "the stream ends inside a match"))
    );
}

#[test]
fn what_is_encoded_decodes() {
    let mut encoder = Encoder::default();
    for (_, data) in vectors() {
        for level in 0..=9 {
            let mut stream = vec![0; data.len() + 64];
            let len = encoder.encode(&data, &mut stream, level).unwrap();
            assert!(len < data.len());
            let mut out = vec![0; data.len()];
            assert_eq!(decode(&stream[..len], &mut out), Ok(()));
            assert_eq!(out, data);
            // Not one byte is needed more than is used, but a few bytes of slack may be asked for.
            assert_eq!(encoder.encode(&data, &mut stream[..len - 1], level), None);
        }
    }
}
