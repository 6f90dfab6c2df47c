//! Finds what a TypeScript file imports, and whether it has a default export.

use swc_common::sync::Lrc;
use swc_common::{FileName, GLOBALS, Globals, SourceMap};
use swc_ecma_ast::{ExportSpecifier, Module, ModuleDecl, ModuleExportName, NamedExport};
use swc_ecma_parser::{Parser, StringInput, Syntax, TsSyntax};

use crate::engine::links::FileLinks;

/// Returns the links of a file; empty if it cannot be parsed.
pub(super) fn links(code: String) -> FileLinks {
    GLOBALS.set(&Globals::new(), || links_here(code))
}

fn links_here(code: String) -> FileLinks {
    let map: Lrc<SourceMap> = Lrc::default();
    let file = map.new_source_file(Lrc::new(FileName::Anon), code);
    let syntax = Syntax::Typescript(TsSyntax { decorators: true, ..TsSyntax::default() });
    match Parser::new(syntax, StringInput::from(&*file), None).parse_module() {
        Ok(module) => links_in(&module),
        Err(_) => FileLinks::default(),
    }
}

fn links_in(module: &Module) -> FileLinks {
    let mut links = FileLinks::default();
    for declared in module.body.iter().filter_map(|item| item.as_module_decl()) {
        let from = match declared {
            ModuleDecl::Import(import) => Some(&import.src),
            ModuleDecl::ExportAll(export) => Some(&export.src),
            ModuleDecl::ExportNamed(export) => {
                links.has_default |= exports_default(export);
                export.src.as_ref()
            }
            ModuleDecl::ExportDefaultDecl(_) | ModuleDecl::ExportDefaultExpr(_) => {
                links.has_default = true;
                None
            }
            ModuleDecl::ExportDecl(_)
            | ModuleDecl::TsImportEquals(_)
            | ModuleDecl::TsExportAssignment(_)
            | ModuleDecl::TsNamespaceExport(_) => None,
        };
        links.imports.extend(from.and_then(|from| from.value.as_str()).map(str::to_owned));
    }
    links
}

fn exports_default(export: &NamedExport) -> bool {
    let name = |name: &ModuleExportName| *name.atom() == *"default";
    export.specifiers.iter().any(|specifier| match specifier {
        ExportSpecifier::Named(named) => !named.is_type_only && name(named.exported.as_ref().unwrap_or(&named.orig)),
        ExportSpecifier::Default(_) => true,
        ExportSpecifier::Namespace(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::links_of;

    #[test]
    fn imports_and_default_exports_are_found_without_running_code() {
        let links = links_of(
            "import { a } from './a';\nimport type { B } from \"../lib/b\";\nimport './c.ts';\nexport * from './d';\n\
             export { e } from './e';\n// import x from './comment';\nconst text = \"import x from './text'\";\n\
             export default class { private x = 1; }\n",
        );
        assert_eq!(links.imports, ["./a", "../lib/b", "./c.ts", "./d", "./e"]);
        assert!(links.has_default);
        for (code, has_default) in [
            ("export const a = 1;", false),
            ("export interface X { a: string }", false),
            ("const a = 1; export { a as default };", true),
            ("export { default } from './a';", true),
            ("export { default as a } from './a';", false),
            ("export default () => ({})", true),
            ("export default {", false),
        ] {
            assert_eq!(links_of(code).has_default, has_default, "{code}");
        }
    }
}
