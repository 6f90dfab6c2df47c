//! Definitions of MCP servers: in an agent's front matter, in `settings.yaml` and in `.mcp.json`. Pure: all are read
//! into one type, and problems are reported with their place.
//!
//! A definition alone does not start a server: a person must allow its command line first.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::limits::{self, plain};
use crate::base::hash::content_hash;
use crate::base::text_normalization::is_invisible;
use crate::base::{Id, Problem, text};
use crate::text::shell_words::{join_template, split_template};
use crate::workspace::layout::MCP_FILE;

/// The keys of `.mcp.json` that contain the servers.
const FILE_KEYS: [&str; 2] = ["mcpServers", "servers"];
/// The maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 64;
/// The maximum length of a text in a definition, in characters.
const MAX_TEXT_CHARS: usize = 8 * 1024;
/// The maximum number of arguments, variables or headers.
const MAX_PARTS: usize = 256;
/// The maximum number of servers in one place; more are ignored.
pub const MAX_SERVERS: usize = 64;

/// An MCP server: its name, and how it is reached.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct McpServer {
    /// The name for people, rules and agents.
    pub name: String,
    /// Whether it may use the agent's model while it executes a call of that agent (sampling).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sampling: bool,
    /// The agent in whose file it is configured; `None` for a server of the workspace. Not part of the server's
    /// identity: two that differ only in this are the same.
    #[serde(skip)]
    pub of: Option<Id>,
    /// How it is reached.
    #[serde(flatten)]
    pub transport: McpTransport,
}

/// How an MCP server is reached. Values may contain `${NAME}` and `${NAME:-default}`: variables of the person's
/// environment, which are only inserted when the server is started.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(tag = "transport", rename_all = "snake_case")]
pub enum McpTransport {
    /// A local program that communicates over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        #[serde(default)]
        args: Vec<String>,
        /// Environment variables in addition to the few that every program gets.
        #[serde(default)]
        env: BTreeMap<String, String>,
        /// Its working directory, below the workspace; `None` for the workspace itself.
        #[serde(default)]
        cwd: Option<String>,
        /// Whether it may use the network, if that can be prevented.
        #[serde(default)]
        network: bool,
    },
    /// A server at an address, over streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers of every request.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// A server at an address, over the older HTTP with server-sent events.
    Sse {
        /// The address of the stream.
        url: String,
        /// Headers of every request.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

/// A server that an agent's file names or defines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum McpEntry {
    /// A server defined elsewhere.
    Named(String),
    /// A server defined in the file.
    Defined(McpServer),
}

impl McpEntry {
    /// The name.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Defined(server) => &server.name,
        }
    }
}

/// What a permission for a server on this computer covers of the code that it runs.
const COVERED_CODE: &str = "holds for the files of the workspace that it names and that these load; files whose names they \
                            compose, what build tools compile for it, and what installed packages load after their first \
                            file, may change without asking";

impl McpServer {
    /// The key of exactly this server: two that differ in anything have different keys.
    pub fn key(&self) -> Id {
        format!("{}#{:016x}", self.name, content_hash(self.canonical().as_bytes())).into()
    }

    /// The label that distinguishes servers with the same name: `db` for the workspace's, `ada/db` for that of the
    /// agent ada.
    pub fn label(&self) -> String {
        match &self.of {
            Some(agent) => format!("{agent}/{}", self.name),
            None => self.name.clone(),
        }
    }

    /// The complete definition as one text, equal for equal servers.
    pub fn canonical(&self) -> String {
        serde_json::to_string(self).expect("a server is plain data with string keys")
    }

    /// The short form for people: the command line, or the address.
    pub fn shown(&self) -> String {
        match &self.transport {
            McpTransport::Stdio { command, args, .. } => {
                join_template(std::iter::once(command.as_str()).chain(args.iter().map(String::as_str)))
            }
            McpTransport::Http { url, .. } | McpTransport::Sse { url, .. } => text::hide_user_info(url),
        }
    }

