//! Values with new arrays in them.

use super::*;

/// Two new arrays, one of them twice and with a view of its second half.
fn value(plan: &mut Plan) -> Result<Yaml> {
    let number = plan.block_count();
    let first = plan.array(&spec(4))?;
    let half = plan.view(number, &spec(2), 2, None)?;
    let second = plan.array(&spec(3).encoded("zlib", Some(1))?)?;
    Ok(Yaml::mapping([
        ("first", Yaml::Anchored("one".into(), Box::new(first))),
        ("again", Yaml::Alias("one".into())),
        ("half", half),
        ("second", second),
    ]))
}

#[test]
fn a_value_with_arrays_is_set_at_once() {
    let place = Place::new(&file(WriteOptions::default()));
    let mut updater = place.open();
    updater.add_array("early", &spec(2), give(&[8, 9])).unwrap();
    let producers = || vec![give(&[1, 2, 3, 4]), give(&[5, 6, 7])];
    updater.set_with("text", |plan, _| Ok((value(plan)?, producers()))).unwrap();
    updater.commit().unwrap();
    drop(updater);
    let file = place.read();
    assert_eq!((file.blocks().len(), file.blocks()[4].label()), (5, Some("zlib")));
    for (path, expected) in [
        ("a", vec![1; 100]),
        ("early", vec![8, 9]),
        ("text/first", vec![1, 2, 3, 4]),
        ("text/again", vec![1, 2, 3, 4]),
        ("text/half", vec![3, 4]),
        ("text/second", vec![5, 6, 7]),
    ] {
        assert_eq!(values(&file, path), expected, "{path}");
    }
    let node = file.tree().find("text/again").unwrap();
    let by_node = file.arrays_by_node();
    assert_eq!(by_node[&node.target().id()], file.find_array("text/first").unwrap());
}

#[test]
fn a_value_that_cannot_be_set_leaves_no_array() {
    let old = file(WriteOptions::default());
    let place = Place::new(&old);
    let mut updater = place.open();
    let before = updater.tree().text().to_owned();
    let made = |plan: &mut Plan| Ok((value(plan)?, vec![give(&[1, 2, 3, 4]), give(&[5, 6, 7])]));
    assert!(updater.set_with("none/here", |plan, _| made(plan)).is_err());
    assert!(updater.set_with("text", |plan, _| Ok((value(plan)?, Vec::new()))).is_err());
    assert!(updater.set_with("text", |_, _| Ok((Yaml::Null, vec![give(b"x")]))).is_err());
    let streamed = |plan: &mut Plan| Ok((plan.streamed(&spec(0))?, vec![give(b"x")]));
    assert!(updater.set_with("text", |plan, _| streamed(plan)).is_err());
    assert_eq!(updater.tree().text(), before);
    assert_eq!(updater.commit().unwrap(), CommitKind::Unchanged);
    drop(updater);
    assert!(std::fs::read(place.path()).unwrap() == old);
}

/// A tree without blocks after it has no place of its own: the file ends with it.
#[test]
fn a_tree_that_is_the_same_again_is_not_written() {
    let mut bytes = Vec::new();
    let plan = Plan::new(WriteOptions::default());
    plan.start(Yaml::mapping([("text", Yaml::text("x"))]), &mut bytes).unwrap().finish().unwrap();
    let place = Place::new(&bytes);
    let mut updater = place.open();
    assert_eq!(updater.commit().unwrap(), CommitKind::Unchanged);
    updater.set("text", &Yaml::text("y")).unwrap();
    updater.set("text", &Yaml::text("x")).unwrap();
    assert_eq!(updater.commit().unwrap(), CommitKind::Unchanged);
    updater.set("text", &Yaml::text("y")).unwrap();
    assert_eq!(updater.commit().unwrap(), CommitKind::NewFile);
}

#[test]
fn codecs_are_selected_by_command_line_names() {
    assert_eq!(spec(1).encoded("blosc", Some(3)).unwrap().compression, Some(("blsc".into(), Some(3))));
    assert_eq!(spec(1).encoded("none", None).unwrap().compression, None);
    assert!(spec(1).encoded("blsc", None).is_err() && spec(1).encoded("none", Some(1)).is_err());
}
