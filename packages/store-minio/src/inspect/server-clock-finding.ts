import { finding, type Finding } from '@holdfast/core'

/** Seconds that clocks may be apart; S3 servers refuse requests beyond the second. */
const bounds = { warning: 60, problem: 15 * 60 }

/** Whether the server's clock, by the `Date` header of its answer, agrees with `now`, in milliseconds since 1970. */
export function serverClockFinding(date: string | null, now: number): Finding {
  const check = 'clock'
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs)) return finding('skipped', check, 'the server does not report its time')
  const seconds = Math.round(Math.abs(theirs - now) / 1000)
  if (seconds <= bounds.warning) {
    return finding('ok', check, `at most ${Math.max(seconds, 1)} s from that of the server`)
  }
  const direction = theirs > now ? 'behind' : 'ahead of'
  const message = `this machine is ${seconds} s ${direction} the S3 server, which takes 15 minutes at most`
  const mark = seconds > bounds.problem ? 'problem' : 'warning'
  return finding(mark, check, message, 'On the one that is wrong: timedatectl set-ntp true')
}
