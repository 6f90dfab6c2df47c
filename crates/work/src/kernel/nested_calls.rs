//! Nested calls, which the code of a tool makes: a tool defined in an agent's document reads or writes a file or
//! requests an address. Nested calls are checked, approved, recorded and executed like other calls of the agent. Their
//! results are returned to the code, and the model does not see them.

use super::access::RoomAccess;
use super::activation::{Activation, Call, CallProgress, ParentCall, Phase};
use super::core::Kernel;
use super::dispatch::CallAt;
use crate::base::{ActivationKey, Seq};
use crate::mind::{CallEnd, ToolCall};
use crate::tools::{CallAnswer, CallAnswered, OrderKey};

/// The maximum size in bytes of a nested call's result that is stored in case the room is reopened while the code is
/// running.
const ANSWER_BYTES_KEPT: usize = 64 * 1024;

/// How to handle a nested call.
enum CallReuse {
    /// The call was queued.
    New,
    /// The call is already queued or running.
    Pending,
    /// The call was made before the room was reopened; contains its answer.
    Answered(CallAnswer),
}

impl Activation {
    /// The log record that caused a call: the call whose code made it, or the cause of the work.
    pub(super) fn cause_of(&self, call: &Call) -> Seq {
        let Phase::Calling { calls } = &self.phase else { return self.cause };
        let parent = call.within.as_ref().and_then(|within| calls.get(within.call));
        parent.and_then(|parent| parent.record).unwrap_or(self.cause)
    }
}

impl Kernel {
    /// Queues a nested call. Code that is restarted in a reopened room makes the same calls with the same numbers, and
    /// none of them is executed twice.
    fn queue_nested_call(&mut self, (key, turn, index): CallAt, number: u64, wanted: &ToolCall) -> Option<CallReuse> {
        let activation = self.activations.get_mut(&key).filter(|one| one.turn == turn)?;
        let Phase::Calling { calls } = &mut activation.phase else { return None };
        let parent = calls.get(index).filter(|call| call.is_executing())?;
        let id = format!("{}.{number}", parent.call.id);
        let same = |within: &ParentCall| (within.call, within.number) == (index, number);
        if let Some(known) = calls.iter().find(|call| call.within.as_deref().is_some_and(same)) {
            let is_other = (&known.call.name, &known.call.arguments) != (&wanted.name, &wanted.arguments);
            let lost = || CallAnswer::NotDone("its outcome was lost when the workshop was stopped".to_owned());
            let answer = known.within.as_ref().and_then(|within| within.answer.clone());
            return Some(match known.is_answered() {
                true if is_other => CallReuse::Answered(lost()),
                true => CallReuse::Answered(answer.unwrap_or_else(lost)),
                false => CallReuse::Pending,
            });
        }
        let within = Some(Box::new(ParentCall { call: index, number, answer: None }));
        let call = ToolCall { id, ..wanted.clone() };
        calls.push(Call { within, ..Call::new(call) });
        self.is_unsettled = true;
        Some(CallReuse::New)
    }

    /// Closes the unanswered nested calls of a call whose code has ended.
    pub(super) fn close_nested_calls(&mut self, key: ActivationKey, index: usize) {
        let Some(activation) = self.activations.get_mut(&key) else { return };
        let Phase::Calling { calls } = &mut activation.phase else { return };
        for call in calls.iter_mut() {
            if call.within.as_ref().is_some_and(|within| within.call == index) && !call.is_answered() {
                call.progress =
                    CallProgress::Answered("Not carried out: the tool that requested it had ended.".to_owned());
                call.end = Some(CallEnd::NotDone);
                (call.plan, call.question) = (None, None);
                self.outgoing.extend(call.end_sample());
            }
        }
    }

    /// Stores the answer of a nested call. Returns the order of the parent call and the number of the nested call.
    fn note_nested_answer(&mut self, (key, turn, index): CallAt, answer: &CallAnswer) -> Option<(OrderKey, u64)> {
        let activation = self.activations.get_mut(&key).filter(|one| one.turn == turn)?;
        let Phase::Calling { calls } = &mut activation.phase else { return None };
        let within = calls.get_mut(index)?.within.as_mut()?;
        let (CallAnswer::Done(text) | CallAnswer::NotDone(text)) = answer;
        within.answer = (text.len() <= ANSWER_BYTES_KEPT).then(|| answer.clone());
        let (parent, number) = (within.call, within.number);
        Some((calls.get(parent)?.order?, number))
    }
}

