//! The manual pages, as `windlass man` writes them and a release archive carries them.

use clap::Command;
use clap_mangen::Man;
use windlass_types::Problem;

/// Every page: its file name and its text, sorted by name.
pub fn man_pages(command: Command) -> Result<Vec<(String, String)>, Problem> {
    let mut root = command.disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    collect(&root, &mut pages)?;
    pages.sort();
    Ok(pages)
}

fn collect(command: &Command, pages: &mut Vec<(String, String)>) -> Result<(), Problem> {
    // The display name carries the parents: `windlass-runs-list`.
    let name = command
        .get_display_name()
        .unwrap_or(command.get_name())
        .to_owned();
    let mut bytes = Vec::new();
    Man::new(command.clone())
        .title(&name)
        .render(&mut bytes)
        .map_err(|error| Problem::internal("manual page", error))?;
    pages.push((
        format!("{name}.1"),
        String::from_utf8_lossy(&bytes).into_owned(),
    ));
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        collect(sub, pages)?;
    }
    Ok(())
}
