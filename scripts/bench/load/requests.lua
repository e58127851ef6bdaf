-- Sends the request in the file that the first argument names, with a number of six digits where it says {n}: of as many
-- numbers as the second argument says, by steps of the third from the fourth on. Ends with one line of JSON.
local parts, count, step, number = {}, 1, 1, 0

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  local template = file:read('*a') .. '{n}'
  file:close()
  for part in template:gmatch('(.-){n}') do parts[#parts + 1] = part end
  count, step, number = tonumber(args[2]), tonumber(args[3]), tonumber(args[4])
end

function request()
  if #parts == 1 then return parts[1] end
  number = (number + step) % count
  return table.concat(parts, string.format('%06d', number))
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"microseconds":%d,"bytes":%d,"p50":%d,"p99":%d,"failed":%d}',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
