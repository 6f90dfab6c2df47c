//! The example of the specification and its tables row by row, and common deviations from them.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::source::SourceSeverity;

const WEATHER: &str = "---\nname: Front\nmodel: sonnet\n---\n\n# Agent: Weather Man\n\n## Purpose\n\nTells the weather.\n\n## Capabilities\n\n- Can do X\n- Can do Y\n\n## Constraints\n\n* Must not do Z\n\n## Personality\n\nDry.\n\n<Tool name=\"tool_name\" description=\"What this tool does\">\n  <Param name=\"city\" type=\"string\" description=\"City name\" />\n  <Param name=\"verbose\" type=\"boolean\" required=\"false\" description=\"Show details\" />\n\n```typescript\nasync function execute(params: { city: string; verbose?: boolean }, ctx: any) {\n  return params.city;\n}\n```\n\n</Tool>\n";

fn tool(body: &str) -> String {
    format!("# Agent: A\n\n## Purpose\n\nP\n\n{body}\n")
}

const CODE: &str = "```ts\nasync function execute(params, ctx) { return '1'; }\n```";

fn problem_lines(document: &AgentDocument) -> Vec<String> {
    document.problems.iter().map(|problem| format!("{}: {}", problem.line().unwrap(), problem.what)).collect()
}

fn names(document: &AgentDocument) -> Vec<&str> {
    document.tools.iter().map(|tool| &*tool.name).collect()
}

#[test]
fn the_example_of_the_specification_is_parsed_without_problems() {
    let document = parse(WEATHER);
    assert_eq!(problem_lines(&document), [] as [&str; 0]);
    assert_eq!(document.name, "Weather Man");
    assert_eq!(document.front_matter["model"], "sonnet");
    assert_eq!(document.purpose.as_ref().unwrap().text, "Tells the weather.");
    assert_eq!(document.capabilities.as_ref().unwrap().items, ["Can do X", "Can do Y"]);
    assert_eq!(document.constraints.as_ref().unwrap().items, ["Must not do Z"]);
    assert_eq!(document.personality.as_ref().unwrap().text, "Dry.");
    let tool = &document.tools[0];
    assert_eq!((&*tool.name, &*tool.description), ("tool_name", "What this tool does"));
    assert_eq!(
        tool.schema(),
        json!({
            "type": "object",
            "properties": {
                "city": { "type": "string", "description": "City name" },
                "verbose": { "type": "boolean", "description": "Show details" },
            },
            "required": ["city"],
            "additionalProperties": false,
        })
    );
    assert!(WEATHER[tool.range.clone()].starts_with("<Tool") && WEATHER[tool.range.clone()].ends_with("</Tool>"));
    let line = WEATHER.lines().nth(tool.code.first_line - 1).unwrap();
    assert!(line.starts_with("async function execute"), "{line}");
    assert_eq!(WEATHER[tool.code.range.clone()], tool.code.text);
}

#[test]
fn line_breaks_and_byte_order_marks_make_no_difference() {
    let plain = parse(WEATHER);
    let crlf = format!("\u{feff}{}", WEATHER.replace('\n', "\r\n"));
    let document = parse(&crlf);
    assert_eq!(problem_lines(&document), [] as [&str; 0]);
    assert_eq!((&document.name, names(&document)), (&plain.name, names(&plain)));
    assert_eq!(document.capabilities.unwrap().items, plain.capabilities.unwrap().items);
    assert_eq!(document.tools[0].code.text, plain.tools[0].code.text);
    assert_eq!(document.tools[0].code.first_line, plain.tools[0].code.first_line);
    assert_eq!(&crlf[document.tools[0].range.clone()][..5], "<Tool");
}

#[test]
fn examples_are_not_tools() {
    let shown = format!("<Tool name=\"x\" description=\"d\">\n\n{CODE}\n\n</Tool>");
    for text in [
        format!("````mdx\n{shown}\n````"),
        format!("~~~\n{shown}\n~~~"),
        format!("- In a list:\n\n  ````\n  {}\n  ````", shown.replace('\n', "\n  ")),
        format!("> {}", shown.replace('\n', "\n> ")),
        format!("<!--\n{shown}\n-->"),
        format!("{{/*\n{shown}\n*/}}"),
        "Write `<Tool name=\"x\" description=\"d\">` to make one.".to_owned(),
        "Write <Tool name=\"x\" description=\"d\"> in a sentence.".to_owned(),
    ] {
        let document = parse(&tool(&format!("{text}\n\n<Tool name=\"real\" description=\"d\">\n{CODE}\n</Tool>")));
        assert_eq!(names(&document), ["real"], "{text}");
        assert_eq!(problem_lines(&document), [] as [&str; 0], "{text}");
    }
}

