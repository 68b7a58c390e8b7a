//! The symbols of one file per language, and hostile files.

use super::*;

fn shown(language: &str, path: &str, text: &str) -> String {
    symbols(language, path, text)
        .iter()
        .map(|symbol| {
            format!(
                "{}{}{:?} {} {}-{}{}",
                if symbol.is_public { "+" } else { "-" },
                if symbol.is_test { "t " } else { " " },
                symbol.kind,
                symbol.name,
                symbol.line,
                symbol.end,
                symbol
                    .doc
                    .as_ref()
                    .and_then(summary)
                    .map_or(String::new(), |said| format!(": {said}")),
            )
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn python() {
    insta::assert_snapshot!(shown("python", "src/acme/doc.py", r#""""Documents of Acme."""
import os

class Document:
    """A document.

    More of it.
    """

    def save(self, path):
        """Saves the document to a path."""

    @property
    def _hidden(self):
        pass

def open_file(path):
    r'''Opens a file.'''

def test_it():
    pass
"#), @"
    + Module acme.doc 1-1: Documents of Acme.
    + Class Document 4-15: A document.
    + Function Document.save 10-11: Saves the document to a path.
    - Function Document._hidden 14-15
    + Function open_file 17-18: Opens a file.
    +t Function test_it 20-21
    ");
}

#[test]
fn python_all_decides() {
    let text = "__all__ = ['shown']\ndef shown(): pass\ndef hidden(): pass\n";
    let found = symbols("python", "acme/x.py", text);
    let public: Vec<&str> = found
        .iter()
        .filter(|symbol| symbol.is_public && symbol.kind == SymbolKind::Function)
        .map(|symbol| symbol.name.as_str())
        .collect();
    assert_eq!(public, ["shown"]);
}

#[test]
fn javascript() {
    insta::assert_snapshot!(shown("javascript", "src/index.js", r#"/** Opens a document. */
export function open(path) {}
function hidden() {}
export class Document {
  constructor() {}
  /** Saves it now. */
  save() {}
  #secret() {}
}
const later = () => 1;
export { later };
export default class Other {}
"#), @"
    + Module src/index 1-1
    + Function open 2-2: Opens a document.
    - Function hidden 3-3
    + Class Document 4-9
    + Function Document.save 7-7: Saves it now.
    + Function later 10-10
    + Class Other 12-12
    ");
}

#[test]
fn common_js_exports() {
    let text = "function a() {}\nfunction b() {}\nfunction c() {}\nmodule.exports = { a, x: b };\n";
    let found = symbols("javascript", "index.js", text);
    let public: Vec<&str> = found
        .iter()
        .filter(|symbol| symbol.is_public && symbol.kind == SymbolKind::Function)
        .map(|symbol| symbol.name.as_str())
        .collect();
    assert_eq!(public, ["a", "b"]);
}

#[test]
fn typescript() {
    insta::assert_snapshot!(shown("typescript", "src/index.ts", r#"/**
 * Options of a document.
 * @public
 */
export interface Options { quality: number; render(): void; }
export enum Kind { A }
export type Alias = string;
export const convert = async (a: string): Promise<void> => {};
export abstract class Base { private x(): void {} protected y() {} public z() {} }
test("it converts", () => { convert("a"); });
"#), @"
    + Module src/index 1-1
    + Class Options 5-5: Options of a document.
    + Function Options.render 5-5
    + Class Kind 6-6
    + Class Alias 7-7
    + Function convert 8-8
    + Class Base 9-9
    + Function Base.z 9-9
    -t Function it converts 10-10
    ");
}

#[test]
fn rust() {
    insta::assert_snapshot!(shown("rust", "src/lib.rs", r#"/// A document.
#[derive(Debug)]
pub struct Document;

impl Document {
    /// Saves it to a path.
    pub fn save(&self) {}
    fn hidden(&self) {}
}

pub(crate) fn inner() {}

/// Renders pages.
pub trait Render {
    /// Draws one page.
    fn draw(&self);
}

pub mod io {
    pub fn open() {}
}

#[cfg(test)]
mod tests {
    #[test]
    fn works() {}
}
"#), @"
    + Class Document 3-3: A document.
    + Function Document::save 7-7: Saves it to a path.
    - Function Document::hidden 8-8
    - Function inner 11-11
    + Class Render 14-17: Renders pages.
    + Function Render::draw 16-16: Draws one page.
    + Module io 19-21
    + Function io::open 20-20
    - Module tests 24-27
    -t Function tests::works 26-26
    ");
}

#[test]
fn go() {
    insta::assert_snapshot!(shown("go", "pdf/doc.go", r#"// Package pdf reads PDF files.
package pdf

// Document is a document.
type Document struct{}

// Save saves the document.
func (d *Document) Save() error { return nil }

func hidden() {}

// Open opens a document.
func Open(path string) *Document { return nil }
"#), @"
    + Module pdf 2-2: Package pdf reads PDF files.
    + Class Document 5-5: Document is a document.
    + Function Document.Save 8-8: Save saves the document.
    - Function hidden 10-10
    + Function Open 13-13: Open opens a document.
    ");
}

#[test]
fn java() {
    insta::assert_snapshot!(shown("java", "src/main/java/org/acme/Doc.java", r#"package org.acme;

/**
 * A document.
 */
public class Doc {
    /** Saves it now. */
    @Deprecated
    public void save() {}
    void hidden() {}
    public interface Part { int size(); }
}

class Inner { public void no() {} }
"#), @"
    + Module org.acme 1-1
    + Class Doc 6-12: A document.
    + Function Doc.save 8-9: Saves it now.
    - Function Doc.hidden 10-10
    + Class Doc.Part 11-11
    + Function Doc.Part.size 11-11
    - Class Inner 14-14
    - Function Inner.no 14-14
    ");
}

#[test]
fn csharp() {
    insta::assert_snapshot!(shown("csharp", "src/Doc.cs", r#"namespace Acme.Pdf;

/// <summary>
/// A document, see <see cref="T:Acme.Page"/>.
/// </summary>
public class Doc
{
    /// <summary>Saves it now.</summary>
    public void Save() {}
    private void Hidden() {}
    [Fact]
    public void Works() {}
}

internal class Inner { public void No() {} }
"#), @"
    + Module Acme.Pdf 1-1
    + Class Doc 6-13: A document, see Acme.Page.
    + Function Doc.Save 9-9: Saves it now.
    - Function Doc.Hidden 10-10
    +t Function Doc.Works 11-12
    - Class Inner 15-15
    - Function Inner.No 15-15
    ");
}

#[test]
fn hostile_files_are_survived() {
    let deep = "(".repeat(100_000);
    let nested = format!("{}x{}", "class A { ".repeat(3000), "}".repeat(3000));
    for language in [
        "python",
        "javascript",
        "typescript",
        "rust",
        "go",
        "java",
        "csharp",
    ] {
        let _ = symbols(language, "x", &deep);
        let _ = symbols(language, "x", &nested);
        let _ = symbols(language, "x", "\u{0}\u{feff}\u{202e}");
        let _ = symbols(language, "", "");
    }
}
