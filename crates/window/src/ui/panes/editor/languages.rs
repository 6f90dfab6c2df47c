//! The languages that the editor highlights, and the styles for the scopes of their grammars. Grammars are prepared in
//! the background, because the first use of one takes many frames.

use std::sync::OnceLock;

use serde_json::Value;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::texts;
use super::token_style::TokenStyle;
use crate::base::paths::file_name;
use crate::ui::commands::job::{Job, WINDOW};

/// A language with syntax highlighting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Markdown, with YAML front matter.
    Markdown,
    /// YAML.
    Yaml,
    /// JSON.
    Json,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    TypeScriptReact,
    /// JavaScript.
    JavaScript,
}

/// Sample texts that exercise most patterns of a grammar.
const SAMPLES: [(Language, &str); 6] = [
    (
        Language::Markdown,
        "# Title\nSome *words* **and** `code`, a [link](http://a.b).\n\n- a\n- b\n\n1. c\n> d\n\n---\n",
    ),
    (Language::Yaml, "a: 1 # b\nc: [1.5, \"d\", 'e', true]\nf:\n  - g: {h: null}\n  - i\nj: |\n  k\n"),
    (Language::Json, "{\"a\": [1, 2.5, true, null, \"b\\n\"], \"c\": {}}\n"),
    (
        Language::TypeScript,
        "// a\nimport { b } from \"c\";\nexport async function d(e: number, f?: string): Promise<void> {\n  if (e > 1) { return; }\n  const g = (h) => `i ${h}`; /* j */\n}\nclass K extends L { private m = 1; }\ninterface N { o: string }\nexport const p = async (q: number, r?: string): Promise<void> => { return await s(q + 1, `t ${r}`); }\ntype U = \"v\" | W<X>[];\nenum Y { Z = 1 }\nfor (const a of b) { switch (c) { case 1: break; } }\ntry { d?.e!.f as G; } catch { throw new Error('h'); }\n",
    ),
    (Language::TypeScriptReact, "import a from \"b\";\nexport const C = () => <div className=\"d\">{e}</div>;\n"),
    (
        Language::JavaScript,
        "// a\nimport { b } from \"c\";\nexport async function d(e) {\n  if (e > 1) { return new F(`g ${e}`); }\n}\nclass H { i() {} }\n",
    ),
];

impl Language {
    /// Returns the language of a file by its extension.
    pub fn of(path: &str) -> Option<Self> {
        let name = file_name(path);
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "md" | "mdx" | "markdown" => Some(Self::Markdown),
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "ts" | "mts" | "cts" => Some(Self::TypeScript),
            "tsx" => Some(Self::TypeScriptReact),
            "js" | "mjs" | "cjs" | "jsx" => Some(Self::JavaScript),
            _ => None,
        }
    }

    /// Maximum size of a text to be highlighted.
    pub fn max_bytes(self) -> usize {
        if self.is_slow() { 64 * 1024 } else { 512 * 1024 }
    }

    /// Maximum number of bytes to highlight per frame.
    pub fn bytes_per_frame(self) -> usize {
        if self.is_slow() { 300 } else { 3 * 1024 }
    }

    fn is_slow(self) -> bool {
        matches!(self, Self::TypeScript | Self::TypeScriptReact | Self::JavaScript)
    }

    fn syntax(self, set: &SyntaxSet) -> Option<&SyntaxReference> {
        set.find_syntax_by_extension(match self {
            Self::Markdown => "md",
            Self::Yaml => "yaml",
            Self::Json => "json",
            Self::TypeScript => "ts",
            Self::TypeScriptReact => "tsx",
            Self::JavaScript => "js",
        })
    }

    /// Creates the parser state for the start of a text.
    pub fn new_parser(self, set: &SyntaxSet) -> Option<ParseState> {
        self.syntax(set).map(ParseState::new)
    }
}

static GRAMMARS: OnceLock<SyntaxSet> = OnceLock::new();
static IS_WARM: OnceLock<()> = OnceLock::new();

fn load() -> &'static SyntaxSet {
    GRAMMARS.get_or_init(two_face::syntax::extra_newlines)
}

/// Returns the grammars once [`grammars_job`] has prepared them.
pub fn grammars() -> Option<&'static SyntaxSet> {
    IS_WARM.get().map(|()| load())
}

/// Returns a job that prepares the grammars. All editors share them.
pub fn grammars_job() -> Job {
    Job::new(WINDOW, texts::LOADING_HIGHLIGHTING, |_| {
        warm_up(load());
        IS_WARM.get_or_init(|| ());
        Ok(Value::Null)
    })
}

/// Returns the grammars at once, however long it takes.
#[cfg(test)]
pub fn grammars_now() -> &'static SyntaxSet {
    load()
}

