//! Dates and periods: the local time of the zone determines both the text and the period.

use sequent_format::{DecodeErrorKind, Settings, Template, Unique};

use crate::support::{at, context, format, refused, values, with, zone};

/// The text of number 1, and the period.
fn shown(template: &str, zone_name: &str, instant: &str) -> (String, String) {
    let format = with(template, zone(zone_name));
    let context = context(&format, instant, "");
    let text = context.text(1).unwrap();
    assert_eq!(
        format.decode(&text).unwrap().period.as_deref(),
        Some(context.period()),
        "{template} {instant}"
    );
    (text, context.period().to_owned())
}

fn date(pattern: &str, zone_name: &str, instant: &str) -> String {
    let (text, _) = shown(&format!("@{{date,{pattern}}}/@{{seq}}"), zone_name, instant);
    text.strip_suffix("/1").unwrap().to_owned()
}

#[test]
fn a_day_begins_by_the_zone() {
    let day = |zone, instant| shown("@{date,yyyyMMdd}@{seq,w=3}", zone, instant);
    assert_eq!(day("Asia/Shanghai", "2025-12-31T15:59:59Z"), ("20251231001".into(), "20251231".into()));
    assert_eq!(day("Asia/Shanghai", "2025-12-31T16:00:00Z"), ("20260101001".into(), "20260101".into()));
    assert_eq!(day("UTC", "2025-12-31T16:00:00Z").1, "20251231");
}

#[test]
fn a_month_begins_by_the_zone() {
    let month = shown("@{date,yyyy-MM}/@{seq,w=3}", "Asia/Jakarta", "2021-01-31T23:48:00Z");
    assert_eq!(month, ("2021-02/001".into(), "202102".into()));
}

#[test]
fn iso_weeks_have_their_own_year() {
    assert_eq!(date("GGGG-WW", "UTC", "2024-12-30T12:00:00Z"), "2025-01");
    assert_eq!(date("GGGG-WW", "UTC", "2026-12-31T12:00:00Z"), "2026-53");
    assert_eq!(date("GGGG-WW", "UTC", "2027-01-03T12:00:00Z"), "2026-53");
    assert_eq!(date("GGGG-WW", "UTC", "2027-01-04T12:00:00Z"), "2027-01");
    let error = refused("@{date,yyyy-WW}-@{seq}", &Settings::default());
    assert!(error.contains("2024-01-01 and 2024-12-30 both show \"2024-01\""), "{error}");
}

#[test]
fn fiscal_years_show_both_years_or_the_last() {
    let april = |instant| date("FS-FE,fy=04-01", "UTC", instant);
    assert_eq!(april("2026-03-31T23:59:59Z"), "25-26");
    assert_eq!(april("2026-04-01T00:00:00Z"), "26-27");
    let july = |instant| date("FFFF,fy=07-01", "UTC", instant);
    assert_eq!(july("2016-01-10T00:00:00Z"), "2016");
    assert_eq!(july("2016-08-10T00:00:00Z"), "2017");
    assert_eq!(date("FFFF,fy=01-01", "UTC", "2016-08-10T00:00:00Z"), "2016", "the calendar's");
}

#[test]
fn an_hour_that_clocks_show_twice_is_one_period() {
    let template = "@{date,yyyyMMddHH}@{seq,w=4,reset=hour}";
    let first = shown(template, "America/New_York", "2026-11-01T05:30:00Z");
    let second = shown(template, "America/New_York", "2026-11-01T06:30:00Z");
    assert_eq!((&*first.1, &first), ("2026110101", &second), "the counter goes on, so no text comes twice");
}

#[test]
fn a_day_without_midnight_begins_at_its_first_instant() {
    let day = |instant| shown("@{date,yyyyMMddHHmm}@{seq,w=4}", "America/Sao_Paulo", instant);
    assert_eq!(day("2018-11-04T02:59:59Z"), ("2018110323590001".into(), "20181103".into()));
    assert_eq!(day("2018-11-04T03:00:00Z"), ("2018110401000001".into(), "20181104".into()));
    let format = with("@{date,yyyyMMdd}@{seq}", zone("America/Sao_Paulo"));
    let evening = context(&format, "2018-11-04T02:00:00Z", "");
    assert_eq!(evening.period_until(), Some(at("2018-11-04T03:00:00Z")));
}

