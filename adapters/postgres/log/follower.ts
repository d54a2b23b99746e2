import { parseToken } from '../../../src/store/consistency-token.js'
import { createWatchers } from '../../../src/store-kit/watchers.js'
import { withoutTimeLimit } from './calls.js'
import { createListener } from './listener.js'
import type { Listening } from './listening.js'
import type { PostgresLog } from './log.js'
import type { Replicas } from '../replicas/replicas.js'
import { createReplays } from '../replicas/replays.js'
import { writtenToken } from './tokens.js'
import { createNotifier, type Notifier } from './notifier.js'

/** Notifies other processes that events became visible, and listens for their notifications. */
export interface Follower {
  /** To be called when this process has made events visible. */
  readonly notify: Notifier['notify']
  /** Calls `hint` when events may have become visible; returns a function that stops that. */
  watch(hint: () => void): () => void
  /** Resolves when no notification is being sent any more. */
  close(): Promise<void>
}

export function createFollower(
  log: PostgresLog,
  listening: Listening,
  replicas: Replicas,
): Follower {
  const watchers = createWatchers()
  const closing = new AbortController()
  const hasReplicas = replicas.all.length > 0
  const replays = createReplays(replicas, closing.signal, (token) => watchers.hint(token))
  const notifier = createNotifier(log, watchers, closing.signal)
  const listener = createListener({
    listening,
    names: log.names,
    watchers,
    onNotified(token) {
      log.durability.note(parseToken(token)?.time ?? 0)
      if (hasReplicas) replays.await(token)
      else watchers.hint()
    },
    onListening() {
      if (!hasReplicas) return watchers.hint()
      return void withoutTimeLimit(closing.signal, (signal) =>
        log.use(signal, (client) => writtenToken(client, log)),
      ).then(replays.await, () => watchers.hint())
    },
    closing: closing.signal,
  })

  return {
    notify: notifier.notify,
    watch(hint) {
      const unwatch = watchers.add(hint)
      listener.start()
      return () => {
        unwatch()
        if (watchers.size === 0) listener.release()
      }
    },
    close() {
      closing.abort()
      watchers.clear()
      listener.close()
      return notifier.sent()
    },
  }
}
