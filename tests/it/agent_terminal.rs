//! A whole conversation with an agent in a real terminal, with the keys that a person presses.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::program::{workshop, write};

/// The time limit for a text to appear.
const PATIENCE: Duration = Duration::from_secs(90);

pub fn trials() -> Vec<Trial> {
    let required = std::env::var("WORKSHOP_DISPLAY").is_ok_and(|display| display == "required");
    let is_there = Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success());
    if !is_there && !required {
        eprintln!("the tests with a real terminal are ignored: missing tmux");
    }
    let is_ignored = !is_there && !required;
    let trial = |name: &str, case: fn()| {
        let case = move || {
            case();
            Ok(())
        };
        Trial::test(format!("agent_terminal::{name}"), case).with_ignored_flag(is_ignored)
    };
    vec![
        trial("a_whole_conversation", a_whole_conversation),
        trial("an_agent_wakes_up_while_a_line_is_typed", an_agent_wakes_up_while_a_line_is_typed),
        trial(
            "skills_sessions_and_models_are_selected_at_the_prompt",
            skills_sessions_and_models_are_selected_at_the_prompt,
        ),
    ]
}

const DOCUMENT: &str = r#"# Agent: Weather Man

## Purpose

Tells the weather.

<Tool name="forecast" description="What comes in a city">
  <Param name="city" description="The city" />

```ts
async function execute(params: { city: string }, ctx: any): Promise<string> {
  await ctx.log(`looking at ${params.city}`);
  return `rain in ${params.city}`;
}
```

</Tool>

<Tool name="ponder" description="Ponders and comes to no end">

```ts
async function execute(): Promise<string> {
  await new Promise((done) => setTimeout(done, 3_000_000));
  return "at last";
}
```

</Tool>
"#;
const SCRIPT: &str = r#"
latency: 0.1
agents:
  weather-man:
    - { when: { contains: "Ulm" }, tools: [ { name: forecast, arguments: { city: Ulm } } ] }
    - text: "It **rains** in Ulm."
    - { when: { contains: "Wake me" }, tools: [ { name: write_file, arguments: { path: heartbeat.md, content: "@every: 1h" } } ] }
    - text: You will be woken.
    - { when: { contains: "Ponder" }, tools: [ { name: ponder, arguments: {} } ] }
"#;

/// A terminal in which one command runs. Dropping it ends both.
struct Terminal {
    socket: String,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

impl Terminal {
    fn start(folder: &Path, command: &Command) -> Self {
        let socket = format!("workshop-{}-{}", std::process::id(), folder.file_name().unwrap().to_string_lossy());
        let terminal = Self { socket };
        let quoted = |text: &std::ffi::OsStr| format!("'{}'", text.to_string_lossy());
        let words = [command.get_program()].into_iter().chain(command.get_args()).map(quoted).collect::<Vec<_>>();
        let set = command
            .get_envs()
            .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quoted(value?))));
        let unset = command
            .get_envs()
            .filter(|(_, value)| value.is_none())
            .map(|(name, _)| format!("-u {}", name.to_string_lossy()));
        let environment: Vec<String> = unset.chain(set).collect();
        // The terminal stays open after the command has ended, so that it can be read.
        let line = format!("env {} {}; echo ended with $?; exec sleep 600", environment.join(" "), words.join(" "));
        let started = terminal
            .command(&["new-session", "-d", "-s", "talk", "-x", "110", "-y", "45", "-c"])
            .arg(folder)
            .arg(line)
            .output();
        let started = started.unwrap();
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        terminal
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-u", "-L", &self.socket, "-f", "/dev/null"]).args(arguments).env_remove("TMUX");
        command
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn type_text(&self, words: &str) {
        self.tmux(&["send-keys", "-t", "talk", "-l", words]);
    }

    fn press(&self, key: &str) {
        self.tmux(&["send-keys", "-t", "talk", key]);
    }

    fn submit(&self, words: &str) {
        self.type_text(words);
        self.press("Enter");
    }

    /// Waits until the terminal's text satisfies `is_seen`. Returns its whole content, including escape sequences.
    fn wait_for(&self, what: &str, is_seen: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let seen = self.tmux(&["capture-pane", "-p", "-e", "-t", "talk"]);
            let plain = plain(&seen);
            if is_seen(&plain) {
                return seen;
            }
            assert!(begun.elapsed() < PATIENCE, "{what} does not appear:\n{plain}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn wait_for_text(&self, what: &str) -> String {
        self.wait_for(what, |seen| seen.contains(what))
    }

    /// Waits for the prompt for the next message.
    fn wait_for_prompt(&self) {
        self.wait_for("the next line", |seen| seen.trim_end().ends_with("\n>"));
    }
}

