//! Validates values against schemas. Each pair of value and schema is checked once.

use std::collections::HashMap;

use container_core::json_pointer::escape;
use container_core::{Error, Result};

use super::WorkLimit;
use super::array::{self, DatatypeSpec};
use super::assertions::{CheckResult, fails_if, simple};
use super::compiled::{Additional, Check, CompiledSchema, CompiledSchemas, Dependency, SchemaId};
use super::equal::{equal, first_repeated, key_name};
use super::{Violation, messages};
use crate::yaml::{Kind, Node, NodeId, Scalar};

/// Maximum depth of nested schemas while one value is checked. Each level of a tree takes about four.
const MAX_DEPTH: usize = 512;

/// Maximum number of pairs of value and schema that are remembered; above it the memory is emptied between values with tags.
const MAX_REMEMBERED: usize = 1 << 20;

/// State of a pair of value and schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The check has begun; a cycle back to it counts as valid.
    InProgress,
    Valid,
    Invalid,
    /// Invalid, and in the list of violations.
    Reported,
}

/// List for violations; `None` where only the verdict counts.
type Sink<'a> = Option<&'a mut Vec<Violation>>;

/// A step to a value within another.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// Validator for the values of one tree.
#[derive(Debug)]
pub(super) struct Validator<'s> {
    pub(super) schemas: CompiledSchemas<'s>,
    pub(super) work_limit: WorkLimit,
    /// `$ref`s and schemas of tags that were not found.
    pub(super) missing: Vec<String>,
    /// Whether a mapping with `$ref` is left alone, as a reference to a value elsewhere.
    pub(super) skips_references: bool,
    memory: HashMap<(NodeId, SchemaId), Verdict>,
    start: String,
    steps: Vec<Step>,
    depth: usize,
}

impl<'s> Validator<'s> {
    pub(super) fn new(schemas: CompiledSchemas<'s>, work_limit: WorkLimit) -> Self {
        let (memory, missing, steps) = (HashMap::new(), Vec::new(), Vec::new());
        Self {
            schemas,
            work_limit,
            missing,
            skips_references: true,
            memory,
            start: String::new(),
            steps,
            depth: 0,
        }
    }

    /// Validates the value at a path.
    ///
    /// # Errors
    /// `Malformed` for an invalid schema; `Limit`.
    pub(super) fn validate(
        &mut self,
        path: &str,
        node: Node<'_>,
        schema: SchemaId,
        found: &mut Vec<Violation>,
    ) -> Result<()> {
        if self.memory.len() > MAX_REMEMBERED {
            self.memory = HashMap::new();
        }
        path.clone_into(&mut self.start);
        self.check(node, schema, &mut Some(found)).map(|_| ())
    }

    /// The schema at an absolute URI; `None` where there is none.
    pub(super) fn find(&mut self, uri: &str) -> Result<Option<SchemaId>> {
        self.schemas.find(uri, &mut self.work_limit)
    }

    fn check(&mut self, node: Node<'_>, id: SchemaId, sink: &mut Sink<'_>) -> Result<bool> {
        self.work_limit.spend(1)?;
        let schema = self.schemas.get(id)?;
        // A reference in place of a value is checked when it is followed (ASDF standard 1.6.0, "References").
        if self.skips_references && is_reference(node) {
            return Ok(true);
        }
        let key = (node.target().id(), id);
        let remembers = schema.in_place || node.kind() != Kind::Scalar;
        if remembers {
            match self.memory.get(&key) {
                Some(Verdict::InProgress | Verdict::Valid) => return Ok(true),
                Some(Verdict::Reported) => return Ok(false),
                Some(Verdict::Invalid) if sink.is_none() => return Ok(false),
                Some(Verdict::Invalid) | None => {}
            }
            self.memory.insert(key, Verdict::InProgress);
        }
        if self.depth >= MAX_DEPTH {
            return Err(Error::limit("schemas within one another", MAX_DEPTH as u64 + 1, MAX_DEPTH as u64));
        }
        self.depth = self.depth.saturating_add(1);
        let valid = self.all_checks(node, id, &schema, sink);
        self.depth = self.depth.saturating_sub(1);
        let valid = valid?;
        if remembers {
            let invalid = if sink.is_some() { Verdict::Reported } else { Verdict::Invalid };
            self.memory.insert(key, if valid { Verdict::Valid } else { invalid });
        }
        Ok(valid)
    }

