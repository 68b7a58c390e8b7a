//! What a heading announces, and which headings a piece stands under.

/// What a part of the spec is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// No heading, or one that announces nothing we know.
    Unknown,
    /// Why the product is wanted.
    Goal,
    /// Who uses it.
    Roles,
    /// What it does.
    Features,
    /// What it must do.
    MustHave,
    /// What it should do.
    ShouldHave,
    /// What it could do.
    NiceToHave,
    /// What it will not do.
    OutOfScope,
    /// What it keeps.
    Data,
    /// Its pages.
    Pages,
    /// How it looks.
    Design,
    /// How well it works.
    Quality,
    /// Within which bounds.
    Constraints,
}

impl Section {
    /// Whether a list of nouns below names things the product does.
    pub const fn lists_features(self) -> bool {
        matches!(
            self,
            Self::Unknown
                | Self::Features
                | Self::MustHave
                | Self::ShouldHave
                | Self::NiceToHave
                | Self::OutOfScope
        )
    }

    /// The section a heading announces; the first rule whose words stand in it.
    pub fn of_heading(text: &str) -> Self {
        let words: Vec<String> = text
            .to_lowercase()
            .replace(['’', '\''], "")
            .split(|c: char| !c.is_alphanumeric() && c != '-')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        let line = format!(" {} ", words.join(" "));
        for (section, phrases) in HEADINGS {
            if phrases
                .split(';')
                .any(|phrase| line.contains(&format!(" {} ", phrase.trim())))
            {
                return *section;
            }
        }
        let whole = line.trim();
        for (section, lines) in WHOLE_HEADINGS {
            if lines.split(';').any(|line| line.trim() == whole) {
                return *section;
            }
        }
        Self::Unknown
    }

    /// The section that the label at the beginning of a line announces: `Budget: $50k`.
    pub fn of_label(text: &str) -> Option<Self> {
        let (label, rest) = text.trim_start().split_once(':')?;
        if rest.trim().is_empty() || !rest.starts_with(' ') || label.split_whitespace().count() > 3
        {
            return None;
        }
        Some(Self::of_heading(label)).filter(|section| *section != Self::Unknown)
    }

    /// The section a line of running text announces when it stands alone as a heading would:
    /// short, and either a known heading or one with a colon.
    pub fn of_line(text: &str) -> Option<Self> {
        let text = text.trim();
        let body = text.strip_suffix(':').unwrap_or(text);
        if body.split_whitespace().count() > 4
            || body.ends_with(['.', '!', '?', ',', ';'])
            || body.contains(':')
        {
            return None;
        }
        Some(Self::of_heading(body)).filter(|section| *section != Self::Unknown)
    }
}

/// Words anywhere in a heading; the first match counts.
const HEADINGS: &[(Section, &str)] = &[
    (
        Section::OutOfScope,
        "out of scope; not in scope; non-goals; non goals; not part; exclusions; excluded; wont have; \
         wont do; do not want; dont want; not included; not now; later; future; not planned; \
         what it is not; will not; phase 2; phase two; next version; next release; not do",
    ),
    (
        Section::NiceToHave,
        "nice to have; nice to haves; nice-to-have; nice-to-haves; optional; could have; could haves; \
         bonus; stretch goals; stretch; wishes; wish list; wishlist; ideas",
    ),
    (
        Section::MustHave,
        "must have; must haves; must-have; must-haves",
    ),
    (
        Section::ShouldHave,
        "should have; should haves; should-have; should-haves",
    ),
    (
        Section::Quality,
        "non-functional; nonfunctional; non functional; quality; qualities; performance; security; \
         reliability; scalability; accessibility; usability; service level; service levels; numbers; \
         privacy",
    ),
    (
        Section::Constraints,
        "constraint; constraints; limits; restrictions; tech stack; technology; technologies; stack; \
         budget; timeline; deadline; deadlines; compliance; legal; regulations; technical; schedule; \
         boundaries",
    ),
    (
        Section::Roles,
        "user roles; user types; who uses; who uses it; personas; actors; target users; \
         target audience; audience; stakeholders; roles; user groups",
    ),
    (
        Section::Pages,
        "pages; screens; views; sitemap; site map; navigation",
    ),
    (
        Section::Design,
        "design; look; appearance; style; styling; branding; brand; visual; visuals; ui; colours; \
         colors; colour; color; theme; typography; palette; user interface; look and feel",
    ),
    (
        Section::Data,
        "data; data model; entities; domain model; what we store; what we keep; what is stored; \
         information; records; database; schema; content model",
    ),
    (
        Section::Features,
        "feature; features; functional; what it does; requirements; functionality; functionalities; \
         capabilities; user stories; stories; use cases; scope; mvp; workflow; workflows; behaviour; \
         behavior; how it works; functions; what users can do; main functions",
    ),
    (
        Section::Goal,
        "goal; goals; overview; background; introduction; about; vision; problem; summary; context; \
         motivation; purpose; why; mission; executive summary; description",
    ),
];

