//! The same frame is changed by ours and by both releases in turns. After each change each of them reads it, and finds what a list of
//! chunks and a map of user metadata say.

use std::collections::BTreeMap;
use std::path::Path;

use blosc2_frame::blosc_chunk::Special;
use blosc2_frame::{
    CompactOptions, EditOptions, Editor, Frame, FrameOptions, Kind, Locking, OpenOptions, compact,
    default_params, msgpack,
};
use container_core::container::ReadOptions;
use container_core::write::Durability;
use serde_json::{Value, json};

use crate::peers::{Peer, folder, hex};
use crate::random::{Random, cases};

/// Bytes of an element.
const ITEM: usize = 4;

/// Content of a frame.
#[derive(Default)]
struct Model {
    chunks: Vec<Vec<u8>>,
    user: BTreeMap<String, Value>,
}

/// A change, in the words of `testdata/blosc2/peer.py`.
#[derive(Clone, Debug)]
enum Step {
    Append(Vec<u8>),
    Insert(usize, Vec<u8>),
    Update(usize, Vec<u8>),
    Delete(usize),
    Reorder(Vec<usize>),
    Zero(usize),
    Set(String, Value),
    Unset(String),
}

impl Step {
    fn random(random: &mut Random, model: &Model, sizes: Option<usize>) -> Self {
        let count = model.chunks.len() as u64;
        let data = |random: &mut Random, len: usize| {
            let mut bytes = random.bytes(len);
            // C-Blosc2 loses the size of a chunk of zeros where sizes vary.
            if sizes.is_none() && !bytes.is_empty() {
                bytes[0] = 1;
            }
            bytes
        };
        let fresh = |random: &mut Random| sizes.unwrap_or_else(|| ITEM * (1 + random.below(300) as usize));
        if count == 0 {
            let len = fresh(random);
            return Self::Append(data(random, len));
        }
        let at = random.below(count) as usize;
        match random.below(12) {
            0..3 => {
                let len = fresh(random);
                Self::Append(data(random, len))
            }
            3 => {
                let len = fresh(random);
                Self::Insert(random.below(count + 1) as usize, data(random, len))
            }
            4 | 5 => {
                let len = fresh(random);
                Self::Update(at, data(random, len))
            }
            // C-Blosc2 takes no larger chunk into a frame that had one and has none.
            6 if sizes.is_some() || count > 1 => Self::Delete(at),
            7 => {
                let mut order: Vec<usize> = (0..count as usize).collect();
                for last in (1..order.len()).rev() {
                    order.swap(last, random.below(last as u64 + 1) as usize);
                }
                Self::Reorder(order)
            }
            8 if sizes.is_some() => Self::Zero(at),
            9 if !model.user.is_empty() => Self::Unset(
                model.user.keys().nth(random.below(model.user.len() as u64) as usize).unwrap().clone(),
            ),
            _ => {
                let name = format!("name {}", random.below(5));
                let value = match random.below(4) {
                    0 => json!(random.below(1 << 40)),
                    1 => json!("\u{e9}t\u{e9} ".repeat(random.below(60) as usize)),
                    2 => json!([1.5, null, true, "x", -3]),
                    _ => json!({"a": {"b": [1, 2, 3]}, "n": random.below(100)}),
                };
                Self::Set(name, value)
            }
        }
    }

    fn apply(&self, model: &mut Model) {
        let chunks = &mut model.chunks;
        match self.clone() {
            Self::Append(data) => chunks.push(data),
            Self::Insert(at, data) => chunks.insert(at, data),
            Self::Update(at, data) => chunks[at] = data,
            Self::Delete(at) => drop(chunks.remove(at)),
            Self::Reorder(order) => *chunks = order.iter().map(|at| chunks[*at].clone()).collect(),
            Self::Zero(at) => chunks[at].fill(0),
            Self::Set(name, value) => drop(model.user.insert(name, value)),
            Self::Unset(name) => drop(model.user.remove(&name)),
        }
    }

    /// By an editor that was just opened.
    fn ours(&self, path: &Path, variable: bool) {
        let mut options = EditOptions::default();
        options.variable_chunks = variable;
        let mut editor = Editor::open(path, &options).unwrap();
        self.edit(&mut editor);
        editor.commit(Durability::Cached).unwrap();
    }

    fn edit(&self, editor: &mut Editor) {
        match self {
            Self::Append(data) => editor.append(data).unwrap(),
            Self::Insert(at, data) => editor.insert(*at as u64, data).unwrap(),
            Self::Update(at, data) => editor.update(*at as u64, data).unwrap(),
            Self::Delete(at) => editor.delete(*at as u64, 1).unwrap(),
            Self::Reorder(order) => {
                let order: Vec<u64> = order.iter().map(|at| *at as u64).collect();
                editor.reorder(&order).unwrap();
            }
            Self::Zero(at) => editor.update_special(*at as u64, Special::Zeros).unwrap(),
            Self::Set(name, value) => {
                editor.set_vlmetalayer(name, &msgpack::to_msgpack(value).unwrap()).unwrap();
            }
            Self::Unset(name) => assert!(editor.remove_vlmetalayer(name)),
        }
    }

    fn theirs(&self) -> Value {
        match self {
            Self::Append(data) => json!(["append", {"hex": hex(data)}]),
            Self::Insert(at, data) => json!(["insert", at, {"hex": hex(data)}]),
            Self::Update(at, data) => json!(["update", at, {"hex": hex(data)}]),
            Self::Delete(at) => json!(["delete", at]),
            Self::Reorder(order) => json!(["reorder", order]),
            Self::Zero(at) => json!(["zero", at]),
            Self::Set(name, value) => json!(["vlmeta", name, value]),
            Self::Unset(name) => json!(["unvlmeta", name]),
        }
    }
}

