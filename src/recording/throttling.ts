import { LRUCache } from 'lru-cache'
import type { DraftThrottle, EventDraft } from '../event/event.js'
import type { JsonLimits } from '../event/json.js'
import type { EventStore } from '../store/store.js'
import { createSuppressedReports, type SuppressedCounter } from './suppressed-reports.js'
import {
  type CallThrottle,
  throttleOf,
  throttleOfCall,
  type TypeThrottle,
} from './throttle-rules.js'
import type { Clock, Microseconds } from '../event/timestamp.js'
import { createWarnOnce } from './warnings.js'

/** State of one throttle in this process. */
interface Gate extends SuppressedCounter {
  closedFrom: Microseconds
  closedUntil: Microseconds
}

/**
 * State of the throttles in this process. The store decides; a throttle that is known to be closed needs no access to
 * the store.
 */
export interface Throttling {
  /**
   * Returns the throttle for the draft of a call; `undefined` without a throttle. Returns `suppressed` if the
   * throttle is known to be closed; then the call is counted. A throttle of the type takes precedence over a throttle
   * of the call. Throws `INVALID_OPTION`.
   */
  check(type: string, data: object, given?: CallThrottle): DraftThrottle | 'suppressed' | undefined
  /** Notes that a draft goes to the store. Further calls are suppressed until its outcome is known. */
  pending(draft: EventDraft): void
  /** The draft is stored, or will be from the journal. */
  stored(draft: EventDraft): void
  /** The store suppressed the draft: the call is counted. */
  suppressed(draft: EventDraft, opensIn: Microseconds): void
  /** The draft will not be stored. */
  lost(draft: EventDraft): void
  /** Reports the counts to the store. */
  report(signal: AbortSignal): Promise<void>
  close(): void
}

export interface ThrottlingDependencies {
  /** The throttles by event type. */
  readonly throttles: ReadonlyMap<string, TypeThrottle>
  readonly store: EventStore
  readonly now: Clock
  readonly limits: JsonLimits
}

const MAX_GATES = 10_000
const MAX_HINTS = 1000

export function createThrottling({
  throttles,
  store,
  now,
  limits,
}: ThrottlingDependencies): Throttling {
  const throttled = new Map(
    Array.from(throttles, ([type, rule]) => {
      const index: ScopeIndex<Gate> = createScopeIndex(rule.scope, MAX_GATES)
      return [type, { rule, index } satisfies ThrottledType]
    }),
  )
  // `max` would allocate all entries at once, which takes a millisecond.
  const gates = new LRUCache<string, Gate>({ maxSize: MAX_GATES, sizeCalculation: () => 1 })
  const reports = createSuppressedReports<Gate>(store)
  const warn = createWarnOnce(MAX_HINTS)

  const gateOf = ({ throttle, type }: EventDraft): Gate => {
    const { key } = throttle!
    // A gate that the cache dropped may have unreported counts.
    const known = gates.get(key) ?? reports.unreported(key)
    const gate = known ?? newGate(throttle!, type)
    gates.set(key, gate)
    return gate
  }
  const closeGate = (draft: EventDraft, period: Microseconds): Gate => {
    const gate = gateOf(draft)
    gate.closedFrom = now()
    gate.closedUntil = gate.closedFrom + period
    return gate
  }

  const decide = (throttle: DraftThrottle, gate: Gate): DraftThrottle | 'suppressed' => {
    const time = now()
    // A time before `closedFrom` means that the clock was set back. Then the store decides, too.
    if (time < gate.closedFrom || time >= gate.closedUntil) return throttle
    reports.count(gate, time)
    return 'suppressed'
  }

  return {
    check(type, data, given) {
      const known = throttled.get(type)
      if (!known) {
        const throttle = given && throttleOfCall(type, given, limits)
        const gate = throttle && gates.get(throttle.key)
        return gate ? decide(throttle, gate) : throttle
      }
      const found = known.index.find(data)
      const throttle = found?.throttle ?? throttleOf(known.rule, data, limits)
      if (!found) {
        const missing = missingKeys(throttle, data)
        if (missing.length > 0)
          warn(
            type,
            `${type} was recorded without ${missing.join(' and ')}, the scope of its throttle; events without it share one period`,
          )
      }
      const gate = gates.get(throttle.key)
      if (!gate) return throttle
      if (gate !== found) known.index.add(data, gate)
      return decide(throttle, gate)
    },
    pending: (draft) => void closeGate(draft, Infinity),
    stored: (draft) => void closeGate(draft, draft.throttle!.period),
    suppressed(draft, opensIn) {
      const gate = closeGate(draft, opensIn)
      reports.count(gate, gate.closedFrom)
    },
    lost(draft) {
      gateOf(draft).closedUntil = 0
    },
    report: (signal) => reports.report(signal),
    close: () => reports.close(),
  }
}

/** The keys of the throttle's scope that the data does not have. A given null is a value. */
function missingKeys({ scope }: DraftThrottle, data: object): string[] {
  try {
    return Object.keys(scope).filter((key) => scope[key] === null && !(key in data))
  } catch {
    // A proxy threw.
    return []
  }
}

interface ThrottledType {
  readonly rule: TypeThrottle
  readonly index: ScopeIndex<Gate>
}

const newGate = (throttle: DraftThrottle, type: string): Gate => ({
  throttle,
  type,
  closedFrom: 0,
  closedUntil: 0,
  count: 0,
  first: 0,
  last: 0,
})

/** Finds items by the values of a throttle's scope. */
export interface ScopeIndex<Item> {
  /** `undefined` if the item is unknown, or the data has a value that cannot be indexed. */
  find(data: object): Item | undefined
  add(data: object, item: Item): void
}

interface Node<Item> {
  item: Item | undefined
  readonly children: Map<unknown, Node<Item>>
}

const MAX_TEXT_LENGTH = 200

const newNode = <Item>(): Node<Item> => ({ item: undefined, children: new Map() })

const isIndexable = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.length <= MAX_TEXT_LENGTH
    : value === null || (typeof value !== 'object' && typeof value !== 'function')

/**
 * A tree with a level for each key of the scope. Looks up the values themselves, because building a text key would
 * cost more than the rest of a throttled call. Forgets all items beyond `maxItems`.
 */
export function createScopeIndex<Item>(
  scope: readonly string[],
  maxItems: number,
): ScopeIndex<Item> {
  let root = newNode<Item>()
  let size = 0
  const walk = (
    data: object,
    next: (node: Node<Item>, value: unknown) => Node<Item> | undefined,
  ): Node<Item> | undefined => {
    let node: Node<Item> | undefined = root
    try {
      for (const key of scope) {
        const value = (data as Record<string, unknown>)[key]
        node = node && isIndexable(value) ? next(node, value) : undefined
      }
    } catch {
      return undefined
    }
    return node
  }
  const childOf = ({ children }: Node<Item>, value: unknown): Node<Item> | undefined =>
    children.get(value)
  const childOrNew = ({ children }: Node<Item>, value: unknown): Node<Item> => {
    const child = children.get(value) ?? newNode<Item>()
    children.set(value, child)
    return child
  }
  return {
    find: (data) => walk(data, childOf)?.item,
    add(data, item) {
      if (++size > maxItems) {
        root = newNode()
        size = 1
      }
      const node = walk(data, childOrNew)
      if (node) node.item = item
    },
  }
}