/// Words that announce a section only when they are the whole heading.
const WHOLE_HEADINGS: &[(Section, &str)] = &[(
    Section::Roles,
    "users; people; the users; our users; customers and users; user; team",
)];

/// The headings above the place that is read.
#[derive(Default)]
pub struct Sections {
    stack: Vec<(usize, String, Section)>,
    label: Option<(String, Section)>,
}

impl Sections {
    /// A heading of a level: it ends all headings of that level and deeper.
    pub fn enter(&mut self, level: usize, text: String) {
        self.label = None;
        self.stack.retain(|(above, ..)| *above < level);
        let own = Section::of_heading(&text);
        let title = self.stack.is_empty() && level == 1;
        let section = match own {
            // The title names the product, it announces nothing.
            _ if title => Section::Unknown,
            Section::Unknown => self
                .stack
                .last()
                .map_or(Section::Unknown, |(.., above)| *above),
            own => own,
        };
        self.stack.push((level, text, section));
    }

    /// A bold beginning or a line that stands as a heading: ends with the next one.
    pub fn enter_label(&mut self, text: String) {
        let own = Section::of_heading(&text);
        let section = if own == Section::Unknown {
            self.stack
                .last()
                .map_or(Section::Unknown, |(.., above)| *above)
        } else {
            own
        };
        self.label = Some((text, section));
    }

    /// The nearest heading.
    pub fn heading(&self) -> Option<String> {
        self.label
            .as_ref()
            .map(|(text, _)| text.clone())
            .or_else(|| self.stack.last().map(|(_, text, _)| text.clone()))
    }

    /// What it announces.
    pub fn current(&self) -> Section {
        self.label
            .as_ref()
            .map(|(_, section)| *section)
            .or_else(|| self.stack.last().map(|(.., section)| *section))
            .unwrap_or(Section::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_announce_sections() {
        for (heading, expected) in [
            ("Features", Section::Features),
            ("Functional requirements", Section::Features),
            ("Non-functional requirements", Section::Quality),
            ("Out of scope", Section::OutOfScope),
            ("What we do not want", Section::OutOfScope),
            ("Not part of this project", Section::OutOfScope),
            ("Nice to have", Section::NiceToHave),
            ("Who uses it", Section::Roles),
            ("Users", Section::Roles),
            ("Managing users", Section::Unknown),
            ("Look and feel", Section::Design),
            ("Screens", Section::Pages),
            ("Data model", Section::Data),
            ("Limits", Section::Constraints),
            ("Billing", Section::Unknown),
            ("", Section::Unknown),
        ] {
            assert_eq!(Section::of_heading(heading), expected, "{heading}");
        }
    }

    #[test]
    fn sub_headings_stay_in_their_section() {
        let mut sections = Sections::default();
        sections.enter(1, "Design Studio".to_owned());
        assert_eq!(sections.current(), Section::Unknown);
        sections.enter(2, "Features".to_owned());
        sections.enter(3, "Billing".to_owned());
        assert_eq!(sections.current(), Section::Features);
        assert_eq!(sections.heading().as_deref(), Some("Billing"));
        sections.enter_label("Out of scope".to_owned());
        assert_eq!(sections.current(), Section::OutOfScope);
        sections.enter(2, "Team".to_owned());
        assert_eq!(sections.current(), Section::Roles);
    }
}
