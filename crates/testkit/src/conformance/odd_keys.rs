//! Keys that stores have confused: by collation, by quoting, by trimming, by length.

use sequent_core::Key;

/// Keys that all differ, among them every kind that some engine folds, trims, cuts or takes for syntax.
pub(super) fn odd_keys() -> Vec<Key> {
    let mut texts: Vec<String> = [
        "order",
        "Order",
        "ORDER",
        "order ",
        " order",
        "order\t",
        "order\n",
        "order\r\n",
        "order\0",
        "order\0x",
        "o'rder",
        "o\"rder",
        "o`rder",
        "o\\rder",
        "order;--",
        "order%",
        "orde_",
        "order*",
        "{order}",
        "order:1",
        "order|8:20170304",
        "order|8:20170304|3:010",
        "order|8:20170304|1:0|2:10",
        "étage",
        "e\u{301}tage",
        "etage",
        "ETAGE",
        "straße",
        "strasse",
        "单号",
        "流水号",
        "ı",
        "i",
        "🦀",
        "🦀🦀",
        "mark",
        "stamp",
        "sequent",
        "1",
        "01",
        "1.0",
        "1e0",
        "NULL",
        "null",
        "true",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("x".repeat(Key::LENGTH_MAX));
    texts.push("x".repeat(Key::LENGTH_MAX - 1));
    texts.push("x".repeat(Key::LENGTH_MAX - 1) + "y");
    texts.push("号".repeat(Key::LENGTH_MAX / 3));
    texts.iter().map(|text| Key::from_stored(text)).collect()
}