/// Returns the text without escape sequences.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, code)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = code.split_once(|letter: char| letter.is_ascii_alphabetic()).map_or("", |(_, behind)| behind);
    }
    plain + rest
}

fn weather_folder(script: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "weather/agent.mdx", DOCUMENT);
    write(folder.path(), "script.yaml", script);
    folder
}

/// Starts a conversation with the agent in a terminal.
fn open_conversation(folder: &Path) -> Terminal {
    let mut command = workshop(folder, &["agent", "weather", "--provider", "scripted:script.yaml"]);
    command.env("TERM", "tmux-256color").env_remove("NO_COLOR");
    let terminal = Terminal::start(folder, &command);
    terminal.wait_for_text("Weather Man, session main");
    terminal.wait_for_prompt();
    terminal
}

fn a_whole_conversation() {
    let folder = weather_folder(SCRIPT);
    let terminal = open_conversation(folder.path());

    // Tab completes a command.
    terminal.type_text("/to");
    terminal.press("Tab");
    terminal.wait_for_text("> /tools");
    terminal.press("Enter");
    let tools = terminal.wait_for_text("What comes in a city");
    assert!(
        plain(&tools).contains("read_file") && !plain(&tools).contains("vfs_read"),
        "the tools have the document format's names: {tools}"
    );
    terminal.wait_for_prompt();

    // A call is shown as one line, and Markdown is rendered.
    terminal.submit("How is it in Ulm?");
    let answered = terminal.wait_for_text("It rains in Ulm.");
    assert!(plain(&answered).contains("forecast {\"city\":\"Ulm\"} → rain in Ulm"), "{answered}");
    assert!(plain(&answered).contains("forecast: looking at Ulm"), "log lines of a tool stay visible: {answered}");
    assert!(answered.contains("\u{1b}[1mrains"), "{answered:?}");
    terminal.wait_for_prompt();

    // An approval request appears in the conversation.
    terminal.submit("Wake me.");
    terminal.wait_for_text("wants to write heartbeat.md");
    terminal.wait_for_text("[s]how?");
    assert!(!folder.path().join("weather/heartbeat.md").exists());
    terminal.submit("y");
    terminal.wait_for_text("You will be woken.");
    assert_eq!(std::fs::read_to_string(folder.path().join("weather/heartbeat.md")).unwrap(), "@every: 1h");
    terminal.wait_for_prompt();

    // Ctrl-C ends the answer but not the conversation.
    terminal.submit("Ponder.");
    let log = || -> String {
        let logs = std::fs::read_dir(folder.path().join("weather/logs")).into_iter().flatten().flatten();
        logs.map(|log| std::fs::read_to_string(log.path()).unwrap_or_default()).collect()
    };
    terminal.wait_for("the call of the tool", |_| log().contains("calls ponder"));
    terminal.press("C-c");
    terminal.wait_for_text("the work was stopped");
    terminal.wait_for_prompt();
    terminal.submit("/why");
    terminal.wait_for_prompt();

    // Pressed twice, Ctrl-C ends the conversation.
    terminal.submit("/clear");
    terminal.wait_for_text("Cleared the session main.");
    terminal.wait_for_prompt();
    terminal.press("C-c");
    terminal.wait_for_text("press Ctrl-C again to exit");
    terminal.press("C-c");
    terminal.wait_for_text("ended with 0");
}

