//! MiniLM (`sentence-transformers/all-MiniLM-L6-v2`, or another BERT of that architecture) from a folder on this
//! computer.
//!
//! The computation is implemented here, because a library for it would make the program larger than everything else
//! that memories need. Its sums are computed in one order, so every machine gets the same results.

mod forward;
#[cfg(test)]
mod tests;
mod weights;
mod wordpiece;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Embedder, Embedding, EmbeddingError, ModelId};
use crate::base::hash::content_hash;
use forward::Network;
use weights::Weights;
use wordpiece::WordPieces;

/// The maximum size of a model's file in bytes.
const MAX_BYTES: u64 = 512 * 1024 * 1024;
/// The maximum number of tokens, as in training; the rest of a text is cut off.
const MAX_PIECES: usize = 256;
/// The maximum length of a text in bytes; the rest is not even tokenized.
const MAX_TEXT_BYTES: usize = 8 * 1024;

/// The parameters of the network in `config.json`.
#[derive(Clone, PartialEq, Debug, Deserialize)]
struct Shape {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    vocab_size: usize,
    layer_norm_eps: f32,
    #[serde(default)]
    hidden_act: String,
    #[serde(default)]
    model_type: String,
}

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MiniLmError {
    /// A file is missing, or cannot be read.
    #[error("{}: {error}", place.display())]
    File {
        /// The path.
        place: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The content of a file is invalid.
    #[error("{}: {what}", place.display())]
    Content {
        /// The path.
        place: PathBuf,
        /// What is wrong, and what to do about it.
        what: String,
    },
}

/// A model of this architecture, loaded from its folder.
pub struct MiniLm {
    model: ModelId,
    dimensions: usize,
    pieces: WordPieces,
    network: Network,
}

impl MiniLm {
    /// Loads `config.json`, `vocab.txt` and `model.safetensors` from a folder.
    pub fn open(folder: &Path) -> Result<Self, MiniLmError> {
        let (_, config) = read(folder, "config.json")?;
        let wrong = |name: &str, what: String| MiniLmError::Content { place: folder.join(name), what };
        let shape: Shape = serde_json::from_slice(&config).map_err(|error| wrong("config.json", error.to_string()))?;
        shape.check().map_err(|what| wrong("config.json", what))?;
        let (_, vocabulary) = read(folder, "vocab.txt")?;
        let pieces = WordPieces::new(&String::from_utf8_lossy(&vocabulary));
        let pieces = pieces.map_err(|what| wrong("vocab.txt", what))?;
        let (_, bytes) = read(folder, "model.safetensors")?;
        // Different models of the same name must have different ids.
        let model = ModelId(format!("minilm-{:016x}", content_hash(&bytes)).into());
        let weights = Weights::parse(&bytes).map_err(|what| wrong("model.safetensors", what))?;
        let network = Network::new(&weights, &shape).map_err(|what| wrong("model.safetensors", what))?;
        Ok(Self { model, dimensions: shape.hidden_size, pieces, network })
    }

    /// Returns the numbers of a text's tokens, including the start and end tokens.
    pub fn pieces(&self, text: &str) -> Vec<usize> {
        self.pieces.numbers_of(text, MAX_PIECES)
    }
}

impl Shape {
    fn check(&self) -> Result<(), String> {
        let Self { hidden_size, num_attention_heads, hidden_act, model_type, .. } = self;
        if model_type != "bert" || hidden_act != "gelu" {
            return Err(format!("it is a {model_type} with {hidden_act}, not a bert with gelu: use a MiniLM folder"));
        }
        let is_sound = (1..=4096).contains(hidden_size)
            && (1..=64).contains(num_attention_heads)
            && hidden_size % num_attention_heads == 0
            && (1..=48).contains(&self.num_hidden_layers)
            && (1..=16_384).contains(&self.intermediate_size)
            && self.max_position_embeddings >= MAX_PIECES;
        if is_sound { Ok(()) } else { Err("its sizes are inconsistent: download the model again".to_owned()) }
    }
}

fn read(folder: &Path, name: &str) -> Result<(PathBuf, Vec<u8>), MiniLmError> {
    let place = folder.join(name);
    let wrong = |error| MiniLmError::File { place: place.clone(), error };
    let length = fs::metadata(&place).map_err(wrong)?.len();
    if length > MAX_BYTES {
        let what = format!("{length} bytes is too large: use a MiniLM folder");
        return Err(MiniLmError::Content { place, what });
    }
    let bytes = fs::read(&place).map_err(wrong)?;
    Ok((place, bytes))
}

impl Embedder for MiniLm {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, text: &str) -> Result<Embedding, EmbeddingError> {
        let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
        if text.trim().is_empty() {
            return Err(EmbeddingError::Zero { model: self.model.clone() });
        }
        Embedding::new(&self.model, self.dimensions, &self.network.mean_of(&self.pieces(text)))
    }

    fn is_quick(&self) -> bool {
        false
    }
}
