//! Definitions of MCP servers, in this program's format and in those of others.

use serde_json::json;

use super::*;

fn defined(value: Value) -> McpServer {
    let found = read(&value);
    assert_eq!(found.wrong, [], "{value}");
    found.defined().next().expect("a server is defined")
}

fn why(value: Value) -> String {
    let found = read(&json!({ "x": value }));
    assert!(found.entries.is_empty(), "{:?}", found.entries);
    format!("{} ({})", found.wrong[0].1, found.wrong[0].2)
}

#[test]
fn all_common_notations_give_the_same_server() {
    let vault = McpServer {
        name: "rag-vault".into(),
        sampling: false,
        of: None,
        transport: McpTransport::Stdio {
            command: "npx".into(),
            args: vec!["github:someone/rag-vault".into()],
            env: [("BASE_DIR".to_owned(), "./docs".to_owned())].into(),
            cwd: None,
            network: false,
        },
    };
    for shape in [
        json!([{ "name": "rag-vault", "transport": "stdio", "command": "npx github:someone/rag-vault", "env": { "BASE_DIR": "./docs" } }]),
        json!({ "rag-vault": { "command": "npx", "args": ["github:someone/rag-vault"], "env": { "BASE_DIR": "./docs" } } }),
        json!({ "rag-vault": { "type": "local", "command": ["npx", "github:someone/rag-vault"], "environment": ["BASE_DIR=./docs"] } }),
    ] {
        assert_eq!(defined(shape), vault);
    }
    let database = defined(json!([{ "name": "db", "transport": "http", "url": "http://localhost:3001" }]));
    assert_eq!(
        database.transport,
        McpTransport::Http { url: "http://localhost:3001".into(), headers: BTreeMap::new() }
    );
    assert_eq!(
        defined(json!({ "db": { "type": "sse", "url": "http://localhost:3001" } })).transport,
        McpTransport::Sse { url: "http://localhost:3001".into(), headers: BTreeMap::new() }
    );
    for spelling in ["streamable-http", "streamableHttp", "streamable_http", "remote", "HTTP"] {
        let same = defined(json!({ "db": { "type": spelling, "serverUrl": "http://localhost:3001" } }));
        assert_eq!(same, database, "{spelling}");
    }
    let header =
        defined(json!({ "db": { "url": "https://a.org/mcp", "headers_from_env": { "Authorization": "TOKEN" } } }));
    assert_eq!(header.variables().into_iter().collect::<Vec<_>>(), ["TOKEN"]);
}

#[test]
fn an_agent_may_name_a_server_defined_elsewhere() {
    let names =
        |value: Value| -> Vec<String> { read(&value).entries.iter().map(|entry| entry.name().to_owned()).collect() };
    assert_eq!(names(json!("git, time")), ["git", "time"]);
    assert_eq!(names(json!(["git", { "name": "time" }])), ["git", "time"]);
    assert_eq!(
        names(json!({ "git": null, "time": true, "off": false, "sleeps": { "command": "x", "disabled": true } })),
        ["git", "time"]
    );
    assert_eq!(names(Value::Null), [] as [String; 0]);
}

#[test]
fn errors_name_the_server_and_what_to_do() {
    assert!(why(json!({ "command": "" })).contains("has no command"));
    assert!(why(json!({ "command": "a | sh" })).contains("needs a shell"));
    assert!(why(json!({ "type": "pigeon", "command": "a" })).contains("stdio, http or sse"));
    assert!(why(json!({ "url": "file:///etc/passwd" })).contains("invalid url"));
    assert!(why(json!({ "type": "http" })).contains("has no url"));
    assert!(why(json!({ "command": "a", "args": "b" })).contains("args: [one, two]"));
    assert!(why(json!({ "command": "a", "env": { "A=B": "c" } })).contains("invalid variable"));
    assert!(why(json!({ "command": "a", "args": ["b\u{202e}c"] })).contains("invisible character"));
    assert!(why(json!({ "url": "https://a.org", "headers": { "A": "b\r\nC: d" } })).contains("invalid header"));
    for name in ["", "a b", "a:b", "a#b", "a*", "a\u{200b}b", &"x".repeat(65)] {
        let found = read(&json!([{ "name": name, "command": "a" }]));
        assert!(found.entries.is_empty() && found.wrong.len() == 1, "{name:?}");
    }
    let mistyped = read(&json!({ "x": { "command": "a", "argz": ["b"] } }));
    assert!(mistyped.entries.len() == 1 && mistyped.wrong[0].2.contains("args"), "{mistyped:?}");
    assert_eq!(read(&json!(["git", "git"])).wrong.len(), 1);
}

