//! Entries of the index in which one bit is another.
//!
//! Entries are sorted, and chunks lie one behind the other in the order of writing, each of the type and with the columns that its
//! name has in other frames. Where an entry fits none of this, and of the 256 entries that are one bit away exactly one does, that
//! one was written. An entry that breaks no rule, and only leaves a gap, has to have the very shape of a neighbour as well.

mod places;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use container_core::Result;
use container_core::dtype::ByteOrder;
use container_core::report::RepairItem;
use container_core::source::Source;

use super::input::Damaged;
use super::{index, names};
use crate::header::INDEX_ENTRY_LEN;
use crate::index::{Index, IndexEntry};
use places::Places;

/// Entries that are looked at: an index with more that do not fit was damaged in another way.
const MOST: usize = 256;

/// Slots on either side among which one of the same name is looked for.
const NEAR: usize = 4096;

/// Entries that are gone through for what is wrong with them when one of them is another, for all that are tried.
const MOST_WORK: usize = 1 << 26;

/// An entry as it is, and as it was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flip {
    /// Offset of its slot.
    pub(crate) at: u64,
    pub(crate) was: IndexEntry,
    pub(crate) is: IndexEntry,
}

impl Flip {
    /// Which field it is, and its two values.
    fn change(&self) -> (&'static str, i128, i128) {
        let (was, is) = (&self.was, &self.is);
        let fields: [(&'static str, i128, i128); 7] = [
            ("frame", was.frame.into(), is.frame.into()),
            ("N", was.n.into(), is.n.into()),
            ("location", was.location.into(), is.location.into()),
            ("M", was.m.into(), is.m.into()),
            ("id", was.id.into(), is.id.into()),
            ("type", was.type_code.into(), is.type_code.into()),
            ("flags", was.flags.into(), is.flags.into()),
        ];
        fields.into_iter().find(|(_, was, is)| was != is).unwrap_or(fields[6])
    }

    /// What is said of it: the field that has another value.
    pub(crate) fn what(&self, name: &str) -> String {
        let (field, was, is) = self.change();
        let frame = self.is.frame;
        format!(
            "{name} of frame {frame}: {field} {is} in its index entry, not {was}, is one bit away and fits"
        )
    }
}

/// A slot, the entry that was written there, and how it fits.
type Written = (usize, IndexEntry, Fit);

/// The one to be mended.
enum Best {
    One(Written),
    /// Slots of entries of which each may be the one.
    Several(Vec<usize>),
    None,
}

/// What an entry breaks that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Breaks {
    /// What holds for all entries: it makes no sense, is not in order or lies over another.
    Rules,
    /// Nothing but that it lies apart from others.
    Place,
    /// Nothing but that it is unlike others of its name.
    Form,
}

/// Slots of entries that may not fit.
#[derive(Debug, Default)]
struct Suspects {
    /// They break a rule, or lie beside bytes that are nobody's.
    wrong: BTreeSet<usize>,
    /// They are unlike others of their name, or those are.
    unlike: BTreeSet<usize>,
}

impl Suspects {
    fn all(&self) -> impl Iterator<Item = usize> {
        self.wrong.iter().chain(&self.unlike).copied()
    }
}

/// How well an entry fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// Among the others, and with the shape of one of the same name.
    Alike,
    /// Among the others.
    Beside,
}

/// The slots of the index that the header points at.
struct Table<'t, 'a> {
    damaged: &'t Damaged<'a>,
    slots: Vec<IndexEntry>,
    names: Option<usize>,
}

