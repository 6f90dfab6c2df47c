//! Keeps the approvals file and the room in sync: new questions, decisions, and a person's marks.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bevy::ecs::message::{MessageCursor, Messages};
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::approval_task::QuestionTask;
use super::file::{self, Decided, MarkedAnswer, Outcome, ParsedAnswers};
use crate::agent::{Agent, Roster};
use crate::base::{AllowScope, AnswerPlace, Problem};
use crate::gateway::HasSandbox;
use crate::kernel::{Approval, Kernel, KernelCommand, QuestionKey, preview};
use crate::orchestration::workflow::{PersonAnswer, StepKey, WorkflowCommand, WorkflowRuns, WorkflowSettings};
use crate::schedule::{RoomDate, Section, SimClock};
use crate::tools::{COMMANDS, PendingToolOrders, Preview, SERVERS};
use crate::workspace::files::{FileContent, KnownFiles, RoomStart};
use crate::workspace::layout::APPROVALS_FILE;
use crate::workspace::task_files;
use crate::workspace::{FileChanged, ProblemReport, SceneWrite};

/// The number of decisions that are kept, so that they can be written even if a person edits the file meanwhile.
const MAX_DECIDED: usize = 64;
/// The maximum number of ticks until a change of the file is noticed.
const NOTICED_WITHIN_TICKS: u64 = 90;
/// The source name of the reported problems.
const SOURCE: &str = "approvals file";

/// The state of the approvals file. Part of the saved world. Written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalsFile {
    /// The pending questions, by id.
    pending: BTreeMap<String, Pending>,
    /// The latest decisions, oldest first.
    decided: VecDeque<ClosedQuestion>,
    /// The ids of questions whose marks are not accepted: a mark appeared while someone other than the person could
    /// have made it. A question is removed from this set once its task is seen without a mark.
    distrusted: BTreeSet<String>,
    /// Until this tick, a mark may have been made by a program without a sandbox.
    open_to_programs_until: u64,
    /// The text of the file as known to the room, including its own changes.
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    is_read: bool,
    /// Whether the file must not be written to in its current state.
    #[serde(skip)]
    is_held: bool,
    /// Whether the file must be checked again.
    #[serde(skip)]
    is_due: bool,
    /// The open questions at the last check.
    #[serde(skip)]
    questions: Vec<QuestionKey>,
    #[serde(skip)]
    steps: Vec<StepKey>,
}

/// A pending question.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Pending {
    asked: QuestionTask,
    /// The kernel's key of an agent's question; `None` for questions of workflows.
    key: Option<QuestionKey>,
    /// The person's decision, until the room has applied it.
    said: Option<Decided>,
}

/// A closed question.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct ClosedQuestion {
    asked: QuestionTask,
    decided: Decided,
    /// Whether the decision was written to the file. It is not written again if a person removes it.
    is_written: bool,
}

impl ApprovalsFile {
    /// The ids of the pending questions.
    pub fn pending(&self) -> impl Iterator<Item = &str> {
        self.pending.keys().map(String::as_str)
    }

    /// Removes and returns the marks that are not accepted: those that appear now if `is_of_others`, and earlier ones
    /// that have not been removed since.
    fn distrust(&mut self, parsed: &mut ParsedAnswers, is_of_others: bool) -> Vec<MarkedAnswer> {
        let marked: BTreeSet<&str> = parsed.ticked.iter().map(|one| one.id.as_str()).collect();
        if parsed.is_usable {
            self.distrusted.retain(|id| marked.contains(id.as_str()));
        }
        if is_of_others {
            self.distrusted.extend(parsed.ticked.iter().map(|one| one.id.clone()));
        }
        let all = std::mem::take(&mut parsed.ticked);
        let (refused, trusted) = all.into_iter().partition(|one| self.distrusted.contains(&one.id));
        parsed.ticked = trusted;
        refused
    }

