import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { promtool } from '@holdfast/testing/prometheus'
import { expect } from 'chai'
import { parse, stringify } from 'yaml'
import { alertCases, type AlertCase } from './alert-cases.ts'

const run = promisify(execFile)
const alerts = fileURLToPath(new URL('../../../../docs/deploy/alerts.yml', import.meta.url))

/** A test of promtool: whether an alert fires with these series. */
function testOf(alert: string, kind: 'fires' | 'silent', { minutes, ...series }: AlertCase) {
  return {
    name: `${alert} ${kind}`,
    interval: '1m',
    input_series: Object.entries(series[kind]).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count by (alertname) (ALERTS{alertname="${alert}", alertstate="firing"})`,
        eval_time: `${minutes}m`,
        exp_samples:
          kind === 'fires' ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : undefined,
      },
    ],
  }
}

/** What promtool says of tests; empty where all of them pass. */
async function judge(tests: readonly object[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-alerts-'))
  const file = join(folder, 'tests.yml')
  await writeFile(file, stringify({ rule_files: [alerts], evaluation_interval: '1m', tests }))
  try {
    await run(promtool, ['test', 'rules', file])
    return ''
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return stdout + stderr
  } finally {
    await rm(folder, { recursive: true })
  }
}

describe('docs/deploy/alerts.yml', function () {
  this.timeout(60_000)

  it('is what Prometheus takes for rules', async () => {
    await run(promtool, ['check', 'rules', '--lint=all', '--lint-fatal', alerts])
  })

  it('has a case for each alert, and no other', async () => {
    const { groups } = parse(await readFile(alerts, 'utf8')) as {
      readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[]
    }
    const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
    expect(Object.keys(alertCases)).to.have.members(names)
  })

  it('wakes the operator when it should, and only then', async () => {
    const tests = Object.entries(alertCases).flatMap(([alert, one]) => [
      testOf(alert, 'fires', one),
      testOf(alert, 'silent', one),
    ])
    expect(await judge(tests)).to.equal('')
  })

  it('is held to what the cases say', async () => {
    const one = alertCases['HoldfastDown']
    if (one === undefined) throw new Error('There is no such case')
    const swapped = { ...one, fires: one.silent }
    expect(await judge([testOf('HoldfastDown', 'fires', swapped)])).to.include('HoldfastDown')
  })
})
