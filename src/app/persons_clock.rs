//! The person's clock: the only source of a room's date.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::heartbeat::utc_to_local;

/// The local time of the person's clock, in seconds as if it were UTC.
pub(crate) fn local_secs() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    utc_to_local(i64::try_from(since_1970.as_secs()).unwrap_or(i64::MAX))
}
