//! UI tests of overlays.

use crate::element::{ItemList, ListAct, MailAct, MailStatus, PinAct, TextAct};
use std::sync::Arc;

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::*;
use crate::ui::UiState;
use crate::ui::testing::{PaneHarness, pane_of, pin, sample_room};
use crate::view::model::RoomModel;

fn opened_in(room: RoomModel, id: &str) -> Harness<'static, PaneHarness> {
    let mut state = UiState::default();
    state.front.open_element(id.into());
    let mut window = pane_of(PaneHarness::new(room, state), |ui, cx, panes| overlays_ui(ui, cx, &mut panes.overlays));
    window.run_steps(4);
    window
}

fn opened(id: &str) -> Harness<'static, PaneHarness> {
    opened_in(sample_room(), id)
}

fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
    window.get_by_label(label).scroll_to_me();
    window.run_steps(20);
    window.get_by_label(label).click();
    window.run_steps(3);
}

fn write(window: &mut Harness<'static, PaneHarness>, field: &str, text: &str) {
    window.get_by_label(field).focus();
    window.run_steps(1);
    window.get_by_label(field).type_text(text);
    window.run_steps(2);
}

fn set_content(window: &mut Harness<'static, PaneHarness>, index: usize, content: ContentView) {
    window.state_mut().room.elements[index].content = Arc::new(content);
    window.run_steps(3);
}

fn set_text(id: &str, text: &str) -> RoomAct {
    edit(&id.into(), TextAct::SetText { text: text.into() }.into())
}

#[test]
fn a_text_is_saved_and_can_be_undone() {
    let mut window = opened("rules");
    click(&mut window, "Save");
    assert!(window.state().commands.is_empty(), "nothing was written");
    write(&mut window, "Text", ", always");
    assert!(window.query_by_label("Not saved yet").is_some());
    click(&mut window, "Save");
    let expected = Command::Act(set_text("rules", "# Be kind, always"), Some(set_text("rules", "# Be kind")));
    assert_eq!(window.state().commands, [expected]);
    set_content(&mut window, 0, ContentView::Text("# Be kind, always".into()));
    assert!(window.state().parts.overlays.drafts.is_empty(), "a saved text is no draft");
}

#[test]
fn a_draft_is_kept_when_its_overlay_closes() {
    let mut window = opened("news");
    write(&mut window, "Text", "!");
    click(&mut window, "Close");
    assert_eq!(window.state().state.front.element(), None);
    window.state_mut().state.front.open_element("news".into());
    window.run_steps(3);
    assert!(window.query_by_label("Not saved yet").is_some());
    assert_eq!(window.state().parts.overlays.drafts["text of news"], "All is well!");
}

#[test]
fn a_change_by_someone_else_is_reported_with_a_choice() {
    for (choice, draft, saves) in [("Keep mine", Some("All is well!"), true), ("Use theirs", None, false)] {
        let mut window = opened("news");
        write(&mut window, "Text", "!");
        set_content(&mut window, 1, ContentView::Text("Fire".into()));
        assert!(window.query_by_label("Someone else changed this text while you were editing").is_some());
        click(&mut window, "Save");
        assert!(window.state().commands.is_empty(), "no text is overwritten without asking");
        click(&mut window, choice);
        assert_eq!(window.state().parts.overlays.drafts.get("text of news").map(String::as_str), draft, "{choice}");
        click(&mut window, "Save");
        assert_eq!(!window.state().commands.is_empty(), saves, "{choice}");
    }
}

#[test]
fn a_draft_is_merged_and_conflicts_are_resolved_by_the_user() {
    let draft = |window: &Harness<'_, PaneHarness>| window.state().parts.overlays.drafts.get("text of news").cloned();
    let mut window = opened("news");
    set_content(&mut window, 1, ContentView::Text("Tea\nat four\nas ever".into()));
    write(&mut window, "Text", "!");
    set_content(&mut window, 1, ContentView::Text("Cake\nat four\nas ever".into()));
    click(&mut window, "Merge");
    assert_eq!(draft(&window).as_deref(), Some("Cake\nat four\nas ever!"), "the changes do not overlap");
    click(&mut window, "Save");
    let back = set_text("news", "Cake\nat four\nas ever");
    assert_eq!(window.state().commands, [Command::Act(set_text("news", "Cake\nat four\nas ever!"), Some(back))]);

    let mut window = opened("news");
    write(&mut window, "Text", "!");
    set_content(&mut window, 1, ContentView::Text("All is lost".into()));
    click(&mut window, "Merge");
    assert!(window.query_by_label("Both changed the same lines: 0 of 1 resolved.").is_some());
    click(&mut window, "Save");
    assert!(window.state().commands.is_empty(), "no text is overwritten without asking");
    click(&mut window, "Both for conflict 1");
    assert_eq!(draft(&window).as_deref(), Some("All is well!\nAll is lost"));
    // Choices for an older text are discarded.
    let mut window = opened("news");
    write(&mut window, "Text", "!");
    set_content(&mut window, 1, ContentView::Text("All is lost".into()));
    click(&mut window, "Merge");
    set_content(&mut window, 1, ContentView::Text("Fire".into()));
    assert!(window.query_by_label("Both for conflict 1").is_none());
    assert!(window.query_by_label("Someone else changed this text while you were editing").is_some());
}