/// The entries that are one bit off; none where there is no whole index.
pub(crate) fn find(damaged: &Damaged<'_>) -> Result<Vec<Flip>> {
    let Some(block) = damaged.header.index_range().filter(|_| damaged.has_index()) else {
        return Ok(Vec::new());
    };
    let Some(mut table) = Table::read(damaged)? else { return Ok(Vec::new()) };
    let mut work = MOST_WORK;
    let mut written: BTreeMap<usize, IndexEntry> = BTreeMap::new();
    // Slots of which more than one could be the damaged one.
    let mut unclear: BTreeSet<usize> = BTreeSet::new();
    loop {
        let mut likely = table.likely()?;
        likely.retain(|(slot, ..)| !written.contains_key(slot) && !unclear.contains(slot));
        let evaluations = (likely.len() + 1) * table.slots.len();
        let Some(rest) = work.checked_sub(evaluations).filter(|_| !likely.is_empty()) else { break };
        work = rest;
        match table.best(&likely)? {
            Best::One((slot, is, _)) => {
                written.insert(slot, std::mem::replace(&mut table.slots[slot], is));
            }
            Best::Several(slots) => unclear.extend(slots),
            Best::None => break,
        }
    }
    // An index that begins with nothing that makes sense may begin elsewhere.
    if !table.slots.first().is_some_and(|first| table.is_sensible(first)) {
        return Ok(Vec::new());
    }
    let flip = |(slot, was): (usize, IndexEntry)| Flip {
        at: block.start + slot as u64 * INDEX_ENTRY_LEN,
        was,
        is: table.slots[slot],
    };
    Ok(written.into_iter().map(flip).collect())
}

impl<'t, 'a> Table<'t, 'a> {
    fn read(damaged: &'t Damaged<'a>) -> Result<Option<Self>> {
        let mut slots: Vec<IndexEntry> = Vec::new();
        let mut used = 0;
        for window in damaged.windows(damaged.index_block(), 0) {
            let (_, bytes) = window?;
            let entries = Index::new(&bytes, damaged.order());
            // With what is known of their places, 120 bytes for each.
            damaged.limits.allocate((slots.len() + entries.len()) as u64 * 120)?;
            for entry in entries.iter() {
                slots.push(entry);
                if entry != IndexEntry::default() {
                    used = slots.len();
                }
            }
        }
        slots.truncate(used);
        let sensible = |entry: &&IndexEntry| damaged.entry_problem(entry, None).is_none();
        let listed: Vec<IndexEntry> = slots.iter().filter(sensible).copied().collect();
        let names = index::needed_names(damaged, &listed)?;
        let table = Self { damaged, slots, names: Some(names).filter(|names| *names > 0) };
        Ok((u32::try_from(used).is_ok() && used > 1).then_some(table))
    }

    fn is_sensible(&self, entry: &IndexEntry) -> bool {
        // Readers take no other frames, however many there may be.
        entry.frame < self.damaged.header.index_allocated_entries
            && self.damaged.entry_problem(entry, self.names).is_none()
    }