#[test]
fn a_skipped_day_is_never_shown() {
    assert_eq!(date("yyyy-MM-dd", "Pacific/Apia", "2011-12-30T10:00:00Z"), "2011-12-31");
    assert_eq!(date("yyyy-MM-dd", "Pacific/Apia", "2011-12-30T09:59:59Z"), "2011-12-29");
}

#[test]
fn texts_hold_until_the_finest_unit_shown_changes() {
    let until = |template: &str, instant: &str| {
        let format = with(template, zone("America/New_York"));
        let context = context(&format, instant, "");
        (context.holds_until().map(|end| end.to_string()), context.period_until().map(|end| end.to_string()))
    };
    let some = |text: &str| Some(text.to_owned());
    let noon = "2026-06-15T16:20:30Z";
    assert_eq!(until("@{seq}", noon), (None, None));
    assert_eq!(until("@{date,yyMM}-@{seq,reset=year}", noon).0, some("2026-07-01T04:00:00Z"));
    // At most until the next change of offset, after which clocks may show an earlier day again.
    assert_eq!(until("@{date,yyMM}-@{seq,reset=year}", noon).1, some("2026-11-01T06:00:00Z"));
    assert_eq!(
        until("@{date,yyyyMMdd}@{seq}", noon),
        (some("2026-06-16T04:00:00Z"), some("2026-06-16T04:00:00Z"))
    );
    assert_eq!(until("@{date,yyyyMMddHHmmss}@{seq}", noon).0, some("2026-06-15T16:20:31Z"));
    assert_eq!(until("@{date,yyyyMMddHHmm}@{seq}", noon).0, some("2026-06-15T16:21:00Z"));
}

#[test]
fn a_context_holds_as_long_as_it_says() {
    // Over a year and a half, with changes of offset in both directions: until it ends, a context renders the same text as a new
    // one.
    let templates = [
        "@{date,yyyyMMddHH}-@{seq,reset=hour}",
        "@{date,GGGG-WW}-@{seq}",
        "@{date,FS-FE,fy=04-06}-@{seq}",
        "@{date,yyyyQ}-@{seq}",
        "@{date,yyyyDDD}-@{seq}",
    ];
    for zone_name in ["America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca"] {
        for template in templates {
            let format = with(template, zone(zone_name));
            let mut instant = at("2017-12-28T00:10:00Z");
            for _ in 0..700 {
                let context = format.context(instant, &values("")).unwrap();
                let end = context.holds_until().unwrap();
                let last = sequent_format::Timestamp::from_second(end.as_second() - 1).unwrap();
                let later = format.context(last, &values("")).unwrap();
                assert_eq!(context.text(1), later.text(1), "{template} {zone_name} {instant} {end}");
                assert_eq!(context.period(), later.period());
                instant = sequent_format::Timestamp::from_second(instant.as_second() + 19 * 3600).unwrap();
            }
        }
    }
}

#[test]
fn two_digits_stand_for_this_century_only() {
    let format = format("@{date,yy}-@{seq}");
    let error = format.context(at("1999-12-31T00:00:00Z"), &values("")).unwrap_err().to_string();
    assert!(error.starts_with("at is \"1999-12-31T00:00:00Z\": year 1999"), "{error}");
    assert!(format.context(at("2099-12-31T23:59:59Z"), &values("")).is_ok());
    assert!(format.context(at("2100-01-01T00:00:00Z"), &values("")).is_err());
    let fiscal = with("@{date,FE,fy=04-01}-@{seq}", zone("UTC"));
    assert!(fiscal.context(at("2000-03-31T00:00:00Z"), &values("")).is_err(), "begun in 1999");
    assert_eq!(context(&fiscal, "2099-04-01T00:00:00Z", "").text(1).unwrap(), "00-1");
    assert_eq!(fiscal.decode("00-1").unwrap().period.as_deref(), Some("FY2100"));
}

