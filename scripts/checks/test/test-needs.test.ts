import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { chooseTests } from '../choose-tests.ts'
import { parseArguments } from '../parse-arguments.ts'
import { testNeeds } from '../test-needs.ts'

const provider = "import { describeWithMinio } from '@holdfast/testing/minio'\n"

async function needs(files: Record<string, string>, ...args: string[]): Promise<string> {
  return withRepository(files, async (root) => {
    const choice = chooseTests(root, parseArguments(args))
    return testNeeds(root, choice.files).join(' ')
  })
}

describe('testNeeds', () => {
  it('has containers where a test imports what starts them', async () => {
    expect(await needs({ 'packages/a/test/a.test.ts': provider })).to.equal('containers')
  })

  it('has them where a test imports it by way of other files', async () => {
    const files = {
      'packages/a/test/deep/a.test.ts': "import { b } from '../support/b.ts'\n",
      'packages/a/test/support/b.ts': "export * from './c.ts'\n",
      'packages/a/test/support/c.ts': `import './b.ts'\n${provider}`,
    }
    expect(await needs(files)).to.equal('containers')
  })

  it('has them for the tests of what starts them', async () => {
    const files = {
      'packages/testing/test/minio/a.test.ts': "import '../../src/minio/a.ts'\n",
      'packages/testing/src/minio/a.ts': '',
    }
    expect(await needs(files)).to.equal('containers')
  })

  it('has tarballs where a test installs packages', async () => {
    const files = {
      'packages/a/test/a.test.ts': "import '../../../scripts/release/test/packed-packages.ts'\n",
      'scripts/release/test/packed-packages.ts': '',
    }
    expect(await needs(files)).to.equal('tarballs')
  })

  it('has the executable where a test runs it', async () => {
    const files = {
      'packages/a/test/a.test.ts': "import '../../../scripts/program/test/executable-file.ts'\n",
      'scripts/program/test/executable-file.ts': '',
    }
    expect(await needs(files)).to.equal('executable')
  })

  it('has ARM where a test runs what is made for it', async () => {
    const files = {
      'packages/a/test/a.test.ts': "import '../../../scripts/program/test/arm-program.ts'\n",
      'scripts/program/test/arm-program.ts': '',
    }
    expect(await needs(files)).to.equal('arm')
  })

  it('is empty where no test does', async () => {
    const files = {
      'packages/a/test/a.test.ts': "import { b } from './b.ts'\nimport 'chai'\n",
      'packages/a/test/b.ts': `// ${provider}`,
      'packages/a/test/unused.ts': provider,
    }
    expect(await needs(files)).to.equal('')
  })

  it('looks at the tests that are named only', async () => {
    const files = {
      'packages/a/test/a.test.ts': provider,
      'packages/b/test/b.test.ts': '',
      'packages/b/node_modules/c/test/c.test.ts': provider,
    }
    expect(await needs(files, 'packages/b')).to.equal('')
    expect(await needs(files, 'packages/b/test/b.test.ts', '--bail')).to.equal('')
    expect(await needs(files, 'packages/a', 'packages/b')).to.equal('containers')
    expect(await needs(files, '--grep', 'b')).to.equal('containers')
  })

  it('has what a test comes to the module of that uses it', async () => {
    const proxy = 'packages/system-tests/test/cluster/support/start-proxy.ts'
    const browser = 'packages/testing/src/browsers.ts'
    const postgres = 'scripts/examples/test/start-postgres.ts'
    const python = 'packages/system-tests/test/openapi/python-environment.ts'
    const redis = 'packages/testing/src/redis/start-redis.ts'
    const go = 'packages/system-tests/test/tus-clients/support/go-client.ts'
    const java = 'packages/system-tests/test/openapi/clients/client-project.ts'
    const systemd = 'packages/system-tests/test/docs/analyze-unit.ts'
    const btrfs = 'packages/store-disk/test/mounted-disk.ts'
    const s3servers = 'packages/testing/src/s3-servers.ts'
    const image = 'packages/system-tests/test/containers/support/product-image.ts'
    const files = {
      'packages/system-tests/test/abuse/a.test.ts': "import '../cluster/support/start-proxy.ts'\n",
      'packages/system-tests/test/abuse/b.test.ts': "import '@holdfast/testing/browsers'\n",
      'packages/system-tests/test/docs/c.test.ts': "import './analyze-unit.ts'\n",
      'packages/server/test/metrics/d.test.ts': "import '@holdfast/testing/prometheus'\n",
      'packages/shared-redis/test/i.test.ts': "import '@holdfast/testing/redis'\n",
      [redis]: '',
      'packages/system-tests/test/containers/e.test.ts': "import './support/product-image.ts'\n",
      'packages/system-tests/test/openapi/e.test.ts': "import './python-environment.ts'\n",
      'packages/system-tests/test/openapi/clients/g.test.ts': "import './client-project.ts'\n",
      'packages/testing/test/s3-servers/f.test.ts': "import '../../src/s3-servers.ts'\n",
      [s3servers]: '',
      [proxy]: '',
      [image]: '',
      [browser]: '',
      [postgres]: '',
      'scripts/examples/test/c.test.ts': "import './start-postgres.ts'\n",
      [python]: '',
      [go]: '',
      'packages/system-tests/test/tus-clients/h.test.ts': "import './support/go-client.ts'\n",
      [java]: '',
      [systemd]: '',
      [btrfs]: '',
      'packages/store-disk/test/f.test.ts': "import './mounted-disk.ts'\n",
    }
    const all =
      's3servers images proxies browsers prometheus redis python go java postgres btrfs systemd'
    expect(await needs(files)).to.equal(all)
    expect(await needs(files, 'packages/system-tests/test/abuse/b.test.ts')).to.equal('browsers')
  })
})
