//! Judges values by schemas: each pair of them once, however many ways lead there.

use std::collections::HashMap;

use container_core::pointer::escape;
use container_core::{Error, Result};

use super::array::{self, Wanted};
use super::assertions::{fails_if, simple};
use super::compiled::{Check, Dependency, Others, Rule, RuleId, Rules};
use super::equal::{equal, first_repeated, key_name};
use super::work_limit::Budget;
use super::{Violation, messages};
use crate::yaml::{Kind, Node, NodeId, Scalar};

/// Most schemas that may be within one another while one value is judged. Each level of a tree takes about four.
const DEPTH: usize = 512;

/// Pairs of value and schema that are remembered; above it the memory is emptied between values with tags.
const REMEMBERED: usize = 1 << 20;

/// What is known of a pair of value and schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Being judged: a circle has led back, and what follows from itself holds.
    Open,
    Valid,
    Invalid,
    /// Invalid, and said so.
    Told,
}

/// Where violations go: nowhere while only the verdict counts.
type Sink<'a> = Option<&'a mut Vec<Violation>>;

/// Whether a check was passed; if not, a message where no schema within has given one.
pub(super) type Passed = Result<(), Option<String>>;

/// A step to a value within another.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// Judges the values of one tree.
#[derive(Debug)]
pub(super) struct Judge<'s> {
    pub(super) rules: Rules<'s>,
    pub(super) budget: Budget,
    /// `$ref`s and schemas of tags that led nowhere.
    pub(super) missing: Vec<String>,
    /// Whether a mapping with `$ref` is left alone: it stands for a value elsewhere.
    pub(super) skips_references: bool,
    memory: HashMap<(NodeId, RuleId), Verdict>,
    start: String,
    steps: Vec<Step>,
    depth: usize,
}

impl<'s> Judge<'s> {
    pub(super) fn new(rules: Rules<'s>, budget: Budget) -> Self {
        let (memory, missing, steps) = (HashMap::new(), Vec::new(), Vec::new());
        Self { rules, budget, missing, skips_references: true, memory, start: String::new(), steps, depth: 0 }
    }

    /// Judges the value at a path.
    ///
    /// # Errors
    /// `Malformed` for a schema that is none; `Limit`.
    pub(super) fn judge(
        &mut self,
        path: &str,
        node: Node<'_>,
        rule: RuleId,
        found: &mut Vec<Violation>,
    ) -> Result<()> {
        if self.memory.len() > REMEMBERED {
            self.memory = HashMap::new();
        }
        path.clone_into(&mut self.start);
        self.check(node, rule, &mut Some(found)).map(|_| ())
    }

    /// The schema that an absolute URI means; `None` where there is none.
    pub(super) fn find(&mut self, uri: &str) -> Result<Option<RuleId>> {
        self.rules.find(uri, &mut self.budget)
    }

    fn check(&mut self, node: Node<'_>, id: RuleId, sink: &mut Sink<'_>) -> Result<bool> {
        self.budget.spend(1)?;
        let rule = self.rules.rule(id)?;
        // A reference in place of a value is judged when it is followed, if ever (ASDF standard 1.6.0, "References").
        if self.skips_references && is_reference(node) {
            return Ok(true);
        }
        let key = (node.target().id(), id);
        let remembers = rule.in_place || node.kind() != Kind::Scalar;
        if remembers {
            match self.memory.get(&key) {
                Some(Verdict::Open | Verdict::Valid) => return Ok(true),
                Some(Verdict::Told) => return Ok(false),
                Some(Verdict::Invalid) if sink.is_none() => return Ok(false),
                Some(Verdict::Invalid) | None => {}
            }
            self.memory.insert(key, Verdict::Open);
        }
        if self.depth >= DEPTH {
            return Err(Error::limit("schemas within one another", DEPTH as u64 + 1, DEPTH as u64));
        }
        self.depth = self.depth.saturating_add(1);
        let valid = self.all_checks(node, id, &rule, sink);
        self.depth = self.depth.saturating_sub(1);
        let valid = valid?;
        if remembers {
            let invalid = if sink.is_some() { Verdict::Told } else { Verdict::Invalid };
            self.memory.insert(key, if valid { Verdict::Valid } else { invalid });
        }
        Ok(valid)
    }

