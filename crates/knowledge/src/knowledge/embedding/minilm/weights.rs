//! The weights of a model in the `safetensors` format: a JSON header with the position of each tensor, and the tensors.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The maximum size of the header in bytes.
const MAX_HEAD: usize = 16 * 1024 * 1024;

/// The header entry of a tensor.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// The tensors of a file.
pub(super) struct Weights<'a> {
    entries: BTreeMap<String, Entry>,
    tables: &'a [u8],
}

impl<'a> Weights<'a> {
    /// Parses the bytes of a file; the error is a description of the first problem.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, String> {
        let broken = || "it is truncated or not a model file: download the model again".to_owned();
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(broken)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok().filter(|length| *length <= MAX_HEAD);
        let (head, tables) = rest.split_at_checked(length.ok_or_else(broken)?).ok_or_else(broken)?;
        let head: BTreeMap<String, serde_json::Value> = serde_json::from_slice(head).map_err(|_| broken())?;
        let tensors = head.into_iter().filter(|(name, _)| name != "__metadata__");
        let entries = tensors.map(|(name, entry)| Ok((name, serde_json::from_value(entry).map_err(|_| broken())?)));
        Ok(Self { entries: entries.collect::<Result<_, String>>()?, tables })
    }

    /// Returns a tensor of exactly this shape.
    pub(super) fn table(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let entry = self.entries.get(name).ok_or_else(|| format!("the table {name} is missing"))?;
        if entry.shape != shape || entry.dtype != "F32" {
            return Err(format!("the table {name} is {:?} of {}, not {shape:?} of F32", entry.shape, entry.dtype));
        }
        let [from, to] = entry.data_offsets;
        let bytes = self.tables.get(from..to).filter(|bytes| bytes.len() == 4 * shape.iter().product::<usize>());
        let bytes = bytes.ok_or_else(|| format!("the table {name} is truncated: download the model again"))?;
        let numbers: Vec<f32> =
            bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
        if numbers.iter().all(|number| number.is_finite()) {
            return Ok(numbers);
        }
        Err(format!("the table {name} contains a value that is not a number: download the model again"))
    }
}
