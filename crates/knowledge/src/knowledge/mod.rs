//! Knowledge of agents: memory files, search, and merging new memories with known ones. Independent of the room and its
//! clock, of chat models and of the command line.

pub mod consolidation;
pub mod db;
pub mod embedding;
pub mod file;
pub mod graph;
pub mod index;
pub mod knowledge_base;
pub mod memory;
pub mod recall;

pub use db::{Db, DbError};
pub use embedding::{Embedder, Embedding, EmbeddingError, MiniLm, MiniLmError, ModelId, WordLlama};
pub use file::{FileError, KnowledgeFile, Owner};
pub use graph::{Graph, memory_json};
pub use index::{Entry, Index, RecallCount, Viewer};
pub use knowledge_base::{AnyEmbedder, FileChange, KnowledgeBase, KnowledgeError, ReadSummary, Write};
pub use memory::{Edge, Memory, MemoryKind, Relation, Source};
pub use recall::{Filter, Query, Recalled, ScoreParts};
