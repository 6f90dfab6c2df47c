//! Hostile texts in approvals: whatever an agent wants to run, to write or to send, each form in which a person reads it
//! contains every character.

use agent_workshop::base::ActivationKey;
use agent_workshop::base::terminal_text::printable;
use agent_workshop::base::text_normalization::is_invisible;
use agent_workshop::desk::approvals::approval_task::{QuestionTask, keys};
use agent_workshop::desk::approvals::file::bring_up_to_date;
use agent_workshop::gate::Risk;
use agent_workshop::kernel::{Approval, ApprovalId};
use agent_workshop::tools::Preview;
use agent_workshop::tools::preview_lines::texts_of_rows;
use agent_workshop::workspace::task_files;

use super::hostile_text::hostile_text;
use super::plan::{Case, Fault, Plan, Report};

/// Texts in the full loop.
const TEXTS: u64 = 12_000;
/// Texts in one case.
const TEXTS_PER_CASE: u64 = 100;
/// The columns of the terminal.
const COLUMNS: usize = 100;

/// Runs the loop.
pub fn run(plan: &Plan) -> Report {
    plan.sweep("sights", TEXTS / TEXTS_PER_CASE, try_case)
}

fn try_case(case: &mut Case) {
    for _ in 0..TEXTS_PER_CASE {
        let number = (case.chance.below(u32::MAX as usize) as u64) << 16 | case.number;
        let text = hostile_text(number);
        // A line break of Windows is named once for all lines of a file.
        let previews = [
            (Preview::Command { line: text.clone(), folder: None }, text.clone()),
            (Preview::Write { path: "a.md".into(), text: format!("a\rb{text}") }, format!("a\rb{text}")),
            (Preview::Arguments { rows: vec![("body".into(), text.clone())] }, text.clone()),
        ];
        for (preview, wanted) in previews {
            for (form, why) in [
                ("terminal", on_terminal(&preview, &wanted)),
                ("file", in_file(&preview, &wanted)),
                ("json", in_json(&preview, &wanted)),
            ] {
                if let Some(why) = why {
                    case.found(Fault::Lost, format!("text {number} in the {form}: {why}"));
                }
            }
        }
    }
    case.count("texts", TEXTS_PER_CASE);
}

fn on_terminal(preview: &Preview, wanted: &str) -> Option<String> {
    let rows: Vec<String> = preview.lines().iter().flat_map(|line| line.rows(COLUMNS)).collect();
    let shown = rows.join("\n");
    if printable(&shown) != shown {
        return Some("it would be changed when it is printed".to_owned());
    }
    missing(rows.iter().map(String::as_str), wanted)
}

fn in_file(preview: &Preview, wanted: &str) -> Option<String> {
    let asked = QuestionTask::by_agent(&approval(), preview, "Lead", "scenes/test.yaml", None);
    let text = bring_up_to_date("", [&asked].into_iter(), std::iter::empty()).text;
    let file = task_files::parse(text.as_str());
    let [task] = file.tasks.as_slice() else { return Some(format!("it is {} tasks", file.tasks.len())) };
    if asked.first_difference(task).is_some() || task.has_errors {
        return Some("it is not read back as it was written".to_owned());
    }
    let description = task.field(keys::DESCRIPTION).map(|field| field.value.text().to_owned()).unwrap_or_default();
    if asked.is_partial {
        return (!description.contains("workshop approvals show"))
            .then(|| "it does not say where it is whole".to_owned());
    }
    missing(description.lines(), wanted)
}

fn in_json(preview: &Preview, wanted: &str) -> Option<String> {
    let json = serde_json::to_value(preview).unwrap_or_default();
    let is_whole = json["line"] == wanted || json["text"] == wanted || json["rows"][0][1] == wanted;
    (!is_whole).then(|| "it is not whole".to_owned())
}

/// Why the rows do not contain the text.
fn missing<'a>(rows: impl Iterator<Item = &'a str> + Clone, wanted: &str) -> Option<String> {
    if rows.clone().any(|row| row.contains(is_invisible)) {
        return Some("it has characters that cannot be seen".to_owned());
    }
    (!texts_of_rows(rows).iter().any(|text| text == wanted)).then(|| "a part of it is not there".to_owned())
}

fn approval() -> Approval {
    Approval {
        id: ApprovalId::parse("7-1-0-abcd").expect("it has the shape"),
        activation: ActivationKey::numbered(7),
        turn: 1,
        call: 0,
        agent: "lead".into(),
        profile: "lead".into(),
        task: "Plan".into(),
        tool: "a_tool".into(),
        arguments: serde_json::Value::Null,
        what: String::new(),
        wants: "use a tool".into(),
        because: "its safety mode is safe".into(),
        for_task: Some("change files".into()),
        always: Vec::new(),
        pattern: None,
        edited: None,
        risk: Risk::default(),
        asked_before: 0,
        changed_files: Vec::new(),
        of_server: None,
    }
}