    /// Handles a file that a person saved before the room's own changes to `base` were on disk.
    fn note_crossed(&mut self, base: &str) {
        let base = task_files::parse(base);
        for past in &mut self.decided {
            past.is_written = file::contains_decision(&base, &past.asked.id);
        }
    }

    /// Records decisions made anywhere. If there are several in one tick, the first one counts.
    fn note_decisions(&mut self, decisions: &[KernelCommand], time: Option<&str>) {
        for decision in decisions.iter().rev() {
            let KernelCommand::Decide { activation, turn, call, allow, scope, because, answered_in, .. } = decision
            else {
                continue;
            };
            let is_meant = |one: &&mut Pending| {
                one.key.is_some_and(|(piece, its_turn, its_call, _)| {
                    (piece, its_turn, its_call) == (*activation, *turn, *call)
                })
            };
            if let Some(one) = self.pending.values_mut().find(is_meant) {
                one.said = Some(Decided {
                    outcome: if *allow { Outcome::Approved } else { Outcome::Refused },
                    scope: *scope,
                    because: because.clone(),
                    answered_in: Some(*answered_in),
                    time: time.map(str::to_owned),
                });
            }
        }
    }

    /// Updates the pending questions. A question that is no longer open was decided or withdrawn.
    fn note_open(&mut self, is_open: impl Fn(&str) -> bool, new: Vec<Pending>, time: Option<&str>) {
        let over: Vec<String> = self.pending.keys().filter(|id| !is_open(id)).cloned().collect();
        for one in over.iter().filter_map(|id| self.pending.remove(id)).collect::<Vec<_>>() {
            let withdrawn = || Decided {
                outcome: Outcome::Withdrawn,
                scope: AllowScope::Once,
                because: None,
                answered_in: None,
                time: time.map(str::to_owned),
            };
            let decided = one.said.unwrap_or_else(withdrawn);
            self.decided.push_back(ClosedQuestion { asked: one.asked, decided, is_written: false });
        }
        let surplus = self.decided.len().saturating_sub(MAX_DECIDED);
        self.decided.drain(..surplus);
        self.pending.extend(new.into_iter().map(|one| (one.asked.id.clone(), one)));
    }
}

impl Section for ApprovalsFile {
    const NAME: &'static str = "approvals_file";

    fn save(world: &mut World) -> Self {
        world.resource::<Self>().clone()
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self);
    }
}

