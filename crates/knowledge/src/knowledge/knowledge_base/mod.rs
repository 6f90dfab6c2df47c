//! The knowledge base of a workspace: its parsed files and their index. It takes texts and returns texts to write; the
//! caller is responsible for file access and time.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::db::{Db, DbError};
use super::embedding::{Embedder, Embedding, EmbeddingError};
use super::file::{FileError, KnowledgeFile, Owner};
use super::index::{Entry, Index, RecallCount, Viewer};
use super::memory::{Memory, normalize};
use super::recall::{Filter, Query, Recalled};
use crate::base::{Id, Problem};

/// An embedding model that can be called from any thread.
pub type AnyEmbedder = Box<dyn Embedder + Send + Sync>;

/// Why an operation on memories failed.
#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    /// A file prevented it.
    #[error(transparent)]
    File(#[from] FileError),
    /// The database failed.
    #[error(transparent)]
    Db(#[from] DbError),
    /// A vector is invalid.
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
}

/// A change that must be written to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileChange {
    /// The owner of the file.
    pub owner: Owner,
    /// The change.
    pub write: Write,
    /// The original length of the content in bytes, if it was shortened.
    pub cut_from: Option<usize>,
}

/// How a file changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Write {
    /// Append this to the file; creates the file if it is missing.
    Append(String),
    /// Replace the content with this.
    Replace(String),
}

/// The changes caused by reading files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadSummary {
    /// The number of new or changed memories.
    pub changed: usize,
    /// The number of removed memories.
    pub gone: usize,
    /// The number of memories that had to be embedded.
    pub embedded: usize,
}

/// The parsed and indexed memory files of a workspace.
pub struct KnowledgeBase {
    embedder: AnyEmbedder,
    db: Db,
    index: Index,
    files: BTreeMap<Owner, KnowledgeFile>,
    /// The recall counts of memories that are in no file at the moment.
    counts: HashMap<Id, RecallCount>,
    /// The ids of memories that are not embedded yet and can only be found by their words.
    due: BTreeSet<Id>,
}

impl KnowledgeBase {
    /// Creates an empty knowledge base with this database and model.
    pub fn new(db: Db, embedder: AnyEmbedder) -> Result<Self, KnowledgeError> {
        let index = Index::new(embedder.model(), embedder.dimensions());
        let counts = db.recalls()?;
        Ok(Self { embedder, db, index, files: BTreeMap::new(), counts, due: BTreeSet::new() })
    }

    /// Reads all files; memories that are not in them are removed. The order of the files does not affect the result.
    pub fn read(&mut self, texts: impl IntoIterator<Item = (Owner, String)>) -> Result<ReadSummary, KnowledgeError> {
        let texts: BTreeMap<Owner, String> = texts.into_iter().collect();
        let mut taken = BTreeSet::new();
        let parsed = texts.into_iter().map(|(owner, text)| {
            let file = KnowledgeFile::parse(owner.clone(), &text, &mut taken);
            (owner, file)
        });
        self.files = parsed.collect();
        self.sync_index()
    }

    /// Reads one file that changed; `None` if it was deleted.
    pub fn read_one(&mut self, owner: &Owner, text: Option<&str>) -> Result<ReadSummary, KnowledgeError> {
        self.files.remove(owner);
        if let Some(text) = text {
            let others = self.files.values().flat_map(KnowledgeFile::memories);
            let mut taken = others.map(|(_, memory)| memory.id.clone()).collect();
            self.files.insert(owner.clone(), KnowledgeFile::parse(owner.clone(), text, &mut taken));
        }
        self.sync_index()
    }

    /// Updates the index to the content of the files.
    fn sync_index(&mut self) -> Result<ReadSummary, KnowledgeError> {
        let mut read = ReadSummary::default();
        let wanted: BTreeMap<&Id, &Memory> =
            self.files.values().flat_map(KnowledgeFile::memories).map(|(_, memory)| (&memory.id, memory)).collect();
        let known = self.index.all(&Viewer::Person);
        let is_gone = |entry: &&&Entry| !wanted.contains_key(&entry.memory.id);
        let gone: Vec<Id> = known.iter().filter(is_gone).map(|entry| entry.memory.id.clone()).collect();
        let is_known =
            |memory: &Memory| self.index.get(&Viewer::Person, &memory.id).is_some_and(|entry| entry.memory == *memory);
        let due: Vec<Memory> = wanted.into_values().filter(|memory| !is_known(memory)).cloned().collect();
        for id in gone {
            let entry = self.index.remove(&id);
            self.due.remove(&id);
            self.counts.extend(entry.map(|entry| (id, entry.recalls)));
            read.gone += 1;
        }
        let Self { db, embedder, index, counts, due: to_make, .. } = self;
        db.in_transaction(|db| {
            for memory in due {
                let Vector { embedding, is_new, is_due } = vector_of(db, &**embedder, &memory, embedder.is_quick())?;
                read.embedded += usize::from(is_new);
                read.changed += 1;
                note_due(to_make, &memory.id, is_due);
                let entry = index.get(&Viewer::Person, &memory.id);
                let recalls = entry.map(|entry| entry.recalls).or_else(|| counts.remove(&memory.id));
                // Cannot fail: the vector is of the index's model.
                let _ = index.insert(memory, recalls.unwrap_or_default(), embedding.as_ref());
            }
            Ok(())
        })?;
        Ok(read)
    }

