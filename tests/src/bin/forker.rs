//! A process that leases numbers, then becomes two: each goes on with what it has.
//!
//!     forker SERVERS NAME COUNT       with the same handles
//!     forker SERVERS NAME futures     with the same futures
//!
//! Prints `before NAME N`, then `parent NAME N` and `child NAME N`: COUNT each, or what each future gave; at last, who is done.

use std::{
    error::Error,
    io::{self, Write},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context, Wake, Waker},
    thread,
    time::Duration,
};

use daemonix::{Daemonize, Outcome, Stdio};
use sequent_client::{Error as SdkError, Number, Sequence, blocking};
use tokio::{runtime::Runtime, time::sleep};

/// No call here ends by its deadline.
const DEADLINE: Duration = Duration::from_secs(60);

/// More than is ever held.
const MANY: usize = 500_000;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [servers, name, what] = args.as_slice() else {
        return Err("usage: forker SERVERS NAME COUNT|futures".into());
    };
    if what == "futures" { futures(servers, name) } else { handles(servers, name, what.parse()?) }
}

/// Handles, used before and afterwards.
fn handles(servers: &str, name: &str, count: usize) -> Result<(), Box<dyn Error>> {
    let orders = blocking::Client::connect(servers)?.sequence(name)?;
    orders.ready()?;
    // Demand, so that much is held when the process becomes two.
    for _ in 0..10 {
        print("before", name, orders.next_many(100)?)?;
    }
    let mut local = orders.local();
    print("before", name, [local.next()?])?;
    let who = fork()?;
    let taken: Result<Vec<Number>, SdkError> = (0..count)
        .map(|turn| match turn % 3 {
            0 => orders.next(),
            1 => local.next(),
            _ => orders.next_fresh(),
        })
        .collect();
    print(who, name, taken?)
}

type Call<'a> = Pin<Box<dyn Future<Output = Result<Vec<Number>, SdkError>> + Send + 'a>>;

