//! Reports problems in the code of documents: the code is parsed on a separate thread, and the findings enter as
//! inputs, so that a replay reports the same problems in the same tick.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use crossbeam_channel::{Receiver, bounded};
use serde::{Deserialize, Serialize};

use super::document_tools::ReadCode;
use crate::agent::mdx_file::code_problems;
use crate::agent::{ProfileChanged, Profiles};
use crate::base::{Id, Problem};
use crate::document::ToolDefinition;
use crate::engine::ProgramCache;
use crate::schedule::{Input, InputJournal, InputQueue};
use crate::workspace::ProblemReport;

/// The problems found in the code of a document; empty if it can be parsed. An input.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CodeChecked {
    profile: Id,
    problems: Vec<Problem>,
}

impl Input for CodeChecked {
    const KIND: &'static str = "code_checked";
}

/// The path of a document, and its tools.
type Document = (String, Vec<ToolDefinition>);

/// Pending and running checks, and the documents with problems.
#[derive(Default)]
pub(super) struct Checking {
    has_looked: bool,
    waiting: BTreeMap<Id, Document>,
    reading: Option<Receiver<Vec<CodeChecked>>>,
    told: BTreeSet<Id>,
}

/// Parses the code of new and changed documents in the background, and collects the findings.
pub(super) fn check(
    (profiles, code, journal): (Res<Profiles>, Res<ReadCode>, Res<InputJournal>),
    mut changed: MessageReader<ProfileChanged>,
    mut found: ResMut<InputQueue<CodeChecked>>,
    mut checking: Local<Checking>,
) {
    if journal.is_replaying() {
        return;
    }
    let mut ids: BTreeSet<&Id> = changed.read().map(|change| &change.profile).collect();
    if !std::mem::replace(&mut checking.has_looked, true) {
        ids.extend(profiles.iter().map(|(id, _)| id));
    }
    for id in ids {
        let tools = profiles.get(id).map(|profile| profile.own_tools.clone()).unwrap_or_default();
        if !tools.is_empty() || checking.told.contains(id) || checking.reading.is_some() {
            let path = profiles.path(id).unwrap_or_default().to_owned();
            checking.waiting.insert(id.clone(), (path, tools));
        }
    }
    checking.take_results(&mut found);
    checking.begin(&code.0);
}

impl Checking {
    fn take_results(&mut self, found: &mut InputQueue<CodeChecked>) {
        let Some(read) = self.reading.as_ref().and_then(|reading| reading.try_recv().ok()) else { return };
        self.reading = None;
        for checked in read {
            let is_known = if checked.problems.is_empty() {
                self.told.remove(&checked.profile)
            } else {
                self.told.insert(checked.profile.clone());
                true
            };
            // Code that never had a problem causes no report.
            if is_known {
                found.push(checked);
            }
        }
    }

    fn begin(&mut self, programs: &Arc<ProgramCache>) {
        if self.reading.is_some() || self.waiting.is_empty() {
            return;
        }
        let (documents, programs) = (std::mem::take(&mut self.waiting), programs.clone());
        let (read_in, reading) = bounded(1);
        let read = move || {
            let checked = documents.into_iter().map(|(profile, (path, tools))| CodeChecked {
                profile,
                problems: code_problems(&path, &tools, &programs),
            });
            // There is no receiver if the room was closed meanwhile.
            let _ = read_in.send(checked.collect());
        };
        match std::thread::Builder::new().name("code checks".to_owned()).spawn(read) {
            Ok(_) => self.reading = Some(reading),
            Err(error) => tracing::warn!("the code of documents is not checked: {error}"),
        }
    }
}

/// Reports the findings.
pub(super) fn report(mut found: MessageReader<CodeChecked>, mut reports: MessageWriter<ProblemReport>) {
    for CodeChecked { profile, problems } in found.read() {
        reports.write(ProblemReport { source: format!("code of {profile}"), problems: problems.clone() });
    }
}
