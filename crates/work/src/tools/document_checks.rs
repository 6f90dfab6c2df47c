//! Reports problems in the code of documents: the code is parsed on threads outside of the world, and the findings enter
//! as inputs, so that a replay reports the same problems in the same tick.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use serde::{Deserialize, Serialize};

use super::document_tools::ReadCode;
use crate::agent::mdx_file::code_problems;
use crate::agent::{ProfileChanged, Profiles};
use crate::base::{Id, Problem};
use crate::document::ToolDefinition;
use crate::schedule::Input;
use crate::schedule::outside::{Outside, Received, Reporter, Start};
use crate::workspace::ProblemReport;

/// How many documents are parsed in parallel; the others wait.
const CHECKS_AT_ONCE: usize = 4;

/// The problems found in the code of a document; empty if it can be parsed. An input.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CodeChecked {
    profile: Id,
    problems: Vec<Problem>,
}

impl Input for CodeChecked {
    const KIND: &'static str = "code_checked";
}

/// Identifies a check: while a profile is being checked, it may change and be checked again.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct CheckKey {
    profile: Id,
    /// Counts the checks of this process.
    number: u64,
}

impl fmt::Display for CheckKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.profile, self.number)
    }
}

/// The document to check.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct CodeCheck {
    path: String,
    tools: Vec<ToolDefinition>,
}

/// The documents whose code has to be checked: those that are new or changed since this process looked at them.
#[derive(Default)]
pub(super) struct CodeChecks {
    /// Whether this process has seen all documents of the room.
    has_seen_all: bool,
    /// The profiles that have tools. A profile without tools is only checked once more after it had some.
    with_tools: BTreeSet<Id>,
    /// The checks without a result, by profile.
    due: BTreeMap<Id, u64>,
    /// The number of the last check.
    number: u64,
}

/// The documents, and which of them changed.
#[derive(SystemParam)]
pub(super) struct Documents<'w, 's> {
    profiles: Res<'w, Profiles>,
    changed: MessageReader<'w, 's, ProfileChanged>,
    code: Res<'w, ReadCode>,
}

impl Outside for CodeChecks {
    const NAME: &'static str = "code_checks";
    const MAX_RUNNING: usize = CHECKS_AT_ONCE;
    // Nobody in the room waits for it.
    const TAKES_REAL_TIME: bool = false;

    type Key = CheckKey;
    type Order = CodeCheck;
    type Report = Vec<Problem>;
    type Answer = CodeChecked;
    type World = Documents<'static, 'static>;

    fn wanted(&mut self, documents: &mut Documents<'_, '_>) -> Vec<CheckKey> {
        let mut ids: BTreeSet<Id> = documents.changed.read().map(|change| change.profile.clone()).collect();
        if !std::mem::replace(&mut self.has_seen_all, true) {
            ids.extend(documents.profiles.iter().map(|(id, _)| id.clone()));
        }
        for id in ids {
            let has_tools = documents.profiles.get(&id).is_some_and(|profile| !profile.own_tools.is_empty());
            let had_tools = if has_tools { !self.with_tools.insert(id.clone()) } else { self.with_tools.remove(&id) };
            if has_tools || had_tools {
                self.number += 1;
                self.due.insert(id, self.number);
            }
        }
        self.due.iter().map(|(profile, number)| CheckKey { profile: profile.clone(), number: *number }).collect()
    }

    fn order(&self, key: &CheckKey, documents: &Documents<'_, '_>) -> Result<CodeCheck, CodeChecked> {
        let path = documents.profiles.path(&key.profile).unwrap_or_default().to_owned();
        let profile = documents.profiles.get(&key.profile);
        Ok(CodeCheck { path, tools: profile.map(|profile| profile.own_tools.clone()).unwrap_or_default() })
    }

    fn interrupted(&mut self, _: &CheckKey, _: &CodeCheck) -> Option<CodeChecked> {
        None
    }

    fn start(
        &mut self,
        key: &CheckKey,
        CodeCheck { path, tools }: CodeCheck,
        documents: &mut Documents<'_, '_>,
        reporter: Reporter<Self>,
    ) -> Start<CodeChecked> {
        let programs = documents.code.0.clone();
        let check = move || reporter.report(code_problems(&path, &tools, &programs));
        match std::thread::Builder::new().name("code checks".to_owned()).spawn(check) {
            Ok(_) => Start::Started,
            Err(error) => Start::Ended(self.lost(key, &format!("no thread can be started: {error}"))),
        }
    }

    fn cancel(&mut self, _: &CheckKey, _: &mut Documents<'_, '_>) {
        // It ends by itself, and its result is dropped.
    }

    fn receive(&mut self, key: &CheckKey, problems: Vec<Problem>, _: &mut Documents<'_, '_>) -> Received<CodeChecked> {
        self.due.remove(&key.profile);
        Received::Answer(CodeChecked { profile: key.profile.clone(), problems })
    }

    fn lost(&self, key: &CheckKey, why: &str) -> CodeChecked {
        let what = format!("the code of the tools of this agent was not checked: {why}");
        let remedy = "save the document, and it is checked again";
        CodeChecked { profile: key.profile.clone(), problems: vec![Problem::warning(&*key.profile, what, remedy)] }
    }

    fn is_final(_: &CodeChecked) -> bool {
        true
    }

    fn addressed_to(key: &CheckKey, answer: CodeChecked) -> CodeChecked {
        CodeChecked { profile: key.profile.clone(), ..answer }
    }
}

/// Reports the findings.
pub(super) fn report(mut found: MessageReader<CodeChecked>, mut reports: MessageWriter<ProblemReport>) {
    for CodeChecked { profile, problems } in found.read() {
        reports.write(ProblemReport { source: format!("code of {profile}"), problems: problems.clone() });
    }
}

#[cfg(test)]
#[path = "document_checks_tests.rs"]
mod tests;
