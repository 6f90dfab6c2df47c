//! What communication between agents at work costs.

use std::hint::black_box;

use agent_workshop::base::{Id, Seq};
use agent_workshop::orchestration::channels::NewMessage;
use agent_workshop::orchestration::{ChannelSettings, Channels, result_text};

use super::measure::{Figure, Times, digits};

const MESSAGES: u64 = 10_000;
const SUBSCRIBERS: usize = 100;
/// Every subscriber has a turn after this many messages.
const MESSAGES_PER_TURN: u64 = 25;

/// Measures the delivery of ten thousand messages to a hundred agents, formatted for their prompts.
pub fn channel() -> Vec<Figure> {
    let settings = ChannelSettings::default();
    let agents: Vec<Id> = (0..SUBSCRIBERS).map(|number| format!("agent-{number}").into()).collect();
    let mut heard = 0;
    let times = Times::of(1, 5, || {
        let mut channels = Channels::default();
        for agent in &agents {
            channels.subscribe("findings", agent, (None, 0), &settings).expect("there is room");
        }
        heard = 0;
        for number in 1..=MESSAGES {
            let text = format!("finding {number}: there are {} chairs in the hall", number % 97);
            let new =
                NewMessage { by: "researcher".into(), work: None, text, hops: 0, tick: number, cause: Seq(number) };
            channels.publish("findings", new, &settings).expect("every subscriber should receive it in time");
            if number % MESSAGES_PER_TURN == 0 {
                for agent in channels.waiting() {
                    let told = channels.deliver(&agent, &settings);
                    heard += told.iter().map(|told| told.messages.len()).sum::<usize>();
                    black_box(result_text::news(&told));
                }
            }
        }
    });
    let what = format!(
        "{MESSAGES} channel messages to {SUBSCRIBERS} subscribers, in the words that each is told, without a room"
    );
    let each = times.median() * 1e3 / heard as f64;
    vec![Figure::at_most_ms(what, 1_000.0, &times).against(format!("{heard} deliveries, {} µs each", digits(each)))]
}
