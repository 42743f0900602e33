//! CTable: a table of columns, each a leaf of its own, as python-blosc2 keeps it in a store.
//!
//! Below the root of a table, `_meta` has in its user metadata `kind` "ctable" and the `schema` as JSON text; `_valid_rows` says which
//! rows are there; `_cols/<name>` holds a column, whose name is a path of percent-encoded parts. Columns of text have their bytes in
//! `<name>.utf8` beside the offsets of their ends, dictionary columns their values in `<name>_dict` beside the codes, and columns with
//! missing values a mask in `<name>.notnull`.

use container_core::Value;

use super::leaf::Leaf;

const META: &str = "_meta";
const COLUMNS: &str = "_cols/";

/// A table in a store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    /// The key of its root with a slash behind; empty where the store is the table.
    pub(crate) root: String,
    /// Its schema, decoded.
    pub(crate) schema: Value,
}

/// A leaf as part of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// The name, nested names joined by dots, with a backslash before dots and slashes that are part of a name.
    pub(crate) name: String,
    /// What of the column the leaf holds.
    pub(crate) holds: &'static str,
    /// The kind that the schema gives the column.
    pub(crate) kind: Option<String>,
}

/// The tables whose metadata are among these leaves.
pub(crate) fn find(leaves: &[Leaf]) -> Vec<Table> {
    let table = |leaf: &Leaf| {
        let root = leaf.key.strip_suffix(META).filter(|root| root.is_empty() || root.ends_with('/'))?;
        let meta = leaf.lens()?.meta().ok()?;
        let user = meta.get("vlmeta")?;
        (user.get("kind") == Some(&Value::from("ctable"))).then(|| Table {
            root: root.to_owned(),
            schema: user.get("schema").cloned().unwrap_or(Value::Null),
        })
    };
    leaves.iter().filter_map(table).collect()
}

/// False for what only serves a table: its metadata, which are told elsewhere, and its indexes.
pub(crate) fn is_listed(tables: &[Table], key: &str) -> bool {
    let serves = |own: &str| own == META || own == "_vlmeta" || own.starts_with("_indexes/");
    !tables.iter().any(|table| key.strip_prefix(&table.root).is_some_and(serves))
}

/// The part of a column that a key names.
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
        return Some(Column { name, holds, kind: Some(kind) });
    }
    if let Some((name, kind)) = path.strip_suffix("_dict").and_then(known) {
        return Some(Column { name, holds: "dictionary", kind: Some(kind) });
    }
    Some(Column { name: column_name(path), holds, kind: None })
}

/// The key of the values of a column of a table that is the whole store.
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

/// The name of a column by the path that python-blosc2 makes of it.
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
    /// How many rows the schema counts.
    pub(crate) fn rows(&self) -> Option<&Value> {
        self.schema.get("n_rows")
    }

    fn columns(&self) -> &[Value] {
        match self.schema.get("columns") {
            Some(Value::List(columns)) => columns,
            _ => &[],
        }
    }

    /// How many columns the schema has.
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
    fn the_schema_says_what_a_leaf_of_a_column_holds() {
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
