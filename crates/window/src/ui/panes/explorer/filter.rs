//! Finds files by typed text: those whose paths contain all words or, if there are none, those that match fuzzily.

use crate::base::paths::file_name;
use crate::ui::widgets::fuzzy_search;
use crate::workspace::vfs::FileInfo;

/// The search text and its current matches.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    text: String,
    words: Vec<String>,
    /// The lower-case paths of all files, while a search is active.
    lower: Vec<String>,
    hits: Option<Vec<usize>>,
    best: Option<usize>,
    is_fuzzy: bool,
}

impl Filter {
    /// Searches for `text`. Returns whether the matches may have changed.
    pub fn update(&mut self, files: &[FileInfo], text: &str, files_changed: bool) -> bool {
        if !files_changed && text == self.text {
            return false;
        }
        if files_changed {
            self.lower.clear();
        }
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() {
            let was_on = self.hits.is_some();
            *self = Self { text: text.to_owned(), ..Self::default() };
            return was_on;
        }
        if self.lower.len() != files.len() {
            self.lower = files.iter().map(|file| file.path.to_lowercase()).collect();
        }
        // Typing on narrows the results: only earlier matches can match again.
        let narrows = !files_changed && !self.is_fuzzy && text.starts_with(&self.text);
        let before = self.hits.take().filter(|_| narrows);
        let mut hits = paths_with_words(&self.lower, &words, before.as_deref());
        self.is_fuzzy = hits.is_empty();
        self.best = best_by_words(&self.lower, &words, &hits);
        if self.is_fuzzy {
            hits = fuzzy_search::best_first(text, files.iter().map(|file| file.path.as_str()));
            self.best = hits.first().copied();
            hits.sort_unstable();
        }
        (self.text, self.words, self.hits) = (text.to_owned(), words, Some(hits));
        true
    }

    /// Whether a search is active.
    pub fn is_active(&self) -> bool {
        self.hits.is_some()
    }

    /// Indices of the matching files; `None` while no search is active.
    pub fn hits(&self) -> Option<&[usize]> {
        self.hits.as_deref()
    }

    /// Index of the best match.
    pub fn best(&self) -> Option<usize> {
        self.best
    }

    /// The words of the search text in lower case.
    pub fn search_terms(&self) -> &[String] {
        &self.words
    }

    /// Whether no path contained the words and the matches are fuzzy.
    pub fn is_fuzzy(&self) -> bool {
        self.is_fuzzy
    }
}

fn paths_with_words(paths: &[String], words: &[String], among: Option<&[usize]>) -> Vec<usize> {
    let holds = |at: &usize| words.iter().all(|word| paths[*at].contains(word.as_str()));
    match among {
        Some(among) => among.iter().copied().filter(holds).collect(),
        None => (0..paths.len()).filter(holds).collect(),
    }
}

/// Returns the best match: an exact name before a name that starts with the first word, before a name with all words,
/// before matches in the folders; then the shortest path.
fn best_by_words(paths: &[String], words: &[String], hits: &[usize]) -> Option<usize> {
    let rank = |path: &str| {
        let name = file_name(path);
        let first = words.first().map_or("", String::as_str);
        let in_name = words.iter().all(|word| name.contains(word.as_str()));
        let is_exact = [path, name, name.split('.').next().unwrap_or(name)].contains(&first);
        if words.len() == 1 && is_exact {
            0
        } else if in_name {
            if name.starts_with(first) { 1 } else { 2 }
        } else {
            3
        }
    };
    hits.iter().copied().min_by_key(|at| (rank(&paths[*at]), paths[*at].len(), *at))
}
