//! What the search over tools knows of each besides its description, and which tools call others.

/// What people say when they want a tool.
pub(super) const fn words(verb: &str) -> &'static [&'static str] {
    match verb.as_bytes() {
        b"start_run" => &[
            "write a landing page, docs or product pages for a repository",
            "publish on our Hugo site",
        ],
        b"get_status" => &["is it ready to merge", "how far are the pages"],
        b"get_artifact" => &["evidence report", "download a file of the launch"],
        b"list_runs" => &["which launches were there"],
        b"validate" => &["check the site again", "broken links", "quality gates"],
        b"fix_next" => &["repair what is wrong with a page", "blocker"],
        b"resume" => &["continue where it stopped"],
        b"open_pr" => &["make a PR on GitHub or GitLab", "merge request", "commit"],
        b"cancel" => &["give up", "abort", "stop"],
        _ => &[],
    }
}

/// Whether a tool fetches repositories or calls a code host.
pub(super) const fn reaches_out(verb: &str) -> bool {
    matches!(verb.as_bytes(), b"start_run" | b"resume" | b"open_pr")
}