#[test]
fn an_indented_tool_is_an_example_and_reported() {
    let document = parse(&tool(&format!("    <Tool name=\"x\" description=\"d\">\n\n{CODE}\n")));
    assert_eq!(names(&document), [] as [&str; 0]);
    assert!(problem_lines(&document)[0].contains("which makes it an example"), "{:?}", problem_lines(&document));
}

#[test]
fn tools_are_found_in_any_layout() {
    for text in [
        format!("<Tool name=\"x\" description=\"d\">\n{CODE}\n</Tool>"),
        format!("<Tool name=\"x\" description=\"d\">\n<Param name=\"a\" />\n{CODE}\n</Tool>"),
        format!("<Tool\n  name=\"x\"\n  description=\"a > b\"\n>\n\n      <Param name=\"a\" />\n\n{CODE}\n\n</Tool>"),
        format!("Text above\n<Tool name='x' description='say \"hi\"'><Param name='a'/>\n{CODE}</Tool>\n</Tool>")
            .replace("```</Tool>", "```"),
        format!("  <Tool name=\"x\" description=\"d\">\n\n  {}\n\n  </Tool>", CODE.replace('\n', "\n  ")),
        format!("<Tool name={{\"x\"}} description=\"d\">\n<Param name=\"a\" required={{false}} />\n\n{CODE}\n</Tool>"),
        format!("<Tool name=\"x\" description=\"d\">\n<Param name=\"a\"></Param>\n\n{CODE}\n</Tool>"),
        format!("- A list\n<Tool name=\"x\" description=\"d\">\n{CODE}\n</Tool>"),
        format!(
            "<Tool name=\"x\" description=\"d\">\nSome words.\n\n{}\n</Tool>",
            CODE.replace("```ts", "~~~TypeScript").replace("```", "~~~")
        ),
    ] {
        let document = parse(&tool(&text));
        assert_eq!(names(&document), ["x"], "{text}");
        assert_eq!(problem_lines(&document), [] as [&str; 0], "{text}");
        assert_eq!(document.tools[0].code.text, "async function execute(params, ctx) { return '1'; }\n", "{text}");
    }
}

#[test]
fn code_may_contain_fences_and_tags() {
    let code = "````ts\nconst shown = `\n```ts\n</Tool>\n`;\nasync function execute() { return shown; }\n````";
    let document = parse(&tool(&format!("<Tool name=\"x\" description=\"d\">\n\n{code}\n\n</Tool>")));
    assert_eq!(problem_lines(&document), [] as [&str; 0]);
    assert!(document.tools[0].code.text.contains("```ts\n</Tool>"));
}

#[test]
fn sections_can_be_in_any_order_and_style() {
    let text = format!(
        "## PERSONALITY\n\nDry.\n\n<Tool name=\"x\" description=\"d\">\n{CODE}\n</Tool>\n\n## Constraints:\n1. One\n2. Two\n   more\n\n   - inner\n\nCapabilities\n---\n\n+ Only\n\n## Notes\n\nKept.\n\n### Purpose\n\nNot this one.\n\n# Agent: Late\n\n## Purpose\n\nP\n"
    );
    let document = parse(&text);
    assert_eq!(problem_lines(&document), [] as [&str; 0]);
    assert_eq!(document.name, "Late");
    assert_eq!(document.constraints.as_ref().unwrap().items, ["One", "Two\nmore\n\n- inner"]);
    assert_eq!(document.capabilities.as_ref().unwrap().items, ["Only"]);
    assert_eq!(document.personality.as_ref().unwrap().text, "Dry.");
    assert_eq!(document.purpose.as_ref().unwrap().text, "P");
    assert_eq!(document.other_sections[0].text, "Kept.\n\n### Purpose\n\nNot this one.");
}

#[test]
fn names_fall_back_as_specified() {
    let name = |text: &str| {
        let document = parse(text);
        (document.name.clone(), document.is_named)
    };
    assert_eq!(name("# Agent: Ada  Lovelace\n"), ("Ada Lovelace".to_owned(), true));
    assert_eq!(name("Agent: Ada\n===\n"), ("Ada".to_owned(), true));
    assert_eq!(name("# agent: Ada\n"), ("Ada".to_owned(), true));
    assert_eq!(name("---\nname: Front\n---\n# Something\n"), ("Front".to_owned(), true));
    assert_eq!(name("# Something\n"), (UNNAMED.to_owned(), false));
    assert_eq!(name("```\n# Agent: Shown\n```\n"), (UNNAMED.to_owned(), false));
    assert_eq!(name(""), (UNNAMED.to_owned(), false));
}

