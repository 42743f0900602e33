//! CTable: a table of columns, each a leaf of its own, as python-blosc2 stores it. Its columns are shown as python-blosc2 shows them
//! ([`column::TableColumn`]), unless the store is opened with `Defaults::StoredOnly`.
//!
//! Below the root of a table, `_meta` has in its user metadata `kind` "ctable" and the `schema` as JSON text. `_valid_rows` flags the
//! live rows. `_cols/<name>` holds a column, whose name is a path of percent-encoded parts. Columns of text have their bytes in
//! `<name>.utf8` next to the offsets of their ends, dictionary columns their values in `<name>_dict` next to the codes, and columns
//! with missing values a mask in `<name>.notnull`.

use std::collections::HashMap;

use container_core::report::Loss;
use container_core::{Result, Value};

use super::container::{Store, path_of};
use super::leaf::{Leaf, Role};
use crate::dataset_view::DATASET;
use crate::msgpack;

mod column;
mod live_rows;
mod nulls;
#[cfg(test)]
mod read_tests;
mod strings;

pub(crate) use column::TableColumn;
pub(crate) use live_rows::Rows;
pub(crate) use strings::Texts;

const META: &str = "_meta";
const COLUMNS: &str = "_cols/";
const LIVE_ROWS: &str = "_valid_rows";

/// Versions of schemas that python-blosc2 4.14.1 reads.
const SCHEMA_VERSIONS: std::ops::RangeInclusive<i128> = 1..=3;

/// A table in a store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    /// The key of its root with a slash after it; empty if the store is the table.
    pub(crate) root: String,
    /// Its schema, decoded.
    pub(crate) schema: Value,
}

/// A leaf as part of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// The name, nested names joined by dots, with a backslash before dots and slashes that are part of a name.
    pub(crate) name: String,
    /// Content of the leaf, within its column.
    pub(crate) holds: &'static str,
    /// The kind of the column in the schema.
    pub(crate) kind: Option<String>,
    /// Whether the leaf holds a part of the column, next to the one of the column's name.
    pub(crate) is_part: bool,
}

/// Finds the tables whose metadata are among these leaves. Where the metadata cannot be read, leaves of columns beside them make a table without
/// a schema, which is not decoded.
///
/// # Errors
/// Those of the source.
pub(crate) fn find(leaves: &[Leaf]) -> Result<Vec<Table>> {
    let has_columns = |root: &str| {
        let of_root = |leaf: &Leaf| leaf.key.strip_prefix(root).is_some_and(|key| key.starts_with(COLUMNS));
        leaves.iter().any(of_root)
    };
    let mut tables = Vec::new();
    for leaf in leaves {
        let root = leaf.key.strip_suffix(META).filter(|root| root.is_empty() || root.ends_with('/'));
        let Some(root) = root.map(str::to_owned) else { continue };
        let Ok(meta) = leaf.place.keep(leaf.open().and_then(|container| container.meta()))? else {
            if has_columns(&root) {
                tables.push(Table { root, schema: Value::Null });
            }
            continue;
        };
        let Some(user) = meta.get("vlmeta") else { continue };
        if user.get("kind") != Some(&Value::from("ctable")) {
            continue;
        }
        let schema = match user.get("schema") {
            // Python writes NaN, which is not JSON.
            Some(Value::Text(text)) => {
                msgpack::parse_python_json(text).unwrap_or_else(|| text.as_str().into())
            }
            schema => schema.cloned().unwrap_or(Value::Null),
        };
        tables.push(Table { root, schema });
    }
    Ok(tables)
}

