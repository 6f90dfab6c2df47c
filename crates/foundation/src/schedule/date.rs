//! The date in the room: what the wall clock said when the room was opened, recorded once, and counted on in simulated
//! time. Nothing in the world decides by it; it is told to whoever asks what day it is.

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::SimClock;
use super::door::Input;
use super::saved::Section;

/// The room was opened at this time. An input.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoomOpened {
    /// Seconds of the wall clock since 1970, where the person is: what their clock shows, taken for UTC.
    pub local_secs: i64,
}

impl Input for RoomOpened {
    const KIND: &'static str = "room_opened";
}

/// What the date is in the room, where it was ever told.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RoomDate {
    /// What the person's clock showed, or would have shown, at tick 0.
    start_secs: Option<i64>,
}

impl RoomDate {
    /// The date and the time at this tick: “Sunday, 22 November 2026, 14:05”.
    pub fn in_words(self, clock: &SimClock) -> Option<String> {
        Some(in_words(self.start_secs?.saturating_add(clock.secs() as i64)))
    }

    /// The same for a file: “2026-11-22T14:05:09”.
    pub fn stamp(self, clock: &SimClock) -> Option<String> {
        self.secs(clock).map(stamp_of)
    }

    /// The same in seconds since 1970, as the person's clock shows them.
    pub fn secs(self, clock: &SimClock) -> Option<i64> {
        Some(self.start_secs?.saturating_add(clock.secs() as i64))
    }
}

/// Such seconds for a file: “2026-11-22T14:05:09”.
pub fn stamp_of(secs: i64) -> String {
    stamp(secs)
}

/// The seconds of a time as files have it: a date, `T` or a blank, and a time of day. Fractions and what stands behind
/// them, such as `Z`, are left out: it is taken for the time of the person's clock.
pub fn secs_of_stamp(text: &str) -> Option<i64> {
    let text = text.trim();
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let number = |text: &str, least: i64, most: i64| -> Option<i64> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|number| is_number && (least..=most).contains(number))
    };
    let parts = |text: &str, sign: char| -> Option<(String, String, String)> {
        let mut parts = text.splitn(3, sign).map(str::to_owned);
        Some((parts.next()?, parts.next()?, parts.next()?))
    };
    let (year, month, day) = parts(date, '-')?;
    let (hour, minute, rest) = parts(time, ':')?;
    let second = rest.get(..2)?;
    let (year, month, day) = (number(&year, 1970, 2_399)?, number(&month, 1, 12)?, number(&day, 1, 31)?);
    let of_day = number(&hour, 0, 23)? * 3_600 + number(&minute, 0, 59)? * 60 + number(second, 0, 60)?;
    // As many days as there are before the first of that month: found from the calendar that writes stamps.
    let near = (year - 1970) * 365 + (year - 1969) / 4 + (month - 1) * 30;
    let first = (near - 40..near + 40).find(|days| {
        let (its_year, its_month, its_day) = civil(*days);
        (its_year, its_month as i64 + 1, its_day) == (year, month, 1)
    })?;
    Some((first + day - 1) * SECS_PER_DAY + of_day)
}

pub(super) fn hear(mut opened: MessageReader<RoomOpened>, clock: Res<SimClock>, mut date: ResMut<RoomDate>) {
    for opened in opened.read() {
        date.start_secs = Some(opened.local_secs.saturating_sub(clock.secs() as i64));
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

const SECS_PER_DAY: i64 = 86_400;
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
    let (year, month, day) = civil(days);
    let weekday = DAYS[usize::try_from(days.rem_euclid(7)).unwrap_or(0)];
    format!("{weekday}, {day} {} {year}, {:02}:{:02}", MONTHS[month], in_day / 3_600, in_day / 60 % 60)
}

fn stamp(secs: i64) -> String {
    let (days, in_day) = (secs.div_euclid(SECS_PER_DAY), secs.rem_euclid(SECS_PER_DAY));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (in_day / 3_600, in_day / 60 % 60, in_day % 60);
    format!("{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}", month + 1)
}

/// Year, month from 0 and day from 1 of so many days since 1 January 1970.
fn civil(days: i64) -> (i64, usize, i64) {
    // Years begin in March here, so that a leap day is the last of its year.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    (year, usize::try_from(month).unwrap_or(0), day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Door, TICKS_PER_SEC, advance, saved};
    use bevy::app::App;

    #[test]
    fn dates_are_those_of_the_calendar() {
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
        for secs in [0, 951_782_399, 951_782_400, 1_795_356_309, 4_107_542_400, 7_258_118_399] {
            assert_eq!(secs_of_stamp(&stamp(secs)), Some(secs));
            assert_eq!(secs_of_stamp(&format!("{}.076Z", stamp(secs).replace('T', " "))), Some(secs));
        }
        for odd in
            ["", "yesterday", "2026-11-22", "2026-13-01T00:00:00", "2026-11-22T24:00:00", "1-1-1T1:1:1", "é-é-éTé:é:é"]
        {
            assert_eq!(secs_of_stamp(odd), None, "{odd}");
        }
    }

    #[test]
    fn the_date_goes_on_with_simulated_time_and_outlives_the_process() {
        let mut app = App::new();
        app.add_plugins(crate::schedule::plugin);
        let words = |app: &App| app.world().resource::<RoomDate>().in_words(app.world().resource());
        assert_eq!(words(&app), None, "nobody has told it");
        (0..TICKS_PER_SEC).for_each(|_| advance(app.world_mut()));
        app.world_mut().resource_mut::<Door<RoomOpened>>().push(RoomOpened { local_secs: 1_795_356_300 });
        (0..90 * TICKS_PER_SEC).for_each(|_| advance(app.world_mut()));
        assert_eq!(words(&app).as_deref(), Some("Sunday, 22 November 2026, 14:06"));
        let world = saved::save_world(app.world_mut()).expect("it can be saved");
        let mut again = App::new();
        again.add_plugins(crate::schedule::plugin);
        saved::load_world(again.world_mut(), &world).expect("it can be loaded");
        assert_eq!(words(&again), words(&app));
    }
}
