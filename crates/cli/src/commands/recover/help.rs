//! Help text of `sequent recover`.

pub(super) const EXAMPLES: &str = "\
Examples:
  sequent recover                show what each answer would do and the least N that the stores prove; changes nothing
  sequent recover --bump 100000  the data is older, and no counter has come more than 100000 raw ids further: the safe answer
  sequent recover --since 2026-11-20T03:00:00Z --at-most-per-second 500
                                 the data is a copy of that instant: works N out and prints it; --yes does it
  sequent recover --bump 100000 --without 2 --yes
                                 the same, though the store of slot 2 can't be read
  sequent recover --moved --yes  this is the newest state: no number was given after it was copied or moved

Before you begin:
  Stop every process of the cluster, suspended ones too. A server that runs notices within two seconds, and hands out what it \
holds ready until then. Leases that clients hold stay valid.

What it does:
  The bump is added to the ceiling of each counter, and the ledger becomes a new instance. Each counter begins a new epoch above its \
ceiling at its next use. No number is taken, and no counter goes back.

Which answer is true:
  Nothing inside the data tells. Each answer is printed with the number that it would give next. Compare that with the highest number \
that anybody holds. With --bump, name more rather than less: numbers are skipped, never lost. With --moved, every number given \
after the copy is given again, so it must be the newest state.
  --moved and --since need --yes always. --bump needs it where the stores do not prove it, where nothing shows a loss, or where a \
server of this data directory runs. Without it the exit code is 3 (CONFIRMATION_REQUIRED). --json prints the same.

How to choose N of --bump:
  N is a distance in raw ids. Name D, or as few raw ids as below: D is the highest number of any sequence that anybody holds, less the highest number that the copy permits. \
`sequent show NAME` prints what it permits for each slot: take the least `highest number`, and 0 for a slot that is not listed.
  The count of numbers given since the copy is not enough, because each restart of a database skips up to twice ledger.outage_s of \
consumption. If nobody knows the highest number, use --since, or name ten times more.
  N below what a store at hand proves is refused, with the least N that is not.
  A raw id is what the counter of one slot gives. It becomes 2^memory_bits numbers, and a sequence has a counter in each of the \
2^shard_bits slots. So numbers D apart are D / (step * 2^(shard_bits + memory_bits)) raw ids apart; D itself is always safe.

How --since works N out:
  N = R x (seconds since the copy + restarts x 2 x ledger.outage_s), with 16 restarts of databases and one more for each hour; and no \
less than the stores prove. R is --at-most-per-second: the highest rate at any time since, by all callers together, leases in full. \
If a sequence was asked faster, or more was skipped by `advance` or an earlier --bump, numbers are given again: then use --bump.

Marks:
  Each store and each data directory bears a mark of how far the ledger has been. If a mark can't be read, the command is refused \
until the store is back or --without names its slot. Data directories on other hosts are not read.
  After --bump and --since, a mark that was not read stops nothing when it returns, so N must cover what was given under it. After \
--moved, a higher one stops everything again.

The ledger is lost, and there is no copy:
  Put an empty database in its place and use --bump with at least the highest raw id that any counter has reached. All stores must \
answer: the ledger takes the cluster up from their stamps. It knows no sequence: define each again, with its start, step and end, \
before anything is taken of it.

The ledger is a copy from before a resize:
  It is refused. If there is no newer copy, go on as if the ledger was lost, with the configuration of the layout after the resize. If \
the copy is from amid the resize, name the loss with --bump, then finish it: `sequent resize --go`.

Afterwards:
  The command lists the sequences that the ledger still knows. Define the missing ones again as they were before anything is taken of \
them: auto_create would begin them at start 1, step 1. Sequences that are defined later begin above the bump, too.";