/// Finds the columns of the tables by their leaves. `keys` are those of `leaves`.
pub(crate) fn columns(
    tables: &[Table],
    leaves: &[Leaf],
    keys: &HashMap<String, usize>,
) -> HashMap<usize, TableColumn> {
    let mut columns = HashMap::new();
    for (number, table) in tables.iter().enumerate() {
        if let Some(why) = table.refusal() {
            let is_open = |leaf: &Leaf| leaf.role == Role::Data && leaf.error().is_none();
            for (at, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| is_open(leaf)) {
                if let Some(own) =
                    leaf.key.strip_prefix(&table.root).and_then(|own| own.strip_prefix(COLUMNS))
                {
                    columns.insert(at, TableColumn::undecoded(number, &column_name(own), leaf, &why));
                }
            }
            continue;
        }
        for spec in table.columns() {
            let Some(Value::Text(name)) = spec.get("name") else { continue };
            let key = format!("{}{}", table.root, column_key(name));
            let Some((at, leaf)) = keys.get(&key).and_then(|at| Some((*at, leaves.get(*at)?))) else {
                continue;
            };
            if leaf.role == Role::Data && leaf.error().is_none() {
                columns.insert(at, TableColumn::new(number, name, spec, (&key, leaf), keys));
            }
        }
    }
    columns
}

/// False for leaves that only serve a table: its metadata, which are shown elsewhere, and its indexes.
pub(crate) fn is_listed(tables: &[Table], key: &str) -> bool {
    let serves = |own: &str| own == META || own == "_vlmeta" || own.starts_with("_indexes/");
    !tables.iter().any(|table| key.strip_prefix(&table.root).is_some_and(serves))
}

/// Whether a leaf is the metadata or an index of a table.
pub(crate) fn is_own(tables: &[Table], key: &str) -> bool {
    let is_own = |own: &str| own == META || own.starts_with("_indexes/");
    tables.iter().any(|table| key.strip_prefix(&table.root).is_some_and(is_own))
}

/// Whether a leaf is a column, or a part of one.
pub(crate) fn is_of_column(tables: &[Table], key: &str) -> bool {
    column(tables, key).is_some_and(|column| column.kind.is_some())
}

/// Whether a leaf is a part of columns that are shown with it: flags of rows and of nulls, bytes of texts, dictionaries.
pub(crate) fn is_part(tables: &[Table], key: &str) -> bool {
    let flags = |table: &Table| key.strip_prefix(&table.root) == Some(LIVE_ROWS);
    let is_part = |column: Column| column.kind.is_some() && column.is_part;
    tables.iter().any(flags) || column(tables, key).is_some_and(is_part)
}

/// Notices about tables: rows and columns that are not shown.
pub(crate) fn notices(store: &Store) -> Vec<String> {
    let mut notices = Vec::new();
    for (number, table) in store.tables.iter().enumerate().filter(|_| store.shows_tables()) {
        let of = if table.root.is_empty() { String::new() } else { format!("table {}: ", table.root) };
        if let Some(deleted) = deleted_rows(store, number) {
            notices.push(format!("{of}{deleted} and left out (--stored shows all rows)"));
        }
        let refused = undecoded_columns(store, number);
        if !refused.is_empty() {
            let all: Vec<String> = refused.iter().map(|(_, name, why)| format!("{name} ({why})")).collect();
            notices.push(format!("{of}columns that are not decoded: {}", all.join(", ")));
        }
        if let Some(Value::List(computed)) = table.schema.get("computed_columns") {
            let name = |column: &Value| match column.get("name") {
                Some(Value::Text(name)) => Some(name.clone()),
                _ => None,
            };
            let names: Vec<String> = computed.iter().filter_map(name).collect();
            if !names.is_empty() {
                notices.push(format!(
                    "{of}columns that python-blosc2 computes, not in the file: {}",
                    names.join(", ")
                ));
            }
        }
    }
    notices
}

/// Rows and columns that a conversion of these datasets leaves out, each once.
pub(crate) fn left_out(store: &Store, selection: Option<&[usize]>) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (number, table) in store.tables.iter().enumerate().filter(|_| store.shows_tables()) {
        let is_of_table =
            |index: &usize| store.column_of(*index).is_some_and(|column| column.table == number);
        if selection.is_some_and(|selection| !selection.iter().any(is_of_table)) {
            continue;
        }
        if let Some(deleted) = deleted_rows(store, number) {
            losses.push(Loss {
                dataset: None,
                what: format!("{deleted} in the table /{}, and left out", table.root),
            });
        }
        // Whoever takes one column does not want another.
        if selection.is_some_and(|selection| selection.len() > 1) {
            losses.extend(undecoded_columns(store, number).into_iter().map(|(key, _, why)| Loss {
                dataset: Some(path_of(key, DATASET)),
                what: format!("a column that is not decoded: {why}"),
            }));
        }
    }
    losses
}