const WAKING: &str = r#"
latency: 0.1
agents:
  weather-man:
    - { when: { contains: "Your heartbeat woke you" }, tools: [ { name: write_file, arguments: { path: heartbeat.md, content: "@every: 9h" } } ] }
    - { when: { contains: "Written" }, text: "All is calm." }
    - { when: { contains: "How are you" }, text: "I am well." }
"#;

fn an_agent_wakes_up_while_a_line_is_typed() {
    let folder = weather_folder(WAKING);
    let heartbeat = "@every: 2s\n\n## On Wake\n\n- Look at the sky\n";
    write(folder.path(), "weather/heartbeat.md", heartbeat);
    let terminal = open_conversation(folder.path());

    // The agent wakes up while a line is being typed. The line stays intact, and its approval request is answered
    // afterwards.
    terminal.type_text("How are");
    terminal.wait_for_text("Weather Man woke up: Look at the sky");
    terminal.wait_for_text("press Enter to answer");
    terminal.wait_for("the unfinished line", |seen| seen.trim_end().ends_with("\n> How are"));
    terminal.submit(" you?");
    terminal.wait_for_text("[s]how?");
    assert_eq!(std::fs::read_to_string(folder.path().join("weather/heartbeat.md")).unwrap(), heartbeat);
    terminal.submit("y");
    // The answer to the person follows the work that had already started.
    let answered = plain(&terminal.wait_for_text("I am well."));
    let places: Vec<_> = ["woke up", "All is calm.", "I am well."].map(|said| answered.find(said)).into();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{answered}");
    terminal.wait_for_prompt();
    // The session contains only the conversation with the person.
    let history = std::fs::read_to_string(folder.path().join("weather/sessions/main/history.json")).unwrap();
    assert!(history.contains("I am well.") && !history.contains("All is calm."), "{history}");
    terminal.submit("/quit");
    terminal.wait_for_text("ended with 0");
}

const CHOOSING: &str = r#"
latency: 0.1
agents:
  weather-man:
    - { when: { contains: "How to read clouds" }, text: "They are white." }
    - { when: { contains: "Second" }, text: "Here, too." }
"#;

fn skills_sessions_and_models_are_selected_at_the_prompt() {
    let folder = weather_folder(CHOOSING);
    let skill = "---\nname: clouds\ndescription: Clouds\n---\n\nHow to read clouds: see {baseDir}/shapes.md.\n";
    write(folder.path(), "weather/skills/clouds/SKILL.md", skill);
    let terminal = open_conversation(folder.path());

    // Tab completes a skill, whose text becomes part of the message.
    terminal.type_text("/skill:c");
    terminal.press("Tab");
    terminal.wait_for_text("> /skill:clouds");
    terminal.submit(" over Ulm");
    terminal.wait_for_text("They are white.");
    terminal.wait_for_prompt();
    let history = || std::fs::read_to_string(folder.path().join("weather/sessions/main/history.json")).unwrap();
    assert!(history().contains("see skills/clouds/shapes.md.") && history().contains("over Ulm"), "{}", history());

    terminal.submit("/why");
    terminal.wait_for("why", |seen| seen.contains("> /why\n") && !seen.contains("No prompts yet."));
    terminal.wait_for_prompt();

    // Another session has its own messages, and all sessions are listed.
    terminal.submit("/session work");
    terminal.wait_for_text("Weather Man, session work, 0 messages");
    terminal.wait_for_prompt();
    terminal.submit("Second?");
    terminal.wait_for_text("Here, too.");
    terminal.wait_for_prompt();
    terminal.submit("/session");
    terminal.wait_for_text("work  (current)");
    terminal.wait_for_text("main");
    terminal.wait_for_prompt();

    // An unknown model is reported, and the conversation continues.
    terminal.submit("/model");
    terminal.wait_for_text("scripted");
    terminal.wait_for_prompt();
    terminal.submit("/model nobody:nothing");
    terminal.wait_for_text("error: ");
    terminal.wait_for_prompt();
    terminal.submit("/quit");
    terminal.wait_for_text("ended with 0");
}
