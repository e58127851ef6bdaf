import { createSite, type HoldfastServer, type Site, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { createClientProject, type ClientProject } from './client-project.ts'

/** Every character in it means something in a path but stands for itself in a name. */
const name = 'ä #1 100%?.txt'
// openapi-generator's Java client refuses names in forms that are not ASCII.
const formName = 'form.bin'

/** What each program prints of its requests. */
const expected = {
  uploaded: 'OK',
  uploadedForm: 'OK',
  names: [formName, name],
  sizes: [256, 256],
  // Every byte there is, and so no text.
  content: Buffer.from(Array.from({ length: 256 }, (_, index) => index)).toString('hex'),
  part: 'feff',
  taken: 'Precondition Failed',
  deleted: 'OK',
  missing: 'File not found',
  refused: 'Invalid credentials',
}

describe('clients that are generated from docs/openapi.yaml', function () {
  // The first time the generators have to be installed.
  this.timeout(900_000)
  let project: ClientProject
  let site: Site
  let server: HoldfastServer

  before(async () => {
    project = await createClientProject()
  })
  after(() => project.remove())
  beforeEach(async () => {
    site = await createSite()
    server = await startHoldfast([], { cwd: site.path })
  })
  afterEach(async () => {
    await server.kill()
    await site.remove()
  })

  /** Runs a program that uses a client, and holds what it prints against what is expected. */
  async function expectAllDone(
    program: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<void> {
    const output = await project.run(program, [...args, server.url, name, formName], env)
    expect(JSON.parse(output)).to.deep.equal(expected)
  }

  describe('in TypeScript', () => {
    before(async () => {
      const schema = 'generated/openapi-fetch/schema.ts'
      await project.run('openapi-typescript', ['openapi.yaml', '-o', schema])
      const enums = 'generated/openapi-fetch/enums.ts'
      await project.run('openapi-typescript', ['openapi.yaml', '--enum', '-o', enums])
      await project.run('openapi-ts', ['--no-log-file'])
      await project.run('orval', ['--fail-on-warnings'])
      await project.run('tsc', [])
    })

    for (const client of ['openapi-fetch', 'hey-api', 'orval']) {
      it(`store, list, serve and delete with ${client}`, async () => {
        await expectAllDone('node', [`built/programs/${client}.mjs`])
      })
    }
  })

  it('store, list, serve and delete with openapi-python-client', async () => {
    const config = ['--config', 'openapi-python-client.yaml', '--fail-on-warning']
    const output = ['--output-path', 'generated/openapi-python-client']
    await project.run('openapi-python-client', [
      'generate',
      '--path',
      'openapi.yaml',
      ...config,
      ...output,
    ])
    const env = { PYTHONPATH: 'generated/openapi-python-client' }
    await expectAllDone('python', ['programs/openapi-python-client.py'], env)
  })

  const openapiGenerator = (language: string, folder: string) =>
    project.run('openapi-generator-cli', [
      ...['generate', '-i', 'openapi.yaml', '-g', language, '-o', folder],
      ...['--global-property', 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'],
    ])

  it('store, list, serve and delete with openapi-generator for Python', async () => {
    const folder = 'generated/openapi-generator-python'
    await openapiGenerator('python', folder)
    await expectAllDone('python', ['programs/openapi-generator.py'], { PYTHONPATH: folder })
  })

  it('store, list, serve and delete with openapi-generator for Java', async () => {
    const folder = 'generated/openapi-generator-java'
    await openapiGenerator('java', folder)
    const sources = project.find(`${folder}/src/main/**/*.java`)
    const built = 'built/java'
    const options = ['-nowarn', '-proc:none', '-cp', project.libraries, '-d', built]
    await project.run('javac', [...options, 'programs/Client.java', ...sources])
    await expectAllDone('java', ['-cp', `${built}:${project.libraries}`, 'Client'])
  })
})