#[test]
fn a_callers_date_partitions_the_counter_by_its_text() {
    let format = with("@{date,yyMMdd,at=born}@{seq,w=3,over=error}", zone("Asia/Tokyo"));
    let partition = |born: &str| {
        let context = format.context(at("2026-01-01T00:00:00Z"), &values(&format!("born={born}"))).unwrap();
        context.partition().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(partition("2031-12-31T23:30:00Z"), "born=320101", "an instant is made local");
    assert_eq!(partition("2031-12-31T23:30:00"), "born=311231");
    let error = |born: &str| {
        format.context(at("2026-01-01T00:00:00Z"), &values(&format!("born={born}"))).unwrap_err()
    };
    assert!(error("2026-02-30").to_string().starts_with("born is \"2026-02-30\": a date such as"));
    assert_eq!(format.reset().to_string(), "never");
}

#[test]
fn an_invalid_date_of_a_caller_is_refused() {
    let format = with("@{date,yyyyMMddHHmmss,at=born}@{seq,w=3,over=error}", zone("Asia/Tokyo"));
    let given = |born: &str| {
        let context = format.context(at("2026-01-01T00:00:00Z"), &values(&format!("born={born}")));
        context.map(|context| context.partition().map(|(_, value)| value.to_owned()).collect::<String>())
    };
    for (born, shown) in [
        ("2026-04-01T09:30:59", "20260401093059"),
        ("2026-04-01T00:30:59Z", "20260401093059"),
        ("2026-04-01T09:30:59[Asia/Tokyo]", "20260401093059"),
        ("2026-04-01T08:30:59[Asia/Shanghai]", "20260401093059"),
    ] {
        assert_eq!(given(born).unwrap(), shown, "{born}");
    }
    for (born, said) in [
        ("2026-04-01T09:30:60", "seconds up to 59 are allowed"),
        ("2026-04-01T09:30:60Z", "seconds up to 59"),
        ("2026-04-01T09:30:60[Asia/Tokyo]", "seconds up to 59"),
        ("2026-04-01T093060", "seconds up to 59"),
        ("2026-04-01T09:60", "a date such as"),
        ("2026-04-01T24:00", "a date such as"),
        ("2026-04-01T09:30:00+08:00[America/New_York]", "contradict each other"),
        ("2026-04-01T09:30:00[Nowhere]", "an IANA name"),
    ] {
        let error = given(born).expect_err(born).to_string();
        assert!(error.starts_with("born is ") && error.contains(said), "{born}: {error}");
    }
    // A day that clocks of the zone skipped may be on a birth certificate all the same.
    let apia = with("@{date,yyyyMMdd,at=born}@{seq,w=3,over=error}", zone("Pacific/Apia"));
    assert!(apia.context(at("2026-01-01T00:00:00Z"), &values("born=2011-12-30")).is_ok());
}

#[test]
fn parts_of_one_callers_date_must_agree() {
    let twice = format("@{date,yyyy,at=born}/@{date,yyMMdd,at=born}-@{date,yy,at=other}-@{seq,w=3}");
    let shown = context(&twice, "2026-04-01T12:00:00Z", "born=2012-02-29 other=2013-01-01").text(7).unwrap();
    assert_eq!(shown, "2012/120229-13-007");
    assert_eq!(twice.decode(&shown).unwrap().number, 7, "another value's date is another");
    let error = twice.decode("2013/120229-13-007").unwrap_err();
    assert_eq!((error.kind, error.column), (sequent_format::DecodeErrorKind::Date, 6));
    assert!(error.to_string().contains("2013 and 2012 contradict each other"), "{error}");
    let apart = format("@{date,yyyyMM,at=born}/@{date,dd,at=born}-@{seq,w=3}");
    assert!(apart.decode("201202/29-007").is_ok());
    let error = apart.decode("201302/29-007").unwrap_err().to_string();
    assert!(error.contains("there is no 2013-02-29"), "{error}");
    let template = "@{date,FS,at=a,fy=04-01}@{date,FE,at=a,fy=07-01}@{date,FS,at=b,fy=05-01}@{seq}";
    let error = Template::parse(template).unwrap_err().to_string();
    assert!(error.contains("another part says 04-01"), "{error}");
    let agreed =
        format("@{date,FS,at=a,fy=04-01}@{date,MM,at=a}@{date,FE,at=a}-@{date,FS,at=b,fy=07-01}-@{seq,w=3}");
    let shown = context(&agreed, "2026-04-01T12:00:00Z", "a=2026-03-31 b=2026-03-31").text(1).unwrap();
    assert_eq!(shown, "250326-25-001");
    assert_eq!(agreed.decode(&shown).unwrap().number, 1);
}

#[test]
fn dates_that_do_not_exist_do_not_decode() {
    let day = format("@{date,yyyyMMdd}@{seq,w=3}");
    for (text, said) in [
        ("20260230001", "there is no 2026-02-30"),
        ("20261301001", "13 is out of range for a date: 1 to 12"),
        ("00000101001", "1 to 9998"),
    ] {
        let error = day.decode(text).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
    let week = format("@{date,GGGG-WW}-@{seq}");
    assert!(week.decode("2025-53-1").unwrap_err().to_string().contains("no week 53 in 2025"));
    let both = format("@{date,yyyyMMdd-DDD}@{seq}");
    assert!(both.decode("20260201-0321").is_ok());
    assert!(both.decode("20260201-0331").unwrap_err().to_string().contains("contradict"));
}

#[test]
fn zones_come_from_the_bundled_database() {
    let error = refused("@{seq}", &zone("Mars/Olympus"));
    assert!(
        error.contains("zone is \"Mars/Olympus\"") && error.contains(sequent_format::tzdb_version()),
        "{error}"
    );
    let named = with("@{date,yyyyMMdd,tz=asia/tokyo}@{seq}", zone("UTC"));
    assert_eq!(named.zone_name(), "Asia/Tokyo");
    let two = Template::parse("@{date,yyyy,tz=Asia/Tokyo}@{date,MM,tz=UTC}@{seq}").unwrap_err().to_string();
    assert!(two.contains("another part says Asia/Tokyo"), "{two}");
    assert!(sequent_format::tzdb_version().starts_with("20"));
}

#[test]
fn an_accepted_pattern_determines_the_period() {
    // Every pattern with every reset: an accepted pattern decodes to the period, over some years.
    let patterns = [
        "yyyyMMdd",
        "yyDDD",
        "yyyyMM",
        "yyyyQ",
        "yyyy",
        "GGGGWW",
        "FS",
        "FE",
        "FFFF",
        "FSMM",
        "FEMMdd",
        "FFFFQ",
        "yyyyMMddHH",
        "DDDyyyy",
        "yyyyMMWW",
        "QMM",
        "MMdd",
        "yyWW",
    ];
    let resets = ["auto", "never", "year", "fy", "quarter", "month", "isoweek", "day", "hour"];
    let mut accepted = 0;
    for pattern in patterns {
        for reset in resets {
            for fiscal in ["01-01", "04-01", "04-06", "11-15", "12-31"] {
                let template = format!("@{{date,{pattern},fy={fiscal}}}/@{{seq,reset={reset}}}");
                let read = Template::parse(&template).unwrap();
                let Ok(format) = read.analyze(&Settings::default()) else {
                    // If texts need only be unique per period, every pattern is accepted.
                    assert!(
                        read.analyze(&Settings { unique: Unique::Period, ..Settings::default() }).is_ok()
                    );
                    continue;
                };
                accepted += 1;
                let mut instant = at("2019-12-20T05:00:00Z");
                while instant < at("2025-01-20T00:00:00Z") {
                    let context = format.context(instant, &values("")).unwrap();
                    let parsed = format.decode(&context.text(5).unwrap()).unwrap();
                    assert_eq!(parsed.period.as_deref(), Some(context.period()), "{template} {instant}");
                    instant =
                        sequent_format::Timestamp::from_second(instant.as_second() + 55 * 3600).unwrap();
                }
            }
        }
    }
    assert!(accepted > 200, "{accepted}");
}

#[test]
fn an_invalid_instant_is_refused() {
    let of = |name| with("@{date,yyyyMMdd}@{seq,w=5}", zone(name));
    for (name, text, said) in [
        ("Pacific/Apia", "2011-12-30", "clocks of Pacific/Apia never showed it"),
        ("Pacific/Apia", "2011-12-30T12:00", "set forward over it, to 2011-12-31T12:00:00"),
        ("America/New_York", "2026-03-08T02:30", "clocks of America/New_York never showed it"),
        ("UTC", "2026-03-08T02:30[America/New_York]", "clocks of America/New_York never showed it"),
        ("UTC", "2026-03-08T02:30:00+25:00", "an offset from -23:59 to +23:59 is expected"),
        ("UTC", "2026-03-08T02:30:60Z", "seconds up to 59"),
        ("UTC", "2026-03-08T02:30:60", "seconds up to 59"),
        ("UTC", "20260308T023060Z", "seconds up to 59"),
        (
            "UTC",
            "2026-03-08T02:30:00+08:00[Asia/Tokyo]",
            "clocks of Asia/Tokyo show 2026-03-08T03:30:00+09:00",
        ),
        ("UTC", "2026-03-08T02:30:00+08:00[Asia/Nowhere]", "Asia/Nowhere"),
        ("UTC", "2026-03-08T02:30:00+08:00[Asia/Tokyo", "an instant such as"),
        ("UTC", "2026-02-30", "an instant such as"),
        ("UTC", "soon", "an instant such as"),
        ("UTC", "0000-12-31", "years 1 to 9998 are allowed"),
        ("Asia/Tokyo", "0000-01-01", "years 1 to 9998 are allowed"),
        ("Asia/Tokyo", "9998-12-31T23:00:00Z", "years 1 to 9998 are allowed"),
    ] {
        let error = of(name).instant(text).unwrap_err();
        assert_eq!((error.field.as_str(), error.value.as_str()), ("at", text));
        assert!(error.bound.contains(said), "{text}: {error}");
    }
    for (name, text, instant) in [
        ("America/New_York", "2026-11-01T01:30", "2026-11-01T05:30:00Z"),
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"),
        ("UTC", "2026-03-08T02:30:00+09:00[Asia/Tokyo]", "2026-03-07T17:30:00Z"),
        ("UTC", "2026-03-07T17:30:00Z[Asia/Tokyo]", "2026-03-07T17:30:00Z"),
        ("UTC", "2026-03-08T02:30[Asia/Tokyo]", "2026-03-07T17:30:00Z"),
        ("UTC", "2026-03-08T02:30:59.5+14:00", "2026-03-07T12:30:59.5Z"),
    ] {
        assert_eq!(of(name).instant(text).map_err(|error| error.to_string()), Ok(at(instant)), "{text}");
    }
}

#[test]
fn a_time_that_clocks_skip_does_not_decode() {
    for (pattern, name, text, good) in [
        ("yyyyMMdd", "Pacific/Apia", "2011123000001", false),
        ("yyyyMMdd", "Pacific/Apia", "2011123100001", true),
        ("yyyyMMddHH", "America/New_York", "202603080200001", false),
        ("yyyyMMddHH", "America/New_York", "202603080300001", true),
        ("yyyyMMddHHmm", "America/New_York", "20260308023000001", false),
        ("yyyyMMdd", "America/Sao_Paulo", "2018110400001", true),
        ("yyyyMMddHH", "America/Sao_Paulo", "201811040000001", false),
        ("yyyyMMddHH", "Australia/Lord_Howe", "202610040200001", true),
        ("yyyyMMddHHmm", "Australia/Lord_Howe", "20261004021500001", false),
    ] {
        let format = with(&format!("@{{date,{pattern}}}@{{seq,w=5,wmax=5}}"), zone(name));
        let read = format.decode(text);
        assert_eq!(read.is_ok(), good, "{pattern} {name} {text}: {read:?}");
    }
}

#[test]
fn a_number_that_the_counter_never_gives_does_not_decode() {
    for (template, text, said) in [
        ("@{date,yyyyMMdd}@{seq,w=5}", "2017030400000", "numbers begin at 1"),
        ("W@{seq,start=10,step=5,w=6,over=error}", "W000012", "numbers are 10, 15, …: in steps of 5"),
        ("W@{seq,start=10,step=5,w=6,over=error}", "W000005", "numbers begin at 10"),
        ("W@{seq,w=5,start=99999}", "W00001", "numbers begin at 99999"),
    ] {
        let error = format(template).decode(text).unwrap_err();
        assert!(error.to_string().contains(said), "{template} {text}: {error}");
    }
    let steps = format("W@{seq,start=10,step=5,w=6,over=error}");
    assert_eq!(steps.decode("W000015").unwrap().number, 15);
}

#[test]
fn earlier_hours_are_those_that_clocks_showed() {
    let format = with("@{date,yyyyMMddHH}@{seq,w=4,reset=hour}", zone("America/New_York"));
    let back = |instant, count| format.period_back(at(instant), count).unwrap();
    assert_eq!(back("2026-03-08T07:30:00Z", 0), "2026030803");
    assert_eq!(back("2026-03-08T07:30:00Z", 1), "2026030801", "02 never was");
    assert_eq!(back("2026-11-01T05:30:00Z", 1), "2026110100", "01 for the first time");
    assert_eq!(back("2026-11-01T06:30:00Z", 1), "2026110100", "and for the second");
    assert_eq!(back("2026-11-01T07:30:00Z", 1), "2026110101");
}

/// Two fields of a date, as patterns that begin with a separator: some day must have both.
#[test]
fn contradictory_fields_do_not_decode() {
    for (pattern, text, says) in [
        ("yyyy-GGGG-'W'WW", "2026-2030-W05", "year 2026 and ISO year 2030 contradict each other"),
        ("yyyy-GGGG-'W'WW", "2026-2025-W52", "year 2026 and ISO year 2025 contradict each other"),
        ("yyyy-FFFF", "2026-2030", "year 2026 and fiscal year from 2029 contradict each other"),
        ("FS-FE", "26-28", "26 and 2027 contradict each other"),
        ("MM-DDD", "02-300", "month 2 and day of the year 300 contradict each other"),
        ("yyyy-Q-GGGG-WW", "2026-1-2026-30", "quarter 1 and ISO week 30 contradict each other"),
        ("MM-WW", "07-02", "month 7 and ISO week 2 contradict each other"),
    ] {
        let template = format!("@{{date,{pattern},fy=04-01}}-@{{seq,w=2,reset=never}}");
        let error = format(&template).decode(&format!("{text}-01")).expect_err(text);
        assert_eq!(error.kind, DecodeErrorKind::Date, "{text}");
        assert!(error.to_string().contains(says), "{text}: {error}");
    }
}

/// A text decodes if and only if some day shows it: every text of a small pattern, and every day of 28 years.
#[test]
fn a_date_decodes_exactly_if_some_day_shows_it() {
    let days: Vec<_> = std::iter::successors(Some(jiff::civil::date(2000, 1, 1)), |day| day.tomorrow().ok())
        .take_while(|day| day.year() < 2028)
        .collect();
    for (pattern, low, high) in
        [("MMDDD", 12, 366), ("MMWW", 12, 53), ("QWW", 4, 53), ("QDDD", 4, 366), ("MMdd", 12, 31)]
    {
        let template = format(&format!("@{{date,{pattern}}}-@{{seq,w=2,reset=never}}"));
        let shown: std::collections::BTreeSet<String> = days
            .iter()
            .map(|day| {
                let instant = template.instant(&day.to_string()).unwrap();
                template.context(instant, &values("")).unwrap().text(1).unwrap()
            })
            .collect();
        let widths = if pattern.ends_with("DDD") { 3 } else { 2 };
        let first = if pattern.starts_with('Q') { 1 } else { 2 };
        for (one, two) in (1..=low).flat_map(|one| (1..=high).map(move |two| (one, two))) {
            let text = format!("{one:0first$}{two:0widths$}-01");
            assert_eq!(template.decode(&text).is_ok(), shown.contains(&text), "{pattern}: {text}");
        }
    }
}
