import { createKeyedLock, createRevocableLocks, type RevocableLocks } from '@holdfast/core'

/** Locks of two processes that a test may revoke. */
interface Locks {
  readonly takers: readonly [RevocableLocks, RevocableLocks]
  readonly revoke: () => Promise<void>
  readonly endFirst: () => Promise<void>
}

/** What is wrong with locks, the test that has to catch it, and how they are made. */
type BrokenLocks = readonly [flaw: string, test: string, make: () => Locks]

/** How a lock that was taken looks to its holder. */
interface Flaws {
  readonly keyOf?: (key: string) => string
  readonly lostHolders?: (lost: number) => number
  readonly isSameHolder?: (isSame: boolean) => boolean
  readonly isKeptByTheDead?: boolean
  readonly isReleasedTwice?: boolean
}

/** Sound locks, but for these flaws. */
export function createLocks({
  keyOf = (key) => key,
  lostHolders = (lost) => lost,
  isSameHolder = (isSame) => isSame,
  isKeptByTheDead = false,
  isReleasedTwice = false,
}: Flaws = {}): Locks {
  const lock = createKeyedLock()
  const lost = new Map<string, number>()
  const lastHolders = new Map<string, number>()
  const held = new Set<{ readonly by: number; readonly lose: () => void }>()
  let isFirstDead = false
  const taker =
    (by: number): RevocableLocks =>
    async (given) => {
      const key = keyOf(given)
      const unlock = await lock(key)
      if (by === 0 && isFirstDead && !isKeptByTheDead) unlock()
      let hasLost = false
      let isReleased = false
      const one = {
        by,
        lose() {
          held.delete(one)
          hasLost = true
          lost.set(key, (lost.get(key) ?? 0) + 1)
          unlock()
        },
      }
      held.add(one)
      const isSame = lastHolders.get(key) === by
      lastHolders.set(key, by)
      return {
        lostHolders: lostHolders(lost.get(key) ?? 0),
        isSameHolder: isSameHolder(isSame),
        release() {
          if (isReleased && !isReleasedTwice) return
          if (isReleased) for (const other of [...held]) if (other !== one) other.lose()
          isReleased = true
          held.delete(one)
          if (hasLost) {
            lost.set(key, (lost.get(key) ?? 0) - 1)
            lastHolders.delete(key)
          }
          unlock()
        },
      }
    }
  const loseAll = (ofFirst: boolean) => {
    for (const one of [...held]) if (!ofFirst || one.by === 0) one.lose()
  }
  return {
    takers: [taker(0), taker(1)],
    revoke: async () => loseAll(false),
    async endFirst() {
      isFirstDead = true
      if (!isKeptByTheDead) loseAll(true)
    },
  }
}

const none = async () => {}

/** Locks that are the same for both processes. */
const both = (locks: RevocableLocks): Locks => ({
  takers: [locks, locks],
  revoke: none,
  endFirst: none,
})

export const brokenLocks: readonly BrokenLocks[] = [
  [
    'forgets to release',
    'give a free lock at once',
    () => {
      const locks = createRevocableLocks()
      return both(async (key) => ({ ...(await locks(key)), release() {} }))
    },
  ],
  [
    'keeps locks of its own in each process',
    'have one holder at a time',
    () => ({ ...createLocks(), takers: [createRevocableLocks(), createRevocableLocks()] }),
  ],
  [
    'lets the last one in first',
    'are given in the order of the calls',
    () => {
      const waiting: (() => void)[] = []
      let isHeld = false
      return both(async () => {
        if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve))
        isHeld = true
        const release = () => {
          const next = waiting.pop()
          if (next) next()
          else isHeld = false
        }
        return { lostHolders: 0, isSameHolder: false, release }
      })
    },
  ],
  [
    'folds case and form',
    'of different keys do not wait for each other',
    () => createLocks({ keyOf: (key) => key.toLowerCase().normalize('NFKC') }),
  ],
  [
    'takes the lock from its next holder',
    'free no other lock when they are released twice',
    () => createLocks({ isReleasedTwice: true }),
  ],
  [
    'takes all processes for the same',
    'say whether another process may have changed anything since',
    () => createLocks({ isSameHolder: () => true }),
  ],
  [
    'does not count who lost them',
    'go to the next one when they are revoked, and count who lost them',
    () => createLocks({ lostHolders: () => 0 }),
  ],
  [
    'keeps the locks of the dead',
    'are released by the end of a process',
    () => createLocks({ isKeptByTheDead: true }),
  ],
]
