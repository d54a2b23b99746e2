import { createSerial } from '../async/serial.js'
import type { EventStore } from '../store/store.js'
import { createOneTimer } from '../async/timers.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import {
  addToParkedCount,
  changeStates,
  type CursorState,
  keyOf,
  type LeaseState,
  parkedKey,
  type ParkedState,
  type StateChange,
} from './states.js'

/** A cursor that this process moves. */
export interface MovingCursor {
  readonly id: string
  readonly channel: string
  /** Of the lease under which the cursor moves. */
  readonly epoch: number
  readonly cursor: CursorState
  /** The last time of the cursor that the log has lost, and that the store may have. */
  readonly lost?: string | undefined
  /** Events to park together with the cursor. */
  readonly parked: readonly ParkedState[]
}

/** State of the store after a checkpoint. */
export type Saved =
  /** The cursor, and the parked events. */
  | 'saved'
  /** Another process has the channel. */
  | 'lost'
  /** The cursor was put elsewhere, or removed, or another loop of this process has moved it further. */
  | 'moved'

/**
 * Stores cursors in one transaction. Each is stored only if the lease of its channel still has its epoch, and nothing
 * else has moved it. So neither a process that was suspended while another one took over can put a cursor back, nor a delivery
 * that ends long after its loop was stopped.
 */
export async function saveCursors(
  store: EventStore,
  moving: readonly MovingCursor[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Saved>> {
  const saved = new Map<string, Saved>()
  const keys = new Set<string>()
  for (const { id, channel, parked } of moving) {
    keys.add(keyOf('lease', channel))
    keys.add(keyOf('cursor', id))
    if (parked.length > 0) keys.add(keyOf('parkedCount', id))
    for (const { created_at } of parked) keys.add(parkedKey(id, created_at))
  }
  await changeStates(
    store,
    [...keys],
    (states) => {
      for (const { id, channel, epoch, cursor, lost = cursor.position, parked } of moving) {
        const key = keyOf('cursor', id)
        const stored = states.get(key) as CursorState | undefined
        const isMoved =
          stored?.generation !== cursor.generation ||
          (stored.position > cursor.position && stored.position > lost)
        if ((states.get(keyOf('lease', channel)) as LeaseState | undefined)?.epoch !== epoch)
          saved.set(id, 'lost')
        else if (isMoved) saved.set(id, 'moved')
        else {
          saved.set(id, 'saved')
          states.set(key, cursor)
          park(states, id, parked)
        }
      }
    },
    { signal },
  )
  return saved
}

function park(states: StateChange, id: string, parked: readonly ParkedState[]): void {
  if (parked.length === 0) return
  // After a replay an event may be parked a second time.
  const added = parked.filter(({ created_at }) => !states.get(parkedKey(id, created_at)))
  addToParkedCount(states, id, added.length)
  for (const one of parked) states.set(parkedKey(id, one.created_at), one)
}

/** A subscription whose cursor this process moves. */
export interface Checkpointed {
  readonly id: string
  /** The cursor to store, or `undefined` if the store has it. Called for each checkpoint. */
  moving(): MovingCursor | undefined
  /** The checkpoint is over. */
  settled(moving: MovingCursor, saved: Saved): void
}

/** Stores the cursors of a process together, soon after they have moved. */
export interface Checkpoints {
  /** Events were delivered: stores the cursor soon. A kill repeats the deliveries of this time. */
  soon(loop: Checkpointed): void
  /** The cursor only passed events that do not match: stores it within 5 s. A kill reads these events again. */
  later(loop: Checkpointed): void
  /** Resolves once the cursors are stored as they are now. Rejects if the store fails; then they are stored later. */
  now(loops: readonly Checkpointed[]): Promise<void>
  /** No further checkpoints by timer. */
  stop(): void
}

/**
 * No delivery begins while the cursor has not been stored for this long. So a kill repeats no more than 250 ms of work, or one
 * delivery that takes longer.
 */
export const MAX_UNSAVED_MS = 200
/** Leaves time for the commit, so that deliveries need not wait for it. */
const SOON_MS = 125
const LATER_MS = 5000
const TIMEOUT_MS = 5000

export function createCheckpoints(store: EventStore): Checkpoints {
  /** So an older cursor is never stored after a newer one. */
  const inOrder = createSerial()
  let isStopped = false

  const saveAll = async (loops: readonly Checkpointed[]): Promise<void> => {
    const moving = loops.flatMap((loop) => {
      const one = loop.moving()
      return one ? [{ loop, one }] : []
    })
    if (moving.length === 0) return
    using wait = timeoutSignal(TIMEOUT_MS)
    try {
      const cursors = moving.map(({ one }) => one)
      const saved = await saveCursors(store, cursors, wait.signal)
      for (const { loop, one } of moving) loop.settled(one, saved.get(one.id)!)
    } catch (error) {
      for (const { loop } of moving) soon.add(loop)
      throw error
    }
  }
  const save = (takeLines: () => readonly Checkpointed[]): Promise<void> =>
    inOrder(() => saveAll(takeLines()))

  const waitingFor = (ms: number) => {
    const due = new Set<Checkpointed>()
    const take = (): Checkpointed[] => {
      const loops = [...due]
      due.clear()
      return loops
    }
    const timer = createOneTimer(() => void save(take).catch(() => {}))
    return {
      add(loop: Checkpointed) {
        due.add(loop)
        if (!isStopped) timer.watch(performance.now() + ms)
      },
      stop: timer.clear,
    }
  }
  const soon = waitingFor(SOON_MS)
  const later = waitingFor(LATER_MS)

  return {
    soon: (loop) => soon.add(loop),
    later: (loop) => later.add(loop),
    now: (loops) => save(() => loops),
    stop() {
      isStopped = true
      soon.stop()
      later.stop()
    },
  }
}