    fn all_checks(
        &mut self,
        node: Node<'_>,
        id: SchemaId,
        schema: &CompiledSchema,
        sink: &mut Sink<'_>,
    ) -> Result<bool> {
        let mut valid = true;
        for (keyword, check) in &schema.checks {
            let before = sink.as_ref().map_or(0, |found| found.len());
            match self.one_check(node, id, check, sink)? {
                Ok(()) => continue,
                // A nested schema has reported it.
                Err(None) => {}
                Err(Some(message)) => {
                    let violation = self.violation(node, id, keyword, message);
                    if let Some(found) = sink {
                        found.insert(before.min(found.len()), violation);
                    }
                }
            }
            valid = false;
            if sink.is_none() {
                break;
            }
        }
        Ok(valid)
    }

    /// Checks a value by one keyword. The error has a message unless a nested schema has reported one.
    ///
    /// Checks with large local variables are in separate methods: this one is on the stack once for each schema within another.
    fn one_check(
        &mut self,
        node: Node<'_>,
        id: SchemaId,
        check: &Check,
        sink: &mut Sink<'_>,
    ) -> Result<CheckResult> {
        match check {
            Check::Reference(uri) => self.reference(node, uri, sink),
            Check::All(schemas) => self.all_of(node, schemas, sink),
            Check::Any(schemas) => self.any_of(node, schemas, sink),
            Check::One(schemas) => self.one_of(node, schemas, sink),
            Check::Not(schema) => self.not(node, *schema),
            Check::Properties { named, patterns, additional } => {
                self.properties(node, named, patterns, additional, sink)
            }
            Check::Items(each) => self.items(node, &[], &Additional::Each(*each), sink),
            Check::Tuple(first, additional) => self.items(node, first, additional, sink),
            Check::Dependencies(all) => self.dependencies(node, all, sink),
            Check::Enum(allowed) => self.allowed(node, id, allowed),
            Check::Required(keys) => self.required(node, keys),
            Check::UniqueItems => self.unique(node),
            Check::Datatype(wanted, exact) => self.datatype(node, wanted, *exact),
            plain => Ok(simple(node, plain)),
        }
    }

    fn reference(&mut self, node: Node<'_>, uri: &str, sink: &mut Sink<'_>) -> Result<CheckResult> {
        match self.find(uri)? {
            Some(target) => self.check(node, target, sink).map(within),
            None => {
                self.note_missing_schema(uri);
                Ok(Ok(()))
            }
        }
    }

    fn all_of(&mut self, node: Node<'_>, schemas: &[SchemaId], sink: &mut Sink<'_>) -> Result<CheckResult> {
        let mut all = true;
        for schema in schemas {
            all &= self.check(node, *schema, sink)?;
            if !all && sink.is_none() {
                break;
            }
        }
        Ok(within(all))
    }

    fn any_of(&mut self, node: Node<'_>, schemas: &[SchemaId], sink: &mut Sink<'_>) -> Result<CheckResult> {
        for schema in schemas {
            if self.check(node, *schema, &mut None)? {
                return Ok(Ok(()));
            }
        }
        self.why_none(node, schemas, sink).map(|why| Err(Some(why)))
    }

    fn one_of(&mut self, node: Node<'_>, schemas: &[SchemaId], sink: &mut Sink<'_>) -> Result<CheckResult> {
        let mut fitting = Vec::new();
        for (at, schema) in schemas.iter().enumerate() {
            if self.check(node, *schema, &mut None)? {
                fitting.push(at);
            }
        }
        match fitting.as_slice() {
            [_] => Ok(Ok(())),
            [] => self.why_none(node, schemas, sink).map(|why| Err(Some(why))),
            many => Ok(Err(Some(messages::fits_several(many, schemas.len())))),
        }
    }

    fn not(&mut self, node: Node<'_>, schema: SchemaId) -> Result<CheckResult> {
        Ok(fails_if(self.check(node, schema, &mut None)?, || "matches a schema that is not allowed".into()))
    }

