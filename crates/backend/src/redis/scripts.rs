//! What runs on the server: each verb one script, hence one step that nobody comes between.
//!
//! Numbers are text throughout: a Lua number is a double, which rounds above 2^53.

use std::sync::LazyLock;

use redis::Script;

/// A script: its name, its whole text, and the digest that the server knows it by.
pub(super) struct Text {
    /// What it is called in errors.
    pub(super) name: &'static str,
    /// The Lua text.
    pub(super) lua: String,
    script: Script,
}

impl Text {
    fn new(name: &'static str, body: &str) -> Self {
        let lua = format!("{HEAD}{body}");
        Self { name, script: Script::new(&lua), lua }
    }

    /// The text's digest.
    pub(super) fn digest(&self) -> &str {
        self.script.get_hash()
    }
}

/// Every script begins with it: what it was learned that speaks when the connection was opened speaks still.
///
/// - `ARGV[1]` is the replication id. A server whose history has become another one (demoted, filled from another server,
///   promoted again) has another, also on connections that stayed open all the while.
/// - `ARGV[2]` is the token in `KEYS[1]`, the shard's own key: gone when everything was flushed, or the key evicted. It is
///   in use whenever a cell is, so a server that evicts what was used longest ago keeps it as long as any.
///
/// A cell holds its value twice, in `v` and in `w`: whoever sets `v` by hand, be it only a little lower, where every number
/// after it was given already, is told from the verbs by it.
const HEAD: &str = "\
local info = redis.call('INFO', 'replication')
if not string.find(info, 'role:master', 1, true)
  or not string.find(info, 'master_replid:' .. ARGV[1], 1, true)
  or redis.pcall('HGET', KEYS[1], 'born') ~= ARGV[2] then return {'stale'} end
local function less(a, b) return #a < #b or (#a == #b and a < b) end
local function is_number(v)
  return v and (v == '0' or string.find(v, '^[1-9]%d*$')) and not less('9223372036854775807', v)
end
local function is_ours(v, w) return is_number(v) and v == w end
";

/// `KEYS[2]` the cell, `ARGV[3]` the life, `ARGV[4]` how many. HINCRBY refuses what would pass 2^63-1; its own answer is
/// rounded, HGET's is not.
pub(super) static TAKE: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "take",
        "\
local c = redis.call('HMGET', KEYS[2], 'life', 'open', 'v', 'w')
if not c[1] then return {'none'} end
if c[1] ~= ARGV[3] or c[2] ~= '1' then return {'other', c[1], c[2] or ''} end
if not is_ours(c[3], c[4]) then return {'odd', c[3] or ''} end
redis.call('HINCRBY', KEYS[2], 'v', ARGV[4])
local v = redis.call('HGET', KEYS[2], 'v')
redis.call('HSET', KEYS[2], 'w', v)
return {'ok', v}
",
    )
});

/// `KEYS[2]` the cell, `ARGV[3]` the next life. The higher of its two values counts, so that what was given stays covered
/// where one was set by hand. What is no cell, or no number, counts as nothing: no id of ours came from it that the
/// ledger's ceiling does not cover.
pub(super) static CLOSE: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "close",
        "\
local c = redis.pcall('HMGET', KEYS[2], 'v', 'w')
if c.err then redis.call('DEL', KEYS[2]) c = {} end
local v = '0'
for i = 1, 2 do if is_number(c[i]) and less(v, c[i]) then v = c[i] end end
redis.call('HSET', KEYS[2], 'life', ARGV[3], 'open', '0', 'v', v, 'w', v)
redis.call('PERSIST', KEYS[2])
redis.call('HSET', KEYS[1], 'cell', KEYS[2])
return {'ok', v}
",
    )
});

/// `KEYS[2]` the cell, `ARGV[3]` the life, `ARGV[4]` the base.
pub(super) static INSTALL: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "install",
        "\
local c = redis.call('HMGET', KEYS[2], 'life', 'open', 'v')
if not c[1] then return {'none'} end
if c[1] ~= ARGV[3] then return {'other', c[1], c[2] or ''} end
if c[2] ~= '1' then
  local v = c[3]
  if not is_number(v) or less(v, ARGV[4]) then v = ARGV[4] end
  redis.call('HSET', KEYS[2], 'open', '1', 'v', v, 'w', v)
end
return {'ok', '0'}
",
    )
});

/// `KEYS[2]` the cell, `ARGV[3]` the life, `ARGV[4]` the floor; 0 writes nothing.
pub(super) static LIFT: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "lift",
        "\
local c = redis.call('HMGET', KEYS[2], 'life', 'open', 'v', 'w')
if not c[1] then return {'none'} end
if c[1] ~= ARGV[3] or c[2] ~= '1' then return {'other', c[1], c[2] or ''} end
local v = c[3]
if not is_ours(v, c[4]) then return {'odd', v or ''} end
if less(v, ARGV[4]) then
  v = ARGV[4]
  redis.call('HSET', KEYS[2], 'v', v, 'w', v)
end
return {'ok', v}
",
    )
});

/// `KEYS[2]` the cell.
pub(super) static REMOVE: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "remove",
        "\
return {'ok', tostring(redis.call('DEL', KEYS[2]))}
",
    )
});

/// `ARGV[3]` the stamp expected (nothing: none), `ARGV[4]` the new one.
pub(super) static STAMP: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "stamp",
        "\
local s = redis.call('HGET', KEYS[1], 'stamp') or ''
if s ~= ARGV[3] then return {'other', s, ''} end
redis.call('HSET', KEYS[1], 'stamp', ARGV[4])
redis.call('PERSIST', KEYS[1])
return {'ok', '0'}
",
    )
});

/// `ARGV[3]` the version; 0 only reads.
pub(super) static MARK: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "mark",
        "\
local m = redis.call('HGET', KEYS[1], 'mark')
if not is_number(m) then m = '0' end
if ARGV[3] ~= '0' and less(m, ARGV[3]) then
  m = ARGV[3]
  redis.call('HSET', KEYS[1], 'mark', m)
end
redis.call('PERSIST', KEYS[1])
return {'ok', m}
",
    )
});

/// The stamp, the cell that was closed last, and the server's clock.
pub(super) static LOOK: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "look",
        "\
local t = redis.call('TIME')
local s = redis.call('HMGET', KEYS[1], 'stamp', 'cell')
return {'ok', s[1] or '', s[2] or '', t[1], t[2]}
",
    )
});
