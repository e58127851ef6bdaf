// What load/requests.lua has wrk do, for machines without it: sends the request that standard input has, JSON, with a
// number of six digits where it says {n}, or their Base64 where it says {n64}. Ends with one line of JSON.
import { text } from 'node:stream/consumers'
import autocannon from 'autocannon'

const { port, connections, seconds, count, step, start, ...asked } = JSON.parse(
  await text(process.stdin),
)
const { method, path, headers, body, isSecure } = asked
const content = Buffer.from(body, 'base64').toString('latin1')
const isNumbered = [path, content, ...Object.values(headers)].some((text) => /{n(64)?}/.test(text))
let number = start

const numbered = (text, digits) =>
  text.replaceAll('{n}', digits).replaceAll('{n64}', Buffer.from(digits).toString('base64'))
const request = (digits) => ({
  method,
  path: numbered(path, digits),
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, numbered(value, digits)]),
  ),
  ...(content && { body: Buffer.from(numbered(content, digits), 'latin1') }),
})
const next = () => {
  number = (number + step) % count
  return request(String(number).padStart(6, '0'))
}

const result = await autocannon({
  url: `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}`,
  tlsOptions: { rejectUnauthorized: false },
  connections,
  duration: seconds,
  requests: [
    isNumbered ? { setupRequest: (defaults) => ({ ...defaults, ...next() }) } : request('000000'),
  ],
})
console.log(
  JSON.stringify({
    requests: result.requests.total,
    microseconds: result.duration * 1e6,
    bytes: result.throughput.total,
    p50: result.latency.p50 * 1000,
    p99: result.latency.p99 * 1000,
    failed: result.errors + result.non2xx,
  }),
)
