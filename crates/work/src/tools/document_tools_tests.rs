//! Tools of documents: who has them, and the results of their calls.

use std::time::{Duration, Instant};

use bevy::app::App;
use bevy::ecs::message::Messages;
use bevy::ecs::system::SystemId;
use serde_json::json;

use super::super::executor::ToolOutside;
use super::super::{CallAnswer, Caller, OrderOutcome, Work, builtin};
use super::*;
use crate::base::{ActivationKey, RunTag, Seq};
use crate::gate::{Authority, Bounds};
use crate::mind::ToolCall as ModelCall;
use crate::schedule::outside::{OutsideExt, execute};
use crate::schedule::{self, InputJournal, InputQueue};
use crate::workspace::files::FileContent;
use crate::workspace::vfs::FileRights;

const DOCUMENT: &str = "# Agent: Ada\n\n## Purpose\n\nP\n\n<Tool name=\"add\" description=\"Adds\">\n  <Param name=\"a\" type=\"number\" />\n  <Param name=\"b\" type=\"number\" required=\"false\" />\n\n```ts\nasync function execute(params: { a: number; b?: number }, ctx: any) {\n  if (params.a < 0) throw new RangeError('too small');\n  if (params.a > 100) return await ctx.readFile('x');\n  return params.a + (params.b ?? 1);\n}\n```\n</Tool>\n";

/// A world with the systems of document tools alone.
struct DocumentRoom {
    world: World,
    register: SystemId,
    execute_orders: SystemId,
}

impl DocumentRoom {
    fn new(files: &[(&str, &str)]) -> Self {
        let mut app = App::new();
        app.add_plugins(schedule::plugin).add_outside(ToolOutside(DocumentCalls::default()));
        let mut world = std::mem::take(app.world_mut());
        world.init_resource::<Messages<ProfileChanged>>();
        world.init_resource::<Messages<ProblemReport>>();
        world.init_resource::<Messages<CallAnswered>>();
        world.init_resource::<PendingToolOrders>();
        world.init_resource::<ReadCode>();
        world.init_resource::<DocumentSettings>();
        world.insert_resource(builtin().clone());
        let execute_orders = world.register_system(execute::<ToolOutside<DocumentCalls>>);
        let register = world.register_system(register);
        let mut room = Self { world, register, execute_orders };
        room.files(files);
        room
    }

    /// Sets the files of the workspace.
    fn files(&mut self, files: &[(&str, &str)]) {
        let texts: Vec<(&str, FileContent)> =
            files.iter().map(|(path, text)| (*path, FileContent::Text((*text).to_owned()))).collect();
        self.world.insert_resource(Profiles::of_files(texts.iter().map(|(path, text)| (*path, text))));
        self.world.write_message(ProfileChanged { profile: "ada".into() });
        self.world.run_system(self.register).unwrap();
    }

    fn problems(&self) -> Vec<String> {
        let reports = self.world.resource::<Messages<ProblemReport>>();
        let mut cursor = reports.get_cursor();
        cursor.read(reports).flat_map(|report| report.problems.iter().map(|problem| problem.what.clone())).collect()
    }

    fn bounds(&self, profile: &str) -> Bounds {
        let (profiles, tools) = (self.world.resource::<Profiles>(), self.world.resource::<Tools>());
        let profile = profiles.get(profile).unwrap();
        let path = profiles.path(&profile.id).unwrap();
        Authority::chain(tools.authority(path, profile).0, [])
    }

    fn plan(&self, profile: &str, arguments: Value) -> Result<super::super::ToolPlan, String> {
        let caller = Caller { profile, session: ActivationKey::numbered(1) };
        let call = ModelCall::new("1", "add", arguments);
        self.world.resource::<Tools>().parse(&call, caller, &self.bounds(profile))
    }

    /// Executes a call of the agent Ada to its end.
    fn call(&mut self, arguments: Value) -> OrderReport {
        let plan = self.plan("ada", arguments.clone()).unwrap();
        let call = ModelCall::new("1", "add", arguments);
        let key = OrderKey::new(RunTag::default(), (ActivationKey::numbered(1), 1, 0), &call);
        let order = ToolOrder {
            key,
            agent: "ada".into(),
            profile: "ada".into(),
            plan,
            rights: FileRights::default(),
            cause: Seq(1),
            worktree: None,
        };
        let orders = serde_json::from_value(serde_json::to_value([order]).unwrap()).unwrap();
        self.world.insert_resource::<PendingToolOrders>(orders);
        self.next_news()
    }

