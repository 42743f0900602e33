//! Lines of an array from its cells: one axis flows along lines, the last two of more are rows and columns.

use super::super::iterate::Odometer;

/// The mark in the place of values that are left out.
const GAP: &str = "...";

/// An axis, perhaps without its middle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    len: u64,
    /// Indices at each end, where the middle is left out.
    edge: Option<u64>,
}

/// Consecutive shown indices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// First index along the axis.
    pub start: u64,
    /// Number of indices.
    pub count: u64,
    /// Place of the first among all shown ones.
    pub place: u64,
}

impl Axis {
    pub(super) const fn new(len: u64, edge: Option<u64>) -> Self {
        match edge {
            Some(edge) if len > edge.saturating_mul(2) => Self { len, edge: Some(edge) },
            _ => Self { len, edge: None },
        }
    }

    /// Number of shown indices.
    pub(super) fn shown(&self) -> u64 {
        self.edge.map_or(self.len, |edge| edge.saturating_mul(2))
    }

    pub(super) fn runs(&self) -> Vec<Run> {
        match self.edge {
            None => vec![Run { start: 0, count: self.len, place: 0 }],
            Some(edge) => vec![
                Run { start: 0, count: edge, place: 0 },
                Run { start: self.len.saturating_sub(edge), count: edge, place: edge },
            ],
        }
    }

    /// The index at a place among the shown ones.
    fn index(&self, place: u64) -> u64 {
        match self.edge {
            Some(edge) if place >= edge => {
                self.len.saturating_sub(edge.saturating_mul(2)).saturating_add(place)
            }
            _ => place,
        }
    }

    /// True where the middle is left out before this place.
    fn has_gap_before(&self, place: u64) -> bool {
        self.edge == Some(place)
    }
}

/// Treatment of rows that are longer than a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Gap {
    /// They stay.
    Never,
    /// Columns in the middle are left out, so that a row fits this width.
    ToFit(usize),
}

/// The lines. `cells` are those of the shown indices, in C order; records of a single axis have a line each.
pub(super) fn text(axes: &[Axis], cells: &[String], is_record: bool, width: usize, gap: Gap) -> String {
    if cells.is_empty() {
        return "[]\n".to_owned();
    }
    match axes {
        [] => cells.concat() + "\n",
        [one] if is_record => rows(one, &Axis::new(1, None), cells, Gap::Never),
        [one] => flow(one, cells, width),
        [rest @ .., height, columns] => planes(rest, height, columns, cells, gap),
    }
}

/// Values along lines, broken where the next does not fit.
fn flow(axis: &Axis, cells: &[String], width: usize) -> String {
    let (mut text, mut line) = (String::new(), String::new());
    let mut push = |word: &str| {
        if !line.is_empty() && columns_of(&line).saturating_add(columns_of(word)) > width {
            push_line(&line, &mut text);
            line.clear();
        }
        line.push_str(word);
        line.push(' ');
    };
    for (place, cell) in (0..).zip(cells) {
        if axis.has_gap_before(place) {
            push(GAP);
        }
        push(cell);
    }
    push_line(&line, &mut text);
    text
}

fn columns_of(text: &str) -> usize {
    text.chars().count()
}

/// Appends a line without the blanks at its end.
fn push_line(line: &str, text: &mut String) {
    text.push_str(line.trim_end_matches(' '));
    text.push('\n');
}

/// Planes of the last two axes, each below its indices where there are more axes.
fn planes(rest: &[Axis], height: &Axis, columns: &Axis, cells: &[String], gap: Gap) -> String {
    let mut text = String::new();
    let lens: Vec<u64> = rest.iter().map(Axis::shown).collect();
    let plane = usize::try_from(height.shown().saturating_mul(columns.shown())).unwrap_or(usize::MAX).max(1);
    let mut at = Odometer::new(&lens);
    for cells in cells.chunks(plane) {
        if !rest.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            // The axis that moved last is the first of those that begin anew.
            let moved = at.at.iter().rposition(|place| *place > 0);
            let is_gap = moved.is_some_and(|axis| {
                rest.get(axis).zip(at.at.get(axis)).is_some_and(|(axis, place)| axis.has_gap_before(*place))
            });
            if is_gap {
                text.push_str(GAP);
                text.push_str("\n\n");
            }
            let indices = rest.iter().zip(&at.at).map(|(axis, place)| axis.index(*place).to_string());
            let indices: Vec<String> = indices.collect();
            text.push_str(&format!("[{}, :, :]\n", indices.join(", ")));
        }
        text.push_str(&rows(height, columns, cells, gap));
        at.step();
    }
    text
}

fn rows(height: &Axis, columns: &Axis, cells: &[String], gap: Gap) -> String {
    let count = usize::try_from(columns.shown()).unwrap_or(usize::MAX).max(1);
    let cut = cut(columns, count, cells, gap);
    let mut text = String::new();
    for (place, row) in (0..).zip(cells.chunks(count)) {
        if height.has_gap_before(place) {
            push_line(GAP, &mut text);
        }
        let mut words: Vec<&str> = row.iter().map(String::as_str).collect();
        if let Some((head, tail)) = cut {
            words.splice(head..count.saturating_sub(tail), [GAP]);
        }
        push_line(&words.join(" "), &mut text);
    }
    text
}

/// Columns that remain at the start and the end of a row; `None` where none is left out.
fn cut(columns: &Axis, count: usize, cells: &[String], gap: Gap) -> Option<(usize, usize)> {
    let edge = columns.edge.and_then(|edge| usize::try_from(edge).ok());
    let Gap::ToFit(width) = gap else { return edge.map(|edge| (edge, edge)) };
    // Cells of one type are of one width, but for records, where the longest counts.
    let cell = cells.iter().map(|cell| columns_of(cell)).max().unwrap_or(0).saturating_add(1);
    let with_gap = width.saturating_sub(GAP.len()).checked_div(cell).unwrap_or(0);
    let fits = match edge {
        None => count.saturating_mul(cell) <= width.saturating_add(1),
        Some(edge) => edge.saturating_mul(2) <= with_gap,
    };
    if fits {
        return edge.map(|edge| (edge, edge));
    }
    let kept = with_gap.clamp(1, count.saturating_sub(1).max(1));
    // Three at each end are enough where the array is shortened anyway.
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    (count > 1).then_some((head, tail))
}
