-- The image makes the user and the first database; the ledger has one of its own.
CREATE DATABASE ledger;
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON `ledger`.* TO 'sequent'@'%';
