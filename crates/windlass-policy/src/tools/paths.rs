//! Where a path is, as far as its text says.

use windlass_shell::{Kind, Script, Word};

use super::Place;

/// Where a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// Below the work tree or a scratch directory; the absolute path.
    Inside(String),
    /// The work tree itself.
    Root,
    /// Somewhere else; the absolute path.
    Outside(String),
    /// Only known when it runs.
    Unknown,
}

impl Where {
    pub(crate) fn is_inside(&self) -> bool {
        matches!(self, Self::Inside(_) | Self::Root)
    }
}

/// What relative paths start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// The directory of the request.
    Fixed,
    /// A directory below the work tree.
    Moved,
    /// Anywhere.
    Lost,
}

/// Paths of one line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paths<'a> {
    place: Place<'a>,
    base: Base,
}

impl<'a> Paths<'a> {
    /// Paths of a line: a `cd` in it moves all of them, because which commands follow it is not
    /// told by their order.
    pub(crate) fn of(place: Place<'a>, script: Option<&Script>) -> Self {
        let mut paths = Self {
            place,
            base: Base::Fixed,
        };
        let commands = script.map_or(&[][..], |script| &script.commands);
        for command in commands {
            let moves = matches!(command.name(), Some("cd" | "pushd" | "popd" | "chdir"));
            if !moves {
                continue;
            }
            let target = command
                .arguments()
                .iter()
                .find(|word| !matches!(word.text.as_str(), "-L" | "-P" | "-e" | "--"));
            let is_inside = target.is_some_and(|word| {
                word.text != "-" && word.kind == Kind::Literal && paths.find(word).is_inside()
            });
            paths.base = if is_inside { Base::Moved } else { Base::Lost };
            if paths.base == Base::Lost {
                break;
            }
        }
        paths
    }

    /// Where a literal path is.
    pub(crate) fn literal(&self, text: &str) -> Where {
        if text.starts_with('/') {
            return self.absolute(&plain(text));
        }
        match self.base {
            Base::Fixed => self.absolute(&plain(&format!("{}/{text}", self.place.directory))),
            Base::Moved if !text.split('/').any(|segment| segment == "..") => {
                match plain(text).as_str() {
                    "" => Where::Root,
                    text => Where::Inside(plain(&format!("{}/{text}", self.place.directory))),
                }
            }
            Base::Moved | Base::Lost => Where::Unknown,
        }
    }

    /// Where the file that a word names is.
    pub(crate) fn find(&self, word: &Word) -> Where {
        let text = word.text.as_str();
        match word.kind {
            Kind::Literal => self.literal(text),
            Kind::Tilde => self.below_home(text),
            Kind::Glob => {
                // Braces may hold any path, and `..` behind a pattern leads anywhere.
                if text.contains('{') || text.split('/').any(|segment| segment == "..") {
                    return Where::Unknown;
                }
                let stable: Vec<&str> = text
                    .split('/')
                    .take_while(|segment| !segment.contains(['*', '?', '[']))
                    .collect();
                let base = stable.join("/");
                if text.starts_with('~') {
                    return self.below_home(&base);
                }
                let base = match (base.as_str(), text.starts_with('/')) {
                    ("", true) => "/",
                    ("", false) => ".",
                    (base, _) => base,
                };
                match self.literal(base) {
                    Where::Root => Where::Inside(self.place.work_tree.to_owned()),
                    other => other,
                }
            }
            Kind::Expansion => {
                let rest = text
                    .strip_prefix("$HOME")
                    .filter(|rest| rest.is_empty() || rest.starts_with('/'));
                match rest {
                    Some(rest) if !rest.contains(['$', '*', '?', '[', '{']) => {
                        self.absolute(&plain(&format!("{}{rest}", self.place.home)))
                    }
                    _ => Where::Unknown,
                }
            }
        }
    }

    fn below_home(&self, text: &str) -> Where {
        match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                self.absolute(&plain(&format!("{}{rest}", self.place.home)))
            }
            // The home of another user.
            _ => Where::Outside(text.to_owned()),
        }
    }

    fn absolute(&self, path: &str) -> Where {
        let path = path.to_owned();
        if path == plain(self.place.work_tree) {
            return Where::Root;
        }
        let scratch = self.place.scratch.iter().map(String::as_str);
        let mut roots = [self.place.work_tree].into_iter().chain(scratch);
        if roots.any(|root| is_below(&path, root)) {
            Where::Inside(path)
        } else {
            Where::Outside(path)
        }
    }
}

/// Whether a path is below a directory; both without `..`.
pub(crate) fn is_below(path: &str, directory: &str) -> bool {
    let directory = plain(directory);
    let directory = directory.trim_end_matches('/');
    // Below the root is everywhere, so a work tree there protects nothing.
    !directory.is_empty()
        && path
            .strip_prefix(directory)
            .is_some_and(|rest| rest.starts_with('/') && rest.len() > 1)
}

/// The path with `.`, `..` and doubled slashes resolved.
pub(crate) fn plain(path: &str) -> String {
    crate::decide::plain(path)
}
