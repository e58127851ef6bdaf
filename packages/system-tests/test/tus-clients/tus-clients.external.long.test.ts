import { describeWithMinio, minioEnvironment } from '@holdfast/testing/minio'
import { createSite, startHoldfast, type Site } from '@holdfast/testing'
import { describeTusClients } from './describe-tus-clients.ts'
import type { StartServer } from './tus-client.ts'

let sites: Site[]

before(() => {
  sites = []
})
after(async () => {
  for (const site of sites) await site.remove()
})

async function newSite(): Promise<Site> {
  const site = await createSite()
  sites.push(site)
  return site
}

const startOnDisk: StartServer = async (flags) =>
  startHoldfast(flags, { cwd: (await newSite()).path })

describeTusClients('the disk store', startOnDisk)

describeWithMinio('holdfast serve --store minio', (minio) => {
  describeTusClients('the MinIO store', async (flags) => {
    const env = minioEnvironment(minio(), await minio().createBucket())
    const { path: cwd } = await newSite()
    return startHoldfast(flags, { cwd, env })
  })
})
