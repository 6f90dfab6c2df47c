//! Tools in a room on disk: starting existing agents, appending to and renaming files, and reading large files in
//! parts.

use agent_workshop::kernel::Kernel;
use libtest_mimic::Trial;

use crate::cases;
use crate::working::Studio;

pub fn trials() -> Vec<Trial> {
    cases![
        an_existing_agent_is_started_by_name_with_no_more_rights_than_its_starter,
        starting_an_unknown_agent_lists_the_available_ones,
        appending_and_renaming_respect_the_agents_rights,
        a_large_file_is_read_in_parts_and_searches_report_skipping_it,
    ]
}

fn call(name: &str, arguments: &str) -> String {
    format!("{{ name: {name}, arguments: {{ {arguments} }} }}")
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n  - { id: helper-1, profile: helper, position: [90, 0], behaviour: stationary }\n";
const HELPER: &str = "---\nname: Helper\n---\nYou help.\n";
const MEEK: &str = "---\nid: lead\ntools: [vfs_read, spawn_agent]\nwrites: [\"artifacts/**\"]\n---\nYou lead.\n";

fn an_existing_agent_is_started_by_name_with_no_more_rights_than_its_starter() {
    for name in ["helper-1", "helper", "helper.md", "agents/helper.md"] {
        let write = call("vfs_write", "path: artifacts/a.md, content: x");
        let script = format!(
            "latency: 0.1\nagents:\n  lead:\n    - tools: [ {} ]\n    - text: I wait.\n    - text: Done.\n  helper:\n    - tools: [ {write} ]\n    - text: I may not.\ndefault: [ {{ text: Noted. }} ]\n",
            call("spawn_agent", &format!("filename: {name}, task: Write it."))
        );
        let mut studio = Studio::new(
            &script,
            &[("scenes/test.yaml", SCENE), ("agents/helper.md", HELPER), ("agents/lead.md", MEEK)],
        );
        studio.task("lead", "Let it be written.");
        studio.idle();
        let spawned = studio.all("spawn");
        assert_eq!(spawned.len(), 1, "{name}: {:#?}", studio.log());
        assert_eq!(spawned[0]["data"]["child"], "helper-1", "{name}: the agent in the room does it");
        let results = studio.results();
        assert!(results[0].starts_with("Activated 'helper.md' (depth 1/5)."), "{name}: {results:#?}");
        assert!(results[1].contains("you do not have the tool 'vfs_write'"), "{name}: {results:#?}");
        assert!(!studio.exists("artifacts/a.md"));
        assert_eq!(studio.read("agents/helper.md"), HELPER);
        let is_signalled = studio.all("signal").iter().any(|event| event["data"]["message"] == "finished: I may not.");
        assert!(is_signalled, "{name}: {:#?}", studio.log());
    }
}

fn starting_an_unknown_agent_lists_the_available_ones() {
    let script = format!(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ {}, {} ]\n    - text: Done.\n",
        call("spawn_agent", "filename: halper, task: Go."),
        call("spawn_agent", "filename: lead, task: Go."),
    );
    let mut studio = Studio::new(&script, &[("agents/helper.md", HELPER)]);
    studio.task("lead", "Try.");
    studio.idle();
    let results = studio.results();
    assert!(results[0].starts_with("Error: there is no agent 'halper'. Available agents: ['helper'"), "{results:#?}");
    assert!(results[1].contains("'lead' is you"), "{results:#?}");
    assert!(studio.all("spawn").is_empty() && studio.all("approval_requested").is_empty());
}

fn appending_and_renaming_respect_the_agents_rights() {
    let lead = "---\nid: lead\nreads: [\"artifacts/**\", \"memory/**\"]\nwrites: [\"artifacts/**\"]\n---\nYou lead.\n";
    let calls = [
        call("vfs_append", "path: artifacts/log.md, text: \"one\\n\""),
        call("vfs_append", "path: artifacts/log.md, text: \"two\\n\""),
        call("vfs_rename", "from: artifacts/log.md, to: artifacts/done/log.md"),
        call("vfs_append", "path: memory/a.md, text: x"),
        call("vfs_rename", "from: memory/a.md, to: artifacts/a.md"),
        call("vfs_rename", "from: artifacts/done/log.md, to: memory/log.md"),
        call("vfs_append", "path: agents/lead.md, text: \"---\\nwrites: ['**']\\n---\\n\""),
        call("vfs_append", "path: settings.yaml, text: \"gate: {}\\n\""),
    ];
    let script = format!("latency: 0.1\nagents:\n  lead:\n    - tools: [ {} ]\n    - text: Done.\n", calls.join(", "));
    let mut studio = Studio::new(&script, &[("agents/lead.md", lead), ("memory/a.md", "mine\n")]);
    studio.task("lead", "Try.");
    studio.idle();
    let results = studio.results();
    assert_eq!(results[0], "Appended to 'artifacts/log.md' (4 chars now)");
    assert_eq!(results[1], "Appended to 'artifacts/log.md' (8 chars now)");
    assert_eq!(results[2], "Renamed 'artifacts/log.md' to 'artifacts/done/log.md'");
    assert_eq!(studio.read("artifacts/done/log.md"), "one\ntwo\n");
    assert!(results[3..].iter().all(|result| result.starts_with("Error: not allowed")), "{results:#?}");
    assert_eq!((studio.read("memory/a.md").as_str(), studio.read("agents/lead.md").as_str()), ("mine\n", lead));
    assert!(studio.world().resource::<Kernel>().is_idle(), "no approval is requested for forbidden calls");
    let changes = studio.all("file_change").len();
    assert_eq!(changes, 3, "every change is logged: {:#?}", studio.all("file_change"));
}

fn a_large_file_is_read_in_parts_and_searches_report_skipping_it() {
    let text: String = (1..=3_000).map(|number| format!("the needle of line {number}\n")).collect();
    let calls = [
        call("vfs_read", "path: artifacts/large.txt"),
        call("vfs_read", "path: artifacts/large.txt, from_line: 2999"),
        call("vfs_read", "path: artifacts/large.txt, offset: 5, limit: 1"),
        call("vfs_search", "text: needle"),
    ];
    let script = format!("latency: 0.1\nagents:\n  lead:\n    - tools: [ {} ]\n    - text: Done.\n", calls.join(", "));
    let settings = ("settings.yaml", "files: { max_file_mib: 0.015625 }\n");
    let mut studio = Studio::new(&script, &[settings, ("artifacts/large.txt", &text)]);
    studio.task("lead", "Look.");
    studio.idle();
    let results = studio.results();
    assert!(results[0].starts_with("the needle of line 1\n"), "{}", results[0]);
    // The log contains only the beginning of a long result; the session contains all that the model read.
    for _ in 0..3 {
        studio.tick();
    }
    let sessions = std::fs::read_dir(studio.folder.path().join("sessions")).unwrap();
    let session_texts: String = sessions.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    assert_eq!(
        session_texts.matches("continue with from_line ").count(),
        2,
        "in the first and the third result: {session_texts}"
    );
    assert_eq!(results[1], "the needle of line 2999\nthe needle of line 3000\n");
    assert!(
        results[2].starts_with("the needle of line 5\n[… a large file; continue with from_line 6]"),
        "{}",
        results[2]
    );
    let expected = "Nothing found for 'needle'\n[not searched: 1 files (1 too large; read in parts with from_line): \
                ['artifacts/large.txt']]";
    assert_eq!(results[3], expected);
}
