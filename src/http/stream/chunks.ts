import { LRUCache } from 'lru-cache'
import type { AuditEvent } from '../../event/event.js'
import { filterInTurns } from '../../filter/time-slices.js'
import type { TailFilter } from '../../tail/poll.js'
import { type Batch, BATCH_BYTES, type RingEntry } from './ring.js'

export type RenderFrame = (event: AuditEvent) => string

/** The filter and the rendering of a reader. */
export interface StreamView extends TailFilter {
  /** Equal for views that give the same chunks, which are then shared between readers. */
  readonly key: string
  /** @default as the broadcast renders events */
  readonly render?: RenderFrame | undefined
}

/** Some matching events, and their frames joined. */
export interface Chunk {
  readonly events: readonly AuditEvent[]
  readonly bytes: Uint8Array
}

/** Renders the chunks that readers receive. */
export interface Chunks {
  /** The matching events of a batch after the position; the chunk may be empty. */
  ofBatch(batch: Batch, view: StreamView, position: string): Chunk | Promise<Chunk>
  /** Chunks of matching events, each about as large as a batch. */
  ofEvents(events: readonly AuditEvent[], view: StreamView): Generator<Chunk, void, void>
}

// Readers of the same view need the same chunk at about the same time.
const SHARED_BYTES = 4 * 1_048_576

const join = (entries: readonly RingEntry[]): Chunk => ({
  events: entries.map(({ event }) => event),
  bytes: Buffer.from(entries.map(({ frame }) => frame).join('')),
})

export function createChunks(render: RenderFrame): Chunks {
  const shared = new LRUCache<string, Chunk>({
    maxSize: SHARED_BYTES,
    sizeCalculation: ({ bytes }, key) => bytes.length + key.length,
  })
  /** The chunks that are being made. */
  const making = new Map<string, Promise<Chunk>>()

  const make = async ({ entries }: Batch, view: StreamView, position: string): Promise<Chunk> => {
    const later = entries.filter(({ event }) => event.created_at > position)
    const wanted = await filterInTurns(later, ({ event }) => view.matches(event))
    if (!view.render) return join(wanted)
    return join(wanted.map(({ event }) => ({ event, frame: view.render!(event) })))
  }

  const makeShared = async (key: string, batch: Batch, view: StreamView, position: string) => {
    const chunk = make(batch, view, position)
    making.set(key, chunk)
    try {
      shared.set(key, await chunk)
      return await chunk
    } finally {
      making.delete(key)
    }
  }

  return {
    ofBatch(batch, view, position) {
      const { first, last } = batch
      if (position >= first) return make(batch, view, position)
      // The ring has no gaps, so first and last identify the events of the batch.
      const key = `${first} ${last} ${view.key}`
      return shared.get(key) ?? making.get(key) ?? makeShared(key, batch, view, position)
    },
    *ofEvents(events, view) {
      let entries: RingEntry[] = []
      let bytes = 0
      for (const event of events) {
        const frame = (view.render ?? render)(event)
        if (entries.length > 0 && bytes + frame.length > BATCH_BYTES) {
          yield join(entries)
          entries = []
          bytes = 0
        }
        entries.push({ event, frame })
        bytes += frame.length
      }
      if (entries.length > 0) yield join(entries)
    },
  }
}