/// Converts a person's marks in the file to decisions.
pub(super) fn read_decisions(
    mut own: ResMut<ApprovalsFile>,
    (known, start): (Res<KnownFiles>, Option<Res<RoomStart>>),
    (kernel, runs, settings): (Res<Kernel>, Res<WorkflowRuns>, Res<WorkflowSettings>),
    (clock, date): (Res<SimClock>, Res<RoomDate>),
    (sandbox, under_way): (Res<HasSandbox>, Res<PendingToolOrders>),
    mut changes: MessageReader<FileChanged>,
    (mut decisions, mut answers): (MessageWriter<KernelCommand>, MessageWriter<WorkflowCommand>),
    mut reports: MessageWriter<ProblemReport>,
) {
    let scene = start.as_ref().map_or("", |start| start.scene.as_str());
    if !own.is_read {
        own.is_read = true;
        own.is_due = true;
        own.text = known.text(APPROVALS_FILE).unwrap_or_default().to_owned();
        own.is_held = !file::read(&own.text, &BTreeMap::new(), scene).is_usable;
    }
    let is_program_free = !sandbox.0 && [COMMANDS, SERVERS].iter().any(|one| under_way.of(one).next().is_some());
    if is_program_free {
        own.open_to_programs_until = clock.tick() + NOTICED_WITHIN_TICKS;
    }
    let Some(change) = changes.read().filter(|change| change.path == APPROVALS_FILE).last() else { return };
    own.is_due = true;
    if let Some(base) = &change.base {
        own.note_crossed(base);
    }
    own.text = match &change.content {
        FileContent::Text(text) => text.clone(),
        FileContent::Removed => String::new(),
        FileContent::Unusable { .. } => {
            own.is_held = true;
            return;
        }
    };
    let open = own.pending.iter().filter(|(_, one)| one.said.is_none());
    let open: BTreeMap<String, &QuestionTask> = open.map(|(id, one)| (id.clone(), &one.asked)).collect();
    let mut parsed = file::read(&own.text, &open, scene);
    own.is_held = !parsed.is_usable;
    let is_agents = !change.by.is_user();
    let is_open_to_programs = clock.tick() < own.open_to_programs_until;
    let what = match is_agents {
        true => format!("{} changed this file; only marks by a person are accepted", change.by.0),
        false => "this mark appeared while an unconfined program was running; it is not accepted as yours".to_owned(),
    };
    let remedy = "check the approval, remove the mark and save, then mark it again; or answer in the window";
    let refused = own.distrust(&mut parsed, is_agents || is_open_to_programs);
    let refused = refused.into_iter().map(|one| Problem::error(APPROVALS_FILE, &*what, remedy).at_line(Some(one.line)));
    parsed.problems.extend(refused);
    for mut ticked in parsed.ticked {
        // A time of day is converted to a date when it is given.
        match ticked.scope.dated(date.secs(&clock)) {
            Ok(scope) => ticked.scope = scope,
            Err(_) if !ticked.allow => ticked.scope = AllowScope::Once,
            Err(why) => {
                let what = format!("the answer to {:?} was not accepted: {why}", ticked.id);
                let remedy = "write another time after for:, or remove the line, and save";
                parsed.problems.push(Problem::error(APPROVALS_FILE, what, remedy).at_line(Some(ticked.line)));
                continue;
            }
        }
        let said = Decided {
            outcome: if ticked.allow { Outcome::Approved } else { Outcome::Refused },
            scope: ticked.scope,
            because: ticked.because.clone(),
            answered_in: Some(AnswerPlace::File),
            time: date.stamp(&clock),
        };
        let (id, line) = (ticked.id.clone(), ticked.line);
        let sent = match kernel.approvals().find(|approval| approval.id.as_str() == ticked.id) {
            Some(approval) => decision(&approval, ticked).map(|command| {
                decisions.write(command);
            }),
            None => answer(&runs, ticked, settings.max_output_chars).map(|command| {
                answers.write(command);
            }),
        };
        match sent {
            Ok(()) => {
                if let Some(pending) = own.pending.get_mut(&id) {
                    pending.said = Some(said);
                }
            }
            Err(why) => {
                let what = format!("the answer to {id:?} was not accepted: {why}");
                let remedy = "fix the task, or answer in the window";
                parsed.problems.push(Problem::error(APPROVALS_FILE, what, remedy).at_line(Some(line)));
            }
        }
    }
    reports.write(ProblemReport { source: SOURCE.to_owned(), problems: parsed.problems });
}

/// Converts a mark to the decision about an agent's question.
fn decision(approval: &Approval, ticked: MarkedAnswer) -> Result<KernelCommand, String> {
    let MarkedAnswer { allow, scope, because, filled, .. } = ticked;
    if allow && !approval.may_reach(scope) {
        return Err("it can be allowed only once".to_owned());
    }
    let command = if allow && approval.of_server.is_some() {
        let form = approval.form_of(filled);
        if let Some(why) = approval.form_error(&form) {
            return Err(why);
        }
        approval.fill(form, because)
    } else {
        approval.answer(allow, scope, because)
    };
    Ok(command.answered_in(AnswerPlace::File))
}

