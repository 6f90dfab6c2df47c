//! What model usage may cost: the limits in the settings ([`budget`]), the prices of tokens ([`prices`]), the ledger
//! that reserves and settles usage ([`ledger`]), and the exchanges between agents that it counts ([`exchanges`]).

pub mod budget;
pub mod exchanges;
pub mod ledger;
#[cfg(test)]
mod ledger_tests;
pub mod prices;
