//! A memory in the list: its text, owner, score, source and commands.

use egui::Ui;

use super::search::SearchHit;
use super::{Editing, KnowledgePane, edits, texts};
use crate::base::calendar::stamp;
use crate::base::text::{one_line, truncate};
use crate::knowledge::{Memory, Owner};
use crate::ui::Command;
use crate::ui::commands::ConversationsCommand;
use crate::ui::context::ViewerContext;
use crate::ui::state::memories::MemoryRow;
use crate::ui::widgets::text_format;
use crate::ui::widgets::{self, EditEnd};

/// The number of rows of the text field for editing.
const ROWS: usize = 3;
/// Seconds after the end of editing during which a click is the second one of a double click.
const DOUBLE_CLICK_SECS: f64 = 0.5;
/// The maximum number of characters of a memory in accessible names.
const NAME_CHARS: usize = 40;

impl KnowledgePane {
    pub(super) fn row_ui(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        row: &MemoryRow,
        found: Option<&SearchHit>,
        commands: &mut Vec<Command>,
    ) {
        if self.is_editing(&row.memory) {
            self.edit_ui(ui, cx, row, commands);
        } else {
            ui.label(&row.memory.content);
        }
        ui.label(widgets::small(memory_words(row, cx), cx.theme));
        if let Some(found) = found {
            ui.label(widgets::small(found.why(), cx.theme));
        }
        self.relations_ui(ui, cx, row, commands);
        self.buttons_ui(ui, cx, row, commands);
    }

    fn is_editing(&self, memory: &Memory) -> bool {
        self.editing.as_ref().is_some_and(|editing| editing.id == memory.id)
    }

    /// Draws the text field for editing with its buttons.
    fn edit_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, row: &MemoryRow, commands: &mut Vec<Command>) {
        let Some(editing) = &mut self.editing else { return };
        let field = (&mut editing.text, &mut editing.is_focused);
        let labels = (texts::TEXT_OF_THE_MEMORY, texts::WHAT_TO_REMEMBER);
        let end = widgets::editor(ui, field, labels, ROWS, (texts::SAVE, texts::CANCEL), cx.theme);
        if end == Some(EditEnd::Save) {
            let content = editing.text.trim().to_owned();
            commands.extend(edits::replace(&self.known, row, &Memory { content, ..row.memory.clone() }, cx));
        }
        if end.is_some() {
            self.editing = None;
            self.edited_secs = Some(ui.input(|input| input.time));
        }
    }

    fn buttons_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, row: &MemoryRow, commands: &mut Vec<Command>) {
        let memory = &row.memory;
        let name = truncate(&one_line(&memory.content), NAME_CHARS);
        let is_edited = self.is_editing(memory);
        // This button appears where Save was, so that the second click of two must not open the field again.
        let now_secs = ui.input(|input| input.time);
        let has_just_ended = self.edited_secs.is_some_and(|ended| now_secs - ended < DOUBLE_CLICK_SECS);
        let button = |ui: &mut Ui, label: &str| {
            let button = ui.button(label);
            widgets::name(&button, texts::button_name(label, &name));
            button.clicked()
        };
        ui.horizontal_wrapped(|ui| {
            if !is_edited && button(ui, texts::EDIT) && !has_just_ended {
                self.editing = Some(Editing { id: memory.id.clone(), text: memory.content.clone(), is_focused: false });
            }
            if button(ui, if memory.pinned { texts::UNPIN } else { texts::PIN }) {
                let changed = Memory { pinned: !memory.pinned, ..memory.clone() };
                commands.extend(edits::replace(&self.known, row, &changed, cx));
            }
            if row.owner != Owner::Shared && button(ui, texts::SHARE) {
                let changed = Memory { shared: true, ..memory.clone() };
                commands.extend(edits::replace(&self.known, row, &changed, cx));
            }
            if button(ui, texts::FORGET) {
                commands.extend(edits::forget(&self.known, row, cx));
            }
            let is_shown = self.who.is_showing(&memory.id);
            if button(ui, if is_shown { texts::STOP_SHOWING_WHO_KNOWS } else { texts::WHO_KNOWS_THIS }) {
                self.who.toggle(&memory.id);
            }
            self.relate_button(ui, cx, (row, &name), commands);
            if button(ui, texts::OPEN_FILE) {
                commands.push(Command::OpenFile(row.owner.place(), Some(row.line)));
            }
            // Conversations of this run can be opened; for earlier runs there is the session file.
            if let Some(session) = memory.source.session.as_ref().filter(|session| session.starts_with("conversation-"))
                && button(ui, texts::SHOW_CONVERSATION)
            {
                commands.push(ConversationsCommand::ShowConversation(session.clone()).into());
            }
            if let Some(path) = session_file(memory, cx)
                && button(ui, texts::SHOW_SESSION)
            {
                commands.push(Command::OpenFile(path, None));
            }
        });
    }
}

/// Returns the existing session file that a memory comes from.
fn session_file(memory: &Memory, cx: &ViewerContext<'_>) -> Option<String> {
    let session = memory.source.session.as_ref().filter(|session| session.starts_with("act-"))?;
    let end = format!(".{session}.session.yaml");
    let files = cx.ui.texts.files();
    let file = files.iter().find(|file| file.is_there && file.path.ends_with(&end))?;
    Some(file.path.clone())
}

/// Returns the kind, owner, date and origin of a memory as a line of text.
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
    let parts = [Some(text_format::capitalised(memory.kind.as_str())), Some(whose), day, pinned, tags, run];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
