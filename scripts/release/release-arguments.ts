import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

/** What `scripts/release/run` is to do. */
export interface ReleaseArguments {
  readonly version: string
  /** Write the version into the manifests, instead of making a release. */
  readonly isToBeSet: boolean
  /** Make the release although the changelog does not date it yet: it is not to be published. */
  readonly isDraft: boolean
  /** The folder to make, absolute. */
  readonly out: string
}

/** The text of `scripts/release/run --help`. */
export const releaseHelp = `scripts/release/run VERSION [--draft] [--out FOLDER]
scripts/release/run --set VERSION

Makes a release of the last commit in FOLDER, by default release/VERSION: builds a clean copy of that commit, and writes

  holdfast-NAME-VERSION.tgz    each package, as a registry takes it; the same commit gives the same bytes
  holdfast-VERSION-linux-ARCH  the command as one file for Linux on x64 or arm64, without Node.js
  holdfast_VERSION_ARCH.deb    the same as a Debian package, with unit, user and directories
  holdfast-VERSION.cdx.json    what the server brings along, as a CycloneDX SBOM
  holdfast-VERSION-linux.cdx.json  what the executables have in them: that, and Node.js with its libraries
  holdfast-VERSION-linux-licenses.txt  the licences of these
  holdfast.service             the unit for systemd
  RELEASE-NOTES.md             the section of CHANGELOG.md
  SHA256SUMS                   of all of these, for sha256sum -c

Refuses if something is not committed, if a package.json says another version, if CHANGELOG.md has no dated section of that
version, or if FOLDER is there already. Publishes nothing; it says how to.

  --draft         takes a section of CHANGELOG.md without a date: for your own machines, before there is a release
  --set VERSION   writes VERSION into every package.json, and does nothing else
  --out FOLDER    where the release goes

Exit code 0: made. 1: refused; every reason is printed. 2: wrong arguments.`

// https://semver.org, without build metadata, which registries drop.
const semantic = /^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[\da-z-]+(\.[\da-z-]+)*)?$/i

/**
 * Reads the command line; `undefined` when help is asked for. Releases go below `folder` where nothing else is said.
 * @throws RangeError that says what is wrong
 */
export function releaseArguments(
  args: readonly string[],
  folder: string,
): ReleaseArguments | undefined {
  const { values, positionals } = parse(args)
  if (values.help === true) return undefined
  const [version, ...others] = values.set === undefined ? positionals : [values.set, ...positionals]
  if (version === undefined) throw new RangeError('Which version? None is given.')
  if (others.length > 0)
    throw new RangeError(`One version is enough; ${others.join(', ')} is too many.`)
  if (!semantic.test(version)) {
    throw new RangeError(
      `A version is three numbers, such as 1.2.0 or 1.2.0-rc.1, not "${version}".`,
    )
  }
  const out = resolve(values.out ?? `${folder}/${version}`)
  return { version, isToBeSet: values.set !== undefined, isDraft: values.draft === true, out }
}

function parse(args: readonly string[]) {
  const option = { type: 'string' } as const
  const options = {
    ...{ out: option, set: option },
    draft: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (cause) {
    throw new RangeError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}
