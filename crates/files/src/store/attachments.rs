//! Long texts that belong to a record but are stored next to the log: compressed, and only the newest ones.

use rusqlite::{Connection, OptionalExtension, params};

use super::compression::{pack, unpack};
use super::error::StoreError;
use crate::base::Seq;

/// The number of texts that are kept; a prompt takes one to three kilobytes.
const KEPT: i64 = 20_000;
/// Old texts are deleted after every this many new ones.
const PRUNED_EVERY: u64 = 512;
/// The compression: deflate, see `file_versions.packing`.
const PACKING: i64 = 1;

/// Writes the text of a record; `count` is the number of texts written before.
pub(super) fn write(connection: &Connection, seq: Seq, text: &str, count: u64) -> Result<(), StoreError> {
    let doing = "write what belongs to an event";
    let packed = pack(PACKING, text)?;
    let mut insert = connection
        .prepare_cached("INSERT INTO enclosures (seq, packed) VALUES (?1, ?2)")
        .map_err(StoreError::while_doing(doing))?;
    insert.execute(params![seq.0.cast_signed(), packed]).map_err(StoreError::while_doing(doing))?;
    if count.is_multiple_of(PRUNED_EVERY) {
        let sql = "DELETE FROM enclosures WHERE seq < \
                   (SELECT seq FROM enclosures ORDER BY seq DESC LIMIT 1 OFFSET ?1)";
        connection.execute(sql, [KEPT - 1]).map_err(StoreError::while_doing(doing))?;
    }
    Ok(())
}

/// Reads the text of a record, if it is still stored.
pub(super) fn read(connection: &Connection, seq: Seq) -> Result<Option<String>, StoreError> {
    let doing = "read what belongs to an event";
    let sql = "SELECT packed FROM enclosures WHERE seq = ?1";
    let packed: Option<Vec<u8>> = connection
        .query_row(sql, [seq.0.cast_signed()], |row| row.get(0))
        .optional()
        .map_err(StoreError::while_doing(doing))?;
    packed.map(|packed| unpack(PACKING, packed)).transpose()
}