#[test]
fn invalid_parts_are_problems_and_the_rest_works() {
    let good = format!("<Tool name=\"good\" description=\"d\">\n{CODE}\n</Tool>");
    for (bad, what) in [
        (format!("<Tool description=\"d\">\n{CODE}\n</Tool>"), "this <Tool> has no name"),
        (format!("<Tool name=\"a b\" description=\"d\">\n{CODE}\n</Tool>"), "\"a b\" is not a valid tool name"),
        ("<Tool name=\"x\" description=\"d\">\n</Tool>".to_owned(), "the tool \"x\" has no code"),
        ("<Tool name=\"x\" description=\"d\" />".to_owned(), "the tool \"x\" has no code"),
        (
            "<Tool name=\"x\" description=\"d\">\n```ts\nconst executes = 1;\n```\n</Tool>".to_owned(),
            "the code of the tool \"x\" defines no function execute",
        ),
        ("<Tool name=\"x\" description=\"d\">\n```py\npass\n```\n</Tool>".to_owned(), "the tool \"x\" has no code"),
        ("<Tool name=\"x\" description=d>\n</Tool>".to_owned(), "an attribute value is not quoted"),
        ("<Tool name=\"x".to_owned(), "a quote in the tag is not closed"),
        ("<Param name=\"x\" />".to_owned(), "this <Param> is not inside a tool"),
        (format!("<Tool name=\"good\" description=\"d\">\n{CODE}\n</Tool>"), "there is already a tool \"good\""),
    ] {
        let document =
            parse(&tool(&format!("{good}\n\n{bad}\n\n<Tool name=\"last\" description=\"d\">\n{CODE}\n</Tool>")));
        assert_eq!(names(&document), ["good", "last"], "{bad}");
        let found = document.problems.iter().find(|problem| problem.what.starts_with(what));
        let found = found.unwrap_or_else(|| panic!("{bad}: {:?}", problem_lines(&document)));
        assert_eq!(found.severity, SourceSeverity::Error);
        assert!(found.line().unwrap() >= 13, "{bad}: {found}");
        assert!(!found.remedy.is_empty());
    }
}

#[test]
fn odd_parts_are_reported_and_used() {
    let with = |attributes: &str, inner: &str| format!("<Tool {attributes}>\n{inner}\n{CODE}\n</Tool>");
    let plain = "name=\"x\" description=\"d\"";
    for (text, what) in [
        (with("name=\"x\"", ""), "the tool \"x\" has no description"),
        (with("name=\"x\" description=\"d\" strict", ""), "<Tool> has no attribute \"strict\""),
        (with(plain, "<Param name=\"a\" type=\"int\" />"), "unknown type \"int\""),
        (with(plain, "<Param name=\"a\" required=\"maybe\" />"), "the value of \"required\" is neither true nor false"),
        (with(plain, "<Param name=\"a\" /><Param name=\"a\" />"), "the parameter \"a\" appears twice"),
        (with(plain, "<Param name=\"1a\" />"), "\"1a\" is not a valid parameter name"),
        (with(plain, "<Param name=\"a\" name=\"b\" />"), "the attribute \"name\" appears twice"),
        (with(plain, "").replace("</Tool>", ""), "this <Tool> is not closed"),
        (with(plain, "").replace("```ts", "```js"), "the code block is marked \"js\""),
        (with(plain, "").replace("</Tool>", "```ts\n1\n```\n</Tool>"), "the tool has more than one code block"),
        (format!("{}\n\n</Tool>", with(plain, "")), "this </Tool> has no matching <Tool>"),
        (format!("<Card>\n\n{}", with(plain, "")), "there is no component <Card>"),
        (format!("<tool>\n\n{}", with(plain, "")), "there is no component <tool>"),
        (with(plain, "").replace("```\n</Tool>", ""), "the code block is not closed"),
    ] {
        let document = parse(&tool(&text));
        assert_eq!(names(&document), ["x"], "{text}");
        assert!(
            document.problems.iter().any(|problem| problem.what.starts_with(what)),
            "{text}: {:?}",
            problem_lines(&document)
        );
    }
}

#[test]
fn the_printed_example_of_the_specification_defines_its_tool() {
    let printed = WEATHER.replace("```\n\n</Tool>", "```\n````\n\n</Tool>\n```");
    let document = parse(&printed);
    assert_eq!(names(&document), ["tool_name"]);
    assert!(
        problem_lines(&document).iter().any(|problem| problem.contains("is not closed")),
        "{:?}",
        problem_lines(&document)
    );
}

