import { runOutside } from '../async/outside.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import type { EventTypes } from '../event/event-types.js'
import { bothOf } from '../filter/ast.js'
import type { EventStore } from '../store/store.js'
import { keyedFilter } from '../tail/selections.js'
import type { SealedNames } from '../filter/sealed-names.js'
import type { SharedTail } from '../tail/shared-tail.js'
import { type Checkpoints, saveCursors } from './checkpoints.js'
import { type DeliveryLoop, type DeliveryLoopOptions, startDeliveryLoop } from './delivery-loop.js'
import { type FeedFilter, readFeed } from './feed.js'
import { TIMES } from '../coordination/times.js'
import { isOwnOutcome, type Outcomes } from './outcomes.js'
import type { OpenChannel, OpenChannels } from './open-channels.js'
import type { Ownership } from './ownership.js'
import { countParked } from './parked.js'
import type { OwnerRights, Rights } from './rights.js'
import { readState } from '../store/read-states.js'
import { type CursorState, keyOf, publicSubscription, type StoredSubscription } from './states.js'
import { parseDelivered, type Subscription } from './subscription.js'

/** The loops of this process. */
export interface RunningLoops {
  get(id: string): DeliveryLoop | undefined
  /** Ends loops of subscriptions that this process must not deliver, and starts missing loops. */
  reconcile(subscriptions: ReadonlyMap<string, StoredSubscription>): Promise<void>
  /** Ends the loops of a channel. */
  stop(channel: string, mustSave: boolean): Promise<void>
}

/** Parts that all loops of a process share. */
export interface LoopContext {
  readonly audit: object
  readonly store: EventStore
  readonly tail: SharedTail
  readonly channels: OpenChannels
  readonly outcomes: Outcomes
  readonly types: EventTypes
  readonly sealedNames: SealedNames
  readonly random: () => number
}

export interface RunningLoopsOptions extends LoopContext {
  readonly ownership: () => Ownership
  readonly checkpoints: Checkpoints
  readonly rights: Rights
  /** Called when the receiver of the channel answers that it is permanently gone. */
  readonly gone: (channel: OpenChannel, reason: string) => void
}

/** A loop, and the definition that it was started with. */
interface Running {
  readonly loop: DeliveryLoop
  readonly open: OpenChannel
  /** The rights of the owner, as text. */
  readonly rights: string
}

/** Settings of the delivery of a subscription. */
interface Wanted {
  readonly stored: StoredSubscription
  readonly open: OpenChannel
  readonly epoch: number
  readonly rights: OwnerRights
}

const textOf = (rights: OwnerRights): string =>
  rights.error ? 'error' : JSON.stringify([rights.where, rights.concealed?.names])

/** The matching events, without events about deliveries of the subscription itself. Throws if the filter cannot be read. */
function filterOf(
  { id, filter }: Subscription,
  rights: OwnerRights,
  names: SealedNames,
): FeedFilter {
  if (rights.error) throw rights.error
  const { where: visible, concealed } = rights
  const wanted = parseDelivered(filter, names)
  const where = bothOf(concealed ? concealed.where(wanted) : wanted, visible)
  return { ...keyedFilter(where), concealed, isLeftOut: (event) => isOwnOutcome(event, id) }
}

/** True if the loop delivers the subscription as wanted. */
function isCurrent({ loop, open, rights }: Running, wanted: Wanted | undefined): boolean {
  if (!wanted) return false
  const { stored } = wanted
  return (
    open === wanted.open &&
    loop.epoch === wanted.epoch &&
    rights === textOf(wanted.rights) &&
    loop.cursor.generation === stored.generation &&
    JSON.stringify(publicSubscription(stored)) === JSON.stringify(loop.subscription)
  )
}

