import { Agent, get } from 'node:http'

/** What the parent asks for: that many wrong logins a second, from that many addresses; 0 for none. */
export interface FloodOrder {
  readonly perSecond: number
  readonly addresses: number
}

/** The answers so far, by status. */
export type FloodCount = Readonly<Record<string, number>>

const [url = ''] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 200 })
const answers: Record<string, number> = {}
let order: FloodOrder = { perSecond: 0, addresses: 1 }
let sent = 0
let due = 0

function guess(): void {
  const headers = {
    'x-auth-name': `customer ${sent++}`,
    'x-auth-password': `guess ${sent}`,
    'x-forwarded-for': `10.1.${(sent % order.addresses) >> 8}.${(sent % order.addresses) & 255}`,
  }
  const request = get(`${url}/list`, { agent, headers }, (response) => {
    const status = `${response.statusCode}`
    answers[status] = (answers[status] ?? 0) + 1
    response.resume()
  })
  // What is still under way at the end is cut off with the process.
  request.on('error', () => {})
}

process.on('message', (message: FloodOrder) => {
  order = message
  due = 0
  process.send?.(answers)
})
process.on('disconnect', () => process.exit())

// As many as are due, however late the timer is, but never a heap of them.
let last = performance.now()
setInterval(() => {
  const now = performance.now()
  due = Math.min(due + ((now - last) / 1000) * order.perSecond, 100)
  last = now
  for (; due >= 1; due--) guess()
}, 5)
