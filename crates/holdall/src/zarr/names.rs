//! Names of the nodes of a group in a directory.

use std::collections::HashSet;

use container_core::{Error, Result};

use super::METADATA;

/// The place of each array, by its path: the steps are directories. An array's directory cannot be a group as well, so arrays below it are
/// placed next to it (`x/mask` as `x.mask`); steps that Zarr forbids are escaped as in URLs.
///
/// # Errors
/// `Unsupported` where two would share a place.
pub(super) fn places(paths: &[&str]) -> Result<Vec<String>> {
    let arrays: HashSet<&str> = paths.iter().copied().collect();
    let mut taken = HashSet::new();
    let mut places = Vec::with_capacity(paths.len());
    for path in paths {
        let mut place = String::new();
        let mut at = 0_usize;
        for step in path.split('/') {
            if at > 0 {
                let above = path.get(..at.saturating_sub(1)).unwrap_or_default();
                place.push(if arrays.contains(above) { '.' } else { '/' });
            }
            at += step.len() + 1;
            place.push_str(&escaped(step));
        }
        if !taken.insert(place.clone()) {
            let problem = format!("{path}: another array has the same name, {place}, in a Zarr group");
            return Err(Error::unsupported(problem).with_hint("FILE::PATH, one at a time"));
        }
        places.push(place);
    }
    if let Some(place) = places.iter().find(|place| is_below_another(place, &taken)) {
        return Err(Error::unsupported(format!("{place} is below another array of a Zarr group")));
    }
    Ok(places)
}

fn is_below_another(place: &str, arrays: &HashSet<String>) -> bool {
    place.match_indices('/').any(|(at, _)| place.get(..at).is_some_and(|above| arrays.contains(above)))
}

/// Escapes a step that is reserved or not a valid directory name.
fn escaped(step: &str) -> String {
    let step = step.replace('%', "%25").replace('\0', "%00").replace('\\', "%5C");
    match step.as_str() {
        "" => "%".into(),
        "." => "%2E".into(),
        ".." => "%2E.".into(),
        METADATA => "zarr%2Ejson".into(),
        _ if step.starts_with("__") => format!("%5F{}", &step[1..]),
        _ => step,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_steps_become_directories_and_array_children_siblings() {
        let places = places(&["a/b", "x", "x/mask", "", "../y", "__z", "a/zarr.json", "c/d%"]).unwrap();
        let expected = ["a/b", "x", "x.mask", "%", "%2E./y", "%5F_z", "a/zarr%2Ejson", "c/d%25"];
        assert_eq!(places, expected);
        assert!(super::places(&["x", "x/a", "x.a"]).is_err());
    }
}