    /// The entries that do not fit, and the one that each may have been.
    fn likely(&self) -> Result<Vec<Written>> {
        let places = Places::of(self)?;
        let suspects = self.suspects(&places)?.unwrap_or_default();
        let mut found = Vec::new();
        for slot in suspects.all() {
            let entry = &self.slots[slot];
            if self.fit(&places, &suspects, slot, entry)?.is_some() {
                continue;
            }
            let breaks = self.breaks(&places, slot)?;
            let is_usual = self.models(&suspects, slot, entry.id).any(|other| is_alike(&other, entry));
            let (mut alike, mut beside) = (Vec::new(), Vec::new());
            for bit in 0..256 {
                let mut bytes = entry.to_bytes(ByteOrder::Little);
                bytes[bit / 8] ^= 1 << (bit % 8);
                let other = IndexEntry::from_bytes(&bytes, ByteOrder::Little);
                let is_unlikely = match breaks {
                    Breaks::Rules => false,
                    // What is between chunks need not be one's own.
                    Breaks::Place => is_usual && entry.size() != other.size(),
                    // Programs may change the type of a name, and mean it.
                    Breaks::Form => other.id == entry.id,
                };
                let leaps = other.frame != entry.frame && self.leaps(slot, &other);
                let is_moved = other.location != entry.location;
                if is_unlikely
                    || leaps
                    || (is_moved && self.is_out_of_turn(&places, &suspects.wrong, slot, &other))
                {
                    continue;
                }
                match self.fit(&places, &suspects, slot, &other)? {
                    Some(Fit::Alike) => alike.push(other),
                    Some(Fit::Beside) => beside.push(other),
                    None => {}
                }
            }
            match (&alike[..], &beside[..]) {
                ([one], _) => found.push((slot, *one, Fit::Alike)),
                ([], [one]) if breaks == Breaks::Rules => found.push((slot, *one, Fit::Beside)),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Of entries that may have been others the one with which the most fit. Where it is one of several that would each do instead
    /// of the others, all of them.
    fn best(&mut self, likely: &[Written]) -> Result<Best> {
        let slots: BTreeSet<usize> = likely.iter().map(|(slot, ..)| *slot).collect();
        let (misfits, _) = self.cost(&slots)?;
        let mut costs = Vec::new();
        for (slot, is, fit) in likely {
            let was = std::mem::replace(&mut self.slots[*slot], *is);
            let cost = self.cost(&slots)?;
            self.slots[*slot] = was;
            if cost.0 < misfits {
                costs.push(((cost, *fit == Fit::Beside), (*slot, *is, *fit)));
            }
        }
        let Some(least) = costs.iter().map(|(cost, _)| *cost).min() else { return Ok(Best::None) };
        let mut best = costs.into_iter().filter(|(cost, _)| *cost == least).map(|(_, one)| one);
        let Some(first) = best.next() else { return Ok(Best::None) };
        let was = std::mem::replace(&mut self.slots[first.0], first.1);
        let places = Places::of(self)?;
        let suspects = self.suspects(&places)?.unwrap_or_default();
        let fits = |slot: usize| self.fit(&places, &suspects, slot, &self.slots[slot]);
        let instead = best.map(|(slot, ..)| Ok(fits(slot)?.map(|_| slot))).collect::<Result<Vec<_>>>()?;
        let instead: Vec<usize> = instead.into_iter().flatten().chain([first.0]).collect();
        // What it lay over, or apart from, may be what is damaged.
        let [before, behind] = places.beside(first.0, &first.1);
        let beside = [before, behind].into_iter().flatten().map(fits).collect::<Result<Vec<_>>>()?;
        let is_alone = self.is_sensible(&was) && self.in_order(first.0, &was) && beside.contains(&None);
        self.slots[first.0] = was;
        let is_clear = instead.len() == 1 && !is_alone;
        Ok(if is_clear { Best::One(first) } else { Best::Several(instead) })
    }

    /// How many entries do not fit, and how many of those in question are odd in another way.
    fn cost(&self, in_question: &BTreeSet<usize>) -> Result<(usize, usize)> {
        let places = Places::of(self)?;
        let Some(suspects) = self.suspects(&places)? else { return Ok((usize::MAX, 0)) };
        let fits = suspects.all().map(|slot| self.fit(&places, &suspects, slot, &self.slots[slot]));
        let misfits = fits.collect::<Result<Vec<_>>>()?.into_iter().filter(Option::is_none).count();
        let is_odd = |slot: &&usize| {
            let (slot, entry) = (**slot, &self.slots[**slot]);
            self.leaps(slot, entry) || self.is_out_of_turn(&places, in_question, slot, entry)
        };
        Ok((misfits, in_question.iter().filter(is_odd).count()))
    }

    /// Whether a chunk lies behind one of a name that those of its own name do not lie behind in the frames around it.
    fn is_out_of_turn(
        &self,
        places: &Places,
        in_question: &BTreeSet<usize>,
        slot: usize,
        entry: &IndexEntry,
    ) -> bool {
        /// Frames that are looked at.
        const FRAMES: usize = 8;
        let turn = |slot: usize, entry: &IndexEntry| {
            let [before, _] = places.beside(slot, entry);
            // The first of its frame comes behind none.
            before
                .map(|before| &self.slots[before])
                .filter(|before| before.frame == entry.frame)
                .map(|before| before.id)
        };
        let own = turn(slot, entry);
        let is_other = |other: &usize| self.slots[*other].id == entry.id && !in_question.contains(other);
        let mut others = self.near(slot).filter(is_other).take(FRAMES).peekable();
        others.peek().is_some() && !others.any(|other| turn(other, &self.slots[other]) == own)
    }

    /// What is wrong with an entry that does not fit.
    fn breaks(&self, places: &Places, slot: usize) -> Result<Breaks> {
        let entry = &self.slots[slot];
        let is_wrong =
            !self.is_sensible(entry) || !self.in_order(slot, entry) || places.is_over_another(slot, entry);
        Ok(if is_wrong {
            Breaks::Rules
        } else if entry.size() != Some(0) && places.meets(self.damaged, &self.slots, slot, entry)?.is_some() {
            Breaks::Form
        } else {
            Breaks::Place
        })
    }

    /// Whether an entry in a slot leaves frames before its own without any.
    fn leaps(&self, slot: usize, entry: &IndexEntry) -> bool {
        let mut before = (slot.saturating_sub(NEAR)..slot).rev().map(|slot| &self.slots[slot]);
        let before = before.find(|before| self.is_sensible(before)).map(|before| before.frame);
        entry.frame > before.map_or(0, |frame| frame.saturating_add(1))
    }

    /// Slots of entries that make no sense, are not in order, lie over others or apart from them, or are unlike those of their
    /// name. `None` where there are too many.
    fn suspects(&self, places: &Places) -> Result<Option<Suspects>> {
        let mut wrong = places.suspects(self.damaged, &self.slots)?;
        let mut unlike = BTreeSet::new();
        let mut forms: HashMap<u16, (u8, u32, usize)> = HashMap::new();
        let mut last: Option<usize> = None;
        for (slot, entry) in self.slots.iter().enumerate() {
            if wrong.len() > MOST {
                return Ok(None);
            }
            if !self.is_sensible(entry) {
                wrong.extend((*entry != IndexEntry::default()).then_some(slot));
                continue;
            }
            if let Some(before) = last.filter(|before| !self.follows(&self.slots[*before], entry)) {
                wrong.extend([before, slot]);
            }
            last = Some(slot);
            let before = forms.insert(entry.id, (entry.type_code, entry.m, slot));
            if let Some((type_code, m, before)) = before
                && (type_code, m) != (entry.type_code, entry.m)
                && unlike.len() < MOST
            {
                unlike.extend([before, slot]);
            }
        }
        unlike.retain(|slot| !wrong.contains(slot));
        Ok(Some(Suspects { wrong, unlike }))
    }

    fn follows(&self, before: &IndexEntry, entry: &IndexEntry) -> bool {
        if self.damaged.header.is_v1() {
            before.frame <= entry.frame
        } else {
            (before.frame, before.id) < (entry.frame, entry.id)
        }
    }

    /// Whether an entry in a slot is in order with those around it.
    fn in_order(&self, slot: usize, entry: &IndexEntry) -> bool {
        let sensible = |slot: &usize| self.is_sensible(&self.slots[*slot]);
        let before = (slot.saturating_sub(NEAR)..slot).rev().find(sensible);
        let behind = (slot + 1..self.slots.len()).take(NEAR).find(sensible);
        let same = |other: &IndexEntry| (other.frame, other.id) == (entry.frame, entry.id);
        before.is_none_or(|before| self.follows(&self.slots[before], entry))
            && behind.is_none_or(|behind| self.follows(entry, &self.slots[behind]))
            && (!self.damaged.header.is_v1() || !self.near(slot).any(|other| same(&self.slots[other])))
    }

    /// Slots of entries that make sense around a slot, the nearest before it first.
    fn near(&self, slot: usize) -> impl Iterator<Item = usize> {
        let before = (slot.saturating_sub(NEAR)..slot).rev();
        let behind = (slot + 1..self.slots.len()).take(NEAR);
        before.chain(behind).filter(|slot| self.is_sensible(&self.slots[*slot]))
    }

    /// Entries of a name around a slot that nothing is wrong with.
    fn models(&self, suspects: &Suspects, slot: usize, id: u16) -> impl Iterator<Item = IndexEntry> {
        let is_sound = move |other: &usize| !suspects.wrong.contains(other);
        let own = move |other: &IndexEntry| other.id == id;
        self.near(slot).filter(is_sound).map(|other| self.slots[other]).filter(own)
    }

    /// How an entry would fit in a slot.
    fn fit(
        &self,
        places: &Places,
        suspects: &Suspects,
        slot: usize,
        entry: &IndexEntry,
    ) -> Result<Option<Fit>> {
        if !self.is_sensible(entry) || entry.size() == Some(0) || !self.in_order(slot, entry) {
            return Ok(None);
        }
        let Some(end) = places.meets(self.damaged, &self.slots, slot, entry)? else { return Ok(None) };
        let mut named = self.models(suspects, slot, entry.id).peekable();
        let is_new = named.peek().is_none();
        let mut formed = named.filter(|other| (other.type_code, other.m) == (entry.type_code, entry.m));
        let first = formed.next();
        let is_resized = self.slots[slot].size() != entry.size();
        // Nothing says which type a name has that is there once.
        let is_new = is_new && self.slots[slot].type_code == entry.type_code;
        Ok(if first.is_some_and(|first| first.n == entry.n) || formed.any(|other| other.n == entry.n) {
            Some(Fit::Alike)
        } else {
            // A last chunk that is too long may as well have lost its end.
            let is_clear = end == places::End::AtAnother || !is_resized;
            (is_clear && (is_new || first.is_some())).then_some(Fit::Beside)
        })
    }
}

fn is_alike(one: &IndexEntry, other: &IndexEntry) -> bool {
    (one.type_code, one.n, one.m) == (other.type_code, other.n, other.m)
}

/// What is said of entries that were mended.
pub(super) fn told(damaged: &Damaged<'_>, flips: &[Flip]) -> Result<Vec<RepairItem>> {
    let listed = names::stated(damaged, 0)?.map(|found| found.names).unwrap_or_default();
    let item = |flip: &Flip| {
        let name = listed.get(usize::from(flip.is.id)).and_then(Option::as_deref);
        let name =
            name.map_or_else(|| format!("name {}", flip.is.id), |name| String::from_utf8_lossy(name).into());
        RepairItem::new(flip.at..flip.at + INDEX_ENTRY_LEN, flip.what(&name))
    };
    Ok(flips.iter().map(item).collect())
}

/// The file with these entries as they were written.
pub(super) struct Mended<'s> {
    source: &'s dyn Source,
    slots: Vec<(u64, [u8; 32])>,
}

impl<'s> Mended<'s> {
    pub(super) fn new(source: &'s dyn Source, flips: &[Flip], order: ByteOrder) -> Self {
        Self { source, slots: flips.iter().map(|flip| (flip.at, flip.is.to_bytes(order))).collect() }
    }
}

impl Source for Mended<'_> {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.source.read_into(at, dst)?;
        for (place, slot) in &self.slots {
            for (byte, offset) in slot.iter().zip(*place..) {
                let to = offset.checked_sub(at).and_then(|to| usize::try_from(to).ok());
                if let Some(to) = to.and_then(|to| dst.get_mut(to)) {
                    *to = *byte;
                }
            }
        }
        Ok(())
    }

    fn lend(&self, range: std::ops::Range<u64>) -> Option<&[u8]> {
        let changed = |at: &u64| range.start < *at + INDEX_ENTRY_LEN && *at < range.end;
        if self.slots.iter().any(|(at, _)| changed(at)) { None } else { self.source.lend(range) }
    }
}