    /// Everything that a person allows with it, over several lines. Values of variables and headers are only shown if
    /// they name variables of the person's environment.
    pub fn details(&self) -> String {
        let mut details = self.shown();
        let value = |value: &str| if value.contains("${") { value.to_owned() } else { "(set in the file)".to_owned() };
        let mut line = |text: String| {
            // Writing into a text does not fail.
            let _ = write!(details, "\n  {text}");
        };
        match &self.transport {
            McpTransport::Stdio { env, cwd, network, .. } => {
                env.iter().for_each(|(name, set)| line(format!("{name}={}", value(set))));
                cwd.iter().for_each(|cwd| line(format!("in {cwd}")));
                if *network {
                    line("may use the network".to_owned());
                }
                line(COVERED_CODE.to_owned());
            }
            McpTransport::Http { headers, .. } | McpTransport::Sse { headers, .. } => {
                headers.iter().for_each(|(name, set)| line(format!("{name}: {}", value(set))));
            }
        }
        if self.sampling {
            line("may ask your agents' models during calls, at your cost (sampling)".to_owned());
        }
        details
    }

    /// The names of the environment variables that it uses.
    pub fn variables(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        let texts: Vec<&String> = match &self.transport {
            McpTransport::Stdio { args, env, .. } => args.iter().chain(env.values()).collect(),
            McpTransport::Http { url, headers } | McpTransport::Sse { url, headers } => {
                std::iter::once(url).chain(headers.values()).collect()
            }
        };
        for text in texts {
            names.extend(text.split("${").skip(1).filter_map(|rest| rest.split(['}', ':']).next()));
        }
        names
    }
}

/// The servers and problems found in a definition.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FoundServers {
    /// The servers, in order.
    pub entries: Vec<McpEntry>,
    /// Unusable definitions: the server, the error, and what to do.
    pub wrong: Vec<(String, String, String)>,
}

impl FoundServers {
    /// The servers that are defined, not only named.
    pub fn defined(self) -> impl Iterator<Item = McpServer> {
        self.entries.into_iter().filter_map(|entry| match entry {
            McpEntry::Defined(server) => Some(server),
            McpEntry::Named(_) => None,
        })
    }

    /// The unusable definitions as problems of a file.
    pub fn problems(&self, place: &str, file: &str) -> Vec<Problem> {
        let problem = |(server, what, remedy): &(String, String, String)| {
            Problem::error(place, what, remedy).at_line(line_of_server(file, server))
        };
        self.wrong.iter().map(problem).collect()
    }

    fn wrong(&mut self, server: &str, what: impl Into<String>, remedy: &str) {
        self.wrong.push((server.to_owned(), what.into(), remedy.to_owned()));
    }
}

/// Reads a list of servers, or a mapping by name; an entry is a name or a definition.
pub fn read(value: &Value) -> FoundServers {
    let mut found = FoundServers::default();
    match value {
        Value::Null => {}
        Value::String(names) => {
            found.entries = limits::names_between_commas(names).into_iter().map(McpEntry::Named).collect();
        }
        Value::Array(entries) => {
            for entry in entries {
                match (plain(entry), entry) {
                    (Some(name), _) => found.entries.push(McpEntry::Named(name.trim().to_owned())),
                    (None, Value::Object(keys)) => define(&mut found, None, keys),
                    _ => found.wrong("", "an entry of the MCP servers is neither a name nor a server", NAME_REMEDY),
                }
            }
        }
        Value::Object(servers) => {
            for (name, entry) in servers {
                match entry {
                    Value::Null | Value::Bool(true) => found.entries.push(McpEntry::Named(name.trim().to_owned())),
                    Value::Bool(false) => {}
                    Value::Object(keys) => define(&mut found, Some(name), keys),
                    _ => found.wrong(name, format!("the entry {name:?} is not an MCP server"), NAME_REMEDY),
                }
            }
        }
        _ => found.wrong("", "the MCP servers are neither a list nor a table", NAME_REMEDY),
    }
    let mut seen = BTreeSet::new();
    let mut twice = Vec::new();
    found.entries.retain(|entry| {
        let is_new = seen.insert(entry.name().to_owned());
        if !is_new {
            twice.push(entry.name().to_owned());
        }
        is_new && !entry.name().is_empty()
    });
    for name in twice {
        found.wrong(
            &name,
            format!("the MCP server {name:?} appears twice; the first one is used"),
            "remove one of them",
        );
    }
    if found.entries.len() > MAX_SERVERS {
        found.entries.truncate(MAX_SERVERS);
        found.wrong("", format!("there are more than {MAX_SERVERS} MCP servers; the rest are ignored"), "remove some");
    }
    found
}

