//! The date in the room: the wall-clock date when the room was opened, recorded once and advanced in simulated time.
//! Agents see this date, and time-limited permissions expire by it.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::SimClock;
use super::inputs::Input;
use super::saved::Section;
use crate::base::calendar::{SECS_PER_DAY, date_of, stamp};

/// The room was opened at this time. An input.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoomOpened {
    /// The time that the person's clock shows, as seconds since 1970 without a time zone.
    pub local_secs: i64,
}

impl Input for RoomOpened {
    const KIND: &'static str = "room_opened";
}

/// The person's clock differs from the room's date: the computer slept, the room was paused or slow, or the clock was
/// set. An input.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DateCorrected {
    /// The new date of the room, like [`RoomOpened::local_secs`].
    pub local_secs: i64,
}

impl Input for DateCorrected {
    const KIND: &'static str = "date_corrected";
}

/// The date in the room, if known.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RoomDate {
    /// The local time at tick 0, extrapolated if the room was opened later.
    start_secs: Option<i64>,
}

impl RoomDate {
    /// Returns the date and time at this tick for people: “Sunday, 22 November 2026, 14:05”.
    pub fn in_words(self, clock: &SimClock) -> Option<String> {
        self.secs(clock).map(in_words)
    }

    /// Returns the date and time for files: “2026-11-22T14:05:09”.
    pub fn stamp(self, clock: &SimClock) -> Option<String> {
        self.secs(clock).map(stamp)
    }

    /// Returns the seconds since 1970, as the person's clock shows them. Time-limited permissions expire by it: it is
    /// recorded, so that a replay makes the same decisions.
    pub fn secs(self, clock: &SimClock) -> Option<i64> {
        Some(self.start_secs?.saturating_add(clock.secs() as i64))
    }
}

pub(super) fn set_room_date(
    mut opened: MessageReader<RoomOpened>,
    mut corrected: MessageReader<DateCorrected>,
    clock: Res<SimClock>,
    mut date: ResMut<RoomDate>,
) {
    let opened = opened.read().map(|opened| opened.local_secs);
    for local_secs in opened.chain(corrected.read().map(|corrected| corrected.local_secs)) {
        date.start_secs = Some(local_secs.saturating_sub(clock.secs() as i64));
    }
}

impl Section for RoomDate {
    const NAME: &'static str = "date";

    fn save(world: &mut World) -> Self {
        *world.resource::<Self>()
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self);
    }
}

const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn in_words(secs: i64) -> String {
    let (days, in_day) = (secs.div_euclid(SECS_PER_DAY), secs.rem_euclid(SECS_PER_DAY));
    let (year, month, day) = date_of(days);
    let weekday = DAYS[usize::try_from(days.rem_euclid(7)).unwrap_or(0)];
    format!("{weekday}, {day} {} {year}, {:02}:{:02}", MONTHS[month], in_day / 3_600, in_day / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{InputQueue, TICKS_PER_SEC, advance, saved};
    use bevy::app::App;

    #[test]
    fn dates_follow_the_calendar() {
        let table = [
            (0, "Thursday, 1 January 1970, 00:00"),
            (951_782_399, "Monday, 28 February 2000, 23:59"),
            (951_782_400, "Tuesday, 29 February 2000, 00:00"),
            (1_795_356_300, "Sunday, 22 November 2026, 14:05"),
            (-1, "Wednesday, 31 December 1969, 23:59"),
            (4_107_542_400, "Monday, 1 March 2100, 00:00"),
        ];
        for (secs, words) in table {
            assert_eq!(in_words(secs), words);
        }
        assert_eq!(stamp(1_795_356_309), "2026-11-22T14:05:09");
    }

    #[test]
    fn the_date_advances_with_simulated_time_and_is_saved() {
        let mut app = App::new();
        app.add_plugins(crate::schedule::plugin);
        let words = |app: &App| app.world().resource::<RoomDate>().in_words(app.world().resource());
        assert_eq!(words(&app), None, "nobody has set it");
        (0..TICKS_PER_SEC).for_each(|_| advance(app.world_mut()));
        app.world_mut().resource_mut::<InputQueue<RoomOpened>>().push(RoomOpened { local_secs: 1_795_356_300 });
        (0..90 * TICKS_PER_SEC).for_each(|_| advance(app.world_mut()));
        assert_eq!(words(&app).as_deref(), Some("Sunday, 22 November 2026, 14:06"));
        app.world_mut().resource_mut::<InputQueue<DateCorrected>>().push(DateCorrected { local_secs: 1_795_359_960 });
        advance(app.world_mut());
        assert_eq!(words(&app).as_deref(), Some("Sunday, 22 November 2026, 15:06"), "an hour of sleep");
        let world = saved::save_world(app.world_mut()).expect("it can be saved");
        let mut again = App::new();
        again.add_plugins(crate::schedule::plugin);
        saved::load_world(again.world_mut(), &world).expect("it can be loaded");
        assert_eq!(words(&again), words(&app));
    }
}
