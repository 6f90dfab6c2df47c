//! The page on which a person sees what a workspace wants to be allowed and what would start by itself, and decides: the
//! same for the command and the window. It is plain data; what is trusted is exactly what is on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::base::Problem;
use crate::base::visible_text::{visible, visible_in_order};
use crate::gate::commands::ALLOWLIST_FILE;
use crate::gateway::aliases::MODELS;
use crate::gateway::trusted_workspaces;
use crate::tools::REACH;
use crate::workspace::trust::Widening;

/// The maximum number of wishes that a summary names.
const MAX_NAMED: usize = 8;

/// The place of the saved room among what would start by itself.
pub const SAVED_ROOM: &str = ".workshop";

/// Something that would start by itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SelfStarter {
    /// The file.
    pub place: String,
    /// What would start.
    pub what: String,
}

/// What a workspace wants, and what the person has decided about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TrustPage {
    /// The workspace.
    pub folder: PathBuf,
    /// Whether the person trusts the workspace.
    pub trusted: bool,
    /// Everything that it wants to be allowed.
    pub wants: Vec<Widening>,
    /// What of that has no effect yet.
    pub new: Vec<Widening>,
    /// What would start by itself.
    pub starts: Vec<SelfStarter>,
    /// The files that cannot be read, so that what they want is unknown.
    pub unreadable: Vec<String>,
    /// Whether it has a saved room with runs that this program did not begin here and that the person has not accepted:
    /// it is not continued, even in a workspace that they trust.
    pub has_unknown_room: bool,
    /// The newest runs in the saved room when the page was read, the newest first.
    #[serde(skip)]
    pub runs: Vec<String>,
    /// The texts of the files with code, by path, as they were when the page was read.
    #[serde(skip)]
    pub code: BTreeMap<String, String>,
}

/// A part of the page under one title.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrustSection {
    /// The title, without punctuation at its end.
    pub title: &'static str,
    /// What belongs to it.
    pub entries: Vec<TrustEntry>,
}

/// One thing on the page. Its texts come from files as they are, and are made [`visible`] when they are shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrustEntry {
    /// The file.
    pub place: String,
    /// The exact words: the key and the value, or what would start.
    pub words: String,
    /// What it means for the person; empty if the words say it.
    pub meaning: String,
    /// The text of the file, if it is code.
    pub code: Option<String>,
}

/// The titles of the parts with what belongs to each, the most particular first. They are shown in the opposite order.
const TITLES: [(&str, fn(&Widening) -> bool); 6] = [
    ("Asked separately before it has any effect", |one| one.is_asked_elsewhere),
    ("Starts by itself", Widening::starts_by_itself),
    ("Agents that reach outside the workspace", |one| one.key == REACH),
    ("Commands without asking", |one| one.place == ALLOWLIST_FILE),
    ("Models", |one| one.place == MODELS),
    ("Settings", |_| true),
];

impl TrustPage {
    /// Whether the person has nothing to decide.
    pub fn is_settled(&self) -> bool {
        self.trusted && !self.has_news()
    }

    /// Whether something waits that the person has not seen, if they trust the workspace.
    fn has_news(&self) -> bool {
        !self.new.is_empty() || self.has_unknown_room
    }

    /// What is shown: of a trusted workspace, only what is new.
    pub fn shown(&self) -> &[Widening] {
        if self.trusted { &self.new } else { &self.wants }
    }

    /// How many wishes the person has trusted before and are still there.
    pub fn trusted_before(&self) -> usize {
        self.wants.len() - self.new.len()
    }

    /// What the workspace permits itself and whether the person has allowed it, in one sentence.
    pub fn summary(&self) -> String {
        let shown = if self.trusted && self.has_news() { &self.new } else { &self.wants };
        let mut named: Vec<String> = shown.iter().take(MAX_NAMED).map(|widening| safe(&widening.key)).collect();
        if self.trusted && self.has_unknown_room {
            named.push("its saved room".to_owned());
        }
        if shown.len() > MAX_NAMED {
            named.push(format!("{} more", shown.len() - MAX_NAMED));
        }
        let named = if named.is_empty() { "nothing".to_owned() } else { named.join(", ") };
        match (self.trusted, !self.has_news()) {
            (true, true) => format!("you trust it; it permits itself {named}"),
            (true, false) => format!("you trust it, except for what is new and has no effect yet: {named}"),
            (false, _) => {
                let starts = self.starts.len();
                format!("restricted until you trust it; it wants {named}, and {starts} would start by itself")
            }
        }
    }