/// Reads the servers of a `.mcp.json`.
pub fn read_file(file: &str) -> (Vec<McpServer>, Vec<Problem>) {
    let problem = |what: String, remedy: &str| Problem::error(MCP_FILE, what, remedy);
    let keys = match serde_json::from_str::<Value>(file.trim_start_matches('\u{feff}')) {
        Ok(Value::Object(keys)) => keys,
        Ok(_) => return (Vec::new(), vec![problem("is not a table".into(), FILE_REMEDY).at_line(Some(1))]),
        Err(error) => {
            let what = format!("is not valid JSON: {}", text::one_line(&error.to_string()));
            return (Vec::new(), vec![problem(what, "fix this line").at_line(Some(error.line().max(1)))]);
        }
    };
    let Some(servers) = FILE_KEYS.iter().find_map(|key| keys.get(*key)) else {
        return match keys.is_empty() {
            true => (Vec::new(), Vec::new()),
            false => (Vec::new(), vec![problem("has no \"mcpServers\"".into(), FILE_REMEDY)]),
        };
    };
    let found = read(servers);
    let problems = found.problems(MCP_FILE, file);
    (found.defined().collect(), problems)
}

const NAME_REMEDY: &str = "write its name, or its name with a command or a url";
const FILE_REMEDY: &str = "write { \"mcpServers\": { \"NAME\": { \"command\": \"…\", \"args\": [] } } }";

/// The line, from 1, on which the server with this name is defined.
pub fn line_of_server(file: &str, server: &str) -> Option<usize> {
    let is_head = |line: &&str| line.contains("mcp_servers") || FILE_KEYS.iter().any(|key| line.contains(key));
    let head = file.lines().position(|line| is_head(&line)).unwrap_or(0);
    let is_word = |line: &str| {
        let at = line.find(server)?;
        let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        let before = line[..at].chars().next_back().is_some_and(plain);
        let after = line[at + server.len()..].chars().next().is_some_and(plain);
        (!before && !after).then_some(())
    };
    let named =
        (!server.is_empty()).then(|| file.lines().skip(head).position(|line| is_word(line).is_some())).flatten();
    (!file.is_empty()).then_some(head + named.unwrap_or(0) + 1)
}

/// Reads one server.
fn define(found: &mut FoundServers, name: Option<&str>, keys: &Map<String, Value>) {
    let mut keys = Keys::of(keys);
    let own = keys.text("name");
    let name = name.map(str::to_owned).or(own).unwrap_or_default().trim().to_owned();
    let shown = text::truncate(&name, MAX_NAME_CHARS);
    if keys.flag("disabled") == Some(true) || keys.flag("enabled") == Some(false) {
        return;
    }
    if let Err(why) = fit_name(&name) {
        return found.wrong(
            &shown,
            format!("{shown:?} is not a valid MCP server name: {why}"),
            "give it a short, simple name",
        );
    }
    let is_bare = ["command", "url", "serverurl", "httpurl", "transport", "type"].iter().all(|key| !keys.has(key));
    if is_bare {
        return found.entries.push(McpEntry::Named(name));
    }
    let sampling = keys.flag("sampling") == Some(true);
    match transport(&mut keys) {
        Err((what, remedy)) => found.wrong(&shown, format!("the MCP server {shown:?} {what}"), &remedy),
        Ok(transport) => {
            if let Some((key, meant)) = keys.mistyped() {
                let what = format!("the MCP server {shown:?} has an unknown key {key:?}");
                found.wrong(&shown, what, &format!("did you mean {meant:?}?"));
            }
            found.entries.push(McpEntry::Defined(McpServer { name, sampling, of: None, transport }));
        }
    }
}

