//! Commands about approvals.

use egui::Key;

use super::info::{CommandContext, CommandInfo, KeyContext, UndoKind, of, plain, shift, window};
use crate::base::AllowScope;
use crate::ui::commands::{Command, RoomAct, WindowCommand};

/// Whether the approval in front can be answered: one that has only just appeared cannot.
fn answerable(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    is_waiting(cx)?;
    if cx.ui.questions.is_locked() { Err("The approval has only just appeared") } else { Ok(()) }
}

fn is_waiting(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.ui.questions.front(cx.room).is_some() { Ok(()) } else { Err("No approvals are waiting") }
}

fn allowable_for_task(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    answerable(cx)?;
    let question = cx.ui.questions.front(cx.room).map(|(_, question, ..)| question);
    match question.is_some_and(|question| question.approval.may_reach(AllowScope::Task)) {
        true => Ok(()),
        false => Err("This always needs approval"),
    }
}

fn are_several_waiting(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    is_waiting(cx)?;
    let count = cx.ui.questions.front(cx.room).map_or(0, |(.., count)| count);
    if count > 1 { Ok(()) } else { Err("There is only one approval") }
}

/// Whether the approval needs no form, which is filled in on the card.
fn allowable(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    answerable(cx)?;
    let question = cx.ui.questions.front(cx.room).map(|(_, question, ..)| question);
    match question.is_some_and(|question| question.approval.form_error(&serde_json::Map::new()).is_some()) {
        true => Err("Fill in the form on its card"),
        false => Ok(()),
    }
}

fn answer(cx: &CommandContext<'_>, allow: bool, scope: AllowScope) -> Vec<Command> {
    let question = cx.ui.questions.front(cx.room).map(|(_, question, ..)| question);
    let decide = question.map(|question| question.approval.answer(allow, scope, None));
    decide.into_iter().map(|decide| Command::Act(RoomAct::Work(decide), None)).collect()
}

/// The commands about approvals; they answer the one in front.
pub(super) const COMMANDS: &[CommandInfo] = &[
    of("question.allow_for_task", "Approval: allow for the task", |cx| answer(cx, true, AllowScope::Task))
        .description("This and similar actions, until the task ends")
        .keys(KeyContext::NotWriting, &[shift(Key::A)])
        .only(allowable_for_task)
        .undone(UndoKind::Irreversible),
    of("question.allow", "Approval: allow once", |cx| answer(cx, true, AllowScope::Once))
        .keys(KeyContext::NotWriting, &[plain(Key::A)])
        .only(allowable)
        .undone(UndoKind::Irreversible),
    of("question.refuse", "Approval: refuse", |cx| answer(cx, false, AllowScope::Once))
        .keys(KeyContext::NotWriting, &[plain(Key::R)])
        .only(answerable)
        .undone(UndoKind::Irreversible),
    of("question.show", "Go to approval", |_| window(WindowCommand::ShowQuestion))
        .description("Shows the agent that is waiting")
        .only(is_waiting),
    of("question.next", "Next approval", |_| window(WindowCommand::StepQuestion { forward: true }))
        .keys(KeyContext::NotWriting, &[plain(Key::Q)])
        .only(are_several_waiting),
];
