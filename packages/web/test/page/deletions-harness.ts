import { notices } from '../../page/parts/notices.ts'
import { createDeletions } from '../../page/list/deletions.ts'
import { fakeConnection, settled } from './fake-connection.ts'

/** Deletions whose requests are answered, and whose time passes, when the test says so. */
export function harness() {
  const { connection, asked, lines } = fakeConnection()
  const timers = new Set<() => void>()
  const calls: string[] = []
  const page = new EventTarget()
  const deletions = createDeletions(connection, {
    page,
    after(_ms, run) {
      timers.add(run)
      return () => timers.delete(run)
    },
    onIdle: () => calls.push('idle'),
    files: {
      hide: (names) => calls.push(`hide ${names.join()}`),
      show: (names) => calls.push(`show ${names.join()}`),
      remove: (name) => calls.push(`remove ${name}`),
    },
  })
  const passTime = () => {
    timers.forEach((run) => run())
    return settled()
  }
  return { deletions, asked, lines, passTime, calls, page }
}

/** Names of files. */
export const names = (count: number) => Array.from({ length: count }, (_, index) => `file ${index}`)
/** The texts of the notices. */
export const shown = () =>
  notices.value.map(({ text }) => (typeof text === 'function' ? text() : text))
