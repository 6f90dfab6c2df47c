//! A workspace that came from elsewhere is restricted until the person trusts it, and again for what is new in it.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::cases;
use crate::program::{json_lines, workshop, write};

pub fn trials() -> Vec<Trial> {
    cases![
        a_foreign_workspace_asks_everything_and_starts_nothing,
        trusting_it_shows_one_page_and_lets_it_start,
        what_is_new_after_trusting_has_no_effect_until_it_is_seen,
        trust_for_one_run_is_the_persons_word_on_the_command_line,
        a_saved_room_from_elsewhere_is_not_continued,
        work_begun_in_a_restricted_workspace_continues_there,
        a_new_workspace_is_trusted_unless_something_was_there_before,
        doctor_and_status_say_what_a_workspace_permits_itself,
        the_room_notices_that_it_is_trusted,
        an_agent_that_a_pull_lets_reach_outside_asks_until_it_is_seen,
        code_that_a_pull_brings_runs_only_once_it_is_seen,
        heartbeats_and_triggers_that_a_pull_brings_wait_and_tasks_do_not,
        other_words_of_what_is_trusted_are_no_news,
        an_agent_that_a_seen_one_starts_is_no_news,
        an_agent_that_one_starts_which_was_not_seen_waits_too,
        what_is_allowed_for_always_in_a_room_is_trusted_in_the_next_one,
        what_the_import_command_brings_waits,
        an_alias_of_a_coding_agent_is_shown_and_held_as_what_it_stands_for,
    ]
}

const SCENE: &str = "name: Room\nseed: 5\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
const SCRIPT: &str = "agents:\n  lead:\n    - tools: [ { name: vfs_write, arguments: { path: artifacts/made.md, content: made } } ]\n    - text: Done.\ndefault: [ { text: Fine. } ]\n";

/// A workspace as it comes from elsewhere, and the person's config folder.
pub struct Foreign {
    pub folder: TempDir,
    pub config: TempDir,
}

impl Foreign {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let (folder, config) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let always = [
            ("settings.yaml", "gateway: { provider: 'scripted:script.yaml' }\n"),
            ("scenes/room.yaml", SCENE),
            ("agents/lead.md", "You lead.\n"),
            ("script.yaml", SCRIPT),
        ];
        for (path, text) in always.iter().chain(files) {
            write(folder.path(), path, text);
        }
        Self { folder, config }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = workshop(self.path(), arguments);
        command.env_remove("WORKSHOP_TRUST").env("WORKSHOP_CONFIG_DIR", self.config.path());
        command
    }

    /// Returns the exit code, standard output and standard error.
    pub fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let done = self.command(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code().unwrap_or(-1), text(&done.stdout), text(&done.stderr))
    }

    pub fn events(&self, arguments: &[&str]) -> (i32, Vec<Value>, String) {
        let (code, out, errors) = self.run(&[arguments, &["--events", "-"]].concat());
        (code, json_lines(&out), errors)
    }

    pub fn made(&self) -> bool {
        self.path().join("artifacts/made.md").exists()
    }
}

pub fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["type"] == kind).count()
}

pub const TASK: (&str, &str) = ("tasks/work.task.md", "## todo\n\n- [ ] A @lead \"Do it\"\n  id: t1\n");
pub const RUN: [&str; 5] = ["run", "--for", "20s", "--speed", "max"];
pub const GIVEN: [&str; 9] =
    ["run", "--agent", "lead", "--task", "Go", "--speed", "max", "--provider", "scripted:script.yaml"];

fn a_foreign_workspace_asks_everything_and_starts_nothing() {
    let foreign = Foreign::new(&[TASK]);
    let (code, events, errors) = foreign.events(&RUN);
    assert_eq!(code, 4, "{errors}");
    assert!(errors.contains("restricted") && errors.contains("workshop trust"), "{errors}");
    assert_eq!((count(&events, "activation"), count(&events, "tool_call")), (0, 0), "{events:#?}");
    let (code, out, _) = foreign.run(&[&RUN[..], &["--json"]].concat());
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["restricted"], &report["ended"]), (4, &true.into(), &"waiting".into()), "{report}");
    // What a person starts works, but asks before it changes anything.
    let (code, events, errors) = foreign.events(&GIVEN);
    assert_eq!(code, 4, "{errors}");
    assert_eq!(count(&events, "activation"), 1, "{events:#?}");
    assert!(!foreign.made() && errors.contains("have not trusted this workspace"), "{errors}");
    assert!(foreign.path().join("tasks/work.task.md").exists());
}

