import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { nameProblem } from '@holdfast/core'
import fc from 'fast-check'
import { CustomersFileError } from '../../../../../credentials-file/src/customers/customers-file-error.ts'
import { parseCustomers } from '../../../../../credentials-file/src/customers/parse-customers.ts'
import { openCustomersFile } from '../../../../../credentials-file/src/open-customers-file.ts'
import { createTarget, type FuzzTarget } from '../fuzz-target.ts'
import { mutatedText } from '../mutations.ts'
import { yamlNests } from '../yaml-nests.ts'

const hash = '$scrypt$ln=15,r=8,p=1$c2FsdHNhbHRzYWx0$TuyRfCrtc6wGMWOCP2Y2J2HQ8ZlvAuWCCyzsZrCYtrw'
/** Never to be told. Nothing else has these letters. */
const secret = 'QVXWZJ'

const valid = [
  'customers: []\n',
  `# ours\ncustomers:\n  - name: demo # first\n    password: ${secret}\n    quota: 50GB\n`,
  `customers:\n- name: "zo\u00eb"\n  password: '${hash}'\n- {name: b, password: "${secret}", quota: 1048576}\n`,
  `customers:\n- &a\n  name: a\n  password: &p ${secret}\n- name: b\n  password: *p\n`,
  `customers:\n- name: |-\n    a\n  password: >-\n    ${secret}\n    ${secret}\n  quota: 1.5 GiB\n`,
  JSON.stringify({
    customers: [
      { name: 'a', password: secret },
      { name: 'b', password: hash, quota: 0 },
    ],
  }),
  JSON.stringify({ customers: [{ name: 'a', password: secret, quota: '1MB' }] }, undefined, 2),
  `%YAML 1.2\n---\ncustomers:\r\n- name: a\r\n  password: ${secret}\r\n...\n`,
]
const tokens = [
  ...[
    '- ',
    'name: ',
    'password: ',
    'quota: ',
    'customers:\n',
    '&a ',
    '*a',
    '*p',
    '!!binary ',
    '!!int ',
    '!x ',
  ],
  ...[
    '<<: *a',
    '---\n',
    '...\n',
    '%TAG ! x\n',
    '? ',
    '| ',
    '> ',
    '@',
    '`',
    'null',
    '~',
    'true',
    '0o17',
    '.inf',
  ],
  ...[
    '\u2028',
    '\ufeff',
    '"\\x41"',
    "''",
    '\t',
    '__proto__: ',
    'toString: ',
    'constructor: ',
    hash,
    secret,
    '{}',
  ],
]
const inputs = fc.oneof(
  { weight: 12, arbitrary: mutatedText(fc.constantFrom(...valid), 4, tokens) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom(...tokens, '\n', ' '), { maxLength: 12 })
      .map((all) => all.join('')),
  },
  fc.string({ unit: 'binary', maxLength: 100 }),
  yamlNests('customers:\n- name: a\n  password: '),
)

/** Seconds of the processor, not of the clock: the machine may have much else to do. */
const patience = 5

/**
 * Customers files: refused by nothing but a CustomersFileError, which tells file and line and no password, or taken
 * with every customer such as the policy has them; and what is taken can be edited, or is left alone.
 */
export function customers(): FuzzTarget {
  return createTarget({
    name: 'customers',
    share: 8,
    inputs,
    async open() {
      const directory = await mkdtemp(join(tmpdir(), 'holdfast-fuzz-'))
      const path = join(directory, 'customers.yaml')
      let turn = 0
      return {
        async check(text) {
          const begin = process.cpuUsage()
          const entries = parsed(text, path)
          expect(process.cpuUsage(begin).user / 1e6, 'seconds').to.be.below(patience)
          if (entries === undefined) return
          for (const { name, password, quota = 0 } of entries) {
            expect(nameProblem(name)).to.equal(undefined)
            expect(password).to.be.a('string').that.is.not.empty
            expect(Number.isSafeInteger(quota) && quota >= 0, `the quota ${quota}`).to.equal(true)
          }
          expect(new Set(entries.map(({ name }) => name)).size).to.equal(entries.length)
          // To write a file takes as long as twenty tries.
          if (turn++ % 20 === 0) await expectEditable(path, text)
        },
        close: () => rm(directory, { recursive: true }),
      }
    },
  })
}

function parsed(text: string, path: string) {
  try {
    return parseCustomers(text, path).entries
  } catch (error) {
    expectFit(error, path)
    return undefined
  }
}

/** An error for people: with file and line, and nothing that is secret. */
function expectFit(error: unknown, path: string): void {
  if (!(error instanceof CustomersFileError)) throw error
  expect(error.message).to.not.include(secret)
  expect(error.message).to.not.include('TuyRfCrtc6wG')
  for (const line of error.message.split('\n')) {
    expect(line.startsWith(path), `begins with the file: ${line}`).to.equal(true)
  }
  for (const { line } of error.problems) {
    if (line !== undefined) expect(line).to.be.at.least(1)
  }
}

/** Adds a customer: the others are as they were, and so is everything once that one is removed. */
async function expectEditable(path: string, text: string): Promise<void> {
  await writeFile(path, text)
  const before = parseCustomers(text, path).entries
  if (before.some(({ name }) => name === 'added')) return
  try {
    const file = await openCustomersFile(path)
    file.add('added', hash, { quota: '1GB' })
    await file.save()
    const wanted = [...before, { name: 'added', password: hash, quota: 1e9 }]
    expect((await openCustomersFile(path)).names()).to.deep.equal(wanted.map(({ name }) => name))
    file.remove('added')
    await file.save()
    expect((await openCustomersFile(path)).names()).to.deep.equal(before.map(({ name }) => name))
  } catch (error) {
    expectFit(error, path)
  }
}
