//! Store and ledger in `SQLite` files.