    fn all_checks(&mut self, node: Node<'_>, id: RuleId, rule: &Rule, sink: &mut Sink<'_>) -> Result<bool> {
        let mut valid = true;
        for (keyword, check) in &rule.checks {
            let before = sink.as_ref().map_or(0, |found| found.len());
            match self.one_check(node, id, check, sink)? {
                Ok(()) => continue,
                // A schema within has said it.
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

    /// Whether a value passes one check; if not, a message where no schema within has given one.
    ///
    /// What takes memory of its own is in methods of their own: this one is on the stack once for each schema within another.
    fn one_check(
        &mut self,
        node: Node<'_>,
        id: RuleId,
        check: &Check,
        sink: &mut Sink<'_>,
    ) -> Result<Passed> {
        match check {
            Check::Reference(uri) => self.reference(node, uri, sink),
            Check::All(rules) => self.all(node, rules, sink),
            Check::Any(rules) => self.any(node, rules, sink),
            Check::One(rules) => self.one(node, rules, sink),
            Check::Not(rule) => self.not(node, *rule),
            Check::Properties { named, patterns, others } => {
                self.properties(node, named, patterns, others, sink)
            }
            Check::Items(each) => self.items(node, &[], &Others::Each(*each), sink),
            Check::Tuple(first, others) => self.items(node, first, others, sink),
            Check::Dependencies(all) => self.dependencies(node, all, sink),
            Check::Enum(allowed) => self.allowed(node, id, allowed),
            Check::Required(keys) => self.required(node, keys),
            Check::UniqueItems => self.unique(node),
            Check::Datatype(wanted, exact) => self.datatype(node, wanted, *exact),
            plain => Ok(simple(node, plain)),
        }
    }

    fn reference(&mut self, node: Node<'_>, uri: &str, sink: &mut Sink<'_>) -> Result<Passed> {
        match self.find(uri)? {
            Some(target) => self.check(node, target, sink).map(within),
            None => {
                self.miss(uri);
                Ok(Ok(()))
            }
        }
    }

    fn all(&mut self, node: Node<'_>, rules: &[RuleId], sink: &mut Sink<'_>) -> Result<Passed> {
        let mut all = true;
        for rule in rules {
            all &= self.check(node, *rule, sink)?;
            if !all && sink.is_none() {
                break;
            }
        }
        Ok(within(all))
    }

    fn any(&mut self, node: Node<'_>, rules: &[RuleId], sink: &mut Sink<'_>) -> Result<Passed> {
        for rule in rules {
            if self.check(node, *rule, &mut None)? {
                return Ok(Ok(()));
            }
        }
        self.why_none(node, rules, sink).map(|why| Err(Some(why)))
    }

    fn one(&mut self, node: Node<'_>, rules: &[RuleId], sink: &mut Sink<'_>) -> Result<Passed> {
        let mut fitting = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            if self.check(node, *rule, &mut None)? {
                fitting.push(at);
            }
        }
        match fitting.as_slice() {
            [_] => Ok(Ok(())),
            [] => self.why_none(node, rules, sink).map(|why| Err(Some(why))),
            many => Ok(Err(Some(messages::fits_several(many, rules.len())))),
        }
    }

    fn not(&mut self, node: Node<'_>, rule: RuleId) -> Result<Passed> {
        Ok(fails_if(self.check(node, rule, &mut None)?, || "is what it must not be".into()))
    }

    fn required(&mut self, node: Node<'_>, keys: &[String]) -> Result<Passed> {
        if node.kind() != Kind::Mapping {
            return Ok(Ok(()));
        }
        let have = self.keys(node)?;
        let absent: Vec<&str> =
            keys.iter().filter(|key| !have.contains_key(*key)).map(String::as_str).collect();
        Ok(fails_if(!absent.is_empty(), || messages::lacks(&absent)))
    }

    fn unique(&mut self, node: Node<'_>) -> Result<Passed> {
        if node.kind() != Kind::Sequence {
            return Ok(Ok(()));
        }
        Ok(match first_repeated(node, &mut self.budget)? {
            Some((one, two)) => Err(Some(format!("items {one} and {two} are equal"))),
            None => Ok(()),
        })
    }

    fn datatype(&mut self, node: Node<'_>, wanted: &Wanted, exact: bool) -> Result<Passed> {
        if !array::is_array(node) {
            return Ok(Ok(()));
        }
        let message = match array::datatype(node, &mut self.budget) {
            Ok(Some(have)) if have == *wanted || (!exact && have.fits(wanted)) => return Ok(Ok(())),
            Ok(Some(have)) if exact => format!("has datatype {have}, not {wanted}"),
            Ok(Some(have)) => format!("datatype {have} cannot be cast to {wanted} without loss"),
            Ok(None) => "is no array".into(),
            Err(error) if error.is_damage() => "has no datatype of the standard".into(),
            Err(error) => return Err(error),
        };
        Ok(Err(Some(message)))
    }

    fn properties(
        &mut self,
        node: Node<'_>,
        named: &HashMap<String, RuleId>,
        patterns: &[(regex::Regex, RuleId)],
        others: &Others,
        sink: &mut Sink<'_>,
    ) -> Result<Passed> {
        if node.kind() != Kind::Mapping {
            return Ok(Ok(()));
        }
        let pairs = node.pairs();
        self.budget.spend((pairs.len() as u64).saturating_mul(patterns.len() as u64 + 1))?;
        let (mut valid, mut refused) = (true, Vec::new());
        for (key, value) in pairs {
            let name = key_name(key);
            let is_text = matches!(key.scalar(), Some(Scalar::Text(_)));
            let fitting = patterns.iter().filter(|(pattern, _)| is_text && pattern.is_match(&name));
            let mut apply: Vec<RuleId> =
                named.get(&name).copied().into_iter().chain(fitting.map(|(_, rule)| *rule)).collect();
            if apply.is_empty() {
                match others {
                    Others::Allowed => {}
                    Others::Refused => refused.push(key.text().to_owned()),
                    Others::Each(rule) => apply.push(*rule),
                }
            }
            for rule in apply {
                self.steps.push(Step::Key(key.text().to_owned()));
                valid &= self.check(value, rule, sink)?;
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
        first: &[RuleId],
        others: &Others,
        sink: &mut Sink<'_>,
    ) -> Result<Passed> {
        if node.kind() != Kind::Sequence {
            return Ok(Ok(()));
        }
        self.budget.spend(node.len() as u64)?;
        let mut valid = true;
        for (at, item) in node.items().enumerate() {
            let rule = match (first.get(at), others) {
                (Some(rule), _) | (None, Others::Each(rule)) => *rule,
                (None, Others::Allowed) => break,
                (None, Others::Refused) => {
                    return Ok(Err(Some(format!(
                        "has {} items, at most {} are allowed",
                        node.len(),
                        first.len()
                    ))));
                }
            };
            self.steps.push(Step::Index(at));
            valid &= self.check(item, rule, sink)?;
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
    ) -> Result<Passed> {
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
                Dependency::Schema(rule) => valid &= self.check(node, *rule, sink)?,
            }
        }
        Ok(within(valid))
    }

    fn allowed(&mut self, node: Node<'_>, id: RuleId, allowed: &[NodeId]) -> Result<Passed> {
        let document = self.rules.place(id).and_then(|place| self.rules.resources.document(place.resource));
        let Some(document) = document else { return Ok(Ok(())) };
        for one in allowed {
            if equal(node, document.node(*one), &mut self.budget)? {
                return Ok(Ok(()));
            }
        }
        let names: Vec<String> = allowed.iter().map(|one| messages::value(document.node(*one))).collect();
        Ok(Err(Some(format!("{} is none of {}", messages::value(node), messages::some_of(&names)))))
    }

    /// Why a value fits none of several schemas: the first reason of each.
    fn why_none(&mut self, node: Node<'_>, rules: &[RuleId], sink: &mut Sink<'_>) -> Result<String> {
        if sink.is_none() {
            return Ok(String::new());
        }
        let here = self.path();
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for rule in rules {
            let mut found = Vec::new();
            self.check(node, *rule, &mut Some(&mut found))?;
            let Some(first) = found.into_iter().next() else { continue };
            let within = first.path.strip_prefix(&here).unwrap_or(&first.path).trim_start_matches('/');
            // Of another kind altogether, or of the right kind with something wrong: the second is what people mean.
            let of_kind = first.pointer.ends_with("/type") || first.pointer.ends_with("/tag");
            let other_kind = within.is_empty() && (of_kind || messages::is_of_no_kind(&first.message));
            let reasons = if other_kind { &mut far } else { &mut near };
            let reason = messages::reason(within, &first.message);
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        Ok(if near.is_empty() { messages::of_no_kind(&far) } else { messages::fits_none(&near, rules.len()) })
    }

    fn keys<'d>(&mut self, node: Node<'d>) -> Result<HashMap<String, Node<'d>>> {
        let pairs = node.pairs();
        self.budget.spend(pairs.len() as u64)?;
        Ok(pairs.into_iter().map(|(key, value)| (key_name(key), value)).collect())
    }

    pub(super) fn miss(&mut self, uri: &str) {
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

    fn violation(&self, node: Node<'_>, id: RuleId, keyword: &str, message: String) -> Violation {
        let pointer = self.rules.place(id).map_or("", |place| place.pointer.as_str());
        Violation {
            path: self.path(),
            range: node.span(),
            schema: self.rules.document_uri(id).to_owned(),
            pointer: format!("{pointer}/{keyword}"),
            message,
        }
    }
}

/// Whether a mapping stands for a value elsewhere.
pub(super) fn is_reference(node: Node<'_>) -> bool {
    node.kind() == Kind::Mapping && node.get("$ref").is_some()
}

fn within(valid: bool) -> Passed {
    if valid { Ok(()) } else { Err(None) }
}
