import type { Stats, StatsFs } from 'node:fs'
import { access, constants, stat, readdir } from 'node:fs/promises'
import { join, basename } from 'node:path'
import { finding, type Finding, formatBytes } from '@holdfast/core'
import type { Layout } from '../directory/layout.ts'
import { isAbsence, undefinedIfAbsent } from '../files/file-calls.ts'
import type { Mount } from '../files/file-system.ts'
import { withEntries } from '../list/directory-entries.ts'
import { findCustomers } from '../list/walk-blobs.ts'
import { isUploadId } from '../resumable/find-upload.ts'
import { isLinkNote } from '../resumable/publish-upload.ts'
import { parseContentName } from '../resumable/upload-site.ts'
import { walksName } from '../temp/notes.ts'
import { findTempOwner, type TempOwner } from '../temp/temp-owner.ts'

/** Checks that this process may use the data directory as a store does, and that others may not. Skips what does not exist yet. */
export async function permissionFindings(data: string): Promise<readonly Finding[]> {
  const directories = [
    data,
    ...['files', 'links', 'expiry', 'uploads', 'tmp'].map((name) => join(data, name)),
  ]
  const found = (await Promise.all(directories.map(lookAt))).flatMap((each) => each ?? [])
  const [top] = found
  if (!top || process.platform === 'win32') return []
  const refusal = found.map(refusalOf).find((each) => each !== undefined)
  return [
    refusal ?? finding('ok', 'permissions', `${user()} may read, write and enter it`),
    ...ownerFindings(top),
    privacyFinding(found),
  ]
}

interface Directory {
  readonly path: string
  readonly stats: Stats
  readonly isUsable: boolean
}

async function lookAt(path: string): Promise<Directory | undefined> {
  // The directory is missing, or below one that has its own finding.
  const stats = await stat(path).catch(() => undefined)
  if (!stats) return undefined
  const { R_OK, W_OK, X_OK } = constants
  const isUsable = await access(path, R_OK | W_OK | X_OK).then(
    () => true,
    () => false,
  )
  return { path, stats, isUsable }
}

function refusalOf({ path, stats, isUsable }: Directory): Finding | undefined {
  if (isUsable) return undefined
  const message = `${user()} may not read, write and enter ${path}; it belongs to uid ${stats.uid}, mode ${modeOf(stats)}`
  const remedy = `chown -R ${process.geteuid?.() ?? 'USER'} ${shellWord(path)} && chmod u+rwx ${shellWord(path)}`
  return finding('problem', 'permissions', message, remedy)
}

/** Root may do everything, so its checks prove nothing about the user that runs the server. */
function ownerFindings({ path, stats: { uid } }: Directory): readonly Finding[] {
  if (process.geteuid?.() !== 0 || uid === 0) return []
  const message = `root may do everything; ${path} belongs to uid ${uid}, and that user's rights were not tried`
  const remedy = `Run this as that user: sudo -u '#${uid}' holdfast doctor …`
  return [finding('warning', 'user', message, remedy)]
}

function privacyFinding(directories: readonly Directory[]): Finding {
  const isFor = (others: number) => (each: Directory) => (each.stats.mode & others) === others
  const writable = directories.find(isFor(0o003))
  if (writable) {
    const message = `every user of this machine may replace what is in ${writable.path} (mode ${modeOf(writable.stats)})`
    return finding('problem', 'privacy', message, `chmod o= ${shellWord(writable.path)}`)
  }
  // Others must be able to enter the top directory before they can look further.
  const [top, ...inner] = directories
  const readable = top && isFor(0o001)(top) ? inner.find(isFor(0o001)) : undefined
  if (!readable) return finding('ok', 'privacy', 'other users of this machine cannot look into it')
  const message = `every user of this machine may look into ${readable.path} (mode ${modeOf(readable.stats)})`
  return finding('warning', 'privacy', message, `chmod o= ${shellWord(readable.path)}`)
}

function user(): string {
  return `uid ${process.geteuid?.() ?? 'of this process'}`
}

