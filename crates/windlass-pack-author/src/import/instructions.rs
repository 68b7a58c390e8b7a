//! Instructions to import: `AGENTS.md`, `CLAUDE.md` and the rule files of all targets.
//!
//! One text may be in many files: for several tools, in the home and in the project, alone or as a
//! section. It becomes one module that is for all of these tools.

use std::path::PathBuf;

use windlass_pack_deploy::render::{
    aggregate, cursor_rule_id, split_aggregate, unwrap_cursor_rule, wrap_cursor_rule,
};
use windlass_pack_model::{
    Frontmatter, ModuleType, Target,
    module_id::{module_fs_key, sanitise},
};
use windlass_types::Problem;

use super::{
    ImportRequest,
    scan::{Candidate, Evidence, component, files_below, text_of},
    shelf::Shelf,
};

/// A text that some tool reads as instructions.
struct Piece {
    /// The module that pack says it is.
    id: Option<String>,
    text: String,
    /// A file of the text's own: it is taken as it is, next to the text.
    rule: Option<(String, String)>,
    evidence: Evidence,
    path: PathBuf,
    /// Whether the text is all of the file.
    whole: bool,
}

/// A module in the making.
struct Draft {
    first: Piece,
    more: Vec<Piece>,
}

impl Draft {
    fn pieces(&self) -> impl Iterator<Item = &Piece> {
        std::iter::once(&self.first).chain(&self.more)
    }

    fn id(&self) -> Option<&str> {
        self.pieces().find_map(|piece| piece.id.as_deref())
    }

    fn says(&self, piece: &Piece) -> bool {
        let ids_agree = match (self.id(), piece.id.as_deref()) {
            (Some(one), Some(two)) => one == two,
            _ => true,
        };
        ids_agree
            && self.first.rule.is_none()
            && piece.rule.is_none()
            // Where a text is one of several, its last line break is not recorded.
            && self.first.text.trim_end_matches('\n') == piece.text.trim_end_matches('\n')
    }

    fn is_for(&self, target: Target, project: bool) -> bool {
        self.pieces()
            .any(|piece| piece.evidence.target == target && piece.evidence.project == project)
    }
}