/// Checks the name of a server; the error is the reason why it is invalid.
fn fit_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("it has no name");
    }
    if name.chars().count() > MAX_NAME_CHARS {
        return Err("the name is too long");
    }
    if name.contains(|c: char| is_invisible(c) || c.is_whitespace() || ":#*()/\\\"'".contains(c)) {
        return Err("the name contains a space or a character with a meaning in rules");
    }
    Ok(())
}

type FieldError = (String, String);

fn wrong<T>(what: impl Into<String>, remedy: &str) -> Result<T, FieldError> {
    Err((what.into(), remedy.to_owned()))
}

fn transport(keys: &mut Keys) -> Result<McpTransport, FieldError> {
    let said = keys.text("transport").or_else(|| keys.text("type"));
    let url = keys.text("url").or_else(|| keys.text("serverurl")).or_else(|| keys.text("httpurl"));
    let folded = said.as_deref().map(fold);
    match folded.as_deref() {
        None if url.is_some() => http(keys, url).map(|(url, headers)| McpTransport::Http { url, headers }),
        None | Some("stdio" | "local" | "command") => stdio(keys),
        Some("http" | "streamablehttp" | "remote") => {
            http(keys, url).map(|(url, headers)| McpTransport::Http { url, headers })
        }
        Some("sse") => http(keys, url).map(|(url, headers)| McpTransport::Sse { url, headers }),
        Some(_) => {
            let what = format!("has an unknown type {:?}", said.unwrap_or_default());
            wrong(what, "write stdio, http or sse")
        }
    }
}

/// The address and the headers of a server that is reached over HTTP.
fn http(keys: &mut Keys, url: Option<String>) -> Result<(String, BTreeMap<String, String>), FieldError> {
    let Some(url) = url.map(|url| url.trim().to_owned()).filter(|url| !url.is_empty()) else {
        return wrong("has no url", "write url: https://…");
    };
    if !(url.starts_with("http://") || url.starts_with("https://"))
        || url.contains(|c: char| is_invisible(c) || c == ' ')
    {
        return wrong(format!("has an invalid url: {:?}", text::truncate(&url, 80)), "write url: https://…");
    }
    let mut headers = keys.table("headers")?;
    for (header, variable) in keys.table("headersfromenv")?.into_iter().chain(keys.table("envhttpheaders")?) {
        headers.insert(header, format!("${{{variable}}}"));
    }
    let is_token = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if let Some(odd) = headers.iter().find(|(name, value)| !is_token(name) || value.contains(['\r', '\n'])) {
        return wrong(format!("has an invalid header: {:?}", text::truncate(odd.0, 80)), "fix its name and value");
    }
    Ok((url, headers))
}