fn deleted_rows(store: &Store, table: usize) -> Option<String> {
    let rows = store.rows(table).ok()?;
    let verb = if rows.deleted() == 1 { "is" } else { "are" };
    (rows.deleted() > 0).then(|| format!("{} of {} rows {verb} deleted", rows.deleted(), rows.end()))
}

/// Returns key, name and reason of columns that are not decoded, in the order of their keys.
fn undecoded_columns(store: &Store, table: usize) -> Vec<(&str, &str, &str)> {
    let columns = store.columns.iter().filter(|(_, column)| column.table == table);
    let mut refused: Vec<_> = columns
        .filter_map(|(at, column)| {
            let (name, why) = column.refusal()?;
            Some((store.leaves.get(*at)?.key.as_str(), name, why))
        })
        .collect();
    refused.sort_unstable();
    refused
}

/// Returns the part of a column that a key names.
pub(crate) fn column(tables: &[Table], key: &str) -> Option<Column> {
    let (table, own) = tables.iter().find_map(|table| {
        let own = key.strip_prefix(&table.root)?.strip_prefix(COLUMNS)?;
        Some((table, own))
    })?;
    // Names have no plain dot; one begins a companion. That a name ends in _dict is seen by the schema.
    let (path, holds) = match own.rsplit_once('.') {
        Some((path, "utf8")) => (path, "bytes"),
        Some((path, "notnull")) => (path, "validity"),
        _ => (own, "values"),
    };
    let known = |path: &str| {
        let name = column_name(path);
        let kind = table.kind_of(&name)?;
        Some((name, kind))
    };
    if let Some((name, kind)) = known(path) {
        let holds = match (holds, kind.as_str()) {
            ("values", "utf8") => "offsets",
            ("values", "dictionary") => "codes",
            _ => holds,
        };
        return Some(Column { name, holds, kind: Some(kind), is_part: path != own });
    }
    if let Some((name, kind)) = path.strip_suffix("_dict").and_then(known) {
        return Some(Column { name, holds: "dictionary", kind: Some(kind), is_part: true });
    }
    Some(Column { name: column_name(path), holds, kind: None, is_part: path != own })
}

/// Returns the key of the values of a column of a table that is the whole store.
pub(crate) fn column_key(name: &str) -> String {
    let mut key = COLUMNS.to_owned();
    let mut characters = name.chars();
    while let Some(c) = characters.next() {
        match c {
            '.' => key.push('/'),
            // A backslash makes the next one part of the name.
            '\\' => encode(characters.next().unwrap_or('\\'), &mut key),
            other => encode(other, &mut key),
        }
    }
    key
}

/// Returns the name of a column by the path that python-blosc2 makes of it.
pub(crate) fn column_name(path: &str) -> String {
    let part = |part: &str| {
        let mut name = String::new();
        for c in decode(part).chars() {
            if matches!(c, '\\' | '.' | '/') {
                name.push('\\');
            }
            name.push(c);
        }
        name
    };
    path.split('/').map(part).collect::<Vec<_>>().join(".")
}

const ENCODED: [(char, &str); 4] = [('%', "%25"), ('/', "%2F"), ('.', "%2E"), ('\\', "%5C")];

fn encode(c: char, key: &mut String) {
    match ENCODED.iter().find(|(own, _)| *own == c) {
        Some((_, encoded)) => key.push_str(encoded),
        None => key.push(c),
    }
}