    /// Computes all vectors again, for example in case of doubt.
    pub fn reindex(&mut self) -> Result<ReadSummary, KnowledgeError> {
        self.db.clear_vectors()?;
        self.rebuild_index()
    }

    fn rebuild_index(&mut self) -> Result<ReadSummary, KnowledgeError> {
        for entry in self.index.all(&Viewer::Person) {
            self.counts.insert(entry.memory.id.clone(), entry.recalls);
        }
        self.index = Index::new(self.embedder.model(), self.embedder.dimensions());
        self.due.clear();
        self.sync_index()
    }

    /// Switches to another model. Vectors that it computed before are reused, the others are computed.
    pub fn use_embedder(&mut self, embedder: AnyEmbedder) -> Result<ReadSummary, KnowledgeError> {
        self.embedder = embedder;
        self.rebuild_index()
    }

    /// Returns the database.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// Returns the number of memories that are not embedded yet.
    pub fn due(&self) -> usize {
        self.due.len()
    }

    /// Embeds at most `at_most` of the memories that are due. Returns how many succeeded. If the model is unavailable,
    /// they stay due.
    pub fn embed_pending(&mut self, at_most: usize) -> Result<usize, KnowledgeError> {
        let next: Vec<Id> = self.due.iter().take(at_most).cloned().collect();
        let known = |id: &Id| self.index.get(&Viewer::Person, id).map(|entry| entry.memory.clone());
        let memories: Vec<Memory> = next.iter().filter_map(known).collect();
        let texts: Vec<&str> = memories.iter().map(|memory| memory.content.as_str()).collect();
        let made = self.embedder.embed_all(&texts);
        let Self { db, index, due, .. } = self;
        let mut came = 0;
        db.in_transaction(|db| {
            for (memory, made) in memories.iter().zip(made) {
                if matches!(made, Err(EmbeddingError::Unavailable { .. })) {
                    continue;
                }
                due.remove(&memory.id);
                let Ok(embedding) = made else { continue };
                db.keep_vector(memory.content_key(), &embedding)?;
                index.set_vector(&memory.id, &embedding);
                came += 1;
            }
            Ok(())
        })?;
        Ok(came)
    }

    /// Returns the index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the model in use.
    pub fn embedder(&self) -> &dyn Embedder {
        &*self.embedder
    }

    /// Returns the file of an owner, as it was read.
    pub fn file(&self, owner: &Owner) -> Option<&KnowledgeFile> {
        self.files.get(owner)
    }

    /// Returns the file and line of a memory.
    pub fn line_of(&self, memory: &Memory) -> Option<(Owner, usize)> {
        let owner = Owner::of(memory);
        let found = self.files.get(&owner)?.memories().find(|(_, one)| one.id == memory.id);
        found.map(|(line, _)| (owner, line))
    }

    /// Returns the problems of the files and the database.
    pub fn problems(&self) -> Vec<Problem> {
        let damaged = self.db.was_damaged().then(|| {
            let what = "the database was damaged and was rebuilt: recall counts start at zero";
            Problem::warning("knowledge.db", what, "nothing to do; no memory is lost")
        });
        damaged.into_iter().chain(self.files.values().flat_map(|file| file.problems().to_vec())).collect()
    }

    /// Embeds a text; `None` if that failed.
    pub fn embed(&self, text: &str) -> Option<Embedding> {
        self.embedder.embed(text).ok()
    }

