import { createPublishedUploads } from '@holdfast/core'
import { expect } from 'chai'
import { createMinioResumableUploads } from '../../src/resumable/minio-resumable-uploads.ts'
import type { UploadObjects } from '../../src/resumable/upload-keys.ts'

const published = { name: 'a', size: 3, etag: 'x', modifiedAt: new Date(0) }
const plan = { name: 'a', length: 3, expiresAfterMs: 3_600_000 }

describe('resumable.remember of openMinioBlobStore', () => {
  for (const [what, send] of Object.entries({
    'is silent': () => new Promise(() => {}),
    fails: () => Promise.reject(new Error('on purpose')),
  })) {
    it(`soon resolves where the server ${what}: the blob is safe`, async function () {
      this.timeout(30_000)
      const objects: Partial<UploadObjects> = {
        bucket: 'b',
        s3: { send } as never,
        published: createPublishedUploads(),
        uploadKeys: { recordKey: () => 'key' } as never,
      }
      const uploads = createMinioResumableUploads(objects as UploadObjects)
      const upload = await uploads.remember('alice', plan, published)
      expect(upload).to.deep.include({ plan, offset: 3, published })
    })
  }
})
