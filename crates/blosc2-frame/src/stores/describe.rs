//! Description of a store: its kind, the attributes of its groups, its tables, and the descriptions of its leaves.

use container_core::container::{Container, Dataset};
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Result, Value, interchange};

use super::container::Store;
use super::ctable::{self, TableColumn};
use super::leaf::{EMBED, Leaf, Role};
use crate::dataset_view::DATASET;
use crate::metadata::interchange::OWN;

/// The name that the attributes of a group have.
const ATTRIBUTES: &str = "__vlmeta__";

/// Returns the details that `info` shows, at most one screen.
pub(crate) fn details(store: &Store) -> Vec<(String, Value)> {
    let counted = |role: Role| store.leaves.iter().filter(|leaf| leaf.role == role).count() as u64;
    let mut details = vec![
        ("store".to_owned(), Value::from(store.kind.name())),
        ("leaves".to_owned(), counted(Role::Data).into()),
    ];
    if let Some(kind) = marked(store) {
        details.push(("kind".to_owned(), kind.into()));
    }
    let groups = counted(Role::Attributes);
    if groups > 0 {
        details.push(("groups with attributes".to_owned(), groups.into()));
    }
    for (number, table) in store.tables.iter().enumerate() {
        let name = if table.root.is_empty() { "table".to_owned() } else { format!("table {}", table.root) };
        let columns = Value::from(table.column_count());
        let live = store.rows(number).ok().filter(|_| store.shows_tables());
        let rows = live.as_ref().map(|live| Value::from(live.count()));
        let rows = rows.or_else(|| table.rows().cloned()).unwrap_or(Value::Null);
        let mut entries = vec![("columns".to_owned(), columns), ("rows".to_owned(), rows)];
        if let Some(live) = live.filter(|live| live.deleted() > 0) {
            entries.push(("deleted".to_owned(), live.deleted().into()));
        }
        details.push((name, Value::Map(entries)));
    }
    if !store.references.is_empty() {
        details.push(("on servers".to_owned(), (store.references.len() as u64).into()));
    }
    details.extend(store.leaves.iter().filter_map(absent));
    let unreadable: Vec<Value> = store
        .leaves
        .iter()
        .filter_map(|leaf| Some(Value::from(format!("{}: {}", leaf.file, leaf.error()?))))
        .collect();
    if !unreadable.is_empty() {
        details.push(("unreadable".to_owned(), unreadable.into()));
    }
    details
}

/// Returns a leaf with values that are not in the store, and the reason.
fn absent(leaf: &Leaf) -> Option<(String, Value)> {
    let container = leaf.container().filter(|_| leaf.role == Role::Data)?;
    let error = container.absence(0, &Region::whole(&container.dataset(0)?.shape))?;
    Some((format!("values of {}", leaf.key), error.kind().to_string().into()))
}

/// Returns the name that python-blosc2 gives the store, by the mark in its EmbedStore.
fn marked(store: &Store) -> Option<&'static str> {
    let embed = store.leaf(EMBED).or_else(|| store.leaf(""))?;
    let meta = embed.container()?.meta().ok()?;
    let kinds = [("b2tree", "TreeStore"), ("b2dict", "DictStore"), ("b2embed", "EmbedStore")];
    let is_table = store.tables.iter().any(|table| table.root.is_empty());
    let kind = kinds.into_iter().find(|(mark, _)| meta.get(mark).is_some()).map(|(_, kind)| kind);
    if is_table { Some("CTable") } else { kind }
}

/// Returns the tree of metadata: of groups, tables and leaves, by key.
pub(crate) fn meta(store: &Store) -> Value {
    tree(store, |container| container.meta(), true)
}

/// Returns the tree without the parts that depend on how the store is kept.
pub(crate) fn logical_meta(store: &Store) -> Value {
    tree(store, |container| container.logical_meta(), false)
}

fn tree(store: &Store, meta: fn(&dyn Container) -> Result<Value>, embedded: bool) -> Value {
    let mut entries = Vec::new();
    let of = |leaf: &Leaf| match leaf.open() {
        Ok(container) => meta(&*container).unwrap_or_else(|error| format!("unreadable: {error}").into()),
        Err(error) => format!("unreadable: {}", leaf.error().unwrap_or(&error)).into(),
    };
    let mut put = |name: &str, found: Vec<(String, Value)>| {
        if !found.is_empty() {
            entries.push((name.to_owned(), Value::Map(found)));
        }
    };
    let with = |role: Role| store.leaves.iter().filter(move |leaf| leaf.role == role);
    let group = |leaf: &Leaf| {
        let group = leaf.key.strip_suffix(ATTRIBUTES).unwrap_or(&leaf.key);
        let own = attributes(leaf).unwrap_or_else(|| of(leaf));
        (format!("/{}", group.trim_end_matches('/')), own)
    };
    put("attributes", with(Role::Attributes).map(group).collect());
    let table =
        |table: &ctable::Table| (format!("/{}", table.root.trim_end_matches('/')), table.schema.clone());
    put("tables", store.tables.iter().map(table).collect());
    let slashed = |leaf: &Leaf| (format!("/{}", leaf.key), of(leaf));
    put("leaves", with(Role::Data).map(slashed).collect());
    if embedded {
        put("embedded", with(Role::Embed).map(slashed).collect());
    }
    let reference = |(key, place): &(String, String)| (format!("/{key}"), Value::from(place.as_str()));
    put("references", store.references.iter().map(reference).collect());
    Value::Map(entries)
}

