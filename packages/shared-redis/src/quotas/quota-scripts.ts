/**
 * What the engine does with the account of a customer, as scripts that each run as one step. The hash of an account has:
 *
 * | field             | meaning                                                                                              |
 * | ----------------- | ---------------------------------------------------------------------------------------------------- |
 * | `gen`, `history`  | a random name of the account, and the history of the engine in which it was begun                    |
 * | `b`, `f`, `t`     | bytes and files that are stored; bytes of unfinished uploads                                         |
 * | `cn`, `ct`, `co`  | the number of the count: odd while it is under way; its token and the server that counts             |
 * | `cb`, `cf`        | bytes and files that were stored since the count began                                               |
 * | `x`               | 1: files were changed while they were counted, so that the count may be too high                     |
 * | `cm`              | how long the last count took, in milliseconds                                                        |
 * | `A:S`, `F:S`      | bytes and files that the server S may use without asking                                             |
 * | `C:S`, `G:S`      | the part of them that its uploads had claimed when it reported last                                  |
 * | `P:S`, `Q:S`      | the part of them that stays reserved if S dies, since it may be published                            |
 * | `n:S`             | the number of the last changes that S has reported                                                   |
 * | `o:S`, `c:S`      | the numbers of its last report, and of the last count that it has begun                              |
 * | `D:S`             | set where the others have found S dead: the number of its last report before, at least 1             |
 * | `r:S`             | the number of the count in which S was found alive again                                             |
 *
 * Always `b + t +` all `A:S` is at most the quota, and the same for files, unless less is allowed than before. A second hash has the
 * bytes of each unfinished upload, with the number of the count in which they were reported, as in `4096:7`; 0 if it was published or
 * discarded.
 */
import { script } from '../engine/engine.ts'

// Reads the account by one command, and writes what has changed by two: each command costs the engine a microsecond or more.
const common = `
local account, uploads = KEYS[1], KEYS[2]
local request = cjson.decode(ARGV[1])
local fields, changed = {}, {}
local all = redis.call('HGETALL', account)
for at = 1, #all, 2 do fields[all[at]] = all[at + 1] end
local function format(value) return string.format('%.0f', value) end
local function text(field) return fields[field] end
local function get(field) return tonumber(fields[field] or '0') end
local function put(field, value)
  fields[field] = value
  changed[field] = true
end
local function set(field, value)
  if value ~= 0 then put(field, format(value)) elseif fields[field] then put(field, nil) end
end
local function add(field, value) if value ~= 0 then set(field, get(field) + value) end end
local function drop(...) for _, field in ipairs({...}) do if fields[field] then put(field, nil) end end end
local function save()
  local written, dropped = {}, {}
  for field in pairs(changed) do
    local value = fields[field]
    if value then
      table.insert(written, field)
      table.insert(written, value)
    else
      table.insert(dropped, field)
    end
  end
  if #written > 0 then redis.call('HSET', account, unpack(written)) end
  if #dropped > 0 then redis.call('HDEL', account, unpack(dropped)) end
  if request.ttl then
    redis.call('EXPIRE', account, request.ttl)
    redis.call('EXPIRE', uploads, request.ttl)
  end
end
local function forget(server)
  drop('A:'..server, 'F:'..server, 'C:'..server, 'G:'..server, 'P:'..server, 'Q:'..server, 'n:'..server, 'o:'..server, 'c:'..server, 'D:'..server, 'r:'..server)
end
local function bytesOf(value) return tonumber(string.match(value, '^(%d+)')) end
local function countOf(value) return tonumber(string.match(value, ':(%d+)$')) end
`

/**
 * Applies the report of a server, once, and sets what it may use. Returns nothing if there is no account. The request:
 * `server, seq, order, history, ttl`; `isNew`: 1 if the server has had no answer yet; `added` and `removed`: what was stored and deleted,
 * with the counts that were known then; `staged`, `gone`: unfinished uploads, with the bytes that they have at least, and those that may
 * have come in addition to all known ones; `spent`: the part of `A:S` and `F:S` that these changes have used; `claim, keep`: what the server
 * has claimed, and what it would keep; `publishing, publishable`: what it publishes, and what it might begin to publish before the answer;
 * `wants`: what each upload that waits wants in addition, all of it or nothing; `publish`: what it wants to publish in addition; `limits`;
 * `ahead`: one of so many parts of what is free is given in advance; `dead`: servers that it has found dead.
 */
