//! placeholder until the author's crate has it
use std::path::PathBuf;
use windlass_pack_model::{GitSource, PackHome, fault};
use windlass_pack_render::Checkouts;
use windlass_ports::{Git, git::Checkout};
use windlass_types::Problem;
pub(crate) struct GitCheckouts<'a> { home: &'a PackHome, git: &'a dyn Git }
impl<'a> GitCheckouts<'a> { pub(crate) fn new(home: &'a PackHome, git: &'a dyn Git) -> Self { Self { home, git } } }
impl Checkouts for GitCheckouts<'_> {
    fn checkout(&self, _module_id: &str, source: &GitSource, locked: Option<&str>) -> Result<PathBuf, Problem> {
        let failed = |error: windlass_ports::GitError| fault::unexpected("git_command_failed", &["retry_command"], error.to_string());
        let commit = match locked { Some(c) => c.to_owned(), None => self.git.resolve(&source.url, &source.reference).map_err(failed)? };
        let directory = self.home.checkout(&source.url, &commit);
        if !directory.is_dir() {
            self.git.checkout(&Checkout { url: &source.url, commit: &commit, shallow: source.shallow, directory: &directory }).map_err(failed)?;
        }
        Ok(directory)
    }
}
