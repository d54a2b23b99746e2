import type { AuditEvent } from '../../event/event.js'
import { filterInTurns } from '../../filter/time-slices.js'
import type { TailFilter } from '../../tail/poll.js'
import { type Batch, BATCH_BYTES, type RingEntry } from '../../tail/ring.js'
import { createSelections } from '../../tail/selections.js'

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
  /** The matching events of a batch after the cursor; `undefined` if there are none. */
  ofBatch(batch: Batch, view: StreamView, cursor: string): Promise<Chunk | undefined>
  /** Chunks of matching events, each about as large as a batch. */
  ofEvents(events: readonly AuditEvent[], view: StreamView): Generator<Chunk, void, void>
}

const SHARED_BYTES = 4 * 1_048_576

const join = (events: readonly AuditEvent[], frames: readonly string[]): Chunk => ({
  events,
  bytes: Buffer.from(frames.join('')),
})

export function createChunks(render: RenderFrame): Chunks {
  /** The frames of events in the ring, for views without a `render` of their own. */
  const rendered = new WeakMap<AuditEvent, string>()
  const frameOf = (event: AuditEvent): string => {
    const known = rendered.get(event)
    if (known !== undefined) return known
    const frame = render(event)
    rendered.set(event, frame)
    return frame
  }

  const select = async (entries: readonly RingEntry[], view: StreamView): Promise<Chunk> => {
    const wanted = await filterInTurns(entries, ({ event }) => view.matches(event))
    const events = wanted.map(({ event }) => event)
    return join(events, events.map(view.render ?? frameOf))
  }

  const selections = createSelections<StreamView, Chunk>({
    select,
    sizeOf: ({ bytes }) => bytes.length + 1,
    maxSize: SHARED_BYTES,
  })

  return {
    async ofBatch(batch, view, cursor) {
      const chunk = await selections.of(batch, view, cursor)
      return chunk.events.length > 0 ? chunk : undefined
    },
    *ofEvents(events, view) {
      let some: AuditEvent[] = []
      let frames: string[] = []
      let bytes = 0
      for (const event of events) {
        const frame = (view.render ?? render)(event)
        if (some.length > 0 && bytes + frame.length > BATCH_BYTES) {
          yield join(some, frames)
          some = []
          frames = []
          bytes = 0
        }
        some.push(event)
        frames.push(frame)
        bytes += frame.length
      }
      if (some.length > 0) yield join(some, frames)
    },
  }
}
