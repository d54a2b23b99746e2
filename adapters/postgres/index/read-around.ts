import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { Damage } from '../../../src/store/damage.js'
import { ask, askLast } from '../connection/client.js'
import { createAsk } from '../connection/connection.js'
import { isCorrupt } from '../connection/failures.js'
import { findUnreadable, UnreadableAmong } from '../schema/find-unreadable.js'
import type { DriverContext } from './driver-context.js'
import { loadIndexState } from './index-state.js'
import { BEGIN } from './unsealed-rows.js'

/**
 * Repeats work without the events that the server cannot read. Looks for these within the bounds, or among
 * the events that are in no segment yet.
 */
export type ReadAround = <Result>(
  work: () => Promise<Result>,
  bounds?: TimeBounds,
) => Promise<Result>

/** A search is one step, which must end within the time limit of a step. */
const MAX_SEARCH_MS = 20_000

export function createReadAround({ names, run }: DriverContext): ReadAround {
  const reached = new Map()

  const search = (error: unknown, given: TimeBounds | undefined): Promise<boolean> =>
    run(async (client) => {
      await askLast(client, BEGIN)
      const { sealedTo } = await loadIndexState(client, names)
      const end = performance.now() + MAX_SEARCH_MS
      const found: Damage[] = []
      await findUnreadable(createAsk(client), names, {
        order: 'asc',
        bounds: given ?? { from: sealedTo + 1, to: Number.MAX_SAFE_INTEGER },
        times: error instanceof UnreadableAmong ? error.times : undefined,
        reached,
        found,
        checkTime() {
          if (performance.now() > end) throw error
        },
      })
      await ask(client, 'COMMIT')
      for (const damage of found) names.readable.damages.report(damage)
      return found.length > 0
    })

  return async (work, bounds) => {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!isCorrupt(error) || !(await search(error, bounds))) throw error
      }
    }
  }
}
