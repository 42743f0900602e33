//! Compiled schemas: keywords are parsed and patterns compiled. Nested schemas are compiled when a value first needs them.

use std::collections::HashMap;
use std::rc::Rc;

use container_core::json_pointer::escape;
use container_core::{Error, Result};
use regex::Regex;

use super::WorkLimit;
use super::array::DatatypeSpec;
use super::equal::key_name;
use super::keyword_values::{Type, count, flag, invalid, list, names, number, pairs, pattern, text, types};
use super::number::Number;
use super::resource::{Place, Resources, base_of};
use super::uri::join;
use crate::yaml::{Kind, Node, NodeId};

/// Index of a schema in [`CompiledSchemas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SchemaId(u32);

/// A schema's checks, each with its keyword.
#[derive(Debug, Default)]
pub(super) struct CompiledSchema {
    pub(super) checks: Vec<(&'static str, Check)>,
    /// Whether schemas within apply to the same value, which can make circles.
    pub(super) in_place: bool,
}

/// `additionalItems` or `additionalProperties`: the rule for items or properties without a schema of their own.
#[derive(Debug)]
pub(super) enum Additional {
    Allowed,
    Refused,
    Each(SchemaId),
}

#[derive(Debug)]
pub(super) enum Check {
    /// An absolute URI.
    Reference(String),
    /// Names, and whether a date passes for a text.
    Types(Vec<Type>, bool),
    Enum(Vec<NodeId>),
    All(Vec<SchemaId>),
    Any(Vec<SchemaId>),
    One(Vec<SchemaId>),
    Not(SchemaId),
    MultipleOf(Number),
    /// A bound, and whether it is excluded.
    Minimum(Number, bool),
    Maximum(Number, bool),
    MinLength(u64),
    MaxLength(u64),
    Pattern(Regex),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    /// Every item.
    Items(SchemaId),
    /// The first items one by one, and all others.
    Tuple(Vec<SchemaId>, Additional),
    MinProperties(u64),
    MaxProperties(u64),
    Required(Vec<String>),
    Properties {
        named: HashMap<String, SchemaId>,
        patterns: Vec<(Regex, SchemaId)>,
        additional: Additional,
    },
    Dependencies(Vec<(String, Dependency)>),
    Tag(String),
    Ndim(u64),
    MaxNdim(u64),
    /// A datatype, and whether it must be exactly that one.
    Datatype(Box<DatatypeSpec>, bool),
}

#[derive(Debug)]
pub(super) enum Dependency {
    Keys(Vec<String>),
    Schema(SchemaId),
}

#[derive(Debug)]
struct Slot {
    place: Place,
    rule: Option<Rc<CompiledSchema>>,
}

/// The schemas that values have needed so far.
#[derive(Debug)]
pub(super) struct CompiledSchemas<'s> {
    pub(super) resources: Resources<'s>,
    slots: Vec<Slot>,
    by_node: HashMap<(usize, NodeId), SchemaId>,
    by_uri: HashMap<String, Option<SchemaId>>,
}

impl<'s> CompiledSchemas<'s> {
    pub(super) fn new(resources: Resources<'s>) -> Self {
        Self { resources, slots: Vec::new(), by_node: HashMap::new(), by_uri: HashMap::new() }
    }

    /// The schema at an absolute URI; `None` where there is none.
    pub(super) fn find(&mut self, uri: &str, work_limit: &mut WorkLimit) -> Result<Option<SchemaId>> {
        if let Some(known) = self.by_uri.get(uri) {
            return Ok(*known);
        }
        let found = self.resources.find(uri, work_limit)?.map(|place| self.id(place));
        self.by_uri.insert(uri.to_owned(), found);
        Ok(found)
    }

    pub(super) fn place(&self, rule: SchemaId) -> Option<&Place> {
        self.slots.get(rule.0 as usize).map(|slot| &slot.place)
    }

    /// The URI of the document that a schema is in.
    pub(super) fn document_uri(&self, rule: SchemaId) -> &str {
        let resource = self.place(rule).and_then(|place| self.resources.get(place.resource));
        resource.map_or("", |resource| resource.uri.as_str())
    }

