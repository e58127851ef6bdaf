import { execFile } from 'node:child_process'
import { mock } from 'node:test'
import { promisify } from 'node:util'
import { openCustomersFile } from '@holdfast/credentials-file'
import { createSite, holdfastProgram, type Site } from '@holdfast/testing'
import { expect } from 'chai'
import {
  createStatusLine,
  progressMode,
  formatDuration,
  localTime,
  jsonLine,
} from '../../src/terminal/print.ts'

const run = promisify(execFile)
describe('The output of holdfast', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  /** Runs a line of bash in which `$HOLDFAST` is the command; resolves also when that fails. */
  const shell = async (line: string) => {
    const script = `HOLDFAST="$1 $2"; ${line}`
    const args = ['-o', 'pipefail', '-c', script, 'bash', process.execPath, holdfastProgram]
    try {
      return { code: 0, ...(await run('bash', args, { cwd: site.path })) }
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { code, stdout, stderr }
    }
  }

  it('may be read in part', async () => {
    // More than a pipe holds.
    const names = Array.from({ length: 20_000 }, (_, index) => `customer number ${index}`)
    const entries = names.map((name) => `  - { name: ${name}, password: plain }\n`)
    await site.write('many.yaml', `customers:\n${entries.join('')}`)
    expect(await shell('$HOLDFAST customers list --customers many.yaml | head -n 1')).to.deep.equal(
      { code: 141, stdout: 'customer number 0\n', stderr: '' },
    )
    const all = await shell('$HOLDFAST customers list --customers many.yaml | wc -l')
    expect(all.stdout.trim()).to.equal('20000')
  })

  for (const command of ['customers list', 'usage', 'doctor', '--help', 'frob']) {
    for (const where of ['> /dev/full', '2> /dev/full', '> /dev/full 2>&1']) {
      it(`does not hang, and shows no stack: ${command} ${where}`, async () => {
        const { code, stderr } = await shell(`timeout 30 $HOLDFAST ${command} ${where}`)
        expect(code).to.be.oneOf(command === 'frob' ? [2] : [0, 1])
        expect(stderr).not.to.match(/^\s+at |please report/m)
      })
    }
  }

  it('is not needed for what is said on standard error, nor that for standard output', async () => {
    expect(await shell('$HOLDFAST customers list > /dev/full')).to.deep.equal({
      code: 1,
      stdout: '',
      stderr:
        'holdfast: Standard output cannot be written (ENOSPC: no space left on device, write).\n',
    })
    const { code, stdout } = await shell('$HOLDFAST customers add bob 2> /dev/full')
    expect(code).to.equal(0)
    expect(stdout).to.match(/^\S+\n$/)
  })

  it('is no mistake in the command line of a client verb', async () => {
    const { code } = await shell('$HOLDFAST completion bash > /dev/full')
    expect(code).to.equal(1)
  })

  for (const [where, line] of [
    ['on a full disk', '$HOLDFAST customers add alice > /dev/full'],
    ['in a pipe without a reader', '$HOLDFAST customers add alice | sleep 0'],
  ] as const) {
    it(`reports a password that is lost ${where}, and how to make another`, async () => {
      const { code, stdout, stderr } = await shell(line)
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.match(/^holdfast: The password could not be written \(.*(ENOSPC|EPIPE)/m)
      expect(stderr).to.include('holdfast customers rotate alice')
      expect(stderr).not.to.match(/^\s+at /m)
      const file = await openCustomersFile(`${site.path}/customers.yaml`)
      expect(file.names()).to.deep.equal(['demo', 'alice'])
    })
  }
})

describe('createStatusLine', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }))
  afterEach(() => mock.timers.reset())

  /** Runs a status line that shows the number of its updates; returns what it wrote. */
  const written = (
    facts: { readonly isTTY?: boolean; readonly columns?: number },
    environment: Readonly<Record<string, string>>,
    finish: 'end' | 'erase',
  ) => {
    let [text, updates] = ['', 0]
    const output = { ...facts, write: (more: string) => void (text += more) }
    const mode = progressMode(output, environment, { plainMs: 5000 })
    const line = createStatusLine(output, mode, (width) => `${++updates} of ${width}`)
    mock.timers.tick(mode.intervalMs)
    line.note('a note')
    line[finish]()
    mock.timers.tick(mode.intervalMs)
    return text
  }
  const erased = '\r\u001b[K'

  it('redraws one line on a terminal, which stays at the end or is erased', () => {
    const begin = `${erased}1 of 39${erased}a note\n${erased}`
    expect(written({ isTTY: true, columns: 40 }, {}, 'end')).to.equal(`${begin}2 of 39\n`)
    expect(written({ isTTY: true, columns: 40 }, {}, 'erase')).to.equal(begin)
  })

  for (const environment of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
    it(`writes plain lines with ${JSON.stringify(environment)}`, () => {
      const begin = '1 of undefined\na note\n'
      expect(written({ isTTY: true }, environment, 'end')).to.equal(`${begin}2 of undefined\n`)
      expect(written({ isTTY: true }, environment, 'erase')).to.equal(begin)
    })
  }

  it('writes only notes where there is no terminal', () => {
    expect(written({}, {}, 'end')).to.equal('a note\n')
  })
})

describe('formatDuration', () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0s'],
    [0.4, '0s'],
    [59.4, '59s'],
    [59.6, '1m 00s'],
    [65, '1m 05s'],
    [3599, '59m 59s'],
    [3600, '1h 00m'],
    [94_200, '26h 10m'],
  ]
  for (const [seconds, text] of cases) {
    it(`writes ${seconds} as ${text}`, () => expect(formatDuration(seconds)).to.equal(text))
  }
})

describe('localTime', () => {
  it('says the day and the minute, wherever the machine is', () => {
    const time = new Date(2026, 0, 2, 3, 4, 59)
    expect(localTime(time.toJSON())).to.equal('2026-01-02 03:04')
  })

  it('says nothing of what is no time', () => {
    expect(localTime('soon')).to.equal('-')
  })
})

describe('jsonLine', () => {
  it('escapes what a terminal would obey, and means the same', () => {
    const value = { 'a\u009b': 'größe\u001b[2J\u202e\u2028\u{e0041}🙂\n 字\ud800' }
    const line = jsonLine(value)
    expect(line).to.equal(
      String.raw`{"a\u009b":"größe\u001b[2J\u202e\u2028\udb40\udc41🙂\n 字\ud800"}` + '\n',
    )
    expect(JSON.parse(line)).to.deep.equal(value)
  })

  it('keeps the lines of JSON that is laid out', () => {
    expect(jsonLine({ a: ['b'] }, 2)).to.equal('{\n  "a": [\n    "b"\n  ]\n}\n')
  })
})
