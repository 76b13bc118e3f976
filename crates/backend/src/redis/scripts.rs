//! Lua scripts of the Redis store: each call is one script, hence atomic.
//!
//! Numbers are text throughout, because a Lua number is a double and rounds above 2^53.

use std::sync::OnceLock;

use redis::Script;

/// A script, by its own part of the text.
pub(super) struct Text {
    body: &'static str,
    script: OnceLock<Script>,
}

impl Text {
    const fn new(body: &'static str) -> Self {
        Self { body, script: OnceLock::new() }
    }

    /// The whole text.
    pub(super) fn lua(&self) -> String {
        format!("{HEAD}{}", self.body)
    }

    /// The digest of the text, by which the server knows it.
    pub(super) fn digest(&self) -> &str {
        self.script.get_or_init(|| Script::new(&self.lua())).get_hash()
    }
}

/// The start of every script: checks that the instance is still that of the connection's opening.
///
/// - `ARGV[1]` is the replication id. It changes when the history of the data does (server demoted, filled from another
///   one, promoted again), also on connections that stayed open.
/// - `ARGV[2]` is the token in `KEYS[1]`, the shard's own key. It is lost if the server was flushed or the key evicted.
///   Each use of a cell uses it too, so a server that evicts the least recently used key keeps it as long as any.
///
/// A cell's value is stored twice: in the cell, and in its witness, a separate key. So a cell set back directly differs
/// from the calls' own writes, whether by one number or whole (every field, or a copy put in its place). A server may
/// evict one of the two. The other then counts for nothing until a close, which takes the higher value.
const HEAD: &str = "\
local info = redis.call('INFO', 'replication')
if not string.find(info, 'role:master', 1, true)
  or not string.find(info, 'master_replid:' .. ARGV[1], 1, true)
  or redis.pcall('HGET', KEYS[1], 'born') ~= ARGV[2] then return {'stale'} end
local function less(a, b) return #a < #b or (#a == #b and a < b) end
local function is_number(v)
  return v and (v == '0' or string.find(v, '^[1-9]%d*$')) and not less('9223372036854775807', v)
end
local function witnessed()
  local w = redis.pcall('HGET', KEYS[3], 'v')
  return type(w) == 'string' and w
end
local function witness(v)
  redis.call('DEL', KEYS[3])
  redis.call('HSET', KEYS[3], 'v', v)
end
local function other_than(cell)
  local w = witnessed()
  if not cell[1] then return w and {'half', w, 'witness'} or {'none'} end
  if cell[1] ~= ARGV[3] or cell[2] ~= '1' then return {'other', cell[1], cell[2] or ''} end
  if not w and is_number(cell[3]) then return {'half', cell[3], 'cell'} end
  if cell[3] ~= w or not is_number(w) then return {'odd', cell[3] or ''} end
end
";

/// `KEYS[2]` the cell, `KEYS[3]` its witness, `ARGV[3]` the epoch, `ARGV[4]` the count. HINCRBY refuses to pass 2^63-1.
/// Its own answer is rounded; HGET's is not.
pub(super) static TAKE: Text = Text::new(
    "\
local refusal = other_than(redis.call('HMGET', KEYS[2], 'epoch', 'open', 'v'))
if refusal then return refusal end
redis.call('HINCRBY', KEYS[2], 'v', ARGV[4])
local v = redis.call('HGET', KEYS[2], 'v')
redis.call('HSET', KEYS[3], 'v', v)
return {'ok', v}
",
);

/// `KEYS[2]` the cell, `KEYS[3]` its witness, `ARGV[3]` the next epoch.
///
/// The higher of the two values counts, so that all given ids stay covered if one was set directly or is missing. A key
/// that is no cell, or a value that is no number, counts as nothing: the ledger's ceiling covers all ids given.
///
/// The shard's own key is written first. A full server refuses that write, but would let all writes pass that follow a
/// DEL.
pub(super) static CLOSE: Text = Text::new(
    "\
local c = redis.pcall('HGET', KEYS[2], 'v')
local v = '0'
for _, found in ipairs({type(c) == 'string' and c or '', witnessed() or ''}) do
  if is_number(found) and less(v, found) then v = found end
end
redis.call('HSET', KEYS[1], 'cell', KEYS[2])
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[2], 'epoch', ARGV[3], 'open', '0', 'v', v)
witness(v)
return {'ok', v}
",
);

/// `KEYS[2]` the cell, `KEYS[3]` its witness, `ARGV[3]` the epoch, `ARGV[4]` the base.
pub(super) static INSTALL: Text = Text::new(
    "\
local c = redis.call('HMGET', KEYS[2], 'epoch', 'open', 'v')
if not c[1] then return {'none'} end
if c[1] ~= ARGV[3] then return {'other', c[1], c[2] or ''} end
if c[2] ~= '1' then
  local v = c[3]
  if not is_number(v) or less(v, ARGV[4]) then v = ARGV[4] end
  redis.call('HSET', KEYS[2], 'open', '1', 'v', v)
  witness(v)
end
return {'ok', '0'}
",
);

/// `KEYS[2]` the cell, `KEYS[3]` its witness, `ARGV[3]` the epoch, `ARGV[4]` the floor; 0 writes nothing.
pub(super) static LIFT: Text = Text::new(
    "\
local c = redis.call('HMGET', KEYS[2], 'epoch', 'open', 'v')
local refusal = other_than(c)
if refusal then return refusal end
local v = c[3]
if less(v, ARGV[4]) then
  v = ARGV[4]
  redis.call('HSET', KEYS[2], 'v', v)
  redis.call('HSET', KEYS[3], 'v', v)
end
return {'ok', v}
",
);

/// `KEYS[2]` the cell, `KEYS[3]` its witness.
pub(super) static REMOVE: Text = Text::new(
    "\
redis.call('DEL', KEYS[3])
return {'ok', tostring(redis.call('DEL', KEYS[2]))}
",
);

/// `ARGV[3]` the expected stamp (empty: none), `ARGV[4]` the new one.
pub(super) static STAMP: Text = Text::new(
    "\
local s = redis.call('HGET', KEYS[1], 'stamp') or ''
if s ~= ARGV[3] then return {'other', s} end
redis.call('HSET', KEYS[1], 'stamp', ARGV[4])
redis.call('PERSIST', KEYS[1])
return {'ok', '0'}
",
);

/// `ARGV[3]` the version; 0 only reads.
pub(super) static MARK: Text = Text::new(
    "\
local m = redis.call('HGET', KEYS[1], 'mark')
if not is_number(m) then m = '0' end
if less(m, ARGV[3]) then
  m = ARGV[3]
  redis.call('HSET', KEYS[1], 'mark', m)
end
redis.call('PERSIST', KEYS[1])
return {'ok', m}
",
);

/// Only checks the instance.
pub(super) static CHECK: Text = Text::new("return {'ok'}");
