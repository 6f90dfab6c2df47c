//! Embeddings: the trait of embedding models, the built-in model, and one that is loaded from a folder.

mod compare;
mod minilm;
mod tokenizer;
mod wordllama;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(super) use compare::QueryVector;
pub use minilm::{MiniLm, MiniLmError};
pub use wordllama::WordLlama;

use crate::base::Id;

/// The maximum dimension of a model.
const MAX_DIMENSIONS: usize = 4096;

/// The id of an embedding model: vectors of different models are never compared.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelId(pub Id);

impl fmt::Display for ModelId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// An embedding model.
pub trait Embedder {
    /// Returns the id of the model, which contains everything that its vectors depend on.
    fn model(&self) -> &ModelId;

    /// Returns the dimension of its vectors.
    fn dimensions(&self) -> usize;

    /// Embeds a text. A text without any known token is an error.
    fn embed(&self, text: &str) -> Result<Embedding, EmbeddingError>;

    /// Embeds several texts, in order, with one call if that is cheaper.
    fn embed_all(&self, texts: &[&str]) -> Vec<Result<Embedding, EmbeddingError>> {
        texts.iter().map(|text| self.embed(text)).collect()
    }

    /// Whether embedding thousands of texts takes no noticeable time. The vectors of slower models are computed
    /// gradually in the background.
    fn is_quick(&self) -> bool {
        true
    }

    /// Returns why it cannot be used at the moment, and what to do; `None` while it works.
    fn unavailable_reason(&self) -> Option<String> {
        None
    }
}

/// Why there is no vector.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EmbeddingError {
    /// The vector has the wrong length.
    #[error(
        "{model} returned a vector of {given} numbers instead of {wanted}: choose another embedding model, or reindex"
    )]
    Dimensions {
        /// The model.
        model: ModelId,
        /// The actual length.
        given: usize,
        /// The expected length.
        wanted: usize,
    },
    /// It contains a value that is not a number.
    #[error("{model} returned a vector with a value that is not a number: choose another embedding model")]
    NoNumber {
        /// The model.
        model: ModelId,
    },
    /// The vector is zero, because of an empty text or a broken model.
    #[error("{model} returned a zero vector: it knows none of the words in the text")]
    Zero {
        /// The model.
        model: ModelId,
    },
    /// The model could not be called or loaded.
    #[error("{model}: {why}")]
    Unavailable {
        /// The model.
        model: ModelId,
        /// The reason, and what to do.
        why: String,
    },
}

/// A vector of length 1 with 8 bits per number, and the model that created it.
#[derive(Clone, PartialEq, Debug)]
pub struct Embedding {
    model: ModelId,
    levels: Box<[i8]>,
    scale: f32,
}

impl Embedding {
    /// Checks a model's vector and normalises it to length 1.
    pub fn new(model: &ModelId, wanted: usize, numbers: &[f32]) -> Result<Self, EmbeddingError> {
        if numbers.len() != wanted || wanted == 0 || wanted > MAX_DIMENSIONS {
            return Err(EmbeddingError::Dimensions { model: model.clone(), given: numbers.len(), wanted });
        }
        if numbers.iter().any(|number| !number.is_finite()) {
            return Err(EmbeddingError::NoNumber { model: model.clone() });
        }
        let largest = numbers.iter().fold(0.0f32, |largest, number| largest.max(number.abs()));
        if largest < f32::MIN_POSITIVE {
            return Err(EmbeddingError::Zero { model: model.clone() });
        }
        // Divided by the largest number, so that no square overflows or underflows.
        let squares: f32 = numbers.iter().map(|number| (number / largest) * (number / largest)).sum();
        let levels = numbers.iter().map(|number| (number / largest * 127.0).round() as i8).collect();
        Ok(Self { model: model.clone(), levels, scale: 1.0 / (127.0 * squares.sqrt()) })
    }

    /// Restores a stored vector.
    pub fn from_stored(model: &ModelId, wanted: usize, scale: f32, levels: &[i8]) -> Result<Self, EmbeddingError> {
        if levels.len() != wanted {
            return Err(EmbeddingError::Dimensions { model: model.clone(), given: levels.len(), wanted });
        }
        if !(scale.is_finite() && scale > 0.0) {
            return Err(EmbeddingError::NoNumber { model: model.clone() });
        }
        Ok(Self { model: model.clone(), levels: levels.into(), scale })
    }

    /// Returns the model.
    pub fn model(&self) -> &ModelId {
        &self.model
    }

    /// Returns the numbers in units of [`scale`](Self::scale).
    pub fn levels(&self) -> &[i8] {
        &self.levels
    }

    /// Returns the unit of the numbers.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// Returns the cosine similarity, from -1 to 1; `None` for vectors of different models.
    pub fn similarity(&self, other: &Self) -> Option<f32> {
        let is_comparable = self.model == other.model && self.levels.len() == other.levels.len();
        is_comparable.then(|| compare::dot(&self.levels, &other.levels) as f32 * self.scale * other.scale)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn model(name: &str) -> ModelId {
        ModelId(name.into())
    }

    #[test]
    fn invalid_vectors_are_refused() {
        let new = |numbers: &[f32]| Embedding::new(&model("m"), 3, numbers);
        assert!(matches!(new(&[1.0]), Err(EmbeddingError::Dimensions { given: 1, wanted: 3, .. })));
        assert!(matches!(new(&[]), Err(EmbeddingError::Dimensions { .. })));
        assert!(matches!(new(&[1.0, f32::NAN, 0.0]), Err(EmbeddingError::NoNumber { .. })));
        assert!(matches!(new(&[1.0, f32::INFINITY, 0.0]), Err(EmbeddingError::NoNumber { .. })));
        assert!(matches!(new(&[0.0; 3]), Err(EmbeddingError::Zero { .. })));
        assert!(new(&[f32::MAX, f32::MAX, 1.0]).is_ok());
        assert!(Embedding::from_stored(&model("m"), 3, f32::NAN, &[1, 2, 3]).is_err());
        assert!(Embedding::from_stored(&model("m"), 2, 1.0, &[1, 2, 3]).is_err());
    }

    #[test]
    fn vectors_of_two_models_are_not_compared() {
        let one = Embedding::new(&model("a"), 2, &[1.0, 0.0]).expect("it should be valid");
        let other = Embedding::new(&model("b"), 2, &[1.0, 0.0]).expect("it should be valid");
        assert_eq!(one.similarity(&other), None);
        assert!((one.similarity(&one).expect("they can be compared") - 1.0).abs() < 1e-5);
    }

    proptest! {
        #[test]
        fn eight_bits_are_enough(a in proptest::collection::vec(-2f32..2.0, 64), b in proptest::collection::vec(-2f32..2.0, 64)) {
            let exact = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
            let cosine = exact(&a, &b) / (exact(&a, &a) * exact(&b, &b)).sqrt();
            let kept = |numbers: &[f32]| Embedding::new(&model("m"), 64, numbers).expect("it should be valid");
            let similarity = kept(&a).similarity(&kept(&b)).expect("they can be compared");
            prop_assert!((f64::from(similarity) - cosine).abs() < 0.02, "{similarity} for {cosine}");
            let other = kept(&b);
            let rows = [other.levels(), other.levels()].concat();
            let all = QueryVector::new(&kept(&a)).similarities(&rows, &[other.scale(), 0.0]);
            prop_assert_eq!(all, vec![similarity, 0.0]);
        }
    }
}
