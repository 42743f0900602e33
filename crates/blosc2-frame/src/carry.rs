//! User metadata on their way to and from other formats: an entry for each piece, those within `attrs` among them, and the fixed metalayers
//! but for those of arrays together under `blosc2`.

use container_core::carried::{self, Forms};
use container_core::{Error, Result, Value};

use crate::attributes::{self, NAME as ATTRS};
use crate::b2nd;
use crate::frame::Frame;
use crate::metadata::CHECKSUMS;
use crate::metalayer::{MOST, MOST_NAME, Metalayers};
use crate::msgpack;

/// Key of what is the format's own.
pub(crate) const OWN: &str = "blosc2";

/// Key of fixed metalayers below it.
const FIXED: &str = "metalayers";

/// Named msgpack.
pub(crate) type Pieces = Vec<(String, Vec<u8>)>;

/// What a frame carries.
pub(crate) fn of_frame(frame: &Frame) -> Result<Value> {
    let limits = &frame.options().limits;
    let value = |_: &str, bytes: &[u8]| msgpack::to_carried(bytes, limits);
    let mut entries = frame.attributes_as(&value)?;
    entries.retain(|(name, _)| name != CHECKSUMS);
    let mut fixed = Vec::new();
    for (name, bytes) in frame.metalayers().iter().filter(|(name, _)| !is_of_array(name)) {
        fixed.push((name.to_owned(), msgpack::to_carried(bytes, limits)?));
    }
    if !fixed.is_empty() {
        if entries.iter().any(|(name, _)| name == OWN) {
            return Err(Error::unsupported(format!("user metadata called {OWN:?} beside fixed metalayers")));
        }
        entries.push((OWN.to_owned(), Value::Map(vec![(FIXED.to_owned(), Value::Map(fixed))])));
    }
    let tree = carried::guarded(Value::Map(entries), Forms::Known);
    Ok(carried::joined(carried::from_json_value(tree)))
}

pub(crate) fn is_of_array(name: &str) -> bool {
    name == b2nd::NAME || name == b2nd::OLD_NAME
}

/// Metadata of another format as fixed metalayers and pieces of user metadata: as many as there is room for, the rest in `attrs`.
pub(crate) fn to_frame(mut tree: Value, metalayers: &mut Metalayers) -> Result<Pieces> {
    if let Some(fixed) = fixed(&tree) {
        for (name, value) in &fixed {
            metalayers.set(name, msgpack::from_carried(value)?)?;
        }
        tree = carried::without(tree, OWN);
    }
    let tree = carried::set_aside(tree, &|name, _| name == ATTRS || name == CHECKSUMS);
    let mut own: Pieces = Vec::new();
    let mut within: Pieces = Vec::new();
    let entries = carried::entries(&tree);
    let fits = |name: &str| (1..=MOST_NAME).contains(&name.len()) && !name.contains('\0');
    // One place is for digests, and one for `attrs` where it is needed.
    let all_fit = entries.len() < MOST && entries.iter().all(|(name, _)| fits(name));
    let room = if all_fit { MOST - 1 } else { MOST - 2 };
    for (name, value) in entries {
        let value = msgpack::from_carried(value)?;
        let into = if fits(name) && own.len() < room { &mut own } else { &mut within };
        into.push((name.clone(), value));
    }
    if !within.is_empty() {
        own.push((ATTRS.to_owned(), attributes::map(&within)?));
    }
    Ok(own)
}

/// Fixed metalayers that came from a frame, and fit into one.
fn fixed(tree: &Value) -> Option<Vec<(String, Value)>> {
    let own = carried::entries(tree.get(OWN)?);
    let [(key, Value::Map(fixed))] = own else { return None };
    let fits = |name: &str| (1..=MOST_NAME).contains(&name.len()) && !is_of_array(name);
    let all = key == FIXED && fixed.len() < MOST && fixed.iter().all(|(name, _)| fits(name));
    all.then(|| fixed.clone())
}
