use proptest::prelude::*;

use super::*;
use container_core::ErrorKind;

/// `bytes(range(256)) * 3`
fn ramp() -> Vec<u8> {
    (0..=255).cycle().take(768).collect()
}

/// Messages and their digests in the order of [`Algorithm::ALL`], computed by Python's `zlib` and `hashlib`.
/// Where a comment names a standard, those of its algorithms are the ones that it publishes.
fn known() -> Vec<(Vec<u8>, [&'static str; 8])> {
    vec![
        // RFC 1321, A.5: the empty message
        (
            b"".to_vec(),
            [
                "00000001",
                "00000000",
                "d41d8cd98f00b204e9800998ecf8427e",
                "da39a3ee5e6b4b0d3255bfef95601890afd80709",
                "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "38b060a751ac96384cd9327eb1b1e36a21fdb71114be0743\
                 4c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b",
                "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
                 47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
            ],
        ),
        // the check value of the CRC catalogues
        (
            b"123456789".to_vec(),
            [
                "091e01de",
                "cbf43926",
                "25f9e794323b453885f5181f1b624d0b",
                "f7c3bc1d808e04732adf679965ccc34ca7ae3441",
                "9b3e61bf29f17c75572fae2e86e17809a4513d07c8a18152acf34521",
                "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
                "eb455d56d2c1a69de64e832011f3393d45f3fa31d6842f21\
                 af92d2fe469c499da5e3179847334a18479c8d1dedea1be3",
                "d9e6762dd1c8eaf6d61b3c6192fc408d4d6d5f1176d0c29169bc24e71c3f274a\
                 d27fcd5811b313d681f7e55ec02d73d499c95455b6b5bb503acf574fba8ffe85",
            ],
        ),
        // RFC 1321, A.5, and the one-block example of FIPS 180-4
        (
            b"abc".to_vec(),
            [
                "024d0127",
                "352441c2",
                "900150983cd24fb0d6963f7d28e17f72",
                "a9993e364706816aba3e25717850c26c9cd0d89d",
                "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded163\
                 1a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                 2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ],
        ),
        // The FIPS 180-4 example of two blocks of 64 bytes (SHA-1, SHA-224, SHA-256)
        (
            b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".to_vec(),
            [
                "807416f9",
                "171a3f5f",
                "8215ef0796a20bcaaae116d3876c664a",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
                "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
                "3391fdddfc8dc7393707a65b1b4709397cf8b1d162af05ab\
                 fe8f450de5f36bc6b0455a8520bc4e6f5fe95b1fe3c8452b",
                "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335\
                 96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445",
            ],
        ),
        // The FIPS 180-4 example of two blocks of 128 bytes (SHA-384, SHA-512)
        (
            concat!(
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn",
                "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"
            )
            .into(),
            [
                "1ac22ed1",
                "191f3349",
                "03dd8807a93175fb062dfb55dc7d359c",
                "a49b2446a02c645bf419f995b67091253a04a259",
                "c97ca9a559850ce97a04a96def6d99a9e0e0e2ab14e6b8df265fc0b3",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
                "09330c33f71147e83d192fc782cd1b4753111b173b3b05d2\
                 2fa08086e3b0f712fcc7c71a557e2db966c3e9fa91746039",
                "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018\
                 501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
            ],
        ),
        // The FIPS 180-4 example of a long message: b"a" * 1000000
        (
            vec![b'a'; 1_000_000],
            [
                "15d870f9",
                "dc25bfbc",
                "7707d6ae4e027c70eea2a935c2296f21",
                "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
                "20794655980c91d8bbb4c1ea97618a4bf03f42581948b2ee4ee7ad67",
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
                "9d0e1809716474cb086e834e310a4a1ced149e9c00f24852\
                 7972cec5704c2a5b07b8b3dc38ecc4ebae97ddd87f3d8985",
                "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb\
                 de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b",
            ],
        ),
        // bytes(range(256)) * 3
        (
            ramp(),
            [
                "a0627e90",
                "b0c0df2a",
                "e6899eaaf06fd702f3ed3f988eb19362",
                "ac2a264c8ec1f4232a40854e8239bc3a697ab1d2",
                "591b51555cc8c83f6951d9ec73d834d6d17865fecdb543605471a562",
                "f3a25aa93aa2fbba28d79260535bbd6a5eb0fc1c24a8b0f04e12b484c1dfe363",
                "6bee04118003cf5630ccb22cdb53f78dc079231c7d092099\
                 55dfc34234cbab03d41da198e30bf1e77ef8b289ddd794ec",
                "f1721f49518ee462a3d81def26d81037cd474b4254b85ad7c8f1509594d0177b\
                 bb996ee9625813852bacac108c2a72c83a8587050fec1dcda64730d6470953e6",
            ],
        ),
        // b"\xff" * 10000, over which both sums of Adler-32 pass 2^16 and 2^32
        (
            vec![0xFF; 10_000],
            [
                "b623eb2b",
                "133c790d",
                "1a98886e9046302ed8d1bece80ec6a85",
                "11003389959355c2773af6b0f36d842fe430ec49",
                "92c4ff393da579f90cfede861668ecb7c981df72589dbf561a534ab1",
                "2bf7158cb3d8f419f1e19ee71df61927cc17017f37ea8820f3bd719d2b4f88f8",
                "9b80a17592903abc1f226f6801eccc39b49edb647d8ed3a8\
                 27aac105d7862df22b5bbd92a1f4851a5e8cef7afa607135",
                "fbfa1dc2dea27836fe5372735ec1fb4e23a4ff5e53351d770159d5f72967f36a\
                 60ea1c3164283ac75b00c269359e881c28241127e82bc2d6b086be2de63b809f",
            ],
        ),
    ]
}

#[test]
fn digests_are_those_of_the_standards_and_of_python() {
    // Miri takes minutes for long ones.
    let messages = known().into_iter().filter(|(message, _)| !cfg!(miri) || message.len() < 150);
    for (message, digests) in messages {
        for (kind, digest) in Algorithm::ALL.into_iter().zip(digests) {
            assert_eq!(
                kind.digest(&message).to_string(),
                digest,
                "{} of {} bytes",
                kind.name(),
                message.len()
            );
        }
    }
}

/// RFC 1321, A.5, without the two messages of [`known`].
#[test]
fn the_md5_test_suite_passes() {
    let suite: [(&[u8], &str); 5] = [
        (b"a", "0cc175b9c0f1b6a831c399e269772661"),
        (b"message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        (b"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        (
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "d174ab98d277d9f5a5611c2c9f419d9f",
        ),
        (&b"1234567890".repeat(8), "57edf4a22be3c955ac49da2e2107b67a"),
    ];
    for (message, digest) in suite {
        assert_eq!(Algorithm::Md5.digest(message).to_string(), digest);
    }
}

#[test]
fn a_message_may_be_split_anywhere() {
    let (message, step) = if cfg!(miri) { (ramp()[..150].to_vec(), 50) } else { (ramp(), 1) };
    for kind in Algorithm::ALL {
        let whole = kind.digest(&message);
        for at in (0..=message.len()).step_by(step) {
            let mut running = kind.start();
            running.update(&message[..at]);
            running.update(&message[at..]);
            assert_eq!(running.finish(), whole, "{} split at {at}", kind.name());
        }
    }
}

proptest! {
    #[test]
    #[cfg_attr(miri, ignore = "long data")]
    fn a_message_may_come_in_any_pieces(pieces in proptest::collection::vec(
        proptest::collection::vec(any::<u8>(), 0..200),
        0..12,
    )) {
        for kind in Algorithm::ALL {
            let mut running = kind.start();
            pieces.iter().for_each(|piece| running.update(piece));
            prop_assert_eq!(running.finish(), kind.digest(&pieces.concat()), "{}", kind.name());
        }
    }
}

#[test]
fn digests_have_the_announced_length() {
    for kind in Algorithm::ALL {
        assert_eq!(kind.digest(b"abc").as_bytes().len(), kind.digest_len(), "{}", kind.name());
    }
}

#[test]
fn a_32_bit_sum_has_its_most_significant_byte_first() {
    assert_eq!(Algorithm::Crc32.digest(b"123456789").as_bytes(), [0xCB, 0xF4, 0x39, 0x26]);
    assert_eq!(Algorithm::Adler32.digest(b"123456789").as_bytes(), [0x09, 0x1E, 0x01, 0xDE]);
}

#[test]
fn names_are_found_in_any_case() {
    for kind in Algorithm::ALL {
        assert_eq!(Algorithm::from_name(kind.name()).unwrap(), kind);
        assert_eq!(Algorithm::from_name(&kind.name().to_uppercase()).unwrap(), kind);
    }
}

#[test]
fn unknown_algorithm_error_lists_the_supported_names() {
    let error = Algorithm::from_name("md4").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(text) if text.contains("md5")), "{error}");
}

#[test]
fn a_digest_holds_64_bytes_and_no_more() {
    assert_eq!(Digest::new(&[7; 64]).unwrap().as_bytes(), [7; 64]);
    for len in [65, 255, 256, 320] {
        assert!(matches!(Digest::new(&vec![7; len]).unwrap_err().kind(), ErrorKind::Usage(_)), "{len}");
    }
}

#[test]
fn a_digest_differs_from_a_longer_one_with_the_same_start() {
    assert_ne!(Digest::new(&[0; 4]).unwrap(), Digest::new(&[0; 16]).unwrap());
    assert_eq!(Digest::new(&[1, 0xAB]).unwrap().to_string(), "01ab");
}