    /// Trusts the workspace with exactly what the page shows. Returns the path of the person's file.
    pub fn accept(&self, config_folder: Option<&Path>) -> Result<PathBuf, Problem> {
        trusted_workspaces::trust(config_folder, &self.folder, self.wants.iter().cloned(), &self.runs)
    }

    /// The parts of the page.
    pub fn sections(&self) -> Vec<TrustSection> {
        let mut sections: Vec<TrustSection> =
            TITLES.iter().rev().map(|(title, _)| TrustSection { title, entries: Vec::new() }).collect();
        for widening in self.shown() {
            let (title, _) = TITLES.iter().find(|(_, belongs)| belongs(widening)).unwrap_or(&TITLES[TITLES.len() - 1]);
            let section = sections.iter_mut().find(|section| section.title == *title);
            section.into_iter().for_each(|section| section.entries.push(self.entry(widening)));
        }
        let others = self.waiting_starts().map(|starter| TrustEntry {
            place: starter.place.clone(),
            words: starter.what.clone(),
            meaning: String::new(),
            code: None,
        });
        let (title, _) = TITLES[1];
        let section = sections.iter_mut().find(|section| section.title == title);
        section.into_iter().for_each(|section| section.entries.extend(others.clone()));
        let unreadable = self.unreadable.iter().map(|path| TrustEntry {
            place: path.clone(),
            words: "cannot be read, so what it wants is unknown".to_owned(),
            meaning: String::new(),
            code: None,
        });
        sections.push(TrustSection { title: "Files that cannot be read", entries: unreadable.collect() });
        sections.retain(|section| !section.entries.is_empty());
        sections
    }

    /// What waits to start by itself, besides the wishes: everything in a workspace that is not trusted.
    fn waiting_starts(&self) -> impl Iterator<Item = &SelfStarter> + Clone {
        let is_listed = |starter: &&SelfStarter| {
            let mut wants = self.wants.iter().filter(|widening| widening.starts_by_itself());
            wants.any(|widening| widening.place == starter.place)
        };
        let waits = |starter: &&SelfStarter| !self.trusted || (self.has_unknown_room && starter.place == SAVED_ROOM);
        self.starts.iter().filter(move |starter| waits(starter) && !is_listed(starter))
    }

    fn entry(&self, widening: &Widening) -> TrustEntry {
        let Widening { place, key, value, sentence, .. } = widening;
        let is_code = widening.starts_by_itself();
        TrustEntry {
            place: place.clone(),
            words: format!("{key}: {value}"),
            meaning: sentence.clone(),
            code: self.code.get(place).filter(|_| is_code).cloned(),
        }
    }

    /// The page as lines, with every character visible. Code is named and not listed.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.heading().to_owned()];
        for TrustSection { title, entries } in self.sections() {
            lines.push(format!("{title}:"));
            lines.extend(entries.iter().map(|entry| {
                let meaning =
                    if entry.meaning.is_empty() { String::new() } else { format!(" – {}", safe(&entry.meaning)) };
                format!("  {}: {}{meaning}", safe(&entry.place), safe(&entry.words))
            }));
        }
        if !self.trusted && self.starts.is_empty() && !self.wants.iter().any(Widening::starts_by_itself) {
            lines.push("Nothing would start by itself.".to_owned());
        }
        if self.trusted && self.has_news() {
            lines.push(format!("Trusted before: {}.", self.trusted_before()));
        }
        lines
    }

    /// What the page is about, in a sentence or before a colon.
    pub fn heading(&self) -> &'static str {
        match (self.trusted, self.shown().is_empty() && !(self.trusted && self.has_unknown_room)) {
            (true, true) => "It wants nothing that you have not allowed.",
            (true, false) => "New since you trusted it, without effect until you do again:",
            (false, true) => "It wants nothing to be allowed.",
            (false, false) => "It wants to be allowed:",
        }
    }
}