/// Returns the attributes that a leaf holds for its group.
fn attributes(leaf: &Leaf) -> Option<Value> {
    let meta = leaf.container()?.meta().ok()?;
    Some(meta.get("vlmeta").cloned().unwrap_or_else(|| Value::Map(Vec::new())))
}

/// Adds the store's metadata of a dataset, in addition to those of the frame itself.
pub(crate) fn add_attributes(store: &Store, leaf: &Leaf, is_column: bool, dataset: &mut Dataset) {
    if let Some(column) = ctable::column(&store.tables, &leaf.key).filter(|_| !is_column) {
        dataset.attributes.push(("column".to_owned(), column.name.into()));
        dataset.attributes.push(("holds".to_owned(), column.holds.into()));
        if let Some(kind) = column.kind {
            dataset.attributes.push(("kind".to_owned(), kind.into()));
        }
    }
    let own = store.leaf(&format!("{}/{ATTRIBUTES}", leaf.key)).and_then(attributes);
    if let Some(Value::Map(own)) = own {
        dataset.attributes.extend(own);
    }
}

/// Returns the metadata that go with selected datasets: those of the one leaf that they are from, or of each leaf below its path;
/// and the attributes of groups.
pub(crate) fn carried(store: &Store, selection: &[(usize, Region)]) -> Result<Value> {
    let places: Option<Vec<(usize, (usize, Region))>> = selection
        .iter()
        .map(|(index, region)| store.place(*index).map(|(leaf, own)| (leaf, (own, region.clone()))))
        .collect();
    let places = places.unwrap_or_default();
    let mut leaves: Vec<usize> = places.iter().map(|(leaf, _)| *leaf).collect();
    leaves.dedup();
    let of_leaf = |at: usize| -> Result<Value> {
        let own: Vec<_> = places.iter().filter(|(leaf, _)| *leaf == at).map(|(_, own)| own.clone()).collect();
        // Metadata of the items of a column do not apply to its texts.
        let is_of_items = store.columns.get(&at).is_some_and(TableColumn::is_of_items);
        match store.leaves.get(at).and_then(Leaf::container) {
            Some(container) if !is_of_items => container.export_metadata(&own),
            _ => Ok(Value::Map(Vec::new())),
        }
    };
    let (mut entries, mut own) = (Vec::new(), Vec::new());
    if let [only] = leaves.as_slice() {
        entries = interchange::entries(&of_leaf(*only)?).to_vec();
    } else {
        let mut told = Vec::new();
        for at in leaves {
            let tree = of_leaf(at)?;
            let key = store.leaves.get(at).map_or("", |leaf| leaf.key.as_str());
            if !interchange::entries(&tree).is_empty() {
                told.push((format!("/{key}"), tree));
            }
        }
        if !told.is_empty() {
            own.push(("leaves".to_owned(), Value::Map(told)));
        }
    }
    let groups: Vec<(String, Value)> = store
        .leaves
        .iter()
        .filter(|leaf| leaf.role == Role::Attributes)
        .filter_map(|leaf| {
            let group = leaf.key.strip_suffix(ATTRIBUTES).unwrap_or(&leaf.key);
            Some((format!("/{}", group.trim_end_matches('/')), leaf.container()?.export_metadata(&[]).ok()?))
        })
        .collect();
    if !groups.is_empty() {
        own.push(("attributes".to_owned(), Value::Map(groups)));
    }
    if !own.is_empty() && !entries.iter().any(|(key, _)| key == OWN) {
        entries.push((OWN.to_owned(), Value::Map(own)));
    }
    Ok(Value::Map(entries))
}

/// Losses that are neither in values nor in carried metadata.
pub(crate) fn unexported_metadata(store: &Store, selection: &[(usize, Region)]) -> Vec<Loss> {
    let selected: Vec<usize> = selection.iter().map(|(index, _)| *index).collect();
    let mut all = ctable::left_out(store, Some(&selected));
    all.extend(store_losses(store));
    let is_carried = |what: &str| {
        ["attributes of the group ", "metalayers: ", "user metadata: "]
            .iter()
            .any(|own| what.starts_with(own))
    };
    all.retain(|loss| !is_carried(&loss.what));
    all
}

/// Losses of a bare array.
pub(crate) fn losses(store: &Store) -> Vec<Loss> {
    let mut losses = ctable::left_out(store, None);
    losses.extend(store_losses(store));
    losses
}

fn store_losses(store: &Store) -> Vec<Loss> {
    let mut losses = Vec::new();
    for leaf in &store.leaves {
        match (leaf.role, leaf.container()) {
            (Role::Attributes, _) => {
                let group = leaf.key.strip_suffix(ATTRIBUTES).unwrap_or(&leaf.key);
                let what = format!("attributes of the group /{}", group.trim_end_matches('/'));
                losses.push(Loss { dataset: None, what });
            }
            // The schema is named below, and indexes are of python-blosc2's own making.
            (Role::Data, _) if ctable::is_own(&store.tables, &leaf.key) => {}
            // The columns have their values, and parts that are not decoded are marked as such.
            (Role::Data, _) if store.shows_tables() && ctable::is_of_column(&store.tables, &leaf.key) => {}
            (Role::Data, Some(container)) => losses.extend(container.losses().into_iter().map(|loss| {
                let own = loss.dataset.as_deref().unwrap_or(DATASET);
                Loss { dataset: Some(super::container::path_of(&leaf.key, own)), what: loss.what }
            })),
            _ => {}
        }
    }
    for table in &store.tables {
        losses.push(Loss { dataset: None, what: format!("the schema of the table /{}", table.root) });
    }
    for (key, _) in &store.references {
        losses.push(Loss { dataset: None, what: format!("/{key}, whose values are on a server") });
    }
    losses
}
