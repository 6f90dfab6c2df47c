//! The tests of the examples: what must hold for an element, an event, a pane, a part of prompts, a reason to wake, a tool
//! and a way out of the world that another crate adds. They are beside their example and in one program, because linking
//! the workshop takes longer than compiling and running them.

#[path = "../element/tests.rs"]
mod element;
#[path = "../event/tests.rs"]
mod event;
mod extending;
#[path = "../outside/tests.rs"]
mod outside;
#[path = "../pane/tests.rs"]
mod pane;
#[path = "../prompt_part/tests.rs"]
mod prompt_part;
#[path = "../reason/tests.rs"]
mod reason;
#[path = "../tool/tests.rs"]
mod tool;
#[path = "../../tests/it/whole_window.rs"]
#[expect(dead_code, reason = "the program's own tests use all of it")]
mod whole_window;
#[path = "../../tests/it/workshop.rs"]
#[expect(dead_code, reason = "the program's own tests use all of it")]
mod workshop;
