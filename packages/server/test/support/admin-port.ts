import { type HoldfastServer, until } from '@holdfast/testing'
import { expect } from 'chai'
import type { ReadinessReport } from '../../src/admin/open-admin.ts'

/** The admin port of a server, as a balancer sees it. */
export interface AdminPort {
  readonly url: string
  /** What `/ready` says now. */
  ready(): Promise<ReadinessReport>
  /** Waits until `/ready` is green. */
  turnsGreen(): Promise<void>
  /** Waits until `/ready` is red, and resolves with what is wrong, by the names of checks. */
  turnsRed(): Promise<Readonly<Record<string, string | undefined>>>
}

/** Of a server that was started with `--admin-port 0`. */
export async function adminPortOf(server: HoldfastServer): Promise<AdminPort> {
  const { admin } = await server.logged('holdfast listens on')
  const url = String(admin)
  let last: ReadinessReport | undefined
  const ready = async () => {
    const response = await fetch(`${url}/ready`)
    last = (await response.json()) as ReadinessReport
    expect(response.status).to.equal(last.ready ? 200 : 503)
    return last
  }
  const turns = (colour: string, isReady: boolean) =>
    until(
      () => `/ready turns ${colour}; it said ${JSON.stringify(last)}`,
      async () => (await ready()).ready === isReady,
      30_000,
    )
  return {
    url,
    ready,
    turnsGreen: () => turns('green', true),
    async turnsRed() {
      await turns('red', false)
      const failed = last?.checks.filter(({ ok }) => !ok) ?? []
      return Object.fromEntries(failed.map(({ name, why }) => [name, why]))
    },
  }
}
