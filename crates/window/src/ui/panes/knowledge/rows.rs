//! A memory in the pane: its text, its owner, why it was found, its source, and its commands.

use egui::Ui;

use super::search::Found;
use super::{Editing, KnowledgePane, edits, texts};
use crate::base::calendar::stamp;
use crate::base::text::{one_line, truncate};
use crate::knowledge::{Memory, Owner};
use crate::ui::Command;
use crate::ui::context::ViewerContext;
use crate::ui::state::memories::MemoryRow;
use crate::ui::widgets;
use crate::ui::widgets::text_format;

/// Rows of the field in which a memory is edited.
const ROWS: usize = 3;
/// How many characters of a memory are its name for screen readers.
const NAME_CHARS: usize = 40;

impl KnowledgePane {
    pub(super) fn row(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        row: &MemoryRow,
        found: Option<&Found>,
        commands: &mut Vec<Command>,
    ) {
        if self.editing.as_ref().is_some_and(|editing| editing.id == row.memory.id) {
            self.edit(ui, cx, row, commands);
        } else {
            ui.label(&row.memory.content);
        }
        ui.label(widgets::small(memory_words(row, cx), cx.theme));
        if let Some(found) = found {
            ui.label(widgets::small(found.why(), cx.theme));
        }
        self.relations_ui(ui, cx, row, commands);
        self.acts(ui, cx, row, commands);
    }

    /// The field in which a memory is edited, with what ends that.
    fn edit(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, row: &MemoryRow, commands: &mut Vec<Command>) {
        let Some(editing) = &mut self.editing else { return };
        widgets::area(ui, &mut editing.text, texts::TEXT_OF_THE_MEMORY, texts::WHAT_TO_REMEMBER, ROWS);
        let text = editing.text.trim().to_owned();
        ui.horizontal(|ui| {
            if widgets::primary(ui, !text.is_empty(), texts::SAVE, cx.theme).clicked() {
                commands.extend(edits::change(&self.known, row, &Memory { content: text, ..row.memory.clone() }, cx));
                self.editing = None;
            }
            if ui.button(texts::CANCEL).clicked() {
                self.editing = None;
            }
        });
    }

    fn acts(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, row: &MemoryRow, commands: &mut Vec<Command>) {
        let memory = &row.memory;
        let called = truncate(&one_line(&memory.content), NAME_CHARS);
        let press = |ui: &mut Ui, act: &str| {
            let button = ui.button(act);
            widgets::name(&button, texts::act_on(act, &called));
            button.clicked()
        };
        ui.horizontal_wrapped(|ui| {
            if press(ui, texts::EDIT) {
                self.editing = Some(Editing { id: memory.id.clone(), text: memory.content.clone() });
            }
            if press(ui, if memory.pinned { texts::UNPIN } else { texts::PIN }) {
                let changed = Memory { pinned: !memory.pinned, ..memory.clone() };
                commands.extend(edits::change(&self.known, row, &changed, cx));
            }
            if row.owner != Owner::Shared && press(ui, texts::SHARE) {
                let changed = Memory { shared: true, ..memory.clone() };
                commands.extend(edits::change(&self.known, row, &changed, cx));
            }
            if press(ui, texts::FORGET) {
                commands.extend(edits::forget(&self.known, row, cx));
            }
            let is_shown = self.who.is_of(&memory.id);
            if press(ui, if is_shown { texts::STOP_SHOWING_WHO_KNOWS } else { texts::WHO_KNOWS_THIS }) {
                self.who.toggle(&memory.id);
            }
            self.relate_button(ui, cx, (row, &called), commands);
            if press(ui, texts::OPEN_FILE) {
                commands.push(Command::OpenFile(row.owner.place(), Some(row.line)));
            }
            // A conversation of this run is there to be read; of earlier runs the file of the session is.
            if let Some(session) = memory.source.session.as_ref().filter(|session| session.starts_with("conversation-"))
                && press(ui, texts::SHOW_CONVERSATION)
            {
                commands.push(crate::ui::commands::WindowCommand::ShowConversation(session.clone()).into());
            }
            if let Some(path) = session_file(memory, cx)
                && press(ui, texts::SHOW_SESSION)
            {
                commands.push(Command::OpenFile(path, None));
            }
        });
    }
}

/// The file of the session that a memory comes from, if it exists.
fn session_file(memory: &Memory, cx: &ViewerContext<'_>) -> Option<String> {
    let session = memory.source.session.as_ref().filter(|session| session.starts_with("act-"))?;
    let end = format!(".{session}.session.yaml");
    let files = cx.ui.texts.files();
    let file = files.iter().find(|file| file.is_there && file.path.ends_with(&end))?;
    Some(file.path.clone())
}

/// What kind of memory, whose, since when and from where.
pub fn memory_words(row: &MemoryRow, cx: &ViewerContext<'_>) -> String {
    let memory = &row.memory;
    let whose = match &row.owner {
        Owner::Agent(agent) => texts::only(cx.room.called(agent)),
        Owner::Shared if &*memory.agent == "user" => texts::EVERYONE.to_owned(),
        Owner::Shared => texts::everyone_from(cx.room.called(&memory.agent)),
    };
    let day = memory.dated().map(|secs| stamp(secs).replace('T', " "));
    let pinned = memory.pinned.then(|| texts::PINNED.to_owned());
    let tags = (!memory.tags.is_empty()).then(|| memory.tags.join(", "));
    let run = memory.source.run.as_ref().map(|run| texts::from_run(run));
    let parts = [Some(text_format::capitalised(memory.kind.word())), Some(whose), day, pinned, tags, run];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