    /// Returns the viewer's memories that are relevant to a text, the best first.
    pub fn recall(&self, viewer: &Viewer, text: &str, now: i64, limit: usize, filter: Filter) -> Vec<Recalled<'_>> {
        let embedding = self.embed(text);
        let query = Query { viewer: viewer.clone(), text, embedding: embedding.as_ref(), now, limit, filter };
        self.index.recall(&query)
    }

    /// Records that memories were recalled.
    pub fn note_recalled<'a>(
        &mut self,
        ids: impl IntoIterator<Item = &'a str>,
        now: i64,
    ) -> Result<(), KnowledgeError> {
        let Self { db, index, .. } = self;
        let noted = db.in_transaction(|db| {
            for id in ids {
                if let Some(recalls) = index.note_recalled(id, now) {
                    db.keep_recalls(id, recalls)?;
                }
            }
            Ok(())
        });
        Ok(noted?)
    }

    /// Adds a memory. An existing id is an error: the id follows from the agent, the content and the time.
    pub fn add(&mut self, memory: &Memory) -> Result<FileChange, KnowledgeError> {
        let owner = Owner::of(memory);
        if self.index.get(&Viewer::Person, &memory.id).is_some() {
            return Err(FileError::Taken { place: owner.place(), id: memory.id.clone() }.into());
        }
        let is_new = !self.files.contains_key(&owner);
        let mut file = self.files.remove(&owner).unwrap_or_else(|| KnowledgeFile::new(owner.clone()));
        let heading = if is_new { file.to_string() } else { String::new() };
        let added = file.add(memory);
        if added.is_ok() || !is_new {
            self.files.insert(owner.clone(), file);
        }
        let added = added?;
        self.indexed(&owner, &memory.id)?;
        Ok(FileChange { owner, write: Write::Append(heading + &added.appended), cut_from: added.cut_from })
    }

    /// Replaces a memory. If its owner changes, two files change.
    pub fn update(&mut self, memory: &Memory) -> Result<Vec<FileChange>, KnowledgeError> {
        let owner = Owner::of(memory);
        let known = self.index.get(&Viewer::Person, &memory.id).map(|entry| (Owner::of(&entry.memory), entry.recalls));
        let unknown = || FileError::Unknown { place: owner.place(), id: memory.id.clone() };
        let (old_owner, recalls) = known.ok_or_else(unknown)?;
        if normalize(&memory.content).text.is_empty() {
            return Err(FileError::Empty { place: owner.place() }.into());
        }
        if old_owner != owner {
            // The destination is written first, so that the memory is not lost if only one of the two changes is
            // written.
            let left = self.take_out(&memory.id)?;
            self.counts.insert(memory.id.clone(), recalls);
            let arrived = self.add(memory)?;
            return Ok(vec![arrived, left]);
        }
        let file = self.files.get_mut(&owner).ok_or_else(unknown)?;
        let cut_from = file.update(memory)?;
        let text = file.to_string();
        self.indexed(&owner, &memory.id)?;
        Ok(vec![FileChange { owner, write: Write::Replace(text), cut_from }])
    }

    /// Removes a memory, even a pinned one: the caller decides whether that is permitted.
    pub fn forget(&mut self, id: &str) -> Result<FileChange, KnowledgeError> {
        self.take_out(id)
    }

    fn take_out(&mut self, id: &str) -> Result<FileChange, KnowledgeError> {
        let owner = self.index.get(&Viewer::Person, id).map(|entry| Owner::of(&entry.memory));
        let unknown = || FileError::Unknown { place: "memory/knowledge".to_owned(), id: id.into() };
        let owner = owner.ok_or_else(unknown)?;
        let file = self.files.get_mut(&owner).ok_or_else(unknown)?;
        file.remove(id)?;
        let text = file.to_string();
        self.index.remove(id);
        self.due.remove(id);
        Ok(FileChange { owner, write: Write::Replace(text), cut_from: None })
    }

    /// Adds a memory to the index as it is in its file.
    fn indexed(&mut self, owner: &Owner, id: &str) -> Result<(), KnowledgeError> {
        let memory = self.files.get(owner).and_then(|file| file.memory(id)).cloned();
        let Some(memory) = memory else { return Ok(()) };
        // If the vector cannot be stored, as on a full disk, the memory is still added, and embedded again next time.
        let vector = match vector_of(&self.db, &*self.embedder, &memory, true) {
            Ok(vector) => vector,
            Err(_) => Vector { embedding: self.embed(&memory.content), ..Vector::default() },
        };
        note_due(&mut self.due, &memory.id, vector.is_due);
        let recalls = self.index.get(&Viewer::Person, id).map(|entry| entry.recalls);
        let recalls = recalls.or_else(|| self.counts.remove(id)).unwrap_or_default();
        Ok(self.index.insert(memory, recalls, vector.embedding.as_ref())?)
    }
}

/// The state of a memory's vector.
#[derive(Default)]
struct Vector {
    embedding: Option<Embedding>,
    /// Whether it was just computed.
    is_new: bool,
    /// Whether it must still be computed.
    is_due: bool,
}

/// Returns the stored vector of a memory, or computes it if `is_made_now`.
fn vector_of(db: &Db, embedder: &dyn Embedder, memory: &Memory, is_made_now: bool) -> Result<Vector, DbError> {
    let key = memory.content_key();
    let kept = db.vector(embedder.model(), embedder.dimensions(), key)?;
    if kept.is_some() || !is_made_now {
        return Ok(Vector { is_due: kept.is_none(), embedding: kept, is_new: false });
    }
    let made = embedder.embed(&memory.content);
    let is_due = matches!(made, Err(EmbeddingError::Unavailable { .. }));
    let is_of_it = |made: &Embedding| made.model() == embedder.model() && made.levels().len() == embedder.dimensions();
    let embedding = made.ok().filter(is_of_it);
    if let Some(made) = &embedding {
        db.keep_vector(key, made)?;
    }
    Ok(Vector { embedding, is_new: !is_due, is_due })
}

fn note_due(due: &mut BTreeSet<Id>, id: &Id, is_due: bool) {
    if is_due {
        due.insert(id.clone());
    } else {
        due.remove(id);
    }
}
