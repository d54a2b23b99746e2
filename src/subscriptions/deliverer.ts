import { runOutside } from '../async/outside.js'
import { compileFilterInSteps } from '../filter/evaluate.js'
import type { TailFilter } from '../tail/poll.js'
import type { SharedTail } from '../tail/shared-tail.js'
import type { EventStore } from '../store/store.js'
import type { Channel } from './channel.js'
import { type Checkpoints, createCheckpoints } from './checkpoints.js'
import type { EventTypes } from '../event/event-types.js'
import { readFeed } from './feed.js'
import { type DeliveryLoop, type DeliveryLoopOptions, startDeliveryLoop } from './delivery-loop.js'
import { isOwnOutcome, type Outcomes } from './outcomes.js'
import { type Ownership, startOwnership } from './ownership.js'
import { createRate, type WaitForRate } from './rate.js'
import {
  type CursorState,
  keyOf,
  parkedPrefix,
  PREFIX,
  publicSubscription,
  readAll,
  readState,
  type StoredSubscription,
} from './states.js'
import { parseFilter, type Subscription } from './subscription.js'

export interface DelivererOptions {
  readonly audit: object
  readonly store: EventStore
  readonly tail: SharedTail
  readonly channels: Readonly<Record<string, Channel>>
  readonly outcomes: Outcomes
  readonly types: EventTypes
  readonly random: () => number
  /** Called before anything is delivered, until it resolves. */
  readonly prepare: (signal: AbortSignal) => Promise<void>
}

/** Delivers the subscriptions of the channels that this process holds. */
export interface Deliverer {
  /** Reads the subscriptions again. Resolves when no subscription is delivered that is paused or removed. */
  refresh(): Promise<void>
  /** The cursor as it is in this process, if it delivers the subscription. */
  cursorOf(id: string): CursorState | undefined
  rateOf(channel: string): WaitForRate
  /** Ends the deliveries, stores the cursors, and gives the channels up. */
  stop(): Promise<void>
}

/** The matching events, without those about deliveries of the subscription itself. Throws if the filter cannot be read. */
function filterOf({ id, filter }: Subscription): TailFilter {
  const where = parseFilter(filter)
  const matches = compileFilterInSteps(where)
  return { where, matches: (event) => !isOwnOutcome(event, id) && matches(event) }
}

/** True if the loop delivers the subscription as it is stored. */
const isCurrent = (loop: DeliveryLoop, stored: StoredSubscription): boolean =>
  stored.generation === loop.cursor.generation &&
  JSON.stringify(publicSubscription(stored)) === JSON.stringify(loop.subscription)

/** Reads filters. One that cannot be read is reported once. */
function createReadFilter(
  outcomes: Outcomes,
): (subscription: Subscription) => TailFilter | undefined {
  /** The filters that could not be read, by subscription. */
  const broken = new Map<string, string>()
  return (subscription) => {
    const { id, filter } = subscription
    try {
      return filterOf(subscription)
    } catch (error) {
      if (broken.get(id) !== filter) outcomes.broken(subscription, error as Error)
      broken.set(id, filter)
      return undefined
    }
  }
}

/** The loops of this process. */
interface Loops {
  get(id: string): DeliveryLoop | undefined
  /** Ends loops of subscriptions that this process must not deliver, and starts those that it should. */
  reconcile(subscriptions: ReadonlyMap<string, StoredSubscription>): Promise<void>
  /** Ends the loops of a channel. */
  stop(channel: string, mustSave: boolean): Promise<void>
}

type LoopsOptions = DelivererOptions & {
  readonly ownership: () => Ownership
  readonly checkpoints: Checkpoints
  readonly rateOf: (channel: string) => WaitForRate
}

