import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describeWithContainers, describeWithMinio } from '../../src/minio/describe-with-minio.ts'
import { runMocha } from './run-mocha.ts'

const suites = join(import.meta.dirname, 'children/suites.ts')

describe('A machine without containers', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-no-engine-'))
  })

  afterEach(() => rm(folder, { recursive: true }))

  it('fails the suites that need an engine, and says what to do', async () => {
    const output = await runMocha(suites, {
      DOCKER_HOST: `unix://${folder}/nobody.sock`,
      HOLDFAST_WITHOUT_CONTAINERS: '',
    })
    expect(output).to.include('No container engine answers').and.include('scripts/test')
    expect(output)
      .to.match(/2 passing/)
      .and.match(/1 failing/)
  })

  it('runs the other suites under the waiver, and says which were left out', async () => {
    const leftOut = join(folder, 'left-out')
    const output = await runMocha(suites, { HOLDFAST_WITHOUT_CONTAINERS: leftOut })
    expect(output)
      .to.match(/1 passing/)
      .and.not.match(/failing|pending/)
    expect(await readFile(leftOut, 'utf8')).to.equal('With MinIO\nWith containers\n')
  })
})

describeWithMinio('A MinIO that is there for all', (minio) => {
  it('is taken, and left running', async () => {
    const { endpoint } = minio()
    const nobody = { DOCKER_HOST: 'unix:///nobody.sock', HOLDFAST_WITHOUT_CONTAINERS: '' }
    const output = await runMocha(suites, { ...nobody, HOLDFAST_TEST_MINIO: endpoint })
    expect(output).to.match(/3 passing/)
    expect((await fetch(`${endpoint}/minio/health/live`)).status).to.equal(200)
  })
})

describeWithContainers('A machine without the image', () => {
  it('fails the suites that need it, and says which it is', async () => {
    const output = await runMocha(suites, { HOLDFAST_MINIO_IMAGE: 'localhost:9/nobody/minio:none' })
    expect(output)
      .to.match(/1 failing/)
      .and.include('The image localhost:9/nobody/minio:none')
  })
})
