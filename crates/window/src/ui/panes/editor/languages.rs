//! The languages that the editor highlights, and what the scopes of their grammars mean. Grammars are prepared in the
//! background, because the first use of one takes as long as many frames.

use std::sync::OnceLock;

use serde_json::Value;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::texts;
use super::token_style::TokenStyle;
use crate::ui::commands::job::{Job, WINDOW};

/// What a file is written in.
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
    /// TypeScript with elements.
    TypeScriptReact,
    /// JavaScript.
    JavaScript,
}

/// Lines that bring up what a language mostly consists of.
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
    /// The language of a file, by its ending.
    pub fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
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

    /// Up to this size the whole text is coloured; what is larger stays plain.
    pub fn most_bytes(self) -> usize {
        if self.is_slow() { 64 * 1024 } else { 512 * 1024 }
    }

    /// So many bytes are looked at in a frame.
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

    /// How reading a text of this language begins.
    pub fn begin(self, set: &SyntaxSet) -> Option<ParseState> {
        self.syntax(set).map(ParseState::new)
    }
}

static SET: OnceLock<SyntaxSet> = OnceLock::new();
static WARM: OnceLock<()> = OnceLock::new();

fn load() -> &'static SyntaxSet {
    SET.get_or_init(two_face::syntax::extra_newlines)
}

/// The grammars, once they are ready: after [`grammars_job`].
pub fn grammars() -> Option<&'static SyntaxSet> {
    WARM.get().map(|()| load())
}

/// Makes the grammars ready. They are the program's: whoever asks, all editors have them then.
pub fn grammars_job() -> Job {
    Job::new(WINDOW, texts::LOADING_HIGHLIGHTING, |_| {
        warm(load());
        WARM.get_or_init(|| ());
        Ok(Value::Null)
    })
}

/// The grammars at once, however long it takes.
#[cfg(test)]
pub fn grammars_now() -> &'static SyntaxSet {
    load()
}

/// Grammars build their patterns when they need them first.
fn warm(set: &SyntaxSet) {
    for (language, sample) in SAMPLES {
        let Some(mut state) = language.begin(set) else { continue };
        for line in sample.split_inclusive('\n') {
            // A grammar that fails here fails in the same way where it is used, and is seen there.
            if state.parse_line(line, set).is_err() {
                break;
            }
        }
    }
}

/// What each word of the grammars means, most telling first among those that begin alike.
const MEANINGS: [(&str, TokenStyle); 38] = [
    ("comment", TokenStyle::Remark),
    ("string", TokenStyle::Text),
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
    ("entity.other.document", TokenStyle::Mark),
    ("support.type", TokenStyle::Type),
    ("support.class", TokenStyle::Type),
    ("keyword.operator.type", TokenStyle::Plain),
    ("keyword", TokenStyle::Word),
    ("storage", TokenStyle::Word),
    ("variable.language", TokenStyle::Word),
    ("variable.other.alias", TokenStyle::Name),
    ("invalid", TokenStyle::Wrong),
    ("markup.heading", TokenStyle::Heading),
    ("markup.bold", TokenStyle::Strong),
    ("markup.italic", TokenStyle::Emphasis),
    ("markup.raw", TokenStyle::Code),
    ("markup.underline.link", TokenStyle::Link),
    ("markup.quote", TokenStyle::Remark),
    ("meta.link.inline.description", TokenStyle::Link),
    ("meta.image.inline.description", TokenStyle::Link),
    ("meta.separator", TokenStyle::Mark),
    ("punctuation.definition.list_item", TokenStyle::Mark),
    ("punctuation.definition.block.sequence.item", TokenStyle::Mark),
    ("punctuation.definition.thematic-break", TokenStyle::Mark),
    ("meta.code-fence", TokenStyle::Mark),
];

struct Meanings {
    key: Option<Scope>,
    all: Vec<(Scope, TokenStyle)>,
}

static MEANT: OnceLock<Meanings> = OnceLock::new();

fn meanings() -> &'static Meanings {
    MEANT.get_or_init(|| Meanings {
        key: Scope::new("meta.mapping.key").ok(),
        all: MEANINGS.iter().filter_map(|(word, ink)| Some((Scope::new(word).ok()?, *ink))).collect(),
    })
}

/// What is written where a grammar says all this.
pub fn ink_of(stack: &ScopeStack) -> TokenStyle {
    let meanings = meanings();
    let is = |word: &Scope, scope: &Scope| word.is_prefix_of(*scope);
    if stack.as_slice().iter().any(|scope| meanings.key.as_ref().is_some_and(|key| is(key, scope))) {
        return TokenStyle::Key;
    }
    let meant = |scope: &Scope| meanings.all.iter().find(|(word, _)| is(word, scope)).map(|(_, ink)| *ink);
    stack.as_slice().iter().rev().find_map(meant).unwrap_or(TokenStyle::Plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_follows_from_the_ending() {
        assert_eq!(Language::of("agents/ada.md"), Some(Language::Markdown));
        assert_eq!(Language::of("a/b.c/x.YML"), Some(Language::Yaml));
        assert_eq!(Language::of("a.tsx"), Some(Language::TypeScriptReact));
        assert_eq!(Language::of("notes"), None);
        assert_eq!(Language::of("a.b/notes"), None);
    }

    #[test]
    fn every_language_has_a_grammar_and_every_word_can_be_a_scope() {
        let set = grammars_now();
        for (language, _) in SAMPLES {
            assert!(language.begin(set).is_some(), "{language:?}");
        }
        assert_eq!(meanings().all.len(), MEANINGS.len());
    }
}
