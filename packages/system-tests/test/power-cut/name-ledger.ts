import { describeContent, sha256, type Version } from '../endurance/soak/content.ts'

/** What a name holds: one version of the file, or nothing. */
export type Kept = Version | undefined

/** What is wrong with a name after a power cut. */
export type Damage = 'lost' | 'came back' | 'neither'

export interface NameViolation {
  readonly name: string
  readonly damage: Damage
  readonly description: string
}

/**
 * What one name may hold. One client at a time works on it, so that there is only one doubt: whether the operation that
 * was under way when the power was cut has happened.
 */
export interface NameLedger {
  /** What the name holds as far as is acknowledged. */
  kept(): Kept
  /** The SHA-256 of all contents that the name has had, as far as is known. */
  stored(): ReadonlySet<string>
  /** An operation begins that makes `next` of the name. */
  begin(next: Kept): void
  /** It was acknowledged. */
  acknowledge(): void
  /** It was refused: nothing has changed. */
  refuse(): void
  /** Holds `content`, as it was found after a power cut, against what may be there; takes it for what is kept from now on. */
  judge(content: Buffer | undefined): NameViolation | undefined
}

/** A name that holds nothing. */
export function createNameLedger(name: string): NameLedger {
  let kept: Kept
  const stored = new Set<string>()
  const keep = (next: Kept) => {
    kept = next
    if (next) stored.add(next.sha256)
  }
  let underWay: { readonly next: Kept } | undefined

  const violation = (content: Buffer | undefined): NameViolation => {
    const found = content === undefined ? 'nothing' : describeContent(content)
    const begun = underWay && `, or ${labelOf(underWay.next)}, which was under way`
    const description = `${name} holds ${found} instead of ${labelOf(kept)}${begun ?? ''}`
    return { name, damage: damageOf(kept, content), description }
  }

  return {
    kept: () => kept,
    stored: () => stored,
    begin: (next) => void (underWay = { next }),
    acknowledge() {
      keep(underWay?.next)
      underWay = undefined
    },
    refuse: () => void (underWay = undefined),
    judge(content) {
      const possible = underWay ? [kept, underWay.next] : [kept]
      const found = possible.find((state) => state?.sha256 === (content && sha256(content)))
      const isPossible = content === undefined ? possible.includes(undefined) : found !== undefined
      const judgement = isPossible ? undefined : violation(content)
      keep(found)
      underWay = undefined
      return judgement
    },
  }
}

function damageOf(kept: Kept, content: Buffer | undefined): Damage {
  if (content === undefined) return 'lost'
  return kept === undefined ? 'came back' : 'neither'
}

function labelOf(state: Kept): string {
  return state ? `upload ${state.sequence} of ${state.size} bytes` : 'nothing'
}