#[test]
fn a_text_can_be_read_as_markdown() {
    let mut window = opened("rules");
    click(&mut window, "Read view");
    window.run_steps(2);
    assert!(window.query_by_label("Be kind").is_some());
    click(&mut window, "Both view");
    assert!(window.query_by_label("Be kind").is_some() && window.query_by_label("Text").is_some());
}

#[test]
fn pins_can_be_added_voted_on_commented_and_removed() {
    let mut window = opened("ideas");
    write(&mut window, "New pin", "Buy milk");
    click(&mut window, "Add pin");
    click(&mut window, "Pin p1: Buy tea");
    click(&mut window, "Vote up");
    write(&mut window, "Comment", "Green");
    click(&mut window, "Add comment");
    click(&mut window, "Remove pin");
    let ideas = "ideas".into();
    let commands = &window.state().commands;
    assert_eq!(
        commands[0],
        Command::Act(edit(&ideas, PinAct::AddPin { id: None, text: "Buy milk".into() }.into()), None)
    );
    let take_back = PinAct::CorrectVote { id: "p1".into(), voter: "user".into(), up: None }.into();
    let vote = PinAct::Vote { id: "p1".into(), up: true }.into();
    assert_eq!(commands[1], Command::Act(edit(&ideas, vote), Some(edit(&ideas, take_back))));
    let comment = PinAct::Comment { id: "p1".into(), text: "Green".into() }.into();
    assert_eq!(commands[2], Command::Act(edit(&ideas, comment), None));
    let Command::Act(removed, Some(RoomAct::Edit(inverse))) = &commands[3] else { panic!("{:?}", commands[3]) };
    assert_eq!(*removed, edit(&ideas, PinAct::RemovePin { id: "p1".into() }.into()));
    let Some(ListAct::Put { list: ItemList::Pins, item, at: 0 }) = inverse.act.read() else { panic!("{inverse:?}") };
    assert_eq!(item["text"], "Buy tea");
}

#[test]
fn repeating_a_vote_removes_it() {
    let mut voted = pin("p1", "ada-1", "Buy tea");
    voted.up = vec!["user".into()];
    let mut room = sample_room();
    room.elements[2].content = Arc::new(ContentView::Pins(vec![voted]));
    let mut window = opened_in(room, "ideas");
    click(&mut window, "Pin p1: Buy tea");
    click(&mut window, "Vote up");
    let correct = |up| edit(&"ideas".into(), PinAct::CorrectVote { id: "p1".into(), voter: "user".into(), up }.into());
    assert_eq!(window.state().commands, [Command::Act(correct(None), Some(correct(Some(true))))]);
}

#[test]
fn only_visible_pins_are_drawn() {
    let pins = (0..5_000).map(|number| pin(&format!("p{number}"), "ada-1", &format!("Idea {number}"))).collect();
    let mut room = sample_room();
    room.elements[2].content = Arc::new(ContentView::Pins(pins));
    let window = opened_in(room, "ideas");
    let drawn = window.query_all_by_label_contains("Pin p").count();
    assert!((5..60).contains(&drawn), "{drawn} are drawn");
    assert!(window.query_by_label("Pin p4999: Idea 4999").is_some(), "the newest comes first");
}

#[test]
fn mail_can_be_read_closed_discarded_and_sent() {
    let mut room = sample_room();
    room.elements[3].owner = Some("ada-1".into());
    let mut window = opened_in(room, "post");
    click(&mut window, "Mail m1: Tea");
    assert!(window.query_by_label("At four?").is_some());
    click(&mut window, "Status pending");
    click(&mut window, "Discard mail");
    write(&mut window, "Subject", "Cake");
    write(&mut window, "Message", "There is some.");
    click(&mut window, "Send");
    let post = "post".into();
    let commands = &window.state().commands;
    let set = |status| edit(&post, MailAct::SetMailStatus { id: "m1".into(), status }.into());
    assert_eq!(commands[0], Command::Act(set(MailStatus::Pending), Some(set(MailStatus::Open))));
    let Command::Act(_, Some(RoomAct::Edit(inverse))) = &commands[1] else { panic!("{:?}", commands[1]) };
    let put = inverse.act.read();
    assert!(matches!(put, Some(ListAct::Put { list: ItemList::Items, item, at: 0 }) if item["subject"] == "Tea"));
    let sent = MailAct::AddMail {
        id: None,
        from: "user".into(),
        to: "ada-1".into(),
        subject: "Cake".into(),
        text: "There is some.".into(),
        attachments: Vec::new(),
    }
    .into();
    assert_eq!(commands[2], Command::Act(edit(&post, sent), None));
    for name in ["subject for post", "letter for post"] {
        assert_eq!(window.state().parts.overlays.drafts[name], "", "the form is empty again");
    }
}

#[test]
fn an_inbox_without_owner_says_so_and_a_removed_element_closes_its_overlay() {
    let mut window = opened("post");
    assert!(window.query_by_label("This inbox has no owner, so no one reads it.").is_some());
    window.state_mut().room.elements.clear();
    window.run_steps(2);
    assert_eq!(window.state().state.front.element(), None);
}
