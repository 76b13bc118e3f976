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

/// Every script begins with it. `ARGV[1]` is the replication id under which the connection was opened: a server whose
/// history has become another one (demoted, filled from another server, promoted again) has another, also on connections
/// that stayed open all the while.
const HEAD: &str = "\
local info = redis.call('INFO', 'replication')
if not string.find(info, 'role:master', 1, true)
  or not string.find(info, 'master_replid:' .. ARGV[1], 1, true) then return {'stale'} end
local function less(a, b) return #a < #b or (#a == #b and a < b) end
local function is_number(v)
  return v and (v == '0' or string.find(v, '^[1-9]%d*$')) and not less('9223372036854775807', v)
end
";

/// `KEYS[1]` the cell, `ARGV[2]` the life, `ARGV[3]` how many. HINCRBY refuses what would pass 2^63-1; its own answer is
/// rounded, HGET's is not.
pub(super) static TAKE: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "take",
        "\
local c = redis.call('HMGET', KEYS[1], 'life', 'open', 'v')
if not c[1] then return {'none'} end
if c[1] ~= ARGV[2] or c[2] ~= '1' then return {'other', c[1], c[2] or ''} end
if not is_number(c[3]) then return {'odd', c[3] or ''} end
redis.call('HINCRBY', KEYS[1], 'v', ARGV[3])
return {'ok', redis.call('HGET', KEYS[1], 'v')}
",
    )
});

/// `KEYS[1]` the cell, `ARGV[2]` the next life. What somebody put there that is no cell, or no number, counts as nothing: no
/// id of ours came from it that the ledger's ceiling does not cover.
pub(super) static CLOSE: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "close",
        "\
local v = redis.pcall('HGET', KEYS[1], 'v')
if type(v) == 'table' then redis.call('DEL', KEYS[1]) v = false end
if not is_number(v) then v = '0' end
redis.call('HSET', KEYS[1], 'life', ARGV[2], 'open', '0', 'v', v)
redis.call('PERSIST', KEYS[1])
return {'ok', v}
",
    )
});

/// `KEYS[1]` the cell, `ARGV[2]` the life, `ARGV[3]` the base.
pub(super) static INSTALL: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "install",
        "\
local c = redis.call('HMGET', KEYS[1], 'life', 'open', 'v')
if not c[1] then return {'none'} end
if c[1] ~= ARGV[2] then return {'other', c[1], c[2] or ''} end
if c[2] ~= '1' then
  local v = c[3]
  if not is_number(v) or less(v, ARGV[3]) then v = ARGV[3] end
  redis.call('HSET', KEYS[1], 'open', '1', 'v', v)
end
return {'ok', '0'}
",
    )
});

/// `KEYS[1]` the cell, `ARGV[2]` the life, `ARGV[3]` the floor; 0 writes nothing.
pub(super) static LIFT: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "lift",
        "\
local c = redis.call('HMGET', KEYS[1], 'life', 'open', 'v')
if not c[1] then return {'none'} end
if c[1] ~= ARGV[2] or c[2] ~= '1' then return {'other', c[1], c[2] or ''} end
local v = c[3]
if not is_number(v) then return {'odd', v or ''} end
if less(v, ARGV[3]) then
  v = ARGV[3]
  redis.call('HSET', KEYS[1], 'v', v)
end
return {'ok', v}
",
    )
});

/// `KEYS[1]` the shard's own key, `ARGV[2]` the stamp expected (nothing: none), `ARGV[3]` the new one.
pub(super) static STAMP: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "stamp",
        "\
local s = redis.call('HGET', KEYS[1], 'stamp') or ''
if s ~= ARGV[2] then return {'other', s, ''} end
redis.call('HSET', KEYS[1], 'stamp', ARGV[3])
redis.call('PERSIST', KEYS[1])
return {'ok', '0'}
",
    )
});

/// `KEYS[1]` the shard's own key, `ARGV[2]` the version; 0 only reads. Either way the server notes that the key, with the
/// stamp in it, is in use.
pub(super) static MARK: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "mark",
        "\
local m = redis.call('HGET', KEYS[1], 'mark')
if not is_number(m) then m = '0' end
if ARGV[2] ~= '0' and less(m, ARGV[2]) then
  m = ARGV[2]
  redis.call('HSET', KEYS[1], 'mark', m)
end
redis.call('PERSIST', KEYS[1])
return {'ok', m}
",
    )
});

/// `KEYS[1]` the shard's own key: its stamp, and the server's clock.
pub(super) static LOOK: LazyLock<Text> = LazyLock::new(|| {
    Text::new(
        "look",
        "\
local t = redis.call('TIME')
return {'ok', redis.call('HGET', KEYS[1], 'stamp') or '', t[1], t[2]}
",
    )
});
