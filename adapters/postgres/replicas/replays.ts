import { type Backoff, backoffMs } from '../../../src/async/backoff.js'
import { pause } from '../../../src/async/pause.js'
import { readToken } from '../../../src/store/consistency-token.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { ask } from '../connection/client.js'
import { withConnection } from '../connection/connection.js'
import type { Replicas } from './replicas.js'
import { walBytes } from './wal-position.js'

/** Afterwards the primary is read. */
const MAX_WAIT_MS = 1000
const PAUSES: Backoff = { firstMs: 2, maxMs: 50 }

/** Waits until replicas have replayed the writes of the primary. */
export interface Replays {
  /**
   * Calls `onReplayed` with the text of the token, or of a later one, once a replica has replayed it, or after a second.
   * Then readers need not read from the primary.
   */
  readonly await: (token: string) => void
}

export function createReplays(
  replicas: Replicas,
  closing: AbortSignal,
  onReplayed: (token: string | undefined) => void,
): Replays {
  let wanted: string | undefined
  let isWaiting = false

  const isReplayed = async (position: bigint, signal: AbortSignal): Promise<boolean> => {
    for (const { pool } of replicas.choose(false)) {
      const [row] = await withConnection(pool, signal, (client) =>
        ask(client, 'SELECT pg_last_wal_replay_lsn()'),
      )
      // A server that is no standby has replayed nothing.
      const replayed = row![0]
      if (replayed && walBytes(replayed) >= position) return true
    }
    return false
  }

  const untilReplayed = async (position: bigint): Promise<void> => {
    using wait = timeoutSignal(MAX_WAIT_MS, closing)
    const { signal } = wait
    for (let looks = 0; !signal.aborted; looks++) {
      if (await isReplayed(position, signal).catch(() => false)) return
      await pause(backoffMs(looks, PAUSES), signal)
    }
  }

  const run = async (): Promise<void> => {
    try {
      while (wanted !== undefined && !closing.aborted) {
        const token = wanted
        wanted = undefined
        // Processes of an earlier version notify without a token.
        const position = token === '' ? undefined : readToken(token)?.wal?.position
        if (position) await untilReplayed(walBytes(position))
        onReplayed(position && token)
      }
    } catch {
      // A token that cannot be read.
      onReplayed(undefined)
    } finally {
      // Looks at once: a token that comes between this look and the wait would wait for the next token.
      isWaiting = false
    }
  }

  return {
    await(token) {
      wanted = token
      if (isWaiting) return
      isWaiting = true
      void run()
    },
  }
}