fn trusting_it_shows_one_page_and_lets_it_start() {
    let foreign = Foreign::new(&[TASK, ("storage/terminal-cmd-allowlist.yaml", "cat: true\nrm: false\n")]);
    let (code, out, _) = foreign.run(&["trust"]);
    assert_eq!(code, 4, "without a terminal, nobody has agreed: {out}");
    for words in ["gateway.provider", "scripted:script.yaml", "cat", "the task “Do it”"] {
        assert!(out.contains(words), "{words} in {out}");
    }
    assert!(!out.contains("rm: "), "what forbids is no wish: {out}");
    assert_eq!(foreign.run(&RUN).0, 4, "looking is not trusting");
    let (code, out, errors) = foreign.run(&["trust", "--yes"]);
    assert_eq!(code, 0, "{out}{errors}");
    let (code, events, errors) = foreign.events(&RUN);
    assert_eq!(code, 0, "{errors}");
    assert!(count(&events, "activation") == 1 && foreign.made() && !errors.contains("restricted"), "{errors}");
    assert_eq!(foreign.run(&["trust", "--revoke"]).0, 0);
    let (code, _, errors) = foreign.run(&["run", "--for", "1s", "--speed", "max"]);
    assert!(code == 4 && errors.contains("not trusted"), "its saved room waits, too: {errors}");
}

fn what_is_new_after_trusting_has_no_effect_until_it_is_seen() {
    let foreign = Foreign::new(&[("storage/terminal-cmd-allowlist.yaml", "ls: true\n")]);
    assert_eq!(foreign.run(&["trust", "--yes"]).0, 0);
    // A pull brings more.
    write(foreign.path(), "storage/terminal-cmd-allowlist.yaml", "ls: true\ncurl: true\n");
    let settings = "gateway: { provider: 'scripted:script.yaml' }\ngate: { touches: { net.fetch: allow }, deny: ['artifacts/**'] }\n";
    write(foreign.path(), "settings.yaml", settings);
    let (_, out, _) = foreign.run(&["trust"]);
    assert!(out.contains("net.fetch") && out.contains("curl"), "{out}");
    assert!(!out.contains("gateway.provider") && !out.contains("ls:"), "only what is new: {out}");
    let (code, _, errors) = foreign.run(&GIVEN);
    assert!(code == 0 && !foreign.made(), "what restricts counts at once: {errors}");
    assert!(errors.contains("gate.touches.net.fetch") && errors.contains("\"curl\""), "{errors}");
    assert_eq!(foreign.run(&["trust", "--yes"]).0, 0);
    let (code, out, _) = foreign.run(&["trust", "--json"]);
    let page: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &page["trusted"], page["page"]["new"].as_array().map(Vec::len)), (0, &true.into(), Some(0)));
    assert!(!foreign.run(&GIVEN).2.contains("trust"));
}

fn trust_for_one_run_is_the_persons_word_on_the_command_line() {
    let foreign = Foreign::new(&[TASK]);
    let (code, events, errors) = foreign.events(&[&RUN[..], &["--trust"]].concat());
    assert!(code == 0 && count(&events, "activation") == 1 && foreign.made(), "{errors}");
    assert_eq!(foreign.run(&["trust"]).0, 4, "it was for one run");
    let mut command = foreign.command(&RUN);
    assert_eq!(command.env("WORKSHOP_TRUST", "1").output().unwrap().status.code(), Some(0));
    for value in ["0", "", "no"] {
        let done = foreign.command(&["run", "--ticks", "1"]).env("WORKSHOP_TRUST", value).output().unwrap();
        assert_eq!(done.status.code(), Some(4), "{value:?}");
    }
}

fn a_saved_room_from_elsewhere_is_not_continued() {
    let foreign = Foreign::new(&[]);
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = foreign.command(&[&GIVEN[..], &["--ticks", "2", "--trust"]].concat());
    command.env("WORKSHOP_CONFIG_DIR", elsewhere.path()).output().unwrap();
    let (code, out, errors) = foreign.run(&["run", "--for", "20s", "--speed", "max", "--events", "-"]);
    assert_eq!(code, 4, "{errors}");
    assert!(errors.contains("saved work") && errors.contains("workshop trust") && out.is_empty(), "{errors}{out}");
    assert!(foreign.run(&["trust"]).1.contains("the saved room"));
    let (_, events, errors) = foreign.events(&["run", "--fresh", "--for", "5s", "--speed", "max"]);
    assert_eq!(count(&events, "activation"), 0, "{errors}");
}

