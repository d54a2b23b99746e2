import { randomUUID } from 'node:crypto'
import type { EventDraft } from '../../src/event.js'
import type { IdTail } from '../../src/event-id.js'
import type { Microseconds } from '../../src/timestamp.js'
import { ask, type PostgresPoolClient } from './client.js'
import { isAnswer } from './failures.js'
import type { Names, SchemaState } from './schema.js'
import { termsOf } from './terms.js'

/** A call of the server's `append` whose answer did not come. */
interface LostAttempt {
  readonly id: string
  readonly tails: readonly IdTail[]
  /** What it may have kept is later than this. */
  readonly since: Microseconds
}

export interface Appended {
  /** One for each draft. */
  readonly times: readonly Microseconds[]
  /** How many events came from the outbox. */
  readonly moved: number
}

/** Appends, one attempt after the other, and knows what earlier ones may have left behind. */
export interface Appender {
  /** What the server told when it was asked for the first time, or lately. */
  readonly synchronize: (state: Pick<SchemaState, 'highWater' | 'serverTime'>) => void
  /** True where there is something that the next attempt has to clear up. */
  hasLost(): boolean
  /**
   * One attempt. Once it has failed without an answer, the next one, with whatever drafts, makes
   * good: drafts that are given again are kept once, others are not kept.
   */
  attempt(
    client: PostgresPoolClient,
    drafts: readonly EventDraft[],
    deadline: number,
  ): Promise<Appended>
}

/** One array for each parameter; attributes and terms a line for each event. */
function columnsOf(drafts: readonly EventDraft[]): unknown[] {
  return [
    drafts.map((draft) => draft.tail),
    drafts.map((draft) => draft.type),
    drafts.map((draft) => draft.username),
    drafts.map((draft) => draft.source),
    drafts.map((draft) => draft.system),
    drafts.map((draft) => draft.json).join('\n'),
    drafts.map((draft) => `{${termsOf(draft).join()}}`).join('\n'),
  ]
}

export function createAppender(names: Names, now: () => Microseconds | undefined): Appender {
  /** The server's clock is at least so far ahead of `performance.now()`. */
  let serverAhead: Microseconds = 0
  /** Every later event comes after it. */
  let floor: Microseconds = 0
  let lost: LostAttempt[] = []

  const synchronize: Appender['synchronize'] = ({ highWater, serverTime }) => {
    floor = Math.max(floor, highWater)
    serverAhead = serverTime - performance.now() * 1000
  }

  return {
    synchronize,
    hasLost: () => lost.length > 0,
    async attempt(client, drafts, deadline) {
      const attempt: LostAttempt = {
        id: randomUUID(),
        tails: drafts.map((draft) => draft.tail),
        since: floor,
      }
      const earlier = lost
      const wanted = new Set(attempt.tails)
      const forgotten = earlier.flatMap(({ tails }) => tails.filter((tail) => !wanted.has(tail)))
      // Until the answer is there it counts as lost.
      lost = [...earlier, attempt]
      try {
        const [row] = await ask(
          client,
          `SELECT times::text, server_time, moved
           FROM ${names.append}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
          ...columnsOf(drafts),
          now() ?? null,
          attempt.id,
          Math.floor(deadline * 1000 + serverAhead),
          earlier.map(({ id }) => id),
          Math.min(...lost.map(({ since }) => since)),
          forgotten,
        )
        const [times, serverTime, moved] = row!
        const numbers = times === null ? [] : times!.slice(1, -1).split(',').map(Number)
        lost = lost.filter((one) => one !== attempt && !earlier.includes(one))
        synchronize({ highWater: numbers.at(-1) ?? 0, serverTime: Number(serverTime) })
        return { times: numbers, moved: Number(moved) }
      } catch (error) {
        if (isAnswer(error)) lost = lost.filter((one) => one !== attempt)
        throw error
      }
    },
  }
}