function modeOf({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}

/** Reports the content of `tmp` of a data directory: of running processes, of dead ones, and entries without an owner. */
export async function leftOverFindings(data: string, own: string): Promise<readonly Finding[]> {
  const tmp = join(data, 'tmp')
  const known = [basename(own), walksName]
  const entries = (await readdir(tmp)).filter((entry) => !known.includes(entry))
  const owners: TempOwner[] = []
  const strange: string[] = []
  for (const entry of entries) {
    const owner = await ownerOf(join(tmp, entry))
    if (owner === 'strange') strange.push(entry)
    else if (owner) owners.push(owner)
  }
  return [processes(owners), ...(strange.length > 0 ? [strangeFinding(tmp, strange)] : [])]
}

function processes(owners: readonly TempOwner[]): Finding {
  const running = owners.filter(({ isGone }) => !isGone).map(({ pid }) => pid)
  const gone = owners.length - running.length
  const use = running.length === 0 ? 'none uses it now' : `in use by pid ${running.join(', ')}`
  const left = gone === 0 ? '' : `; the next start removes what ${gone} killed process(es) left`
  return finding('ok', 'processes', use + left)
}

async function ownerOf(path: string): Promise<TempOwner | 'strange' | undefined> {
  try {
    return (await findTempOwner(path)) ?? 'strange'
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

function strangeFinding(tmp: string, strange: readonly string[]): Finding {
  const message = `entries in ${tmp} that holdfast neither made nor removes: ${strange.length}, such as "${strange[0] ?? ''}"`
  return finding('warning', 'left-overs', message, `See what it is: ls -la ${shellWord(tmp)}`)
}

type DiskRoom = Pick<StatsFs, 'bsize' | 'blocks' | 'bavail' | 'files' | 'ffree'>

/** Warns if a smaller part than this is free. */
const scarce = 0.1

/** Uploads are about to fail if fewer bytes or files are free. */
const least = { bytes: 16 * 1024 * 1024, files: 100 }

/**
 * Checks the free space of a disk: for bytes, of which at least `leastBytes` should be free, for files, and for the `promised` bytes, the sum
 * of the limits of customers who have one.
 */
export function spaceFindings(
  room: DiskRoom,
  promised: number,
  leastBytes: number = least.bytes,
): readonly Finding[] {
  return [freeSpace(room, leastBytes), freeFiles(room), ...quotas(room, promised)]
}

function freeSpace({ bsize, blocks, bavail }: DiskRoom, leastBytes: number): Finding {
  const free = bavail * bsize
  if (free < leastBytes && free >= least.bytes) {
    const message = `${formatBytes(free)} free, less than the ${formatBytes(leastBytes)} that should be`
    const remedy = 'Make room, or let less be enough; until then the server is not ready.'
    return finding('problem', 'free space', message, remedy)
  }
  const message = `${formatBytes(free)} free of ${formatBytes(blocks * bsize)}`
  const mark = judge(bavail / Math.max(blocks, 1), free < least.bytes)
  const remedy = 'Make room, or move to a larger disk; when it is full, uploads get 507.'
  return finding(mark, 'free space', message, ...(mark === 'ok' ? [] : [remedy]))
}

function freeFiles({ files, ffree }: DiskRoom): Finding {
  // Btrfs and others make inodes as needed.
  if (files === 0) return finding('ok', 'free inodes', 'this file system makes them as needed')
  const count = (number: number) => number.toLocaleString('en')
  const message = `room for ${count(ffree)} more files and directories of ${count(files)}`
  const mark = judge(ffree / files, ffree < least.files)
  const remedy = 'Remove small files, or move to a file system made for more: mkfs.ext4 -i 4096'
  return finding(mark, 'free inodes', message, ...(mark === 'ok' ? [] : [remedy]))
}

function judge(part: number, isOut: boolean): 'ok' | 'warning' | 'problem' {
  if (isOut) return 'problem'
  return part < scarce ? 'warning' : 'ok'
}

function quotas({ bsize, blocks }: DiskRoom, promised: number): readonly Finding[] {
  if (promised === 0) return []
  const size = blocks * bsize
  const [all, disk] = [formatBytes(promised), formatBytes(size)]
  if (promised <= size) {
    return [finding('ok', 'quotas', `all together are ${all}; the disk has ${disk}`)]
  }
  const message = `all together are ${all}, and the disk has only ${disk}`
  const remedy = 'Lower the quotas in the customers file, or watch the free space.'
  return [finding('warning', 'quotas', message, remedy)]
}

interface Counters {
  uploads: number
  bytes: number
  /** Entries that are no upload, and the first of them. */
  foreign: number
  example: string
  /** How many more may be inspected. */
  left: number
}

/** Reports the unfinished uploads of `layout` and their size, from at most `most` uploads; nothing before the first upload in pieces. */
export async function uploadFindings(layout: Layout, most: number): Promise<readonly Finding[]> {
  if (!(await namesIn(layout.root))) return []
  const counters: Counters = { uploads: 0, bytes: 0, foreign: 0, example: '', left: most }
  for (const customer of await withEntries((entriesOf) => findCustomers(layout, entriesOf))) {
    const directory = layout.customerDirectory(customer)
    for (const id of (await namesIn(directory)) ?? []) {
      if (layout.holdsMore(id) || isLinkNote(id)) continue
      if (counters.left-- <= 0) return report(counters, false)
      await count(join(directory, id), id, counters)
    }
  }
  return report(counters, true)
}

async function count(path: string, id: string, counters: Counters): Promise<void> {
  const names = isUploadId(id) ? await namesIn(path) : []
  // The upload may end at any time.
  if (!names) return
  const contents = names.filter((name) => parseContentName(name))
  if (!names.some((name) => name.endsWith('.json'))) {
    counters.example ||= path
    counters.foreign++
  }
  for (const content of contents) counters.bytes += await sizeOf(join(path, content))
  if (contents.length > 0) counters.uploads++
}

function report({ uploads, bytes, foreign, example }: Counters, isComplete: boolean) {
  const looked = isComplete ? '' : '; not all were looked at'
  const message = `${uploads.toLocaleString('en')} unfinished, ${formatBytes(bytes)}${looked}`
  const found = [finding('ok', 'uploads in pieces', message)]
  if (foreign === 0) return found
  const strange = `entries beside the uploads that holdfast neither made nor removes: ${foreign}, such as ${example}`
  return [
    ...found,
    finding('warning', 'uploads in pieces', strange, 'See what it is, and remove it.'),
  ]
}

async function namesIn(directory: string): Promise<readonly string[] | undefined> {
  return readdir(directory).catch(undefinedIfAbsent)
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(undefinedIfAbsent))?.size ?? 0
}

interface Kind {
  readonly types: RegExp
  readonly mark: 'warning' | 'problem'
  readonly message: string
  readonly remedy: (directory: string) => string
}

const onDisk = () => 'Choose a directory on a disk with ext4, XFS, Btrfs or ZFS.'

/** The file systems that need a finding; all others count as a disk's own. */
const kinds: readonly Kind[] = [
  {
    types: /^(tmpfs|ramfs|devtmpfs)$/,
    mark: 'problem',
    message: 'keeps files in memory; all are lost when the machine goes off',
    remedy: onDisk,
  },
  {
    types: /^(overlay|aufs)$/,
    mark: 'warning',
    message: 'is the inside of a container; the files go when the container is removed',
    remedy: (directory) => `Mount a volume there: docker run -v holdfast:${shellWord(directory)} …`,
  },
  {
    types: /^nfs4?$/,
    mark: 'warning',
    message: 'is kept by another machine; OK is as safe as that machine makes it',
    remedy: () => 'On the NFS server, see that the export says "sync": exportfs -v',
  },
  {
    types: /^(cifs|smb3|smbfs)$/,
    mark: 'warning',
    message: 'is a share of another machine; whether OK survives its power cut is up to that one',
    remedy: onDisk,
  },
  {
    types: /^(fuse.*|9p|virtiofs|vboxsf|prl_fs)$/,
    mark: 'warning',
    message: 'goes through another program, which decides when files reach a disk',
    remedy: onDisk,
  },
  {
    types: /^(vfat|msdos|exfat)$/,
    mark: 'problem',
    message: 'has no hard links, which holdfast needs',
    remedy: onDisk,
  },
]

const check = 'file system'

/** Whether files are safe in `directory` on the file system `mount`, by its kind and its options. */
export function fileSystemFinding(mount: Mount | undefined, directory: string): Finding {
  if (!mount) return finding('skipped', check, 'this operating system does not report its kind')
  const { type, point, options, isForcedReadOnly } = mount
  const mounted = `${type}, mounted at ${point},`
  const remount = (option: string) => `mount -o remount,${option} ${shellWord(point)}`
  if (isForcedReadOnly) {
    const message = `${mounted} was made read-only by the kernel, which does that after a fault of the disk`
    return finding('problem', check, message, 'See what it was: dmesg --level=crit,err')
  }
  if (options.includes('ro')) {
    return finding('problem', check, `${mounted} can only be read`, remount('rw'))
  }
  const risky = options.find((option) => /^(nobarrier|barrier=(0|none))$/.test(option))
  if (risky !== undefined) {
    const message = `${mounted} has the option ${risky}; a power cut can take files that were OK`
    return finding('problem', check, message, remount('barrier=1'))
  }
  const kind = kinds.find(({ types }) => types.test(type))
  if (!kind) return finding('ok', check, `${type}, mounted at ${point}`)
  const message = `${mounted} ${kind.message}${options.includes('soft') ? '; mounted "soft", writes can be lost when the server does not answer' : ''}`
  return finding(kind.mark, check, message, kind.remedy(directory))
}

/** Quotes `text` as one word for a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