    /// The next event of a call.
    fn next_news(&mut self) -> OrderReport {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(20) {
            self.world.run_system(self.execute_orders).unwrap();
            let said =
                self.world.resource::<InputQueue<OrderOutcome>>().waiting().next().map(|outcome| outcome.news.clone());
            if let Some(news) = said {
                self.world.insert_resource(InputQueue::<OrderOutcome>::default());
                if news.is_final() {
                    self.world.insert_resource(PendingToolOrders::default());
                    // In the next tick, the order is over.
                    self.world.run_system(self.execute_orders).unwrap();
                }
                return news;
            }
            std::thread::yield_now();
        }
        panic!("the call never ended");
    }

    /// Sends the running code the result of a call that it requested.
    fn answer(&mut self, number: u64, answer: CallAnswer) {
        let orders = self.world.resource::<PendingToolOrders>();
        let key = orders.of(DOCUMENT_TOOLS).next().expect("one is under way").key;
        self.world.write_message(CallAnswered { key, number, answer });
    }
}

#[test]
fn a_tool_is_available_only_to_the_agent_of_its_document() {
    let room = DocumentRoom::new(&[("agents/ada/agent.mdx", DOCUMENT), ("agents/bram.md", "You are Bram.")]);
    let plan = room.plan("ada", json!({ "a": 1 })).unwrap();
    assert_eq!((&*plan.executor, plan.touches[0].kind.as_str()), (DOCUMENT_TOOLS, "tool.run"));
    let refused = room.plan("bram", json!({ "a": 1 })).unwrap_err();
    assert!(refused.contains("there is no tool 'add'"), "{refused}");
    let caller = Caller { profile: "ada", session: ActivationKey::numbered(1) };
    let told = room.world.resource::<Tools>().declarations(caller, &room.bounds("ada"));
    let add = told.iter().find(|tool| tool.name == "add").expect("it is offered");
    assert_eq!((&*add.description, &add.parameters["required"]), ("Adds", &json!(["a"])));
}

#[test]
fn invalid_arguments_are_refused_before_code_runs() {
    let room = DocumentRoom::new(&[("agents/ada/agent.mdx", DOCUMENT)]);
    for arguments in [json!({}), json!({ "a": "one" }), json!({ "a": 1, "c": 2 })] {
        assert!(room.plan("ada", arguments.clone()).is_err(), "{arguments}");
    }
    assert!(room.plan("ada", json!({ "a": 1, "b": null })).is_ok(), "what need not be given may be null");
}

#[test]
fn tools_are_added_changed_and_removed_with_their_document() {
    let mut room = DocumentRoom::new(&[("agents/ada/agent.mdx", DOCUMENT)]);
    assert_eq!(room.problems(), [] as [&str; 0]);
    room.files(&[("agents/ada/agent.mdx", &DOCUMENT.replace("Adds", "Sums"))]);
    let tools = room.world.resource::<Tools>();
    assert_eq!(
        tools.iter().filter(|tool| tool.name == "add").map(|tool| &*tool.description).collect::<Vec<_>>(),
        ["Sums"]
    );
    room.files(&[("agents/ada/agent.mdx", "# Agent: Ada\n")]);
    assert!(room.world.resource::<Tools>().iter().all(|tool| tool.name != "add"));
}

#[test]
fn a_tool_whose_name_is_taken_is_reported_and_the_others_are_added() {
    let taken = DOCUMENT.replace("name=\"add\"", "name=\"vfs_read\"");
    let room = DocumentRoom::new(&[(
        "agents/ada/agent.mdx",
        &format!("{taken}\n{}", &DOCUMENT[DOCUMENT.find("<Tool").unwrap()..]),
    )]);
    assert_eq!(room.problems(), ["there is already a tool \"vfs_read\""]);
    assert!(room.plan("ada", json!({ "a": 1 })).is_ok());
}