/// Converts a mark to the answer to a workflow step.
fn answer(runs: &WorkflowRuns, ticked: MarkedAnswer, chars_at_most: usize) -> Result<WorkflowCommand, String> {
    let question = runs.questions().find(|question| question.id == ticked.id);
    let question = question.ok_or("it is no longer open")?;
    if !ticked.scope.is_once() {
        return Err("a workflow step can only be answered once".to_owned());
    }
    let comment = ticked.because.unwrap_or_default();
    let answer = PersonAnswer { approved: Some(ticked.allow), comment, fields: ticked.filled };
    question.check(&answer, chars_at_most)?;
    Ok(WorkflowCommand::Answer { run: question.run, step: question.step, answer })
}

/// Updates questions and decisions, and writes those that are not in the file.
pub(super) fn write_approvals_file(world: &mut World, mut read: Local<MessageCursor<KernelCommand>>) {
    let decisions: Vec<KernelCommand> = read.read(world.resource::<Messages<KernelCommand>>()).cloned().collect();
    let questions: Vec<QuestionKey> = world.resource::<Kernel>().open_questions().collect();
    let steps: Vec<StepKey> = world.resource::<WorkflowRuns>().open_questions().collect();
    let own = world.resource::<ApprovalsFile>();
    if !own.is_due && own.questions == questions && own.steps == steps {
        return;
    }
    let time = world.resource::<RoomDate>().stamp(world.resource::<SimClock>());
    let scene = world.get_resource::<RoomStart>().map_or_else(String::new, |start| start.scene.clone());
    let (open, new) = everything_asked(world, &scene, time.as_deref());
    let mut own = world.resource_mut::<ApprovalsFile>();
    own.note_decisions(&decisions, time.as_deref());
    own.note_open(|id| open.contains(id), new, time.as_deref());
    (own.questions, own.steps, own.is_due) = (questions, steps, false);
    if own.is_held {
        return;
    }
    let pending = own.pending.values().map(|one| &one.asked);
    let decided = own.decided.iter().map(|past| (&past.asked, &past.decided, !past.is_written));
    let renewed = file::bring_up_to_date(&own.text, pending, decided);
    let text = file::withdraw(renewed.text, &scene, |id| own.pending.contains_key(id));
    own.decided.iter_mut().for_each(|past| past.is_written = true);
    let is_other = text != own.text;
    own.text.clone_from(&text);
    world.write_message(ProblemReport { source: format!("{SOURCE}: writing"), problems: renewed.problems });
    if is_other {
        world.write_message(SceneWrite::File { path: APPROVALS_FILE.to_owned(), text });
    }
}

/// The ids of all open questions, and the questions that are new to the file.
fn everything_asked(world: &World, scene: &str, time: Option<&str>) -> (BTreeSet<String>, Vec<Pending>) {
    let known = &world.resource::<ApprovalsFile>().pending;
    let (mut open, mut new) = (BTreeSet::new(), Vec::new());
    for approval in world.resource::<Kernel>().approvals() {
        if open.insert(approval.id.to_string()) && !known.contains_key(approval.id.as_str()) {
            let shown = preview(world, approval.activation).unwrap_or_else(|| Preview::arguments(&approval.arguments));
            let name = name_of(world, &approval.agent);
            let asked = QuestionTask::by_agent(&approval, &shown, &name, scene, time.map(str::to_owned));
            new.push(Pending { asked, key: Some(approval.key()), said: None });
        }
    }
    for question in world.resource::<WorkflowRuns>().questions() {
        if open.insert(question.id.clone()) && !known.contains_key(&question.id) {
            let asked = QuestionTask::by_workflow(&question, scene, time.map(str::to_owned));
            new.push(Pending { asked, key: None, said: None });
        }
    }
    (open, new)
}

/// The name of an agent that is in the room, or else its id.
fn name_of(world: &World, id: &str) -> String {
    let roster = world.resource::<Roster>();
    let entity = roster.key(id).and_then(|key| roster.entity(key));
    let agent = entity.and_then(|entity| world.get::<Agent>(entity));
    agent.map_or_else(|| id.to_owned(), |agent| agent.name.to_string())
}