/// Checks that ours and python-blosc2 read the content of the model from the file.
fn check(path: &Path, model: &Model, peers: &mut [Peer], label: &str) {
    let frame =
        Frame::open_with(path, &OpenOptions::default()).unwrap_or_else(|error| panic!("{label}: {error}"));
    assert_eq!(frame.chunk_count(), model.chunks.len() as u64, "{label}");
    for (at, expected) in model.chunks.iter().enumerate() {
        let chunk = frame.read_chunk(at as u64, &ReadOptions::default());
        assert!(
            chunk.as_ref().is_ok_and(|chunk| chunk == expected),
            "{label}: chunk {at}: {:?}",
            chunk.err()
        );
    }
    let user: BTreeMap<String, Value> = frame
        .vlmetalayer_names()
        .map(|name| {
            let bytes = frame.vlmetalayer(name).unwrap().unwrap();
            (name.to_owned(), msgpack::from_msgpack(&bytes).unwrap())
        })
        .collect();
    assert_eq!(user, model.user, "{label}");
    drop(frame);
    for peer in peers {
        let label = format!("{label}, read by {:?}", peer.release);
        let (answer, values) = peer.read(path);
        assert_eq!(answer["nchunks"], model.chunks.len(), "{label}");
        assert!(values == model.chunks.concat(), "{label}");
        let info = peer.info(path);
        let user: BTreeMap<String, Value> = info["vlmeta"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        assert_eq!(user, model.user, "{label}");
    }
}

/// A new frame without chunks, by ours or by a peer.
fn create(path: &Path, writer: Option<&mut Peer>, chunksize: usize, sparse: bool, variable: bool) {
    if let Some(peer) = writer {
        let request =
            json!({"path": path, "hex": "", "typesize": ITEM, "chunksize": chunksize, "sparse": sparse});
        peer.ask("frame", request);
        return;
    }
    let mut options = FrameOptions::default();
    options.params = default_params(ITEM);
    options.kind = if sparse { Kind::Sparse } else { Kind::Contiguous };
    options.variable_chunks = variable;
    drop(Editor::create(path, options, &EditOptions::default()).unwrap());
}

/// Whether `writer`, one of 0 (ours), 1 (the newest release), 2 (the old one), may do the step.
fn may(writer: usize, step: &Step) -> bool {
    // The old release has no such calls.
    writer != 2 || !matches!(step, Step::Zero(_) | Step::Reorder(_))
}

fn run(sequences: u64, steps: u64, seed: u64, variable: bool) {
    let mut random = Random::new(seed);
    let mut peers = Peer::both();
    // The old release knows no chunks of different sizes.
    let known = if variable { 1 } else { 2 };
    let mut done = [0; 3];
    for number in 0..cases(sequences) {
        let folder = folder();
        let path = folder.path().join("a.b2frame");
        let chunksize = ITEM * (8 + random.below(800) as usize);
        let sparse = random.chance(3);
        let maker = random.below(known + 1) as usize;
        create(&path, maker.checked_sub(1).map(|at| &mut peers[at]), chunksize, sparse, variable);
        let mut model = Model::default();
        for at in 0..steps {
            let step = Step::random(&mut random, &model, (!variable).then_some(chunksize));
            let mut writer = random.below(known + 1) as usize;
            while !may(writer, &step) {
                writer = random.below(known + 1) as usize;
            }
            let label = format!(
                "sequence {number} of {chunksize} (sparse: {sparse}, made by {maker}), step {at} by {writer}: {}",
                step.theirs()
            );
            let label: String = label.chars().take(200).collect();
            step.apply(&mut model);
            if writer == 0 {
                step.ours(&path, variable);
            } else {
                let peer = &mut peers[writer - 1];
                let request = json!({"path": path, "steps": [step.theirs()]});
                peer.try_ask("mutate", request).unwrap_or_else(|error| panic!("{label}: {error}"));
            }
            done[writer] += 1;
            check(&path, &model, &mut peers[..known as usize], &label);
            if !sparse && random.below(12) == 0 {
                compact(&path, &CompactOptions::default()).unwrap();
                check(&path, &model, &mut peers[..known as usize], &format!("{label}, compacted"));
            }
        }
    }
    assert!(done[..=known as usize].iter().all(|count| *count >= sequences * steps / 6), "{done:?}");
}

#[test]
fn frames_of_equal_chunks_are_changed_by_three_programs_in_turns() {
    run(16, 16, 4, false);
}

#[test]
fn frames_of_different_chunks_are_changed_by_two_programs_in_turns() {
    run(14, 16, 5, true);
}

/// Several changes in one commit, and several commits of one editor, which python-blosc2 follows.
#[test]
fn each_commit_of_an_editor_is_read_by_both_releases() {
    let mut random = Random::new(6);
    let mut peers = Peer::both();
    for number in 0..cases(12) {
        let folder = folder();
        let path = folder.path().join("a.b2frame");
        let chunksize = ITEM * (8 + random.below(2000) as usize);
        let sparse = random.chance(5);
        create(&path, None, chunksize, sparse, false);
        let mut model = Model::default();
        let mut options = EditOptions::default();
        options.lock = if random.chance(5) { Locking::JournalStore } else { Locking::Off };
        let mut editor = Editor::open(&path, &options).unwrap();
        for at in 0..8 {
            for _ in 0..1 + random.below(5) {
                let step = Step::random(&mut random, &model, Some(chunksize));
                step.apply(&mut model);
                step.edit(&mut editor);
            }
            editor.commit(Durability::Cached).unwrap();
            check(&path, &model, &mut peers, &format!("editor {number}, commit {at}"));
        }
    }
}
