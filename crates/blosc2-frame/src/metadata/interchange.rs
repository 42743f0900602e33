//! User metadata on their way to and from other formats: an entry for each piece, those within `attrs` among them, and the fixed metalayers
//! but for those of arrays together under `blosc2`.

use container_core::container::Tolerance;
use container_core::interchange::{self, Forms};
use container_core::{Error, Result, Value};

use crate::absent_values;
use crate::attributes::{self, NAME as ATTRS};
use crate::b2nd;
use crate::frame::Frame;
use crate::metadata::{self, CHECKSUMS};
use crate::metalayer::{MAX_METALAYERS, MAX_NAME, Metalayers};
use crate::msgpack;
use crate::tensor::Tensor;

/// Key of what is the format's own.
pub(crate) const OWN: &str = "blosc2";

/// Key of fixed metalayers below it.
const FIXED: &str = "metalayers";

/// Named msgpack.
pub(crate) type Chunks = attributes::Entries;

/// Collects the carried metadata of a frame.
///
/// # Errors
/// Those of a piece that cannot be read, digests among them unless `tolerance` is lenient; `Unsupported` where names clash.
pub(crate) fn of_frame(frame: &Frame, tolerance: Tolerance) -> Result<Value> {
    let limits = &frame.options().limits;
    // The target has the values themselves.
    let is_left = |name: &str| {
        (frame.absence().is_some() && absent_values::is_of_stand_in(name))
            || Tensor::is_described_by(frame, name)
    };
    let pieces = metadata::pieces(frame, tolerance)?.into_iter().filter(|(name, _)| !is_left(name));
    let mut pieces = pieces.map(|(name, read)| Ok((name.to_owned(), read?))).collect::<Result<Chunks>>()?;
    if let Some(at) = pieces.iter().position(|(name, _)| name == ATTRS) {
        let (_, bytes) = &pieces[at];
        if let Some(within) = attributes::entries(bytes).filter(|within| is_of_the_others(&pieces, within)) {
            pieces.remove(at);
            pieces.extend(within);
        }
    }
    let carried = |(name, bytes): (String, Vec<u8>)| Ok((name, msgpack::to_interchange(&bytes, limits)?));
    let mut entries = pieces.into_iter().map(carried).collect::<Result<Vec<_>>>()?;
    let mut fixed = Vec::new();
    for (name, bytes) in frame.metalayers().iter().filter(|(name, _)| !is_of_array(name) && !is_left(name)) {
        fixed.push((name.to_owned(), msgpack::to_interchange(bytes, limits)?));
    }
    if !fixed.is_empty() {
        if entries.iter().any(|(name, _)| name == OWN) {
            return Err(Error::unsupported(format!("user metadata called {OWN:?} beside fixed metalayers")));
        }
        entries.push((OWN.to_owned(), Value::Map(vec![(FIXED.to_owned(), Value::Map(fixed))])));
    }
    let tree = interchange::escape_reserved(Value::Map(entries), Forms::Known);
    Ok(interchange::unescape_top(interchange::from_json_value(tree)))
}

pub(crate) fn is_of_array(name: &str) -> bool {
    name == b2nd::NAME || name == b2nd::OLD_NAME
}

/// Whether `attrs`, with the entries `within`, holds pieces that had no place among the others.
fn is_of_the_others(pieces: &Chunks, within: &Chunks) -> bool {
    let own: Vec<&str> = pieces.iter().map(|(name, _)| name.as_str()).filter(|name| *name != ATTRS).collect();
    let within: Vec<&str> = within.iter().map(|(name, _)| name.as_str()).collect();
    attributes::is_of_the_others(&own, &within)
}

/// Returns metadata of another format as fixed metalayers and pieces of user metadata: as many as there is room for, the rest in `attrs`.
/// One place is left free if `has_digests`.
pub(crate) fn to_frame(mut tree: Value, metalayers: &mut Metalayers, has_digests: bool) -> Result<Chunks> {
    if let Some(fixed) = fixed(&tree) {
        for (name, value) in &fixed {
            metalayers.set(name, msgpack::from_interchange(value)?)?;
        }
        tree = interchange::remove_key(tree, OWN);
    }
    let places = MAX_METALAYERS.saturating_sub(usize::from(has_digests));
    let plain = interchange::escape_top(tree.clone(), &|name, _| name == CHECKSUMS);
    let entries = interchange::entries(&plain);
    if entries.len() <= places && entries.iter().all(|(name, _)| attributes::has_place(name)) {
        let pieces =
            entries.iter().map(|(name, value)| Ok((name.clone(), msgpack::from_interchange(value)?)));
        let pieces = pieces.collect::<Result<Chunks>>()?;
        // One called `attrs` that would be taken for the place of others is not written as it is.
        let attrs = pieces.iter().find(|(name, _)| name == ATTRS).and_then(|(_, it)| attributes::entries(it));
        if attrs.is_none_or(|within| !is_of_the_others(&pieces, &within)) {
            return Ok(pieces);
        }
    }
    let tree = interchange::escape_top(tree, &|name, _| name == ATTRS || name == CHECKSUMS);
    let mut own = Chunks::new();
    let mut within = Chunks::new();
    for (name, value) in interchange::entries(&tree) {
        let value = msgpack::from_interchange(value)?;
        let is_own = attributes::has_place(name) && own.len() < places.saturating_sub(1);
        if is_own { &mut own } else { &mut within }.push((name.clone(), value));
    }
    if !within.is_empty() {
        own.push((ATTRS.to_owned(), attributes::map(&within)?));
    }
    Ok(own)
}

