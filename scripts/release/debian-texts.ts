/** What the texts of a Debian package say of the release. */
export interface DebianRelease {
  /** The machines that it is for, as `process.arch` names them. */
  readonly arch: string
  /** By Semantic Versioning. */
  readonly version: string
  /** What is new, as Markdown. */
  readonly changes: string
  /** When it was committed. */
  readonly date: Date
}

const maintainer = 'The holdfast authors <holdfast@holdfast.invalid>'
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** The name of the package's file. */
export function debianFile({ version, arch }: Pick<DebianRelease, 'version' | 'arch'>): string {
  return `holdfast_${debianVersion(version)}_${debianArchitecture(arch)}.deb`
}

/** The file `changelog`. */
export function debianChangelog({ version, changes, date }: Omit<DebianRelease, 'arch'>): string {
  const lines = changes.split('\n').map((line) => (line === '' ? '' : `  ${line}`))
  const head = `holdfast (${debianVersion(version)}) stable; urgency=medium`
  const foot = ` -- ${maintainer}  ${date.toUTCString().replace('GMT', '+0000')}`
  return [head, '', ...lines, '', foot, ''].join('\n')
}

/** The file `control` of a package with so many KiB. The libraries and their versions are those of Node.js' program. */
export function debianControl(
  { version, arch }: Pick<DebianRelease, 'version' | 'arch'>,
  kibibytes: number,
): string {
  return `Package: holdfast
Version: ${debianVersion(version)}
Architecture: ${debianArchitecture(arch)}
Maintainer: ${maintainer}
Installed-Size: ${kibibytes}
Depends: init-system-helpers (>= 1.54~), libc6 (>= 2.28), libgcc-s1 | libgcc1, libstdc++6 (>= 5), passwd
Section: net
Priority: optional
Description: file storage service for many customers that loses nothing
 A server to which customers upload files by name over HTTP, and from which
 they list them, fetch them and delete them. What is acknowledged is synced to
 the disk; until then nothing has changed; and only the customer sees the file.
 .
 The command is client and server in one, and needs no Node.js.
`
}

/** Before the release, as Debian orders versions. */
function debianVersion(version: string): string {
  return version.replace('-', '~')
}

function debianArchitecture(arch: string): string {
  const name = architectures[arch]
  if (name === undefined) throw new Error(`Debian's name for ${arch} is not known here`)
  return name
}
