import { setImmediate as nextTurn } from 'node:timers/promises'

/** Each call usually writes to a socket, which takes some 20 microseconds and memory until the end of the turn. */
const CALLS_PER_TURN = 250

/** Calls `act` for each item of a set. The event loop turns between the calls; items that are deleted meanwhile are left out. */
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
