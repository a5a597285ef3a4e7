//! date (paper, section 2.6).

use crate::calendar::{DAYS, Day, days};
use crate::encode::{Encoder, Fields};
use crate::rows::Dimensional;
use crate::scale::{Scale, Variant};
use crate::table::Table;

/// The reference programs leave out the last day of 1998.
const REFERENCE_DAYS: usize = DAYS - 1;

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
const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
/// The last month of each selling season.
const SEASONS: [(u32, &str); 5] =
    [(3, "Winter"), (4, "Spring"), (8, "Summer"), (10, "Fall"), (12, "Christmas")];
/// Month and day.
const HOLIDAYS: [(u32, u32); 10] =
    [(1, 1), (2, 20), (4, 20), (5, 20), (7, 20), (8, 20), (9, 20), (10, 20), (11, 20), (12, 24)];

/// The date table's rows.
pub(crate) fn rows(scale: &Scale) -> u64 {
    match scale.variant {
        Variant::Reference | Variant::Reports => REFERENCE_DAYS as u64,
        Variant::Paper => DAYS as u64,
    }
}

pub(crate) struct Dates {
    days: Box<dyn Iterator<Item = Day> + Send + Sync>,
    quirks: bool,
}

impl Dimensional for Dates {
    const TABLE: Table = Table::Date;

    fn new(scale: &Scale, skipped: u64) -> Self {
        Self {
            days: Box::new(days().skip(skipped as usize)),
            quirks: scale.variant != Variant::Paper,
        }
    }

    fn next<E: Encoder>(&mut self, fields: &mut Fields<E>) {
        let Some(day) = self.days.next() else { return };
        let weekday = (day.weekday + u32::from(self.quirks)) % 7;
        let month = self.month(day.month);
        fields.integer(day.key());
        fields.text(format!("{month} {}, {}", day.day, day.year).as_bytes());
        fields.text(WEEKDAYS[weekday as usize].as_bytes());
        fields.text(month.as_bytes());
        fields.integer(day.year);
        fields.integer(day.year * 100 + day.month);
        fields.text(format!("{}{}", &month[..3], day.year).as_bytes());
        fields.integer(weekday + 1);
        fields.integer(day.day);
        fields.integer(day.day_of_year);
        fields.integer(day.month);
        fields.integer(day.day_of_year / 7 + 1);
        fields.text(season(day.month).as_bytes());
        fields.text(flag(weekday == 6));
        fields.text(flag(day.last_of_month != self.quirks));
        fields.text(flag(HOLIDAYS.contains(&(day.month, day.day))));
        fields.text(flag((1..=5).contains(&weekday)));
    }
}

impl Dates {
    /// A month's name, as the reference programs spell it.
    fn month(&self, month: u32) -> &'static str {
        match month {
            8 if self.quirks => "Augest",
            10 if self.quirks => "Octorber",
            _ => MONTHS[month as usize - 1],
        }
    }
}

fn season(month: u32) -> &'static str {
    SEASONS.iter().find(|(last, _)| month <= *last).map_or("", |(_, name)| name)
}

fn flag(value: bool) -> &'static [u8] {
    if value { b"1" } else { b"0" }
}
