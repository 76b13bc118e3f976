//! People who type texts: what is forgiven, and what is not.

use crate::support::format;

#[test]
fn crockfords_readers_may_write_o_for_zero_and_small_letters() {
    let coupon = format("C@{seq,id=c,w=4,radix=32c}@{check,crockford,over=c}");
    for typed in ["C016JD", "CO16JD", "C0I6JD", "C0l6jd", "Co16jd"] {
        let parsed = coupon.invert(typed).unwrap();
        assert_eq!((parsed.number, &*parsed.text), (1234, "C016JD"), "{typed}");
    }
    assert!(coupon.invert("C016JE").is_err() && coupon.invert("c016JD").is_err());
}

#[test]
fn other_alphabets_forgive_nothing() {
    let hex = format("X@{seq,w=4,radix=16}");
    assert_eq!(hex.invert("X00FF").unwrap().number, 255);
    assert!(hex.invert("X00ff").is_err());
    let small = format("X@{seq,w=4,radix=16,case=lower}");
    assert_eq!(small.invert("X00ff").unwrap().number, 255);
}
