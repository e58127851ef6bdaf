import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SetupError } from '@holdfast/core'
import { expect } from 'chai'
import fc from 'fast-check'
import { readConfigFile } from '../../../../../server/src/config/read-config-file.ts'
import { resolveConfig } from '../../../../../server/src/config/resolve-config.ts'
import { createTarget, type FuzzTarget } from '../fuzz-target.ts'
import { mutatedText } from '../mutations.ts'
import { yamlNests } from '../yaml-nests.ts'

/** Never to be told. Nothing else has these letters. */
const secret = 'QVXWZJ'
/** Behind a slip of the pen more than this, nobody can tell a password from what is none. */
const hasPassword = new RegExp(
  `/[^\\n]*${secret}[^\\n]*@(?![^\\n]*${secret})|^minio-secret-key: ${secret}`,
  'm',
)

const valid = [
  '# ours\nport: 8080\nmax-file-size: 10GB\nhost: "::"\nidle-timeout: 5m\n',
  'store: minio\nminio-endpoint: http://127.0.0.1:9000\nminio-bucket: b\nminio-create-bucket: true\n',
  'trust-proxy: 10.0.0.0/8, ::1\nlog-level: warn\naudit-log: "-"\nshutdown-grace: 1h\n',
  '{"port": 0, "max-file-size": 1048576, "data": "./d", "minio-create-bucket": false}',
  `minio-endpoint: http://me:${secret}@host:9000\nport: 1\n`,
  `minio-secret-key: ${secret}\nport: 1\n`,
  `shared-url: rediss+sentinel://me:${secret}@host:26379,other:26379/main\nshared-prefix: eu\n`,
]
const tokens = [
  ...[
    'port: ',
    'host: ',
    '&a ',
    '*a',
    '!!binary ',
    '!x ',
    '<<: *a\n',
    '---\n',
    '? ',
    '| ',
    'null',
    '~',
    'true',
  ],
  ...[
    '__proto__: 1\n',
    'toString: 1\n',
    '{}',
    '[]',
    '.inf',
    '0o17',
    '1e400',
    '\ufeff',
    '\u2028',
    '- ',
  ],
]
const inputs = fc.oneof(
  { weight: 12, arbitrary: mutatedText(fc.constantFrom(...valid), 3, tokens) },
  fc.array(fc.constantFrom(...tokens, '\n', ' '), { maxLength: 12 }).map((all) => all.join('')),
  fc.string({ unit: 'binary', maxLength: 100 }),
  yamlNests('port: 1\nhost: '),
)

/** Seconds of the processor, not of the clock: the machine may have much else to do. */
const patience = 5

/** Configuration files: accepted, or refused with a SetupError that names the file and shows no secret. */
export function configuration(): FuzzTarget {
  return createTarget({
    name: 'configuration',
    share: 4,
    inputs,
    async open() {
      const directory = await mkdtemp(join(tmpdir(), 'holdfast-fuzz-'))
      const path = join(directory, 'holdfast.yaml')
      return {
        async check(text) {
          await writeFile(path, text)
          const begin = process.cpuUsage()
          try {
            const written = await readConfigFile(path)
            resolveConfig({ file: written, filePath: path, environment: {} })
          } catch (error) {
            if (!(error instanceof SetupError)) throw error
            if (hasPassword.test(text)) expect(error.message).to.not.include(secret)
            for (const line of error.message.split('\n')) {
              expect(line.startsWith(path), `begins with the file: ${line}`).to.equal(true)
            }
          }
          expect(process.cpuUsage(begin).user / 1e6, 'seconds').to.be.below(patience)
        },
        close: () => rm(directory, { recursive: true }),
      }
    },
  })
}
