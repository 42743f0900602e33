//! Reads a document, changes one value, and writes a new document.

use yaml11::{Document, EmitOptions, Error, TreeEditor, Yaml, YamlLimits, emit_document};

fn main() -> Result<(), Error> {
    let text = "# settings\ngain: 017   # octal\nfilter: 'on'\n";
    let document = Document::parse(text.as_bytes(), 0, &YamlLimits::default())?;
    assert_eq!(document.find("gain").map(|node| node.deserialize::<u32>()).transpose()?, Some(15));

    let mut editor = TreeEditor::new(document);
    editor.set("gain", &Yaml::int(16))?;
    assert_eq!(editor.text(), "# settings\ngain: 16   # octal\nfilter: 'on'\n");

    let written = emit_document(&Yaml::mapping([("filter", Yaml::text("on"))]), &EmitOptions::default())?;
    assert_eq!(written, "%YAML 1.1\n---\nfilter: 'on'\n...\n");

    let broken = Document::parse(b"a: [1", 100, &YamlLimits::default());
    assert!(broken.is_err_and(|error| error.range().is_some_and(|range| range.start >= 100)));
    Ok(())
}
