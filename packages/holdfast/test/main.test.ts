import { readFile } from 'node:fs/promises'
import { createSite, runHoldfast, type Site } from '@holdfast/testing'
import { expect } from 'chai'
import { groupCommands } from '../src/main.ts'

describe('holdfast', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  const holdfast = (args: readonly string[], env: Record<string, string> = {}) =>
    runHoldfast(args, { cwd: site.path, env })

  it('says its version', async () => {
    const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8')
    const { version } = JSON.parse(manifest) as { version: string }
    for (const flag of ['--version', '-v']) {
      expect(await holdfast([flag])).to.deep.equal({ code: 0, stdout: `${version}\n`, stderr: '' })
    }
  })

  const pages: readonly (readonly [readonly string[], readonly string[]])[] = [
    [
      ['--help'],
      [
        'Server commands:\n  holdfast serve ',
        '\n\nClient commands:\n  holdfast login ',
        'Exit codes',
      ],
    ],
    [
      ['-h', '--json'],
      ['Server commands:', 'Examples:'],
    ],
    [
      ['ls', '-h'],
      ['--long', 'Examples:'],
    ],
    [
      ['serve', '--help'],
      ['Server:', '--max-file-size', '[$HOLDFAST_PORT]', '[default: 3000]', 'Examples:'],
    ],
    [
      ['serve', '-h'],
      [
        'Disk store:',
        'MinIO store:',
        '--minio-create-bucket',
        '$HOLDFAST_MINIO_ACCESS_KEY, or $HOLDFAST_MINIO_ACCESS_KEY_FILE',
      ],
    ],
    [['--config', 'usage', 'serve', '--help'], ['free one [$HOLDFAST_PORT] [default: 3000]\n']],
    [['serve', '--data', 'x', 'help'], ['free one [$HOLDFAST_PORT] [default: 3000]\n']],
    [['--config', 'x', 'serve', '--help'], ['free one [$HOLDFAST_PORT] [default: 3000]\n']],
    [['--json', '--profile', 'x', 'ls', '--help'], ['\n  -q, --quiet    Report only']],
    [
      ['doctor', '-h'],
      ['--json', 'Disk store:', 'MinIO store:', 'The exit code is 0'],
    ],
    [
      ['customers', '-h'],
      ['add [name]', 'rotate [name]', 'check'],
    ],
    [
      ['customers', 'add', '--help'],
      ['--password-stdin', '--quota', 'Examples:'],
    ],
  ]
  for (const [args, parts] of pages) {
    it(`explains "${args.join(' ')}" in English, whatever the machine speaks`, async () => {
      const { code, stdout, stderr } = await holdfast(args, { LC_ALL: 'de_DE.UTF-8' })
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
      for (const part of ['Options:', ...parts]) expect(stdout).to.include(part)
    })
  }

  it('takes the word help for a value and for a name where it is one', async () => {
    const { stdout } = await holdfast(['copy', '--from', 'disk', '--to', 'help'])
    expect(stdout).to.equal('')
    const named = await holdfast(['customers', 'add', '--customers', '/none/x', '--', 'help'])
    expect(named.stdout).to.equal('')
    expect(named.code).to.equal(1)
  })

  for (const args of [['--help'], ['-h'], ['help'], ['serve', '--help=true'], ['serve', 'help']]) {
    it(`breaks the lines of what "${args.join(' ')}" prints`, async () => {
      const { stdout } = await holdfast(args)
      const widths = stdout.split('\n').map(({ length }) => length)
      expect(Math.max(...widths)).to.be.within(70, 110)
    })
  }

  it('refuses a Node.js that is too old before anything fails of that', async () => {
    const old = `Object.defineProperty(process, 'versions', { value: { node: '20.19.0' } })`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(old)}`
    expect(await holdfast(['customers', 'add', 'zoe'], { NODE_OPTIONS })).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: 'holdfast: Node.js 20.19.0 is too old; run it with version 22 or newer.\n',
    })
  })

  const mistakes: readonly (readonly [readonly string[], string])[] = [
    [
      ['customers', 'frob'],
      'Unknown argument: frob\nAfter customers comes one of add, set, list, remove,',
    ],
    [['customers', 'ad', 'zoe'], 'Did you mean add?'],
    [['customers', 'add', '--quotta', '1'], 'Did you mean --quota?'],
    [['serve', '--prot', '1'], 'Unknown argument: prot\nDid you mean --port?'],
    [['serve', '--maxfilesize', '1'], 'Did you mean --max-file-size?'],
    [['serve', '--xyzzy'], 'Unknown argument: xyzzy\nSee holdfast --help.'],
    [
      ['usage', '--port', '1'],
      'Unknown argument: port\n--port belongs to another command.\nSee holdfast --help.',
    ],
    [['serve', 'port', '1'], 'Unknown arguments: port, 1\nDid you mean --port?'],
    [['serve', 'now'], 'Unknown argument: now'],
    [['serve', '--', '--port', '1'], 'No words are allowed after "--": "--port".'],
    [['serve', '--port'], 'Not enough arguments following: port'],
    [['serve', '--port', '65536'], '--port "65536" is not a port; write a number from 0 to 65535'],
    [['serve', '--store', 'tape'], '--store "tape" is not one of disk, minio.'],
    [['serve', '--max-file-size', '10G'], '--max-file-size "10G" is not a size'],
    [['serve', '--idle-timeout', '60'], '--idle-timeout "60" is not a time'],
    [['serve', '--shutdown-grace', '25000h'], '--shutdown-grace "25000h" is not a time'],
    [['serve', '--log-level', 'loud'], '--log-level "loud" is not one of fatal, error'],
    [['serve', '--data', ''], '--data "" is empty'],
    [['serve', '--port.x', '1'], 'Unknown argument: port.x'],
    [['serve', '-minio-secret-key', 'x'], 'Unknown argument: minio-secret-key\n--minio-secret'],
    [['serve', '--port', '007x'], '--port "007x" is not a port'],
    [['serve', '--minio-endpoint', 'minio:9000'], '"minio:9000" is not the address of a server'],
    [['serve', '--minio-create-bucket', 'maybe'], '"maybe" is neither true nor false'],
    [['serve', '--minio-create-bucket='], '--minio-create-bucket "" is neither true nor false'],
    [
      ['serve', '--minio-create-bucket'],
      'The store is disk, which does not use --minio-create-bucket',
    ],
    [['serve', '--store', 'minio', '--data', 'x'], 'The store is minio, which does not use --data'],
    [
      ['serve', '--minio-secret-key', 'x'],
      '--minio-secret-key is not accepted, since flags show in the list of processes; set HOLDFAST_MINIO_SECRET_KEY, or HOLDFAST_MINIO_SECRET_KEY_FILE',
    ],
    [
      ['serve', '--shared-password', 'x'],
      '--shared-password is not accepted, since flags show in the list of processes; set HOLDFAST_SHARED_PASSWORD, or HOLDFAST_SHARED_PASSWORD_FILE',
    ],
    [
      ['serve', '--shared-user', 'x', '--shared-prefix', 'y'],
      'Without --shared-url the server does not use --shared-user, --shared-prefix',
    ],
    [['serve', '--shared-url', 'redis://:x@127.0.0.1'], 'set HOLDFAST_SHARED_PASSWORD'],
  ]
  it('says of a client what the system refuses, without asking for a report', async () => {
    const { code, stderr } = await holdfast(['get', 'x', '-o', 'none/x'])
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: 'holdfast: No such file or directory: none\n',
    })
  })

  it('hides what a terminal would obey in the name of a path, and in a mistake', async () => {
    const { stderr } = await holdfast(['get', 'x', '-o', 'no\u001b[2J\nne/x'])
    expect(stderr).to.equal('holdfast: No such file or directory: no\\u{1b}[2J\\u{a}ne\n')
    const mistake = await holdfast(['put', 'a', '--x\u001b[2J'])
    expect(mistake.stderr).to.include('Unknown argument: x\\u{1b}[2J\nSee holdfast --help.\n')
  })

  const unknownCommands: typeof mistakes = [
    [[], 'Say which command: serve, copy, customers, usage, events or doctor; as a client login, '],
    [['sreve'], 'Did you mean serve?'],
    [['delete', 'x'], 'holdfast rm does that.\nSee holdfast rm --help.'],
    [['--port', '1'], 'Say which command: '],
    [['cp', 'a', 'b'], 'holdfast: There is no command "cp".'],
    [['xyzzy', '--foo'], 'There is no command "xyzzy".\nSee holdfast --help.\n'],
    [['sycn', 'a'], 'There is no command "sycn".\nDid you mean sync?\n'],
  ]
  const slips: readonly (readonly [readonly string[], string])[] = [
    [['put', '--foo', 'x'], 'Unknown argument: foo\nSee'],
    [['put', '--from', 'x'], 'Unknown argument: from\n--from belongs to another command.\nSee'],
    [['put', 'x', '--no-clober'], 'Did you mean --no-clobber?'],
    [['ls', '--lnog'], 'Did you mean --long?'],
    [['get', '--outptu', 'x'], 'Did you mean --output?'],
    [['stat', '--lng', 'x'], 'Unknown argument: lng\nSee'],
    [['rm', '--prt', 'x'], 'Unknown argument: prt\nSee'],
  ]
  for (const [args, message] of slips) {
    it(`suggests for "${args.join(' ')}" only what the command has`, async () => {
      const { code, stderr } = await holdfast(args)
      expect(code).to.equal(2)
      expect(stderr).to.include(message)
    })
  }

  for (const [args, message] of unknownCommands) {
    it(`refuses "${args.join(' ')}", which is no command, with exit code 2`, async () => {
      const { code, stdout, stderr } = await holdfast(args)
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
      expect(stderr).to.match(/^holdfast: /)
      expect(stderr).to.include(message)
    })
  }

  for (const [args, message] of mistakes) {
    it(`refuses "${args.join(' ')}" with the remedy, exit code 1 and no stack`, async () => {
      const { code, stdout, stderr } = await holdfast(args)
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.match(/^holdfast: /)
      expect(stderr).to.include(message)
      expect(stderr).not.to.match(/^\s+at |unexpected/m)
    })
  }
})

describe('groupCommands', () => {
  it('puts a heading before each group', () => {
    const help = `holdfast <command>

Commands:
  holdfast serve      Run it
                      here
  holdfast put [x]    Store
  holdfast get        Fetch

Options:
  --help
`
    expect(groupCommands(help, 'holdfast', 'put')).to.equal(`holdfast <command>

Server commands:
  holdfast serve      Run it
                      here

Client commands:
  holdfast put [x]    Store
  holdfast get        Fetch

Options:
  --help
`)
  })
})