fn work_begun_in_a_restricted_workspace_continues_there() {
    let foreign = Foreign::new(&[]);
    let (code, _, errors) = foreign.run(&GIVEN);
    assert_eq!(code, 4, "{errors}");
    let (_, out, _) = foreign.run(&["approvals", "list", "--json"]);
    let listed: Value = serde_json::from_str(&out).unwrap();
    let id = listed["approvals"][0]["id"].as_str().unwrap_or_default().to_owned();
    assert!(!id.is_empty(), "{out}");
    assert_eq!(foreign.run(&["approvals", "allow", &id]).0, 0);
    let arguments = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml"];
    let (code, _, errors) = foreign.run(&arguments);
    assert!(code == 0 && foreign.made(), "exactly what was allowed: {errors}");
}

fn a_new_workspace_is_trusted_unless_something_was_there_before() {
    let foreign = Foreign::new(&[]);
    let new = foreign.path().join("new");
    let (code, _, errors) = foreign.run(&["init", "new"]);
    assert_eq!(code, 0, "{errors}");
    let done = foreign.command(&["trust", "--json"]).current_dir(&new).output().unwrap();
    let page: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(page["trusted"], true, "{page}");
    let other = foreign.path().join("other");
    write(&other, "tasks/work.task.md", TASK.1);
    let (_, _, errors) = foreign.run(&["init", "--bare", "other"]);
    assert!(errors.contains("restricted until you trust it"), "{errors}");
}

fn doctor_and_status_say_what_a_workspace_permits_itself() {
    let foreign = Foreign::new(&[TASK, ("storage/terminal-cmd-allowlist.yaml", "cat: true\n")]);
    let (_, out, _) = foreign.run(&["doctor"]);
    assert!(out.contains("restricted") && out.contains("workshop trust") && out.contains("1 would start"), "{out}");
    let (_, out, errors) = foreign.run(&["status"]);
    assert!(format!("{out}{errors}").contains("workshop trust"), "{out}{errors}");
    foreign.run(&["trust", "--yes"]);
    let (_, out, _) = foreign.run(&["doctor"]);
    assert!(out.contains("you trust it") && out.contains("cat"), "{out}");
}

fn the_room_notices_that_it_is_trusted() {
    let foreign = Foreign::new(&[TASK]);
    let mut running = foreign.command(&["run", "--speed", "16", "--events", "events.jsonl"]).spawn().unwrap();
    let log = || fs::read_to_string(foreign.path().join("events.jsonl")).unwrap_or_default();
    let until = |what: &str, is_there: &dyn Fn() -> bool| {
        let start = std::time::Instant::now();
        while !is_there() {
            assert!(start.elapsed() < crate::program::PATIENCE, "{what} did not happen: {}", log());
            std::thread::yield_now();
        }
    };
    until("the start", &|| log().contains("agent_added"));
    assert!(!log().contains("\"activation\""), "{}", log());
    assert_eq!(foreign.run(&["trust", "--yes"]).0, 0);
    until("the work", &|| foreign.made());
    crate::program::signal("-INT", running.id());
    running.wait().unwrap();
    let (code, out, errors) = foreign.run(&["replay", "last", "--verify"]);
    assert!(code == 0 && out.contains("all equal"), "the decision is an input: {out}{errors}");
}

const RULES: (&str, &str) = ("storage/terminal-cmd-allowlist.yaml", "echo: true\n");
const RUNS_A_COMMAND: &str = "agents:\n  lead:\n    - tools: [ { name: execute_command, arguments: { command: 'echo made' } } ]\n    - text: Done.\ndefault: [ { text: Fine. } ]\n";

/// A workspace that the person trusts, after which a pull brings these files.
fn pulled(before: &[(&str, &str)], after: &[(&str, &str)]) -> Foreign {
    let foreign = Foreign::new(before);
    let (code, out, errors) = foreign.run(&["trust", "--yes"]);
    assert_eq!(code, 0, "{out}{errors}");
    assert_eq!(foreign.run(&["trust"]).0, 0, "there is nothing to decide");
    for (path, text) in after {
        write(foreign.path(), path, text);
    }
    foreign
}

