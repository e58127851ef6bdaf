import { finding, formatBytes, type Finding } from '@holdfast/core'
import { oddities, type FilesSummary, type Oddity } from './files-summary.ts'
import { shellWord } from './shell-word.ts'

interface Judgement {
  readonly check: string
  readonly mark: 'warning' | 'problem'
  readonly message: string
  readonly remedy: (files: string, uid: number) => string
}

const judgements: Readonly<Record<Oddity, Judgement>> = {
  foreign: {
    check: 'foreign entries',
    mark: 'warning',
    message: 'no file of holdfast, and not shown',
    remedy: (files) => `Look at links, pipes and the like: find ${files} ! -type f ! -type d -ls`,
  },
  unreadable: {
    check: 'reading',
    mark: 'problem',
    message: 'not readable for this user; downloads of it fail',
    remedy: (files, uid) => `chown -R ${uid} ${files} && chmod -R u+rwX ${files}`,
  },
  unwritable: {
    check: 'writing',
    mark: 'problem',
    message: 'not writable for this user; uploads of that customer fail',
    remedy: (files, uid) => `chown -R ${uid} ${files} && chmod -R u+rwX ${files}`,
  },
  'strange owner': {
    check: 'owners',
    mark: 'warning',
    message: 'of another owner than the data directory',
    remedy: (files, uid) => `chown -R ${uid} ${files}`,
  },
  elsewhere: {
    check: 'one disk',
    mark: 'problem',
    message: 'on another file system than the data directory; uploads of that customer fail',
    remedy: (files) => `Move the files into a directory here; see: df ${files}/*`,
  },
  future: {
    check: 'times of files',
    mark: 'warning',
    message: 'changed in the future, by its time; clients may keep old copies',
    remedy: (files) => `find ${files} -type f -newermt now -exec touch {} +`,
  },
}

/** The findings of `summary`, of the directory `files`, which belongs to `uid`. */
export function summaryFindings(
  summary: FilesSummary,
  files: string,
  uid: number,
): readonly Finding[] {
  const found = oddities.flatMap((oddity) => {
    const odd = summary.odd.get(oddity)
    if (!odd) return []
    const { check, mark, message, remedy } = judgements[oddity]
    const what = odd.count === 1 ? odd.example : `${count(odd.count)}, such as ${odd.example}:`
    return [finding(mark, check, `${what} ${message}`, remedy(shellWord(files), uid))]
  })
  return [total(summary), ...found]
}

function total({ files, customers, bytes, isComplete }: FilesSummary): Finding {
  const looked = isComplete ? 'all looked at' : 'not all were looked at'
  const message = `${count(files)} file(s) of ${count(customers)} customer(s), ${formatBytes(bytes)}; ${looked}`
  return finding('ok', 'files', message)
}

function count(number: number): string {
  return number.toLocaleString('en')
}
