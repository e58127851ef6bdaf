import { runReadme } from '@holdfast/testing'
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'

describeWithMinio('The README of @holdfast/store-minio', (minio) => {
  it('shows an example that runs', async () => {
    const { endpoint, accessKey, secretKey } = minio()
    const bucket = await minio().createBucket()
    const replaced = {
      "'http://127.0.0.1:9000'": JSON.stringify(endpoint),
      "'files'": JSON.stringify(bucket),
    }
    const env = { MINIO_ACCESS_KEY: accessKey, MINIO_SECRET_KEY: secretKey }
    expect(await runReadme(import.meta.dirname, { replaced, env })).to.equal('ello')
  })
})
