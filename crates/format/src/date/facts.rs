//! What of a date is known from a text, and what follows from it: rule S3's closure.

use crate::date::{MonthDay, Reset, Token};

/// A set of facts about a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Facts(u16);

impl Facts {
    pub(crate) const YEAR: Self = Self(1);
    pub(crate) const QUARTER: Self = Self(1 << 1);
    pub(crate) const MONTH: Self = Self(1 << 2);
    pub(crate) const DAY: Self = Self(1 << 3);
    pub(crate) const DAY_OF_YEAR: Self = Self(1 << 4);
    pub(crate) const HOUR: Self = Self(1 << 5);
    pub(crate) const MINUTE: Self = Self(1 << 6);
    pub(crate) const SECOND: Self = Self(1 << 7);
    pub(crate) const ISO_YEAR: Self = Self(1 << 8);
    pub(crate) const ISO_WEEK: Self = Self(1 << 9);
    pub(crate) const FISCAL: Self = Self(1 << 10);

    /// With what a token shows.
    pub(crate) fn and(self, token: &Token) -> Self {
        let fact = match token {
            Token::Year4 | Token::Year2 => Self::YEAR,
            Token::Month => Self::MONTH,
            Token::Day => Self::DAY,
            Token::DayOfYear => Self::DAY_OF_YEAR,
            Token::Hour => Self::HOUR,
            Token::Minute => Self::MINUTE,
            Token::Second => Self::SECOND,
            Token::Quarter => Self::QUARTER,
            Token::IsoYear => Self::ISO_YEAR,
            Token::IsoWeek => Self::ISO_WEEK,
            Token::FiscalStart | Token::FiscalEnd | Token::FiscalYear => Self::FISCAL,
            Token::Literal(_) => return self,
        };
        self.with(fact)
    }

    /// All of both.
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` are known.
    pub(crate) const fn have(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether nothing is known.
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// With all that follows. {Y,M,d} gives everything; {Y,M} the quarter, and the fiscal year only where that begins
    /// with a month; {G,W} gives no calendar year, and no calendar year gives {G,W}.
    pub(crate) fn closed(self, fiscal: MonthDay) -> Self {
        const ALL_OF_A_DAY: Facts = Facts::YEAR
            .with(Facts::QUARTER)
            .with(Facts::MONTH)
            .with(Facts::DAY)
            .with(Facts::DAY_OF_YEAR)
            .with(Facts::ISO_YEAR)
            .with(Facts::ISO_WEEK)
            .with(Facts::FISCAL);
        let rules = [
            (Self::MONTH, Self::QUARTER, true),
            (Self::FISCAL.with(Self::MONTH), Self::YEAR, fiscal.begins_month()),
            (Self::FISCAL.with(Self::MONTH).with(Self::DAY), Self::YEAR, true),
            (Self::FISCAL.with(Self::QUARTER), Self::YEAR, fiscal.begins_quarter()),
            (Self::FISCAL, Self::YEAR, fiscal.is_calendar()),
            (Self::YEAR.with(Self::MONTH).with(Self::DAY), ALL_OF_A_DAY, true),
            (Self::YEAR.with(Self::DAY_OF_YEAR), ALL_OF_A_DAY, true),
            (Self::YEAR.with(Self::MONTH), Self::FISCAL, fiscal.begins_month()),
            (Self::YEAR.with(Self::QUARTER), Self::FISCAL, fiscal.begins_quarter()),
            (Self::YEAR, Self::FISCAL, fiscal.is_calendar()),
        ];
        let mut facts = self;
        loop {
            let before = facts;
            for (from, gives, holds) in rules {
                if holds && facts.have(from) {
                    facts = facts.with(gives);
                }
            }
            if facts == before {
                return facts;
            }
        }
    }

    /// What the text must tell for a counter that begins again so.
    pub(crate) const fn needed(reset: Reset) -> Self {
        let day = Self::YEAR.with(Self::MONTH).with(Self::DAY);
        match reset {
            Reset::Never => Self(0),
            Reset::Year => Self::YEAR,
            Reset::FiscalYear => Self::FISCAL,
            Reset::Quarter => Self::YEAR.with(Self::QUARTER),
            Reset::Month => Self::YEAR.with(Self::MONTH),
            Reset::IsoWeek => Self::ISO_YEAR.with(Self::ISO_WEEK),
            Reset::Day => day,
            Reset::Hour => day.with(Self::HOUR),
        }
    }

    /// The finest unit shown, but no finer than a day: rule S4.
    pub(crate) fn finest(self) -> Reset {
        let below_a_day = [Self::DAY, Self::DAY_OF_YEAR, Self::HOUR, Self::MINUTE, Self::SECOND];
        if below_a_day.into_iter().any(|fact| self.have(fact)) {
            return Reset::Day;
        }
        let coarser = [
            (Self::ISO_WEEK, Reset::IsoWeek),
            (Self::ISO_YEAR, Reset::IsoWeek),
            (Self::MONTH, Reset::Month),
            (Self::QUARTER, Reset::Quarter),
            (Self::FISCAL, Reset::FiscalYear),
            (Self::YEAR, Reset::Year),
        ];
        coarser.into_iter().find(|(fact, _)| self.have(*fact)).map_or(Reset::Never, |(_, reset)| reset)
    }
}