    fn required(&mut self, node: Node<'_>, keys: &[String]) -> Result<CheckResult> {
        if node.kind() != Kind::Mapping {
            return Ok(Ok(()));
        }
        let have = self.keys(node)?;
        let absent: Vec<&str> =
            keys.iter().filter(|key| !have.contains_key(*key)).map(String::as_str).collect();
        Ok(fails_if(!absent.is_empty(), || messages::lacks(&absent)))
    }

    fn unique(&mut self, node: Node<'_>) -> Result<CheckResult> {
        if node.kind() != Kind::Sequence {
            return Ok(Ok(()));
        }
        Ok(match first_repeated(node, &mut self.work_limit)? {
            Some((one, two)) => Err(Some(format!("items {one} and {two} are equal"))),
            None => Ok(()),
        })
    }

    fn datatype(&mut self, node: Node<'_>, wanted: &DatatypeSpec, exact: bool) -> Result<CheckResult> {
        if !array::is_array(node) {
            return Ok(Ok(()));
        }
        let message = match array::datatype(node, &mut self.work_limit) {
            Ok(Some(have)) if have == *wanted || (!exact && have.fits(wanted)) => return Ok(Ok(())),
            Ok(Some(have)) if exact => format!("has datatype {have} (expected {wanted})"),
            Ok(Some(have)) => format!("datatype {have} cannot be cast to {wanted} without loss"),
            Ok(None) => "is not an array".into(),
            Err(error) if error.is_damage() => "has a datatype that is not in the standard".into(),
            Err(error) => return Err(error),
        };
        Ok(Err(Some(message)))
    }

    fn properties(
        &mut self,
        node: Node<'_>,
        named: &HashMap<String, SchemaId>,
        patterns: &[(regex::Regex, SchemaId)],
        additional: &Additional,
        sink: &mut Sink<'_>,
    ) -> Result<CheckResult> {
        if node.kind() != Kind::Mapping {
            return Ok(Ok(()));
        }
        let pairs = node.pairs();
        self.work_limit.spend((pairs.len() as u64).saturating_mul(patterns.len() as u64 + 1))?;
        let (mut valid, mut refused) = (true, Vec::new());
        for (key, value) in pairs {
            let name = key_name(key);
            let is_text = matches!(key.scalar(), Some(Scalar::Text(_)));
            let fitting = patterns.iter().filter(|(pattern, _)| is_text && pattern.is_match(&name));
            let mut apply: Vec<SchemaId> =
                named.get(&name).copied().into_iter().chain(fitting.map(|(_, schema)| *schema)).collect();
            if apply.is_empty() {
                match additional {
                    Additional::Allowed => {}
                    Additional::Refused => refused.push(key.text().to_owned()),
                    Additional::Each(schema) => apply.push(*schema),
                }
            }
            for schema in apply {
                self.steps.push(Step::Key(key.text().to_owned()));
                valid &= self.check(value, schema, sink)?;
                self.steps.pop();
            }
            if sink.is_none() && (!valid || !refused.is_empty()) {
                break;
            }
        }
        Ok(if refused.is_empty() { within(valid) } else { Err(Some(messages::refuses(&refused))) })
    }

    fn items(
        &mut self,
        node: Node<'_>,
        first: &[SchemaId],
        additional: &Additional,
        sink: &mut Sink<'_>,
    ) -> Result<CheckResult> {
        if node.kind() != Kind::Sequence {
            return Ok(Ok(()));
        }
        self.work_limit.spend(node.len() as u64)?;
        let mut valid = true;
        for (at, item) in node.items().enumerate() {
            let schema = match (first.get(at), additional) {
                (Some(schema), _) | (None, Additional::Each(schema)) => *schema,
                (None, Additional::Allowed) => break,
                (None, Additional::Refused) => {
                    return Ok(Err(Some(format!(
                        "has {} items (expected at most {})",
                        node.len(),
                        first.len()
                    ))));
                }
            };
            self.steps.push(Step::Index(at));
            valid &= self.check(item, schema, sink)?;
            self.steps.pop();
            if !valid && sink.is_none() {
                break;
            }
        }
        Ok(within(valid))
    }

