import { LRUCache } from 'lru-cache'
import type { AuditEvent } from '../../event/event.js'
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
  ofBatch(batch: Batch, view: StreamView, position: string): Chunk
  /** Chunks of matching events, each about as large as a batch. */
  ofEvents(events: readonly AuditEvent[], view: StreamView): Generator<Chunk, void, void>
}

// Readers of the same view need the same chunk at about the same time.
const SHARED_BYTES = 4 * 1_048_576

const join = (entries: readonly RingEntry[]): Chunk => ({
  events: entries.map(({ event }) => event),
  bytes: Buffer.from(entries.map(({ frame }) => frame).join('')),
})

const rendered = (render: RenderFrame, events: readonly AuditEvent[]): RingEntry[] =>
  events.map((event) => ({ event, frame: render(event) }))

export function createChunks(render: RenderFrame): Chunks {
  const shared = new LRUCache<string, Chunk>({
    maxSize: SHARED_BYTES,
    sizeCalculation: ({ bytes }, key) => bytes.length + key.length,
  })

  const make = ({ entries }: Batch, view: StreamView, position: string): Chunk => {
    const wanted = entries.filter(({ event }) => event.created_at > position && view.matches(event))
    if (!view.render) return join(wanted)
    return join(
      rendered(
        view.render,
        wanted.map(({ event }) => event),
      ),
    )
  }

  return {
    ofBatch(batch, view, position) {
      const { first, last } = batch
      if (position >= first) return make(batch, view, position)
      // The ring has no gaps, so first and last identify the events of the batch.
      const key = `${first} ${last} ${view.key}`
      const cached = shared.get(key)
      if (cached) return cached
      const chunk = make(batch, view, position)
      shared.set(key, chunk)
      return chunk
    },
    *ofEvents(events, view) {
      let [from, bytes] = [0, 0]
      const entries = rendered(view.render ?? render, events)
      for (const [at, { frame }] of entries.entries()) {
        if (at > from && bytes + frame.length > BATCH_BYTES) {
          yield join(entries.slice(from, at))
          ;[from, bytes] = [at, 0]
        }
        bytes += frame.length
      }
      if (from < entries.length) yield join(entries.slice(from))
    },
  }
}
