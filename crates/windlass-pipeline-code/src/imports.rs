//! What a file of TypeScript, JavaScript or CSS imports, by its text.

/// The specifiers of all imports, in order: `react`, `@/lib/utils`, `./globals.css`.
pub(crate) fn specifiers(path: &str, content: &str) -> Vec<String> {
    let is_css = path.ends_with(".css");
    let is_code = [".ts", ".tsx", ".js", ".mjs"]
        .iter()
        .any(|end| path.ends_with(end));
    if !is_css && !is_code {
        return Vec::new();
    }
    let mut found = Vec::new();
    for line in content.lines() {
        let line = line.trim();
        let quoted = if is_css {
            line.strip_prefix("@import ")
        } else if line.starts_with("import ") || line.starts_with("} from ") {
            line.rsplit_once("from ")
                .map(|(_, rest)| rest)
                .or_else(|| line.strip_prefix("import "))
        } else if let Some(rest) = line.strip_prefix("vi.mock(") {
            Some(rest)
        } else {
            line.split_once("await import(").map(|(_, rest)| rest)
        };
        if let Some(specifier) = quoted.and_then(first_string)
            && !found.contains(&specifier)
        {
            found.push(specifier);
        }
    }
    found
}

fn first_string(text: &str) -> Option<String> {
    let rest = text.trim_start().strip_prefix('"')?;
    rest.split_once('"').map(|(name, _)| name.to_owned())
}

/// The package of a specifier: `next/link` → `next`, `@supabase/ssr` → itself. Nothing for files.
pub(crate) fn package(specifier: &str) -> Option<String> {
    if specifier.starts_with('.') || specifier.starts_with("@/") || specifier.starts_with("node:") {
        return None;
    }
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    Some(
        specifier
            .split('/')
            .take(parts)
            .collect::<Vec<_>>()
            .join("/"),
    )
}

/// The paths a specifier of a file in `from` may mean; nothing for packages.
pub(crate) fn candidates(from: &str, specifier: &str) -> Vec<String> {
    let base = if let Some(rest) = specifier.strip_prefix("@/") {
        format!("src/{rest}")
    } else if specifier.starts_with('.') {
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        for part in specifier.split('/') {
            match part {
                "." => {}
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        parts.join("/")
    } else {
        return Vec::new();
    };
    ["", ".ts", ".tsx", ".d.ts"]
        .iter()
        .map(|end| format!("{base}{end}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found() {
        let text = "import { a } from \"react\";\nimport {\n  b,\n} from \"@/lib/b\";\nimport \"./globals.css\";\nvi.mock(\"@/data/x\");\nconst y = \"import z from\";\n";
        assert_eq!(
            specifiers("x.ts", text),
            ["react", "@/lib/b", "./globals.css", "@/data/x"]
        );
        assert_eq!(
            specifiers("x.css", "@import \"tailwindcss\";\n"),
            ["tailwindcss"]
        );
        assert_eq!(specifiers("x.sql", text), Vec::<String>::new());
        assert_eq!(package("next/link").as_deref(), Some("next"));
        assert_eq!(package("@supabase/ssr/x").as_deref(), Some("@supabase/ssr"));
        assert_eq!(package("@/lib/x"), None);
        assert_eq!(candidates("tests/a/x.ts", "../y")[1], "tests/y.ts");
        assert_eq!(candidates("src/x.ts", "@/lib/y")[2], "src/lib/y.tsx");
    }
}