#[test]
fn broken_front_matter_does_not_prevent_the_agent() {
    let document = parse("---\nname: [\n---\n# Agent: Ada\n\n## Purpose\n\nP\n");
    assert_eq!(document.name, "Ada");
    assert_eq!(document.problems.len(), 1);
    assert!(document.problems[0].what.starts_with("the front matter is not valid YAML"));
}

#[test]
fn missing_sections_are_reported() {
    let document = parse("# Agent: A\n\n## Capabilities\n\nMany things.\n\n## Capabilities\n\n- One\n");
    let expected = [
        "1: the document has no Purpose section",
        "3: the section Capabilities is not a list",
        "7: the section Capabilities appears twice; both are used",
    ];
    assert_eq!(problem_lines(&document), expected);
    assert_eq!(document.capabilities.unwrap().text, "Many things.\n\n- One");
}

#[test]
fn the_identity_has_the_specified_order() {
    let mut document = parse(WEATHER);
    document.introduction = "Hello.".to_owned();
    assert_eq!(
        identity(&document),
        "# Agent: Weather Man\n\nHello.\n\n## Purpose\n\nTells the weather.\n\n## Capabilities\n\n- Can do X\n- Can do Y\n\n## Constraints\n\n* Must not do Z\n\n## Personality\n\nDry."
    );
}

#[test]
fn prompts_contain_no_tools_and_comments() {
    let text = format!(
        "# Agent: A\n\n## Purpose\n\nBefore <!-- hidden --> after.\n\n{{/* secret */}}\n\n<Tool name=\"x\" description=\"d\">\n{CODE}\n</Tool>\n\nEnd.\n"
    );
    let document = parse(&text);
    assert_eq!(document.purpose.unwrap().text, "Before  after.\n\nEnd.");
}

/// Generates pieces of documents, valid and broken.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("```ts\n".to_owned()),
        Just("```\n".to_owned()),
        Just("````mdx\n".to_owned()),
        Just("~~~\n".to_owned()),
        Just("<Tool name=\"x\" description=\"d\">\n".to_owned()),
        Just("<Tool name=\"x\n".to_owned()),
        Just("<Param name='a' type=\"number\" />".to_owned()),
        Just("</Tool>\n".to_owned()),
        Just("<!-- ".to_owned()),
        Just("--> ".to_owned()),
        Just("{/* ".to_owned()),
        Just(" */}\n".to_owned()),
        Just("---\n".to_owned()),
        Just("# Agent: Ä\r\n".to_owned()),
        Just("## Purpose\n".to_owned()),
        Just("- item\n  more\n\n".to_owned()),
        Just("> ".to_owned()),
        Just("    ".to_owned()),
        Just("async function execute() {}\n".to_owned()),
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        "\\PC{0,8}",
    ]
}

proptest! {
    #[test]
    fn no_text_causes_a_panic(text in "\\PC{0,200}") {
        let _ = parse(&text);
    }

    #[test]
    fn pieces_in_any_order_are_parsed_and_ranges_are_valid(pieces in prop::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        let document = parse(&text);
        let mut end = 0;
        for tool in &document.tools {
            prop_assert!(tool.range.start >= end && text.get(tool.range.clone()).is_some());
            prop_assert!(text.get(tool.code.range.clone()).is_some());
            end = tool.range.end;
        }
        for problem in &document.problems {
            prop_assert!(problem.line().unwrap() <= text.lines().count().max(1) + text.matches('\r').count() + 1);
        }
    }

    #[test]
    fn an_example_in_a_fence_never_becomes_a_tool(
        pieces in prop::collection::vec(piece(), 0..30),
        before in prop::collection::vec("[a-z #>*-]{0,12}\n", 0..4),
    ) {
        let inside = pieces.concat();
        let text = format!("{}\n\n\u{60}\u{60}\u{60}\u{60}\u{60}\u{60}\n{inside}\n", before.concat());
        prop_assert!(parse(&text).tools.is_empty());
    }
}

#[test]
fn parsing_takes_linear_time() {
    let unit =
        format!("{}\n<Tool name=\"x\nword `x <Tool {{/* <!-- \n> - 1. ```\n\n", WEATHER.replace("tool_name", "t"));
    let measure = |count: usize| {
        let text = unit.repeat(count);
        let fastest = (0..5).map(|_| {
            let begun = std::time::Instant::now();
            std::hint::black_box(parse(&text));
            begun.elapsed()
        });
        fastest.min().unwrap()
    };
    let (small, large) = (measure(100), measure(800));
    assert!(large < small * 8 * 6, "eight times the text took {small:?} and {large:?}");
}
