//! The built-in model WordLlama: a table with a vector for each token; the embedding of a text is the mean of its
//! tokens' vectors. No network and no file: the table is part of the program. It was created by
//! `assets/make_wordllama.py`.

use std::sync::{Arc, OnceLock};

use super::tokenizer::Pieces;
use super::{Embedder, Embedding, EmbeddingError, ModelId};

/// The table, in the format that its script describes.
static ASSET: &[u8] = include_bytes!("../../../assets/wordllama-256.bin");
const MAGIC: &[u8] = b"WSWL0001";
/// The name of the model, including everything that its vectors depend on.
const NAME: &str = "wordllama-l2-supercat-256-4bit";
/// The maximum length of a text in bytes; the rest is cut off, so that no text takes long.
const MAX_BYTES: usize = 8 * 1024;

/// The built-in model. Cheap to clone; the table is loaded once.
#[derive(Clone)]
pub struct WordLlama(Arc<Table>);

struct Table {
    model: ModelId,
    dimensions: usize,
    pieces: Pieces,
    scales: Vec<f32>,
    halves: &'static [u8],
}

impl WordLlama {
    /// Loads the model.
    pub fn built_in() -> Result<Self, EmbeddingError> {
        static TABLE: OnceLock<Option<Arc<Table>>> = OnceLock::new();
        let table = TABLE.get_or_init(|| read(ASSET).map(Arc::new)).clone();
        table.map(Self).ok_or_else(|| EmbeddingError::Unavailable {
            model: ModelId(NAME.into()),
            why: "its built-in table is broken: rebuild the program".to_owned(),
        })
    }

    /// Returns the numbers of a text's tokens, as in the original.
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        self.0.pieces.numbers_of(text)
    }
}

impl Embedder for WordLlama {
    fn model(&self) -> &ModelId {
        &self.0.model
    }

    fn dimensions(&self) -> usize {
        self.0.dimensions
    }

    fn embed(&self, text: &str) -> Result<Embedding, EmbeddingError> {
        let table = &*self.0;
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        let mut sum = vec![0.0f32; table.dimensions];
        let width = table.dimensions / 2;
        for number in self.tokens(text) {
            let number = number as usize;
            let row = table.halves.get(number * width..(number + 1) * width);
            let (Some(row), Some(scale)) = (row, table.scales.get(number)) else { continue };
            for (pair, byte) in sum.chunks_exact_mut(2).zip(row) {
                pair[0] += f32::from((byte & 15) as i8 - 8) * scale;
                pair[1] += f32::from((byte >> 4) as i8 - 8) * scale;
            }
        }
        Embedding::new(&table.model, table.dimensions, &sum)
    }
}

fn read(asset: &'static [u8]) -> Option<Table> {
    let mut rest = asset.strip_prefix(MAGIC)?;
    let count = usize::try_from(u32::from_le_bytes(take(&mut rest, 4)?.try_into().ok()?)).ok()?;
    let dimensions = usize::try_from(u32::from_le_bytes(take(&mut rest, 4)?.try_into().ok()?)).ok()?;
    let mut texts = Vec::with_capacity(count);
    for _ in 0..count {
        let length = take(&mut rest, 1)?[0];
        texts.push(std::str::from_utf8(take(&mut rest, length.into())?).ok()?);
    }
    let scales = take(&mut rest, count * 4)?.chunks_exact(4);
    let scales = scales.map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect();
    let halves = take(&mut rest, count * dimensions / 2)?;
    let pieces = Pieces::new(texts.into_iter());
    rest.is_empty().then(|| Table { model: ModelId(NAME.into()), dimensions, pieces, scales, halves })
}

fn take(rest: &mut &'static [u8], bytes: usize) -> Option<&'static [u8]> {
    let (taken, after) = rest.split_at_checked(bytes)?;
    *rest = after;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    /// The expected result of the original for a text.
    #[derive(Deserialize)]
    struct Original {
        text: String,
        ids: Vec<u32>,
        first: Vec<f32>,
    }

    fn built_in() -> WordLlama {
        WordLlama::built_in().expect("the table should be complete")
    }

    #[test]
    fn texts_in_twenty_scripts_match_the_original() {
        let model = built_in();
        let lines = include_str!("../../../fixtures/tokens.jsonl").lines();
        let originals: Vec<Original> = lines.map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
        assert!(originals.len() > 30);
        for original in originals {
            assert_eq!(model.tokens(&original.text), original.ids, "{:?}", original.text);
            let Ok(embedding) = model.embed(&original.text) else {
                assert!(original.ids.is_empty(), "{:?}", original.text);
                continue;
            };
            for (level, exact) in embedding.levels().iter().zip(&original.first) {
                let number = f32::from(*level) * embedding.scale();
                assert!((number - exact).abs() < 0.08, "{:?}: {number} for {exact}", original.text);
            }
        }
    }

    #[test]
    fn texts_with_the_same_meaning_are_similar() {
        let model = built_in();
        let alike = |one: &str, other: &str| {
            let embed = |text: &str| model.embed(text).expect("it should have an embedding");
            embed(one).similarity(&embed(other)).expect("they are of one model")
        };
        let near = alike("The cat must take its medicine at eight.", "When does the pet take its pills?");
        let far = alike("The cat must take its medicine at eight.", "Sales fell in the northern region.");
        assert!(near > far + 0.2, "{near} and {far}");
        assert!(model.embed("").is_err());
    }

    #[test]
    fn an_endless_text_takes_no_longer_than_a_long_one() {
        let model = built_in();
        let (long, longer) = ("word ".repeat(MAX_BYTES / 5 + 1), "word ".repeat(1_000_000));
        assert_eq!(model.embed(&long), model.embed(&longer));
    }

    proptest! {
        #[test]
        fn the_tokens_of_every_text_reproduce_it(text in ".{0,60}") {
            let model = built_in();
            prop_assert_eq!(model.tokens(&text).is_empty(), text.is_empty());
            prop_assert_eq!(model.embed(&text).is_ok(), !text.is_empty());
        }
    }
}
