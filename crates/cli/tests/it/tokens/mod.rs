//! Tokens on the real program: each verb at each API with each kind of credential, and what a token leaves behind.

mod certificates;
mod commands;
mod redis;
mod revoked;
mod rotation;
mod scopes;
mod site;
mod table;
