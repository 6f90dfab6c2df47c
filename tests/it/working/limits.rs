//! Caps on model usage: each stops or delays only the work that it applies to.

use agent_workshop::kernel::Kernel;
use agent_workshop::schedule::InputQueue;
use agent_workshop::workspace::FileChanged;
use agent_workshop::workspace::files::FileContent;
use libtest_mimic::Trial;

use crate::cases;
use crate::working::{Studio, spawn};
use crate::workshop::script_file;

pub fn trials() -> Vec<Trial> {
    cases![
        a_cap_per_activation_or_agent_ends_only_that_work,
        an_hourly_cap_delays_work_until_it_is_raised,
        a_run_that_a_cap_ends_exits_with_3_and_names_the_cap_and_a_remedy,
    ]
}

/// Starts an agent with two children: one calls its model five times, the other twice.
fn parent_with_two_children(budget: &str) -> Studio {
    let list = |prefix: &str| format!("{{ tools: [ {{ name: vfs_list, arguments: {{ prefix: {prefix} }} }} ] }}");
    let script = format!(
        "latency: 0.1\nagents:\n  lead: [ {{ tools: [ {}, {} ] }}, {{ text: I wait. }} ]\n  greedy: [ {}, {}, {}, {}, {{ text: Greedy is done. }} ]\n  modest: [ {}, {{ text: Modest is done. }} ]\ndefault: [ {{ text: Noted. }} ]\n",
        spawn("greedy"),
        spawn("modest"),
        list("a"),
        list("b"),
        list("c"),
        list("d"),
        list("e"),
    );
    let settings = format!("budget: {{ {budget} }}\n");
    let mut studio = Studio::new(&script, &[("settings.yaml", &settings)]);
    studio.task("lead", "Start them.");
    studio
}

fn a_cap_per_activation_or_agent_ends_only_that_work() {
    for (name, budget) in
        [("calls_per_activation", "calls_per_activation: 3"), ("calls_per_agent_per_run", "calls_per_agent_per_run: 4")]
    {
        let mut studio = parent_with_two_children(budget);
        studio.idle();
        let limit = budget.rsplit(' ').next().unwrap();
        let stopped = studio.all("abort");
        assert!(stopped.iter().all(|event| event["data"]["by_person"] == false), "{name}");
        let greedy = stopped.iter().find(|event| event["agent"] == "greedy").unwrap_or_else(|| panic!("{name}"));
        let what = greedy["data"]["what"].as_str().unwrap();
        assert!(what.contains(name) && what.contains(&format!("{limit} calls")) && what.contains("raise"), "{what}");
        let done = studio.all("complete").iter().any(|event| event["data"]["text"] == "Modest is done.");
        assert!(done, "{name}: {:#?}", studio.log());
        let is_signalled = studio
            .all("signal")
            .iter()
            .any(|event| event["agent"] == "greedy" && event["data"]["message"].to_string().contains("was stopped: "));
        assert!(is_signalled, "{name}: its starter is informed");
        assert_eq!(studio.world().resource::<Kernel>().stopped_by(), None, "{name}");
        for _ in 0..3 {
            studio.tick();
        }
        let sessions = std::fs::read_dir(studio.folder.path().join("sessions")).unwrap();
        let texts = sessions.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
        let limited = texts.filter(|text| text.contains("agent_id: greedy") && text.contains("work: limited")).count();
        assert_eq!(limited, 1, "{name}");
    }
}

fn an_hourly_cap_delays_work_until_it_is_raised() {
    for name in ["calls_per_hour", "calls_per_agent_per_hour"] {
        let mut studio = parent_with_two_children(&format!("{name}: 3"));
        studio.until("the cap was reached", |studio| {
            studio.all("warning").iter().any(|event| event["data"]["what"].to_string().contains("continues by itself"))
        });
        let run = studio.world().resource::<Kernel>().activations().next().expect("work is waiting").thread;
        let run = studio.world().resource::<Kernel>().thread(run).expect("the thread exists").root;
        studio
            .until("everything waits", |studio| studio.world().resource::<Kernel>().waits_for_cap(Some(run)).is_some());
        let why = studio.world().resource::<Kernel>().waits_for_cap(Some(run)).unwrap().to_owned();
        assert!(why.contains(name) && why.contains("minutes"), "{why}");
        assert_eq!(studio.world().resource::<Kernel>().stopped_by(), None, "{name}: the room is not stopped");
        let refusals = studio.all("budget").len();
        for _ in 0..300 {
            studio.tick();
        }
        assert_eq!(studio.all("budget").len(), refusals, "{name}: no call is attempted while the cap is reached");
        let settings = FileContent::Text(format!("budget: {{ {name}: 300 }}\n"));
        let change = FileChanged::new("settings.yaml", settings);
        studio.world().resource_mut::<InputQueue<FileChanged>>().push(change);
        studio.idle();
        assert!(studio.all("abort").is_empty(), "{name}: {:#?}", studio.log());
        let done = |text: &str| studio.all("complete").iter().any(|event| event["data"]["text"] == text);
        assert!(done("Greedy is done.") && done("Modest is done."), "{name}: {:#?}", studio.log());
    }
}

fn a_run_that_a_cap_ends_exits_with_3_and_names_the_cap_and_a_remedy() {
    let list = |prefix: &str| format!("{{ tools: [ {{ name: vfs_list, arguments: {{ prefix: {prefix} }} }} ] }}");
    let calls: Vec<String> = ["a", "b", "c", "d"].into_iter().map(list).collect();
    let script = format!("agents:\n  lead: [ {}, {{ text: Done. }} ]\n", calls.join(", "));
    let provider = format!("scripted:{}", script_file(&script).display());
    for (name, remedy) in [
        ("calls_per_activation", "split the request"),
        ("calls_per_agent_per_run", "start a new run"),
        ("calls_per_agent_per_hour", "minutes"),
        ("calls_per_hour", "minutes"),
        ("calls_per_run", "start a new run"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("settings.yaml", format!("budget: {{ {name}: 2 }}\n")),
            ("scenes/test.yaml", "name: Test\nelements: []\nagents: [ { id: lead, profile: lead } ]\n".to_owned()),
            ("agents/lead.md", "You lead.\n".to_owned()),
        ];
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let arguments = ["run", ".", "--agent", "lead", "--task", "Look.", "--provider", &provider, "--speed", "max"];
        let output = crate::cli::output(folder.path(), &arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{name}: {stderr}");
        for word in [name, "2 calls", "raise budget.", remedy] {
            assert!(stderr.contains(word), "{name}: {word} in {stderr}");
        }
    }
}
