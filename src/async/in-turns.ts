import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Number of calls in one turn. A call usually writes to a socket: this takes about 20 microseconds, and memory until
 * the end of the turn.
 */
const CALLS_PER_TURN = 250

/**
 * Calls `act` for each item of a set, in several turns of the event loop. Skips items that are deleted before their
 * turn.
 */
export async function callInTurns<Item>(
  items: ReadonlySet<Item>,
  act: (item: Item) => void,
): Promise<void> {
  let calls = 0
  for (const item of items) {
    if (calls === CALLS_PER_TURN) {
      calls = 0
      await nextTurn()
    }
    calls += 1
    act(item)
  }
}
