//! Finds files by typed text: those whose paths contain all words or, if there are none, those whose paths contain the
//! letters in this order.

use crate::ui::widgets::fuzzy_search;
use crate::workspace::vfs::FileInfo;

/// What is looked for, and what was found last.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    text: String,
    words: Vec<String>,
    /// The paths in small letters, while something is looked for.
    lower: Vec<String>,
    hits: Option<Vec<usize>>,
    best: Option<usize>,
    is_by_letters: bool,
}

impl Filter {
    /// Looks for this among the files. Whether anything else was found than before.
    pub fn look(&mut self, files: &[FileInfo], text: &str, are_others: bool) -> bool {
        if !are_others && text == self.text {
            return false;
        }
        if are_others {
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
        // A longer filter only narrows the results: only earlier matches can match again.
        let goes_on = !are_others && !self.is_by_letters && text.starts_with(&self.text);
        let before = self.hits.take().filter(|_| goes_on);
        let mut hits = holding_words(&self.lower, &words, before.as_deref());
        self.is_by_letters = hits.is_empty();
        self.best = best_by_words(&self.lower, &words, &hits);
        if self.is_by_letters {
            hits = fuzzy_search::best_first(text, files.iter().map(|file| file.path.as_str()));
            self.best = hits.first().copied();
            hits.sort_unstable();
        }
        (self.text, self.words, self.hits) = (text.to_owned(), words, Some(hits));
        true
    }

    /// Whether something is looked for.
    pub fn is_on(&self) -> bool {
        self.hits.is_some()
    }

    /// The files that were found, by index; absent where nothing is looked for.
    pub fn hits(&self) -> Option<&[usize]> {
        self.hits.as_deref()
    }

    /// The file that is probably meant.
    pub fn best(&self) -> Option<usize> {
        self.best
    }

    /// The words, in small letters.
    pub fn search_terms(&self) -> &[String] {
        &self.words
    }

    /// Whether no path holds the words, and those were found that hold their letters.
    pub fn is_by_letters(&self) -> bool {
        self.is_by_letters
    }
}

fn holding_words(paths: &[String], words: &[String], among: Option<&[usize]>) -> Vec<usize> {
    let holds = |at: &usize| words.iter().all(|word| paths[*at].contains(word.as_str()));
    match among {
        Some(among) => among.iter().copied().filter(holds).collect(),
        None => (0..paths.len()).filter(holds).collect(),
    }
}

/// The name itself before one that begins like it, before one that holds the words, before folders that do.
fn best_by_words(paths: &[String], words: &[String], hits: &[usize]) -> Option<usize> {
    let rank = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let first = words.first().map_or("", String::as_str);
        let in_name = words.iter().all(|word| name.contains(word.as_str()));
        let is_it = [path, name, name.split('.').next().unwrap_or(name)].contains(&first);
        if words.len() == 1 && is_it {
            0
        } else if in_name {
            if name.starts_with(first) { 1 } else { 2 }
        } else {
            3
        }
    };
    hits.iter().copied().min_by_key(|at| (rank(&paths[*at]), paths[*at].len(), *at))
}
