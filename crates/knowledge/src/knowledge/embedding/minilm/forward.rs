//! The forward pass of the network: layers of attention, and the mean over their outputs.

use std::sync::OnceLock;

use fearless_simd::{Level, dispatch};

use super::Shape;
use super::weights::Weights;

/// The number of partial sums, the same on every machine: the order of a sum affects its result.
const LANES: usize = 16;
/// The number of tokens that are multiplied with each row of weights at once.
const TOGETHER: usize = 4;

/// A linear layer: maps `inputs` numbers to `outputs` numbers, with a bias.
struct Linear {
    inputs: usize,
    weights: Vec<f32>,
    bias: Vec<f32>,
}

/// A layer normalisation with scale and offset.
struct Norm {
    scale: Vec<f32>,
    bias: Vec<f32>,
    epsilon: f32,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    joined: Linear,
    after_looking: Norm,
    wide: Linear,
    narrow: Linear,
    after: Norm,
}

/// The network.
pub(super) struct Network {
    width: usize,
    heads: usize,
    words: Vec<f32>,
    places: Vec<f32>,
    kind: Vec<f32>,
    at_first: Norm,
    layers: Vec<Layer>,
}

impl Network {
    /// Creates the network from its weights; the error names the tensor that does not match.
    pub(super) fn new(weights: &Weights<'_>, shape: &Shape) -> Result<Self, String> {
        let width = shape.hidden_size;
        let linear = |name: &str, outputs: usize, inputs: usize| {
            let weight = weights.table(&format!("{name}.weight"), &[outputs, inputs])?;
            Ok::<_, String>(Linear {
                inputs,
                weights: weight,
                bias: weights.table(&format!("{name}.bias"), &[outputs])?,
            })
        };
        let norm = |name: &str| {
            let scale = weights.table(&format!("{name}.weight"), &[width])?;
            let bias = weights.table(&format!("{name}.bias"), &[width])?;
            Ok::<_, String>(Norm { scale, bias, epsilon: shape.layer_norm_eps })
        };
        let layer = |number: usize| {
            let at = |part: &str| format!("encoder.layer.{number}.{part}");
            Ok::<_, String>(Layer {
                query: linear(&at("attention.self.query"), width, width)?,
                key: linear(&at("attention.self.key"), width, width)?,
                value: linear(&at("attention.self.value"), width, width)?,
                joined: linear(&at("attention.output.dense"), width, width)?,
                after_looking: norm(&at("attention.output.LayerNorm"))?,
                wide: linear(&at("intermediate.dense"), shape.intermediate_size, width)?,
                narrow: linear(&at("output.dense"), width, shape.intermediate_size)?,
                after: norm(&at("output.LayerNorm"))?,
            })
        };
        let places = weights.table("embeddings.position_embeddings.weight", &[shape.max_position_embeddings, width])?;
        let mut kind = weights.table("embeddings.token_type_embeddings.weight", &[2, width])?;
        // A single text consists of tokens of the first type only.
        kind.truncate(width);
        Ok(Self {
            width,
            heads: shape.num_attention_heads,
            words: weights.table("embeddings.word_embeddings.weight", &[shape.vocab_size, width])?,
            places,
            kind,
            at_first: norm("embeddings.LayerNorm")?,
            layers: (0..shape.num_hidden_layers).map(layer).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the mean of the outputs for all tokens.
    pub(super) fn mean_of(&self, pieces: &[usize]) -> Vec<f32> {
        let mut rows: Vec<f32> = Vec::with_capacity(pieces.len() * self.width);
        for (place, piece) in pieces.iter().enumerate() {
            let word = self.words.chunks_exact(self.width).nth(*piece);
            let at = self.places.chunks_exact(self.width).nth(place);
            let (Some(word), Some(at)) = (word, at) else { continue };
            rows.extend(word.iter().zip(at).zip(&self.kind).map(|((word, at), kind)| word + at + kind));
        }
        self.at_first.normalise(&mut rows);
        for layer in &self.layers {
            rows = layer.pass(rows, self.heads);
        }
        let count = (rows.len() / self.width).max(1) as f32;
        let mut mean = vec![0.0; self.width];
        for row in rows.chunks_exact(self.width) {
            mean.iter_mut().zip(row).for_each(|(sum, number)| *sum += number / count);
        }
        mean
    }
}

impl Layer {
    fn pass(&self, rows: Vec<f32>, heads: usize) -> Vec<f32> {
        let width = self.query.inputs;
        let (query, key, value) = (self.query.of(&rows), self.key.of(&rows), self.value.of(&rows));
        let looked = look(&query, &key, &value, (width, heads));
        let mut seen = self.joined.of(&looked);
        add(&mut seen, &rows);
        self.after_looking.normalise(&mut seen);
        let mut wide = self.wide.of(&seen);
        wide.iter_mut().for_each(|number| *number = gelu(*number));
        let mut narrow = self.narrow.of(&wide);
        add(&mut narrow, &seen);
        self.after.normalise(&mut narrow);
        narrow
    }
}

/// Multi-head self-attention: each token's output is the mean of all values, weighted by how well the keys match its
/// query.
fn look(query: &[f32], key: &[f32], value: &[f32], (width, heads): (usize, usize)) -> Vec<f32> {
    let count = query.len() / width;
    let part = width / heads;
    let scale = 1.0 / (part as f32).sqrt();
    let mut seen = vec![0.0; query.len()];
    let mut shares = vec![0.0_f32; count];
    for head in (0..heads).map(|head| head * part) {
        for row in 0..count {
            let asks = &query[row * width + head..][..part];
            for (other, share) in shares.iter_mut().enumerate() {
                let answers = &key[other * width + head..][..part];
                *share = asks.iter().zip(answers).map(|(one, two)| one * two).sum::<f32>() * scale;
            }
            let most = shares.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            shares.iter_mut().for_each(|share| *share = (*share - most).exp());
            let all: f32 = shares.iter().sum();
            let sees = &mut seen[row * width + head..][..part];
            for (other, share) in shares.iter().enumerate() {
                let says = &value[other * width + head..][..part];
                sees.iter_mut().zip(says).for_each(|(sum, number)| *sum += number * (share / all));
            }
        }
    }
    seen
}

fn add(rows: &mut [f32], others: &[f32]) {
    rows.iter_mut().zip(others).for_each(|(one, other)| *one += other);
}

/// The GELU function: `x` for large values, zero for small ones, with a smooth transition.
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + error_function(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// Abramowitz and Stegun, *Handbook of Mathematical Functions*, 7.1.26, with an error of at most 1.5 · 10⁻⁷.
fn error_function(x: f32) -> f32 {
    const FACTORS: [f64; 5] = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let size = f64::from(x.abs());
    let t = 1.0 / (1.0 + 0.327_591_1 * size);
    let sum = FACTORS.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    ((1.0 - sum * (-size * size).exp()) as f32).copysign(x)
}

impl Norm {
    fn normalise(&self, rows: &mut [f32]) {
        let width = self.scale.len();
        for row in rows.chunks_exact_mut(width) {
            let mean = row.iter().sum::<f32>() / width as f32;
            let spread = row.iter().map(|number| (number - mean) * (number - mean)).sum::<f32>() / width as f32;
            let factor = 1.0 / (spread + self.epsilon).sqrt();
            for ((number, scale), bias) in row.iter_mut().zip(&self.scale).zip(&self.bias) {
                *number = (*number - mean) * factor * scale + bias;
            }
        }
    }
}

impl Linear {
    fn of(&self, rows: &[f32]) -> Vec<f32> {
        static LEVEL: OnceLock<Level> = OnceLock::new();
        let mut found = vec![0.0; rows.len() / self.inputs * self.bias.len()];
        let level = *LEVEL.get_or_init(Level::new);
        dispatch!(level, _simd => multiply(&self.weights, &self.bias, (rows, self.inputs), &mut found));
        found
    }
}

/// Compiled once for each instruction set.
#[inline(always)]
fn multiply(weights: &[f32], bias: &[f32], (rows, inputs): (&[f32], usize), found: &mut [f32]) {
    let outputs = bias.len();
    let (some, more) = (rows.chunks(inputs * TOGETHER), found.chunks_mut(outputs * TOGETHER));
    for (rows, found) in some.zip(more) {
        let count = rows.len() / inputs;
        // A last incomplete group is padded with the first token.
        let row = |place: usize| &rows[if place < count { place * inputs } else { 0 }..][..inputs];
        let four: [&[f32]; TOGETHER] = std::array::from_fn(row);
        for (output, weights) in weights.chunks_exact(inputs).enumerate() {
            let sums = dots(weights, four);
            for (place, sum) in sums.into_iter().enumerate().take(count) {
                found[place * outputs + output] = sum + bias[output];
            }
        }
    }
}

/// Returns the dot products of one vector with several.
#[inline(always)]
fn dots(weights: &[f32], rows: [&[f32]; TOGETHER]) -> [f32; TOGETHER] {
    let mut sums = [[0.0_f32; LANES]; TOGETHER];
    let whole = weights.len() / LANES * LANES;
    for at in (0..whole).step_by(LANES) {
        let weight = &weights[at..at + LANES];
        for (sum, row) in sums.iter_mut().zip(rows) {
            let row = &row[at..at + LANES];
            for lane in 0..LANES {
                sum[lane] += weight[lane] * row[lane];
            }
        }
    }
    let mut found = [0.0; TOGETHER];
    for ((found, sums), row) in found.iter_mut().zip(sums).zip(rows) {
        let rest: f32 = weights[whole..].iter().zip(&row[whole..]).map(|(one, other)| one * other).sum();
        *found = sums.iter().sum::<f32>() + rest;
    }
    found
}
