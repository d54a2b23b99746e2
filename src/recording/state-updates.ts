import { timeoutSignal } from '../async/timeout-signal.js'
import { throwIfAborted, untilAborted } from '../errors.js'
import type { JsonValue } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'
import type { EventStore } from '../store/store.js'

type Change = (present: JsonValue | undefined, now: Microseconds) => JsonValue | undefined

/** Like `EventStore.updateState`, with the same `keepFor` for all calls. */
export type UpdateState = (
  key: string,
  change: Change,
  signal: AbortSignal,
) => Promise<JsonValue | undefined>

interface Waiting {
  readonly key: string
  readonly change: Change
  readonly signal: AbortSignal
  readonly resolve: (value: JsonValue | undefined) => void
  readonly reject: (error: unknown) => void
}

// A second one is prepared while the store writes the first.
const MAX_TRANSACTIONS = 2
const MAX_KEYS = 500

interface StateUpdatesOptions {
  readonly keepFor: Microseconds
  /** Time limit of a transaction with several keys. */
  readonly deadlineMs: number
}

/**
 * Updates states of a store. Waiting updates share a transaction, because separate transactions would limit the calls
 * to a few hundred per second.
 */
export function createStateUpdates(
  store: Pick<EventStore, 'updateState' | 'updateStates'>,
  { keepFor, deadlineMs }: StateUpdatesOptions,
): UpdateState {
  let waiting: Waiting[] = []
  let running = 0

  const updateOne = async ({ key, change, signal, resolve, reject }: Waiting): Promise<void> =>
    store.updateState(key, change, { signal, keepFor }).then(resolve, reject)

  const updateSeveral = async (updates: readonly Waiting[]): Promise<void> => {
    using wait = timeoutSignal(deadlineMs)
    let values = new Map<string, JsonValue | undefined>()
    try {
      await store.updateStates(
        updates.map(({ key }) => key),
        (present, now) =>
          (values = new Map(
            updates.map(({ key, change }) => [key, change(present.get(key), now)]),
          )),
        { signal: wait.signal, keepFor },
      )
      for (const { key, resolve } of updates) resolve(values.get(key))
    } catch (error) {
      for (const { reject } of updates) reject(error)
    }
  }

  /** The updates of the next transaction, with each key once. Updates whose signal has aborted are left out. */
  const takeNext = (): readonly Waiting[] => {
    const taken = new Map<string, Waiting>()
    const left: Waiting[] = []
    for (const update of waiting) {
      if (update.signal.aborted) continue
      if (taken.size < MAX_KEYS && !taken.has(update.key)) taken.set(update.key, update)
      else left.push(update)
    }
    waiting = left
    return [...taken.values()]
  }

  const run = async (): Promise<void> => {
    running++
    for (let next = takeNext(); next.length > 0; next = takeNext())
      await (next.length === 1 ? updateOne(next[0]!) : updateSeveral(next))
    running--
  }

  return async (key, change, signal) => {
    throwIfAborted(signal)
    const promise = new Promise<JsonValue | undefined>((resolve, reject) => {
      waiting.push({ key, change, signal, resolve, reject })
    })
    if (running < MAX_TRANSACTIONS) {
      void run()
      // The store's error says more than that the signal is aborted.
      return promise
    }
    return untilAborted(promise, signal)
  }
}
