//! Reads a block by a codec of the program's own, and takes a column of the array in it: container-core has no codec.

use std::ops::Range;

use container_core::array::Array;
use container_core::block::{Block, read_block};
use container_core::codec::{Codec, Codecs};
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use container_core::{Error, Limits, Result};

/// Every byte once, with its bits inverted.
struct Inverted;

impl Codec for Inverted {
    fn name(&self) -> &str {
        "inverted"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        if src.len() != dst.len() {
            return Err(Error::malformed("another length"));
        }
        dst.iter_mut().zip(src).for_each(|(to, from)| *to = !from);
        Ok(())
    }

    fn encode(&self, src: &[u8], _: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        out.extend(src.iter().map(|byte| !byte));
        Ok(())
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        len
    }
}

/// All of a file but its first four bytes.
struct Body(u64);

impl Block for Body {
    fn range(&self) -> Range<u64> {
        4..self.0
    }

    fn decoded_len(&self) -> u64 {
        self.0 - 4
    }

    fn codec(&self) -> Option<&str> {
        Some("inverted")
    }
}

fn main() -> Result<()> {
    let values: Vec<u8> = [1_f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut file = b"head".to_vec();
    Inverted.encode(&values, None, &mut file)?;
    let block = Body(file.len() as u64);
    let limits = Limits::default();
    assert!(read_block(&&file[..], &block, &Codecs::none(), &limits, 1).is_err());

    let mut codecs = Codecs::none();
    codecs.register(Inverted);
    let decoded = read_block(&&file[..], &block, &codecs, &limits, 1)?.into_owned();
    let array = Array::new(DType::parse("<f4")?, vec![3, 2], Order::C, decoded.into())?;
    let column = array.select(&Region::parse(":, 1", &[3, 2])?)?;
    assert_eq!(*column.elements::<f32>(Order::C, &limits)?, [2.0, 4.0, 6.0]);
    Ok(())
}