/// Takes back the four encodings that python-blosc2 makes; anything else stays as it is.
fn decode(part: &str) -> String {
    let mut name = String::new();
    let mut rest = part;
    while let Some(c) = rest.chars().next() {
        let known = ENCODED.iter().find(|(_, encoded)| rest.starts_with(encoded));
        let (c, len) = known.map_or((c, c.len_utf8()), |(own, encoded)| (*own, encoded.len()));
        name.push(c);
        rest = rest.get(len..).unwrap_or_default();
    }
    name
}

impl Table {
    /// Returns the key of the flags of its rows.
    pub(crate) fn live_rows_key(&self) -> String {
        format!("{}{LIVE_ROWS}", self.root)
    }

    /// Returns the reason why none of its columns is decoded, if so.
    fn refusal(&self) -> Option<String> {
        match (self.schema.get("columns"), self.schema.get("version")) {
            (Some(Value::List(_)), None) => None,
            (Some(Value::List(_)), Some(Value::Int(version))) if SCHEMA_VERSIONS.contains(version) => None,
            (Some(Value::List(_)), Some(Value::Int(version))) => Some(format!(
                "unsupported schema version {version} (expected 1 to {})",
                SCHEMA_VERSIONS.end()
            )),
            _ => Some("the schema of its table cannot be read".to_owned()),
        }
    }

    /// Returns the number of rows by the schema.
    pub(crate) fn rows(&self) -> Option<&Value> {
        self.schema.get("n_rows")
    }

    fn columns(&self) -> &[Value] {
        match self.schema.get("columns") {
            Some(Value::List(columns)) => columns,
            _ => &[],
        }
    }

    /// Returns the number of columns in the schema.
    pub(crate) fn column_count(&self) -> u64 {
        self.columns().len() as u64
    }

    fn kind_of(&self, name: &str) -> Option<String> {
        let named = |column: &&Value| matches!(column.get("name"), Some(Value::Text(own)) if own == name);
        match self.columns().iter().find(named)?.get("kind") {
            Some(Value::Text(kind)) => Some(kind.clone()),
            _ => Some(String::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_are_paths_and_back() {
        // By _column_name_to_relpath of python-blosc2 4.14.1.
        for (name, path) in [
            ("a", "a"),
            ("a.b.c", "a/b/c"),
            ("a\\.b.c", "a%2Eb/c"),
            ("x%y", "x%25y"),
            ("d\\/e", "d%2Fe"),
            ("f\\\\g", "f%5Cg"),
            ("größe", "größe"),
        ] {
            assert_eq!(column_key(name), format!("_cols/{path}"), "{name}");
            assert_eq!(column_name(path), name, "{path}");
        }
        assert_eq!(column_name("50%"), "50%");
    }

    #[test]
    fn schema_determines_the_role_of_each_column_leaf() {
        let column_of = |name: &str, kind: &str| {
            Value::Map(vec![("name".into(), name.into()), ("kind".into(), kind.into())])
        };
        let columns =
            vec![column_of("n", "utf8"), column_of("c", "dictionary"), column_of("x_dict", "int64")];
        let schema = Value::Map(vec![("columns".into(), columns.into()), ("n_rows".into(), 5_u64.into())]);
        let tables = [Table { root: "t/".into(), schema }];
        let holds = |key: &str| column(&tables, key).map(|column| (column.name, column.holds));
        let own = |name: &str, holds| Some((name.to_owned(), holds));
        assert_eq!(holds("t/_cols/n"), own("n", "offsets"));
        assert_eq!(holds("t/_cols/n.utf8"), own("n", "bytes"));
        assert_eq!(holds("t/_cols/n.notnull"), own("n", "validity"));
        assert_eq!(holds("t/_cols/c"), own("c", "codes"));
        assert_eq!(holds("t/_cols/c_dict"), own("c", "dictionary"));
        assert_eq!(holds("t/_cols/x_dict"), own("x_dict", "values"));
        assert_eq!(holds("_cols/n"), None);
        assert!(!is_listed(&tables, "t/_meta") && !is_listed(&tables, "t/_indexes/n/summary"));
        assert!(is_listed(&tables, "_meta") && is_listed(&tables, "t/_cols/n"));
    }
}
