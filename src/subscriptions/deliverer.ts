import { createSerial } from '../async/serial.js'
import { createCheckpoints } from './checkpoints.js'
import { type Definitions, readDefinitions } from './definitions.js'
import type { OpenChannel } from './open-channels.js'
import { type Ownership, startOwnership } from './ownership.js'
import { type AskRights, createRights } from './rights.js'
import { createRunningLoops, type LoopContext } from './running-loops.js'
import type { CursorState } from './states.js'

export interface DelivererOptions extends LoopContext {
  readonly host: AskRights
  /** Called before anything is delivered, until it resolves. */
  readonly prepare: (signal: AbortSignal) => Promise<void>
  /** Disables a channel whose receiver answers that it is permanently gone. */
  readonly disable: (channel: OpenChannel, reason: string) => Promise<void>
}

/** Delivers the subscriptions of the channels that this process holds. */
export interface Deliverer {
  /**
   * Reads the subscriptions and channels again. Resolves when deliveries of paused and removed subscriptions, and of
   * disabled channels, have ended.
   */
  refresh(): Promise<void>
  /** The cursor as it is in this process, if it delivers the subscription. */
  cursorOf(id: string): CursorState | undefined
  /** Ends the deliveries, stores the cursors, and gives the channels up. */
  stop(): Promise<void>
}

export function startDeliverer(options: DelivererOptions): Deliverer {
  const { store, channels } = options
  const checkpoints = createCheckpoints(store)
  let definitions: Definitions = { revision: -1, subscriptions: new Map(), channels: new Map() }

  const reconcile = (): Promise<void> => loops.reconcile(definitions.subscriptions)
  const load = async (): Promise<void> => {
    definitions = await readDefinitions(store)
    const before = JSON.stringify(channels.offered())
    channels.update(definitions.channels)
    if (JSON.stringify(channels.offered()) !== before) ownership.beatNow()
    await reconcile()
  }
  const queued = createSerial()
  /** Starts the work without waiting for it. After a failure, the next heartbeat starts it again. */
  const later = (work: () => Promise<void>): void => void queued(work).catch(() => {})

  const loops = createRunningLoops({
    ...options,
    checkpoints,
    rights: createRights(options.host, () => later(reconcile)),
    ownership: () => ownership,
    // If disabling fails, the receiver will give the same answer to the next attempt.
    gone: (channel, reason) => void options.disable(channel, reason).catch(() => {}),
  })
  const ownership: Ownership = startOwnership({
    store,
    channels: channels.offered,
    prepare: options.prepare,
    claimed: () => later(reconcile),
    released: (channel, isLost) => loops.stop(channel, !isLost),
    seen: (revision) => later(() => (revision === definitions.revision ? reconcile() : load())),
  })

  return {
    refresh: () => queued(load),
    cursorOf: (id) => loops.get(id)?.cursor,
    async stop() {
      await ownership.stop()
      checkpoints.stop()
    },
  }
}
