//! One text from a context at hand, beside `itoa` of the number alone: goal S12; and with a context of its own, which is
//! what a request of one text costs.

use std::{hint::black_box, process::ExitCode, time::Duration};

use sequent_benches::{Options, Row, print, side_by_side, timed};
use sequent_format::{Format, RenderError, Settings, Template, Timestamp, Values};

/// Texts a round: so few that a round of either side ends before the machine turns to something else.
const TEXTS: u64 = 20_000;

/// Where numbers begin: eight digits, as a counter has that is in use.
const FIRST: u64 = 10_000_000;

const TEMPLATE: &str = "@{date,yyyyMMdd}@{seq,w=8}@{check,damm}";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("rendering: {text}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let options = Options::from_args()?;
    let template = Template::parse(TEMPLATE).map_err(|error| error.to_string())?;
    let settings = Settings { zone: "Asia/Shanghai".into(), ..Settings::default() };
    let format = template.analyze(&settings).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    let plan: [(&str, &dyn Fn() -> Row); 2] = [
        ("S12", &|| side_by_side("S12", 0.1, (TEXTS, options.rounds), || render(&format), digits)),
        ("S12-issue", &|| {
            side_by_side("S12-issue", 0.0, (TEXTS, options.rounds), || context_each(&format), digits)
        }),
    ];
    for (name, measure) in plan {
        if options.wants(name) {
            rows.push(measure());
        }
    }
    print(&rows, options.json);
    Ok(())
}

/// All texts of one request.
fn render(format: &Format) -> Duration {
    let Ok(context) = format.context(Timestamp::UNIX_EPOCH, &Values::new()) else { return Duration::MAX };
    let mut out = String::with_capacity(64);
    timed(|| {
        for number in FIRST..FIRST + TEXTS {
            out.clear();
            checked(context.render(black_box(number), &mut out));
            black_box(&out);
        }
    })
}

/// A request for each text: values checked, the zone asked, the date written.
fn context_each(format: &Format) -> Duration {
    let none = Values::new();
    let mut out = String::with_capacity(64);
    timed(|| {
        for number in FIRST..FIRST + TEXTS {
            out.clear();
            if let Ok(context) = format.context(black_box(Timestamp::UNIX_EPOCH), &none) {
                checked(context.render(number, &mut out));
            }
            black_box(&out);
        }
    })
}

/// The baseline: the number's digits, in a buffer on the stack, copied nowhere.
fn digits() -> Duration {
    timed(|| {
        for number in FIRST..FIRST + TEXTS {
            black_box(itoa::Buffer::new().format(black_box(number)));
        }
    })
}

/// A round in which a text failed is worth nothing, and none can.
fn checked(outcome: Result<(), RenderError>) {
    if let Err(error) = outcome {
        eprintln!("rendering: {error}");
        std::process::exit(1);
    }
}
