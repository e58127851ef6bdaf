-- Sends the request in the file that the first argument names, with a number of six digits where it says {n}, or their Base64
-- where it says {n64} instead: of as many numbers as the second argument says, by steps of the third from the fourth on. Ends
-- with one line of JSON.
local parts, count, step, number = {}, 1, 1, 0
local mark = '{n}'
local letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

local function base64(text)
  return (text:gsub('...', function(three)
    local a, b, c = three:byte(1, 3)
    local bits, four = a * 65536 + b * 256 + c, ''
    for _, unit in ipairs({ 262144, 4096, 64, 1 }) do
      local at = math.floor(bits / unit) % 64 + 1
      four = four .. letters:sub(at, at)
    end
    return four
  end))
end

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  local template = file:read('*a')
  file:close()
  if template:find('{n64}', 1, true) then mark = '{n64}' end
  for part in (template .. mark):gmatch('(.-)' .. mark) do parts[#parts + 1] = part end
  count, step, number = tonumber(args[2]), tonumber(args[3]), tonumber(args[4])
end

function request()
  if #parts == 1 then return parts[1] end
  number = (number + step) % count
  local digits = string.format('%06d', number)
  return table.concat(parts, mark == '{n}' and digits or base64(digits))
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"microseconds":%d,"bytes":%d,"p50":%d,"p99":%d,"failed":%d}',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