export function createRunningLoops(options: RunningLoopsOptions): RunningLoops {
  const { store, channels, checkpoints, rights } = options
  const running = new Map<string, Running>()
  /** The rights with which a subscription was found to be broken. */
  const broken = new Map<string, Wanted>()

  /** `undefined` if this process must not deliver the subscription, or does not know the rights of the owner yet. */
  const wantedOf = (stored: StoredSubscription): Wanted | undefined => {
    const { channel, owner, paused } = stored
    const epoch = options.ownership().epochOf(channel)
    const open = channels.get(channel)
    if (epoch === undefined || paused || !open) return undefined
    const known = rights.of(owner)
    return known && { stored, open, epoch, rights: known }
  }
  const isKnownBroken = (id: string, wanted: Wanted): boolean => {
    const last = broken.get(id)
    return (
      last !== undefined &&
      last.epoch === wanted.epoch &&
      last.stored.filter === wanted.stored.filter &&
      textOf(last.rights) === textOf(wanted.rights)
    )
  }
  const start = async (wanted: Wanted): Promise<void> => {
    const { stored, open, epoch } = wanted
    const ownership = options.ownership()
    const { id, channel } = stored
    if (isKnownBroken(id, wanted)) return
    const found = await readState<CursorState>(store, keyOf('cursor', id))
    // The subscription was removed, or is being replayed. The next revision has this change.
    if (found?.generation !== stored.generation || ownership.epochOf(channel) !== epoch) return
    const filter = await readFilter(options, wanted, found)
    if (!filter) return void broken.set(id, wanted)
    broken.delete(id)
    const { broken: wasBroken, ...cursor } = found
    if (wasBroken && !(await saveCursor(options, wanted, cursor))) return
    if (ownership.epochOf(channel) !== epoch) return
    const loopOptions = loopOptionsOf(options, { ...wanted, filter, cursor })
    // Not in the context of the call that resumes the subscription.
    const loop = runOutside(() =>
      startDeliveryLoop({
        ...loopOptions,
        ended(ended, saved) {
          if (running.get(id)?.loop === ended) running.delete(id)
          // This process may have claimed the channel again since.
          if (saved === 'lost' && ownership.epochOf(channel) === epoch) ownership.lose(channel)
        },
      }),
    )
    running.set(id, { loop, open, rights: textOf(wanted.rights) })
  }
  const stop = async ({ loop }: Running, mustSave: boolean): Promise<void> => {
    await loop.stop()
    if (running.get(loop.id)?.loop === loop) running.delete(loop.id)
    // If the store fails here, some deliveries are repeated.
    if (mustSave) await checkpoints.now([loop]).catch(() => {})
  }

  return {
    get: (id) => running.get(id)?.loop,
    async reconcile(subscriptions) {
      for (const id of broken.keys()) if (!subscriptions.has(id)) broken.delete(id)
      const wanted = Array.from(subscriptions.values()).flatMap((stored) => wantedOf(stored) ?? [])
      const byId = new Map(wanted.map((one) => [one.stored.id, one]))
      const ended = [...running.values()].filter((one) => !isCurrent(one, byId.get(one.loop.id)))
      await Promise.all(ended.map((one) => stop(one, true)))
      for (const one of wanted) if (!running.has(one.stored.id)) await start(one)
    },
    async stop(channel, mustSave) {
      const ended = [...running.values()].filter(({ open }) => open.name === channel)
      await Promise.all(ended.map((one) => stop(one, mustSave)))
    },
  }
}

/**
 * Stores a cursor that no loop moves. Resolves to false if another process has the channel, or something else has
 * moved the cursor.
 */
async function saveCursor(
  { store }: RunningLoopsOptions,
  { stored: { id, channel }, epoch }: Wanted,
  cursor: CursorState,
): Promise<boolean> {
  using wait = timeoutSignal(TIMES.delivery.timeoutMs)
  const moving = { id, channel, epoch, cursor, parked: [] }
  const saved = await saveCursors(store, [moving], wait.signal)
  return saved.get(id) === 'saved'
}

/** Returns `undefined` if the filter or the rights cannot be read. One process records this once. */
async function readFilter(
  options: RunningLoopsOptions,
  wanted: Wanted,
  cursor: CursorState,
): Promise<FeedFilter | undefined> {
  const subscription = publicSubscription(wanted.stored)
  try {
    return filterOf(subscription, wanted.rights, options.sealedNames)
  } catch (error) {
    const isNew = !cursor.broken && (await saveCursor(options, wanted, { ...cursor, broken: true }))
    if (isNew) options.outcomes.broken(subscription, error as Error)
    return undefined
  }
}

function loopOptionsOf(
  {
    audit,
    store,
    tail,
    types,
    outcomes,
    random,
    checkpoints,
    ownership,
    gone,
  }: RunningLoopsOptions,
  {
    stored,
    open,
    epoch,
    filter,
    cursor,
  }: Wanted & {
    readonly filter: FeedFilter
    readonly cursor: CursorState
  },
): Omit<DeliveryLoopOptions, 'ended'> {
  const { epochOf, isAlive, now } = ownership()
  const { channel, enabled, waitForRate } = open
  return {
    audit,
    subscription: publicSubscription(stored),
    channel,
    enabled,
    types,
    epoch,
    cursor,
    readFeed: (feed) => readFeed(tail, filter, feed),
    checkpoints,
    outcomes,
    waitForRate,
    isAlive: () => isAlive() && epochOf(open.name) === epoch,
    now,
    random,
    countParked: (signal) => countParked(store, stored.id, { signal }),
    gone: (reason) => gone(open, reason),
  }
}
