//! Everything the screen knows. Plain data: `update` changes it, `view` reads it.

use crate::{
    event::{Call, Effect, Fault},
    listing::{Detail, Item, Listing},
    question::Question,
};

/// A tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tab {
    #[default]
    Plan,
    Drift,
    History,
}

impl Tab {
    pub(crate) const ALL: [Self; 3] = [Self::Plan, Self::Drift, Self::History];

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Plan => "Plan",
            Self::Drift => "Drift",
            Self::History => "History",
        }
    }

    /// The tab this many places on.
    pub(crate) const fn turned(self, places: usize) -> Self {
        Self::ALL[(self as usize + places) % Self::ALL.len()]
    }

    /// The call that fills it.
    pub(crate) const fn call(self) -> Call {
        match self {
            Self::Plan => Call::Plan,
            Self::Drift => Call::Drift,
            Self::History => Call::History,
        }
    }
}

/// How far a tab is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Load {
    #[default]
    Waiting,
    Ready,
    Failed,
}

/// What a tab shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    pub(crate) load: Load,
    pub(crate) listing: Listing,
    /// Which of the items is selected.
    pub(crate) selected: usize,
}

impl Page {
    pub(crate) fn item(&self) -> Option<&Item> {
        self.listing.item(self.selected)
    }

    /// Takes over what was read, and stays on the item that was selected.
    pub(crate) fn replace(&mut self, listing: Listing) {
        let kept = self
            .item()
            .and_then(|item| listing.find(&item.key))
            .map(|(position, _)| position);
        let last = listing.len().saturating_sub(1);
        self.selected = kept.unwrap_or_else(|| self.selected.min(last));
        self.listing = listing;
        self.load = Load::Ready;
    }
}

/// The scroll position of the pane next to the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pane {
    pub(crate) open: bool,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The last thing said at the bottom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Message {
    #[default]
    None,
    Notice(String),
    Fault(Fault),
}

/// The screen.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) program: String,
    pub(crate) colour: bool,
    pub(crate) read_only: bool,
    /// Columns and rows.
    pub(crate) size: (u16, u16),
    pub(crate) tab: Tab,
    pub(crate) pages: [Page; 3],
    pub(crate) pane: Pane,
    pub(crate) question: Option<Question>,
    pub(crate) help: bool,
    pub(crate) message: Message,
    /// The calls in progress, the current one first.
    pub(crate) underway: Vec<Call>,
    pub(crate) ticks: usize,
    /// Whether the user wanted to leave while files were written.
    pub(crate) leaving: bool,
}

impl State {
    pub(crate) fn page(&self) -> &Page {
        self.page_of(self.tab)
    }

    pub(crate) fn page_mut(&mut self) -> &mut Page {
        self.page_of_mut(self.tab)
    }

    pub(crate) fn page_of(&self, tab: Tab) -> &Page {
        &self.pages[tab as usize]
    }

    pub(crate) fn page_of_mut(&mut self, tab: Tab) -> &mut Page {
        &mut self.pages[tab as usize]
    }

    pub(crate) fn is_writing(&self) -> bool {
        self.underway.iter().any(Call::writes)
    }

    /// Asks for a call, unless the same one is in progress already.
    pub(crate) fn send(&mut self, call: Call) -> Option<Effect> {
        if self.underway.contains(&call) {
            return None;
        }
        self.underway.push(call.clone());
        Some(Effect::Call(call))
    }

    /// What the pane shows of the selected item.
    pub(crate) fn detail(&self) -> &str {
        let Some(item) = self.page().item() else {
            return "";
        };
        match &item.detail {
            Detail::Text(text) => text,
            Detail::Unread => "reading…",
            Detail::AsPlanned(otherwise) => match self.page_of(Tab::Plan).listing.find(&item.key) {
                Some((
                    _,
                    Item {
                        detail: Detail::Text(text),
                        ..
                    },
                )) => text,
                _ => otherwise,
            },
        }
    }

    /// How many rows a page up or down moves.
    pub(crate) fn stride(&self) -> usize {
        usize::from(self.size.1 / 2).max(1)
    }
}
