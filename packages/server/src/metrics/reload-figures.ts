import { Gauge, type Registry } from 'prom-client'
import type { Reloadable, ServerWatch } from '../serve/server-watch.ts'
import { createCounts } from './counts.ts'

export interface ReloadFigures extends Pick<ServerWatch, 'onReload'> {
  /** Has `isRefused` say whether the old one is in force, who knows better than the latest news does. */
  ask(what: Reloadable, isRefused: () => boolean): void
}

const reloadables: readonly Reloadable[] = ['customers', 'certificate', 'audit']

/** Figures of what is read again while the server runs: the customers, the certificate, the audit trail's file. */
export function createReloadFigures(register: Registry): ReloadFigures {
  const registers = [register]
  const labelNames = ['what']
  const reloads = createCounts(register, {
    name: 'holdfast_reloads_total',
    help: 'Changed customers or certificates that were taken or refused, and reopenings of the audit trail.',
    labelNames: ['what', 'outcome'],
  })
  const taken = new Gauge({
    name: 'holdfast_reload_last_taken_timestamp_seconds',
    help: 'When something new was last taken, in seconds since 1970; the start of the process counts.',
    labelNames,
    registers,
  })
  const states = new Map<Reloadable, () => boolean>()
  new Gauge({
    name: 'holdfast_reload_refused',
    help: 'Whether what is there now is refused, so that what was read before is in force.',
    labelNames,
    registers,
    collect() {
      for (const [what, isRefused] of states) this.labels(what).set(isRefused() ? 1 : 0)
    },
  })
  const asked = new Set<Reloadable>()
  for (const what of reloadables) {
    reloads(what, 'taken')
    reloads(what, 'refused')
    taken.labels(what).setToCurrentTime()
    states.set(what, () => false)
  }
  return {
    onReload(what, isTaken) {
      reloads(what, isTaken ? 'taken' : 'refused').add()
      if (isTaken) taken.labels(what).setToCurrentTime()
      if (!asked.has(what)) states.set(what, () => !isTaken)
    },
    ask(what, isRefused) {
      asked.add(what)
      states.set(what, isRefused)
    },
  }
}