#[test]
fn a_call_runs_and_its_result_enters_as_an_input() {
    let mut room = DocumentRoom::new(&[("agents/ada/agent.mdx", DOCUMENT)]);
    for (arguments, text) in [(json!({ "a": 1 }), "2"), (json!({ "a": 1, "b": 5 }), "6")] {
        let OrderReport::Done { output } = room.call(arguments) else { panic!("it was not done") };
        assert_eq!(output.text, text);
    }
    let OrderReport::Failed { why } = room.call(json!({ "a": -1 })) else { panic!("it was done") };
    assert!(why.starts_with("RangeError: too small\n    at execute (agents/ada/agent.mdx:13:"), "{why}");
}

#[test]
fn requests_of_code_become_calls_of_its_agent() {
    let mut room = DocumentRoom::new(&[("agents/ada/agent.mdx", DOCUMENT)]);
    let ask = |room: &mut DocumentRoom| {
        let news = room.call(json!({ "a": 101 }));
        let OrderReport::Calls { number, call } = news else { panic!("{news:?}") };
        assert_eq!((&*call.name, &call.arguments), ("read_text", &json!({ "path": "agents/ada/x" })));
        number
    };
    let number = ask(&mut room);
    room.answer(number, CallAnswer::Done("{\"content\":\"what stands there\"}".into()));
    let OrderReport::Done { output } = room.next_news() else { panic!("it was not done") };
    assert_eq!(output.text, "what stands there");
    let number = ask(&mut room);
    room.answer(number, CallAnswer::NotDone("Error: not allowed: secret.".into()));
    let OrderReport::Failed { why } = room.next_news() else { panic!("it was done") };
    assert!(why.contains("not allowed: secret"), "{why}");
}

#[test]
fn a_document_has_the_tools_of_its_format_and_a_shell_if_it_requests_one() {
    let room = DocumentRoom::new(&[("agents/ada/agent.mdx", DOCUMENT), ("agents/bram.md", "You are Bram.")]);
    let told = |room: &DocumentRoom, profile: &str| {
        let caller = Caller { profile, session: ActivationKey::numbered(1) };
        let told = room.world.resource::<Tools>().declarations(caller, &room.bounds(profile));
        told.into_iter().map(|tool| tool.name).collect::<Vec<_>>()
    };
    let (ada, bram) = (told(&room, "ada"), told(&room, "bram"));
    assert!(ada.contains(&"read_file".into()) && ada.contains(&"write_file".into()) && !ada.contains(&"bash".into()));
    assert!(bram.contains(&"vfs_read".into()) && !bram.contains(&"read_file".into()));
    let listed = format!("---\ntools: [read_file, bash]\n---\n{DOCUMENT}");
    let room = DocumentRoom::new(&[("agents/ada/agent.mdx", &listed)]);
    assert_eq!(told(&room, "ada"), ["read_file", "bash", "add"]);
    let caller = Caller { profile: "ada", session: ActivationKey::numbered(1) };
    let plan = |name: &str, arguments: Value| {
        let call = ModelCall::new("1", name, arguments);
        room.world.resource::<Tools>().parse(&call, caller, &room.bounds("ada")).unwrap()
    };
    assert_eq!(plan("read_file", json!({ "path": "state/now.md" })).doing.target, "agents/ada/state/now.md");
    let run = plan("bash", json!({ "command": "ls -l" }));
    let Work::Order { order } = &run.work else { panic!("{run:?}") };
    assert_eq!((&order["cwd"], &order["timeout_secs"]), (&json!("agents/ada"), &json!(30)));
}

#[test]
fn a_replay_runs_nothing() {
    checks_rule!("a-replay-runs-no-code");
    let mut room = DocumentRoom::new(&[("agents/ada/agent.mdx", DOCUMENT)]);
    room.world.resource_mut::<InputJournal>().replay([]);
    let plan = room.plan("ada", json!({ "a": 1 })).unwrap();
    let key =
        OrderKey::new(RunTag::default(), (ActivationKey::numbered(1), 1, 0), &ModelCall::new("1", "add", json!({})));
    let (agent, profile, rights) = ("ada".into(), "ada".into(), FileRights::default());
    let order = ToolOrder { key, agent, profile, plan, rights, cause: Seq(1), worktree: None };
    let orders = serde_json::from_value(serde_json::to_value([order]).unwrap()).unwrap();
    room.world.insert_resource::<PendingToolOrders>(orders);
    for _ in 0..20 {
        room.world.run_system(room.execute_orders).unwrap();
        std::thread::yield_now();
    }
    assert!(room.world.resource::<InputQueue<OrderOutcome>>().is_empty());
}