/// Futures that were made before, some of them polled and dealt their answer; and what is only dropped afterwards.
fn futures(servers: &str, name: &str) -> Result<(), Box<dyn Error>> {
    let runtime = runtime()?;
    let client = runtime.block_on(sequent_client::Client::connect(servers))?;
    let sequence = |kind: &str| -> Result<Sequence, SdkError> {
        Ok(client.sequence(&format!("{name}-{kind}"))?.deadline(DEADLINE))
    };
    let held = sequence("held")?;
    for _ in 0..10 {
        print("before", held.name(), runtime.block_on(held.next_many(100))?)?;
    }
    let mut local = held.local();
    print("before", held.name(), [runtime.block_on(local.next())?])?;
    let of_local = local.next();
    let of_held = held.next();
    let kinds = ["next", "local", "many", "fresh", "batch"].map(&sequence);
    let [next, dry, many, fresh, batch] = kinds;
    let (next, dry, many, fresh, batch) = (next?, dry?, many?, fresh?, batch?);
    let mut of_dry = dry.local();
    let mut calls: Vec<(&str, Call<'_>)> = vec![
        (next.name(), Box::pin(async { Ok(vec![next.next().await?]) })),
        (dry.name(), Box::pin(async { Ok(vec![of_dry.next().await?]) })),
        (many.name(), Box::pin(many.next_many(5))),
        (fresh.name(), Box::pin(async { Ok(vec![fresh.next_fresh().await?]) })),
        (batch.name(), Box::pin(async { Ok(batch.next_batch(5).await?.numbers) })),
    ];
    runtime.block_on(dealt(&mut calls));
    calls.push((held.name(), Box::pin(async move { Ok(vec![of_held.await?]) })));
    calls.push((held.name(), Box::pin(async move { Ok(vec![of_local.await?]) })));

    // What is dropped in a child while a thread of the parent is in the middle of it: a handle with a chunk, a wait.
    let locked = sequence("locked")?;
    for _ in 0..10 {
        runtime.block_on(locked.next_many(100))?;
    }
    let mut chunk = locked.local();
    runtime.block_on(chunk.next())?;
    let mut wait: Call<'_> = Box::pin(locked.next_many(MANY));
    let entered = runtime.enter();
    drop(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    let go_on = hold(&runtime, &locked)?;
    drop(entered);

    let who = fork()?;
    if who == "child" {
        // As where a thread forks in the middle of its runtime: what is begun there would never come to an end.
        let _entered = runtime.enter();
        assert!(held.try_next().is_none() && next.local().try_next().is_none(), "what the parent holds");
    }
    let own = if who == "child" { self::runtime()? } else { runtime };
    if who == "parent" {
        drop(go_on);
    }
    for (kind, call) in calls {
        print(who, kind, own.block_on(call)?)?;
    }
    drop((wait, chunk));
    print(who, "done", [])?;
    // A child must not end its parent's runtime.
    std::process::exit(0)
}

/// Polls each once, and comes back when all have been woken: their answers are there, and nobody has fetched them.
async fn dealt(calls: &mut [(&str, Call<'_>)]) {
    struct Woken(AtomicUsize);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    for (kind, call) in calls {
        let woken = Arc::new(Woken(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&woken));
        let found = call.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(found.is_pending(), "{kind} was answered at once");
        while woken.0.load(Ordering::Relaxed) == 0 {
            sleep(Duration::from_millis(1)).await;
        }
    }
}

/// A thread that is in the middle of `sequence`, with its lock in hand, until what this returns is dropped.
fn hold(runtime: &Runtime, sequence: &Sequence) -> Result<mpsc::Sender<()>, Box<dyn Error>> {
    /// A waker that is slow to go away: it goes where its place in the queue is given to another.
    struct Slow(mpsc::SyncSender<()>, std::sync::Mutex<mpsc::Receiver<()>>);
    impl Wake for Slow {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Slow {
        fn drop(&mut self) {
            self.0.send(()).ok();
            drop(self.1.get_mut().map(|end| end.recv()));
        }
    }
    let ((inside, is_inside), (go_on, end)) = (mpsc::sync_channel(1), mpsc::channel());
    // Without a deadline: a timer would hold the waker too.
    let (sequence, handle) = (sequence.clone().deadline(Duration::MAX), runtime.handle().clone());
    thread::spawn(move || {
        let _timers = handle.enter();
        let mut wait: Call<'_> = Box::pin(sequence.next_many(MANY));
        let slow = Waker::from(Arc::new(Slow(inside, end.into())));
        drop(wait.as_mut().poll(&mut Context::from_waker(&slow)));
        drop(slow);
        drop(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    });
    is_inside.recv()?;
    Ok(go_on)
}

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// A double fork, as every daemon does it; what it changes besides is kept as it was.
fn fork() -> Result<&'static str, Box<dyn Error>> {
    let here = std::env::current_dir()?;
    let kept = Daemonize::new().working_directory(here).stdout(Stdio::keep()).stderr(Stdio::keep());
    Ok(match kept.execute() {
        Outcome::Parent(parent) => parent.map(|_| "parent")?,
        Outcome::Child(child) => child.map(|_| "child")?,
    })
}

/// One write for all, so that lines of two processes do not mix.
fn print(who: &str, name: &str, numbers: impl IntoIterator<Item = Number>) -> Result<(), Box<dyn Error>> {
    let mut lines = Vec::new();
    for number in numbers {
        writeln!(lines, "{who} {name} {number}")?;
    }
    if name == "done" {
        writeln!(lines, "{who} done")?;
    }
    // Standard output's own buffer may hold what the other process prints too.
    io::stderr().flush()?;
    let mut out = std::fs::OpenOptions::new().append(true).open("/dev/stdout")?;
    out.write_all(&lines)?;
    Ok(out.flush()?)
}