/// All instructions, each once.
pub(super) fn candidates(
    request: &ImportRequest<'_>,
    user: &Shelf<'_>,
    project: &Shelf<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Candidate>, Problem> {
    let mut found = Vec::new();
    let mut imports = Vec::new();
    for (path, evidence) in places(request) {
        let Some(text) = text_of(request, &path, evidence.project, warnings) else {
            continue;
        };
        let line = text.trim();
        if evidence.target == Target::ClaudeCode
            && matches!(line, "@AGENTS.md" | "@~/.codex/AGENTS.md")
        {
            imports.push(evidence);
            continue;
        }
        // Only what pack would write again byte for byte is taken apart.
        let sections = split_aggregate(&text).filter(|sections| {
            let parts: Vec<(&str, &str)> = sections
                .iter()
                .map(|(id, text)| (id.as_str(), text.as_str()))
                .collect();
            parts.len() > 1 && parts.is_sorted() && aggregate(&parts) == text
        });
        match sections {
            Some(sections) => found.extend(sections.into_iter().map(|(id, text)| Piece {
                id: Some(id),
                text,
                rule: None,
                evidence,
                path: path.clone(),
                whole: false,
            })),
            None => found.push(Piece {
                id: None,
                text,
                rule: None,
                evidence,
                path,
                whole: true,
            }),
        }
    }
    found.extend(cursor_rules(request, warnings)?);
    let drafts = grouped(found);
    let own = |target: Target| drafts.iter().any(|draft| draft.is_for(target, true));
    let (cursor, vscode) = (own(Target::Cursor), own(Target::Vscode));
    Ok(drafts
        .into_iter()
        .map(|draft| candidate(draft, request, user, project, &imports, cursor, vscode))
        .collect())
}

/// The files whose text is instructions, and whose they are.
fn places(request: &ImportRequest<'_>) -> Vec<(PathBuf, Evidence)> {
    let (home, root) = (request.home_root, &request.project.root);
    let codex = super::scan::codex_home(request);
    let user = |target, option| Evidence {
        target,
        option,
        project: false,
    };
    let of_project = |target, option| Evidence {
        target,
        option,
        project: true,
    };
    vec![
        (
            codex.join("AGENTS.md"),
            user(Target::Codex, Some(("write_agents_global", true))),
        ),
        (
            home.join(".claude/CLAUDE.md"),
            user(Target::ClaudeCode, Some(("write_claude_md_user", false))),
        ),
        (
            root.join("AGENTS.md"),
            of_project(Target::Codex, Some(("write_agents_repo_root", true))),
        ),
        (
            root.join("CLAUDE.md"),
            of_project(Target::ClaudeCode, Some(("write_claude_md_repo", false))),
        ),
        (
            root.join(".github/copilot-instructions.md"),
            of_project(Target::Vscode, Some(("write_instructions", true))),
        ),
        (
            root.join(".junie/guidelines.md"),
            of_project(Target::Jetbrains, Some(("write_guidelines", true))),
        ),
        (
            root.join(".rules"),
            of_project(Target::Zed, Some(("write_rules", true))),
        ),
    ]
}

fn cursor_rules(
    request: &ImportRequest<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Piece>, Problem> {
    let rules = request.project.root.join(".cursor/rules");
    let mut found = Vec::new();
    for below in files_below(&rules, "mdc")? {
        let path = rules.join(&below);
        let Some(text) = text_of(request, &path, true, warnings) else {
            continue;
        };
        let evidence = Evidence {
            target: Target::Cursor,
            option: Some(("write_rules", true)),
            project: true,
        };
        let generated = cursor_rule_id(&text).filter(|id| {
            let body = unwrap_cursor_rule(&text).unwrap_or_default();
            below == format!("{}.mdc", module_fs_key(id)) && wrap_cursor_rule(id, body) == text
        });
        found.push(match generated {
            Some(id) => Piece {
                text: unwrap_cursor_rule(&text).unwrap_or_default().to_owned(),
                id: Some(id),
                rule: None,
                evidence,
                path,
                whole: false,
            },
            // Its own frontmatter says when Cursor reads it, which no other tool knows.
            None => Piece {
                id: None,
                text: match Frontmatter::parse(&text) {
                    Ok(matter) => matter.body.trim_start_matches('\n').to_owned(),
                    Err(_) => text.clone(),
                },
                rule: Some((below, text)),
                evidence,
                path,
                whole: true,
            },
        });
    }
    Ok(found)
}

fn grouped(pieces: Vec<Piece>) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    for piece in pieces {
        match drafts.iter_mut().find(|draft| draft.says(&piece)) {
            Some(draft) => draft.more.push(piece),
            None => drafts.push(Draft {
                first: piece,
                more: Vec::new(),
            }),
        }
    }
    drafts
}

fn candidate(
    draft: Draft,
    request: &ImportRequest<'_>,
    user: &Shelf<'_>,
    project: &Shelf<'_>,
    imports: &[Evidence],
    cursor: bool,
    vscode: bool,
) -> Candidate {
    let pid = &request.project.id;
    let is_user = draft.pieces().any(|piece| !piece.evidence.project);
    let agents_md = draft.is_for(Target::Codex, true);
    let mut targets: Vec<Target> = draft.pieces().map(|piece| piece.evidence.target).collect();
    // Cursor and VS Code read a project's AGENTS.md, unless they have something of their own.
    if agents_md && !cursor {
        targets.push(Target::Cursor);
    }
    if agents_md && !vscode {
        targets.push(Target::Vscode);
    }
    let mut evidence: Vec<Evidence> = draft.pieces().map(|piece| piece.evidence).collect();
    for import in imports {
        if draft.is_for(Target::Codex, import.project) {
            targets.push(Target::ClaudeCode);
            evidence.push(*import);
        }
    }
    targets.sort();
    targets.dedup();
    let first = &draft.first;
    let (id, folder) = match (draft.id(), &first.rule) {
        (Some(id), _) => (id.to_owned(), module_fs_key(id)),
        (None, Some((file, _))) => {
            let stem = file.strip_suffix(".mdc").unwrap_or(file);
            let name = format!("project-{pid}-cursor-{}", component(stem));
            (
                format!("instructions:{name}"),
                format!("{pid}-cursor-{}", sanitise(&component(stem))),
            )
        }
        (None, None) if agents_md => (format!("instructions:project-{pid}"), pid.clone()),
        (None, None) if is_user => {
            let name = match first.evidence.target {
                Target::Codex => "user".to_owned(),
                target => format!("user-{target}"),
            };
            (format!("instructions:{name}"), name)
        }
        (None, None) => {
            let target = first.evidence.target;
            (
                format!("instructions:project-{pid}-{target}"),
                format!("{pid}-{target}"),
            )
        }
    };
    let shelf = if is_user { user } else { project };
    // Written as the tool that keeps it alone has it.
    let text = draft.pieces().find(|piece| piece.whole).unwrap_or(first);
    let mut files = vec![("AGENTS.md".to_owned(), text.text.clone().into_bytes())];
    if let Some((name, rule)) = &first.rule {
        files.push((name.clone(), rule.clone().into_bytes()));
    }
    Candidate {
        made: Some(files),
        evidence,
        whole: draft
            .pieces()
            .filter(|piece| piece.whole)
            .map(|piece| piece.path.clone())
            .collect(),
        ..shelf.named(
            ModuleType::Instructions,
            id,
            first.path.clone(),
            format!("modules/instructions/imported/{folder}"),
            &targets,
        )
    }
}
