//! Codecs: any bytes, into destinations of any size.

use container_codecs::built_in;
use container_core::ErrorKind;
use container_core::codec::Codec;

use crate::feed::Feed;
use crate::lens::look_at_error;

/// Levels that are tried, with what each codec makes of them.
const LEVELS: [Option<i32>; 6] = [None, Some(0), Some(1), Some(3), Some(9), Some(-5)];

/// Decoding fills a destination of exactly the right size or fails; what is encoded decodes to itself.
pub fn codecs_decode(data: &[u8]) {
    let mut feed = Feed::new(data);
    let codecs = built_in();
    let names: Vec<&str> = codecs.names().collect();
    let codec = codecs.get(names[feed.below(names.len())]).expect("it is listed");
    let level = feed.one_of(&LEVELS);
    let len = match feed.below(8) {
        0 => 1 << 16,
        1..4 => feed.below(1 << 12),
        _ => feed.below(64),
    };
    let src = feed.rest();
    decode(codec, src, len);
    there_and_back(codec, src, level);
}

fn decode(codec: &dyn Codec, src: &[u8], len: usize) {
    let mut dst = vec![0xa5; len];
    match codec.decode(src, &mut dst) {
        Ok(()) => exact(codec, src, &dst),
        Err(error) => {
            look_at_error(&error);
            let kind = error.kind();
            assert!(matches!(kind, ErrorKind::Malformed(_) | ErrorKind::Unsupported(_)), "{error}");
        }
    }
}

/// `src` decodes to `dst`, hence to nothing shorter or longer, and not with anything behind it.
fn exact(codec: &dyn Codec, src: &[u8], dst: &[u8]) {
    let name = codec.name();
    let mut again = vec![0x5a; dst.len()];
    codec.decode(src, &mut again).expect("it did before");
    assert!(again == dst, "{name}: not all of the destination is filled");
    let mut longer = vec![0; dst.len() + 1];
    assert!(codec.decode(src, &mut longer).is_err(), "{name} fills {} and one more", dst.len());
    if !dst.is_empty() {
        assert!(codec.decode(src, &mut longer[2..]).is_err(), "{name} fills {} and one less", dst.len());
    }
    let trailing = [src, &[0]].concat();
    assert!(codec.decode(&trailing, &mut again).is_err(), "{name} takes a byte after the end");
}

fn there_and_back(codec: &dyn Codec, values: &[u8], level: Option<i32>) {
    let mut encoded = b"before".to_vec();
    if let Err(error) = codec.encode(values, level, &mut encoded) {
        assert!(matches!(error.kind(), ErrorKind::Usage(_)) && level.is_some(), "{error}");
        return;
    }
    let encoded = encoded.strip_prefix(b"before").expect("encoding appends");
    assert!(encoded.len() <= codec.max_encoded_len(values.len()), "{}", codec.name());
    let mut decoded = vec![0; values.len()];
    codec.decode(encoded, &mut decoded).expect("what was encoded");
    assert!(decoded == values);
    exact(codec, encoded, &decoded);
}