#[test]
fn two_servers_that_differ_in_anything_have_different_keys() {
    let server = |value: Value| defined(json!({ "x": value })).key();
    let one = server(json!({ "command": "a", "args": ["b"], "env": { "C": "d" } }));
    assert_eq!(one, server(json!({ "env": { "C": "d" }, "args": ["b"], "command": "a" })));
    for other in [
        json!({ "command": "a", "args": ["b", ""], "env": { "C": "d" } }),
        json!({ "command": "a", "args": ["b"], "env": { "C": "e" } }),
        json!({ "command": "a", "args": ["b"], "env": { "C": "d" }, "cwd": "docs" }),
        json!({ "command": "a", "args": ["b"], "env": { "C": "d" }, "network": true }),
        json!({ "url": "https://a.org" }),
    ] {
        assert_ne!(one, server(other));
    }
}

#[test]
fn the_displayed_command_line_is_complete_and_contains_no_secrets() {
    let server = defined(
        json!({ "x": { "command": "a b", "args": ["c d", "e"], "env": { "KEY": "hush", "T": "${T}" }, "network": true } }),
    );
    assert_eq!(server.shown(), "'a b' 'c d' e");
    let details = server.details();
    assert!(details.contains("KEY=(set in the file)") && details.contains("T=${T}") && details.contains("the network"));
    assert!(!details.contains("hush"));
    assert!(details.contains("what build tools compile for it") && details.contains("may change without asking"));
    let remote = defined(json!({ "x": { "url": "https://a.org" } }));
    assert!(!remote.details().contains("may change"), "it runs nothing here");
}

#[test]
fn a_server_that_may_ask_models_is_another_one_and_a_person_is_shown_that() {
    let server = |more: Value| {
        let mut keys = json!({ "command": "git-server" });
        keys.as_object_mut().expect("it is a table").extend(more.as_object().cloned().unwrap_or_default());
        defined(json!({ "git": keys }))
    };
    let (without, with) = (server(json!({})), server(json!({ "sampling": true })));
    assert!(!without.sampling && with.sampling);
    assert_eq!(without, server(json!({ "sampling": false })));
    assert_ne!(without.key(), with.key(), "what was allowed without is not allowed with it");
    assert!(!without.canonical().contains("sampling"), "what was allowed before stays allowed");
    assert!(with.details().contains("may ask your agents' models") && !without.details().contains("models"));
    assert!(!server(json!({ "sampling": { "tools": true } })).sampling, "only a plain yes is one");
}

#[test]
fn the_file_of_other_products_is_read_with_its_lines() {
    let text = "{\n  \"mcpServers\": {\n    \"git\": { \"command\": \"uvx\", \"args\": [\"mcp-server-git\"] },\n    \"bad\": { \"type\": \"http\" }\n  }\n}\n";
    let (servers, problems) = read_file(text);
    assert_eq!(servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>(), ["git"]);
    assert_eq!((problems.len(), problems[0].line, problems[0].place.as_str()), (1, Some(4), MCP_FILE));
    assert_eq!(read_file("{ \"mcpServers\": ").1[0].line, Some(1));
    assert_eq!(read_file("[]").1.len(), 1);
    assert_eq!(read_file("{ \"inputs\": [] }").1.len(), 1);
    assert_eq!(read_file("{}"), (Vec::new(), Vec::new()));
}