fn stdio(keys: &mut Keys) -> Result<McpTransport, FieldError> {
    let mut words = match keys.take("command") {
        Some(Value::Array(words)) => texts("command", &words)?,
        Some(Value::String(line)) if keys.has("args") && !line.trim().is_empty() => vec![line.trim().to_owned()],
        Some(Value::String(line)) => split_template(&line)
            .map_err(|why| (format!("has a command that {why}"), "write the program and its args".to_owned()))?,
        _ => Vec::new(),
    };
    words.extend(match keys.take("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(args)) => texts("args", &args)?,
        Some(_) => return wrong("has args that are not a list", "write args: [one, two]"),
    });
    let mut words = words.into_iter();
    let Some(command) = words.next().filter(|command| !command.is_empty()) else {
        return wrong("has no command", "write command: and the program");
    };
    let args: Vec<String> = words.collect();
    let mut env = keys.table("env")?;
    env.extend(keys.table("environment")?);
    let is_name = |name: &str| {
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        !name.is_empty() && is_plain && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    if let Some((odd, _)) = env.iter().find(|(name, value)| !is_name(name) || value.contains('\0')) {
        return wrong(format!("sets an invalid variable: {:?}", text::truncate(odd, 80)), "write NAME: value");
    }
    let cwd = keys.text("cwd").map(|cwd| cwd.trim().to_owned()).filter(|cwd| !cwd.is_empty());
    let network = keys.flag("network").unwrap_or(false);
    let all: Vec<&String> = [&command].into_iter().chain(&args).chain(env.values()).chain(&cwd).collect();
    if all.iter().any(|text| text.chars().count() > MAX_TEXT_CHARS) || args.len() + env.len() > MAX_PARTS {
        return wrong("is too long", "shorten it");
    }
    if all.iter().any(|text| text.chars().any(|c| c == '\0' || is_invisible(c))) {
        return wrong("contains invisible characters", "write it again");
    }
    Ok(McpTransport::Stdio { command, args, env, cwd, network })
}

fn texts(key: &str, values: &[Value]) -> Result<Vec<String>, FieldError> {
    let texts: Option<Vec<String>> = values.iter().map(plain).collect();
    texts.map_or_else(|| wrong(format!("has {key} that are not all text"), "write [one, two]"), Ok)
}

/// Normalizes a key: `headersFromEnv`, `headers-from-env` and `headers_from_env` become the same.
fn fold(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The known keys of a server, normalized.
const KEYS: [&str; 17] = [
    "args",
    "command",
    "cwd",
    "disabled",
    "enabled",
    "env",
    "environment",
    "envhttpheaders",
    "headers",
    "headersfromenv",
    "httpurl",
    "name",
    "network",
    "sampling",
    "serverurl",
    "transport",
    "type",
];

/// The keys of one server, in any spelling.
struct Keys {
    by_name: BTreeMap<String, Value>,
    unknown: Vec<String>,
}

impl Keys {
    fn of(keys: &Map<String, Value>) -> Self {
        let mut all = Self { by_name: BTreeMap::new(), unknown: Vec::new() };
        for (key, value) in keys {
            let folded = fold(key);
            if KEYS.contains(&folded.as_str()) || folded == "url" {
                all.by_name.entry(folded).or_insert_with(|| value.clone());
            } else {
                all.unknown.push(key.clone());
            }
        }
        all
    }

    fn has(&self, key: &str) -> bool {
        self.by_name.get(key).is_some_and(|value| !value.is_null())
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.by_name.remove(key)
    }

    fn text(&mut self, key: &str) -> Option<String> {
        plain(self.by_name.get(key)?)
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        match self.text(key)?.trim().to_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            _ => Some(false),
        }
    }

    /// A mapping of texts, or a list of `NAME=value`.
    fn table(&mut self, key: &str) -> Result<BTreeMap<String, String>, FieldError> {
        let remedy = format!("write {key}: and below it NAME: value");
        let pairs: Option<BTreeMap<String, String>> = match self.take(key) {
            None | Some(Value::Null) => Some(BTreeMap::new()),
            Some(Value::Object(keys)) => keys.iter().map(|(name, value)| Some((name.clone(), plain(value)?))).collect(),
            Some(Value::Array(lines)) => {
                let pair = |line: &Value| plain(line)?.split_once('=').map(|(name, value)| (name.into(), value.into()));
                lines.iter().map(pair).collect()
            }
            Some(_) => None,
        };
        pairs
            .filter(|pairs| pairs.len() <= MAX_PARTS)
            .map_or_else(|| wrong(format!("has {key} that are not a mapping"), &remedy), Ok)
    }

    /// A key that looks like a mistyped one; others belong to other products.
    fn mistyped(&self) -> Option<(&str, &'static str)> {
        self.unknown.iter().find_map(|key| {
            let folded = fold(key);
            let near = KEYS.into_iter().find(|known| known.len() > 3 && strsim::osa_distance(&folded, known) == 1)?;
            Some((key.as_str(), near))
        })
    }
}

#[cfg(test)]
#[path = "mcp_server_tests.rs"]
mod tests;
