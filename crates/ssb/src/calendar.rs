//! The days from 1992-01-01 on.

/// Days of 1992 to 1998, two of which are leap years.
pub(crate) const DAYS: usize = 2557;

const MONTH_DAYS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Day {
    pub year: u32,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    /// 1 to 366.
    pub day_of_year: u32,
    /// 0 is Sunday.
    pub weekday: u32,
    pub last_of_month: bool,
}

impl Day {
    /// The key of dates: yyyymmdd.
    pub(crate) fn key(&self) -> u32 {
        self.year * 10_000 + self.month * 100 + self.day
    }
}

/// All days, in order.
pub(crate) fn days() -> impl Iterator<Item = Day> {
    let mut next =
        Day { year: 1992, month: 1, day: 1, day_of_year: 1, weekday: 3, last_of_month: false };
    (0..DAYS).map(move |_| {
        let today = next;
        next.weekday = (today.weekday + 1) % 7;
        next.day += 1;
        next.day_of_year += 1;
        if today.last_of_month {
            next.day = 1;
            next.month += 1;
        }
        if next.month == 13 {
            next = Day { year: today.year + 1, month: 1, day_of_year: 1, ..next };
        }
        next.last_of_month = next.day == month_days(next.year, next.month);
        today
    })
}

fn month_days(year: u32, month: u32) -> u32 {
    // Of 1992 to 1998 every fourth year is a leap year.
    MONTH_DAYS[month as usize - 1] + u32::from(month == 2 && year % 4 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_years_of_days() {
        let all: Vec<Day> = days().collect();
        assert_eq!(all[0].key(), 19_920_101);
        assert_eq!(all[59].key(), 19_920_229);
        assert!(all[59].last_of_month);
        assert_eq!(all[60].key(), 19_920_301);
        assert_eq!(all[DAYS - 1].key(), 19_981_231);
        assert_eq!(all[DAYS - 1].weekday, 4, "1998-12-31 was a Thursday");
        assert_eq!(all[DAYS - 1].day_of_year, 365);
        assert_eq!(all[365].day_of_year, 366);
    }
}