/// Returns fixed metalayers that came from a frame, and fit into one.
fn fixed(tree: &Value) -> Option<Vec<(String, Value)>> {
    let own = interchange::entries(tree.get(OWN)?);
    let [(key, Value::Map(fixed))] = own else { return None };
    let fits = |name: &str| (1..=MAX_NAME).contains(&name.len()) && !is_of_array(name);
    let all = key == FIXED && fixed.len() < MAX_METALAYERS && fixed.iter().all(|(name, _)| fits(name));
    all.then(|| fixed.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameOptions;
    use crate::writer::Writer;

    /// Returns the carried metadata of a frame with these pieces, the pieces, and those that another frame gets of it.
    fn there_and_back(pieces: &[(&str, Value)]) -> (Value, Chunks, Chunks) {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, FrameOptions::default()).unwrap();
        let mut own = Chunks::new();
        for (name, value) in pieces {
            let value = msgpack::from_interchange(value).unwrap();
            writer.set_vlmetalayer(name, &value).unwrap();
            own.push(((*name).to_owned(), value));
        }
        writer.finish().unwrap();
        let tree = of_frame(&Frame::from_bytes(out).unwrap(), Tolerance::Strict).unwrap();
        let back = to_frame(tree.clone(), &mut Metalayers::new(), false).unwrap();
        (tree, own, back)
    }

    fn map(names: &[&str]) -> Value {
        Value::Map(
            names.iter().zip(90..).map(|(name, value)| ((*name).to_owned(), Value::Int(value))).collect(),
        )
    }

    /// An unrelated piece of that name: it has no effect on other pieces, and does not hold any.
    #[test]
    fn a_piece_called_attrs_stays_what_it_is() {
        let one = || ("k", Value::Int(1));
        for attrs in [
            map(&["k", "z"]),
            map(&["z"]),
            map(&[]),
            Value::Int(5),
            Value::List(vec![Value::Int(1)]),
            map(&["a name of more than thirty-one bytes", "k"]),
        ] {
            let (tree, own, back) = there_and_back(&[one(), (ATTRS, attrs.clone())]);
            assert_eq!((tree.get("k"), tree.get(ATTRS)), (Some(&Value::Int(1)), Some(&attrs)), "{tree:?}");
            assert_eq!(own, back, "{attrs:?}");
        }
        // A map that would be read as the place of others is put aside, and comes back from there.
        let attrs = map(&["a name of more than thirty-one bytes"]);
        let tree = Value::Map(vec![(ATTRS.to_owned(), attrs.clone())]);
        let pieces = to_frame(tree.clone(), &mut Metalayers::new(), false).unwrap();
        assert!(pieces.iter().all(|(name, _)| name != ATTRS), "{pieces:?}");
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, FrameOptions::default()).unwrap();
        pieces.iter().for_each(|(name, value)| writer.set_vlmetalayer(name, value).unwrap());
        writer.finish().unwrap();
        assert_eq!(of_frame(&Frame::from_bytes(out).unwrap(), Tolerance::Strict).unwrap(), tree);
    }

    /// As many as C-Blosc2 allows come back in their places; those that were put within `attrs` are next to the others elsewhere.
    #[test]
    fn sixteen_pieces_and_those_within_attrs_come_back() {
        let names: Vec<String> = (0..16).map(|number| format!("piece {number}")).collect();
        let pieces: Vec<(&str, Value)> = names.iter().map(|name| (name.as_str(), Value::Int(1))).collect();
        let (tree, own, back) = there_and_back(&pieces);
        assert_eq!((interchange::entries(&tree).len(), own), (16, back));
        let mut full = pieces[..15].to_vec();
        full.push((ATTRS, map(&["more", "a name of more than thirty-one bytes"])));
        let (tree, own, back) = there_and_back(&full);
        assert_eq!((interchange::entries(&tree).len(), own), (17, back));
        assert_eq!(tree.get("more"), Some(&Value::Int(90)));
        let few = to_frame(tree, &mut Metalayers::new(), true).unwrap();
        assert_eq!(few.len(), 15);
    }
}