    fn dependencies(
        &mut self,
        node: Node<'_>,
        all: &[(String, Dependency)],
        sink: &mut Sink<'_>,
    ) -> Result<CheckResult> {
        if node.kind() != Kind::Mapping {
            return Ok(Ok(()));
        }
        let have = self.keys(node)?;
        let mut valid = true;
        for (key, needs) in all.iter().filter(|(key, _)| have.contains_key(key)) {
            match needs {
                Dependency::Keys(keys) => {
                    let absent: Vec<&str> =
                        keys.iter().filter(|key| !have.contains_key(*key)).map(String::as_str).collect();
                    if !absent.is_empty() {
                        return Ok(Err(Some(format!("{}, which `{key}` needs", messages::lacks(&absent)))));
                    }
                }
                Dependency::Schema(schema) => valid &= self.check(node, *schema, sink)?,
            }
        }
        Ok(within(valid))
    }

    fn allowed(&mut self, node: Node<'_>, id: SchemaId, allowed: &[NodeId]) -> Result<CheckResult> {
        let document =
            self.schemas.place(id).and_then(|place| self.schemas.resources.document(place.resource));
        let Some(document) = document else { return Ok(Ok(())) };
        for one in allowed {
            if equal(node, document.node(*one), &mut self.work_limit)? {
                return Ok(Ok(()));
            }
        }
        let names: Vec<String> = allowed.iter().map(|one| messages::value(document.node(*one))).collect();
        Ok(Err(Some(format!("{} is not one of {}", messages::value(node), messages::some_of(&names)))))
    }

    /// Reports why a value fits none of several schemas: the first reason of each.
    fn why_none(&mut self, node: Node<'_>, schemas: &[SchemaId], sink: &mut Sink<'_>) -> Result<String> {
        if sink.is_none() {
            return Ok(String::new());
        }
        let here = self.path();
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for schema in schemas {
            let mut found = Vec::new();
            self.check(node, *schema, &mut Some(&mut found))?;
            let Some(first) = found.into_iter().next() else { continue };
            let within = first.path.strip_prefix(&here).unwrap_or(&first.path).trim_start_matches('/');
            // A value of the right kind with an error is nearer to the author's intention than one of another kind.
            let of_kind = first.pointer.ends_with("/type") || first.pointer.ends_with("/tag");
            let other_kind = within.is_empty() && (of_kind || messages::is_of_no_kind(&first.message));
            let reasons = if other_kind { &mut far } else { &mut near };
            let reason = messages::reason(within, &first.message);
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        Ok(if near.is_empty() {
            messages::of_no_kind(&far)
        } else {
            messages::fits_none(&near, schemas.len())
        })
    }

    fn keys<'d>(&mut self, node: Node<'d>) -> Result<HashMap<String, Node<'d>>> {
        let pairs = node.pairs();
        self.work_limit.spend(pairs.len() as u64)?;
        Ok(pairs.into_iter().map(|(key, value)| (key_name(key), value)).collect())
    }

    pub(super) fn note_missing_schema(&mut self, uri: &str) {
        if !self.missing.iter().any(|known| known == uri) {
            self.missing.push(uri.to_owned());
        }
    }

    fn path(&self) -> String {
        let mut path = self.start.clone();
        for step in &self.steps {
            if !path.is_empty() {
                path.push('/');
            }
            match step {
                Step::Key(key) => path.push_str(&escape(key)),
                Step::Index(at) => path.push_str(&at.to_string()),
            }
        }
        path
    }

    fn violation(&self, node: Node<'_>, id: SchemaId, keyword: &str, message: String) -> Violation {
        let pointer = self.schemas.place(id).map_or("", |place| place.pointer.as_str());
        Violation {
            path: self.path(),
            range: node.span(),
            schema: self.schemas.document_uri(id).to_owned(),
            pointer: format!("{pointer}/{keyword}"),
            message,
        }
    }
}

/// Whether a mapping is a reference to a value elsewhere.
pub(super) fn is_reference(node: Node<'_>) -> bool {
    node.kind() == Kind::Mapping && node.get("$ref").is_some()
}

fn within(valid: bool) -> CheckResult {
    if valid { Ok(()) } else { Err(None) }
}