impl RoomAccess<'_, '_> {
    /// Handles a request of a running call's code to make a nested call.
    pub(super) fn call_for_code(
        &mut self,
        kernel: &mut Kernel,
        at: CallAt,
        order: OrderKey,
        number: u64,
        call: &ToolCall,
    ) {
        if let Some(CallReuse::Answered(answer)) = kernel.queue_nested_call(at, number, call) {
            self.call_answers.write(CallAnswered { key: order, number, answer });
        }
    }

    /// Delivers the answer of a nested call to the code that made it. Does nothing for other calls.
    pub(super) fn answer_code(&mut self, kernel: &mut Kernel, at: CallAt, answer: CallAnswer) {
        if let Some((key, number)) = kernel.note_nested_answer(at, &answer) {
            self.call_answers.write(CallAnswered { key, number, answer });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::Bench;
    use super::*;
    use crate::base::RunTag;
    use crate::mind::Role;

    fn wanted(path: &str) -> ToolCall {
        ToolCall::new("", "read_text", json!({ "path": path }))
    }

    /// Starts a tool call that is being executed, and returns it with its order.
    fn at_work(bench: &mut Bench) -> (CallAt, OrderKey) {
        let key = bench.start("ada", "x");
        bench.say(key, "", &["report"]);
        let turn = bench.kernel.activation(key).expect("it should continue").turn;
        let call = bench.kernel.running_call(key, turn, 0).expect("it is carried out").call.clone();
        let order = OrderKey::new(RunTag::default(), (key, turn, 0), &call);
        bench.kernel.keep_order(order);
        ((key, turn, 0), order)
    }

    fn current(bench: &Bench, key: ActivationKey) -> Option<usize> {
        bench.kernel.activation(key)?.current_call().map(|(index, _)| index)
    }

    #[test]
    fn nested_calls_run_first_and_are_hidden_from_the_model() {
        let mut bench = Bench::new();
        let (at, order) = at_work(&mut bench);
        let (key, turn, _) = at;
        assert!(matches!(bench.kernel.queue_nested_call(at, 1, &wanted("a")), Some(CallReuse::New)));
        assert!(matches!(bench.kernel.queue_nested_call(at, 2, &wanted("b")), Some(CallReuse::New)));
        assert!(matches!(bench.kernel.queue_nested_call(at, 1, &wanted("a")), Some(CallReuse::Pending)), "once");
        bench.tick();
        assert_eq!(current(&bench, key), Some(1), "one after another");
        let answer = CallAnswer::Done("what stands there".to_owned());
        assert_eq!(bench.kernel.note_nested_answer((key, turn, 1), &answer), Some((order, 1)));
        bench.answer_with(key, (turn, 1), "what stands there");
        assert_eq!(current(&bench, key), Some(2));
        assert!(
            matches!(bench.kernel.queue_nested_call(at, 1, &wanted("a")), Some(CallReuse::Answered(known)) if known == answer)
        );
        bench.answer_with(key, (turn, 2), "that, too");
        assert_eq!(current(&bench, key), Some(0), "the call itself goes on");
        bench.answer_with(key, (turn, 0), "the report");
        let messages = &bench.kernel.activation(key).expect("it should continue").messages;
        let results: Vec<&str> =
            messages.iter().filter(|one| one.role == Role::Tool).map(|one| one.text.as_str()).collect();
        assert_eq!(results, ["the report"]);
    }

    #[test]
    fn pending_nested_calls_are_dropped_when_their_code_has_ended() {
        let mut bench = Bench::new();
        let (at, _) = at_work(&mut bench);
        let (key, turn, _) = at;
        bench.kernel.queue_nested_call(at, 1, &wanted("a"));
        bench.answer_with(key, (turn, 0), "Error: it took too long");
        assert!(current(&bench, key).is_none() && bench.kernel.activation(key).is_some(), "its turn is over");
    }

    #[test]
    fn restarted_code_that_makes_a_different_call_gets_an_error() {
        let mut bench = Bench::new();
        let (at, _) = at_work(&mut bench);
        let (key, turn, _) = at;
        bench.kernel.queue_nested_call(at, 1, &wanted("a"));
        bench.tick();
        bench.kernel.note_nested_answer((key, turn, 1), &CallAnswer::Done("a".to_owned()));
        bench.answer_with(key, (turn, 1), "a");
        let taken = bench.kernel.queue_nested_call(at, 1, &wanted("b"));
        assert!(matches!(taken, Some(CallReuse::Answered(CallAnswer::NotDone(_)))));
    }
}