    /// A schema's checks.
    ///
    /// # Errors
    /// `Malformed` where a keyword has a value it cannot have; `Limit` for a pattern that grows too large.
    pub(super) fn get(&mut self, id: SchemaId) -> Result<Rc<CompiledSchema>> {
        let slot = self.slots.get(id.0 as usize).ok_or_else(|| Error::usage("no such schema"))?;
        if let Some(rule) = &slot.rule {
            return Ok(Rc::clone(rule));
        }
        let place = slot.place.clone();
        let Some(document) = self.resources.document(place.resource) else {
            return Err(Error::usage("no such schema document"));
        };
        let rule = Reader { rules: self, place: &place }.read(document.node(place.node));
        let uri = self.document_uri(id).to_owned();
        let rule = Rc::new(rule.map_err(|error| error.in_file(uri))?);
        if let Some(slot) = self.slots.get_mut(id.0 as usize) {
            slot.rule = Some(Rc::clone(&rule));
        }
        Ok(rule)
    }

    /// Reads every schema that can be reached without leaving its document, so that mistakes show before the first value.
    pub(super) fn read_all(&mut self) -> Result<()> {
        let mut next = 0;
        while next < self.slots.len() {
            self.get(SchemaId(u32::try_from(next).unwrap_or(u32::MAX)))?;
            next = next.saturating_add(1);
        }
        Ok(())
    }

    fn id(&mut self, place: Place) -> SchemaId {
        let next = SchemaId(u32::try_from(self.slots.len()).unwrap_or(u32::MAX));
        let known = self.by_node.entry((place.resource, place.node)).or_insert(next);
        let known = *known;
        if known == next {
            self.slots.push(Slot { place, rule: None });
        }
        known
    }
}

/// Reads the keywords of one schema.
struct Reader<'r, 's> {
    rules: &'r mut CompiledSchemas<'s>,
    place: &'r Place,
}

impl Reader<'_, '_> {
    /// Parses the keywords of one schema, in their order. Unknown keywords are ignored. `properties`, `patternProperties` and `additionalProperties`
    /// depend on one another and become one check. Nested schemas are only recorded by their place here.
    fn read(&mut self, schema: Node<'_>) -> Result<CompiledSchema> {
        if schema.kind() != Kind::Mapping {
            return Err(invalid(schema, "the schema is not a mapping"));
        }
        let mut checks = Vec::new();
        for (key, value) in schema.pairs() {
            if key.kind() != Kind::Scalar {
                continue;
            }
            // Keywords next to `$ref` count, against draft-04 but with Python asdf, whose verdicts people rely on.
            match key.text() {
                "$ref" if value.kind() == Kind::Scalar => {
                    checks.push(("$ref", Check::Reference(join(&self.place.base, value.text()))));
                }
                "type" => {
                    let date_time = schema.get("format").is_some_and(|format| format.text() == "date-time");
                    checks.push(("type", Check::Types(types(value)?, date_time)));
                }
                "enum" => {
                    checks.push(("enum", Check::Enum(list(value)?.map(|item| item.target().id()).collect())));
                }
                "allOf" => checks.push(("allOf", Check::All(self.schemas("allOf", value)?))),
                "anyOf" => checks.push(("anyOf", Check::Any(self.schemas("anyOf", value)?))),
                "oneOf" => checks.push(("oneOf", Check::One(self.schemas("oneOf", value)?))),
                "not" => checks.push(("not", Check::Not(self.schema(&["not"], value)))),
                "multipleOf" => {
                    let unit = number(value)?;
                    if unit.compare(&Number::Int(0)) != Some(std::cmp::Ordering::Greater) {
                        return Err(invalid(value, "multipleOf is not above zero"));
                    }
                    checks.push(("multipleOf", Check::MultipleOf(unit)));
                }
                "minimum" => {
                    checks
                        .push(("minimum", Check::Minimum(number(value)?, flag(schema, "exclusiveMinimum")?)));
                }
                "maximum" => {
                    checks
                        .push(("maximum", Check::Maximum(number(value)?, flag(schema, "exclusiveMaximum")?)));
                }
                "minLength" => checks.push(("minLength", Check::MinLength(count(value)?))),
                "maxLength" => checks.push(("maxLength", Check::MaxLength(count(value)?))),
                "pattern" => checks.push(("pattern", Check::Pattern(pattern(value)?))),
                "minItems" => checks.push(("minItems", Check::MinItems(count(value)?))),
                "maxItems" => checks.push(("maxItems", Check::MaxItems(count(value)?))),
                "uniqueItems" if flag(schema, "uniqueItems")? => {
                    checks.push(("uniqueItems", Check::UniqueItems));
                }
                "items" => checks.push(("items", self.items(schema, value)?)),
                "minProperties" => checks.push(("minProperties", Check::MinProperties(count(value)?))),
                "maxProperties" => checks.push(("maxProperties", Check::MaxProperties(count(value)?))),
                "required" => checks.push(("required", Check::Required(names(value)?))),
                "dependencies" => checks.push(("dependencies", self.dependencies(value)?)),
                "tag" => checks.push(("tag", Check::Tag(text(value)?.to_owned()))),
                "ndim" => checks.push(("ndim", Check::Ndim(count(value)?))),
                "max_ndim" => checks.push(("max_ndim", Check::MaxNdim(count(value)?))),
                "datatype" => {
                    let wanted = Box::new(DatatypeSpec::parse(value)?);
                    checks.push(("datatype", Check::Datatype(wanted, flag(schema, "exact_datatype")?)));
                }
                _ => {}
            }
        }
        if ["properties", "patternProperties", "additionalProperties"]
            .iter()
            .any(|key| schema.get(key).is_some())
        {
            checks.push(("properties", self.properties(schema)?));
        }
        let in_place = checks.iter().any(|(_, check)| {
            use Check::{All, Any, Dependencies, Not, One, Reference};
            matches!(check, All(_) | Any(_) | One(_) | Not(_) | Reference(_) | Dependencies(_))
        });
        Ok(CompiledSchema { checks, in_place })
    }

