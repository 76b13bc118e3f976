//! Tests of the registry: concurrent requests load a key once; idle keys are dropped, used ones are kept.

use super::*;
use sequent_core::SequenceName;

fn key(text: &str) -> Key {
    Key::of(&text.parse::<SequenceName>().unwrap())
}

fn make(registry: &Registry<u8>, name: &str, value: u8) {
    let Ok(Claim::Make(sender)) = registry.claim(&key(name), 9) else { panic!("{name} is new") };
    registry.made(&key(name), Ok(Arc::new(value)), &sender);
}

#[tokio::test]
async fn one_makes_and_the_others_get_the_same() {
    let registry: Registry<u8> = Registry::new(8);
    let Ok(Claim::Make(sender)) = registry.claim(&key("a"), 9) else { panic!("the first makes") };
    let Ok(Claim::Wait(mut made)) = registry.claim(&key("a"), 9) else { panic!("the second waits") };
    assert!(registry.get("a").is_none());
    registry.made(&key("a"), Ok(Arc::new(7)), &sender);
    let got = made.wait_for(Option::is_some).await.unwrap().clone().unwrap().unwrap();
    assert_eq!((*got, registry.get("a").as_deref()), (7, Some(&7)));
    assert!(matches!(registry.claim(&key("a"), 9), Ok(Claim::ActiveKey(_))));
}

#[tokio::test]
async fn a_failure_is_shared_and_then_forgotten() {
    let registry: Registry<u8> = Registry::new(1);
    let Ok(Claim::Make(sender)) = registry.claim(&key("a"), 9) else { panic!("the first makes") };
    let Ok(Claim::Wait(mut made)) = registry.claim(&key("a"), 9) else { panic!("the second waits") };
    let failure = EngineError::new(Reason::LedgerUnavailable, "away");
    registry.made(&key("a"), Err(failure), &sender);
    let got = made.wait_for(Option::is_some).await.unwrap().clone().unwrap();
    assert_eq!(got.unwrap_err().reason(), Reason::LedgerUnavailable);
    assert!(matches!(registry.claim(&key("a"), 9), Ok(Claim::Make(_))), "the place was given back");
}

#[test]
fn a_maker_that_went_away_is_replaced() {
    let registry: Registry<u8> = Registry::new(1);
    let Ok(Claim::Make(sender)) = registry.claim(&key("a"), 9) else { panic!("the first makes") };
    drop(sender);
    assert!(matches!(registry.claim(&key("a"), 9), Ok(Claim::Make(_))));
}

#[test]
fn keys_are_bounded_and_swept_only_where_nobody_holds_them() {
    let registry: Registry<u8> = Registry::new(2);
    make(&registry, "a", 1);
    make(&registry, "b", 2);
    let refused = registry.claim(&key("c"), 9).err().unwrap();
    assert_eq!(refused.reason(), Reason::QuotaExceeded);
    let held = registry.get("b");
    assert_eq!(registry.sweep(|_, _| true).len(), 1, "b is held");
    assert!(registry.get("a").is_none() && held.is_some());
    make(&registry, "c", 3);
    registry.remove(|key| key.as_str() == "b");
    assert_eq!(registry.all().into_iter().map(|(_, value)| *value).collect::<Vec<_>>(), [3]);
}

#[test]
fn a_sequence_with_too_many_keys_refuses_nobody_elses() {
    let registry: Registry<u8> = Registry::new(9);
    let partition = |value: &str| Key::new(&"shop".parse().unwrap(), "", &[value]).unwrap();
    let claim = |key: &Key| match registry.claim(key, 2) {
        Ok(Claim::Make(sender)) => {
            registry.made(key, Ok(Arc::new(1)), &sender);
            Ok(())
        }
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    for value in ["a", "b", "a"] {
        claim(&partition(value)).unwrap();
    }
    let refused = claim(&partition("c")).unwrap_err();
    assert_eq!(refused.quota().map(|quota| (quota.quota, quota.of.as_str())), Some(("keys", "shop")));
    claim(&key("order")).unwrap();
    // A load that fails gives its place back, and so does a key that is dropped.
    registry.remove_one(&partition("a"), &registry.get(partition("a").as_str()).unwrap());
    claim(&partition("c")).unwrap();
    assert!(claim(&partition("d")).is_err());
    registry.sweep(|_, _| true);
    claim(&partition("d")).unwrap();
    registry.remove(|_| true);
    assert!(registry.of_sequences.lock().unwrap().is_empty() && registry.len() == 0);
}
