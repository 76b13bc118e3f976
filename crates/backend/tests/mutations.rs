//! Each rule that a store or a ledger keeps, switched off over memory: the check that is there for it must turn red. The ledger's are
//! switched off over every other engine in that engine's own tests.
#![cfg(all(feature = "memory", feature = "mutation"))]

use std::{future::Future, sync::Arc};

use sequent_backend::memory::{MemoryLedger, MemoryStore};
use sequent_core::{BoxFuture, Rule, Rules, Store, ledger::Ledger};
use sequent_testkit::{
    PausedClock, SeededEntropy,
    conformance::{
        Checked,
        ledger::LedgerFixture,
        store::{self, StoreFixture},
    },
};

/// Store and ledger that keep only some of the rules.
struct Mutant {
    store: MemoryStore,
    ledger: MemoryLedger,
}

impl Mutant {
    fn keeping(rules: Rules) -> Self {
        let (clock, entropy) = (Arc::new(PausedClock::new()), SeededEntropy::new(1));
        let store = MemoryStore::with_rules(clock.clone(), &entropy, rules).yielding();
        let ledger = MemoryLedger::with_rules(clock, &entropy, rules).yielding();
        Self { store, ledger }
    }
}

impl StoreFixture for Mutant {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        let store: Arc<dyn Store> = Arc::new(self.store.clone());
        Box::pin(std::future::ready(store))
    }
}

impl LedgerFixture for Mutant {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Ledger>> {
        let ledger: Arc<dyn Ledger> = Arc::new(self.ledger.clone());
        Box::pin(std::future::ready(ledger))
    }
}

/// Whether a check passes: it neither panics nor fails.
async fn passes(check: impl Future<Output = Checked> + Send + 'static) -> bool {
    matches!(tokio::spawn(check).await, Ok(Ok(())))
}

/// One test a rule: green with all rules, red without this one.
macro_rules! red_without {
    ($($test:ident: $rule:ident, $suite:ident::$check:ident;)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                let run = |rules| passes(async move { $suite::$check(&Mutant::keeping(rules)).await });
                assert!(run(Rules::ALL).await, "the check is red with every rule kept");
                let text = Rule::$rule.as_str();
                assert!(!run(Rules::ALL.without(Rule::$rule)).await, "nobody missed the rule: {text}");
            }
        )*
    };
}

red_without! {
    same_connection: SameConnection, store::another_instance_touches_nothing;
    epoch_in_take: EpochInTake, store::a_close_returns_the_value_and_ends_the_epoch;
    epoch_in_take_raced: EpochInTake, store::takers_race_closers;
    take_never_creates: TakeNeverCreates, store::a_take_never_creates;
    lift_never_creates: LiftNeverCreates, store::a_lift_never_creates;
    install_on_own_close: InstallOnOwnClose, store::an_install_of_a_superseded_epoch_is_refused;
    install_on_own_close_raced: InstallOnOwnClose, store::takers_race_closers;
}

sequent_testkit::ledger_mutations!(async |rules| Mutant::keeping(rules));