/// Text from files with every character visible and in the order in which it is.
pub fn safe(text: &str) -> String {
    let shown = visible(text);
    visible_in_order(&shown).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of a workspace with these wishes, of which the person has trusted the first `trusted`.
    fn page(wants: &[Widening], trusted: Option<usize>) -> TrustPage {
        TrustPage {
            folder: "/home/room".into(),
            trusted: trusted.is_some(),
            wants: wants.to_vec(),
            new: wants[trusted.unwrap_or(0)..].to_vec(),
            starts: vec![SelfStarter { place: "tasks/a.task.md".into(), what: "the task “Do it”".into() }],
            unreadable: Vec::new(),
            has_unknown_room: false,
            runs: Vec::new(),
            code: BTreeMap::new(),
        }
    }

    fn wants() -> [Widening; 3] {
        [
            Widening::new("settings.yaml", "commands.network", "true", "commands may use the network"),
            Widening::new(ALLOWLIST_FILE, "curl", "true", "runs this command without asking"),
            Widening::starting("agents/ada/heartbeat.md", "every 5m", "wakes this agent"),
        ]
    }

    #[test]
    fn everything_is_on_the_page_of_a_workspace_that_is_not_trusted() {
        let lines = page(&wants(), None).lines().join("\n");
        for part in ["commands.network: true", "curl: true", "agents/ada/heartbeat.md", "every 5m", "the task “Do it”"]
        {
            assert!(lines.contains(part), "{part} in {lines}");
        }
    }

    #[test]
    fn of_a_trusted_workspace_only_the_difference_is_shown_and_the_rest_is_counted() {
        let page = page(&wants(), Some(2));
        let lines = page.lines().join("\n");
        assert!(lines.contains("every 5m") && lines.contains("Trusted before: 2."), "{lines}");
        for old in ["commands.network", "curl", "the task"] {
            assert!(!lines.contains(old), "{old} in {lines}");
        }
        assert!(!page.is_settled());
    }

    #[test]
    fn exactly_what_is_on_the_page_is_trusted() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let page = page(&wants()[..2], None);
        page.accept(Some(config.path())).expect("it can be saved");
        let known = trusted_workspaces::load(Some(config.path()), &page.folder).expect("it can be read");
        let trust = known.trust();
        assert!(trust.allows(&wants()[0]) && trust.allows(&wants()[1]) && !trust.allows(&wants()[2]));
    }

    #[test]
    fn a_saved_room_that_came_in_is_news_in_a_trusted_workspace_and_accepting_it_settles_that() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let saved = SelfStarter { place: SAVED_ROOM.into(), what: "the saved room".into() };
        let starts = [page(&[], None).starts, vec![saved]].concat();
        let runs = vec!["r-2".to_owned(), "r-1".to_owned()];
        let page = TrustPage { starts, has_unknown_room: true, runs, ..page(&wants(), Some(3)) };
        assert!(!page.is_settled() && page.summary().contains("its saved room"), "{}", page.summary());
        let lines = page.lines().join("\n");
        assert!(lines.contains("New since you trusted it") && lines.contains(".workshop: the saved room"), "{lines}");
        assert!(!lines.contains("the task") && lines.contains("Trusted before: 3."), "{lines}");
        page.accept(Some(config.path())).expect("it can be saved");
        let known = trusted_workspaces::load(Some(config.path()), &page.folder).expect("it can be read");
        assert_eq!(known.known_runs(), Some(&["r-1".to_owned(), "r-2".to_owned()][..]));
    }

    #[test]
    fn no_character_of_a_wish_is_hidden() {
        let hostile = "curl a\u{202e}b\u{200b}\r\u{1b}[2K\tx          ";
        let wish = Widening::new("settings.yaml", "gate.\u{2066}touches", hostile, "");
        let lines = page(&[wish], None).lines().join("\n");
        for note in ["‹U+202E›", "‹U+200B›", "‹CR›", "‹ESC›", "‹tab›", "‹10 blanks›", "‹U+2066›"]
        {
            assert!(lines.contains(note), "{note} in {lines}");
        }
    }
}
