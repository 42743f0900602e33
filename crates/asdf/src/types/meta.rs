//! Types that describe the file itself: software, history, extensions (ASDF standard 1.6.0, core schemas).

use container_core::Result;

use super::{get_non_null, get_text, invalid, require_key, text};
use crate::ndarray::count;
use crate::yaml::{Kind, Node};

/// `core/software`
#[derive(Clone, Debug)]
pub struct Software<'f> {
    /// Its name.
    pub name: &'f str,
    /// Its version.
    pub version: &'f str,
    /// Author of the software.
    pub author: Option<&'f str>,
    /// URI of its homepage.
    pub homepage: Option<&'f str>,
    /// The whole mapping, which may have other keys.
    pub node: Node<'f>,
}

impl<'f> Software<'f> {
    pub(super) fn parse(node: Node<'f>) -> Result<Self> {
        Ok(Self {
            name: text(require_key(node, "name")?)?,
            // A version such as 1.10 may be read as a number; its text is the version.
            version: text(require_key(node, "version")?)?,
            author: get_text(node, "author")?,
            homepage: get_text(node, "homepage")?,
            node,
        })
    }
}

/// `core/history_entry`
#[derive(Clone, Debug)]
pub struct HistoryEntry<'f> {
    /// Description of the change.
    pub description: &'f str,
    /// When, as it is written.
    pub time: Option<&'f str>,
    /// Software that made the change.
    pub software: Vec<Software<'f>>,
    /// The whole mapping, which may have other keys.
    pub node: Node<'f>,
}

impl<'f> HistoryEntry<'f> {
    pub(super) fn parse(node: Node<'f>) -> Result<Self> {
        let software = match get_non_null(node, "software") {
            None => Vec::new(),
            Some(list) if list.kind() == Kind::Sequence => {
                list.items().map(Software::parse).collect::<Result<_>>()?
            }
            Some(one) => vec![Software::parse(one)?],
        };
        let description = text(require_key(node, "description")?)?;
        Ok(Self { description, time: get_text(node, "time")?, software, node })
    }
}

/// `core/extension_metadata`
#[derive(Clone, Debug)]
pub struct ExtensionMetadata<'f> {
    /// The class of the extension.
    pub extension_class: &'f str,
    /// Its URI.
    pub extension_uri: Option<&'f str>,
    /// The package of the extension: `software` today, `package` before.
    pub software: Option<Software<'f>>,
    /// The package that has its manifest.
    pub manifest_software: Option<Software<'f>>,
    /// Labels of blocks that it decodes.
    pub supported_compression: Vec<&'f str>,
    /// The whole mapping, which may have other keys.
    pub node: Node<'f>,
}

impl<'f> ExtensionMetadata<'f> {
    pub(super) fn parse(node: Node<'f>) -> Result<Self> {
        let package = get_non_null(node, "software").or_else(|| get_non_null(node, "package"));
        let labels = match get_non_null(node, "supported_compression") {
            None => Vec::new(),
            Some(list) if list.kind() == Kind::Sequence => list.items().map(text).collect::<Result<_>>()?,
            Some(one) => vec![text(one)?],
        };
        Ok(Self {
            extension_class: text(require_key(node, "extension_class")?)?,
            extension_uri: get_text(node, "extension_uri")?,
            software: package.map(Software::parse).transpose()?,
            manifest_software: get_non_null(node, "manifest_software").map(Software::parse).transpose()?,
            supported_compression: labels,
            node,
        })
    }
}

/// `history` of a tree.
#[derive(Clone, Debug, Default)]
pub struct History<'f> {
    /// Entries of the history, in the order of the tree.
    pub entries: Vec<HistoryEntry<'f>>,
    /// Extensions that the file was written with; none in the older form.
    pub extensions: Vec<ExtensionMetadata<'f>>,
}

impl<'f> History<'f> {
    /// A list of entries (until version 1.1 of the standard), or a mapping of entries and extensions.
    pub(super) fn parse(node: Node<'f>) -> Result<Self> {
        let list = |node: Option<Node<'f>>| match node {
            None => Ok(Vec::new()),
            Some(list) if list.kind() == Kind::Sequence => Ok(list.items().collect()),
            Some(other) => Err(invalid(other, "not a list")),
        };
        let (entries, extensions) = match node.kind() {
            Kind::Mapping => (list(get_non_null(node, "entries"))?, list(get_non_null(node, "extensions"))?),
            Kind::Sequence => (node.items().collect(), Vec::new()),
            Kind::Scalar if node.text().is_empty() => (Vec::new(), Vec::new()),
            Kind::Scalar => return Err(invalid(node, "the history is neither a list nor a mapping")),
        };
        Ok(Self {
            entries: entries.into_iter().map(HistoryEntry::parse).collect::<Result<_>>()?,
            extensions: extensions.into_iter().map(ExtensionMetadata::parse).collect::<Result<_>>()?,
        })
    }
}

/// `core/externalarray`: an array in a file of another format, which this crate does not load.
#[derive(Clone, Debug)]
pub struct ExternalArray<'f> {
    /// The file.
    pub fileuri: &'f str,
    /// The array in that file: a number or a name, as it is written.
    pub target: &'f str,
    /// Its element type.
    pub datatype: &'f str,
    /// Length of each axis.
    pub shape: Vec<u64>,
}

impl<'f> ExternalArray<'f> {
    pub(super) fn parse(node: Node<'f>) -> Result<Self> {
        let shape = require_key(node, "shape")?;
        if shape.kind() != Kind::Sequence {
            return Err(invalid(shape, "the shape is not a list"));
        }
        Ok(Self {
            fileuri: text(require_key(node, "fileuri")?)?,
            target: text(require_key(node, "target")?)?,
            datatype: text(require_key(node, "datatype")?)?,
            shape: shape.items().map(count).collect::<Result<_>>()?,
        })
    }
}