    fn schema(&mut self, steps: &[&str], node: Node<'_>) -> SchemaId {
        let mut pointer = self.place.pointer.clone();
        for step in steps {
            pointer.push('/');
            pointer.push_str(&escape(step));
        }
        let base = base_of(&self.place.base, node).into();
        self.rules.id(Place { resource: self.place.resource, node: node.target().id(), base, pointer })
    }

    fn schemas(&mut self, keyword: &str, value: Node<'_>) -> Result<Vec<SchemaId>> {
        let items = list(value)?;
        Ok(items.enumerate().map(|(at, item)| self.schema(&[keyword, &at.to_string()], item)).collect())
    }

    fn items(&mut self, schema: Node<'_>, value: Node<'_>) -> Result<Check> {
        if value.kind() == Kind::Mapping {
            return Ok(Check::Items(self.schema(&["items"], value)));
        }
        let first = self.schemas("items", value)?;
        Ok(Check::Tuple(first, self.additional(schema, "additionalItems")?))
    }

    fn additional(&mut self, schema: Node<'_>, keyword: &str) -> Result<Additional> {
        let Some(value) = schema.get(keyword) else { return Ok(Additional::Allowed) };
        if value.kind() == Kind::Mapping {
            return Ok(Additional::Each(self.schema(&[keyword], value)));
        }
        Ok(if flag(schema, keyword)? { Additional::Allowed } else { Additional::Refused })
    }

    fn properties(&mut self, schema: Node<'_>) -> Result<Check> {
        let mut named = HashMap::new();
        for (key, value) in pairs(schema.get("properties"))? {
            named.insert(key_name(key), self.schema(&["properties", key.text()], value));
        }
        let mut patterns = Vec::new();
        for (key, value) in pairs(schema.get("patternProperties"))? {
            patterns.push((pattern(key)?, self.schema(&["patternProperties", key.text()], value)));
        }
        Ok(Check::Properties {
            named,
            patterns,
            additional: self.additional(schema, "additionalProperties")?,
        })
    }

    fn dependencies(&mut self, value: Node<'_>) -> Result<Check> {
        let mut all = Vec::new();
        for (key, value) in pairs(Some(value))? {
            let needs = match value.kind() {
                Kind::Mapping => Dependency::Schema(self.schema(&["dependencies", key.text()], value)),
                _ => Dependency::Keys(names(value)?),
            };
            all.push((key_name(key), needs));
        }
        Ok(Check::Dependencies(all))
    }
}
