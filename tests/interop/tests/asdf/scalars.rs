//! Values of plain text, and of text under YAML's own tags: as in PyYAML.

use asdf::yaml::{Document, YamlLimits};
use serde_json::{Value, json};

use crate::nodes;
use crate::peers::{Release, peer};
use crate::random::{Random, cases};

/// Characters of the tried texts: those of numbers and dates, and some that end a scalar.
const ALPHABET: [&str; 40] = [
    "0", "1", "2", "5", "7", "8", "9", "_", ".", ":", "+", "-", "e", "E", "x", "X", "b", "B", "o", "O", "~",
    "n", "i", "f", "a", "N", "T", "Z", "t", " ", "y", "Y", "<", "=", "s", "\t", ",", "60", "00", "#",
];

const WORDS: [&str; 60] = [
    "yes",
    "Yes",
    "YES",
    "no",
    "No",
    "NO",
    "on",
    "On",
    "ON",
    "off",
    "Off",
    "OFF",
    "true",
    "True",
    "TRUE",
    "false",
    "False",
    "FALSE",
    "null",
    "Null",
    "NULL",
    "~",
    "",
    "y",
    "n",
    "Y",
    "N",
    "tRUE",
    "nULL",
    ".inf",
    "-.inf",
    "+.inf",
    ".Inf",
    ".INF",
    ".nan",
    ".NaN",
    ".NAN",
    "-.nan",
    "inf",
    "nan",
    "<<",
    "=",
    "0b101",
    "0x1F",
    "0X1f",
    "0o17",
    "017",
    "08",
    "1_000",
    "_1",
    "190:20:30",
    "1:30.5",
    "685.230_15e+03",
    "1e3",
    "1e+3",
    "1.0e+3",
    "1.0e3",
    ".5",
    "1.",
    "-0",
];

