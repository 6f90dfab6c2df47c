//! Commands about approvals.

use egui::Key;

use super::info::{CommandContext, CommandInfo, KeyContext, UndoKind, of, plain, shift, window};
use crate::base::AllowScope;
use crate::orchestration::workflow::{PersonAnswer, WorkflowCommand};
use crate::ui::commands::{Command, RoomAct, WindowCommand};
use crate::view::work::QuestionView;
use crate::view::workflows::{AskedView, RunView};

/// What the keys answer: the card that the person chose, otherwise the approval in front, otherwise a workflow's step.
enum Target<'a> {
    Approval(&'a QuestionView),
    Step(&'a RunView, &'a AskedView),
}

fn target<'a>(cx: &CommandContext<'a>) -> Option<Target<'a>> {
    let step = || cx.room.workflows.asked().next().map(|(run, asked)| Target::Step(run, asked));
    let approval = || cx.ui.questions.front(cx.room).map(|(_, question, ..)| Target::Approval(question));
    if cx.ui.questions.is_step_chosen { step() } else { approval().or_else(step) }
}

/// Whether what the keys answer can be answered: what has only just appeared cannot.
fn answerable(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    let is_new = match target(cx) {
        None => return Err("No approvals are waiting"),
        Some(Target::Approval(_)) => cx.ui.questions.is_locked(),
        Some(Target::Step(_, asked)) if !asked.fields.is_empty() => return Err("Fill in the form in the graph"),
        Some(Target::Step(..)) => cx.ui.questions.is_step_new(),
    };
    if is_new { Err("The approval has only just appeared") } else { Ok(()) }
}

fn is_waiting(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.ui.questions.front(cx.room).is_some() { Ok(()) } else { Err("No approvals are waiting") }
}

fn allowable_for_task(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    answerable(cx)?;
    match target(cx) {
        Some(Target::Approval(question)) if question.approval.may_reach(AllowScope::Task) => Ok(()),
        _ => Err("This always needs approval"),
    }
}

/// Whether the approval needs no form, which is filled in on the card.
fn allowable(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    answerable(cx)?;
    match target(cx) {
        Some(Target::Approval(question)) if question.approval.form_error(&serde_json::Map::new()).is_some() => {
            Err("Fill in the form on its card")
        }
        _ => Ok(()),
    }
}

fn answer(cx: &CommandContext<'_>, allow: bool, scope: AllowScope) -> Vec<Command> {
    let act = match target(cx) {
        None => return Vec::new(),
        Some(Target::Approval(question)) => RoomAct::Work(question.approval.answer(allow, scope, None)),
        Some(Target::Step(run, asked)) => RoomAct::Workflow(WorkflowCommand::Answer {
            run: run.key,
            step: asked.step.clone(),
            answer: PersonAnswer::approval(allow, ""),
        }),
    };
    vec![Command::Act(act, None)]
}

/// The commands about approvals; they answer the one in front.
pub(super) const COMMANDS: &[CommandInfo] = &[
    of("question.allow_for_task", "Approval: allow for the task", |cx| answer(cx, true, AllowScope::Task))
        .description("This and similar actions, until the task ends")
        .keys(KeyContext::NotWriting, &[shift(Key::A)])
        .only(allowable_for_task)
        .undone(UndoKind::Irreversible)
        .deciding(),
    of("question.allow", "Approval: allow once", |cx| answer(cx, true, AllowScope::Once))
        .keys(KeyContext::NotWriting, &[plain(Key::A)])
        .only(allowable)
        .undone(UndoKind::Irreversible)
        .deciding(),
    of("question.refuse", "Approval: refuse", |cx| answer(cx, false, AllowScope::Once))
        .keys(KeyContext::NotWriting, &[plain(Key::R)])
        .only(answerable)
        .undone(UndoKind::Irreversible)
        .deciding(),
    of("question.show", "Go to approval", |_| window(WindowCommand::ShowQuestion))
        .description("Shows the agent that is waiting")
        .only(is_waiting),
    of("question.next", "Next approval", |_| window(WindowCommand::TakeQuestion))
        .description("Shows the next approval and gives it the keys")
        .keys(KeyContext::NotWriting, &[plain(Key::Q)])
        .only(is_waiting),
];