export const syncScript = script(`${common}
local gen = text('gen')
if not gen or text('history') ~= request.history then return {} end
local me = request.server
local cn = get('cn')
local counting = cn % 2 == 1
local present = gen..':'..format(cn)
-- Before the first count has ended, nothing is known.
if cn <= 1 then return { present, cn } end
-- It was overtaken on its way by a later one, for example on a connection that was lost.
if request.order <= get('o:'..me) then return {} end
-- Others may have deleted a file since whose name it had locked: until the next count, its deletions are not certain.
if text('D:'..me) or (not text('o:'..me) and request.isNew == 0) then set('r:'..me, cn) end
set('o:'..me, request.order)
local granted = { get('A:'..me), get('F:'..me) }

for _, server in ipairs(request.dead) do
  if text('o:'..server) or text('A:'..server) or text('F:'..server) then
    set('A:'..server, get('P:'..server))
    set('F:'..server, get('Q:'..server))
    set('C:'..server, get('P:'..server))
    set('G:'..server, get('Q:'..server))
    if not text('D:'..server) then set('D:'..server, math.max(1, get('o:'..server))) end
  end
end

if request.seq > get('n:'..me) then
  for at = 1, 2 do granted[at] = granted[at] - request.spent[at] end
  for _, added in ipairs(request.added) do
    add('b', added[2])
    add('f', added[3])
    if counting then
      add('cb', added[2])
      add('cf', added[3])
    end
    -- The last count may have included it.
    if added[1] ~= present or counting then set('x', 1) end
  end
  for _, removed in ipairs(request.removed) do
    if removed[1] == present and not counting and get('r:'..me) ~= cn then
      add('b', -removed[2])
      add('f', -removed[3])
    else
      set('x', 1)
    end
  end
  for _, upload in ipairs(request.staged) do
    local before = redis.call('HGET', uploads, upload[1])
    local known = before and bytesOf(before) or 0
    local isGone = before and known == 0
    local now = math.max(upload[2], known + upload[3])
    if now > known and not isGone then
      add('t', now - known)
      redis.call('HSET', uploads, upload[1], format(now)..':'..format(cn))
    end
  end
  for _, id in ipairs(request.gone) do
    local before = redis.call('HGET', uploads, id)
    if before then add('t', -bytesOf(before)) end
    -- Kept until the next count, since another server may report later what it knew before.
    redis.call('HSET', uploads, id, '0:'..format(cn))
  end
  set('n:'..me, request.seq)
end

local others = {}
local sums = { A = 0, F = 0, C = 0, G = 0 }
for field, value in pairs(fields) do
  local kind = string.sub(field, 1, 1)
  if (sums[kind] or kind == 'o') and string.sub(field, 2, 2) == ':' then
    local server = string.sub(field, 3)
    if server ~= me then
      if sums[kind] then sums[kind] = sums[kind] + tonumber(value) end
      others[server] = true
    end
  end
end

local storedBytes, storedFiles = get('b') + get('t'), get('f')
local room = { request.limits[1] - storedBytes - sums.A, request.limits[2] - storedFiles - sums.F }
local claims, keeps, wanted = {}, {}, { 0, 0 }
for at = 1, 2 do
  -- It may have used more than it had: while the engine was away, or since it was found dead and others use it now.
  keeps[at] = math.max(request.publishing[at], math.min(request.keep[at], math.max(room[at], granted[at])))
  claims[at] = math.min(request.claim[at], keeps[at])
end
-- A part would be of no use to the upload, and missing to those of other servers.
for _, want in ipairs(request.wants) do
  local bytes, files = wanted[1] + want[1], wanted[2] + want[2]
  local fits = want[1] <= 0 or claims[1] + bytes <= room[1]
  if fits and (want[2] <= 0 or claims[2] + files <= room[2]) then wanted = { bytes, files } end
end

local function share(at, mayFields)
  local free, claim, keep, want = room[at], claims[at], keeps[at], wanted[at]
  local publishing = request.publishing[at]
  local ahead = 0
  if request.ahead > 0 then ahead = math.max(0, math.floor((free - claim - want) / request.ahead)) end
  local may = math.max(keep, math.min(free, claim + want + ahead))
  -- While the answer is on its way, the server may use all that it could publish before; what waits needs its room besides.
  local before = math.max(request.publishable[at], publishing + math.max(0, may - claim - want))
  local publish = math.max(publishing, math.min(may, before + request.publish[at]))
  set(mayFields[1]..me, may)
  set(mayFields[2]..me, publish)
  set(mayFields[3]..me, claim)
  return may, publish, free - may
end
local bytes, publishBytes, freeBytes = share(1, { 'A:', 'P:', 'C:' })
local files, publishFiles, freeFiles = share(2, { 'F:', 'Q:', 'G:' })
drop('D:'..me)
save()

local names = {}
for server in pairs(others) do
  table.insert(names, server)
  table.insert(names, text('A:'..server) or '0')
  table.insert(names, text('F:'..server) or '0')
  table.insert(names, text('D:'..server) or '0')
end
return {
  present, cn, get('x'), get('cm'), bytes, files, publishBytes, publishFiles, freeBytes, freeFiles,
  storedBytes + sums.C, storedFiles + sums.G, names
}
`)

/**
 * Takes what a server has out of an account that it leaves, unless it has reported again since. Returns 1 if it did. The request: `server`;
 * `order`: the number of its last report.
 */
export const leaveScript = script(`${common}
if get('o:'..request.server) > request.order then return 0 end
forget(request.server)
save()
return 1
`)

/**
 * Begins a count, and the account if there is none, or it is from another history of the engine. Returns the number of the count; 1, or
 * 0 if another server counts; and that server. The request: `server, order, token, gen, history, ttl, dead`.
 */