fn an_agent_that_a_pull_lets_reach_outside_asks_until_it_is_seen() {
    // By default, the mode is the one that asks least, so it widens to remove a mode, too.
    let safe = "---\ntools: [execute_command]\nsafety_mode: safe\n---\nYou lead.\n";
    for pulled_text in [
        "---\ntools: [execute_command]\nsafety_mode: auto\n---\nYou lead.\n",
        "---\ntools: [execute_command]\n---\nYou lead.\n",
    ] {
        let before = [RULES, ("script.yaml", RUNS_A_COMMAND), ("agents/lead.md", safe)];
        let foreign = pulled(&before, &[("agents/lead.md", pulled_text)]);
        let (code, out, _) = foreign.run(&["trust"]);
        assert!(code == 4 && out.contains("agents/lead.md") && out.contains("auto: execute_command"), "{out}");
        assert!(!out.contains("echo: true"), "only the difference: {out}");
        let (code, _, errors) = foreign.run(&GIVEN);
        assert!(code == 4 && errors.contains("have not seen yet"), "{code}: {errors}");
        assert_eq!(foreign.run(&["trust", "--yes"]).0, 0);
        let (code, _, errors) = foreign.run(&[&GIVEN[..], &["--fresh"]].concat());
        assert!(!errors.contains("have not seen yet"), "{code}: {errors}");
    }
}

const DOCUMENT: &str = "---\nid: lead\n---\n\n# Lead\n\nYou lead.\n";

/// A workspace that the person trusts, in which the lead has a folder.
fn trusted_with_a_folder() -> Foreign {
    let foreign = Foreign::new(&[("agents/lead/agent.mdx", DOCUMENT)]);
    fs::remove_file(foreign.path().join("agents/lead.md")).unwrap();
    let (code, out, errors) = foreign.run(&["trust", "--yes"]);
    assert_eq!(code, 0, "{out}{errors}");
    foreign
}

