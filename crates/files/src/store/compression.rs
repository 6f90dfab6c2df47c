//! The encoding of long texts in the database: plain or compressed.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::error::StoreError;

/// Encodes a text. A packing of 0 is plain text.
pub(super) fn pack(packing: i64, text: &str) -> Result<Vec<u8>, StoreError> {
    if packing == 0 {
        return Ok(text.as_bytes().to_vec());
    }
    let mut packed = DeflateEncoder::new(Vec::with_capacity(text.len() / 2), Compression::fast());
    let bytes = packed.write_all(text.as_bytes()).and_then(|()| packed.finish());
    bytes.map_err(|source| StoreError::File { path: "a version".into(), source })
}

/// Decodes a text.
pub(super) fn unpack(packing: i64, bytes: Vec<u8>) -> Result<String, StoreError> {
    let broken = |what: String| StoreError::Damaged { path: "a version of a file".into(), what };
    let bytes = if packing == 0 {
        bytes
    } else {
        let mut text = Vec::new();
        DeflateDecoder::new(&bytes[..]).read_to_end(&mut text).map_err(|error| broken(error.to_string()))?;
        text
    };
    String::from_utf8(bytes).map_err(|error| broken(error.to_string()))
}