impl Random {
    fn digits(&mut self) -> String {
        let most = if self.chance(1) { 30 } else { 5 };
        let count = 1 + self.below(most);
        let mut digits = String::new();
        for _ in 0..count {
            digits.push_str(self.pick(&["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "_", "0"]));
        }
        digits
    }

    fn number(&mut self) -> String {
        let sign = self.pick(&["", "", "", "-", "+"]);
        let body = match self.below(8) {
            0 => self.digits(),
            1 => format!("0{}", self.digits()),
            2 => format!("0x{}{}", self.pick(&["", "f", "A_", "g"]), self.digits()),
            3 => format!("0b{}", self.pick(&["0", "1", "101_1", "2", "_", ""])),
            4 => {
                let parts = 1 + self.below(3);
                let mut text = self.below(300).to_string();
                (0..parts).for_each(|_| text.push_str(&format!(":{}", self.below(70))));
                text + self.pick(&["", "", ".", ".5", ".25_", "."])
            }
            5 => format!("{}.{}", self.digits(), self.digits()),
            6 => format!(
                "{}.{}e{}{}",
                self.digits(),
                self.digits(),
                self.pick(&["+", "-", ""]),
                self.below(400)
            ),
            _ => format!("{}.{}", self.pick(&["", "0"]), self.digits()),
        };
        format!("{sign}{body}")
    }

    fn date(&mut self) -> String {
        let day = if self.chance(8) {
            format!("{:04}-{:02}-{:02}", self.below(10000), self.below(14), self.below(33))
        } else {
            format!("{}-{}-{}", 1900 + self.below(200), 1 + self.below(12), 1 + self.below(31))
        };
        if self.chance(4) {
            return day;
        }
        let between = self.pick(&["T", "t", " ", "  ", "\t"]);
        let time = format!("{}:{:02}:{:02}", self.below(25), self.below(61), self.below(61));
        let part = self.pick(&["", "", ".", ".1", ".123456", ".1234567", ".10"]);
        let zone =
            self.pick(&["", "Z", " Z", "z", "+1", "-05:30", " +02:00", "+0100", " -5", "+24:00", "-23:59"]);
        format!("{day}{between}{time}{part}{zone}")
    }

    fn plain(&mut self) -> String {
        let mut text = match self.below(4) {
            0 => self.pick(&WORDS).to_owned(),
            1 | 2 => self.number(),
            _ => self.date(),
        };
        for _ in 0..self.pick(&[0, 0, 1, 1, 2, 3]) {
            let places: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            let at = self.pick(&places);
            match self.below(3) {
                0 => text.insert_str(at, self.pick(&ALPHABET)),
                1 if at < text.len() => drop(text.remove(at)),
                _ if at < text.len() => {
                    text.remove(at);
                    text.insert_str(at, self.pick(&ALPHABET));
                }
                _ => {}
            }
        }
        text
    }
}

/// Returns this YAML's reading of a text after a key.
fn ours(text: &str) -> String {
    let Ok(document) = Document::parse(format!("a: {text}\n").as_bytes(), 0, &YamlLimits::default()) else {
        return "error".to_owned();
    };
    let nodes = nodes::of(&document);
    match nodes.as_slice() {
        [_, (path, is)] if path == "a" => is.clone(),
        _ => "error".to_owned(),
    }
}

/// Compares, many at a time. Gives how many of each kind there were.
fn compare(texts: &[String]) -> Vec<String> {
    let answer = peer(Release::Newest).ask("yaml_values", json!({ "texts": texts }));
    let theirs: Vec<Value> = answer["values"].as_array().unwrap().clone();
    assert_eq!(theirs.len(), texts.len());
    let mut kinds = Vec::new();
    let mut problems = Vec::new();
    for (text, theirs) in texts.iter().zip(theirs) {
        let (ours, theirs) = (ours(text), theirs.as_str().unwrap());
        let unloadable = theirs
            .strip_prefix("error: ")
            .is_some_and(|error| !error.ends_with("rError") || error == "ConstructorError");
        let is_same = if unloadable {
            // What looks like a number or a date and is none keeps Python from loading the whole tree; here it is text.
            ours.starts_with("str ")
        } else if theirs.starts_with("error: ") {
            ours == "error"
        } else {
            ours == theirs
        };
        if !is_same {
            problems.push(format!("{text:?}: {ours:?}, and for PyYAML {theirs:?}"));
        }
        kinds.push(
            if unloadable { "unloadable" } else { theirs.split([' ', ':']).next().unwrap() }.to_owned(),
        );
    }
    assert!(
        problems.is_empty(),
        "{} of {}:\n{}",
        problems.len(),
        texts.len(),
        problems[..problems.len().min(30)].join("\n")
    );
    kinds
}

fn expect_kinds(kinds: &[String], expected: &[(&str, usize)]) {
    for (kind, least) in expected {
        let count = kinds.iter().filter(|it| it == kind).count();
        assert!(count >= *least, "only {count} of {kind}");
    }
}

#[test]
fn plain_text_means_what_pyyaml_takes_it_for() {
    let mut random = Random::new(2);
    let mut kinds = Vec::new();
    for _ in 0..cases(20) {
        let texts: Vec<String> = (0..1000).map(|_| random.plain()).collect();
        kinds.extend(compare(&texts));
    }
    expect_kinds(
        &kinds,
        &[("int", 2000), ("float", 2000), ("str", 2000), ("timestamp", 500), ("bool", 200), ("null", 100)],
    );
}

#[test]
fn text_under_tags_of_yaml_means_what_pyyaml_takes_it_for() {
    let mut random = Random::new(3);
    let mut texts = Vec::new();
    for _ in 0..cases(2000) {
        let tag = random.pick(&[
            "!!int",
            "!!float",
            "!!timestamp",
            "!!str",
            "!",
            "!!null",
            "!!binary",
            "!other",
            "!!bool",
        ]);
        let text = match tag {
            "!!bool" => random.pick(&["yes", "No", "TRUE", "oFf", "tRUE"]).to_owned(),
            "!!timestamp" => random.date(),
            "!!binary" => random
                .pick(&["", "aGVsbG8=", "aGVs bG8=", "aGVsbG8", "AAECAwQ=", "a", "====", "aGVs!bG8="])
                .to_owned(),
            // PyYAML looks for the sign of a number before blanks, and adds up the parts of what it took for none.
            _ => random.plain().trim_start().to_owned(),
        };
        let text = match random.below(4) {
            0 if !text.contains(['\'', '\t']) => format!("'{text}'"),
            1 if !text.contains(['"', '\t']) => format!("\"{text}\""),
            _ => text,
        };
        texts.push(format!("{tag} {text}"));
    }
    let kinds = texts.chunks(1000).flat_map(compare).collect::<Vec<_>>();
    expect_kinds(
        &kinds,
        &[("int", 50), ("float", 50), ("str", 200), ("timestamp", 30), ("bool", 100), ("binary", 50)],
    );
}
