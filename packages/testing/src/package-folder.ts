import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'

/** The folder of this package, whether its sources run or what is built of them. */
export const packageFolder = dirname(findPackageJSON(import.meta.url) ?? '')

/** The root of the repository. */
export const repository = join(packageFolder, '../..')