function createLoops(options: LoopsOptions): Loops {
  const { audit, store, tail, types, channels, outcomes, random, checkpoints, rateOf } = options
  const loops = new Map<string, DeliveryLoop>()
  const readFilter = createReadFilter(outcomes)
  const start = async (stored: StoredSubscription, epoch: number): Promise<void> => {
    const subscription = publicSubscription(stored)
    const { id, channel } = subscription
    const filter = readFilter(subscription)
    const cursor = filter && (await readState<CursorState>(store, keyOf('cursor', id)))
    const ownership = options.ownership()
    // The subscription was removed, or is being replayed: the next revision says so.
    if (cursor?.generation !== stored.generation || ownership.epochOf(channel) !== epoch) return
    const loopOptions: DeliveryLoopOptions = {
      audit,
      subscription,
      channel: channels[channel]!,
      types,
      epoch,
      cursor,
      readFeed: (feed) => readFeed(tail, filter!, feed),
      checkpoints,
      outcomes,
      waitForRate: rateOf(channel),
      isAlive: () => ownership.isAlive() && ownership.epochOf(channel) === epoch,
      now: ownership.now,
      random,
      countParked: async (signal) => (await readAll(store, parkedPrefix(id), { signal })).size,
      ended(ended, saved) {
        if (loops.get(id) === ended) loops.delete(id)
        // Meanwhile this process may have claimed the channel again.
        if (saved === 'lost' && ownership.epochOf(channel) === epoch) ownership.lose(channel)
      },
    }
    // Not in the context of the call that resumes the subscription.
    const loop = runOutside(() => startDeliveryLoop(loopOptions))
    loops.set(id, loop)
  }
  const stopLoop = async (loop: DeliveryLoop, mustSave: boolean): Promise<void> => {
    await loop.stop()
    if (loops.get(loop.id) === loop) loops.delete(loop.id)
    // If the store fails, some deliveries are repeated.
    if (mustSave) await checkpoints.now([loop]).catch(() => {})
  }

  return {
    get: (id) => loops.get(id),
    async reconcile(subscriptions) {
      const { epochOf } = options.ownership()
      const isWanted = (loop: DeliveryLoop): boolean => {
        const stored = subscriptions.get(loop.id)
        if (!stored || stored.paused || !isCurrent(loop, stored)) return false
        return epochOf(stored.channel) === loop.epoch
      }
      const ended = [...loops.values()].filter((loop) => !isWanted(loop))
      await Promise.all(ended.map((loop) => stopLoop(loop, true)))
      for (const stored of subscriptions.values()) {
        const epoch = epochOf(stored.channel)
        if (epoch === undefined || stored.paused || loops.has(stored.id)) continue
        await start(stored, epoch)
      }
    },
    async stop(channel, mustSave) {
      const ended = [...loops.values()].filter(
        ({ subscription }) => subscription.channel === channel,
      )
      await Promise.all(ended.map((loop) => stopLoop(loop, mustSave)))
    },
  }
}

export function startDeliverer(options: DelivererOptions): Deliverer {
  const { store, channels } = options
  const checkpoints = createCheckpoints(store)
  const rates = new Map(
    Object.entries(channels).map(([name, { rate }]) => [name, createRate(rate)]),
  )
  const rateOf = (channel: string): WaitForRate => rates.get(channel)!
  const loops = createLoops({ ...options, checkpoints, rateOf, ownership: () => ownership })
  let subscriptions: ReadonlyMap<string, StoredSubscription> = new Map()
  let revision: number | undefined

  const reconcile = (): Promise<void> => loops.reconcile(subscriptions)
  const load = async (): Promise<void> => {
    subscriptions = await readAll<StoredSubscription>(store, PREFIX.subscription)
    await reconcile()
  }
  let working: Promise<void> = Promise.resolve()
  /** One after another. */
  const queued = (work: () => Promise<void>): Promise<void> => {
    const turn = working.then(work)
    working = turn.catch(() => {})
    return turn
  }

  const ownership: Ownership = startOwnership({
    store,
    channels: Object.keys(channels),
    prepare: options.prepare,
    claimed: () => void queued(reconcile).catch(() => {}),
    released: (channel, isLost) => loops.stop(channel, !isLost),
    seen(current) {
      queued(revision === current ? reconcile : load).then(
        () => (revision = current),
        () => (revision = undefined),
      )
    },
  })

  return {
    refresh: () => queued(load),
    cursorOf: (id) => loops.get(id)?.cursor,
    rateOf,
    async stop() {
      await ownership.stop()
      checkpoints.stop()
    },
  }
}
