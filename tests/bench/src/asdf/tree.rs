//! Trees: 110,000 nodes as a telescope's catalogue has them, read and written; and an array whose numbers stand in the tree.

use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{Context as _, Result, ensure};
use asdf::File;
use asdf::TAG_PREFIX;
use asdf::writer::{ArraySpec, Plan};
use asdf::yaml::{EmitOptions, Yaml, emit_document};
use asdf_rs::AsdfFile;
use container_core::dtype::{Element as _, Order};
use container_core::region::Region;
use container_core::write::Overwrite;

use super::{CRATE, Clock, Job, OURS, PYTHON, cached, python, text, timed, unproved};
use crate::harness::{Claim, Contender, Group, Unit};
use crate::scratch::{check, check_values};

/// Path of the many nodes.
const SOURCES: &str = "roman/sources";

/// Rounds of Python, which takes seconds for each.
const SLOW: usize = 2;

pub(super) fn tree<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let shared = file(job, "shared")?;
    // Made last, since Python writes the tree that it made last.
    let plain = file(job, "plain")?;
    let nodes = File::open(&plain)?.tree().document().len();
    let title = format!("Open a tree of {} nodes", nodes / 1000 * 1000);
    Ok(vec![
        // asdf-rs is as far behind as the reader of most of these trees is ahead.
        open(job, title.clone(), &plain, Some(1.0))?,
        open(job, format!("{title} and an alias"), &shared, None)?,
        emit(job, &plain, nodes)?,
    ])
}

fn file(job: &Job<'_>, shared: &str) -> Result<PathBuf> {
    job.made(&format!("tree-{shared}.asdf"), |path| job.python(&["make_tree", text(path)?, shared]).map(drop))
}

fn open<'a>(job: &'a Job<'a>, title: String, path: &std::path::Path, goal: Option<f64>) -> Result<Group<'a>> {
    let count = |count: &usize| Ok(Some(*count as u64));
    let (ours, theirs) = (path.to_owned(), path.to_owned());
    let contenders = vec![
        Contender::new(OURS, move || {
            let mut opened = None;
            timed(
                Clock::Cpu,
                || {
                    let file = opened.insert(File::open(&ours)?);
                    Ok(file.tree().find(SOURCES).context("no sources")?.len())
                },
                count,
            )
        }),
        Contender::new(CRATE, move || {
            let mut opened = None;
            timed(
                Clock::Cpu,
                || {
                    let tree = AsdfFile::open(&theirs)?.tree()?;
                    let tree: &asdf_rs::Tree = opened.insert(tree.context("no tree")?);
                    let sources = tree.get(SOURCES).context("no sources")?;
                    sources.len().context("no sequence")
                },
                count,
            )
        }),
        python(job, PYTHON, &["open_tree", "cpu", text(path)?]).at_most(SLOW),
    ];
    Ok(Group {
        title,
        unit: Unit::Time,
        contenders,
        claims: vec![Claim::Speed(OURS, PYTHON, Some(30.0)), Claim::Speed(OURS, CRATE, goal)],
    })
}

fn emit<'a>(job: &'a Job<'a>, path: &std::path::Path, nodes: usize) -> Result<Group<'a>> {
    let value = Yaml::from_node(File::open(path)?.tree().root())?;
    let theirs = AsdfFile::open(path)?.tree()?.context("no tree")?;
    let contenders = vec![
        Contender::new(OURS, move || {
            let options = EmitOptions::default().with_tag_handle("!", TAG_PREFIX);
            let work = || Ok(emit_document(&value, &options)?);
            timed(Clock::Cpu, work, |text| {
                ensure!(text.len() > nodes);
                Ok(None)
            })
        }),
        Contender::new(CRATE, move || {
            timed(
                Clock::Cpu,
                || Ok(theirs.to_yaml()?),
                |text| {
                    ensure!(text.len() > nodes);
                    Ok(None)
                },
            )
        }),
        python(job, PYTHON, &["emit", "cpu"]).at_most(SLOW),
    ];
    Ok(Group {
        title: format!("Write a tree of {} nodes to memory", nodes / 1000 * 1000),
        unit: Unit::Time,
        contenders,
        claims: vec![Claim::Speed(OURS, PYTHON, Some(30.0)), Claim::Speed(OURS, CRATE, None)],
    })
}

pub(super) fn inline<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    // A tenth each: most of them have all the digits of a double.
    let values: Rc<Vec<f64>> = Rc::new((0..job.bytes >> 8).map(|at| at as f64 * 0.1).collect());
    let count = values.len() as u64;
    let raw = job.made("inline.f64", |path| Ok(fs::write(path, bytemuck::cast_slice(&values))?))?;
    let path = job.made("inline.asdf", |path| {
        job.python(&["write_inline", "cpu", text(&raw)?, text(path)?]).map(drop)
    })?;
    let (ours, theirs) = (path.to_owned(), path.to_owned());
    let read = vec![
        Contender::new(OURS, move || {
            let work = || {
                let file = File::open(&ours)?;
                let options = unproved(1);
                Ok(file.read("data", &Region::whole(&[count]), &options)?.into_owned(&options.limits)?)
            };
            let limits = container_core::Limits::default();
            timed(Clock::Cpu, work, |array| Ok(Some(check(&array.bytes(Order::C, &limits)?))))
        }),
        Contender::new(CRATE, move || {
            let work = || Ok(AsdfFile::open(&theirs)?.read_array_of::<f64>("data")?);
            timed(Clock::Cpu, work, |values| Ok(Some(check_values(values))))
        }),
        python(job, PYTHON, &["read", "cpu", text(&path)?]).at_most(1),
    ];
    let write = vec![
        Contender::new(OURS, move || {
            let target = job.scratch.fresh("asdf");
            let work = || {
                let plan = Plan::new(cached(1));
                let spec = ArraySpec::new(f64::dtype(), [count]);
                let node = plan.inline(&spec, bytemuck::cast_slice(&values))?;
                let tree = Yaml::mapping([("data", node)]);
                Ok(plan.create(tree, &target, Overwrite::Refuse)?.finish()?)
            };
            let run = timed(Clock::Cpu, work, |()| Ok(None))?;
            fs::remove_file(&target)?;
            Ok(run)
        }),
        python(job, PYTHON, &["write_inline", "cpu", text(&raw)?, text(&job.scratch.file("other.asdf"))?])
            .at_most(1),
    ];
    Ok(vec![
        Group {
            title: format!("Read {count} numbers of the tree as an array"),
            unit: Unit::Each(count, "number"),
            contenders: read,
            claims: vec![Claim::Speed(OURS, CRATE, None), Claim::Speed(OURS, PYTHON, Some(30.0))],
        },
        Group {
            title: format!("Write {count} numbers into a tree"),
            unit: Unit::Each(count, "number"),
            contenders: write,
            claims: vec![Claim::Speed(OURS, PYTHON, None)],
        },
    ])
}
