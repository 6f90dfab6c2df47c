//! Agent Workshop: agents, each defined by a file, that live in a room.
//!
//! Agents wander, notice changes on pinboards, message boards, inboxes and rulebooks, walk over to read them, talk to
//! each other and remember. All of a user's state is in files.
//!
//! `docs/architecture.md` has the threads, a walk through the code, what leaves the room, and the words; each package
//! has a `README.md`.
//!
//! # How data flows
//!
//! ```text
//!   a person's files     a model's reply     a person's command
//!          └───────────────────┼───────────────────┘
//!                    the one door (schedule::inputs)         Ingest
//!                              │  recorded, stamped
//!     element ── ElementChanged ──► simulation               Simulate
//!                                      │ ThinkDue
//!                                      ▼
//!                                    mind ── ModelRequest ──► gateway ──► outside
//!                                      ▲                          │   Decide, Dispatch
//!                                      └────── ModelReply ◄───────┘
//!                                      │ intents
//!                     element, memory, simulation            Apply
//!                              │
//!             store (events, inputs), workspace (files)      Record
//! ```
//!
//! Work repeats this cycle for every step:
//!
//! ```text
//!     a task ──► kernel ── WorkDue ──► mind ──► gateway ──► outside
//!                  ▲ │                   │
//!                  │ └◄── WorkReplied ◄──┘
//!                  │        tool calls ──► tools (what is meant) ──► gate (may it happen?)
//!                  └──◄── FileOutcome ◄── workspace::vfs ◄── FileOrder ──┘
//! ```
//!
//! # What always holds
//!
//! - **Layers**: a layer only uses layers above it in this table. The compiler enforces this between
//!   rows, and a test within a row. `app` and `cli` use all of them.
//!
//! | package | layers |
//! |---|---|
//! | `crates/foundation` | `base`, `text`, `log`, `safe_fs`, `schedule` |
//! | `crates/mdx` | `source`, `document`, `skills`, `heartbeat`, `engine`, `modules` |
//! | `crates/knowledge` | `knowledge` |
//! | `crates/files` | `store`, `workspace` |
//! | `crates/room` | `agent`, `element`, `navigation`, `simulation` |
//! | `crates/minds` | `memory`, `mind`, `gateway`, `offline` |
//! | `crates/work` | `gate`, `tools`, `kernel`, `orchestration`, `desk`, `learning` |
//! | `crates/window` | `view`, `ui` |
//! | `src` | `app`, `cli` |
//!
//! - **The room runs without a mind:** `simulation` knows no prompt, no model, no database.
//! - **Only `gateway` knows the network:** nothing else names tokio, HTTP or a vendor. Only `store` knows SQLite,
//!   and `knowledge` for vectors that can be computed again.
//! - **One owner:** a module's components and resources are written by that module; others send messages.
//!   The earlier module owns a message's type, whichever way the message travels.
//! - **One door:** everything that was not computed inside the world enters as an [`schedule::Input`], recorded with
//!   its tick. The same start and the same inputs give the same world, tick by tick.
//! - **What is compared is what is saved:** the hash of the world is the hash of its saved sections.
//! - **Every action is checked:** each tool call passes the gate, within the permissions of the agent and of everyone
//!   who started it.
//! - **Exactly once:** every external action has a name that never changes; even if the process stops, it is carried
//!   out once.
//! - **No system waits** for a file, a database, the network or a process.

pub use workshop_files::{store, workspace};
pub use workshop_foundation::{base, log, safe_fs, schedule, text};
pub use workshop_knowledge::knowledge;
pub use workshop_mdx::{document, engine, heartbeat, modules, skills, source};
pub use workshop_minds::{gateway, memory, mind, offline};
pub use workshop_room::{agent, element, navigation, simulation};
#[cfg(feature = "window")]
pub use workshop_window::{ui, view};
pub use workshop_work::{desk, gate, kernel, learning, orchestration, tools};

pub mod app;
pub mod cli;
