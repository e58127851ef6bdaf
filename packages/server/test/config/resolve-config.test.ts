import { expect } from 'chai'
import { UsageError } from '../../src/cli/usage-error.ts'
import { resolveConfig, type ConfigSources } from '../../src/config/resolve-config.ts'

describe('resolveConfig', () => {
  it('has defaults for everything', () => {
    expect(resolveConfig()).to.deep.equal({
      host: '127.0.0.1',
      port: 3000,
      customers: './customers.yaml',
      store: 'disk',
      data: './data',
      'max-file-size': undefined,
      'trust-proxy': undefined,
      'idle-timeout': 60_000,
      'shutdown-grace': 30_000,
      'log-level': 'info',
    })
  })

  it('lets a flag win over the environment, that over the file, that over the default', () => {
    const file = { port: '1', host: 'file', data: 'file' }
    const environment = { HOLDFAST_PORT: '2', HOLDFAST_HOST: 'environment' }
    const flags = { port: '3' }
    const { port, host, data, store } = resolveConfig({
      flags,
      environment,
      file,
      filePath: 'f.yaml',
    })
    expect({ port, host, data, store }).to.deep.equal({
      port: 3,
      host: 'environment',
      data: 'file',
      store: 'disk',
    })
  })

  it('takes an empty variable for one that is not set', () => {
    const { port } = resolveConfig({ environment: { HOLDFAST_PORT: '' }, file: { port: '1' } })
    expect(port).to.equal(1)
  })

  it('reads sizes and times', () => {
    const environment = { HOLDFAST_MAX_FILE_SIZE: '10GB', HOLDFAST_IDLE_TIMEOUT: '5m' }
    const config = resolveConfig({ environment })
    expect(config['max-file-size']).to.equal(10_000_000_000)
    expect(config['idle-timeout']).to.equal(300_000)
  })

  it('ignores variables of other programs, whatever they are called', () => {
    expect(resolveConfig({ environment: { HOLDFAST_BACKUP_HOST: 'x', PORT: '1' } }).port).to.equal(
      3000,
    )
  })

  it('names the place of what is wrong', () => {
    const place = (sources: ConfigSources) => {
      try {
        resolveConfig(sources)
      } catch (error) {
        if (error instanceof UsageError) return error.message.split(' "')[0]
      }
      return 'nothing is wrong'
    }
    expect(place({ flags: { port: 'x' } })).to.equal('--port')
    expect(place({ environment: { HOLDFAST_LOG_LEVEL: 'x' } })).to.equal('HOLDFAST_LOG_LEVEL')
    expect(place({ file: { port: 'x' }, filePath: 'h.yaml' })).to.equal('h.yaml: port')
  })
})
