//! What `sequent recover --help` says.

pub(super) const EXAMPLES: &str = "\
Examples:
  sequent recover                what each answer would do here, and the least N that the cells at hand prove; does nothing
  sequent recover --bump 100000  the safe one: it is older, and no counter has come more than 100000 raw ids further
  sequent recover --since 2026-11-20T03:00:00Z        it is a copy of then: works out a bump, prints it, does nothing
  sequent recover --since 2026-11-20T03:00:00Z --yes  and does it
  sequent recover --since 2026-11-20T03:00:00Z --at-most-per-second 500   no sequence was asked for more than that since
  sequent recover --bump 100000 --without 2 --yes     the store of slot 2 can't be read, and it is done all the same
  sequent recover --moved --yes  only where this is the newest state: no number was given after it was copied or moved

What it does: adds the bump to the ceiling of each counter, raises the ledger's version above every mark that \
can be found, and makes the ledger speak as a new instance. Each counter then begins a new epoch above its \
ceiling at its next use. Nothing is lowered, and no number is taken.

Nothing inside the data can tell which answer is true. Without one, each of them is printed with what it means, the next number that \
it would give of the first sequences, and what is at stake; nothing is done. With --bump name more rather than less: numbers \
are skipped, never lost, and a repeated number can't be taken back. With --moved every number is given again that was given \
after the state at hand was copied: it is true of the newest state alone, where the place it was moved from is never started again.

What could give a number twice is not done without --yes: --moved and --since always, and --bump where not every cell at hand \
proves it: no store is newer than the ledger, a store is not seen or lists no cells, or there are dense sequences, which the ledger \
alone counts. Nor where nothing shows a loss (the ledger is behind no mark at hand, and was neither copied nor emptied), or a server \
of this data directory runs. The answers are printed then, for each key the last number before, the first after and what would be \
skipped, and the line to type; the exit code is 3 (CONFIRMATION_REQUIRED). --json has the same.

N of --bump is a distance, not a count: at least the highest number of any sequence that anybody holds, less the highest \
number that the copy permits. `sequent show NAME` prints what it permits, slot by slot; where slots differ take the least \
of `highest number` (of a dense sequence, `last number`), and 0 for a slot, or a key, that is not listed. (As raw ids: the one that `sequent explain NAME \
NUMBER` says, less the least `ceiling`.) How many numbers were given since the copy is not enough: each restart of a shard's \
database, or of the ledger, began new epochs above the ceilings, up to twice ledger.outage_s of consumption further on each, and what was \
left out counts. Where nobody knows the highest number, a safe N is the numbers given since the copy, and for each restart of a \
database since then twice ledger.outage_s x the highest rate; add what an earlier --bump, or `advance`, skipped since. When in doubt \
name ten times more. N less than a cell at hand is above its ceiling in the copy is refused, with the least that is not. An N that is named in a message of an error is the least that is known there, and may not be enough.

With --since, name when the copy at hand was made, rather earlier than later. How fast a sequence was asked after that no copy \
knows, for one that was quiet before may have been busy ever since: so it assumes a rate, and prints it first. Say it, if you \
know it: --at-most-per-second N, N at least the numbers a second that the busiest sequence was asked for at any time since, by \
all callers together (the fastest rate, not a mean; leases count in full). Without it, it assumes 200000 numbers a second for \
each server (reservoir.servers), and never less than four times the highest rate that the copy has on record (the mean of a \
counter's epoch, or what its ceiling was raised ahead for), whatever N says. That rate x the time since then, and as much for 16 \
restarts of its databases, and one more for each hour of that time, of twice ledger.outage_s each, is the bump; 10000 at least. It prints \
what that uses up of the sequences that the ledger knows; where it would be more than 1 % of one and no rate was said, it is \
refused. A sequence that was asked faster than what is assumed repeats numbers. So do more restarts than that, of one \
shard's database and the ledger's together, and a recovery or an `advance` after the copy: then name --bump. (What the cells at \
hand prove it names all the same, and says so.) Where nothing on record gives a rate, one must be said.

Marks say how far the ledger has been: each store bears one, and each data directory. A store whose mark can't be read is \
named before anything is done, and the command is refused, unless --without names its slot. Data directories of servers on \
other hosts can't be read from here; where there may be any, that is said too. After --bump and --since no mark that was not read \
stops anything, however high it is: the version goes far above. (So let N count what was given under it, too.) After --moved \
a higher one that comes back stops everything again, for it says that the data was not the newest state.

Raw ids and numbers: a raw id is what the counter of one slot gives. It becomes 2^m numbers (m: memory_bits), and \
a sequence has a counter in each of the 2^n slots (n: shard_bits). So numbers D apart are D / (step * 2^(n+m)) raw ids \
apart, and N may be as little as that; of a dense sequence it is D / step. To count D itself is safe. Of numbers that were \
given, all may have come from one slot: N / 2^m.

Sequences that are defined later begin above the loss, too, since one of that name may have begun after the copy \
was made: with a bump of N their first number is not `start`, but start + step * N * 2^(n+m).

Stop every process of the cluster first, suspended ones too. One that runs burns what it holds ready once it \
notices, which may take two seconds, and hands it out until then; what clients hold on lease it can't burn. If \
some must go on, add to N what they may hold of any one sequence: reservoir.at_risk_max and the leases, for each \
process.

Where the ledger is lost and no copy is left, put an empty one in its place (a fresh database with the grants, or \
nothing where it was a file) and name with --bump at least the highest raw id that any one counter has reached: the \
highest number of any sequence divided by 2^(n+m), and of a dense one the number itself. N below a cell that can be seen is \
refused, with the least that is not. How many were given is not enough where a resize, `advance` or an earlier bump let a counter begin high. The ledger then takes up the cluster from the stamps of its \
shards, all of which must answer. It knows no sequence: define each again.

Where the ledger is a copy from before a resize, or amid one, which its stores have gone through: give --bump N with the \
configuration of the layout after it; the ledger then takes that up from the stamps of its stores, all of which must answer, or \
from the mark in this data directory, where stores that forget were restarted. Count N in numbers there, the distance as above: raw \
ids of one layout are none of the other, and N of either are skipped. More than one resize later nobody can: then an empty ledger as above.

Definitions made after the copy are lost with it. The command ends with those that the ledger still knows: \
compare them, and define each one that is missing as it was, start, step and end, before anything is taken of \
it. A first use by a pattern of auto_create would define it with start 1 and step 1: what was given under another \
start may then come again.";
