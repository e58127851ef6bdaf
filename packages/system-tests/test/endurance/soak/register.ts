import type { Version } from './content.ts'

/** What a name holds: one version of the file, or nothing. */
export type State = Version | undefined

/** What an operation makes of a name at the one moment at which it happens, at some time between begin and end. */
export type Effect = (before: State) => State

/** An operation under way on one name. */
export type Operation = number

/**
 * All that one name may hold, by what is known of the operations on it. It is linearizable: every operation happens at
 * one moment between its begin and its end, so that there must be an order of them that explains every answer. The
 * register keeps each state of things that such an order leads to; when none is left, the answers contradict each other.
 */
export interface Register {
  begin(effect: Effect): Operation
  /**
   * The operation has ended, and had found a state that `explains` its answer.
   * @returns `false` when it cannot have.
   */
  finish(operation: Operation, explains: (before: State) => boolean): boolean
  /** The operation has ended without having happened. @returns `false` when it must have. */
  cancel(operation: Operation): boolean
  /** The operation cannot happen any more; whether it has, nobody knows. */
  settle(operation: Operation): void
  /** What the name may hold now, operations under way included. */
  possible(): readonly State[]
}

/** One way in which things may have gone. */
interface World {
  readonly state: State
  /** The operations under way that have happened in it, with what each found. */
  readonly found: ReadonlyMap<Operation, State>
}

/** A name that holds nothing. */
export function createRegister(): Register {
  const underWay = new Map<Operation, Effect>()
  let begun = 0
  let worlds: readonly World[] = [{ state: undefined, found: new Map() }]

  const reach = (isFarEnough: (world: World) => boolean): readonly World[] => {
    const reached = new Map<string, World>()
    const visit = (world: World): void => {
      const key = keyOf(world)
      if (reached.has(key)) return
      reached.set(key, world)
      if (isFarEnough(world)) return
      for (const [operation, effect] of underWay) {
        if (!world.found.has(operation)) visit(happen(world, operation, effect))
      }
    }
    worlds.forEach(visit)
    return [...reached.values()]
  }

  const end = (operation: Operation, left: readonly World[]): boolean => {
    underWay.delete(operation)
    const forgetful = left.map((world) => forget(world, operation))
    worlds = [...new Map(forgetful.map((world) => [keyOf(world), world])).values()]
    return worlds.length > 0
  }

  return {
    begin(effect) {
      const operation = begun++
      underWay.set(operation, effect)
      return operation
    },
    finish(operation, explains) {
      const reached = reach(({ found }) => found.has(operation))
      const explained = reached.filter(
        ({ found }) => found.has(operation) && explains(found.get(operation)),
      )
      return end(operation, explained)
    },
    cancel(operation) {
      return end(
        operation,
        worlds.filter(({ found }) => !found.has(operation)),
      )
    },
    settle(operation) {
      end(
        operation,
        reach(({ found }) => found.has(operation)),
      )
    },
    possible: () => [...new Set(reach(() => false).map(({ state }) => state))],
  }
}

function happen({ state, found }: World, operation: Operation, effect: Effect): World {
  return { state: effect(state), found: new Map(found).set(operation, state) }
}

function forget({ state, found }: World, operation: Operation): World {
  return { state, found: new Map([...found].filter(([other]) => other !== operation)) }
}

function keyOf({ state, found }: World): string {
  const entries = [...found].sort(([a], [b]) => a - b)
  const findings = entries.map(([operation, before]) => `${operation}:${labelOf(before)}`)
  return [labelOf(state), ...findings].join(' ')
}

function labelOf(state: State): string {
  return state?.sequence ?? 'nothing'
}