export const beginCountScript = script(`${common}
if not text('gen') or text('history') ~= request.history then
  redis.call('DEL', account, uploads)
  fields = {}
  put('gen', request.gen)
  put('history', request.history)
  put('cn', '0')
end
local cn = get('cn')
-- It was overtaken on its way by a later one.
if request.order <= get('c:'..request.server) then return { cn, 0, request.server } end
set('c:'..request.server, request.order)
if text('ct') then
  local owner = text('co')
  local free = owner == request.server
  for _, server in ipairs(request.dead) do if server == owner then free = true end end
  if not free then
    save()
    return { cn, 0, owner }
  end
else
  cn = cn + 1
end
put('cn', format(cn))
put('ct', request.token)
put('co', request.server)
drop('cb', 'cf', 'x')
save()
return { cn, 1, request.server }
`)

/** Gives up a count that failed, also if it begins only later. The request: `token, server, order`. */
export const abortCountScript = script(`${common}
if text('gen') and request.order > get('c:'..request.server) then set('c:'..request.server, request.order) end
if text('ct') == request.token then
  local cn = get('cn')
  drop('ct', 'co', 'cb', 'cf')
  if cn <= 1 then
    put('cn', '0')
  else
    put('cn', format(cn + 1))
    put('x', '1')
  end
end
save()
return 1
`)

/**
 * Sets what was counted. Returns 1, or 0 if another server has begun to count since. The request: `token, ttl, bytes, files, tookMs`; `staged`: the
 * unfinished uploads; `release`: dead servers whose uploads are surely in the count or will never be, each with its `D:S`.
 */
export const endCountScript = script(`${common}
if text('ct') ~= request.token then return 0 end
local cn = get('cn')
set('b', request.bytes + get('cb'))
set('f', request.files + get('cf'))
set('cm', request.tookMs)
local listed = {}
for _, upload in ipairs(request.staged) do listed[upload[1]] = upload[2] end
local known = redis.call('HGETALL', uploads)
local total = 0
for at = 1, #known, 2 do
  local id, value = known[at], known[at + 1]
  local isNew = countOf(value) >= cn
  local bytes = bytesOf(value)
  if isNew and bytes == 0 then
    listed[id] = nil
  elseif isNew or listed[id] then
    total = total + math.max(bytes, listed[id] or 0)
    redis.call('HSET', uploads, id, format(math.max(bytes, listed[id] or 0))..':'..format(cn))
    listed[id] = nil
  else
    redis.call('HDEL', uploads, id)
  end
end
for id, bytes in pairs(listed) do
  total = total + bytes
  redis.call('HSET', uploads, id, format(bytes)..':'..format(cn))
end
set('t', total)
for _, dead in ipairs(request.release) do
  -- It may have come back and died anew.
  if get('D:'..dead[1]) == dead[2] then forget(dead[1]) end
end
drop('ct', 'co', 'cb', 'cf')
put('cn', format(cn + 1))
save()
return 1
`)

/**
 * Locks the name of a file whose space is about to become free. Returns an empty string, or the server that holds the lock, and by which
 * token. If that server is dead, what it was about to free stays reserved, and the lock goes on to the next. Keys: the account, the lock.
 * The request: `server, token, bytes, files, dead, ttl`.
 */
export const lockNameScript = script(`
local request = cjson.decode(ARGV[1])
local function format(value) return string.format('%.0f', value) end
local held = redis.call('HMGET', KEYS[2], 'server', 'token', 'bytes', 'files', 'released')
-- A question that was overtaken by its release must not lock anew.
if held[5] == request.token then return '' end
if held[1] and held[2] ~= request.token then
  local dead = false
  for _, server in ipairs(request.dead) do if server == held[1] then dead = true end end
  if not dead then return {held[1], held[2]} end
  if redis.call('HEXISTS', KEYS[1], 'gen') == 1 then
    for _, field in ipairs({ 'A:', 'C:', 'P:' }) do redis.call('HINCRBY', KEYS[1], field..held[1], held[3]) end
    for _, field in ipairs({ 'F:', 'G:', 'Q:' }) do redis.call('HINCRBY', KEYS[1], field..held[1], held[4]) end
    local order = tonumber(redis.call('HGET', KEYS[1], 'o:'..held[1]) or '0')
    redis.call('HSETNX', KEYS[1], 'D:'..held[1], format(math.max(1, order)))
  end
end
redis.call('HSET', KEYS[2], 'server', request.server, 'token', request.token, 'bytes', format(request.bytes), 'files', format(request.files))
redis.call('EXPIRE', KEYS[2], request.ttl)
return ''
`)

/** Unlocks a name, if `token` still holds it. `token` never locks it anew, even if its question comes only now. */
export const unlockNameScript = script(`
local holder = redis.call('HGET', KEYS[1], 'token')
if holder == ARGV[1] then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], 'released', ARGV[1])
if not holder or holder == ARGV[1] then redis.call('EXPIRE', KEYS[1], 60) end
return 1
`)
