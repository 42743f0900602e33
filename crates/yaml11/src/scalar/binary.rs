//! `!!binary`: base 64.

/// The bytes of a text in base 64. Characters outside the alphabet are passed over, as Python's `base64` does; `None` where the padding
/// does not fit.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity((text.len() / 4).saturating_mul(3));
    let (mut bits, mut have, mut padding) = (0_u32, 0_u32, 0_u32);
    for byte in text.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte.wrapping_sub(b'A'),
            b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
            b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding = padding.saturating_add(1);
                if have >= 2 && have.saturating_add(padding) >= 4 {
                    break;
                }
                continue;
            }
            byte if byte.is_ascii() => continue,
            _ => return None,
        };
        padding = 0;
        bits = (bits << 6) | u32::from(six);
        have = have.saturating_add(1);
        if have == 4 {
            bytes.extend_from_slice(bits.to_be_bytes().get(1..)?);
            (bits, have) = (0, 0);
        }
    }
    match (have, padding) {
        (0, _) => {}
        (2, 2) => bytes.push(u8::try_from((bits >> 4) & 0xff).ok()?),
        (3, 1) => bytes.extend_from_slice((bits >> 2).to_be_bytes().get(2..)?),
        _ => return None,
    }
    Some(bytes)
}