fn code_that_a_pull_brings_runs_only_once_it_is_seen() {
    let path = "agents/lead/modules/clock.ts";
    let module = |says: &str| {
        format!(
            "export default {{\n  describe: () => ({{ name: 'clock', description: '' }}),\n  tools: () => [],\n  \
             systemPrompt: () => '',\n  async initialize(ctx: any) {{ await ctx.log('{says}'); }},\n  \
             async start() {{}},\n  async stop() {{}},\n}};\n"
        )
    };
    let logged = |events: &[Value]| -> Vec<String> {
        let lines = events.iter().filter(|event| event["type"] == "module_log");
        lines.map(|line| line["data"]["text"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let foreign = trusted_with_a_folder();
    // The work itself asks for nothing, so that it is over at the end of each run.
    write(foreign.path(), "script.yaml", "default: [ { text: Fine. } ]\n");
    write(foreign.path(), path, &module("one"));
    let (code, out, _) = foreign.run(&["trust"]);
    assert!(code == 4 && out.contains(path) && out.contains("SHA-256"), "{out}");
    let (_, events, errors) = foreign.events(&GIVEN);
    assert_eq!((count(&events, "activation"), logged(&events)), (1, Vec::new()), "{errors}");
    assert!(errors.contains(path) && errors.contains("workshop trust"), "the room says what waits: {errors}");
    assert_eq!(foreign.run(&["trust", "--yes"]).0, 0);
    // Modules are started beside the room, which leaves them the time.
    let in_time = ["run", "--for", "2m", "--speed", "16", "--provider", "scripted:script.yaml"];
    assert_eq!(logged(&foreign.events(&in_time).1), ["one"]);
    // Other code waits again.
    write(foreign.path(), path, &module("two"));
    assert_eq!(foreign.run(&["trust"]).0, 4);
    assert_eq!(logged(&foreign.events(&in_time).1), [""; 0]);
}

fn heartbeats_and_triggers_that_a_pull_brings_wait_and_tasks_do_not() {
    let heartbeat = ("agents/lead/heartbeat.md", "## Schedule\n\n- @every: 1s\n\n## On Wake\n\n- Look around\n");
    let workflow = (
        "workflows/tea.md",
        "---\nname: Tea\ntrigger: auto\nsteps:\n  - id: a\n    agent: lead\n    prompt: Make tea.\n---\n",
    );
    let foreign = trusted_with_a_folder();
    for (path, text) in [heartbeat, workflow] {
        write(foreign.path(), path, text);
    }
    let (code, out, _) = foreign.run(&["trust"]);
    for part in [heartbeat.0, "every 1s", workflow.0, "auto"] {
        assert!(out.contains(part), "{part} in {out}");
    }
    assert_eq!(code, 4);
    let (_, events, errors) = foreign.events(&RUN);
    assert_eq!(count(&events, "activation"), 0, "{events:#?}");
    assert!(errors.contains("does not start by itself"), "{errors}");
    // What a person pulled as a task starts as usual.
    write(foreign.path(), TASK.0, TASK.1);
    let (_, events, errors) = foreign.events(&RUN);
    assert_eq!(count(&events, "activation"), 1, "{errors}");
    assert_eq!(foreign.run(&["trust", "--yes"]).0, 0);
    let (_, events, errors) = foreign.events(&RUN);
    assert!(count(&events, "activation") > 0, "they start now: {errors}");
}

fn other_words_of_what_is_trusted_are_no_news() {
    let heartbeat = "## Schedule\n\n- @every: 15m\n\n## On Wake\n\n- Look around\n";
    let lead = "---\ntools: [execute_command]\n---\nYou lead.\n";
    let before = [("agents/lead.md", lead), ("agents/ada/heartbeat.md", heartbeat)];
    let after = [
        ("agents/lead.md", "---\ntools: [execute_command, vfs_read]\n---\nYou lead well.\n"),
        ("agents/ada/heartbeat.md", "## Schedule\n\n- @every: 15m\n\n## On Wake\n\n- Look twice\n"),
        ("agents/new.md", "You help.\n"),
        TASK,
    ];
    let foreign = pulled(&before, &after);
    let (code, out, _) = foreign.run(&["trust"]);
    assert_eq!(code, 0, "ordinary changes ask nothing: {out}");
}

const STARTS_A_HELPER: &str = "agents:\n  lead:\n    - tools: [ { name: spawn_agent, arguments: { filename: helper, content: 'You help.', task: Go } } ]\n    - text: Done.\ndefault: [ { text: Fine. } ]\n";
const LEADS_HELPERS: &str = "---\ntools: [spawn_agent, signal_parent, execute_command]\n---\nYou lead.\n";

fn an_agent_that_a_seen_one_starts_is_no_news() {
    let foreign = pulled(&[("script.yaml", STARTS_A_HELPER), ("agents/lead.md", LEADS_HELPERS)], &[]);
    let (_, _, errors) = foreign.run(&GIVEN);
    let text = fs::read_to_string(foreign.path().join("agents/helper.md")).unwrap_or_default();
    assert!(text.contains("execute_command"), "it inherits what its starter may do: {text}{errors}");
    let (code, out, _) = foreign.run(&["trust"]);
    assert_eq!(code, 0, "an agent cannot give another one more than it has: {out}");
}

fn an_agent_that_one_starts_which_was_not_seen_waits_too() {
    let foreign = pulled(&[("script.yaml", STARTS_A_HELPER)], &[("agents/lead.md", LEADS_HELPERS)]);
    foreign.run(&GIVEN);
    assert!(foreign.path().join("agents/helper.md").exists());
    let (code, out, _) = foreign.run(&["trust"]);
    assert!(code == 4 && out.contains("agents/lead.md") && out.contains("agents/helper.md"), "{out}");
}

fn what_is_allowed_for_always_in_a_room_is_trusted_in_the_next_one() {
    let safe = "---\nname: Lead\nsafety_mode: safe\nbehaviour: stationary\n---\nYou lead.\n";
    let foreign = pulled(&[("agents/lead.md", safe)], &[]);
    let (code, _, errors) = foreign.run(&GIVEN);
    assert_eq!(code, 4, "{errors}");
    let (_, out, _) = foreign.run(&["approvals", "list", "--json"]);
    let listed: Value = serde_json::from_str(&out).unwrap();
    let id = listed["approvals"][0]["id"].as_str().unwrap_or_default().to_owned();
    assert_eq!(foreign.run(&["approvals", "allow", &id, "--always"]).0, 0, "{out}");
    let goes_on = ["run", "--until", "idle", "--speed", "max", "--provider", "scripted:script.yaml"];
    let (code, _, errors) = foreign.run(&goes_on);
    assert!(code == 0 && foreign.made(), "{code}: {errors}");
    let settings = fs::read_to_string(foreign.path().join("settings.yaml")).unwrap();
    assert!(settings.contains("vfs_write(artifacts/made.md)"), "{settings}");
    let (code, out, _) = foreign.run(&["trust"]);
    assert_eq!(code, 0, "what the person allowed is trusted: {out}");
    fs::remove_file(foreign.path().join("artifacts/made.md")).unwrap();
    let (code, _, errors) = foreign.run(&GIVEN);
    assert!(code == 0 && foreign.made(), "it is not asked again: {code}: {errors}");
}

fn what_the_import_command_brings_waits() {
    let elsewhere = tempfile::tempdir().unwrap();
    let zoe = "---\nname: zoe\ndescription: Helps\ntools: [execute_command]\nmodel: acp:claude\n---\nYou help.\n";
    write(elsewhere.path(), "zoe.md", zoe);
    write(elsewhere.path(), "kit/agent.mdx", "---\nid: kit\n---\n\n# Kit\n");
    write(elsewhere.path(), "kit/heartbeat.md", "## Schedule\n\n- @every: 1s\n\n## On Wake\n\n- Look around\n");
    write(elsewhere.path(), "kit/modules/clock.ts", "export default {};\n");
    let foreign = pulled(&[], &[]);
    let paths = ["zoe.md", "kit"].map(|name| elsewhere.path().join(name).display().to_string());
    let (code, out, errors) = foreign.run(&["import", &paths[0], &paths[1], "--yes"]);
    assert_eq!(code, 0, "{out}{errors}");
    assert!(errors.contains("agents/zoe.md") && errors.contains("workshop trust"), "it is said: {errors}");
    let (code, out, _) = foreign.run(&["trust"]);
    assert_eq!(code, 4, "{out}");
    for part in ["agents/zoe.md", "acp:claude", "agents/kit/heartbeat.md", "agents/kit/modules/clock.ts"] {
        assert!(out.contains(part), "{part} in {out}");
    }
    let (_, events, errors) = foreign.events(&RUN);
    assert_eq!(count(&events, "activation"), 0, "{events:#?}");
    assert!(errors.contains("does not start by itself"), "{errors}");
    assert_eq!(foreign.run(&["trust", "--yes"]).0, 0);
    let plain = elsewhere.path().join("plain.md");
    write(elsewhere.path(), "plain.md", "---\nname: plain\ndescription: Helps\n---\nYou help.\n");
    let (code, _, errors) = foreign.run(&["import", &plain.display().to_string(), "--yes"]);
    assert!(code == 0 && !errors.contains("workshop trust"), "it wants nothing: {errors}");
}

fn an_alias_of_a_coding_agent_is_shown_and_held_as_what_it_stands_for() {
    let settings =
        ("settings.yaml", "gateway: { provider: 'scripted:script.yaml', models: { coder: 'acp:claude' } }\n");
    let of_agent = ("agents/lead.md", "---\nmodel: Coder\n---\nYou lead.\n");
    let of_step = (
        "workflows/tea.md",
        "---\nname: Tea\nsteps:\n  - id: a\n    agent: lead\n    model: coder\n    prompt: Make tea.\n---\n",
    );
    for file in [of_agent, of_step] {
        let foreign = pulled(&[settings], &[file]);
        let (code, out, _) = foreign.run(&["trust"]);
        assert!(code == 4 && out.contains("model: acp:claude"), "{out}");
        let (_, events, errors) =
            foreign.events(&["run", "--agent", "lead", "--task", "Go", "--until", "idle", "--speed", "max"]);
        assert!(errors.contains("acp:claude is not used until you trust it"), "{errors}");
        let providers: Vec<&Value> = events
            .iter()
            .filter(|event| event["type"] == "model_call")
            .map(|event| &event["data"]["provider"])
            .collect();
        assert!(!providers.is_empty() && providers.iter().all(|provider| **provider == "scripted"), "{providers:?}");
        assert_eq!(foreign.run(&["trust", "--yes"]).0, 0);
        assert_eq!(foreign.run(&["trust"]).0, 0, "there is nothing left to decide");
    }
}
