//! Entities of a file whose datasets have paths and no tree: groups are what the paths have before slashes.

use std::collections::HashMap;

use container_core::container::Container;
use container_core::json_pointer::escape;

use super::Children;
use super::attributes::Attributes;
use super::entity::{Entity, Part, has_mask_entity};
use super::names::{MAX_CHILDREN, joined, name};

/// Maximum number of datasets that are placed in the tree; the others are found by their paths.
const MAX_PLACED: usize = 20_000;

/// Maximum number of steps of a path. A longer one has its rest as one name.
const MAX_STEPS: usize = 64;

/// Groups and datasets by name.
#[derive(Debug)]
pub(super) struct PathTree {
    nodes: Vec<Node>,
    /// The node of each placed dataset.
    placed: HashMap<usize, usize>,
}

#[derive(Debug)]
struct Node {
    name: String,
    parent: usize,
    entity: Entity,
    children: Vec<usize>,
    by_name: HashMap<String, usize>,
    /// Number of children that are not among them.
    unlisted: u64,
}

impl PathTree {
    /// Places the datasets that a plain listing shows.
    pub(super) fn new(container: &dyn Container) -> Self {
        let root = Node {
            name: String::new(),
            parent: 0,
            entity: Entity::Group(Attributes::default()),
            children: Vec::new(),
            by_name: HashMap::new(),
            unlisted: 0,
        };
        let mut tree = Self { nodes: vec![root], placed: HashMap::new() };
        let listed = container.listed_count();
        let mut last = 0;
        for index in 0..listed.min(MAX_PLACED) {
            let Some(dataset) = container.dataset(index) else { continue };
            last = tree.place(&dataset.path, index);
        }
        let unlisted = listed.saturating_sub(MAX_PLACED);
        if unlisted > 0 {
            // They go on where the last ones are: in `frames`, in `items`.
            let group = tree.top_group(last);
            let unlisted = frames_left(container, &tree, group).unwrap_or(unlisted);
            if let Some(node) = tree.nodes.get_mut(group) {
                node.unlisted = u64::try_from(unlisted).unwrap_or(u64::MAX);
            }
        }
        tree
    }

    /// Adds the dataset of a path. A path that another one has, or that leads through a dataset, becomes a name with escaped slashes.
    fn place(&mut self, path: &str, index: usize) -> usize {
        let mut group = 0;
        let mut rest = if path == "." { "data" } else { path };
        let mut steps = 0_usize;
        while let Some((step, below)) = rest.split_once('/') {
            let is_dataset = self.child(group, step).is_some_and(|at| !self.is_group(at));
            steps = steps.saturating_add(1);
            // Every later step has a name too.
            if step.is_empty() || below.is_empty() || is_dataset || steps > MAX_STEPS {
                break;
            }
            group = self.group(group, step);
            rest = below;
        }
        let node = self.add(group, &name(&escape(rest)), Entity::dataset(index));
        self.placed.insert(index, node);
        node
    }

    /// The group of a name, made where it is missing.
    pub(super) fn group(&mut self, parent: usize, step: &str) -> usize {
        match self.child(parent, step).filter(|at| self.is_group(*at)) {
            Some(node) => node,
            None => self.add(parent, step, Entity::Group(Attributes::default())),
        }
    }

    /// Adds an entity; a name that is taken is numbered.
    pub(super) fn add(&mut self, parent: usize, name: &str, entity: Entity) -> usize {
        let mut own = name.to_owned();
        let mut count = 1_u64;
        while self.child(parent, &own).is_some() {
            count = count.saturating_add(1);
            own = format!("{name} ({count})");
        }
        let node = self.nodes.len();
        if let Some(above) = self.nodes.get_mut(parent) {
            above.children.push(node);
            above.by_name.insert(own.clone(), node);
        }
        let (children, by_name) = (Vec::new(), HashMap::new());
        self.nodes.push(Node { name: own, parent, entity, children, by_name, unlisted: 0 });
        node
    }

    fn child(&self, parent: usize, step: &str) -> Option<usize> {
        self.nodes.get(parent)?.by_name.get(step).copied()
    }

    fn is_group(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| matches!(node.entity, Entity::Group(_)))
    }

    /// The ancestor of a node below the root; the root for its own children that are datasets.
    fn top_group(&self, mut node: usize) -> usize {
        loop {
            match self.nodes.get(node).map(|node| node.parent) {
                Some(0) | None => return if self.is_group(node) { node } else { 0 },
                Some(parent) => node = parent,
            }
        }
    }

    fn find(&self, steps: &[&str]) -> Option<usize> {
        steps.iter().try_fold(0, |node, step| self.child(node, step))
    }

    /// The entity at the steps of a path.
    pub(super) fn resolve(&self, steps: &[&str]) -> Option<Entity> {
        self.nodes.get(self.find(steps)?).map(|node| node.entity.clone())
    }

    /// The children of a group.
    pub(super) fn children(&self, container: &dyn Container, steps: &[&str]) -> Children {
        let mut children = Children::default();
        let Some(node) = self.find(steps).and_then(|node| self.nodes.get(node)) else { return children };
        let nodes = node.children.iter().take(MAX_CHILDREN).filter_map(|child| self.nodes.get(*child));
        for child in nodes {
            children.entries.push((child.name.clone(), child.entity.clone()));
            if let Entity::Dataset { index, part: Part::Whole, .. } = child.entity
                && has_mask_entity(container, index)
            {
                children.entries.push((format!("{}.mask", child.name), Entity::Mask { index }));
            }
        }
        let cut = node.children.len().saturating_sub(MAX_CHILDREN);
        children.unlisted = node.unlisted.saturating_add(u64::try_from(cut).unwrap_or(u64::MAX));
        children
    }

    /// The path of a placed dataset.
    pub(super) fn path_of(&self, index: usize) -> Option<String> {
        self.placed.get(&index).map(|node| self.path(*node))
    }

    fn path(&self, mut node: usize) -> String {
        let mut names = Vec::new();
        while let Some(own) = self.nodes.get(node).filter(|_| node > 0) {
            names.push(own.name.as_str());
            node = own.parent;
        }
        if names.is_empty() {
            return "/".to_owned();
        }
        joined(names.into_iter().rev())
    }

    /// The paths of all nodes, at most `most` of them.
    pub(super) fn paths(&self, most: usize) -> Vec<String> {
        (0..self.nodes.len()).take(most).map(|node| self.path(node)).collect()
    }
}

/// Number of frames of a GSD file that are not in its group `frames`, where that is the group.
fn frames_left(container: &dyn Container, tree: &PathTree, group: usize) -> Option<usize> {
    let file = container.as_any()?.downcast_ref::<holdall::gsd::File>()?;
    let node = tree.nodes.get(group).filter(|node| node.name == "frames")?;
    usize::try_from(file.nframes()).ok()?.checked_sub(node.children.len())
}