/// Grammars compile their patterns on first use.
fn warm_up(set: &SyntaxSet) {
    for (language, sample) in SAMPLES {
        let Some(mut state) = language.new_parser(set) else { continue };
        for line in sample.split_inclusive('\n') {
            // A grammar that fails here will fail in the same way when it is used, and is handled there.
            if state.parse_line(line, set).is_err() {
                break;
            }
        }
    }
}

/// The style for each scope prefix; of several that match, the first one wins.
const SCOPE_STYLES: [(&str, TokenStyle); 38] = [
    ("comment", TokenStyle::Comment),
    ("string", TokenStyle::String),
    ("constant.numeric", TokenStyle::Number),
    ("constant.language", TokenStyle::Number),
    ("constant.character.escape", TokenStyle::Number),
    ("constant.other.language-name", TokenStyle::Key),
    ("entity.name.tag", TokenStyle::Key),
    ("entity.name.section", TokenStyle::Heading),
    ("entity.name.function", TokenStyle::Name),
    ("support.function", TokenStyle::Name),
    ("entity.name.type", TokenStyle::Type),
    ("entity.name.class", TokenStyle::Type),
    ("entity.name.interface", TokenStyle::Type),
    ("entity.name.label", TokenStyle::Type),
    ("entity.other.inherited-class", TokenStyle::Type),
    ("entity.other.attribute-name", TokenStyle::Key),
    ("entity.other.document", TokenStyle::Markup),
    ("support.type", TokenStyle::Type),
    ("support.class", TokenStyle::Type),
    ("keyword.operator.type", TokenStyle::Plain),
    ("keyword", TokenStyle::Keyword),
    ("storage", TokenStyle::Keyword),
    ("variable.language", TokenStyle::Keyword),
    ("variable.other.alias", TokenStyle::Name),
    ("invalid", TokenStyle::Invalid),
    ("markup.heading", TokenStyle::Heading),
    ("markup.bold", TokenStyle::Strong),
    ("markup.italic", TokenStyle::Emphasis),
    ("markup.raw", TokenStyle::Code),
    ("markup.underline.link", TokenStyle::Link),
    ("markup.quote", TokenStyle::Comment),
    ("meta.link.inline.description", TokenStyle::Link),
    ("meta.image.inline.description", TokenStyle::Link),
    ("meta.separator", TokenStyle::Markup),
    ("punctuation.definition.list_item", TokenStyle::Markup),
    ("punctuation.definition.block.sequence.item", TokenStyle::Markup),
    ("punctuation.definition.thematic-break", TokenStyle::Markup),
    ("meta.code-fence", TokenStyle::Markup),
];

struct ScopeStyles {
    key: Option<Scope>,
    all: Vec<(Scope, TokenStyle)>,
}

static STYLES: OnceLock<ScopeStyles> = OnceLock::new();

fn scope_styles() -> &'static ScopeStyles {
    STYLES.get_or_init(|| ScopeStyles {
        key: Scope::new("meta.mapping.key").ok(),
        all: SCOPE_STYLES.iter().filter_map(|(selector, style)| Some((Scope::new(selector).ok()?, *style))).collect(),
    })
}

/// Returns the style for a stack of scopes.
pub fn style_for_scopes(stack: &ScopeStack) -> TokenStyle {
    let scope_styles = scope_styles();
    let starts_with = |selector: &Scope, scope: &Scope| selector.is_prefix_of(*scope);
    if stack.as_slice().iter().any(|scope| scope_styles.key.as_ref().is_some_and(|key| starts_with(key, scope))) {
        return TokenStyle::Key;
    }
    let style_of = |scope: &Scope| {
        scope_styles.all.iter().find(|(selector, _)| starts_with(selector, scope)).map(|(_, style)| *style)
    };
    stack.as_slice().iter().rev().find_map(style_of).unwrap_or(TokenStyle::Plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_chosen_by_extension() {
        assert_eq!(Language::of("agents/ada.md"), Some(Language::Markdown));
        assert_eq!(Language::of("a/b.c/x.YML"), Some(Language::Yaml));
        assert_eq!(Language::of("a.tsx"), Some(Language::TypeScriptReact));
        assert_eq!(Language::of("notes"), None);
        assert_eq!(Language::of("a.b/notes"), None);
    }

    #[test]
    fn every_language_has_a_grammar_and_every_selector_is_valid() {
        let set = grammars_now();
        for (language, _) in SAMPLES {
            assert!(language.new_parser(set).is_some(), "{language:?}");
        }
        assert_eq!(scope_styles().all.len(), SCOPE_STYLES.len());
    }
}
