//! Names that have to be short, and to stay different.

use std::collections::HashSet;

use crate::font::Font;

/// `names`, each at most `most` wide. They are cut in the middle, or elsewhere where they would then be the same.
pub(crate) fn shortened(font: &Font, names: &[&str], size: f64, most: f64) -> Vec<String> {
    let different = names.iter().collect::<HashSet<_>>().len();
    let all_differ = |cut: &Vec<String>| cut.iter().collect::<HashSet<_>>().len() == different;
    let cut = |names: &[String], eighths: usize| -> Vec<String> {
        names.iter().map(|name| font.cut(name, eighths, size, most)).collect()
    };
    let whole: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let numbered = || -> Vec<String> {
        names.iter().enumerate().map(|(number, name)| format!("{number} {name}")).collect()
    };
    const PLACES: [usize; 9] = [4, 5, 3, 6, 2, 7, 1, 8, 0];
    let places = PLACES.into_iter().map(|eighths| cut(&whole, eighths)).find(all_differ);
    let inner = || {
        let inner = without_ends(names);
        PLACES.into_iter().map(|eighths| cut(&inner, eighths)).find(all_differ)
    };
    places.or_else(inner).unwrap_or_else(|| cut(&numbered(), 8))
}

/// The names without the letters that all begin and end with.
fn without_ends(names: &[&str]) -> Vec<String> {
    let letters: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
    let least = letters.iter().map(Vec::len).min().unwrap_or(0);
    let Some(first) = letters.first() else { return Vec::new() };
    let same = |at: &dyn Fn(&[char]) -> char| letters.iter().all(|name| at(name) == at(first));
    let start = (0..least).take_while(|at| same(&|name| name[*at])).count();
    let end = (0..least - start).take_while(|at| same(&|name| name[name.len() - 1 - at])).count();
    let dots = |count: usize| if count > 0 { "…" } else { "" };
    let inner = |name: &Vec<char>| -> String { name[start..name.len() - end].iter().collect() };
    letters.iter().map(|name| format!("{}{}{}", dots(start), inner(name), dots(end))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_stay_different() {
        let font = Font::new();
        let short = |names: &[&str], most: f64| {
            let short = shortened(&font, names, 12.0, most);
            assert!(short.iter().all(|name| font.width(name, 12.0) <= most), "{short:?}");
            short
        };
        assert_eq!(short(&["A", "B", "A"], 80.0), ["A", "B", "A"]);
        // The middle will do.
        assert_eq!(short(&["a long name with an end", "B"], 60.0), ["a l… end", "B"]);
        let names = |form: &dyn Fn(usize) -> String| (0..23).map(form).collect::<Vec<String>>();
        for names in [
            names(&|at| format!("type_{at}_a_rather_long_name")),
            names(&|at| format!("a_rather_long_name_{at}_of_a_type_of_particles")),
            names(&|at| format!("{}{}{}", "m".repeat(at), "n", "m".repeat(22 - at))),
        ] {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let short = short(&names, 80.0);
            assert_eq!(short.iter().collect::<HashSet<_>>().len(), 23, "{short:?}");
        }
    }
}
