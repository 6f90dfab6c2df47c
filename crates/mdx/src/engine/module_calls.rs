//! Calls of a module's functions, and their results.

use rquickjs::function::IntoArgs;
use rquickjs::{Function, Object, Promise, Value};
use serde_json::Value as Json;

use super::event_loop::Session;
use super::limits::EngineLimits;
use super::outcome::ToolFailure;
use super::running_module::ModuleCommand;

/// Calls functions of a module with these limits.
#[derive(Clone, Copy)]
pub(super) struct ModuleCalls(pub(super) EngineLimits);

impl ModuleCalls {
    /// Calls a function of the module.
    pub(super) fn begin<'js, A: IntoArgs<'js>>(
        &self,
        session: &Session<'_, 'js>,
        name: &str,
        arguments: A,
    ) -> Result<Value<'js>, ToolFailure> {
        let called = || -> rquickjs::Result<Value<'js>> {
            let module: Function<'js> = session.world.get("module")?;
            let module: Object<'js> = module.call(())?;
            module.get::<_, Function<'js>>(name)?.call(arguments)
        };
        called().map_err(|_| self.thrown(session))
    }

    /// Starts to execute an order.
    pub(super) fn begin_order<'js>(
        &self,
        session: &Session<'_, 'js>,
        order: ModuleCommand,
    ) -> Result<Value<'js>, ToolFailure> {
        match order {
            ModuleCommand::SystemPrompt => self.begin(session, "systemPrompt", ()),
            ModuleCommand::Start => self.begin(session, "start", ()),
            ModuleCommand::Stop => self.begin(session, "stop", ()),
            ModuleCommand::Tool { name, arguments } => {
                let params =
                    session.ctx.json_parse(Json::Object(arguments).to_string()).map_err(|_| self.thrown(session))?;
                self.begin(session, "tool", ("1", name, params))
            }
        }
    }

    /// Converts a result to text.
    pub(super) fn text(&self, value: Value<'_>) -> String {
        let text = value.into_string().map(|text| text.to_string());
        let text = text.and_then(Result::ok).unwrap_or_default();
        super::call::cut(text, self.0.output_bytes)
    }

    /// Returns the result of a settled promise.
    pub(super) fn result<'js>(
        &self,
        session: &Session<'_, 'js>,
        promise: &Promise<'js>,
    ) -> Result<Value<'js>, ToolFailure> {
        let result = promise.result::<Value<'js>>().unwrap_or_else(|| Err(rquickjs::Error::Exception));
        result.map_err(|_| self.thrown(session))
    }

    /// Waits for a promise and returns its result.
    pub(super) fn settled<'js>(
        &self,
        session: &Session<'_, 'js>,
        promise: &Promise<'js>,
    ) -> Result<Value<'js>, ToolFailure> {
        session.run_until_settled(promise).map_err(|stop| ToolFailure::stopped(stop, &self.0))?;
        self.result(session, promise)
    }

    /// Returns the exception, or why the code was stopped.
    pub(super) fn thrown(&self, session: &Session<'_, '_>) -> ToolFailure {
        let ended = || session.shared.clock.stopped().map(|stop| ToolFailure::stopped(stop, &self.0));
        ended().unwrap_or_else(|| {
            let caught = session.caught();
            ended().unwrap_or(caught)
        })
    }
}
