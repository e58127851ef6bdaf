import { join } from 'node:path'
import { createSite, type Site } from '@holdfast/testing'
import { expect } from 'chai'
import { SetupError } from '@holdfast/core'
import { readConfigFile } from '../../src/config/read-config-file.ts'

describe('readConfigFile', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  const refusal = async (path: string) => {
    try {
      await readConfigFile(path)
    } catch (error) {
      if (error instanceof SetupError) return error.message.replaceAll(site.path, '')
      throw error
    }
    throw new Error('The file was accepted')
  }

  it('reads YAML, with numbers and text', async () => {
    const path = await site.write(
      'h.yaml',
      '# ours\nport: 8080\nmax-file-size: 10GB\nhost: "::"\nidle-timeout: 5m\n',
    )
    expect(await readConfigFile(path)).to.deep.equal({
      host: '::',
      port: '8080',
      'max-file-size': '10GB',
      'idle-timeout': '5m',
    })
  })

  it('takes a number as it is written, since a name may look like one', async () => {
    const path = await site.write(
      'h.yaml',
      'data: 007\nminio-bucket: 0x10\nport: 0x1F90\nmax-file-size: 1e9\n',
    )
    expect(await readConfigFile(path)).to.deep.equal({
      data: '007',
      'minio-bucket': '0x10',
      port: '8080',
      'max-file-size': '1000000000',
    })
  })

  it('reads switches, with quotes or without', async () => {
    for (const written of ['true', '"true"']) {
      const path = await site.write('h.yaml', `minio-create-bucket: ${written}\n`)
      expect(await readConfigFile(path)).to.deep.equal({ 'minio-create-bucket': 'true' })
    }
  })

  it('reads JSON', async () => {
    const path = await site.write('h.json', '{"port": 0, "max-file-size": 1048576}')
    expect(await readConfigFile(path)).to.deep.equal({ port: '0', 'max-file-size': '1048576' })
  })

  for (const empty of ['', '# nothing\n', '{}']) {
    it(`takes ${JSON.stringify(empty)} for a file that sets nothing`, async () => {
      expect(await readConfigFile(await site.write('h.yaml', empty))).to.deep.equal({})
    })
  }

  const laughs = 'a: &a [1]\n' + lists('b', 'a') + lists('c', 'b') + lists('d', 'c')
  const wrong: readonly (readonly [string, string])[] = [
    [
      'port: 1\nmax-filesize: 1\n',
      '/h.yaml:2: "max-filesize" is not a setting; did you mean "max-file-size"? there are host, port',
    ],
    ['colour: red\n', '/h.yaml:1: "colour" is not a setting; there are host, port'],
    [
      'host: a\n\nport: 65536\n',
      '/h.yaml:3: port "65536" is not a port; write a number from 0 to 65535',
    ],
    ['port:\n', '/h.yaml:1: port must be text or a whole number'],
    ['port: [1]\n', '/h.yaml:1: port must be text or a whole number'],
    ['log-level: true\n', '/h.yaml:1: log-level must be text or a whole number'],
    ['max-file-size: 10G\n', '/h.yaml:1: max-file-size "10G" is not a size'],
    [
      'max-file-size: 99999999999999999999999\n',
      '/h.yaml:1: max-file-size "99999999999999999999999" is not a size',
    ],
    ['{"port": "x",\n "data": ""}', '/h.yaml:2: data "" is empty'],
    ['{"port": 9\n\n9}', '/h.yaml:1: port "9 9" is not a port'],
    ['- port: 1\n', '/h.yaml: the file must be a map of settings, such as "port: 3000"'],
    ['hello\n', '/h.yaml: the file must be a map of settings'],
    ['port: 1\nport: 2\n', '/h.yaml:2: this is not YAML: Map keys must be unique'],
    ['port: "1\nhost: x\n', '/h.yaml:3: this is not YAML: Missing closing "quote'],
    ['port: 1\n---\nport: 2\n', '/h.yaml:2: this is not YAML:'],
    ['port: 1\nhost: *none\n', '/h.yaml: this is not YAML: Unresolved alias'],
    [laughs, '/h.yaml: this is not YAML: Excessive alias count'],
    ['[1]: 1\n', '/h.yaml:1: this is not YAML: With stringKeys, all keys must be strings'],
    // Its data would take a minute to come by.
    ['? '.repeat(400), '/h.yaml:1: this is not YAML: With stringKeys'],
    ['['.repeat(50_000), '/h.yaml:1: this is not YAML:'],
    ['minio-create-bucket: 1.5\n', '/h.yaml:1: minio-create-bucket must be true or false'],
    ['minio-create-bucket: yes\n', '/h.yaml:1: minio-create-bucket "yes" is neither true nor'],
    [
      'port: 1\nminio-secret-key: s3cret\n',
      '/h.yaml:2: minio-secret-key is a secret and is not read from this file; set HOLDFAST_MINIO_SECRET_KEY, or HOLDFAST_MINIO_SECRET_KEY_FILE',
    ],
    ['minio-access-key-file: /run/key\n', 'with the path of a file that holds it'],
    ['__proto__: 1\n', '/h.yaml:1: "__proto__" is not a setting'],
  ]
  for (const [text, message] of wrong) {
    it(`refuses ${JSON.stringify(text.slice(0, 80))} with its place`, async () => {
      expect(await refusal(await site.write('h.yaml', text))).to.include(message)
    })
  }

  it('repeats no key or password, be it known as one or not', async () => {
    const text = 'minio-secret-key: s3cret\nminio-secretkey: s3cret\nminio-access-key: s3cret\n'
    expect(await refusal(await site.write('h.yaml', text))).not.to.include('s3cret')
    const inUrl = 'minio-endpoint: http://me:s3cret@minio:9000\n'
    const message = await refusal(await site.write('h.yaml', inUrl))
    expect(message).to.include(
      'minio-endpoint "http://…@minio:9000" is not the address of a server',
    )
    expect(message).not.to.include('s3cret')
    for (const slip of ['http:/me:s3cret@minio', 'me:s3cret@minio', 'a//b me:s3cret\\n@minio']) {
      const text = `minio-endpoint: "${slip}"\n`
      expect(await refusal(await site.write('h.yaml', text))).to.include('…@minio" is not the')
      expect(await refusal(await site.write('h.yaml', text))).not.to.include('s3cret')
    }
    const inKey = '"minio-endpoint: http://me:s3cret": 1\n'
    const keyMessage = await refusal(await site.write('h.yaml', inKey))
    expect(keyMessage).to.include('/h.yaml:1: a key that is not a setting; there are host, port')
  })

  it('repeats no line that is not YAML, since it may have a password', async () => {
    const line = 'minio-endpoint: http://me:s3cret@minio:9000'
    for (const text of [`| ${line}\n`, `host: *${line}\n`, `%${line}\n---\n`, `"\\q ${line}"\n`]) {
      const message = await refusal(await site.write('h.yaml', text))
      expect(message).to.include('this is not YAML: ').and.not.include('s3cret')
    }
  })

  it('says everything that is wrong at once', async () => {
    const message = await refusal(await site.write('h.yaml', 'port: x\ndata: ""\n'))
    const places = message.split('\n').map((line) => line.split(' ')[0])
    expect(places).to.deep.equal(['/h.yaml:1:', '/h.yaml:2:'])
  })

  it('says where to look when the file cannot be read', async () => {
    const missing = await refusal(join(site.path, 'none.yaml'))
    expect(missing).to.include('/none.yaml cannot be read (ENOENT')
    expect(missing).to.include('Check --config or HOLDFAST_CONFIG.')
    expect(await refusal(site.path)).to.include('EISDIR')
  })
})

/** A list, called `name`, of one and the same list nine times. */
function lists(name: string, of: string): string {
  return `${name}: &${name} [${Array(9).fill(`*${of}`).join(', ')}]\n`
}
