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
  /** The epoch of the lease under which the cursor moves. */
  readonly epoch: number
  readonly cursor: CursorState
  /** The last cursor that the log has lost, if the store may still have it. */
  readonly lost?: string | undefined
  /** Events to park together with the cursor. */
  readonly parked: readonly ParkedState[]
}

/** State of the store after a checkpoint. */
export type Saved =
  /** The cursor and the parked events are stored. */
  | 'saved'
  /** Another process has the channel. */
  | 'lost'
  /** The cursor was put elsewhere, or removed, or another loop of this process has moved it further. */
  | 'moved'

/**
 * Stores cursors in one transaction. A cursor is stored only if the lease of its channel still has its epoch, and
 * nothing else has moved the cursor. So a process that was suspended while another process took over cannot set a
 * cursor back. Neither can a delivery that ends long after its loop was stopped.
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
  // A replay can park an event a second time.
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
  /** Stores the cursor soon, after events were delivered. A kill before that repeats these deliveries. */
  soon(loop: Checkpointed): void
  /**
   * Stores the cursor within 5 s, after it has only passed events that do not match. A kill before this time only
   * repeats the reading of these events.
   */
  later(loop: Checkpointed): void
  /** Resolves once the current cursors are stored. Rejects if the store fails; then they are stored later. */
  now(loops: readonly Checkpointed[]): Promise<void>
  /** Ends the checkpoints by timer. */
  stop(): void
}

/**
 * Maximum age of an unstored cursor when a delivery begins. So a kill repeats at most 250 ms of work, or one longer
 * delivery.
 */
export const MAX_UNSAVED_MS = 200
/** Less than {@link MAX_UNSAVED_MS} by the duration of a commit, so that deliveries need not wait for it. */
const SOON_MS = 125
const LATER_MS = 5000
const TIMEOUT_MS = 5000

export function createCheckpoints(store: EventStore): Checkpoints {
  /** Runs checkpoints one by one, so that an older cursor is never stored after a newer one. */
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
